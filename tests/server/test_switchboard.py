"""A switch asked for over the control road is answered when a tick took it, and truly."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from hapticsim.codes import Mode
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from hapticsim.server.constraint_requests import MOST_WAITING, Switchboard
from hapticsim.simulate.simulation import Simulation
from hapticsim.wire.control import Asked
from hapticsim.wire.messages.requests import ListRequest, SwitchRequest
from tests.four_bar import FOUR_BAR
from tests.rows import row_of


@pytest.fixture
def sim() -> Simulation:
    return Simulation(loads(FOUR_BAR))


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
def board(sim) -> Board:
    return Board(sim, Describer(sim.assembly))


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
    assert kind == "refused" and board.sim.held["stop"] == Mode.FREE
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


@pytest.mark.parametrize("withdrawn", (True, False))
def test_a_loop_that_stands_still_is_told_and_what_becomes_of_the_wish(board, monkeypatch, withdrawn):
    board.port.ask(SwitchRequest(1, "brake", True))
    board.serve()
    later = time.monotonic() + 1.5
    monkeypatch.setattr("hapticsim.server.constraint_requests.time.monotonic", lambda: later)
    assert board.serve()[1] == (
        "refused",
        {
            "reason": "the loop has not ticked for 1 s; when it does it will take this: "
            "ask for the opposite, or start the server again."
        },
    )
    if withdrawn:
        board.port.ask(SwitchRequest(2, "brake", False))
        board.serve()
    board.tick()
    assert set(board.serve()) == ({1, 2} if withdrawn else {1}), "and it is not answered again"
    board.port.ask(ListRequest(3))
    assert board.serve()[3][1]["constraints"][1]["hold"] == ("free" if withdrawn else "held")


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
