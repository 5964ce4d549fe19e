"""Whether a long tick was the server's own or the host's: ticks of a loop that is played here."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from hapticsim.realtime.probe import Stall

TOOLS = Path(__file__).parents[2] / "tools"
PERIOD_S, STEP_S = 0.001, 2e-4
START_S = 40.0
LONG, LONG_S = 500, 0.003  # the tick that takes three periods


class Played:
    """What a recording holds of 1000 ticks: how long each took, and when it began after the one before.

    late : by how much a tick began late [s], by number; what follows keeps to its deadlines.
    """

    def __init__(self, late: dict[int, float]) -> None:
        self.execution_s = np.full(1000, 50e-6)
        self.execution_s[LONG] = LONG_S
        deadlines = START_S + PERIOD_S * np.arange(1000.0)
        deadlines[LONG + 1 :] += LONG_S
        self.starts = deadlines + [late.get(i, 0.0) for i in range(1000)]

    def column(self, name: str) -> np.ndarray:
        gap_s = np.diff(self.starts, prepend=self.starts[0] - PERIOD_S)
        return {"execution_us": 1e6 * self.execution_s, "tick_gap_s": gap_s}[name]

    def said(self, delays_s: list[float]) -> list[tuple[int, float]]:
        """How many ticks had been taken, and when, so long after the last of them ended."""
        ended = self.starts + self.execution_s
        return [(i + 1, float(ended[i]) + d) for i, d in zip(range(20, 1000, 20), delays_s, strict=False)]


@pytest.fixture
def long_ticks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(TOOLS))
    return importlib.import_module("long_ticks")


@pytest.mark.parametrize("late", [{}, {300: 0.0007}, {300: 0.0007, 301: 0.0004, 700: 0.0009}])
@pytest.mark.parametrize("at_once", [0, 7, 48])
def test_ticks_are_placed_by_the_one_that_was_said_at_once(long_ticks, late, at_once):
    played = Played(late)
    delays = [0.002 + 0.0001 * k for k in range(49)]
    delays[at_once] = 2e-6
    starts = long_ticks.starts_s(
        played.column("tick_gap_s"), played.execution_s, [(0, 1.0), *played.said(delays), (2000, 1.0)]
    )
    assert starts == pytest.approx(played.starts + 2e-6, abs=1e-9)


@pytest.fixture
def watch(long_ticks, monkeypatch, tmp_path):
    """A watch of these ticks with a probe that nothing can stop."""
    made = long_ticks.TickWatch(f"ipc://{tmp_path}/nobody.sock", PERIOD_S)
    made._observer.close()
    monkeypatch.setattr(type(made._probe), "has_priority", True)
    played = Played({})
    made._seen = played.said([0.0] * 49)

    def judge(stalls: list[Stall], first: int = 0, end: int = 1000):
        made._stalls = set(stalls)
        return made.judge(played, first, end)

    judge.watch = made
    return judge


BEGAN_S = START_S + PERIOD_S * LONG


@pytest.mark.parametrize("seed", range(40))
def test_of_random_ticks_those_are_our_own_that_took_a_period_without_the_hosts_stalls(watch, seed):
    """The probe sees a stall late by up to its step, and so much shorter; what is said comes with delays."""
    rng = np.random.default_rng(seed)
    played = Played({i: float(rng.uniform(0.0, 5e-4)) for i in rng.integers(0, 1000, 50).tolist()})
    played.execution_s[:] = rng.uniform(10e-6, 950e-6, 1000)
    ours = rng.choice(1000, 5, replace=False)
    played.execution_s[ours] = rng.uniform(1.3e-3, 4e-3, 5)
    stalls = []
    for i in rng.choice(1000, 30, replace=False).tolist():
        length_s, into_s = rng.uniform(5e-4, 8e-3), rng.uniform(0.0, played.execution_s[i])
        unseen_s = rng.uniform(0.0, STEP_S)
        began_s = played.starts[i] + into_s + unseen_s
        stalls.append(Stall(float(began_s), float(length_s - unseen_s), int(rng.integers(2))))
        played.execution_s[i] += length_s
        played.starts[i + 1 :] += length_s
        stalls = [
            s if s.start_s <= began_s else Stall(s.start_s + length_s, s.length_s, s.processor)
            for s in stalls
        ]
    delays = rng.uniform(0.0, 0.003, 49)
    delays[rng.integers(49)] = 0.0
    watch.watch._seen = played.said(delays.tolist())
    watch.watch._stalls = set(stalls)
    found = watch.watch.judge(played, 0, 1000)
    assert {t.tick for t in found.ticks} == set(np.flatnonzero(played.execution_s >= PERIOD_S).tolist())
    own = {t.tick for t in found.ticks if t.took_s - t.still_s >= PERIOD_S}
    assert own == set(ours.tolist()) and found.own == 5


def test_a_long_tick_without_a_stall_is_our_own(watch):
    found = watch([])
    assert len(found.ticks) == found.own == 1
    assert (found.ticks[0].tick, found.ticks[0].took_s) == (LONG, pytest.approx(LONG_S))
    assert "1 ticks took a period or longer, 1 of them by themselves" in found.sentence()
    assert not watch([], first=LONG + 1).ticks and not watch([], end=LONG).ticks, "it lies outside the span"
    assert watch([], first=LONG, end=LONG + 2).own == 1


@pytest.mark.parametrize("seen_s", [2.0e-3, 2.5e-3, 2.95e-3])
def test_a_long_tick_in_which_the_host_stood_still_is_the_hosts(watch, seen_s):
    found = watch([Stall(BEGAN_S + LONG_S - seen_s, seen_s, 1)])
    assert (len(found.ticks), found.own) == (1, 0)
    assert found.ticks[0].still_s == pytest.approx(seen_s + min(STEP_S, LONG_S - seen_s))


@pytest.mark.parametrize(
    "stall",
    [
        Stall(BEGAN_S - 0.06, 0.05, 0),  # long, but earlier
        Stall(BEGAN_S + LONG_S + 1e-4 + STEP_S, 0.05, 0),  # after it
        Stall(BEGAN_S + 0.001, 0.0017, 0),  # too short: with the step of the probe 1.9 ms of 3 ms
    ],
)
def test_a_stall_that_does_not_explain_a_long_tick_leaves_it_our_own(watch, stall):
    assert watch([stall]).own == 1


def test_stalls_of_two_processors_are_not_added_up(watch):
    both = [Stall(BEGAN_S + 0.001, 0.0012, processor) for processor in (0, 1)]
    assert watch(both).own == 1
    everywhere = [Stall(START_S + 0.01 + STEP_S, 0.9 - STEP_S, processor) for processor in range(8)]
    assert watch(everywhere).still == pytest.approx(0.9 / 1.002, rel=1e-2)


def test_what_was_not_watched_excuses_nothing_and_says_so(watch, long_ticks, monkeypatch):
    stall = Stall(BEGAN_S, 0.01, 0)
    assert watch([stall]).own == 0
    watch.watch._seen = [(0, START_S), (5000, START_S)]
    found = watch([stall])
    assert found.own == 1 and "the host could not be watched" in found.sentence()
    watch.watch._seen = Played({}).said([0.0] * 49)
    monkeypatch.setattr(long_ticks.HostProbe, "has_priority", False)
    found = watch([stall])
    assert found.own == 1 and "the host could not be watched" in found.sentence()


def test_the_time_the_host_stood_still_is_told_so_that_one_sees_how_likely_chance_is(watch):
    stalls = [Stall(START_S + 0.1 * k + STEP_S, 0.002 - STEP_S, 0) for k in range(1, 6)]
    assert watch(stalls).still == pytest.approx(5 * 0.002 / 1.002, rel=1e-2)
    assert watch(stalls, first=600).still == 0.0
