"""What crosses the link, and what of it is believed: two payloads, each checked whole before it is used.

``wire/messages/between_sites.py`` declares their keys.  A packed state is that of ``kernels/memory/pack.py``;
its numbers index arrays of compiled code: ``StateCheck`` refuses what is no state of this scene.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np

from hapticsim.kernels.memory.command import AT, COMMAND
from hapticsim.wire.messages.between_sites import COMMANDS
from hapticsim.wire.messages.device import (
    FORCE_LIMIT_N,
    ANGULAR_VELOCITY_LIMIT_rad_per_s,
    POSITION_LIMIT_m,
    TORQUE_LIMIT_Nm,
    VELOCITY_LIMIT_m_per_s,
)
from hapticsim.wire.messages.fields import INT63, UINT32

COLUMNS = 1 + COMMAND
LITTLE_ENDIAN = np.dtype("<f8")  # of the numbers in values of type bytes
HELD_BYTES = 2048  # that a payload of commands takes besides its rows
MOST_ROWS = 4096
EXACT = float(1 << 53)  # integers below it are exact in a float
GAIN_LIMIT = 1e7

_LARGEST = np.full(COMMAND, np.inf)
for _name, _limit in {
    **{f"device_{axis}_m": POSITION_LIMIT_m for axis in "xyz"},
    **{f"device_v{axis}_m_per_s": VELOCITY_LIMIT_m_per_s for axis in "xyz"},
    **{f"device_q{part}": 1.001 for part in "wxyz"},
    **{f"device_w{axis}_rad_per_s": ANGULAR_VELOCITY_LIMIT_rad_per_s for axis in "xyz"},
    "device_present": 1.0,
    "arm_requests": EXACT,
    "disarm_requests": EXACT,
    "coupler_stiffness_N_per_m": GAIN_LIMIT,
    "coupler_damping_Ns_per_m": GAIN_LIMIT,
    "force_limit_N": FORCE_LIMIT_N,
    "coupler_stiffness_Nm_per_rad": GAIN_LIMIT,
    "coupler_damping_Nms_per_rad": GAIN_LIMIT,
    "torque_limit_Nm": TORQUE_LIMIT_Nm,
    "device_flags": UINT32,
}.items():
    _LARGEST[AT[_name]] = _limit
_SIGNED = [i for name, i in AT.items() if name.startswith("device_") and name[7] in "xyzvwq"]
_WHOLE = [AT["device_present"], AT["arm_requests"], AT["disarm_requests"], AT["device_flags"]]
_ENDLESS = [AT["device_age_s"], AT["link_late_s"]]  # may be infinite: never heard


@dataclass(frozen=True)
class Commands:
    """A message to the remote site."""

    session: int
    opens: bool
    first: int
    rows: np.ndarray  # (n, COLUMNS) tick and command


@dataclass(frozen=True)
class Telemetry:
    """A message of the remote site."""

    site: int
    number: int
    session: int
    tick: int
    state: np.ndarray  # (state_size,) packed, not yet checked
    missing: list[tuple[int, int]]
    waited: int


def write_commands(message: Commands) -> dict[str, Any]:
    """Payload of a message; columns that are the same in all rows go once."""
    rows = np.ascontiguousarray(message.rows, float).reshape(-1, COLUMNS)
    bits = rows.view(np.int64)
    vary = np.flatnonzero(np.any(bits != bits[:1], axis=0)) if len(rows) else np.zeros(0, np.int64)
    return {
        "session": message.session,
        "opens": message.opens,
        "first": message.first,
        "count": len(rows),
        "same": _bytes(rows[0]) if len(rows) else b"",
        "vary": vary.tolist(),
        "rows": _bytes(rows[:, vary]),
    }


def only_commands(payload: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """What a payload that was read holds of its message, as small as it came, and its size [bytes]."""
    held = {field.key: payload[field.key] for field in COMMANDS.fields}
    return held, len(held["rows"]) + HELD_BYTES


def read_commands(payload: dict[str, Any]) -> Commands | None:
    """The message in a payload, or None where it is none; every number in it is in its range."""
    session, first, opens = payload.get("session"), payload.get("first"), payload.get("opens")
    if not (_is_int(session, 1) and _is_int(first, -1) and type(opens) is bool):
        return None
    rows = _read_rows(payload)
    return None if rows is None or first >= EXACT else Commands(session, opens, first, rows)


def _read_rows(payload: dict[str, Any]) -> np.ndarray | None:
    count, same = payload.get("count"), payload.get("same")
    vary, data = payload.get("vary"), payload.get("rows")
    if (
        not _is_int(count, 0)
        or count > MOST_ROWS
        or not isinstance(same, bytes)
        or not isinstance(data, bytes)
        or not isinstance(vary, list)
    ):
        return None
    if count == 0:
        return np.zeros((0, COLUMNS))
    if not all(_is_int(i, 0) and i < COLUMNS for i in vary):
        return None
    if sorted(set(vary)) != vary or len(same) != 8 * COLUMNS or len(data) != 8 * count * len(vary):
        return None
    rows = np.tile(_numbers(same), (count, 1))
    rows[:, vary] = _numbers(data).reshape(count, len(vary))
    return rows if are_commands(rows) else None


def are_commands(rows: np.ndarray) -> bool:
    """Whether rows (n, COLUMNS) hold commands: finite, in range, counts whole, in order of ticks."""
    ticks, commands = rows[:, 0], rows[:, 1:]
    if not np.all((ticks >= 0) & (ticks < EXACT) & (ticks == np.floor(ticks))):
        return False
    if np.any(np.diff(ticks) <= 0.0) or np.any(np.isnan(commands)):
        return False
    if not np.all(np.isfinite(np.delete(commands, _ENDLESS, axis=1))):
        return False
    positive = np.ones(COMMAND, bool)
    positive[_SIGNED] = False
    if np.any(np.abs(commands) > _LARGEST) or np.any(commands[:, positive] < 0.0):
        return False
    return bool(np.all(commands[:, _WHOLE] == np.floor(commands[:, _WHOLE])))


def write_telemetry(message: Telemetry) -> dict[str, Any]:
    """Payload of a message."""
    return {
        "site": message.site,
        "number": message.number,
        "session": message.session,
        "tick": message.tick,
        "state": _bytes(message.state),
        "missing": [tick for pair in message.missing for tick in pair],
        "waited": message.waited,
    }


def read_telemetry(payload: dict[str, Any]) -> Telemetry | None:
    """The message in a payload, or None where it is none; its state is for ``StateCheck`` to judge."""
    site, number, session = payload.get("site"), payload.get("number"), payload.get("session")
    tick, waited, data, missing = (payload.get(k) for k in ("tick", "waited", "state", "missing"))
    if not (_is_int(site, 1) and _is_int(number, 0) and _is_int(session, 0)):
        return None
    if not (_is_int(tick, 0) and tick < EXACT and _is_int(waited, 0)):
        return None
    if not isinstance(data, bytes) or len(data) % 8:
        return None
    if not isinstance(missing, list) or len(missing) % 2 or len(missing) > 256:
        return None
    if not all(_is_int(t, 0) and t < EXACT for t in missing):
        return None
    pairs = list(zip(missing[::2], missing[1::2], strict=True))
    return Telemetry(site, number, session, tick, _numbers(data), pairs, waited)


def _bytes(numbers: np.ndarray) -> bytes:
    return np.ascontiguousarray(numbers, LITTLE_ENDIAN).tobytes()


def _numbers(data: bytes) -> np.ndarray:
    return np.frombuffer(data, LITTLE_ENDIAN).astype(float)


def _is_int(value: object, least: int) -> TypeGuard[int]:
    return type(value) is int and least <= value <= INT63
