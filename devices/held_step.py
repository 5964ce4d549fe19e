"""One step of a mass held by a spring and a damper, exactly: what emulated handles move with.

    m v' = -K e - C v + p,    e' = v

over a step h in which the load p is constant.  Angles, an inertia and torques do as well.
"""

from __future__ import annotations

import math


def held_step(m: float, C: float, K: float, h: float) -> tuple[float, float, float, float, float, float]:
    """Exact step of ``m v' = -K e - C v + p`` over h with p held.

    Returns (a11, a12, a21, a22, g1, g2): e+ = a11 e + a12 v + g1 p,  v+ = a21 e + a22 v + g2 p.  The
    exponential of the 3 x 3 matrix of (e, v, p) by its series on a halved step, squared back; holds for K =
    0 and C = 0 too.
    """
    halvings = max(0, math.ceil(math.log2(max(h * (math.sqrt(K / m) + C / m), 1e-3)))) + 6
    s = h / 2**halvings
    A = [[0.0, s, 0.0], [-K / m * s, -C / m * s, s / m], [0.0, 0.0, 0.0]]
    E = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    term = E
    for k in range(1, 12):
        term = [[t / k for t in row] for row in _product(term, A)]
        E = [[a + b for a, b in zip(p, q, strict=True)] for p, q in zip(E, term, strict=True)]
    for _ in range(halvings):
        E = _product(E, E)
    return E[0][0], E[0][1], E[1][0], E[1][1], E[0][2], E[1][2]


def _product(A: list[list[float]], B: list[list[float]]) -> list[list[float]]:
    return [[sum(A[i][k] * B[k][j] for k in range(3)) for j in range(3)] for i in range(3)]
