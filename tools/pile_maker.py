"""Random piles for tools/fuzz_scenes.py: many parts of all shapes, thrown into a bin of four walls.

Every part starts in a cell of its own, turned and moving at random, in as many layers as are needed.
Contacts are in the time-stepping regime, or in the exact one, where crowded ticks are time steps.
From the first tick on energy may only fall.
"""

from __future__ import annotations

import math
import random
from typing import Any

from scene_maker import Meshes, Trial, hull, inertial

DEEPEST = 1e-4  # [m] to which a part of a pile may be in another
CELL = 0.14  # [m] of the side of a cell: no part is longer
MOST_ROWS = 256
LARGEST = 0.04  # [m] half extent of a part


def make_pile(seed: int, parts: int, seconds: float, exact: bool = False, friction: bool = False) -> Trial:
    """Return the pile of a seed; with friction of a coefficient up to 1."""
    draw = random.Random(f"pile {seed}")
    rate = draw.choice([500.0, 1000.0, 1000.0])
    across = max(2, math.ceil((0.5 * parts) ** (1.0 / 3.0)))
    meshes: Meshes = {}
    half_bin = 0.5 * across * CELL
    shapes: list[dict[str, Any]] = [{"name": "floor", "kind": "plane"}, *_walls(half_bin)]
    bodies, joints, start = [], [], {}
    cells = [(i, j) for i in range(across) for j in range(across)]
    restitution = draw.choice([0.0, 0.0, draw.uniform(0.0, 0.9)])
    for n in range(parts):
        name, half = f"part_{n}", [draw.uniform(0.01, LARGEST) for _ in range(3)]
        bodies.append({"name": name, "inertial": inertial(10.0 ** draw.uniform(-1.5, 0.0), half)})
        joints.append({"name": f"free_{n}", "type": "free", "parent": "world", "child": name})
        shapes.append({"name": name, "body": name, **_part(name, half, draw, meshes)})
        if n % len(cells) == 0:
            draw.shuffle(cells)
        i, j = cells[n % len(cells)]
        middle = [(k + 0.5) * CELL - half_bin for k in (i, j)] + [CELL * (0.6 + n // len(cells))]
        start[f"free_{n}"] = {
            "xyz_m": middle,
            "rpy_rad": [draw.uniform(-3.0, 3.0) for _ in range(3)],
            "velocity_m_per_s": [draw.gauss(0.0, 1.0) for _ in range(3)],
            "angular_velocity_rad_per_s": [draw.gauss(0.0, 5.0) for _ in range(3)],
        }
    scene = {
        "name": f"pile {seed}",
        "rate_Hz": rate,
        "contact_regime": "exact" if exact else "time_stepping",
        "max_rows": MOST_ROWS,
        "robot": {"bodies": bodies, "joints": joints},
        "shapes": shapes,
        "contacts": [{"between": ["*", "*"], "restitution": restitution}],
        "initial": {"free": start},
    }
    if friction:
        scene["contacts"][0]["friction"] = random.Random(f"friction {seed}").uniform(0.0, 1.0)
    ticks = round(seconds * rate)
    return Trial(seed, "pile", scene, ticks=ticks, meshes=meshes, deepest_m=DEEPEST)


def _walls(half: float) -> list[dict[str, Any]]:
    """Four planes around the middle that face it."""
    turn = 0.5 * math.pi
    places = [
        ([-half, 0.0, 0.0], [0.0, turn, 0.0]),
        ([half, 0.0, 0.0], [0.0, -turn, 0.0]),
        ([0.0, -half, 0.0], [-turn, 0.0, 0.0]),
        ([0.0, half, 0.0], [turn, 0.0, 0.0]),
    ]
    return [
        {"name": f"wall_{i}", "kind": "plane", "origin": {"xyz_m": xyz, "rpy_rad": rpy}}
        for i, (xyz, rpy) in enumerate(places)
    ]


def _part(name: str, half: list[float], draw: random.Random, meshes: Meshes) -> dict[str, Any]:
    """A ball, a capsule, a cylinder, a cone, an ellipsoid, a box or a convex mesh."""
    which = draw.random()
    if which < 0.2:
        return {"kind": "sphere", "radius_m": min(half)}
    if which < 0.45:
        radius = min(half[:2])
        return {"kind": "capsule", "radius_m": radius, "length_m": 2.0 * max(half[2] - 0.5 * radius, 0.005)}
    if which < 0.6:
        kind, sides = draw.choice(["cylinder", "cone"]), draw.randint(3, 24)
        return {"kind": kind, "radius_m": min(half[:2]), "length_m": 2.0 * half[2], "sides": sides}
    if which < 0.65:
        return {"kind": "ellipsoid", "radii_m": half, "sides": draw.randint(4, 12)}
    if which < 0.85:
        return {"kind": "box", "half_extents_m": half}
    return hull(name, half, draw, meshes)
