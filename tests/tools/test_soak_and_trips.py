"""What the tools of long runs make of what they saw."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hapticsim.codes import Fault, Safety
from hapticsim.realtime.probe import Stall

TOOLS = Path(__file__).parents[2] / "tools"
TICK_S = 0.001


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("bench_trips")


@pytest.fixture
def soak(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("soak")


def test_a_loss_of_force_is_found_with_its_length_its_click_and_its_stall(trips):
    at_s = TICK_S * np.arange(1000)
    safety, faults = np.full(1000, int(Safety.ARMED)), np.zeros(1000)
    safety[100:130] = Safety.INTERRUPTED  # comes back by itself
    safety[130:200] = Safety.ARMING
    faults[100:130] = Fault.DEVICE_SILENT
    safety[500:700], faults[500:700] = Safety.FAULT, Fault.STALLED  # needs a click
    safety[480:500] = Safety.INTERRUPTED
    stalls = [Stall(0.090, 0.012, 1), Stall(0.483, 0.010, 0), Stall(0.497, 0.002, 1), Stall(0.9, 0.05, 0)]
    by_itself, clicked = trips.losses_of(safety, faults, at_s, stalls)
    assert (by_itself.start_s, by_itself.end_s) == pytest.approx((0.1, 0.13))
    assert not by_itself.clicked and by_itself.fault is Fault.NONE
    assert by_itself.host_s == pytest.approx(0.012)
    assert by_itself.calm_s == pytest.approx(0.028)
    assert (clicked.start_s, clicked.end_s) == pytest.approx((0.48, 0.7))
    assert clicked.clicked and clicked.fault is Fault.STALLED
    assert (clicked.host_s, clicked.calm_s) == pytest.approx((0.010, 0.007))


@pytest.mark.parametrize(
    ("interrupted", "stalls", "excused"),
    [
        (0, [], False),
        (0, [Stall(0.499, 0.012, 0)], True),
        (0, [Stall(0.499, 0.002, 0), Stall(0.502, 0.002, 0)], False),
        (15, [], False),
        (15, [Stall(0.484, 0.012, 1)], True),
        (40, [Stall(0.459, 0.012, 1)], False),  # 29 ms of calm after it
        (40, [Stall(0.459, 0.012, 1), Stall(0.48, 0.012, 1)], True),
    ],
)
def test_a_click_is_excused_by_a_stall_of_the_host_after_which_there_was_no_time(
    trips, interrupted, stalls, excused
):
    at_s = TICK_S * np.arange(1000)
    safety, faults = np.full(1000, int(Safety.ARMED)), np.zeros(1000)
    safety[500 - interrupted : 500] = Safety.INTERRUPTED
    safety[500:700], faults[500:700] = Safety.FAULT, Fault.STALLED
    (loss,) = trips.losses_of(safety, faults, at_s, stalls)
    assert loss.clicked and loss.is_excused == excused
    for fault in (Fault.OSCILLATION, Fault.OVERLOAD | Fault.STALLED, Fault.NOT_FINITE):
        faults[500:700] = fault
        assert not trips.losses_of(safety, faults, at_s, stalls)[0].is_excused, "no stall makes these"


def test_force_that_is_still_away_at_the_end_is_a_loss_and_a_run_with_force_has_none(trips):
    at_s, faults = TICK_S * np.arange(10), np.zeros(10)
    safety = np.full(10, int(Safety.ARMED))
    assert trips.losses_of(safety, faults, at_s, []) == []
    safety[6:] = Safety.FAULT
    (loss,) = trips.losses_of(safety, faults, at_s, [])
    assert loss.start_s == pytest.approx(0.006) and loss.clicked


def test_only_long_stalls_and_the_ramp_after_them_are_left_out(trips):
    at_s = TICK_S * np.arange(1000)
    out = trips.excused(at_s, [Stall(0.1005, 0.010, 0), Stall(0.6, 0.003, 0)], after_s=0.2)
    assert np.array_equal(np.flatnonzero(out), np.arange(100, 311))


def test_what_grows_is_told_with_its_rate_and_what_scatters_is_not(soak):
    rng, time_s = np.random.default_rng(1), np.linspace(0.0, 3600.0, 300)
    still = 200.0 + rng.normal(0.0, 0.5, 300)
    per_hour, error = soak.slope(time_s, still + 10.0 * time_s / 3600.0)
    assert per_hour == pytest.approx(10.0, abs=4.0 * error) and error < 0.2
    numbers = {"first": 9.0, "last": 9.0}
    found = {"descriptors": numbers, "threads": numbers, "complaints": ""}
    quiet = found | {"memory_MiB": dict(zip(("per_hour", "error"), soak.slope(time_s, still), strict=True))}
    assert soak.failures(quiet) == []
    growing = found | {"memory_MiB": {"per_hour": per_hour, "error": error}}
    assert "memory grows by" in soak.failures(growing)[0]
    leaking = quiet | {"descriptors": {"first": 30.0, "last": 31.0}, "complaints": "Traceback\nmore"}
    assert soak.failures(leaking) == [
        "descriptors grew from 30 to 31",
        "the server complained: Traceback",
    ]
