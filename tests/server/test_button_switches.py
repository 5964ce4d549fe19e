"""Buttons of the device that switch constraints: one press, one switch, by the road of all switches."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hapticsim_devices.base import DISENGAGE, ENGAGE, FIRST, SECOND, UPRIGHT, ZERO
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.assemble.button_switches import ButtonSwitches
from hapticsim.codes import Event, Mode
from hapticsim.config.load import load, loads
from hapticsim.describe.topics import Describer
from hapticsim.errors import ConfigError
from hapticsim.recording.reader import read_recording
from hapticsim.server.constraint_requests import MOST_WAITING, Switchboard
from hapticsim.server.device_session import MOST_PRESSES, DeviceSession
from hapticsim.simulate.simulation import Simulation
from hapticsim.simulate.virtual import replay, simulate
from hapticsim.wire.control import Asked
from hapticsim.wire.device.port import News
from hapticsim.wire.messages.device import State
from hapticsim.wire.messages.requests import SwitchRequest
from tests.four_bar import FOUR_BAR
from tests.processes import CONFIGS

LOOP, BRAKE, STOP = range(3)
WIRED = FOUR_BAR + "switch_on_button: {brake: first, stop: second}\n"


@pytest.fixture(scope="module")
def scene():
    return loads(WIRED)


# -- the config --------------------------------------------------------------------------------------------


def test_a_scene_names_the_buttons_of_its_own_constraints_and_of_its_mechanism(scene):
    assert scene.switch_on_button == {"brake": "first", "stop": "second"}
    assert load(CONFIGS / "shopping_cart.yaml").switch_on_button == {"caster sticks": "first"}
    assert loads(FOUR_BAR).switch_on_button == {}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            "{brake: engage}",
            "switch_on_button.brake = 'engage' gives the force and cannot switch: "
            "choose one of 'first', 'fourth', 'second', 'third'.",
        ),
        (
            "{brake: disengage}",
            "switch_on_button.brake = 'disengage' takes the force away and cannot switch: "
            "choose one of 'first', 'fourth', 'second', 'third'.",
        ),
        (
            "{brake: frist}",
            "switch_on_button.brake = 'frist' is not a button (did you mean 'first'?): "
            "choose one of 'first', 'fourth', 'second', 'third'.",
        ),
        (
            "{brak: first}",
            "switch_on_button.brak is not a constraint (did you mean 'brake'?): "
            "they are 'brake', 'loop', 'stop'.",
        ),
    ],
)
def test_what_cannot_switch_is_refused_in_a_sentence(words, sentence):
    with pytest.raises(ConfigError) as refusal:
        loads(f"{FOUR_BAR}switch_on_button: {words}\n")
    assert str(refusal.value).endswith(sentence)


def test_a_button_of_the_wrong_kind_is_refused_and_a_link_is_noted():
    with pytest.raises(ConfigError, match=r"switch_on_button\.brake"):
        loads(f"{FOUR_BAR}switch_on_button: {{brake: 3}}\n")
    linked = loads(f"{WIRED}link: {{delay_up_s: 0.5}}\n")
    assert "switch_on_button: buttons do not switch across a link." in linked.notes


# -- presses -----------------------------------------------------------------------------------------------


def test_a_press_counts_once_however_often_it_is_reported_and_other_buttons_do_not(scene):
    found = ButtonSwitches(scene)
    both = FIRST | SECOND
    told = [0, ENGAGE, ENGAGE | FIRST, FIRST, FIRST, 0, DISENGAGE, both, SECOND, both, 1 << 31]
    assert [found.pressed(b) for b in told] == [
        [], [], [BRAKE], [], [], [], [], [BRAKE, STOP], [], [BRAKE], [],
    ]  # fmt: skip


def test_a_button_that_is_down_when_a_device_joins_was_not_pressed(scene):
    found = ButtonSwitches(scene)
    assert found.pressed(FIRST) == [] and found.pressed(0) == [] and found.pressed(FIRST) == [BRAKE]
    found.forget()
    assert (
        found.pressed(FIRST | SECOND) == []
        and found.pressed(SECOND) == []
        and found.pressed(FIRST) == [BRAKE]
    )


def test_one_button_may_switch_two_constraints():
    found = ButtonSwitches(loads(f"{FOUR_BAR}switch_on_button: {{loop: third, brake: third}}\n"))
    found.pressed(0)
    assert found.pressed(16) == [LOOP, BRAKE]


# -- the session -------------------------------------------------------------------------------------------


def state(buttons: int) -> News:
    return News(state=State(ZERO, UPRIGHT, ZERO, ZERO, buttons, ZERO, 0, None))


@pytest.fixture
def session(scene) -> DeviceSession:
    plan = SimpleNamespace(stall_s=0.009)
    loop: Any = SimpleNamespace(write_gains=lambda *_: None, assembly=SimpleNamespace(plan=plan))
    port: Any = None  # not started: nobody polls it
    return DeviceSession(scene, loop, port, lambda line: None)


def test_the_session_notes_each_press_once_and_starts_afresh_with_a_device(session):
    for buttons in (0, FIRST, FIRST, FIRST, 0, 0, FIRST, 0):
        session._take(state(buttons))
    assert list(session.presses) == [BRAKE, BRAKE]
    session._take(News(joined=Scripted().info.hello()))
    for buttons in (FIRST, FIRST, 0, SECOND):
        session._take(state(buttons))
    assert list(session.presses) == [BRAKE, BRAKE, STOP]


def test_presses_that_nobody_takes_do_not_pile_up(session):
    for n in range(2 * MOST_PRESSES + 7):
        session._take(state(FIRST * (n % 2)))
        session._take(state(0))
    assert len(session.presses) == MOST_PRESSES


# -- the switchboard ---------------------------------------------------------------------------------------


class Board:
    """A switchboard over a simulation that ticks when told to, with buttons and a control road."""

    def __init__(self, scene) -> None:
        self.sim = Simulation(scene)
        self.describer = Describer(self.sim.assembly)
        self.presses: deque[int] = deque()
        self.said: list[str] = []
        self.asked: list[Asked] = []
        self.answers: list[tuple[str, object]] = []
        self.wishes: list[tuple[int, bool]] = []
        names = self.describer.constraints.names

        def switch(c: int, held: bool) -> None:
            self.wishes.append((c, held))
            self.sim.switch(names[c], held)

        def poll() -> list[Asked]:
            asked, self.asked = self.asked, []
            return asked

        def answer(asked: Asked, kind: str, **content: object) -> None:
            self.answers.append((kind, content.get("hold")))

        loop: Any = SimpleNamespace(switch=switch)
        port: Any = SimpleNamespace(poll=poll, answer=answer)
        self.board = Switchboard(self.describer.constraints, loop, port, self.presses, self.said.append)
        self.row: np.ndarray | None = None

    def serve(self) -> None:
        self.board.serve(self.row)

    def tick(self) -> None:
        self.sim.step()
        self.row = np.zeros(len(self.sim.columns))
        self.sim.read_row(self.row)
        for e in self.sim.events:
            if e.contact >= 0:
                words = self.describer.event(0, e.kind, e.contact, e.value, 0.0)["text"]
                self.board.note(e.kind, e.contact, words)


@pytest.fixture
def board(scene) -> Board:
    return Board(scene)


def test_a_press_switches_over_and_waits_until_it_is_known_what_holds(board):
    board.presses.append(BRAKE)
    board.serve()
    assert board.wishes == [] and list(board.presses) == [BRAKE]
    for hold in (Mode.HELD, Mode.FREE, Mode.HELD):
        board.tick()
        board.serve()
        board.tick()
        board.serve()
        assert board.sim.held["brake"] == hold
        board.presses.append(BRAKE)
    assert board.wishes == [(BRAKE, True), (BRAKE, False), (BRAKE, True)]
    assert board.answers == [] and board.said == []


def test_two_presses_before_a_tick_took_the_first_cancel_each_other(board):
    board.tick()
    board.presses.extend([BRAKE, BRAKE])
    board.serve()
    assert board.wishes == [(BRAKE, True), (BRAKE, False)]
    board.tick()
    board.serve()
    assert board.sim.held["brake"] == Mode.FREE


def test_a_press_and_a_request_count_together_and_only_the_request_is_answered(board):
    board.tick()
    board.asked.append(Asked(b"peer", SwitchRequest(1, "brake", True)))
    board.serve()
    board.presses.append(BRAKE)
    board.serve()
    assert board.wishes == [(BRAKE, True), (BRAKE, False)]
    assert board.answers == []  # no tick has taken it
    board.tick()
    board.serve()
    assert board.answers == [("done", "free")]  # as it is, after both


def test_a_press_that_could_not_be_obeyed_is_said(board):
    board.tick()
    board.presses.append(STOP)
    board.serve()
    board.tick()
    board.serve()
    assert board.said == [
        "'stop' was not imposed: it is out of reach: bring the mechanism to where it can hold, "
        "or let another go."
    ]


def test_no_more_presses_wait_than_requests_may(board):
    board.tick()
    board.presses.extend([BRAKE] * (MOST_WAITING + 3))
    board.serve()
    assert len(board.wishes) == MOST_WAITING and len(board.said) == 3 and not board.presses
    board.tick()
    board.serve()
    assert board.sim.held["brake"] == Mode.FREE


# -- virtual time ------------------------------------------------------------------------------------------

HANDS = {
    "waypoints": [{"time_s": 0.0, "position_m": [0.0, 0.0, 0.0]}],
    "presses": [{"time_s": t, "button": "first", "hold_s": 0.1} for t in (0.2, 0.5)],
    "repeat": False,
}


def test_in_virtual_time_a_press_switches_at_the_tick_that_sees_it_and_replays_to_the_bit(tmp_path):
    config = CONFIGS / "shopping_cart.yaml"
    scene = load(config)
    sim = hs.Simulation(scene)
    with Scripted(HANDS) as hand:
        rows = simulate(scene, hand, 0.8, tmp_path / "r.mcap", simulation=sim)
    hold = rows[:, sim.columns.index("hold[caster sticks]")]
    changes = np.flatnonzero(np.diff(hold)) + 1
    assert list(changes) == [200, 500]
    assert list(hold[[0, 200, 500]]) == [Mode.HELD, Mode.FREE, Mode.HELD]
    recording = read_recording(tmp_path / "r.mcap")
    told = [e for e in recording.events if e["kind"] == Event.SWITCH.name.lower()]
    assert [e["tick"] for e in told] == [200, 500]
    assert replay(recording, hs.Simulation(scene)) == 0.0
