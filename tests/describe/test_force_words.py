"""When the force came and went, and why it was refused, in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.codes import Fault, Safety
from hapticsim.describe.forces import force_lines, refused_engages
from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.server.outlet import Outlet

ON, OFF, FAULT, RAMP = Safety.ARMED, Safety.DISARMED, Safety.FAULT, Safety.ARMING
STRETCHED = "engage refused: the coupler is stretched too far: move the device to the handle"


def rows_of(*ticks: tuple[int, Safety, int]) -> np.ndarray:
    """(n, WIDTH) rows of 1 ms with arm requests, safety and fault."""
    rows = np.zeros((len(ticks), WIDTH))
    rows[:, PLACE["tick"]] = np.arange(len(ticks))
    rows[:, PLACE["time_s"]] = 1e-3 * np.arange(len(ticks))
    for row, (asked, safety, fault) in zip(rows, ticks, strict=True):
        row[PLACE["arm_requests"]], row[PLACE["safety"]], row[PLACE["fault"]] = asked, safety, fault
    return rows


def test_only_a_request_that_was_not_granted_is_refused_and_once():
    rows = rows_of(
        (0, OFF, 0), (1, OFF, 16), (1, OFF, 16), (2, RAMP, 0), (3, ON, 0), (3, FAULT, 1), (4, FAULT, 1)
    )
    assert refused_engages(rows, 0.0) == [(1, Fault.STRETCH), (6, Fault.DEVICE_SILENT)]
    assert refused_engages(rows[1:], 1.0) == [(5, Fault.DEVICE_SILENT)]  # told with the rows before
    assert refused_engages(rows_of((1, OFF, 0)), 0.0) == []  # engaged and disengaged at once


def test_a_whole_run_is_told_in_lines():
    rows = rows_of(
        (1, OFF, 16), (2, RAMP, 0), (2, ON, 0), (2, OFF, 0), (3, RAMP, 0), (3, ON, 0), (3, FAULT, 256)
    )
    assert force_lines(rows) == [
        f"0.000 s: {STRETCHED}",
        "0.002 s: force is on",
        "0.003 s: force is off: disengaged",
        "0.005 s: force is on",
        "0.006 s: force is off: the device's position jumped",
    ]
    assert force_lines(rows[:0]) == ["force was never on: no hand engaged"]
    assert force_lines(rows_of((0, OFF, 0), (1, RAMP, 0))) == [
        "force was never on: a hand engaged, and was refused or had not enough time"
    ]


def test_a_hand_that_clicks_all_the_time_is_told_in_few_lines():
    rows = rows_of(*((n, OFF, 16) for n in range(1, 101)))
    lines = force_lines(rows)
    assert len(lines) == 13 and lines[-1] == "... and 88 more"


def test_the_outlet_tells_and_records_a_refused_engage_once():
    said: list[str] = []
    kept: list[dict[str, Any]] = []
    outlet: Any = Outlet.__new__(Outlet)
    outlet._asked, outlet._say = 0.0, said.append
    outlet._publisher = type("P", (), {"offer": lambda self, topic, event: kept.append(event)})()
    outlet._recorder = type("R", (), {"append_event": lambda self, event: kept.append(event)})()
    outlet._take_refused(rows_of((0, OFF, 0), (1, OFF, 16)))
    outlet._take_refused(rows_of((1, OFF, 16), (1, OFF, 16)))
    assert said == [f"{STRETCHED}; engage again when it is safe."]
    assert [(e["kind"], e["value"], e["tick"]) for e in kept] == 2 * [("engage_refused", 16, 1)]
    outlet._take_refused(rows_of((2, OFF, int(Fault.STOPPED))))
    assert len(said) == 1 and len(kept) == 4  # the session has told of a device that is not ready
