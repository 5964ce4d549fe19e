"""Mechanisms of forty speeds for benchmarks: legs of two joints over a floor, on a trunk or on a stand.

Seventeen legs on a free trunk strike the floor and, through the trunk, one another, which makes ticks full of
events; twenty legs on a stand come down one by one and bounce.  Joints can be locked and geared to one
another, twelve rows in all, which makes sets of rows that change.
"""

from __future__ import annotations

import math
from typing import Any

import yaml

from hapticsim.config.load import loads
from hapticsim.model.scene import Scene

LEGS, LEGS_ON_STAND = 17, 20
ROWS = 12
HIP, KNEE = 0.5, -1.0  # [rad] posture that the joint springs hold
HEIGHT_M = 0.42  # of the trunk at the start
STAND_M = 0.37  # of the hips on the stand


def many_legs(contacts: bool, velocity: float = -0.5, stand: bool = False) -> Scene:
    """The scene: 40 speeds, without or with contacts of the feet, and ROWS constraints, free.

    stand : no trunk; the legs hang from the world and bounce on the floor.
    velocity : of the trunk at the start, up [m/s].
    """
    stiffness, damping = (2.0, 0.01) if stand else (15.0, 0.3)
    legs, trunk = (LEGS_ON_STAND, "world") if stand else (LEGS, "trunk")
    bodies: list[object] = [] if stand else [_body("trunk", 8.0, 0.25)]
    joints: list[object] = []
    if not stand:
        joints.append({"name": "float", "type": "free", "parent": "world", "child": "trunk"})
    shapes: list[object] = [{"name": "floor", "kind": "plane"}]
    pairs: list[object] = []
    q_rad, torques = {}, []
    for i in range(legs):
        angle = 2.0 * math.pi * i / legs
        height = STAND_M if stand else 0.0
        place = [0.5 * math.cos(angle), 0.3 * math.sin(angle), height]
        bodies += [_body(f"thigh{i}", 0.4, 2e-3, -0.1), _body(f"shin{i}", 0.2, 1e-3, -0.1)]
        for name, parent, child, at in (
            (f"hip{i}", trunk, f"thigh{i}", place),
            (f"knee{i}", f"thigh{i}", f"shin{i}", [0.0, 0.0, -0.2]),
        ):
            joints.append(
                {"name": name, "type": "revolute", "parent": parent, "child": child, "axis": [0, 1, 0],
                 "origin": {"xyz_m": at}}
            )  # fmt: skip
        q_rad |= {f"hip{i}": (1.4 if stand else HIP) + 0.01 * i, f"knee{i}": KNEE}
        gains = {"stiffness_Nm_per_rad": stiffness, "damping_Nms_per_rad": damping}
        for joint, reference in ((f"hip{i}", HIP), (f"knee{i}", KNEE)):
            torques.append(
                {"joint": joint, "law": "pd", **gains,
                 "reference_rad": reference}
            )  # fmt: skip
        shapes.append(
            {"name": f"foot{i}", "body": f"shin{i}", "kind": "sphere", "radius_m": 0.02,
             "origin": {"xyz_m": [0.0, 0.0, -0.2]}}
        )  # fmt: skip
        pairs.append({"between": [f"foot{i}", "floor"], "restitution": 0.6 if stand else 0.0})
    start = {"xyz_m": [0.0, 0.0, HEIGHT_M], "rpy_rad": [0.03, 0.02, 0.0]}
    text: dict[str, Any] = {
        "name": "many legs",
        "robot": {"bodies": bodies, "joints": joints},
        "shapes": shapes,
        "contacts": pairs if contacts else [],
        "constraints": [_constraint(k) for k in range(ROWS)],
        "torques": torques,
        "handle": {"body": "thigh0" if stand else "trunk"},
        "initial": {"q_rad": q_rad},
        "device": {"driver": "scripted"},
    }
    if not stand:
        text["initial"]["free"] = {"float": {**start, "velocity_m_per_s": [0.1, 0.0, velocity]}}
    if not contacts:
        text["gravity_m_per_s2"] = [0.0, 0.0, 0.0]
    return loads(yaml.safe_dump(text, sort_keys=False))


def _body(name: str, mass: float, moment: float, com: float = 0.0) -> dict[str, object]:
    moments = {"xx": moment, "yy": moment, "zz": 0.8 * moment}
    return {
        "name": name,
        "inertial": {"mass_kg": mass, "com_m": [0.0, 0.0, com], "inertia_kg_m2": moments},
    }


def _constraint(k: int) -> dict[str, object]:
    """Every other row locks a joint, the others gear three joints."""
    if k % 2 == 0:
        return {"name": f"row{k}", "kind": "lock", "joints": [f"hip{k}"], "held": False}
    factors = {f"hip{k}": 1.0, f"knee{k}": -0.5, f"knee{k + 1}": 0.7}
    return {"name": f"row{k}", "kind": "gear", "factors": factors, "held": False}
