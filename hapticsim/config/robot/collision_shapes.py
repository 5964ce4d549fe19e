"""Shapes of the collision elements of a URDF: boxes, spheres, cylinders, capsules and meshes."""

from __future__ import annotations

import itertools
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.robot.package_file import package_file
from hapticsim.errors import ConfigError, listed
from hapticsim.model.robot_file.urdf import MOST_PARTS
from hapticsim.model.robot_file.urdf_elements import (
    Element,
    name_of,
    number_of,
    origin_of,
    root_of,
    vector_of,
)
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import TriangleMesh

KINDS = ("box", "sphere", "cylinder", "capsule", "mesh")


def collision_shapes(path: Path, notes: list[str], corners: int | None = None) -> list[Shape]:
    """Return a shape for each collision element, carried by the link that has it.

    The first of a link has the link's name, others ``link_2``, ``link_3`` and so on, without names that are
    taken.  corners: if given each mesh is its convex hull with so many at most.  A mesh that is no
    closed surface is replaced by its convex hull, with a note.

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
    key = f"link {body!r}"
    found = [kind for geometry in element.findall("geometry") for kind in geometry]
    if len(found) != 1 or found[0].tag not in KINDS:
        raise ConfigError(path, key, f"has a collision without one geometry: give it one of {listed(KINDS)}.")
    kind, X_BS, mesh = found[0], origin_of(path, key, element), None
    size: tuple[float, ...]
    match kind.tag:
        case "box":
            size = tuple(0.5 * vector_of(path, key, kind, "size", np.zeros(3)))
        case "sphere":
            size = (number_of(path, key, kind, "radius", 0.0),)
        case "cylinder" | "capsule":
            size = (number_of(path, key, kind, "radius", 0.0), number_of(path, key, kind, "length", 0.0))
        case _:
            scale = tuple(vector_of(path, key, kind, "scale", np.ones(3)).tolist())
            if 0.0 in scale:
                raise ConfigError(path, key, f"has scale={kind.get('scale')!r}: none of the three may be 0.")
            file = mesh_path(path, key, kind.get("filename", ""))
            if (file, scale) not in read:
                read[file, scale] = _surface(file, scale, notes, corners)
            mesh = read[file, scale]
            size = tuple(np.abs(mesh.vertices).max(axis=0).tolist())
    if mesh is None and not min(size) > 0.0:
        raise ConfigError(path, key, f"has a {kind.tag} without a size: all its lengths must be above 0.")
    return Shape(name, body, kind.tag, tuple(float(s) for s in size), X_BS, mesh=mesh)


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


def mesh_path(path: Path, key: str, name: str) -> Path:
    """Where the mesh file lies that a URDF names: beside it, or in a package (``package://NAME/path``)."""
    kind, address, rest = name.rpartition("://")
    package, _, rest = rest.partition("/") if address else ("", "", rest)
    wrong = kind not in ("", "file", "package") or (kind == "file" and package not in ("", "localhost"))
    if not name or "\0" in name or wrong or (kind == "package" and not package):
        raise ConfigError(
            path, key, f"has a mesh in {name!r}: write filename= a path or package://NAME/path."
        )
    if kind == "file":
        return Path("/", unquote(rest))
    if not kind:
        return path.parent / name
    if found := package_file(path, package, rest):
        return found
    raise ConfigError(
        path,
        key,
        f"has a mesh in {name!r}, which is in no package {package!r} above the URDF: set ROS_PACKAGE_PATH to "
        f"the folder that holds {package!r}.",
    )
