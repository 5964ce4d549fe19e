"""A smooth curve through points, cut into the cells that ``kernels/rows/curve.py`` searches.

The curve is a quintic spline over the chord length sigma [m], four times continuously differentiable: where
the c''' of a cubic one jumps, a point that slides along it leaves it by 1e-8 m in a tick.  A closed one is
periodic; an open one goes on along its end tangents, with c'' = c''' = 0 there.  Along it two normals turn as
little as possible, by double reflection [Wang et al., table I]; on a closed curve what they miss after a
round is spread over it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hapticsim.model.curves.curve_checks import check_apart, check_points, check_size, turns_too_sharply

SLOWEST = 0.02  # |c'|, which is about 1: at a cusp it is 0
TURN = 0.15  # [rad] the tangent turns within a cell, at most
APART_FROM_CHORD = 1e-4  # [m] between a cell and its chord: much less than what parts of a curve stay apart
COUNTS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)  # cells between two points
END = 1.0  # [m] size of the cells on the tangents at open ends; the search goes on beyond them
OUTLINE = 256  # points told to observers, at most


@dataclass(frozen=True, eq=False)
class Curve:
    """Cells of a curve, in the axes of its body, in order."""

    closed: bool
    cell: np.ndarray  # (n, 31) as Plan.curve_cell
    chord: np.ndarray  # (n, 9) as Plan.curve_chord
    outline: np.ndarray  # (k, 3) [m] points on the curve from end to end, the first again where it is closed


def smooth_curve(points: np.ndarray, closed: bool = False) -> Curve:
    """Return the curve through (n, 3) points [m], from the last back to the first where it is closed.

    Raises
    ------
    CurveFault : points are too few, too close, or the curve turns too sharply or meets itself.
    """
    check_points(points, closed)
    ring = np.vstack([points, points[:1]]) if closed else points
    sizes = np.linalg.norm(np.diff(ring, axis=0), axis=1)
    place = np.concatenate([_cut(c, float(sizes[i]), i) for i, c in enumerate(_spline(ring, sizes, closed))])
    check_size(len(place))
    normal = _normal_cubics(place, points, closed)
    cell = np.concatenate([place[:, :18], normal, place[:, 18:]], axis=1)
    start = place[:, :3]
    end = np.vstack([start[1:], _about(place[-1, :18].reshape(6, 3), float(place[-1, 18]))[0]])
    check_apart(start, end, closed)
    low, high = np.zeros(len(cell)), np.ones(len(cell))
    outline = np.vstack([start[:: math.ceil(len(start) / OUTLINE)], start[:1] if closed else end[-1:]])
    if not closed:
        cell = np.vstack([_ray(cell[0], 0.0, -END), cell, _ray(cell[-1], float(cell[-1, 30]), 0.0)])
        start, end = np.vstack([cell[:1, :3], start, end[-1:]]), np.vstack([start[:1], end, cell[-1:, :3]])
        end[-1] = cell[-1, :3] + END * cell[-1, 3:6]
        low, high = np.array([-np.inf, *low, 0.0]), np.array([1.0, *high, np.inf])
    chord = end - start
    inverse = 1.0 / np.einsum("ij,ij->i", chord, chord)
    return Curve(closed, cell, np.column_stack([start, chord, inverse, low, high]), outline)


def _spline(ring: np.ndarray, sizes: np.ndarray, closed: bool) -> list[np.ndarray]:
    """(6, 3) coefficients of the quintics between neighbours of (n + 1, 3) points, pieces of these sizes [m].

    A piece follows from place, v = c' and a = c'' at its ends; v and a make the third and fourth derivatives
    continuous at points between two pieces, and the second and third zero at open ends.
    """
    n, rise = len(sizes), np.diff(ring, axis=0)
    knots = n if closed else n + 1
    left, right = np.zeros((2 * knots, knots, 2)), np.zeros((2 * knots, 3))  # of v and a at each knot

    def add(row: int, piece: int, of_ends: tuple[float, ...], scale: float) -> None:
        of_rise, v0, v1, a0, a1 = of_ends
        h = sizes[piece]
        left[row, piece] += scale * np.array([v0 * h, a0 * h * h])
        left[row, (piece + 1) % knots] += scale * np.array([v1 * h, a1 * h * h])
        right[row] -= scale * of_rise * rise[piece]

    third_0, third_1 = (60.0, -36.0, -24.0, -9.0, 3.0), (60.0, -24.0, -36.0, -3.0, 9.0)  # times h^3
    fourth_0, fourth_1 = (-360.0, 192.0, 168.0, 36.0, -24.0), (360.0, -168.0, -192.0, -24.0, 36.0)  # h^4
    for i in range(knots):
        if closed or 0 < i < n:
            before = (i - 1) % n
            least = min(sizes[before], sizes[i])
            for row, power, end, begin in ((2 * i, 3, third_1, third_0), (2 * i + 1, 4, fourth_1, fourth_0)):
                add(row, before, end, (least / sizes[before]) ** power)
                add(row, i, begin, -((least / sizes[i]) ** power))
        else:
            add(2 * i, min(i, n - 1), third_0 if i == 0 else third_1, 1.0)
            left[2 * i + 1, i, 1] = 1.0
    knot = np.linalg.solve(left.reshape(2 * knots, 2 * knots), right).reshape(knots, 2, 3)
    made = []
    for i, (h, d) in enumerate(zip(sizes, rise, strict=True)):
        (v0, a0), (v1, a1) = knot[i] * [[h], [h * h]], knot[(i + 1) % knots] * [[h], [h * h]]
        cube = 10.0 * d - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1
        fourth = -15.0 * d + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1
        fifth = 6.0 * d - 3.0 * v0 - 3.0 * v1 - 0.5 * a0 + 0.5 * a1
        powers = h ** np.arange(6.0)[:, None]
        made.append(np.array([ring[i], v0, a0 / 2.0, cube, fourth, fifth]) / powers)
    return made


def _about(c: np.ndarray, z: float) -> np.ndarray:
    """(k, 3) coefficients of a polynomial of (k, 3) coefficients, about z: its derivatives there over n!."""
    k = range(len(c))
    return np.asarray([[math.comb(j, n) * z ** (j - n) if j >= n else 0.0 for j in k] for n in k] @ c)


def _cut(c: np.ndarray, size: float, index: int) -> np.ndarray:
    """(k, 19) coefficients and size of the equal cells, as few as will do, of the piece after a point."""
    for count in COUNTS:
        fine = np.array([_about(c, z)[:2] for z in np.linspace(0.0, size, 4 * count + 1)])
        place, rate = fine[:, 0], fine[:, 1]
        if np.linalg.norm(rate, axis=1).min() < SLOWEST:
            raise turns_too_sharply(index)
        turn = np.linalg.norm(np.cross(rate[:-1], rate[1:]), axis=1)
        turn = np.arctan2(turn, np.einsum("ij,ij->i", rate[:-1], rate[1:])).reshape(count, 4).sum(axis=1)
        middle = 0.5 * (place[:-4:4] + place[4::4])
        if turn.max() <= TURN and np.linalg.norm(place[2::4] - middle, axis=1).max() <= APART_FROM_CHORD:
            h = size / count
            return np.array([[*_about(c, h * i).ravel(), h] for i in range(count)])
    raise turns_too_sharply(index)


def _normal_cubics(place: np.ndarray, points: np.ndarray, closed: bool) -> np.ndarray:
    """(n, 12) cubics through unit normals at the ends of (n, 19) cells, with the slopes that turn least."""
    pieces, sizes = place[:, :18].reshape(-1, 6, 3), place[:, 18]
    ends = np.array([*pieces, _about(pieces[-1], float(sizes[-1]))])
    at, rate, bend = ends[:, 0], ends[:, 1], 2.0 * ends[:, 2]
    if closed:  # the last is the first, to the last bit
        at[-1], rate[-1], bend[-1] = at[0], rate[0], bend[0]
    tangent = rate / np.linalg.norm(rate, axis=1)[:, None]
    m = np.empty_like(at)
    m[0] = _first_normal(points, tangent[0])
    for j in range(len(pieces)):
        m[j + 1] = _reflected_twice(m[j], at[j + 1] - at[j], tangent[j], tangent[j + 1])
    twist = 0.0  # [rad/m]
    if closed:
        missed = math.atan2(float(np.cross(m[0], m[-1]) @ tangent[0]), float(m[0] @ m[-1]))
        sigma = np.concatenate([[0.0], np.cumsum(sizes)])
        twist = -missed / sigma[-1]
        angle = (twist * sigma)[:, None]
        m = np.cos(angle) * m + np.sin(angle) * np.cross(tangent, m)
        m[-1] = m[0]
    lean = np.einsum("ij,ij->i", m, bend) / np.einsum("ij,ij->i", rate, rate)
    slope = twist * np.cross(tangent, m) - lean[:, None] * rate
    h = sizes[:, None]
    rise = (m[1:] - m[:-1]) / h
    square = (3.0 * rise - 2.0 * slope[:-1] - slope[1:]) / h
    cube = (slope[:-1] + slope[1:] - 2.0 * rise) / (h * h)
    return np.concatenate([m[:-1], slope[:-1], square, cube], axis=1)


def _first_normal(points: np.ndarray, tangent: np.ndarray) -> np.ndarray:
    """(3,) the normal of the points' plane, so that one row of a flat curve is about its plane alone."""
    _, spread, axes = np.linalg.svd(points - points.mean(axis=0))
    n = axes[2] * np.sign(axes[2][np.argmax(np.abs(axes[2]))])
    square = n - (n @ tangent) * tangent
    if spread[1] < 1e-6 * spread[0] or np.linalg.norm(square) < 0.1:  # a straight line, or a steep start
        n = np.eye(3)[int(np.argmin(np.abs(tangent)))]
        square = n - (n @ tangent) * tangent
    return square / np.linalg.norm(square)


def _reflected_twice(m: np.ndarray, step: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """(3,) a normal carried along a step from one tangent to the next."""
    m, before = (v - 2.0 * (v @ step) / (step @ step) * step for v in (m, before))
    turn = after - before
    m = m - 2.0 * (m @ turn) / (turn @ turn) * turn
    m = m - (m @ after) * after
    return m / np.linalg.norm(m)


def _ray(cell: np.ndarray, z: float, begin: float) -> np.ndarray:
    """(31,) the cell on the tangent at a place of an end cell, from ``begin`` before that place."""
    place, rate = _about(cell[:18].reshape(6, 3), z)[:2]
    m = _about(cell[18:30].reshape(4, 3), z)[0]
    return np.array([*(place + begin * rate), *rate, *np.zeros(12), *m, *np.zeros(9), END])
