"""Shapes of the collision elements of a URDF: boxes, spheres, cylinders, capsules and meshes."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.robot.geometry import geometry_of, sides_of
from hapticsim.errors import ConfigError
from hapticsim.model.robot_file.urdf import MOST_PARTS
from hapticsim.model.robot_file.urdf_elements import Element, name_of, root_of
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import TriangleMesh


def collision_shapes(path: Path, notes: list[str], corners: int | None = None) -> list[Shape]:
    """Return a shape for each collision element, carried by the link that has it.

    The first of a link has the link's name, others ``link_2``, ``link_3`` and so on, without names that are
    taken.  corners: if given each mesh is its convex hull with so many at most, and a cylinder has half as
    many sides.  A mesh that is no closed surface is replaced by its convex hull, with a note.

    Raises
    ------
    ConfigError : one sentence with the file, the link, what was found and what is allowed.
    """
    links = root_of(path).findall("link")
    bodies = [name_of(path, link) for link in links]
    if (found := sum(len(link.findall("collision")) for link in links)) > MOST_PARTS:
        raise ConfigError(
            path, "", f"has {found} elements <collision> and may have {MOST_PARTS}: this is no robot."
        )
    shapes: list[Shape] = []
    read: dict[tuple[Path, tuple[float, ...]], TriangleMesh] = {}
    taken = set(bodies)
    for link, body in zip(links, bodies, strict=True):
        name = body
        for element in link.findall("collision"):
            shapes.append(_shape(path, name, body, element, read, notes, corners))
            name = next(n for n in (f"{body}_{i}" for i in itertools.count(2)) if n not in taken)
            taken.add(name)
    return shapes


def _shape(
    path: Path,
    name: str,
    body: str,
    element: Element,
    read: dict[tuple[Path, tuple[float, ...]], TriangleMesh],
    notes: list[str],
    corners: int | None,
) -> Shape:
    geometry, mesh = geometry_of(path, f"link {body!r}", element), None
    size = geometry.size
    if geometry.kind == "mesh":
        file, scale = geometry.file, geometry.scale
        if (file, scale) not in read:
            read[file, scale] = _surface(file, scale, notes, corners)
        mesh = read[file, scale]
        size = tuple(np.abs(mesh.vertices).max(axis=0).tolist())
    sides = sides_of(corners) if geometry.kind == "cylinder" else None
    return Shape(name, body, geometry.kind, size, geometry.X_BS, mesh=mesh, sides=sides)


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
