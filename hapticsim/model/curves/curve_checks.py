"""What the points of a curve must be so that the nearest place on it is one place."""

from __future__ import annotations

import numpy as np

FARTHEST = 1e4  # [m] of a coordinate
SAME = 1e-6  # [m] points nearer than this are one
POINTS = 256  # at most
CELLS = 1024  # at most: all are searched in every evaluation
APART = 1e-3  # [m] between parts of the curve that do not follow one another
FOLLOWS = 3.0  # parts follow one another up to this many times APART along the curve


class CurveFault(ValueError):
    """Points that make no usable curve: which of them, and the rest of the sentence."""

    def __init__(self, point: int | None, problem: str) -> None:
        super().__init__(problem)
        self.point = point
        self.problem = problem


def check_points(points: np.ndarray, closed: bool) -> None:
    """Refuse too few, too many, numbers that are not finite, and neighbours that are the same."""
    least = 3 if closed else 2
    if not least <= len(points) <= POINTS:
        what = "a closed curve" if closed else "a curve"
        raise CurveFault(None, f"has the length {len(points)}: {what} takes {least} to {POINTS} points.")
    for i, point in enumerate(points):
        if not np.abs(point).max() <= FARTHEST:
            raise CurveFault(i, f"= {point.tolist()} is not within 10 km: write metres.")
    for i in range(1, len(points)):
        if np.linalg.norm(points[i] - points[i - 1]) < SAME:
            raise CurveFault(i, f"= {points[i].tolist()} is the point before it: leave one of the two out.")
    if closed and np.linalg.norm(points[-1] - points[0]) < SAME:
        last = len(points) - 1
        raise CurveFault(last, f"= {points[last].tolist()} is the first point again: leave it out.")


def turns_too_sharply(index: int) -> CurveFault:
    """The fault of a piece that no number of cells makes nearly straight."""
    return CurveFault(
        index, "begins a piece that turns too sharply: put points closer there, or make it rounder."
    )


def check_size(cells: int) -> None:
    """Refuse a curve that takes too long to search."""
    if cells > CELLS:
        raise CurveFault(
            None,
            f"makes a curve of {cells} nearly straight pieces, of which {CELLS} can be searched in a tick: "
            "make it shorter or less winding.",
        )


def check_apart(start: np.ndarray, end: np.ndarray, closed: bool) -> None:
    """Refuse a curve that meets itself: on which branch a point stays there is not in the coordinates.

    start, end : (n, 3) [m] ends of its chords.
    """
    sizes = np.linalg.norm(end - start, axis=1)
    at = np.concatenate([[0.0], np.cumsum(sizes)])
    for i in range(len(start) - 1):
        later = np.arange(i + 1, len(start))
        between = at[later] - at[i + 1]
        if closed:
            between = np.minimum(between, at[i] + at[-1] - at[later + 1])
        later = later[between >= FOLLOWS * APART]
        if len(later) == 0:
            continue
        distance = _between_segments(start[i], end[i] - start[i], start[later], end[later] - start[later])
        if distance.min() < APART:
            where = ", ".join(f"{x:.3g}" for x in start[i])
            raise CurveFault(
                None,
                f"makes a curve that meets itself near [{where}]: keep its parts {1e3 * APART:g} mm apart, "
                "or use two guides.",
            )


def _between_segments(p: np.ndarray, u: np.ndarray, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n,) [m] from the segment p + [0, 1] u to each of the segments q + [0, 1] v [Ericson, 5.1.9]."""
    r = p - q
    a, e = u @ u, np.einsum("ij,ij->i", v, v)
    b, c, f = v @ u, r @ u, np.einsum("ij,ij->i", v, r)
    across = a * e - b * b
    parallel = across < 1e-12 * a * e
    s = np.where(parallel, 0.0, np.clip((b * f - c * e) / np.where(parallel, 1.0, across), 0.0, 1.0))
    t = np.clip((b * s + f) / e, 0.0, 1.0)
    s = np.clip((b * t - c) / a, 0.0, 1.0)
    return np.asarray(np.linalg.norm(r + s[:, None] * u - t[:, None] * v, axis=1))
