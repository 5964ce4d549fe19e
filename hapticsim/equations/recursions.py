"""Recursive dynamics of a tree, line for line with the book, over any scalar.

RNEA is Table 5.1, CRBM Table 6.2 and ABM Table 7.1 of Featherstone, Rigid Body Dynamics Algorithms (2008),
with spatial vectors in body axes.  Differences from the book, all of them stated where they stand:

- several speeds per joint are projected one after the other, so that nothing larger than a number is
  inverted;
- what the projection makes zero is written as zero (``_project``), with the armature's share in closed form;
- armature (rotor inertia) adds to the diagonal of M and to D.

Everything takes a ``Linkage``: a moving tree at the coordinates q.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hapticsim.equations.joints import JointMotion, coordinate_direction, joint_motion
from hapticsim.equations.spatial import (
    IDENTITY,
    ArticulatedInertia,
    Matrix,
    RigidInertia,
    Scalar,
    Transform,
    Vector,
    add,
    cross_force,
    cross_motion,
    dot,
    inertia_from_matrix,
    mirrored,
    scale,
    times,
    zeros,
)
from hapticsim.model.moving import MovingTree
from hapticsim.model.tree import Placement


class Linkage:
    """A moving tree at coordinates q: transforms, motion subspaces and inertias, ready for the recursions.

    q : (nq,) generalized coordinates, any scalar.
    """

    def __init__(self, tree: MovingTree, q: Sequence[Scalar]) -> None:
        self.tree = tree
        self.parents = [b.parent for b in tree.bodies]
        self.joints: list[JointMotion] = [joint_motion(b) for b in tree.bodies]
        self.q = [
            list(q[b.q_start : b.q_start + j.nq]) for b, j in zip(tree.bodies, self.joints, strict=True)
        ]
        # Two transforms in a row are cheaper than their product: one is constant, the other mostly zeros.
        self.X_T = [constant_transform(b.X_PJ) for b in tree.bodies]
        self.X_J = [j.transform(q) for j, q in zip(self.joints, self.q, strict=True)]
        self.S = [j.subspace(q) for j, q in zip(self.joints, self.q, strict=True)]
        self.speeds = [
            range(b.u_start, b.u_start + j.nu) for b, j in zip(tree.bodies, self.joints, strict=True)
        ]
        self.armature = [float(b.joint.armature) for b in tree.bodies]
        self.inertias = [
            RigidInertia(float(b.mass), _floats(b.moment), [_floats(row) for row in b.inertia])
            for b in tree.bodies
        ]
        self.gravity_W = _floats(tree.gravity_W)

    def __len__(self) -> int:
        return len(self.parents)

    def down(self, i: int, motion: Vector) -> Vector:
        """Return a motion vector of the parent in the axes of body i."""
        return self.X_J[i].motion(self.X_T[i].motion(motion))

    def up(self, i: int, force: Vector) -> Vector:
        """Return a force vector of body i in the axes of its parent."""
        return self.X_T[i].force_back(self.X_J[i].force_back(force))

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


def constant_transform(X: Placement) -> Transform:
    """Return the Plücker transform from P to F of a placement X_PF."""
    return Transform([_floats(row) for row in X.rotation.T], _floats(X.translation))


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
    f = [add(I * a_i, cross_force(v_i, I * v_i)) for I, a_i, v_i in zip(link.inertias, a, v, strict=True)]
    tau = zeros(link.tree.nu)
    for i in reversed(range(len(link))):
        for s, r in zip(link.S[i], link.speeds[i], strict=True):
            tau[r] = dot(s, f[i])
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
                M[r][r_k] = M[r_k][r] = dot(s_k, F)
            M[r][r] = M[r][r] + link.armature[i]
            j = i
            while link.parents[j] >= 0:
                F = link.up(j, F)
                j = link.parents[j]
                for s_j, r_j in zip(link.S[j], link.speeds[j], strict=True):
                    M[r][r_j] = M[r_j][r] = dot(s_j, F)
    return M


def forward_dynamics(link: Linkage, u: Sequence[Scalar], tau: Sequence[Scalar]) -> Vector:
    """Return udot (nu) under the generalized forces tau (ABM)."""
    v, c = link.velocities(u)
    I_A: list[ArticulatedInertia] = [I.articulated() for I in link.inertias]
    p_A = [cross_force(v_i, I * v_i) for v_i, I in zip(v, link.inertias, strict=True)]
    U: list[list[Vector]] = [[] for _ in v]
    D_inverse: list[Vector] = [[] for _ in v]
    residual: list[Vector] = [[] for _ in v]
    for i in reversed(range(len(link))):
        parent = link.parents[i]
        I, p = I_A[i].matrix(), p_A[i]
        for s, r in zip(link.S[i], link.speeds[i], strict=True):
            U_s = times(I, s)  # U = I S
            D = dot(s, U_s) + link.armature[i]  # D = S' U
            rest = tau[r] - dot(s, p)  # u = tau - S' p
            U[i].append(U_s)
            D_inverse[i].append(1.0 / D)
            residual[i].append(rest)
            if parent >= 0 or len(link.S[i]) > 1:
                I, p = _project(I, p, s, U_s, 1.0 / D, rest, link.armature[i], tau[r])
        if parent >= 0:
            p = add(p, times(I, c[i]))  # p_a = p_A + I_a c + U u / D, the last term being in p already
            I_A[parent] = I_A[parent] + link.X_T[i].articulated_back(
                link.X_J[i].articulated_back(inertia_from_matrix(I))
            )
            p_A[parent] = add(p_A[parent], link.up(i, p))
    a: list[Vector] = []
    udot = zeros(link.tree.nu)
    for i, parent in enumerate(link.parents):
        a_i = add(link.down(i, a[parent] if parent >= 0 else link.upwards), c[i])
        for k in reversed(range(len(link.S[i]))):
            r = link.speeds[i][k]
            udot[r] = (residual[i][k] - dot(U[i][k], a_i)) * D_inverse[i][k]
            a_i = add(a_i, scale(udot[r], link.S[i][k]))
        a.append(a_i)
    return udot


def _project(
    I: Matrix,
    p: Vector,
    s: Vector,
    U: Vector,
    D_inverse: Scalar,
    rest: Scalar,
    armature: float,
    tau: Scalar,
) -> tuple[Matrix, Vector]:
    """Return what is left when the motion along s is free: I - U U'/D and p + U u/D.

    Where s is a coordinate direction k, s'U = D - armature makes row k of the result U armature/D, and entry
    k of the bias tau - u armature/D.  They are written so, without the subtraction that would leave rounding
    errors of the size of the heavy body where a light one must be felt.
    """
    scaled = scale(D_inverse, U)
    I = mirrored([[I[i][j] - U[i] * scaled[j] if j >= i else 0.0 for j in range(6)] for i in range(6)])
    p = add(p, scale(rest, scaled))
    k = coordinate_direction(s)
    if k is not None:
        rho = armature * D_inverse
        sign = s[k]
        for j, x in enumerate(scale(sign * rho, U)):
            I[k][j] = I[j][k] = x
        p[k] = sign * (tau - rho * rest)
    return I, p


def energy(link: Linkage, u: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """Return kinetic and potential energy [J]; the potential is -m g . p of the bodies that move."""
    v, _ = link.velocities(u)
    kinetic: Scalar = 0.0
    for i, I in enumerate(link.inertias):
        kinetic = kinetic + 0.5 * dot(v[i], I * v[i])
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
    for i, joint in enumerate(link.joints):
        qdot += joint.rates(link.q[i], [u[r] for r in link.speeds[i]])
    return qdot


def _floats(row: Iterable[float]) -> Vector:
    return [float(x) for x in row]
