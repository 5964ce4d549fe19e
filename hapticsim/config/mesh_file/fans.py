"""Vertices at which a surface only touches itself, made two: each then has one fan of triangles about it."""

from __future__ import annotations

import numpy as np


def one_fan_each(
    vertices: np.ndarray, triangles: np.ndarray, twins: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and triangles of a closed surface in which no vertex has two fans.

    Two cones tip to tip share a vertex, and a normal there would be that of neither.

    twins : ``Edges.twins``.
    """
    following = twins - twins % 3 + (twins % 3 + 1) % 3  # the next corner at the same vertex, across an edge
    fan = np.arange(len(twins))  # the lowest corner of the fan, found among twice as many each time
    while True:
        lower = np.minimum(fan, fan[following])
        if np.array_equal(lower, fan):
            break
        fan, following = lower, following[following]
    first, label = np.unique(fan, return_inverse=True)
    return vertices[triangles.ravel()[first]], label.reshape(triangles.shape)
