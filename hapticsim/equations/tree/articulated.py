"""The articulated-body method, and three other ways to write its elimination.

ABM is Table 7.1 of Featherstone, Rigid Body Dynamics Algorithms (2008): from the tips to the root every body
is freed of its joint, from the root to the tips the accelerations follow.  On paper all ways of freeing it
are the same; in floating point they are not.  Ascher, Pai and Cloutier, Forward Dynamics, Elimination
Methods, and Formulation Stiffness in Robot Simulation (1997), sections 3 and 4, say why, and ``Elimination``
names the ways.  The letters are the book's; the paper's H is S', its Mhat is I_A, its Mbar is I_a.

Differences from the book, all of them stated where they stand:

- several speeds per joint are projected one after the other, so that nothing larger than a number is
  inverted;
- what the projection makes zero is written as zero (``_project``), with the armature's share in closed form;
- a body that carries no other is freed of its joint about its centre of mass (``freed_alone``);
- armature (rotor inertia) adds to D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hapticsim.equations.scalars.spatial import (
    ArticulatedInertia,
    Matrix,
    Scalar,
    Vector,
    add,
    cross_force,
    dot,
    inertia_from_matrix,
    mirrored,
    scale,
    times,
    zeros,
)
from hapticsim.equations.tree.joints import largest_entry

if TYPE_CHECKING:
    from hapticsim.equations.tree.linkage import Linkage


@dataclass(frozen=True)
class Elimination:
    """How a joint is eliminated.  The defaults lose the fewest digits."""

    # Row and column of the projected inertia along a coordinate direction are written, not subtracted, and
    # what a body that carries no other keeps comes from its inertia about the centre of mass.
    exact_zeros: bool = True
    # D = S' M S + S' Mtilde S, M the body's own inertia and Mtilde what its children hand down: Eq. (11).
    # Of a joint with several speeds the first only; the others start from a projected inertia anyway.
    split_pivot: bool = False
    # (M + X' I X) - X' (U U' / D) X: projected only after it was transformed and added to the parent's.
    # Cloutier, Properties of Robot Forward Dynamics Algorithms (1995), section 5.3.1, shows what that costs.
    project_late: bool = False


EXACT = Elimination()


def articulated_body(
    link: Linkage, u: Sequence[Scalar], tau: Sequence[Scalar], how: Elimination = EXACT
) -> tuple[Vector, Vector]:
    """Return udot (nu) under the generalized forces tau, and the pivots D (nu) of the elimination."""
    v, c = link.velocities(u)
    I_A: list[ArticulatedInertia] = [I.articulated() for I in link.inertias]
    carried: list[ArticulatedInertia | None] = [None] * len(link)  # Mtilde
    p_A = [cross_force(v_i, link.momentum(i, v_i)) for i, v_i in enumerate(v)]
    U: list[list[Vector]] = [[] for _ in v]
    D_inverse: list[Vector] = [[] for _ in v]
    residual: list[Vector] = [[] for _ in v]
    pivots = zeros(link.tree.nu)
    for i in reversed(range(len(link))):
        parent = link.parents[i]
        below = carried[i]
        if how.split_pivot and below is not None:
            I_A[i] = I_A[i] + below
        I, p = I_A[i].matrix(), p_A[i]
        for k, (s, r) in enumerate(zip(link.S[i], link.speeds[i], strict=True)):
            U_s = times(I, s)  # U = I S
            if how.split_pivot and k == 0 and below is not None:
                D = dot(s, link.inertias[i] * s) + dot(s, below * s) + link.armature[i]  # (11)
            else:
                D = dot(s, U_s) + link.armature[i]  # D = S' U
            rest = tau[r] - dot(s, p)  # u = tau - S' p
            U[i].append(U_s)
            inverse = math.inf if D == 0.0 else 1.0 / D  # compiled code does not raise either
            D_inverse[i].append(inverse)
            residual[i].append(rest)
            pivots[r] = D
            if parent >= 0 or len(link.S[i]) > 1:
                freed = freed_alone(link, i, k) if how.exact_zeros else None
                I, p = _project(I, p, s, U_s, inverse, rest, link.armature[i], tau[r], how.exact_zeros, freed)
        if parent >= 0:
            p = add(p, times(I, c[i]))  # p_a = p_A + I_a c + U u / D, the last term being in p already
            if how.project_late:
                I_A[parent] = I_A[parent] + link.inertia_up(i, I_A[i])
                for U_s, inverse in zip(U[i], D_inverse[i], strict=True):
                    I_A[parent] = I_A[parent] - link.inertia_up(i, _square(U_s, scale(inverse, U_s)))
            else:
                up = link.inertia_up(i, inertia_from_matrix(I))
                if not how.split_pivot:
                    I_A[parent] = I_A[parent] + up
                else:
                    others = carried[parent]
                    carried[parent] = up if others is None else others + up
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
    return udot, pivots


def freed_alone(link: Linkage, i: int, k: int) -> Matrix | None:
    """Return I - U U'/D of a body that carries no other and its first speed, k = 0; None for all else.

    It is a constant: no operation at run time.
    """
    s = link.S[i][k]
    if k > 0 or i in link.parents or largest_entry(s) is None:
        return None
    return link.central[i].freed_along(s, link.armature[i])


def _project(
    I: Matrix,
    p: Vector,
    s: Vector,
    U: Vector,
    D_inverse: Scalar,
    rest: Scalar,
    armature: Scalar,
    tau: Scalar,
    exact_zeros: bool,
    freed: Matrix | None = None,
) -> tuple[Matrix, Vector]:
    """Return what is left when the motion along s is free: I - U U'/D, or ``freed``, and p + U u/D.

    What is left times s is U armature/D, and its bias along s is tau - u armature/D.  With ``exact_zeros``
    the row, the column and the entry of the bias where s is largest are computed from that, without the
    subtraction that would leave rounding errors of the size of the heavy body where a light one must be
    felt.  Along a coordinate direction they are exact zeros where there is no armature.
    """
    scaled = scale(D_inverse, U)
    if freed is None:
        freed = [[I[i][j] - U[i] * scaled[j] if j >= i else 0.0 for j in range(6)] for i in range(6)]
    I = mirrored(freed)
    p = add(p, scale(rest, scaled))
    if exact_zeros and (k := largest_entry(s)) is not None:
        rho, inverse = armature * D_inverse, 1.0 / s[k]
        others = [j for j in range(6) if j != k and s[j] != 0.0]
        row = scale(inverse * rho, U)
        p[k] = inverse * (tau - rho * rest)
        for j in others:
            share = inverse * s[j]
            row = [row[i] - share * I[j][i] if i != k else row[i] for i in range(6)]
            p[k] = p[k] - share * p[j]
        for j in others:  # the corner, from the entries of the column that are new by now
            row[k] = row[k] - inverse * s[j] * row[j]
        for j in range(6):
            I[k][j] = I[j][k] = row[j]
    return I, p


def _square(U: Vector, scaled: Vector) -> ArticulatedInertia:
    """Return U U'/D, symmetric to the bit, where ``scaled`` is U/D."""
    return inertia_from_matrix(
        mirrored([[U[i] * scaled[j] if j >= i else 0.0 for j in range(6)] for i in range(6)])
    )
