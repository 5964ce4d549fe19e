"""A tree of bodies at one configuration: what every recursion needs of it, computed once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hapticsim.equations.scalars.spatial import (
    ArticulatedInertia,
    Scalar,
    Transform,
    Vector,
    add,
    constant_type,
    cross_motion,
    scale,
    zeros,
)
from hapticsim.equations.tree.central_inertia import CentralInertia
from hapticsim.equations.tree.joints import JointMotion, joint_motion
from hapticsim.model.moving import MovingBody, MovingTree
from hapticsim.model.multibody.joint import Placement

Number = Callable[[float], Scalar]


class Linkage:
    """A moving tree at coordinates q: transforms, motion subspaces and inertias, ready for the recursions.

    q : (nq,) generalized coordinates, any scalar.  The model's constants are taken in the precision of q.
    """

    def __init__(self, tree: MovingTree, q: Sequence[Scalar]) -> None:
        self.tree = tree
        number = constant_type(q[0]) if len(q) else float
        self.parents = [b.parent for b in tree.bodies]
        self.joints: list[JointMotion] = [joint_motion(b) for b in tree.bodies]
        self.q = [
            [_displacement(b, x, number) for x in q[b.q_start : b.q_start + j.nq]]
            for b, j in zip(tree.bodies, self.joints, strict=True)
        ]
        # Two transforms in a row are cheaper than their product: one is constant, the other mostly zeros.
        self.X_T = [constant_transform(b.X_PJ, number) for b in tree.bodies]
        self.X_J = [j.transform(q) for j, q in zip(self.joints, self.q, strict=True)]
        self.S = [
            j.subspace(q) if b.ratio == 1.0 else [scale(number(b.ratio), s) for s in j.subspace(q)]
            for b, j, q in zip(tree.bodies, self.joints, self.q, strict=True)
        ]
        self.speeds = [
            range(b.u_start, b.u_start + j.nu) for b, j in zip(tree.bodies, self.joints, strict=True)
        ]
        self.armature = [number(b.ratio**2 * b.joint.armature) for b in tree.bodies]
        self.central = [
            CentralInertia(
                number(b.mass), _numbers(b.com, number), [_numbers(row, number) for row in b.central_inertia]
            )
            for b in tree.bodies
        ]
        self.inertias = [inertia.about_origin() for inertia in self.central]
        self.gravity_W = _numbers(tree.gravity_W, number)

    def __len__(self) -> int:
        return len(self.parents)

    def down(self, i: int, motion: Vector) -> Vector:
        """Return a motion vector of the parent in the axes of body i."""
        return self.X_J[i].motion(self.X_T[i].motion(motion))

    def up(self, i: int, force: Vector) -> Vector:
        """Return a force vector of body i in the axes of its parent."""
        return self.X_T[i].force_back(self.X_J[i].force_back(force))

    def inertia_up(self, i: int, inertia: ArticulatedInertia) -> ArticulatedInertia:
        """Return an articulated inertia of body i about the origin and in the axes of its parent."""
        return self.X_T[i].articulated_back(self.X_J[i].articulated_back(inertia))

    def momentum(self, i: int, v: Vector) -> Vector:
        """Return the momentum of the motion v of body i, or the force of the acceleration v."""
        # By way of the centre of mass where that keeps digits, else with the numbers that have more zeros.
        return self.inertias[i] * v if i in self.parents else self.central[i] * v

    def joint_velocity(self, i: int, u: Sequence[Scalar]) -> Vector:
        """Return v_J = S u."""
        v = zeros(6)
        for s, r in zip(self.S[i], self.speeds[i], strict=True):
            v = add(v, scale(u[r], s))
        return v

    def velocities(self, u: Sequence[Scalar]) -> tuple[list[Vector], list[Vector]]:
        """Return for every body its velocity v and velocity product c = c_J + v x v_J, in body axes."""
        v: list[Vector] = []
        c: list[Vector] = []
        for i, parent in enumerate(self.parents):
            v_J = self.joint_velocity(i, u)
            v.append(add(self.down(i, v[parent]), v_J) if parent >= 0 else v_J)
            c_i = cross_motion(v[i], v_J) if parent >= 0 else zeros(6)
            c_J = self.joints[i].bias(self.q[i], [u[r] for r in self.speeds[i]])
            c.append(c_i if c_J is None else add(c_i, c_J))
        return v, c

    def accelerations(
        self, c: list[Vector], a_0: Vector, udot: Sequence[Scalar] | None = None
    ) -> list[Vector]:
        """Return for every body its spatial acceleration; without udot the part that udot has no share in."""
        a: list[Vector] = []
        for i, parent in enumerate(self.parents):
            a_i = add(self.down(i, a[parent] if parent >= 0 else a_0), c[i])
            a.append(a_i if udot is None else add(a_i, self.joint_velocity(i, udot)))
        return a

    @property
    def upwards(self) -> Vector:
        """a_0 = -g: the world accelerates upwards instead of every body being pulled down."""
        return zeros(3) + scale(-1.0, self.gravity_W)


def constant_transform(X: Placement, number: Number = float) -> Transform:
    """Return the Plücker transform from P to F of a placement X_PF, its entries of the type ``number``."""
    return Transform([_numbers(row, number) for row in X.rotation.T], _numbers(X.translation, number))


def _displacement(body: MovingBody, x: Scalar, number: Number) -> Scalar:
    """Return the displacement of a joint whose coordinate, its own or the one it follows, is x."""
    if body.joint.mimic is None:
        return x
    return number(body.ratio) * x + number(body.offset)


def _numbers(row: Iterable[float], number: Number) -> Vector:
    return [number(x) for x in row]
