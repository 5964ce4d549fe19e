"""The shapes of a scene, as they are drawn and published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hapticsim.describe.simplified_mesh import surfaces_of
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.rotation import quaternion_of
from hapticsim.model.scene import Scene, Shape
from hapticsim.model.skeleton import skeleton


def looks_of(scene: Scene) -> tuple[Shape, ...]:
    """Return the shapes of a scene, and what its robot looks like instead of the shapes that this covers."""
    return (*(shape for shape in scene.shapes if shape.is_drawn), *scene.visuals)


def drawn_shapes(scene: Scene) -> tuple[Shape, ...]:
    """Return what is drawn of a scene; with rods from joint to joint where no body of the robot has any."""
    looks = looks_of(scene)
    if any(shape.body != WORLD for shape in looks):
        return looks
    return (*looks, *skeleton(scene.model))


def published_shapes(scene: Scene, index: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return ``shapes`` of topic ``scene``; ``index`` is that of each body, the world's -1."""
    shapes = drawn_shapes(scene)
    published = []
    for shape, surface in zip(shapes, surfaces_of(shapes), strict=True):
        payload = {
            "name": shape.name,
            "body": index[shape.body],
            "kind": shape.kind,
            "size": [float(x) for x in shape.size],
            "pose": [*shape.X_BS.translation.tolist(), *quaternion_of(shape.X_BS.rotation).tolist()],
            "color": list(shape.color),
        }
        if surface:
            payload["vertices"] = surface.vertices.ravel().tolist()
            payload["triangles"] = surface.triangles.ravel().tolist()
        published.append(payload)
    return published
