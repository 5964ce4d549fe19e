"""Meshes and height fields under ``shapes`` into surfaces, and the solids that touch for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hapticsim.config.decomposition.points import Progress
from hapticsim.config.decomposition.solids import solids_of
from hapticsim.config.fine_surface.smoothing import smoothed
from hapticsim.config.fine_surface.texture import roughened
from hapticsim.config.height_field.heights import read_heights
from hapticsim.config.height_field.surface import surface_of_heights
from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.schema.scene import HeightFieldEntry, MeshEntry
from hapticsim.errors import ConfigError, Refuse
from hapticsim.model.joined.piece import Piece
from hapticsim.model.triangle_mesh import TriangleMesh

Found = tuple[TriangleMesh, tuple[Piece, ...]]


class MeshReader:
    """Reads the meshes of a scene, each once, and its height fields.

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
        self._read: dict[tuple[object, ...], Found] = {}

    def __call__(self, index: int, entry: MeshEntry | HeightFieldEntry) -> Found:
        """Return the surface of entry ``shapes[index]``, and its solids if it is decomposed."""
        if isinstance(entry, HeightFieldEntry):
            return self._smooth(index, entry, self._height_field(index, entry)), ()
        path = self._path(index, entry.file)
        if entry.corners is not None and not entry.convex:
            raise self._refuse(
                ("shapes", index, "corners"), "is for hulls: write convex: true, or remove it."
            )
        if entry.decompose is not None and entry.convex:
            raise self._refuse(
                ("shapes", index, "decompose"), "stands beside convex: true: give one of the two."
            )
        for finer, made in (("smooth", "smooth"), ("texture", "rough")):
            if getattr(entry, finer) is not None and (entry.convex or entry.decompose is not None):
                beside = "convex: true" if entry.convex else "decompose"
                raise self._refuse(
                    ("shapes", index, finer),
                    f"stands beside {beside}: a {made} mesh is touched by spheres alone; "
                    "remove one of the two.",
                )
        scale = tuple(np.broadcast_to(entry.scale, 3).tolist())
        rough = None if entry.texture is None else entry.texture.model_dump_json()
        key = (path, scale, entry.convex, entry.corners, entry.decompose, entry.smooth, rough)
        if key not in self._read:
            mesh, solids = self._made(path, scale, entry)
            self._read[key] = self._rough(index, entry, self._smooth(index, entry, mesh)), solids
        return self._read[key]

    def _rough(self, index: int, entry: MeshEntry, mesh: TriangleMesh) -> TriangleMesh:
        if entry.texture is None:
            return mesh
        path = self._path(index, entry.texture.file, "texture")
        heights = read_heights(path) * entry.texture.scale
        if heights.size == 0 or not np.all(np.isfinite(heights)):
            raise ConfigError(path, "", "has no heights, or some that are no numbers: give one everywhere.")
        refused = self._refuse(("shapes", index, "texture"), "")
        size = (float(entry.texture.size_m[0]), float(entry.texture.size_m[1]))
        return roughened(Path(refused.file), refused.key, mesh, heights, size, self._notes)

    def _smooth(self, index: int, entry: MeshEntry | HeightFieldEntry, mesh: TriangleMesh) -> TriangleMesh:
        if entry.smooth is None:
            return mesh
        refused = self._refuse(("shapes", index, "smooth"), "")
        crease, facet = np.radians([entry.smooth.crease_deg, entry.smooth.facet_deg])
        return smoothed(Path(refused.file), refused.key, mesh, float(crease), float(facet), self._notes)

    def _made(self, path: Path, scale: tuple[float, ...], entry: MeshEntry) -> Found:
        mesh = read_mesh(path, scale, self._notes, entry.convex, entry.corners)
        if entry.decompose is None:
            return mesh, ()
        return mesh, solids_of(path, "", mesh, entry.decompose, self._notes, self._progress)

    def _height_field(self, index: int, entry: HeightFieldEntry) -> TriangleMesh:
        if (entry.file is None) == (entry.heights_m is None):
            raise self._refuse(
                ("shapes", index), "must have either a file or heights_m: give one of the two."
            )
        size = (float(entry.size_m[0]), float(entry.size_m[1]))
        if entry.file is not None:
            path = self._path(index, entry.file)
            heights = read_heights(path) * entry.scale
            return surface_of_heights(path, "", heights, size, float(entry.base_m))
        if "scale" in entry.model_fields_set:
            raise self._refuse(("shapes", index, "scale"), "is for a file: remove it.")
        refused = self._refuse(("shapes", index, "heights_m"), "")
        heights = np.array(entry.heights_m, float)
        return surface_of_heights(Path(refused.file), refused.key, heights, size, float(entry.base_m))

    def _path(self, index: int, file: str, *part: str) -> Path:
        place: tuple[str | int, ...] = ("shapes", index, *part, "file")
        if "\0" in file:
            raise self._refuse(place, f"= {file!r} is not a path: remove the NUL character.")
        return self._file_of(place).parent / file
