"""Geoms of an MJCF file that may collide, as shapes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.config.decomposition.points import Progress
from hapticsim.config.decomposition.solids import solids_of
from hapticsim.config.height_field.surface import surface_of_heights
from hapticsim.config.mesh_file.read import surface_of
from hapticsim.config.robot.geometry import sides_of
from hapticsim.config.schema.robot import Decompose
from hapticsim.errors import ConfigError
from hapticsim.model.joined.piece import Piece
from hapticsim.model.mjcf.read import MjcfRobot
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import rotation_of
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import Surface, TriangleMesh

# mjtGeom
PLANE, HEIGHT_FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
WITHOUT_END_m = 1.0  # half of what is drawn of a plane without an end


def mjcf_shapes(
    path: Path,
    robot: MjcfRobot,
    notes: list[str],
    corners: int | None = None,
    decompose: Decompose | None = None,
    progress: Progress | None = None,
) -> list[Shape]:
    """Return a shape for each geom that may collide, carried by its body.

    A mesh is its convex hull, as in MuJoCo.  corners: how many it may have; a cylinder has half as many
    sides, an ellipsoid no more corners.  decompose: it is the mesh, and several convex hulls touch for it,
    whose corners count for these; progress is called with pieces of a line meanwhile.

    Raises
    ------
    ConfigError : one sentence with the file, the mesh, what was found and what is allowed.
    """
    mj, names = robot.mj, robot.names
    shapes: list[Shape] = []
    read: dict[int, tuple[TriangleMesh, tuple[Piece, ...]]] = {}
    left_out: list[str] = []
    for g in np.flatnonzero(names.touching).tolist():
        name, mesh = names.geoms[g], None
        solids: tuple[Piece, ...] = ()
        if mj.geom_type[g] == HEIGHT_FIELD:
            mesh = height_field_of(path, mj, g, name)
        if mj.geom_type[g] == MESH:
            number = int(mj.geom_dataid[g])
            if number not in read:
                key = f"mesh {names.meshes[number]!r}"
                surface = _surface(path, mj, number, key, notes, not decompose, corners)
                made = solids_of(path, key, surface, decompose, notes, progress) if decompose else ()
                read[number] = surface, made
            mesh, solids = read[number]
        shape = shape_of_geom(robot, g, name, mesh)
        if shape is None:
            left_out.append(name)
        else:
            of_hulls = decompose.corners if decompose else corners
            shapes.append(replace(shape, solids=solids, sides=sides_of(shape.kind, of_hulls)))
    if left_out:
        notes.append(f"geoms that are not offered as shapes are left out: {', '.join(left_out)}.")
    return shapes


def shape_of_geom(robot: MjcfRobot, g: int, name: str, mesh: TriangleMesh | Surface | None) -> Shape | None:
    """Return a geom as a shape of this name, with its mesh if it has one; None if no shape is of its kind."""
    mj = robot.mj
    a, b, c = mj.geom_size[g].tolist()
    size: tuple[float, ...]
    match int(mj.geom_type[g]):
        case k if k == PLANE:
            kind, size = "plane", (a or WITHOUT_END_m, b or WITHOUT_END_m)
        case k if k == SPHERE:
            kind, size = "sphere", (a,)
        case k if k in (CAPSULE, CYLINDER):
            kind, size = "capsule" if k == CAPSULE else "cylinder", (a, 2.0 * b)
        case k if k in (BOX, ELLIPSOID):
            kind, size = "box" if k == BOX else "ellipsoid", (a, b, c)
        case k if k in (MESH, HEIGHT_FIELD) and mesh is not None:
            kind, size = "mesh", tuple(np.abs(mesh.vertices).max(axis=0).tolist())
        case _:
            return None
    red, green, blue = (round(255 * float(x)) for x in np.clip(mj.geom_rgba[g][:3], 0.0, 1.0))
    return Shape(
        name,
        robot.names.bodies[mj.geom_bodyid[g]],
        kind,
        size,
        Placement(rotation_of(mj.geom_quat[g]), np.array(mj.geom_pos[g])),
        (red, green, blue),
        mesh if isinstance(mesh, TriangleMesh) else None,
        mesh if isinstance(mesh, Surface) else None,
    )


def height_field_of(path: Path, mj: Any, g: int, name: str) -> TriangleMesh:
    """The surface of a geom that is a height field: data from 0 to 1 times a height, solid to its base."""
    number = int(mj.geom_dataid[g])
    x, y, high, below = mj.hfield_size[number].tolist()
    rows, columns, first = (int(a[number]) for a in (mj.hfield_nrow, mj.hfield_ncol, mj.hfield_adr))
    data = np.array(mj.hfield_data[first : first + rows * columns], float).reshape(rows, columns)
    below += high * float(data.min(initial=0.0)) if data.size else 0.0
    return surface_of_heights(path, f"geom {name!r}", high * data, (2.0 * x, 2.0 * y), below)


def triangles_of(mj: Any, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and triangles (nt, 3) of a mesh, in the frame that MuJoCo gave it."""
    first, count = int(mj.mesh_vertadr[number]), int(mj.mesh_vertnum[number])
    from_, faces = int(mj.mesh_faceadr[number]), int(mj.mesh_facenum[number])
    vertices = np.array(mj.mesh_vert[first : first + count], dtype=float)
    return vertices, np.array(mj.mesh_face[from_ : from_ + faces], dtype=np.int64)


def _surface(
    path: Path, mj: Any, number: int, key: str, notes: list[str], convex: bool, corners: int | None
) -> TriangleMesh:
    """A mesh, or its convex hull."""
    try:
        return surface_of(path, [triangles_of(mj, number)], notes, convex, corners)
    except ConfigError as error:
        raise ConfigError(path, key, error.problem) from None
