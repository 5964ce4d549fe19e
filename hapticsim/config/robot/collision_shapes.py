"""Shapes of the collision elements of a URDF: boxes, spheres, cylinders, capsules and meshes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from hapticsim.config.decomposition.points import Progress
from hapticsim.config.decomposition.solids import solids_of
from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.robot.geometry import geometry_of, sides_of
from hapticsim.config.schema.robot import Decompose
from hapticsim.errors import ConfigError
from hapticsim.model.joined.piece import Piece
from hapticsim.model.robot_file.urdf import MOST_PARTS
from hapticsim.model.robot_file.urdf_elements import Element, name_of, root_of
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import TriangleMesh

Found = tuple[TriangleMesh, tuple[Piece, ...]]  # the surface, and its solids if it is decomposed


def collision_shapes(
    path: Path,
    notes: list[str],
    corners: int | None = None,
    decompose: Decompose | None = None,
    progress: Progress | None = None,
) -> list[Shape]:
    """Return a shape for each collision element, carried by the link that has it.

    The first of a link has the link's name, others ``link_2``, ``link_3`` and so on, without names that are
    taken.  corners: if given each mesh is its convex hull with so many at most, and a cylinder has half as
    many sides.  A mesh that is no closed surface is replaced by its convex hull, with a note.  decompose:
    each is several convex hulls instead, whose corners count for cylinders; progress is called with pieces
    of a line meanwhile.

    Raises
    ------
    ConfigError : one sentence with the file, the link, what was found and what is allowed.
    """
    links = root_of(path).findall("link")
    bodies = [name_of(path, link) for link in links]
    if (count := sum(len(link.findall("collision")) for link in links)) > MOST_PARTS:
        raise ConfigError(
            path, "", f"has {count} elements <collision> and may have {MOST_PARTS}: this is no robot."
        )
    shapes: list[Shape] = []
    read: dict[tuple[Path, tuple[float, ...]], Found] = {}

    def found(file: Path, scale: tuple[float, ...]) -> Found:
        if (file, scale) not in read:
            mesh = _surface(file, scale, notes, corners)
            solids = solids_of(file, "", mesh, decompose, notes, progress) if decompose else ()
            read[file, scale] = mesh, solids
        return read[file, scale]

    of_hulls = decompose.corners if decompose else corners
    taken = set(bodies)
    for link, body in zip(links, bodies, strict=True):
        name = body
        for element in link.findall("collision"):
            shapes.append(_shape(path, name, body, element, of_hulls, found))
            name = next(n for n in (f"{body}_{i}" for i in itertools.count(2)) if n not in taken)
            taken.add(name)
    return shapes


def _shape(
    path: Path,
    name: str,
    body: str,
    element: Element,
    corners: int | None,
    found: Callable[[Path, tuple[float, ...]], Found],
) -> Shape:
    geometry = geometry_of(path, f"link {body!r}", element)
    if geometry.kind != "mesh":
        sides = sides_of(geometry.kind, corners)
        return Shape(name, body, geometry.kind, geometry.size, geometry.X_BS, sides=sides)
    mesh, solids = found(geometry.file, geometry.scale)
    size = tuple(np.abs(mesh.vertices).max(axis=0).tolist())
    return Shape(name, body, geometry.kind, size, geometry.X_BS, mesh=mesh, solids=solids)


def _surface(file: Path, scale: tuple[float, ...], notes: list[str], corners: int | None) -> TriangleMesh:
    """The surface in a file, or its convex hull where that is asked for, or all that can be touched."""
    if corners is not None:
        return read_mesh(file, scale, notes, True, corners)
    try:
        return read_mesh(file, scale, notes)
    except ConfigError as error:
        reason = error
    mesh = read_mesh(file, scale, notes, convex=True)
    notes.append(f"{file}: its convex hull is touched, as the surface {reason.problem.split(':')[0]}.")
    return mesh
