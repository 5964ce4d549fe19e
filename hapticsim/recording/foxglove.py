"""Messages of Foxglove's schemas (https://docs.foxglove.dev), in JSON, and their JSON schemas.

Foxglove knows a message by the name of its schema, and draws it by the names of its fields.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hapticsim.recording.drawing import Channel

TRANSFORMS, SCENE, LOG = "/transforms", "/scene", "/log"
INFO, WARNING = 2, 3  # levels of a log

Schema = dict[str, Any]
NUMBER: Schema = {"type": "number"}
TEXT: Schema = {"type": "string"}
TRUTH: Schema = {"type": "boolean"}
COUNT: Schema = {"type": "integer", "minimum": 0}


def fields(properties: Mapping[str, Schema], optional: bool = False) -> Schema:
    """Return the schema of an object with these fields, which are all required unless they are optional."""
    needed = [] if optional else list(properties)
    return {"type": "object", "properties": dict(properties), "required": needed}


def array(of: Schema) -> Schema:
    """Return the schema of an array."""
    return {"type": "array", "items": of}


_TIME = fields({"sec": COUNT, "nsec": {**COUNT, "maximum": 999_999_999}})
_VECTOR = fields(dict.fromkeys("xyz", NUMBER))
_QUATERNION = fields(dict.fromkeys("xyzw", NUMBER))
_POSE = fields({"position": _VECTOR, "orientation": _QUATERNION})
_COLOR = fields(dict.fromkeys("rgba", NUMBER))
_SOLID = {"pose": _POSE, "size": _VECTOR, "color": _COLOR}
_USED = ("cubes", "spheres", "cylinders", "triangles")
_UNUSED = ("arrows", "lines", "texts", "models")  # of a scene entity, for us
_ENTITY = fields(
    {
        "timestamp": _TIME,
        "frame_id": TEXT,
        "id": TEXT,
        "lifetime": _TIME,
        "frame_locked": TRUTH,
        "metadata": array(fields({"key": TEXT, "value": TEXT})),
        "cubes": array(fields(_SOLID)),
        "spheres": array(fields(_SOLID)),
        "cylinders": array(fields({**_SOLID, "bottom_scale": NUMBER, "top_scale": NUMBER})),
        "triangles": array(
            fields(
                {
                    "pose": _POSE,
                    "points": array(_VECTOR),
                    "color": _COLOR,
                    "colors": array(_COLOR),
                    "indices": array(COUNT),
                }
            )
        ),
        **{name: array({"type": "object"}) for name in _UNUSED},
    }
)
_DELETION = fields({"timestamp": _TIME, "type": COUNT, "id": TEXT})
_TRANSFORM = fields(
    {
        "timestamp": _TIME,
        "parent_frame_id": TEXT,
        "child_frame_id": TEXT,
        "translation": _VECTOR,
        "rotation": _QUATERNION,
    }
)
_LOG = fields(
    {"timestamp": _TIME, "level": COUNT, "message": TEXT, "name": TEXT, "file": TEXT, "line": COUNT}
)
_SCENE = fields({"deletions": array(_DELETION), "entities": array(_ENTITY)})

CHANNELS = (
    Channel(TRANSFORMS, "foxglove.FrameTransforms", json.dumps(fields({"transforms": array(_TRANSFORM)}))),
    Channel(SCENE, "foxglove.SceneUpdate", json.dumps(_SCENE)),
    Channel(LOG, "foxglove.Log", json.dumps(_LOG)),
)

_START = {"sec": 0, "nsec": 0}


def timestamp(log_time: int) -> dict[str, int]:
    """Return a time [ns] as Foxglove writes it."""
    return {"sec": log_time // 1_000_000_000, "nsec": log_time % 1_000_000_000}


def vector(xyz: Iterable[float]) -> dict[str, float]:
    """Return three numbers by name."""
    return dict(zip("xyz", map(float, xyz), strict=True))


def pose(position: Iterable[float], quaternion: Iterable[float]) -> dict[str, Any]:
    """Return a pose; position (3,) [m], quaternion (4,) w, x, y, z."""
    return {
        "position": vector(position),
        "orientation": dict(zip("wxyz", map(float, quaternion), strict=True)),
    }


def log(log_time: int, text: str, name: str, level: int) -> bytes:
    """Return a message ``foxglove.Log``."""
    told = {"timestamp": timestamp(log_time), "level": level, "message": text, "name": name}
    return json.dumps({**told, "file": "", "line": 0}).encode()


def solid(
    kind: str, at: Mapping[str, Any], size: Sequence[float], color: Sequence[int], top: float = 1.0
) -> tuple[str, dict[str, Any]]:
    """Return a primitive with the array that it belongs to.

    kind : ``cubes``, ``spheres`` or ``cylinders``; their size (3,) [m] is that of the box around them.
    top : of a cylinder, the width of its upper end by that of its lower one.
    at : of ``pose``; color (3,) from 0 to 255.
    """
    made: dict[str, Any] = {"pose": at, "size": vector(size), "color": _opaque(color)}
    if kind == "cylinders":
        made |= {"bottom_scale": 1.0, "top_scale": top}
    return kind, made


def surface(
    at: Mapping[str, Any],
    points: Iterable[Iterable[float]],
    indices: Iterable[int],
    color: Sequence[int],
) -> tuple[str, dict[str, Any]]:
    """Return triangles between points (n, 3) [m], three indices each, with the array that they belong to."""
    made = {"pose": at, "points": [vector(p) for p in points], "color": _opaque(color), "colors": []}
    return "triangles", {**made, "indices": list(indices)}


def _opaque(color: Sequence[int]) -> dict[str, float]:
    r, g, b = (c / 255.0 for c in color)
    return {"r": r, "g": g, "b": b, "a": 1.0}


def entity(frame: str, name: str, solids: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    """Return a scene entity that stays and moves with its frame."""
    made: dict[str, Any] = {
        "timestamp": _START,
        "frame_id": frame,
        "id": name,
        "lifetime": _START,  # without end
        "frame_locked": True,
        "metadata": [],
        **{kind: [] for kind in (*_USED, *_UNUSED)},
    }
    for kind, one in solids:
        made[kind].append(one)
    return made


def scene_update(entities: Iterable[Mapping[str, Any]]) -> bytes:
    """Return a message ``foxglove.SceneUpdate``."""
    return json.dumps({"deletions": [], "entities": list(entities)}).encode()
