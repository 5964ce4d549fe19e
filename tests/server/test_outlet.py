"""The outlet tells events after the row of their tick, each with the choice of speeds that it is about."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from hapticsim.codes import Event, Safety
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from hapticsim.server.outlet import LEAST_REST_S, Outlet
from hapticsim.simulate.simulation import Simulation
from tests.four_bar import FOUR_BAR
from tests.rows import row_of


@pytest.fixture
def sim() -> Simulation:
    return Simulation(loads(FOUR_BAR))


class FakeLoop:
    """Batches of rows and events, as a loop hands them out: an event may come after its row."""

    def __init__(self, state: Any, batches: list[tuple[np.ndarray, list[tuple[Any, ...]]]]) -> None:
        self.state, self._batches = state, batches
        self._events: list[tuple[Any, ...]] = []

    def drain(self) -> np.ndarray:
        rows, self._events = self._batches.pop(0)
        return rows

    def drain_events(self) -> list[tuple[Any, ...]]:
        return self._events

    def drain_choices(self) -> np.ndarray:
        """A record per event of a choice, and one that is about none of them."""
        nu = self.state.u.size
        records = []
        for tick, kind, _, value, at_s in self._events:
            condition, rank = (value, 2.0) if kind == Event.SELECT else (7.0, value)
            records.append([tick, at_s, 1.0, rank, 3.0, condition, 4.0, *np.zeros(3 * nu)])
            records.append([tick, at_s + 1e-4, 1.0, 1.0, 1.0, condition, 0.0, *np.zeros(3 * nu)])
        return np.array(records).reshape(-1, 7 + 3 * nu)


class FakePublisher:
    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []

    def offer(self, topic: str, payload: dict[str, Any]) -> bool:
        if topic == "events":
            self.events.append(payload)
        return True


class Counted(threading.Event):
    """Is set after so many looks."""

    def __init__(self, looks: int) -> None:
        super().__init__()
        self._left = looks

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0

    def wait(self, timeout: float | None = None) -> bool:
        return False


@pytest.fixture
def ticks(sim) -> Iterator[list[np.ndarray]]:
    sim.switch("brake", True)
    rows = []
    for k in range(4):
        if k == 2:
            sim.switch("brake", False)
        sim.step()
        rows.append(row_of(sim))
    yield rows


def test_events_are_told_after_the_row_of_their_tick_with_the_choice_they_are_about(sim, ticks):
    describer = Describer(sim.assembly)

    def event(tick: int, kind: Event = Event.SELECT, value: float = 1.5) -> tuple[Any, ...]:
        return (tick, kind, -1, value, 0.0)

    none = np.zeros((0, len(sim.columns)))
    loop: Any = FakeLoop(
        sim._state,
        [
            (np.array(ticks[:2]), [event(0)]),
            (none, [event(1), event(2, Event.RANK, 3.0)]),  # of a row already taken, and of one to come
            (np.array(ticks[2:]), []),
            (none, [event(7, Event.TOUCH)]),  # its row was lost: told at the end all the same
        ],
    )
    publisher: Any = FakePublisher()
    outlet = Outlet(sim.scene, loop, describer, publisher, None, None, None, None, dict, lambda line: None)
    outlet.run(Counted(3))
    assert [e["tick"] for e in publisher.events] == [0, 1, 2, 7]
    assert [e.get("rank") for e in publisher.events] == [2, 2, 3, None]
    assert [e.get("condition") for e in publisher.events] == [1.5, 1.5, 7.0, None]
    assert [e.get("condition_before") for e in publisher.events] == [4.0, 4.0, 4.0, None]


def test_the_force_is_told_once_whatever_interrupts_it_also_before_it_is_there_for_the_first_time(sim):
    said: list[str] = []
    loop: Any = FakeLoop(sim._state, [])
    publisher: Any = FakePublisher()
    describer = Describer(sim.assembly)
    outlet = Outlet(sim.scene, loop, describer, publisher, None, None, None, None, dict, said.append)
    on = [Safety.ARMING, Safety.INTERRUPTED, Safety.ARMING, Safety.ARMED]
    for safety in [Safety.DISARMED, *on, *on]:
        outlet._tell_safety(safety)
    assert said == ["force is on."]  # and a hand that never had it is told nothing when it goes
    for safety in [Safety.DISARMED, *on]:
        outlet._tell_safety(safety)
    assert said == ["force is on.", "force is off: disengaged.", "force is on."]


class Paced(Counted):
    """Also keeps how long it was asked to wait."""

    def __init__(self, looks: int) -> None:
        super().__init__(looks)
        self.waits_s: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits_s.append(timeout or 0.0)
        time.sleep(max(timeout or 0.0, 0.0))
        return False


def test_rounds_keep_to_the_rate_whatever_each_takes_and_one_that_took_long_is_not_made_up_for(sim):
    took_s = [0.002] * 5 + [0.03] + [0.002] * 5
    none = np.zeros((0, len(sim.columns)))

    class Slow(FakeLoop):
        def drain(self) -> np.ndarray:
            time.sleep(took_s.pop(0))
            return super().drain()

    loop: Any = Slow(sim._state, [(none, [])] * 11)
    publisher: Any = FakePublisher()
    describer, stop = Describer(sim.assembly), Paced(10)
    Outlet(sim.scene, loop, describer, publisher, None, None, None, None, dict, print).run(stop)
    assert all(0.0 <= wait_s <= 0.003 + 1e-6 for wait_s in stop.waits_s)  # 5 ms less what a round took
    assert stop.waits_s[5] == LEAST_REST_S  # 30 ms: at once, and from there on the rate again
    assert max(stop.waits_s[6:]) > LEAST_REST_S
