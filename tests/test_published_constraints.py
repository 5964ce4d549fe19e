"""What observers are told of constraints is what the simulation itself says; a switch is answered truly."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hapticsim.codes import Event, Hold
from hapticsim.config.load import loads
from hapticsim.event_words import FAULT_WORDS, event_words
from hapticsim.outlet import Outlet
from hapticsim.published import Describer
from hapticsim.simulation import Simulation
from hapticsim.speed_choice import SpeedChoice
from hapticsim.switchboard import MOST_WAITING, Switchboard
from hapticsim.wire.control import Asked
from hapticsim.wire.requests import ListRequest, SwitchRequest
from tests.curves import WAVY, Twin, bead, curve
from tests.four_bar import FOUR_BAR

LOOP, BRAKE, STOP = range(3)


@pytest.fixture(scope="module")
def scene():
    return loads(FOUR_BAR)


@pytest.fixture
def sim(scene) -> Simulation:
    return Simulation(scene)


@pytest.fixture
def describer(sim: Simulation) -> Describer:
    return Describer(sim.assembly)


def row_of(sim: Simulation) -> np.ndarray:
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    return row


# -- topics ------------------------------------------------------------------------------------------------


def test_the_scene_names_speeds_and_rows_with_their_bodies(describer):
    payload = describer.scene(0.0, 0.1)
    assert payload["speeds"] == ["crank", "coupler", "rocker"]
    loop, brake, stop = payload["constraints"]
    assert [len(c["rows"]) for c in (loop, brake, stop)] == [3, 1, 1]
    first = loop["rows"][0]
    assert (first["kind"], first["a"], first["b"]) == ("point", 1, 2)
    assert (first["point_a"], first["point_b"]) == ([0.5, 0.0, 0.0], [0.2, 0.0, 0.0])
    assert [r["direction_b"] for r in loop["rows"]] == np.eye(3).tolist()
    assert (brake["rows"][0]["kind"], brake["rows"][0]["joints"]) == ("speeds", [[0, 1.0]])
    assert brake["rows"][0]["unit"] == "N m" and first["unit"] == "N"
    assert (stop["rows"][0]["kind"], stop["rows"][0]["length"], stop["rows"][0]["b"]) == ("distance", 0.5, -1)


def test_the_scene_tells_the_places_along_a_curve():
    made = Simulation(bead([curve(WAVY, True)], WAVY[0], np.zeros(3)))
    (wire,) = Describer(made.assembly).scene(0.0, 0.1)["constraints"]
    assert [r["kind"] for r in wire["rows"]] == ["curve", "curve"]
    places = np.array(wire["rows"][0]["curve"]).reshape(-1, 3)
    assert 50 < len(places) <= 257
    np.testing.assert_allclose(places[[0, -1]], WAVY[[0, 0]], rtol=0, atol=1e-12)
    assert max(Twin(WAVY, True).distance(place) for place in places) < 1e-12
    assert wire["rows"][0]["unit"] == "N"


def test_the_state_tells_hold_force_gap_rank_and_dependent_speeds(sim, describer):
    sim.apply(torque={"crank": 2.0})
    for k in range(60):
        if k == 20:
            sim.switch("brake", True)
        sim.step()
        told = describer.state(row_of(sim))
        assert {c["name"]: c["hold"] for c in told["constraints"]} == {
            name: hold.name.lower() for name, hold in sim.held.items()
        }
        assert (told["rank"], told["rows"]) == sim.rank == ((2, 3) if k < 20 else (3, 4))
        assert told["dependent"] == [describer.constraints.speeds[r] for r in sim.dependent_speeds]
        assert told["residual"] == pytest.approx(
            max(np.abs(sim._output.row_gap).max(initial=0.0), 0.0), abs=0.0
        )
    loop, brake, stop = told["constraints"]
    assert len(loop["force"]) == 3 and loop["force"] == sim._output.row_force[:3].tolist()
    assert abs(brake["force"][0]) > 0.1 and stop["force"] == [0.0] and stop["gap"] == [0.0]


def test_all_the_plain_payloads_can_go_over_the_wire(sim, describer):
    import msgpack

    sim.step()
    for payload in (describer.scene(1.0, 0.1), describer.state(row_of(sim))):
        assert msgpack.unpackb(msgpack.packb(payload)) == payload


# -- events ------------------------------------------------------------------------------------------------


def test_an_event_of_a_constraint_goes_by_its_name(describer):
    told = describer.event(5, Event.SWITCH, BRAKE, float(Hold.HELD), 0.0002)
    assert (told["kind"], told["text"], told["constraint"]) == ("switch", "'brake' holds", "brake")
    assert told["time_s"] == pytest.approx(0.0052)
    assert "constraint" not in describer.event(5, Event.IMPULSE, -1, 0.1, 0.0)


def test_a_choice_of_speeds_says_what_was_chosen_when_its_record_is_known(sim, describer):
    sim.step()
    (choice,) = sim.choices
    told = describer.event(0, Event.SELECT, -1, choice.condition, 0.0, choice)
    assert (told["rank_before"], told["rank"], told["rows"]) == (0, 2, 3)
    assert told["value"] == told["condition"] == choice.condition >= 1.0
    assert told["condition_before"] is None
    (free,) = np.array(told["free_directions"])  # three rows of rank two: one direction of three is left
    np.testing.assert_allclose(sim._workspace.A[:3] @ free, 0.0, atol=1e-12)
    assert set(told["dependent"]) == {describer.constraints.speeds[r] for r in sim.dependent_speeds}
    assert f"dependent: {', '.join(told['dependent'])}, left free: " in told["text"]
    assert "rank" not in describer.event(0, Event.SELECT, -1, 2.5, 0.0)


def test_a_record_of_a_choice_is_read_and_put_into_words():
    record = np.array([2e-4, 1.0, 1.0, 2.0, 1.5, np.inf, 1.0, 0.0, 0.6, 0.8, 0.0, 0.0])
    choice = SpeedChoice.read(record)
    told = choice.told(["a", "b"])
    assert choice.condition_before == np.inf and told["condition_before"] is None
    assert told["free_directions"] == [[0.6, 0.8]] and told["dependent"] == ["b"]
    assert choice.words(["a", "b"]) == ", inf with the earlier ones, dependent: b, left free: a 0.6, b 0.8"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (Event.SWITCH, 0.0, "'x' is free"),
        (Event.SWITCH, 3.0, "'x' slips backward"),
        (Event.REFUSED, 0.0123, "'x' was not imposed: it is off by 0.0123 (SI)"),
        (Event.REFUSED, np.inf, "'x' was not imposed: it is out of reach"),
        (Event.CONFLICT, 0.61, "'x' contradicts other constraints (its share 61 %)"),
        (Event.TWICE, 1.0, "'x' was switched more than once within a tick: the last wish counted"),
        (Event.IMPULSE, 0.0021, "'x' touched and parted at once, 2.1 mJ lost"),
        (Event.RANK, 2.0, "the rank of the imposed rows is 2"),
    ],
)
def test_events_of_constraints_in_words(kind, value, words):
    assert event_words(kind, "'x'", value) == words


def test_an_impulse_by_constraints_is_told_from_one_by_a_contact(describer):
    told = describer.event(5, Event.IMPULSE, -1, 0.0021, 0.0)
    assert told["text"] == "constraints imposed by an impulse, 2.1 mJ lost"


def test_every_event_and_fault_has_words_of_its_own():
    words = {event_words(kind, "'x'", 1.0) for kind in Event}
    assert len(words) == len(Event) and len(FAULT_WORDS) == len(set(FAULT_WORDS.values()))


def test_an_infinite_value_is_told_as_nil(describer):
    assert describer.event(0, Event.REFUSED, LOOP, np.inf, 0.0)["value"] is None


# -- the switchboard ---------------------------------------------------------------------------------------


class FakePort:
    """Hands out requests, and keeps the answers by their number."""

    def __init__(self) -> None:
        self.waiting: list[Asked] = []
        self.answers: dict[int, tuple[str, dict[str, Any]]] = {}

    def ask(self, *requests: SwitchRequest | ListRequest) -> None:
        self.waiting += [Asked(b"peer", r) for r in requests]

    def poll(self) -> list[Asked]:
        waiting, self.waiting = self.waiting, []
        return waiting

    def answer(self, asked: Asked, kind: str, **content: Any) -> bool:
        assert asked.request.number not in self.answers, "answered twice"
        self.answers[asked.request.number] = (kind, content)
        return True


class Board:
    """A switchboard over a simulation that ticks when told to."""

    def __init__(self, sim: Simulation, describer: Describer) -> None:
        self.sim, self.port, self.describer = sim, FakePort(), describer
        loop: Any = SimpleNamespace(switch=lambda c, held: sim.switch(describer.constraints.names[c], held))
        port: Any = self.port
        self.board = Switchboard(describer.constraints, loop, port)
        self.row: np.ndarray | None = None

    def serve(self) -> dict[int, tuple[str, dict[str, Any]]]:
        self.board.serve(self.row)
        return self.port.answers

    def tick(self, note: bool = True) -> None:
        self.sim.step()
        self.row = row_of(self.sim)
        for e in self.sim.events if note else ():
            if e.contact >= 0:
                words = self.describer.event(0, e.kind, e.contact, e.value, 0.0)["text"]
                self.board.note(e.kind, e.contact, words)


@pytest.fixture
def board(sim, describer) -> Board:
    return Board(sim, describer)


def test_a_switch_is_answered_when_a_tick_took_it_and_not_before(board):
    board.tick()
    board.port.ask(SwitchRequest(1, "brake", True))
    assert board.serve() == {} and board.serve() == {}
    board.tick()
    assert board.serve() == {1: ("done", {"name": "brake", "hold": "held", "tick": 1})}
    board.port.ask(SwitchRequest(2, "brake", False))
    board.serve()
    board.tick()
    assert board.serve()[2] == ("done", {"name": "brake", "hold": "free", "tick": 2})


def test_a_constraint_that_cannot_be_imposed_is_refused_with_the_reason(board):
    board.port.ask(SwitchRequest(1, "stop", True))
    board.serve()
    board.tick()
    kind, content = board.serve()[1]
    assert kind == "refused" and board.sim.held["stop"] == Hold.FREE
    assert content["reason"] == (
        "'stop' was not imposed: it is out of reach: bring the mechanism to where it can hold, "
        "or let another go."
    )


def test_the_reason_of_an_old_refusal_is_not_told_again(board):
    board.port.ask(SwitchRequest(1, "stop", True))
    board.serve()
    board.tick()
    board.serve()
    board.port.ask(SwitchRequest(2, "stop", True))
    board.serve()
    board.tick(note=False)
    assert board.serve()[2][1]["reason"].startswith("'stop' let go at once under its force:")


def test_an_unknown_name_is_answered_with_the_nearest(board):
    board.port.ask(SwitchRequest(9, "lop", True))
    assert board.serve()[9] == (
        "refused",
        {"reason": "constraint 'lop' is not there (did you mean 'loop'?): they are 'brake', 'loop', 'stop'."},
    )


def test_a_loop_that_stands_still_is_told(board, monkeypatch):
    board.port.ask(SwitchRequest(1, "brake", True))
    board.serve()
    later = time.monotonic() + 1.5
    monkeypatch.setattr("hapticsim.switchboard.time.monotonic", lambda: later)
    assert board.serve()[1] == (
        "refused", {"reason": "the loop has not ticked for 1 s: start the server again."}
    )  # fmt: skip
    board.tick()
    board.serve()  # and it is not answered again


def test_more_requests_than_can_wait_are_refused_and_the_others_answered(board):
    board.port.ask(*(SwitchRequest(n, "brake", n % 2 == 0) for n in range(MOST_WAITING + 5)))
    refused = board.serve()
    assert {kind for kind, _ in refused.values()} == {"refused"} and len(refused) == 5
    board.tick()
    assert len(board.serve()) == MOST_WAITING + 5


def test_the_list_tells_what_each_does_now(board):
    board.port.ask(ListRequest(1))
    board.serve()
    assert [c["hold"] for c in board.port.answers[1][1]["constraints"]] == ["", "", ""]
    board.tick()
    board.port.ask(ListRequest(2))
    assert board.serve()[2][1]["constraints"] == [
        {"name": "loop", "hold": "held", "rows": 3},
        {"name": "brake", "hold": "free", "rows": 1},
        {"name": "stop", "hold": "free", "rows": 1},
    ]


# -- the outlet --------------------------------------------------------------------------------------------


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


def test_events_are_told_after_the_row_of_their_tick_with_the_choice_they_are_about(sim, describer, ticks):
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
