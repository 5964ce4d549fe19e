"""What a measurement must be so that the wire takes it, in words for whoever made it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from operator import index
from typing import Any

from hapticsim.errors import brief
from hapticsim.wire.messages.device import (
    FORCE_LIMIT_N,
    ANGULAR_VELOCITY_LIMIT_rad_per_s,
    POSITION_LIMIT_m,
    VELOCITY_LIMIT_m_per_s,
)
from hapticsim.wire.messages.fields import UINT32, UNIT_TOLERANCE, Vector

# Fields of a measurement (hapticsim_devices.base.DeviceSample): unit, and largest magnitude of a component.
VECTORS = {
    "position_m": ("m", POSITION_LIMIT_m),
    "velocity_m_per_s": ("m/s", VELOCITY_LIMIT_m_per_s),
    "angular_velocity_rad_per_s": ("rad/s", ANGULAR_VELOCITY_LIMIT_rad_per_s),
    "force_N": ("N", FORCE_LIMIT_N),
    "target_m": ("m", POSITION_LIMIT_m),  # or None
}
QUATERNION = "quaternion_wxyz"
MASKS = ("buttons", "flags")


def is_plain(sample: Any) -> bool:
    """Whether a measurement is usable and made of tuples of floats, as the wire wants it: the quick look."""
    try:
        turn = sample.quaternion_wxyz
        w, x, y, z = turn
        return (
            type(turn) is tuple
            and type(w) is type(x) is type(y) is type(z) is float
            and abs(math.sqrt(w * w + x * x + y * y + z * z) - 1.0) <= UNIT_TOLERANCE
            and _within(sample.position_m, POSITION_LIMIT_m)
            and _within(sample.velocity_m_per_s, VELOCITY_LIMIT_m_per_s)
            and _within(sample.angular_velocity_rad_per_s, ANGULAR_VELOCITY_LIMIT_rad_per_s)
            and _within(sample.force_N, FORCE_LIMIT_N)
            and (sample.target_m is None or _within(sample.target_m, POSITION_LIMIT_m))
            and type(sample.buttons) is type(sample.flags) is int
            and 0 <= sample.buttons <= UINT32
            and 0 <= sample.flags <= UINT32
            and type(sample.time_s) is float
            and math.isfinite(sample.time_s)
        )
    except Exception:  # not three numbers, or no sample at all
        return False


def make_plain(sample: Any) -> str:
    """Put a measurement into tuples of floats and whole numbers, in place.

    Arrays, lists and numbers of other libraries become what the wire takes.  Returns what is not usable of
    the measurement, the rest of a sentence that begins with ``read()``; empty where all is.
    """
    if is_plain(sample):
        return ""
    field = ""
    try:
        for field, (unit, limit) in VECTORS.items():
            value = getattr(sample, field)
            if field == "target_m" and value is None:
                continue
            vector = plain_vector(value, 3)
            if vector is None or not _within(vector, limit):
                return _unusable(field, value, f"three numbers in {unit}, from {-limit:g} to {limit:g}")
            setattr(sample, field, vector)
        field, value = QUATERNION, sample.quaternion_wxyz
        turn = plain_vector(value, 4)
        if turn is None or not abs(math.hypot(*turn) - 1.0) <= UNIT_TOLERANCE:
            return _unusable(field, value, f"w, x, y, z of length 1 within {UNIT_TOLERANCE:g}")
        sample.quaternion_wxyz = turn
        for field in MASKS:
            value = getattr(sample, field)
            if not _is_mask(value):
                return _unusable(field, value, f"a whole number from 0 to {UINT32}")
            setattr(sample, field, index(value))
        field, value = "time_s", sample.time_s
        time_s = plain_vector((value,), 1)
        if time_s is None or not math.isfinite(time_s[0]):
            return _unusable(field, value, "the time of the call in s, finite")
        sample.time_s = time_s[0]
    except Exception:
        if field and hasattr(type(sample), field):
            return f"returned a DeviceSample whose {field} cannot be read or set: give plain numbers"
        return f"returned {brief(sample)}: return a DeviceSample"
    return ""


def plain_vector(value: Any, length: int) -> tuple[float, ...] | None:
    """A tuple of that many floats, or None where a value is no such thing; they need not be finite."""
    try:
        if isinstance(value, (str, bytes, bytearray, set, frozenset, Mapping)):
            return None
        items = tuple(value)
        if len(items) != length or any(not hasattr(c, "__float__") for c in items):
            return None
        return tuple(float(c) for c in items)
    except Exception:
        return None


def as_force(value: Any) -> Vector | None:
    """A force, or a torque, that a device can have sent, or None where a value is none."""
    vector = plain_vector(value, 3)
    if vector is None or not _within(vector, FORCE_LIMIT_N):
        return None
    return vector[0], vector[1], vector[2]


def _is_mask(value: Any) -> bool:
    try:
        return 0 <= index(value) <= UINT32
    except Exception:
        return False


def _within(vector: Any, limit: float) -> bool:
    x, y, z = vector
    return (
        type(vector) is tuple
        and type(x) is type(y) is type(z) is float
        and -limit <= x <= limit
        and -limit <= y <= limit
        and -limit <= z <= limit  # NaN is not
    )


def _unusable(field: str, value: Any, needed: str) -> str:
    return f"returned {field} = {brief(value)}: give {needed}"
