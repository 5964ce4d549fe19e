"""Recursive dynamics of a tree, line for line with the book, over any scalar.

RNEA is Table 5.1 and CRBM Table 6.2 of Featherstone, Rigid Body Dynamics Algorithms (2008), with spatial
vectors in body axes; armature (rotor inertia) adds to the diagonal of M.  The third recursion, ABM, is in
``articulated.py``.

Everything takes a ``Linkage``: a moving tree at the coordinates q.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hapticsim.equations.articulated import articulated_body
from hapticsim.equations.central_inertia import CentralInertia
from hapticsim.equations.joints import JointMotion, joint_motion
from hapticsim.equations.spatial import (
    IDENTITY,
    ArticulatedInertia,
    Matrix,
    Scalar,
    Transform,
    Vector,
    add,
    constant_type,
    cross_force,
    cross_motion,
    dot,
    scale,
    subtract,
    times,
    zeros,
)
from hapticsim.equations.symmetric import solve_symmetric
from hapticsim.model.moving import MovingBody, MovingTree
from hapticsim.model.tree import Placement

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


def inverse_dynamics(link: Linkage, u: Sequence[Scalar], udot: Sequence[Scalar] | None) -> Vector:
    """Return the generalized forces (nu) that give udot (RNEA); without udot the bias h."""
    v, c = link.velocities(u)
    a = link.accelerations(c, link.upwards, udot)
    tau = forces_of_motion(link, v, a)
    if udot is not None:
        for i, speeds in enumerate(link.speeds):
            for r in speeds:
                tau[r] = tau[r] + link.armature[i] * udot[r]
    return tau


def forces_of_motion(link: Linkage, v: list[Vector], a: list[Vector]) -> Vector:
    """Return the generalized forces (nu) that move the bodies with v and a: the way back of RNEA."""
    p = [link.momentum(i, v_i) for i, v_i in enumerate(v)]
    f = [add(link.momentum(i, a[i]), cross_force(v[i], p_i)) for i, p_i in enumerate(p)]
    tau = zeros(link.tree.nu)
    for i in reversed(range(len(link))):
        for s, r in zip(link.S[i], link.speeds[i], strict=True):
            tau[r] = tau[r] + dot(s, f[i])
        parent = link.parents[i]
        if parent >= 0:
            f[parent] = add(f[parent], link.up(i, f[i]))
    return tau


def mass_matrix(link: Linkage) -> Matrix:
    """Return M (nu x nu), symmetric to the bit, armature included (CRBM)."""
    I = list(link.inertias)
    M = [zeros(link.tree.nu) for _ in range(link.tree.nu)]
    for i in reversed(range(len(link))):
        parent = link.parents[i]
        if parent >= 0:
            I[parent] = I[parent] + link.X_T[i].rigid_back(link.X_J[i].rigid_back(I[i]))
        for k, s in enumerate(link.S[i]):
            r = link.speeds[i][k]
            F = I[i] * s
            for s_k, r_k in list(zip(link.S[i], link.speeds[i], strict=True))[: k + 1]:
                _put(M, r, r_k, dot(s_k, F), s_k is s)
            M[r][r] = M[r][r] + link.armature[i]
            j = i
            while link.parents[j] >= 0:
                F = link.up(j, F)
                j = link.parents[j]
                for s_j, r_j in zip(link.S[j], link.speeds[j], strict=True):
                    _put(M, r, r_j, dot(s_j, F), False)
    return M


def _put(M: Matrix, r: int, c: int, value: Scalar, same: bool) -> None:
    """Add s_r' I s_c to M; ``same``: it is one column of S with itself."""
    if r != c:
        M[r][c] = M[c][r] = M[r][c] + value
    elif same:
        M[r][r] = M[r][r] + value
    else:  # two joints that share a speed: this product and its mirror image
        M[r][r] = M[r][r] + (value + value)


def forward_dynamics(link: Linkage, u: Sequence[Scalar], tau: Sequence[Scalar]) -> Vector:
    """Return udot (nu) under the generalized forces tau: by ABM, or from M udot = tau - h.

    Bodies that share a speed, because one joint follows another, are no tree of independent joints any more,
    which the articulated-body recursion needs.
    """
    if link.tree.has_followers:
        return solve_symmetric(mass_matrix(link), subtract(tau, inverse_dynamics(link, u, None)))
    return articulated_body(link, u, tau)[0]


def energy(link: Linkage, u: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """Return kinetic and potential energy [J]; the potential is -m g . p of the bodies that move."""
    v, _ = link.velocities(u)
    kinetic: Scalar = 0.0
    for i, v_i in enumerate(v):
        kinetic = kinetic + 0.5 * dot(v_i, link.momentum(i, v_i))
        for r in link.speeds[i]:
            kinetic = kinetic + (0.5 * link.armature[i]) * (u[r] * u[r])
    potential: Scalar = 0.0
    for (R, p), I in zip(poses(link), link.inertias, strict=True):
        potential = potential - dot(link.gravity_W, add(scale(I.m, p), times(R, I.h)))
    return kinetic, potential


def poses(link: Linkage) -> list[tuple[Matrix, Vector]]:
    """Return for every moving body R_WM and p_WM."""
    found: list[tuple[Matrix, Vector]] = []
    for i, parent in enumerate(link.parents):
        R, p = found[parent] if parent >= 0 else (IDENTITY, zeros(3))
        for X in (link.X_T[i], link.X_J[i]):
            p = add(p, times(R, X.r))
            R = [times(X.E, row) for row in R]  # R E'
        found.append((R, p))
    return found


def rates(link: Linkage, u: Sequence[Scalar]) -> Vector:
    """Return qdot = W(q) u (nq)."""
    qdot: Vector = []
    for i, (joint, body) in enumerate(zip(link.joints, link.tree.bodies, strict=True)):
        if body.joint.mimic is None:
            qdot += joint.rates(link.q[i], [u[r] for r in link.speeds[i]])
    return qdot


def _displacement(body: MovingBody, x: Scalar, number: Number) -> Scalar:
    """Return the displacement of a joint whose coordinate, its own or the one it follows, is x."""
    if body.joint.mimic is None:
        return x
    return number(body.ratio) * x + number(body.offset)


def _numbers(row: Iterable[float], number: Number) -> Vector:
    return [number(x) for x in row]
