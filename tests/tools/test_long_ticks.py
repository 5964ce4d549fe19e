"""Whether a long tick was the server's own or the host's: ticks of a loop that is played here."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hapticsim.realtime.probe import Stall

TOOLS = Path(__file__).parents[2] / "tools"
PERIOD_S, STEP_S = 0.001, 2e-4
START_S = 40.0005  # deadlines are half a period after multiples of it


@pytest.fixture
def long_ticks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("long_ticks")


def played(late_s: list[float], execution_s: list[float]) -> list[float]:
    """Deadlines of a loop, tick after tick: it skips those that are over when a tick ends."""
    deadline, found = START_S, []
    for late, execution in zip(late_s, execution_s, strict=True):
        found.append(deadline)
        finished, deadline = deadline + late + execution, deadline + PERIOD_S
        while deadline < finished:
            deadline += PERIOD_S
    return found


@given(
    late_us=st.lists(st.integers(0, 900), min_size=30, max_size=60),
    execution_us=st.lists(st.one_of(st.integers(1, 90), st.integers(1, 9000)), min_size=60, max_size=60),
    said_us=st.lists(st.integers(0, 300), min_size=60, max_size=60),
    every=st.integers(1, 9),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_deadlines_are_those_of_the_loop_up_to_the_delay_with_which_it_says_its_ticks(
    long_ticks, late_us, execution_us, said_us, every
):
    n = len(late_us)
    late_s, execution_s = 1e-6 * np.array(late_us), 1e-6 * (np.array(execution_us[:n]) + 0.5)
    true = np.array(played(late_s.tolist(), execution_s.tolist()))
    ends = true + late_s + execution_s
    seen = [(i + 1, float(ends[i]) + 1e-6 * said_us[i]) for i in range(0, n, every)]
    at_once = [(i + 1, float(true[i]) + 1e-4) for i in range(0, n, every)]
    assert long_ticks.deadlines_s(late_s, execution_s, PERIOD_S, at_once) == pytest.approx(true, abs=1e-9)
    found = long_ticks.deadlines_s(late_s, execution_s, PERIOD_S, seen)
    delays = [at - true[ticks - 1] for ticks, at in seen]
    assert np.all(found - true > -1e-9) and np.all(found - true <= max(delays) + 1e-9)


@pytest.fixture
def watch(long_ticks, monkeypatch, tmp_path):
    """A watch of 1000 ticks, the 500th of which took 3 ms, with a probe that nothing can stop."""
    execution_s = np.full(1000, 50e-6)
    execution_s[500] = 3e-3
    late_s = np.zeros(1000)
    deadlines = played(late_s.tolist(), execution_s.tolist())
    made = long_ticks.TickWatch(f"ipc://{tmp_path}/nobody.sock", PERIOD_S)
    made._observer.close()
    monkeypatch.setattr(type(made._probe), "has_priority", True)
    made._seen = [(i + 1, deadlines[i] + 100e-6) for i in range(0, 1000, 50)]

    def judge(stalls: list[Stall], first: int = 0):
        made._stalls = set(stalls)
        return made.judge(late_s, execution_s, first)

    return judge


LONG_S = START_S + 0.5  # when the long tick began


def test_a_long_tick_without_a_stall_is_our_own(watch):
    found = watch([])
    assert len(found.ticks) == found.own == 1 and found.ticks[0].took_s == pytest.approx(3e-3)
    assert "1 ticks took a period or longer, 1 of them by themselves" in found.sentence()
    assert not watch([], first=501).ticks, "it lies before the span"


@pytest.mark.parametrize("seen_s", [2.5e-3, 2.95e-3])
def test_a_long_tick_in_which_the_host_stood_still_is_the_hosts(watch, seen_s):
    found = watch([Stall(LONG_S + 3e-3 - seen_s, seen_s, 1)])
    assert (len(found.ticks), found.own) == (1, 0)
    assert found.ticks[0].still_s == pytest.approx(seen_s + min(STEP_S, 3e-3 - seen_s))


@pytest.mark.parametrize(
    "stall",
    [
        Stall(LONG_S - 0.1, 0.05, 0),  # long, but earlier
        Stall(LONG_S + 0.0032 + STEP_S, 0.05, 0),  # after it
        Stall(LONG_S + 0.001, 0.0017, 0),  # too short: with the step of the probe 1.9 ms of 3 ms
    ],
)
def test_a_stall_that_does_not_explain_a_long_tick_leaves_it_our_own(watch, stall):
    assert watch([stall]).own == 1


def test_stalls_of_two_processors_are_not_added_up(watch):
    both = [Stall(LONG_S + 0.001, 0.0012, processor) for processor in (0, 1)]
    assert watch(both).own == 1


def test_a_probe_without_priority_excuses_nothing(watch, long_ticks, monkeypatch):
    monkeypatch.setattr(long_ticks.HostProbe, "has_priority", False)
    assert watch([Stall(LONG_S, 0.01, 0)]).own == 1


def test_the_time_the_host_stood_still_is_told_so_that_one_sees_how_likely_chance_is(watch):
    found = watch([Stall(START_S + 0.1 * k + STEP_S, 0.002 - STEP_S, 0) for k in range(1, 6)])
    assert found.still == pytest.approx(5 * 0.002 / 1.001, rel=1e-2)
