"""What a generalized force does to a tree at rest: x = M^-1 tau in O(n), without M.

One impulse response is the articulated-body method without velocity and gravity.  What depends on q alone,
its pass over the inertias, is done once (``response_factor``) and serves any number of forces
(``response``): Featherstone, Rigid Body Dynamics Algorithms (2008), Table 7.1; Lilly and Orin, Efficient O(N)
Recursive Computation of the Operational Space Inertia Matrix (1993), for the use made of it.

Between the two stands a flat array F, in which every number that the second pass needs stands once: of the
transform across each joint, of U = I_A S and of 1/D.  Which of these are zeros, ones, equal or opposite is
known before the run, from a trace of the first pass (``_layout``); those take no room and no time, and no
sine is taken twice.

Joints that follow others are no articulated bodies; there F is M, and every response solves with it anew:
right, but not O(n).  ``is_articulated`` says which it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

from hapticsim.equations.scalars.spatial import (
    Matrix,
    Scalar,
    Transform,
    Vector,
    add,
    dot,
    inertia_from_matrix,
    mirrored,
    scale,
    times,
    zeros,
)
from hapticsim.equations.scalars.symmetric import solve_symmetric
from hapticsim.equations.scalars.trace import Trace, Traced
from hapticsim.equations.tree.articulated import _project as project
from hapticsim.equations.tree.articulated import freed_alone
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import mass_matrix
from hapticsim.model.moving import MovingTree

_NO_INERTIA: Matrix = [zeros(6) for _ in range(6)]


@dataclass(frozen=True)
class _Layout:
    """Where the numbers that ``_left`` gives stand in F.

    size : entries of F.
    places : for every number (place in F, sign), or (-1, value) for 0, 1 and -1, exact in every precision.
    """

    size: int
    places: tuple[tuple[int, float], ...]


def is_articulated(tree: MovingTree) -> bool:
    """Say whether responses are O(n): no joint follows another."""
    return not tree.has_followers


def factor_size(tree: MovingTree) -> int:
    """Return the number of entries of F."""
    return _layout(tree).size


def response_factor(tree: MovingTree, q: Sequence[Scalar]) -> Vector:
    """Return F at the coordinates q (nq)."""
    layout, F = _layout(tree), zeros(_layout(tree).size)
    for value, (place, sign) in zip(_left(tree, q), layout.places, strict=True):
        if place >= 0:
            F[place] = value if sign > 0.0 else -value
    return F


def response(tree: MovingTree, F: Sequence[Scalar], tau: Sequence[Scalar]) -> Vector:
    """Return x = M^-1 tau (nu) for the coordinates that F was made at."""
    left = iter(
        sign if place < 0 else F[place] if sign > 0.0 else -F[place] for place, sign in _layout(tree).places
    )
    if not is_articulated(tree):
        return solve_symmetric(
            mirrored([zeros(r) + take(left, tree.nu - r) for r in range(tree.nu)]), list(tau)
        )
    link = Linkage(tree, [tau[0]] * tree.nq if tau else [])  # for what does not depend on q
    U: list[list[Vector]] = [[] for _ in link.S]
    D_inverse: list[Vector] = [[] for _ in link.S]
    for i in reversed(range(len(link))):
        if link.parents[i] >= 0:
            link.X_J[i] = Transform([take(left, 3) for _ in range(3)], take(left, 3))
        for _ in link.S[i]:
            U[i].append(take(left, 6))
            D_inverse[i] += take(left, 1)
    p = [zeros(6) for _ in link.S]
    residual = zeros(tree.nu)
    for i in reversed(range(len(link))):
        parent, p_i = link.parents[i], p[i]
        for s, r, U_s, inverse in zip(link.S[i], link.speeds[i], U[i], D_inverse[i], strict=True):
            residual[r] = tau[r] - dot(s, p_i)  # u = tau - S' p
            _, p_i = project(
                _NO_INERTIA, p_i, s, U_s, inverse, residual[r], link.armature[i], tau[r], exact_zeros=True
            )
        if parent >= 0:
            p[parent] = add(p[parent], link.up(i, p_i))
    a: list[Vector] = []
    x = zeros(tree.nu)
    for i, parent in enumerate(link.parents):
        a_i = link.down(i, a[parent]) if parent >= 0 else zeros(6)
        for k in reversed(range(len(link.S[i]))):
            r = link.speeds[i][k]
            x[r] = (residual[r] - dot(U[i][k], a_i)) * D_inverse[i][k]
            a_i = add(a_i, scale(x[r], link.S[i][k]))
        a.append(a_i)
    return x


def _left(tree: MovingTree, q: Sequence[Scalar]) -> Vector:
    """Return what the inertias leave for the responses, from the tips to the root.

    Of every body E and r of the transform across its joint (not of a root, which nothing moves), then for
    each of its speeds U and 1/D.  With followers the upper triangle of M by rows.
    """
    link, left = Linkage(tree, q), zeros(0)
    if not is_articulated(tree):
        return [x for r, row in enumerate(mass_matrix(link)) for x in row[r:]]
    I_A = [I.articulated() for I in link.inertias]
    for i in reversed(range(len(link))):
        parent, I = link.parents[i], I_A[i].matrix()
        if parent >= 0:
            left += [x for row in link.X_J[i].E for x in row] + list(link.X_J[i].r)
        for k, s in enumerate(link.S[i]):
            U = times(I, s)
            D = dot(s, U) + link.armature[i]
            inverse = math.inf if D == 0.0 else 1.0 / D
            left += [*U, inverse]
            freed, rotor = freed_alone(link, i, k), link.armature[i]
            I, _ = project(I, zeros(6), s, U, inverse, 0.0, rotor, 0.0, exact_zeros=True, freed=freed)
        if parent >= 0:
            I_A[parent] = I_A[parent] + link.inertia_up(i, inertia_from_matrix(I))
    return left


@lru_cache(maxsize=16)
def _layout(tree: MovingTree) -> _Layout:
    places: list[tuple[int, float]] = []
    known: dict[int, int] = {}  # operation -> place
    size = 0
    for value in _left(tree, Trace().inputs("q", tree.nq)):
        if not isinstance(value, Traced) and value in (0.0, 1.0, -1.0):
            places.append((-1, value))
            continue
        place = known.setdefault(value.number, size) if isinstance(value, Traced) else size
        places.append((place, -1.0 if isinstance(value, Traced) and value.negative else 1.0))
        size = max(size, place + 1)
    return _Layout(size, tuple(places))


def take(values: Iterator[Any], n: int) -> Vector:
    """Return the next n values."""
    return list(islice(values, n))
