"""Entries of ``shapes`` of kind mesh into their surface, and the solids that touch for it; each made once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hapticsim.config.decomposition.points import Progress
from hapticsim.config.decomposition.solids import solids_of
from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.schema.robot import Decompose
from hapticsim.config.schema.scene import MeshEntry
from hapticsim.errors import Refuse
from hapticsim.model.joined.piece import Piece
from hapticsim.model.triangle_mesh import TriangleMesh

Found = tuple[TriangleMesh, tuple[Piece, ...]]


class MeshReader:
    """Reads the meshes of a scene.

    file_of : tells which file of an ``extends`` chain holds a place; paths are relative to it.
    refuse : makes the refusal of a value in its place.
    notes : gets what was put right.
    progress : called with pieces of a line while a mesh is decomposed.
    """

    def __init__(
        self,
        file_of: Callable[[tuple[str | int, ...]], Path],
        refuse: Refuse,
        notes: list[str],
        progress: Progress | None,
    ) -> None:
        self._file_of, self._refuse, self._notes, self._progress = file_of, refuse, notes, progress
        self._read: dict[tuple[Path, tuple[float, ...], bool, int | None, Decompose | None], Found] = {}

    def __call__(self, index: int, entry: MeshEntry) -> Found:
        """Return the surface of entry ``shapes[index]``, and its solids if it is decomposed."""
        place = ("shapes", index, "file")
        if "\0" in entry.file:
            raise self._refuse(place, f"= {entry.file!r} is not a path: remove the NUL character.")
        if entry.corners is not None and not entry.convex:
            raise self._refuse(
                ("shapes", index, "corners"), "is for hulls: write convex: true, or remove it."
            )
        if entry.decompose is not None and entry.convex:
            raise self._refuse(
                ("shapes", index, "decompose"), "stands beside convex: true: give one of the two."
            )
        path = self._file_of(place).parent / entry.file
        scale = tuple(np.broadcast_to(entry.scale, 3).tolist())
        key = (path, scale, entry.convex, entry.corners, entry.decompose)
        if key not in self._read:
            self._read[key] = self._made(path, scale, entry)
        return self._read[key]

    def _made(self, path: Path, scale: tuple[float, ...], entry: MeshEntry) -> Found:
        mesh = read_mesh(path, scale, self._notes, entry.convex, entry.corners)
        if entry.decompose is None:
            return mesh, ()
        return mesh, solids_of(path, "", mesh, entry.decompose, self._notes, self._progress)
