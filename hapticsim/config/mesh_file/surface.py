"""Triangles as a file has them into ones that share vertices: what is equal is one, what is nothing goes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from hapticsim.config.mesh_file.components import components
from hapticsim.config.mesh_file.edges import Edges
from hapticsim.config.mesh_file.parts import Part
from hapticsim.config.mesh_file.slivers import THIN, thinness

_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)  # odd


def joined(parts: Sequence[Part], across: bool = True) -> Part:
    """Return all parts as one, in which equal vertices are one.

    across : also those of different parts; a body that a file splits by material is closed only so, and two
        that touch along an edge are closed only without.
    """
    counts = [len(points) for points, _ in parts]
    offsets = np.cumsum([0, *counts[:-1]])
    vertices = np.concatenate([points for points, _ in parts]) + 0.0  # of -0 it makes 0
    triangles = np.concatenate([t + offset for (_, t), offset in zip(parts, offsets, strict=True)])
    part = np.zeros(len(vertices)) if across else np.repeat(np.arange(len(parts), dtype=float), counts)
    first, label = _equal_rows(np.column_stack([vertices, part]))
    return vertices[first], label[triangles]


def near_joined(vertices: np.ndarray, triangles: np.ndarray, distance: float) -> Part:
    """Return the part with vertices as one that lie within ``distance`` [m], or twice that by chance.

    They are in one cube of at least one of eight grids.
    """
    every = np.arange(len(vertices))
    same = []
    for shift in itertools.product((0.0, 0.5), repeat=3):
        first, label = _equal_rows(np.floor(vertices / (2.0 * distance) + shift) + 0.0)
        same.append(first[label])
    label = components(len(vertices), np.tile(every, 8), np.concatenate(same))
    first = np.unique(label, return_index=True)[1]
    return vertices[first], label[triangles].astype(np.int64)


def tidied(vertices: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, Edges, int]:
    """Return the triangles without those that are none, and their edges.

    And how many pairs were left out that lay back to back.

    A triangle that names a vertex twice always goes.  One without area, and one of several on the same three
    vertices, goes where the surface is closed without; where it is not so either way, all stay.
    """
    a, b, c = triangles.T
    triangles = triangles[(a != b) & (b != c) & (c != a)]
    with_area = thinness(vertices, triangles) > THIN
    single, facing = _single(triangles)
    pairs = int(np.sum(single) - np.sum(facing))
    everything = np.ones(len(triangles), dtype=bool)
    tried: list[np.ndarray] = []
    for chosen, left_out in ((facing, pairs), (single, 0), (everything, 0)):
        for kept in (chosen & with_area, chosen):
            if any(np.array_equal(kept, before) for before in tried):
                continue
            tried.append(kept)
            edges = Edges.of(triangles[kept], len(vertices))
            if edges.is_closed:
                return triangles[kept], edges, left_out
    return triangles, Edges.of(triangles, len(vertices)), 0


def in_order(vertices: np.ndarray, triangles: np.ndarray) -> Part:
    """Return vertices and triangles in an order that is not that of the file.

    It is the same whatever order a reader returns them in, so that the hash of a mesh is one of its surface.
    """
    order = np.lexsort(vertices.T[::-1])
    if np.any(np.all(vertices[order[1:]] == vertices[order[:-1]], axis=1)):  # told apart by their neighbours
        least = np.full(vertices.shape, np.inf)
        for corner, k in itertools.product(range(3), (1, 2)):
            np.minimum.at(least, triangles[:, corner], vertices[triangles[:, (corner + k) % 3]])
        order = np.lexsort([*least.T, *vertices.T[::-1]])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    triangles = place[triangles]
    start = np.argmin(triangles, axis=1)[:, None]
    triangles = np.take_along_axis(triangles, (start + np.arange(3)) % 3, axis=1)
    return vertices[order], np.ascontiguousarray(triangles[np.lexsort(triangles.T[::-1])])


def _single(triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which triangles to keep of those on the same three vertices, (nt,) each: one; one of those too many.

    The second leaves out pairs that face opposite ways.
    """
    low, high = triangles.min(axis=1), triangles.max(axis=1)
    middle = triangles.sum(axis=1) - low - high
    start = np.argmin(triangles, axis=1)
    turns = np.where(triangles[np.arange(len(triangles)), (start + 1) % 3] == middle, 1, -1)
    first, label = _equal_rows(np.column_stack([low, middle, high]).astype(float))
    single = np.zeros(len(triangles), dtype=bool)
    single[first] = True
    balance = np.bincount(label, weights=turns, minlength=len(first))[label]
    facing = np.zeros(len(triangles), dtype=bool)
    candidates = np.flatnonzero(np.sign(balance) == turns)
    facing[candidates[np.unique(label[candidates], return_index=True)[1]]] = True
    return single, facing


def _equal_rows(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The first of every set of equal rows, and for each row which set it is in."""
    bits = np.ascontiguousarray(rows).view(np.uint64)
    key = bits[:, 0].copy()
    for column in range(1, bits.shape[1]):
        key = (key ^ (key >> np.uint64(29))) * _MIX[column % 3] + bits[:, column]
    _, first, label = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(bits[first[label]], bits):  # two rows have one key, by chance or by intent
        _, first, label = np.unique(bits, axis=0, return_index=True, return_inverse=True)
    return first, label.reshape(-1)
