"""Something to see of a robot without shapes: a stick from every joint to the next, and one to the end."""

from __future__ import annotations

import numpy as np

from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import Shape

THICKNESS = 0.08  # radius of a stick by its length
THINNEST_m, THICKEST_m = 0.004, 0.05
SHORTEST_m = 1e-3  # joints nearer than this need no stick between them
COLORS = ((205, 210, 220), (105, 155, 205))  # in turn, so that one sees where a body ends


def skeleton(model: SceneModel) -> tuple[Shape, ...]:
    """Return a capsule on every body that something is attached to, and on the last of each branch.

    A stick runs from the origin of the body to where the next joint is; on a body that carries nothing, to
    twice the way to its centre of mass.  A body without either gets a ball.
    """
    shapes: list[Shape] = []
    carried: dict[str, list[np.ndarray]] = {}
    for link in model.links:
        carried.setdefault(link.parent, []).append(link.p_P)
    for index, body in enumerate(model.bodies):
        ends = [p for p in carried.get(body.name, []) if np.linalg.norm(p) > SHORTEST_m]
        if body.name not in carried and np.linalg.norm(body.com_B) > SHORTEST_m:
            ends = [2.0 * body.com_B]
        color = COLORS[index % len(COLORS)]
        shapes += [_stick(f"{body.name} {k}", body.name, end, color) for k, end in enumerate(ends)]
        if not ends and body.name not in carried and body.mass > 0.0:
            shapes.append(Shape(f"{body.name} end", body.name, "sphere", (THICKEST_m / 2.0,), color=color))
    base = [p for p in carried.get(WORLD, []) if np.linalg.norm(p) > SHORTEST_m]
    return (*(_stick(f"base {k}", WORLD, end, COLORS[0]) for k, end in enumerate(base)), *shapes)


def _stick(name: str, body: str, end: np.ndarray, color: tuple[int, int, int]) -> Shape:
    """A capsule from the origin of a body to a point of it (3,) [m]."""
    length = float(np.linalg.norm(end))
    z = end / length
    x = np.cross(np.eye(3)[int(np.argmin(np.abs(z)))], z)
    x /= np.linalg.norm(x)
    radius = float(np.clip(THICKNESS * length, THINNEST_m, THICKEST_m))
    X_BS = Placement(np.column_stack([x, np.cross(z, x), z]), 0.5 * end)
    return Shape(name, body, "capsule", (radius, length), X_BS, color)
