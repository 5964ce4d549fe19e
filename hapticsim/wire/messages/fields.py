"""What a value in a device message may be: type, size, finiteness, range.

Every check takes the value as msgpack decoded it (tuples for arrays), returns it in the type the dataclass
promises, or raises `Refused`.  A comparison with a limit is also the check for finiteness, because NaN and
infinity fail it.  Integers are accepted where a float is meant: encoders of some languages write 1.0 as the
integer 1.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Check = Callable[[Any], Any]

UINT32 = 2**32 - 1
INT63 = 2**63 - 1
UNIT_TOLERANCE = 1e-3  # allowed | |quaternion| - 1 |
TEXT_LENGTH = 64  # characters of a name
REASON_LENGTH = 300  # characters of a sentence


class Reason(StrEnum):
    """Why a frame was dropped; the keys of every counter of drops."""

    __repr__ = str.__repr__  # so that a printed counter reads as text

    SIZE = "size"  # longer than MAX_BYTES
    MSGPACK = "msgpack"  # not exactly one msgpack object of plain types
    SHAPE = "shape"  # not a flat map with text keys
    VERSION = "version"  # another protocol version
    KIND = "kind"  # unknown kind of message
    KEY = "key"  # a key of this kind is absent
    TYPE = "type"  # a value of another type or length
    VALUE = "value"  # not finite, or beyond its limit
    DIRECTION = "direction"  # a kind that only the other end may send
    SESSION = "session"  # made for another session
    STALE = "stale"  # not newer than one already taken
    STRANGER = "stranger"  # from a peer that has not said hello, or was rejected
    FRAMES = "frames"  # not exactly one frame


class Refused(Exception):
    """A frame that is no message, and why.  `codec.decode` raises it, `Inbox` catches and counts it.

    ``kind`` and ``key``: of the message and of the value that is not acceptable, empty where none is.
    """

    def __init__(self, reason: Reason, kind: str = "", key: str = "") -> None:
        super().__init__(reason.value)
        self.reason, self.kind, self.key = reason, kind, key


class Key(NamedTuple):
    """Annotation of a dataclass field: its key on the wire and the check of its value."""

    name: str
    check: Check
    absent: Any = None  # what a message without the key means; None: such a message is refused


def vector(limit: float) -> Check:
    """Check for three numbers, each within +-limit."""

    def check(value: Any) -> Vector:
        if type(value) is not tuple or len(value) != 3:
            raise Refused(Reason.TYPE)
        x, y, z = value
        if not (type(x) is float and type(y) is float and type(z) is float):
            x, y, z = _as_float(x), _as_float(y), _as_float(z)
            value = (x, y, z)
        if not (-limit <= x <= limit and -limit <= y <= limit and -limit <= z <= limit):
            raise Refused(Reason.VALUE)
        return value

    return check


def optional(check: Check) -> Check:
    """Check for nil, or what ``check`` allows."""

    def check_optional(value: Any) -> Any:
        return None if value is None else check(value)

    return check_optional


def unit_quaternion(value: Any) -> Quaternion:
    """Check four numbers (w, x, y, z) of length 1 within `UNIT_TOLERANCE`; not renormalised here."""
    if type(value) is not tuple or len(value) != 4:
        raise Refused(Reason.TYPE)
    w, x, y, z = value
    if not (type(w) is float and type(x) is float and type(y) is float and type(z) is float):
        w, x, y, z = _as_float(w), _as_float(x), _as_float(y), _as_float(z)
        value = (w, x, y, z)
    # to first order | |q|^2 - 1 | = 2 | |q| - 1 |
    if not (-2.0 * UNIT_TOLERANCE <= w * w + x * x + y * y + z * z - 1.0 <= 2.0 * UNIT_TOLERANCE):
        raise Refused(Reason.VALUE)
    return value


def number(low: float, high: float) -> Check:
    """Check for a number in [low, high]."""

    def check(value: Any) -> float:
        x = _as_float(value)
        if not low <= x <= high:
            raise Refused(Reason.VALUE)
        return x

    return check


def zero_or(low: float, high: float) -> Check:
    """Check for 0, which says nothing, or a number in [low, high]."""
    within = number(low, high)

    def check(value: Any) -> float:
        return 0.0 if _as_float(value) == 0.0 else float(within(value))

    return check


def integer(low: int, high: int) -> Check:
    """Check for an integer in [low, high]; true and false are no integers."""

    def check(value: Any) -> int:
        if type(value) is not int:
            raise Refused(Reason.TYPE)
        if not low <= value <= high:
            raise Refused(Reason.VALUE)
        return value

    return check


def boolean(value: Any) -> bool:
    """Check for true or false."""
    if type(value) is not bool:
        raise Refused(Reason.TYPE)
    return value


def text(length: int) -> Check:
    """Check for 1 to ``length`` printable characters: a name must not steer somebody's terminal."""

    def check(value: Any) -> str:
        if type(value) is not str:
            raise Refused(Reason.TYPE)
        if not 1 <= len(value) <= length or not value.isprintable():
            raise Refused(Reason.VALUE)
        return value

    return check


def _as_float(value: Any) -> float:
    if type(value) is float:
        return value
    if type(value) is int:
        return float(value)
    raise Refused(Reason.TYPE)
