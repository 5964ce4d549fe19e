"""Recursive dynamics of a tree, line for line with the book, over any scalar.

RNEA is Table 5.1 and CRBM Table 6.2 of Featherstone, Rigid Body Dynamics Algorithms (2008), with spatial
vectors in body axes; armature (rotor inertia) adds to the diagonal of M.  The third recursion, ABM, is in
``articulated.py``.

Everything takes a ``Linkage``: a moving tree at the coordinates q.
"""

from __future__ import annotations

from collections.abc import Sequence

from hapticsim.equations.scalars.spatial import (
    IDENTITY,
    Matrix,
    Scalar,
    Vector,
    add,
    cross_force,
    dot,
    scale,
    subtract,
    times,
    zeros,
)
from hapticsim.equations.scalars.symmetric import solve_symmetric
from hapticsim.equations.tree.articulated import articulated_body
from hapticsim.equations.tree.linkage import Linkage


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
