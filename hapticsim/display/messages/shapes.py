"""The shapes of a published scene."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from hapticsim.display.messages.orientation import rotations
from hapticsim.display.messages.reading import Payload, Unreadable, numbers

SHAPE_SIZES = {
    "sphere": 1,
    "capsule": 2,
    "cylinder": 2,
    "cone": 2,
    "ellipsoid": 3,
    "box": 3,
    "plane": 2,
    "mesh": 3,
}  # lengths of each kind


@dataclass(frozen=True, eq=False)
class DrawnShape:
    """Geometry on a body; sizes as in ``hapticsim.model.scene.Shape``."""

    name: str
    body: int  # index, -1 for the world
    kind: str
    size: tuple[float, ...]  # [m]
    p_BS: np.ndarray  # (3,) [m]
    R_BS: np.ndarray  # (3, 3)
    color: tuple[int, int, int]
    vertices_S: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # (nv, 3) [m] of a mesh
    triangles: np.ndarray = field(
        default_factory=lambda: np.zeros((0, 3), dtype=np.int64)
    )  # (nt, 3) its vertices, counter-clockwise seen from outside


def read_shape(payload: Payload, body_count: int) -> DrawnShape:
    """Return a shape of a scene with so many bodies.  Raises Unreadable, and what `reading` makes that."""
    kind, body, pose, name = str(payload["kind"]), int(payload["body"]), payload["pose"], payload["name"]
    flat = numbers(
        [n for part in pose for n in np.ravel(part)], "shapes.pose", 7
    )  # [p, quat] or seven numbers
    size = tuple(float(s) for s in numbers(payload["size"], "shapes.size"))
    if kind not in SHAPE_SIZES or len(size) < SHAPE_SIZES[kind]:
        raise Unreadable(f"shape {name!r} of kind {kind!r} with {len(size)} sizes cannot be drawn")
    if not -1 <= body < body_count:
        raise Unreadable(f"shape {name!r} stands on body {body} of {body_count}")
    red, green, blue = (int(c) for c in payload["color"])
    R_BS = rotations(flat[None, 3:])[0]
    surface = _surface(payload) if kind == "mesh" else ()
    return DrawnShape(str(name), body, kind, size, flat[:3], R_BS, (red, green, blue), *surface)


def _surface(payload: Payload) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and triangles (nt, 3) of a mesh."""
    name, vertices = payload["name"], numbers(payload["vertices"], "shapes.vertices")
    corners = np.asarray(payload["triangles"])
    if len(vertices) % 3 or corners.ndim != 1 or not len(corners) or len(corners) % 3:
        raise Unreadable(
            f"mesh {name!r} has {len(vertices)} numbers of vertices and {corners.size} of triangles: "
            "three belong to each"
        )
    if corners.dtype.kind != "i" or corners.min() < 0 or corners.max() >= len(vertices) // 3:
        raise Unreadable(f"mesh {name!r} has triangles between vertices that are none of its own")
    return vertices.reshape(-1, 3), corners.reshape(-1, 3).astype(np.int64)
