"""What each coordinate and each speed of a joint is called, in which unit it is, and what it means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hapticsim.model.multibody.joint import ANGULAR, LINEAR, Joint


class Column(NamedTuple):
    """One coordinate or generalized speed."""

    label: str  # behind the letter q or u: ``[elbow]``, ``[base].qw``
    unit: str
    meaning: str


_AXES = ("wx", "wy", "wz"), ("vx", "vy", "vz"), ("qw", "qx", "qy", "qz")
# of joints with several: names of the coordinates, and of the speeds
COMPONENTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "universal": (("first", "second"), ("first", "second")),
    "cylindrical": (("angle", "displacement"), ("angle", "displacement")),
    "planar": (("x", "y", "angle"), ("x", "y", "angle")),
    "ball": (_AXES[2], _AXES[0]),
    "free": (("x", "y", "z", *_AXES[2]), (*_AXES[0], *_AXES[1])),
}


def coordinate_columns(joint: Joint) -> Iterator[Column]:
    """Yield one column per coordinate of a joint of a tree."""
    if joint.kind not in COMPONENTS:
        unit = joint.units[0]
        yield Column(f"[{joint.name}]", unit, f"{joint.kind} joint: {_displacement(unit)}")
        return
    for i, component in enumerate(COMPONENTS[joint.kind][0]):
        if joint.quaternion is not None and i >= joint.quaternion:
            unit, meaning = "", "orientation of the body in the joint's frame, quaternion w, x, y, z"
        else:
            unit = LINEAR if joint.quaternion is not None else joint.units[i]
            meaning = f"{_displacement(unit)} in the joint's frame"
        yield Column(f"[{joint.name}].{component}", unit, f"{joint.kind} joint: {meaning}")


def speed_columns(joint: Joint) -> Iterator[Column]:
    """Yield one column per generalized speed of a joint of a tree."""
    if joint.kind not in COMPONENTS:
        yield Column(f"[{joint.name}]", f"{joint.units[0]}/s", f"{joint.kind} joint: rate of its coordinate")
        return
    for component, unit in zip(COMPONENTS[joint.kind][1], joint.units, strict=True):
        meaning = "rate of its coordinate"
        if joint.quaternion is not None:
            what = "angular velocity" if unit == ANGULAR else "velocity of the body's origin"
            meaning = f"{what}, axes of the body"
        yield Column(f"[{joint.name}].{component}", f"{unit}/s", f"{joint.kind} joint: {meaning}")


def _displacement(unit: str) -> str:
    return "angle" if unit == ANGULAR else "displacement"
