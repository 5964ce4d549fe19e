"""Message <-> bytes.

One message is one flat msgpack map: the envelope (``v`` version, ``k`` kind, ``s n t e``) and the keys of its
kind, as `messages` annotates them.  Values are scalars or arrays of scalars.  Keys this version does not know
are ignored, so that a later minor version can add some; absent keys are refused, unless `fields.Key` says
what their absence means.
"""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any, get_type_hints

import msgpack

from hapticsim.wire.messages.device import FROM_DEVICE, FROM_SERVER, MAX_BYTES, PROTOCOL, Bye, Message
from hapticsim.wire.messages.fields import Key, Reason, Refused

_ENVELOPE = ("session", "number", "stamp_ns", "echo_ns")
_MAX_KEYS = 64
_MAX_ARRAY = 64


class Layout:
    """How one kind lies in its map: read once from the annotations, used for every message.

    ``keys`` are the wire keys by attribute name, envelope first.
    """

    def __init__(self, kind: type[Message]) -> None:
        hints = get_type_hints(kind, include_extras=True)
        body = [field.name for field in fields(kind) if field.name not in _ENVELOPE]
        self.kind = kind
        self.keys: dict[str, Key] = {name: hints[name].__metadata__[0] for name in (*_ENVELOPE, *body)}
        self.names = tuple(key.name for key in self.keys.values())
        self.values = attrgetter(*self.keys)
        self.body = tuple(self.keys[name] for name in body)
        self.size = 2 + len(self.names)


LAYOUTS: dict[str, Layout] = {kind.kind: Layout(kind) for kind in FROM_DEVICE | FROM_SERVER}

_check_session = LAYOUTS[Bye.kind].keys["session"].check
_check_int63 = LAYOUTS[Bye.kind].keys["number"].check


def encode(message: Message) -> bytes:
    """Return the bytes of a message; trusts its values (the receiver checks them).

    Vectors must be tuples or lists of Python floats, not arrays.
    """
    layout = LAYOUTS[message.kind]
    content = {"v": PROTOCOL, "k": message.kind}
    content.update(zip(layout.names, layout.values(message), strict=True))
    return msgpack.packb(content)


def decode(data: bytes) -> Message:
    """Return the message in ``data``.

    Total: for any bytes it returns a message whose every field passed its check, or raises `Refused` with the
    reason; nothing else ever comes out.
    """
    if len(data) > MAX_BYTES:
        raise Refused(Reason.SIZE)
    try:
        content = msgpack.unpackb(
            data,
            use_list=False,
            max_map_len=_MAX_KEYS,
            max_array_len=_MAX_ARRAY,
            max_ext_len=0,
            ext_hook=_no_extension,
        )
    except (
        ValueError,
        TypeError,
        OverflowError,
    ) as error:  # the whole family msgpack raises on foreign bytes
        raise Refused(Reason.MSGPACK) from error
    if type(content) is not dict:
        raise Refused(Reason.SHAPE)
    try:
        if content["v"] != PROTOCOL or type(content["v"]) is not int:
            raise Refused(Reason.VERSION)
        kind = content["k"]
        layout = LAYOUTS.get(kind) if type(kind) is str else None
        if layout is None:
            raise Refused(Reason.KIND)
        if len(content) > layout.size:
            _check_flat(content)
        return layout.kind(
            *_checked(layout, content),
            session=_check_session(content["s"]),
            number=_check_int63(content["n"]),
            stamp_ns=_check_int63(content["t"]),
            echo_ns=_check_int63(content["e"]),
        )
    except KeyError as error:
        raise Refused(Reason.KEY) from error


def _checked(layout: Layout, content: dict[Any, Any]) -> list[Any]:
    """Values of the keys of a kind."""
    values: list[Any] = []
    try:
        for key, check, absent in layout.body:
            values.append(check(content[key] if absent is None else content.get(key, absent)))
    except Refused as refused:
        raise Refused(refused.reason, layout.kind.kind, layout.body[len(values)][0]) from refused
    except KeyError as error:
        raise Refused(Reason.KEY, layout.kind.kind, layout.body[len(values)][0]) from error
    return values


def _check_flat(content: dict[Any, Any]) -> None:
    """Refuse nesting and odd keys among the keys we do not know."""
    for key, value in content.items():
        if type(key) is not str or type(value) is dict:
            raise Refused(Reason.SHAPE)
        if type(value) is tuple and any(type(item) in (tuple, dict) for item in value):
            raise Refused(Reason.SHAPE)


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
