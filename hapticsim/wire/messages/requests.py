"""Requests to a running server and its answers: switching constraints, listing them.

One frame, one flat msgpack map.  A request is ``{"v": 1, "k": kind, "n": number, ...}`` with

    switch   name, held     let a constraint hold, or let it go
    list                    what there is, and what it does now

and every request is answered, with its number:

    done     name, hold, tick   what the constraint does since that tick
    list     constraints        a list of maps: name, hold, rows
    refused  reason             one sentence

Whatever is no request is answered with ``refused`` too, and counted (`fields.Reason`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import msgpack

from hapticsim.wire.messages.device import MAX_BYTES, PROTOCOL
from hapticsim.wire.messages.fields import INT63, TEXT_LENGTH, Check, Reason, Refused, boolean, integer, text

_MAX_KEYS = 16
_MAX_ITEMS = 1 << 12  # of an answer: constraints
_check_number = integer(0, INT63)
_check_name = text(TEXT_LENGTH)


@dataclass(frozen=True, slots=True)
class SwitchRequest:
    """Let a constraint hold, or let it go."""

    number: int
    name: str
    held: bool


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Ask for all constraints."""

    number: int


Request = SwitchRequest | ListRequest


def encode_request(request: Request) -> bytes:
    """Return the bytes of a request."""
    content: dict[str, Any] = {"v": PROTOCOL, "k": "list", "n": request.number}
    if isinstance(request, SwitchRequest):
        content |= {"k": "switch", "name": request.name, "held": request.held}
    return bytes(msgpack.packb(content))


def decode_request(data: bytes) -> Request:
    """Return the request in ``data``; for any bytes either that or `Refused`, and nothing else."""
    content = _unpack(data, MAX_BYTES, _MAX_KEYS)
    if any(type(key) is not str or type(value) in (dict, list) for key, value in content.items()):
        raise Refused(Reason.SHAPE)
    if type(content.get("v")) is not int or content["v"] != PROTOCOL:
        raise Refused(Reason.VERSION)
    kind, number = content.get("k"), _checked(content, "n", _check_number)
    if kind == "switch":
        name, held = _checked(content, "name", _check_name), _checked(content, "held", boolean)
        return SwitchRequest(number, name, held)
    if kind == "list":
        return ListRequest(number)
    raise Refused(Reason.KIND, key="k")


def number_in(data: bytes) -> int:
    """Return the number in what was no request, so that its sender knows the answer; 0 if there is none."""
    try:
        return int(_check_number(_unpack(data, MAX_BYTES, _MAX_KEYS).get("n")))
    except Refused:
        return 0


def encode_answer(kind: str, number: int, content: dict[str, Any]) -> bytes:
    """Return the bytes of an answer of plain values."""
    return bytes(msgpack.packb({"v": PROTOCOL, "k": kind, "n": number} | content))


def decode_answer(data: bytes) -> dict[str, Any] | None:
    """Return the map of an answer, or None where there is none; its values are shown, not acted on."""
    try:
        content = _unpack(data, len(data), _MAX_ITEMS)
    except Refused:
        return None
    usable = content.get("v") == PROTOCOL and type(content.get("k")) is str and type(content.get("n")) is int
    return content if usable else None


def _checked(content: dict[Any, Any], key: str, check: Check) -> Any:
    if key not in content:
        raise Refused(Reason.KEY, key=key)
    try:
        return check(content[key])
    except Refused as refused:
        raise Refused(refused.reason, key=key) from refused


def _unpack(data: bytes, longest: int, items: int) -> dict[Any, Any]:
    if len(data) > longest:
        raise Refused(Reason.SIZE)
    try:
        content = msgpack.unpackb(
            data, max_map_len=items, max_array_len=items, max_ext_len=0, ext_hook=_no_extension
        )
    except (ValueError, TypeError, OverflowError) as error:  # the family msgpack raises on foreign bytes
        raise Refused(Reason.MSGPACK) from error
    if type(content) is not dict:
        raise Refused(Reason.SHAPE)
    return content


def _no_extension(code: int, data: bytes) -> Any:
    raise ValueError(f"extension type {code}")
