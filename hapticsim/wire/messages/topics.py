"""What is published, and how it lies in its single frame: the topic, a zero byte, a msgpack map.

One frame, because a socket that keeps only the newest message keeps one *frame*.  The map is ``{"v": 1, "n":
number, "t": stamp, "d": payload}``: protocol version, a number per topic that grows by one, the publisher's
monotonic clock [ns], and a map whose keys ``published.py`` and ``between_sites.py`` declare.  Numbers are
big-endian, as msgpack has them; only inside values of type bytes they are little-endian.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgpack

from hapticsim.wire.messages.between_sites import COMMANDS, TELEMETRY
from hapticsim.wire.messages.device import PROTOCOL
from hapticsim.wire.messages.published import EVENTS, POINTER, PREDICTED, STATE, STATS
from hapticsim.wire.messages.published_scene import SCENE

DECLARED = {t.name: t for t in (SCENE, STATE, EVENTS, STATS, PREDICTED, POINTER, COMMANDS, TELEMETRY)}
LINK_TOPICS = (COMMANDS.name, TELEMETRY.name)  # between the sites of a teleoperation
TOPICS = tuple(name for name in DECLARED if name not in LINK_TOPICS)
_MAX_ITEMS = 1 << 16  # of an array or map: a published path may be long


@dataclass(frozen=True, slots=True)
class Published:
    """One message of a topic."""

    topic: str
    number: int  # per topic, +1 with every message published
    stamp_ns: int  # the publisher's monotonic clock
    payload: dict[str, Any]


def frame(message: Published) -> bytes:
    """Return the bytes of a published message.

    Raises
    ------
    TypeError, ValueError, OverflowError : the payload holds something msgpack cannot carry, such as an array.
    """
    content = {"v": PROTOCOL, "n": message.number, "t": message.stamp_ns, "d": message.payload}
    return message.topic.encode("ascii") + b"\0" + msgpack.packb(content)


def unframe(data: bytes) -> Published | None:
    """Return the message in ``data``, or None if there is none; never raises.

    The payload is checked to be a map and no further: an observer shows it, it does not act on it.
    """
    name, zero, body = data.partition(b"\0")
    if not zero:
        return None
    try:
        topic = name.decode("ascii")
        content = msgpack.unpackb(
            body, max_map_len=_MAX_ITEMS, max_array_len=_MAX_ITEMS, max_ext_len=0, ext_hook=_no_extension
        )
    except (ValueError, TypeError, OverflowError):  # the whole family msgpack raises on foreign bytes
        return None
    if type(content) is not dict or content.get("v") != PROTOCOL:
        return None
    number, stamp_ns, payload = content.get("n"), content.get("t"), content.get("d")
    if type(number) is not int or type(stamp_ns) is not int or type(payload) is not dict:
        return None
    return Published(topic, number, stamp_ns, payload)


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
