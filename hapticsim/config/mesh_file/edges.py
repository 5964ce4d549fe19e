"""The edges of a surface: which triangles meet at each, and which way they pass it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Edges:
    """Half edges, edge by edge: half ``3 t + c`` goes from corner c of triangle t to the next one."""

    halves: np.ndarray  # (3 nt,) half edges, those of an edge beside one another
    first: np.ndarray  # (ne,) where those of an edge begin
    count: np.ndarray  # (ne,) how many it has
    falls: np.ndarray  # (3 nt,) bool: the half edge of this place goes to a lower vertex

    @classmethod
    def of(cls, triangles: np.ndarray, nv: int) -> Edges:
        """Return the edges of triangles (nt, 3) among ``nv`` vertices."""
        start, end = triangles.ravel(), np.roll(triangles, -1, axis=1).ravel()
        key = (np.minimum(start, end) * nv + np.maximum(start, end)) * 2 + (start > end)
        halves = np.argsort(key)
        key = key[halves]
        edge = key >> 1
        first = np.flatnonzero(np.concatenate([[True], edge[1:] != edge[:-1]])[: len(edge)])
        return cls(halves, first, np.diff(first, append=len(edge)), (key & 1).astype(bool))

    def shorter(self, vertices: np.ndarray, triangles: np.ndarray, length: float) -> int:
        """How many are shorter than a length [m]."""
        t, c = np.divmod(self.halves[self.first], 3)
        along = vertices[triangles[t, (c + 1) % 3]] - vertices[triangles[t, c]]
        return int(np.sum(np.einsum("ij,ij->i", along, along) < length * length))

    @property
    def open(self) -> int:
        """How many edges have one triangle only."""
        return int(np.sum(self.count == 1))

    @property
    def crowded(self) -> int:
        """How many have more than two."""
        return int(np.sum(self.count > 2))

    @property
    def is_closed(self) -> bool:
        """Whether each has two."""
        return len(self.count) > 0 and bool(np.all(self.count == 2))

    @property
    def pairs(self) -> np.ndarray:
        """Half edges of each edge of a closed surface, (ne, 2)."""
        return self.halves.reshape(-1, 2)

    @property
    def twins(self) -> np.ndarray:
        """The half edge beside each one of a closed surface, in the triangle beyond, (3 nt,)."""
        twins = np.empty_like(self.halves)
        twins[self.pairs] = self.pairs[:, ::-1]
        return twins

    @property
    def agree(self) -> np.ndarray:
        """Whether the two triangles of an edge of a closed surface pass it in opposite directions, (ne,)."""
        falls = self.falls.reshape(-1, 2)
        return falls[:, 0] != falls[:, 1]
