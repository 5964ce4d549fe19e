"""Whose stall it was: late ticks found in the rows of a loop, each beside what the host did then."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.kernels.memory.sample import PLACE, WIDTH
from hapticsim.realtime.probe import Stall
from hapticsim.server.host_watch import HostWatch, deadlines_of

PERIOD_S = 0.001
FIRST_S = 100.0005


def rows_of(late_ms: list[float], work_ms: list[float], first: int = 50) -> tuple[np.ndarray, list[float]]:
    """Rows and deadlines [s] of a loop that was late, and busy, so long at each tick; by its own rule."""
    rows, deadlines, deadline = [], [], FIRST_S
    for i, (late, work) in enumerate(zip(late_ms, work_ms, strict=True)):
        row = np.zeros(WIDTH)
        row[PLACE["tick"]] = first + i
        row[PLACE["lateness_us"]], row[PLACE["execution_us"]] = 1e3 * late, 1e3 * work
        rows.append(row)
        deadlines.append(deadline)
        finished = deadline + 1e-3 * (late + work)
        deadline += PERIOD_S
        while finished > deadline:  # the loop skips what was missed
            deadline += PERIOD_S
    return np.array(rows), deadlines


@pytest.mark.parametrize("known", [48, 50, 53, 56, 58])
def test_deadlines_follow_from_one_tick_across_ticks_that_were_skipped(known):
    late, work = [0.1, 0.0, 12.3, 0.0, 0.2, 0.0, 0.1], [0.1, 0.1, 0.1, 3.7, 0.1, 0.1, 0.1]
    rows, expected = rows_of(late, work)
    i = known - 50
    if 0 <= i < len(rows):
        started = expected[i] + 1e-3 * late[i]
    else:  # outside these rows the loop is taken to be on time
        started = expected[0] + i * PERIOD_S if i < 0 else expected[-1] + (i - 6) * PERIOD_S
    assert deadlines_of(rows, known, started, PERIOD_S) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    ("host_ms", "ours"), [([11.0], False), ([3.0, 2.0, 2.0], False), ([], True), ([3.0], True)]
)
def test_a_late_tick_is_the_hosts_where_it_stood_still_for_half_of_it_and_ours_otherwise(host_ms, ours):
    rows, deadlines = rows_of([0.0, 12.0, 0.0], [0.1, 0.1, 0.1])
    said: list[str] = []
    watch = HostWatch(PERIOD_S, lambda: (50, deadlines[0]), said.append)
    watch.probe.stalls = lambda since=None: [  # type: ignore[method-assign]
        *(Stall(deadlines[1] + 0.0001 + 0.004 * n, 1e-3 * ms, 0) for n, ms in enumerate(host_ms)),
        Stall(deadlines[0] - 0.5, 0.2, 1),  # long before
    ]
    watch.take(rows)
    (late,) = watch.late
    assert late.is_ours == ours and late.tick == 51
    assert watch.statistics()["late_ours"] == int(ours)
    host = f"the host stood still {sum(host_ms):.0f} ms then" if host_ms else "the host ran"
    assert said == [f"loop late 12 ms at tick 51: {host}."]


def test_a_loop_in_time_says_nothing():
    rows, deadlines = rows_of(20 * [0.3], 20 * [0.5])
    said: list[str] = []
    watch = HostWatch(PERIOD_S, lambda: (50, deadlines[0]), said.append)
    watch.take(rows)
    assert not watch.late and not said
