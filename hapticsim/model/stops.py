"""Stops of joints: each end of a joint's range as a contact.

The coordinate q of a joint is where a point stands on the z axis of a frame of its own, and u the speed of
that point (kernels/motion/frames.py).  A stop is a plane across this axis.  So a joint meets its stops as a
ball meets a floor: located in time, thrown back or held, by a force in N or a torque in N m.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import Scene


@dataclass(frozen=True)
class Stop:
    """One end of the range of a joint with one coordinate."""

    joint: str
    side: str  # "lower" or "upper"
    at: float  # [rad] or [m]
    unit: str  # "rad" or "m"


def stops_of(scene: Scene) -> list[Stop]:
    """Every stop of a scene, in the order of its joints; none where it does not ask for stops."""
    if scene.joint_stops is None:
        return []
    return [
        Stop(joint.name, side, at, joint.unit or "")
        for joint in scene.model.moving_joints
        for low, high in (range_of(scene.model, joint.name),)
        for side, at in (("lower", low), ("upper", high))
        if math.isfinite(at) and low < high
    ]


def range_of(model: SceneModel, joint: str) -> tuple[float, float]:
    """Least and largest coordinate of a joint, also by the ranges of those that follow it."""
    return model.ranges.get(joint, (-math.inf, math.inf))


def stopped_joints(scene: Scene) -> list[str]:
    """The joints that have stops."""
    return list(dict.fromkeys(stop.joint for stop in stops_of(scene)))


def frame_of(joint: str) -> str:
    """Name of the frame in which the coordinate of a joint is a place."""
    return f"q\t{joint}"  # no body has a name with a tab
