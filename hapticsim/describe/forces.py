"""When the force came, when it went and why, and why it was not given: from rows, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.codes import Fault, Safety
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.wire.messages.fault_words import fault_words

ENGAGE_REFUSED = "engage_refused"  # kind of an event
STAYS_OFF = (Safety.DISARMED, Safety.FAULT)
MOST_LINES = 12  # of a summary
NEVER_ON = "force was never on: no hand engaged"
TOO_SHORT = "force was never on: a hand engaged, and was refused or had not enough time"


def refused_engages(rows: np.ndarray, asked: float) -> list[tuple[int, Fault]]:
    """Return which rows refused to engage, and why.

    rows : (n, columns) of consecutive ticks, oldest first.
    asked : arm requests until the row before them.
    """
    requests = rows[:, PLACE["arm_requests"]]
    rose = requests > np.maximum.accumulate(np.concatenate([[asked], requests[:-1]]))
    off = np.isin(rows[:, PLACE["safety"]], STAYS_OFF) & (rows[:, PLACE["fault"]] != 0.0)
    return [(int(k), Fault(int(rows[k, PLACE["fault"]]))) for k in np.flatnonzero(rose & off)]


def refused_words(fault: Fault) -> str:
    """Why there is no force although it was asked for."""
    return f"engage refused: {fault_words(fault)}"


def refused_event(row: np.ndarray, fault: Fault) -> dict[str, Any]:
    """Payload of topic ``events`` for a row that refused to engage."""
    return {
        "tick": int(row[PLACE["tick"]]),
        "time_s": float(row[PLACE["time_s"]]),
        "kind": ENGAGE_REFUSED,
        "text": refused_words(fault),
        "value": int(fault),
    }


def never_on_words(asked: float) -> str:
    """Why nobody felt anything in a run with so many arm requests."""
    return TOO_SHORT if asked else NEVER_ON


def off_words(safety: Safety, fault: Fault) -> str:
    """Why the force went for good."""
    if safety == Safety.FAULT:
        return f"force is off: {fault_words(fault)}"
    return "force is off: disengaged"


def force_lines(rows: np.ndarray) -> list[str]:
    """Return a line for each time that the force came, went, or was refused, in the rows of a whole run."""
    found = [(k, refused_words(fault)) for k, fault in refused_engages(rows, 0.0)]
    on = False
    safety = rows[:, PLACE["safety"]]
    for k in np.flatnonzero(np.diff(safety, prepend=float(Safety.DISARMED))):
        mode = Safety(int(safety[k]))
        if mode == Safety.ARMED and not on:
            found.append((int(k), "force is on"))
        elif mode == Safety.FAULT or (mode == Safety.DISARMED and on):
            found.append((int(k), off_words(mode, Fault(int(rows[k, PLACE["fault"]])))))
        on = on if mode not in (Safety.ARMED, *STAYS_OFF) else mode == Safety.ARMED
    lines = [f"{rows[k, PLACE['time_s']]:.3f} s: {words}" for k, words in sorted(found)]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"... and {len(lines) - MOST_LINES} more"]
    return lines or [never_on_words(rows[-1, PLACE["arm_requests"]] if len(rows) else 0.0)]
