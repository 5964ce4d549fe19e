"""Constraints in the window: drawn where they are, listed with what they do, switched by number keys."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest

from hapticsim.codes import Fault
from hapticsim.display.messages.constraints import Imposed, read_constraints
from hapticsim.display.messages.scene import SceneMessage, StateMessage, Unreadable
from hapticsim.display.palette import ORANGE, PURPLE
from hapticsim.display.panel.constraint_list import what_it_does
from hapticsim.display.window import Window
from hapticsim.wire.control import ControlPort
from hapticsim.wire.messages.fault_words import fault_words
from hapticsim.wire.messages.requests import SwitchRequest
from hapticsim.wire.publisher import Publisher
from tests import display_fake
from tests.display.test_window import TOUCHING_S, count, show

AXES = np.eye(3).tolist()
VIEW = 810  # [px] columns of the scene, before the panel
PLACE_W = [0.55, 0.05, 0.45]  # [m] free of everything else


def row(kind: str, **changes: Any) -> dict[str, Any]:
    zero = [0.0, 0.0, 0.0]
    base: dict[str, Any] = {
        "kind": kind, "a": -1, "b": -1, "point_a": PLACE_W, "point_b": PLACE_W, "direction_a": zero,
        "direction_b": zero, "length": 0.0, "joints": [], "unit": "N",
    }  # fmt: skip
    return base | changes


# [m] a bow upwards from PLACE_W, as the numbers of five points
BENT = [x for i in range(5) for x in (0.55 + 0.04 * i, 0.05, 0.45 + 0.01 * i * i)]


def normals(*axes: int) -> list[dict[str, Any]]:
    return [row("point", direction_b=AXES[i]) for i in axes]


KINDS = {
    "ball": normals(0, 1, 2),
    "line": normals(1, 2),
    "plane": normals(1),
    "circle": [*normals(1), row("distance", length=0.1, point_a=[0.65, 0.05, 0.45])],
    "rod": [row("distance", point_b=[0.65, 0.05, 0.45], length=0.1)],
    "hinge": [*normals(0, 1, 2), *[row("angle", direction_a=AXES[0], direction_b=AXES[i]) for i in (1, 2)]],
    "weld": [*normals(0, 1, 2), *[row("angle", direction_a=AXES[i], direction_b=AXES[i]) for i in range(3)]],
    "curve": [row("curve", curve=BENT, direction_b=AXES[i]) for i in range(2)],
    "lock": [row("speeds", joints=[[3, 1.0]], unit="N m")],
    "gear": [row("speeds", joints=[[1, 1.0], [2, -2.0]], unit="N m")],
    "roll": [row("roll", length=0.05, direction_a=AXES[0], direction_b=AXES[2])],
    "wheel": [row("skate", direction_a=AXES[0])],
}


def topics(rows: dict[str, list[dict[str, Any]]], hold: str = "held", **changes: Any) -> dict[str, dict]:
    """Payloads of a scene with these constraints, all of which do the same."""
    now = [{"name": n, "hold": hold, "force": [3.0] * len(r), "gap": [0.0] * len(r)} for n, r in rows.items()]
    views = [{"name": name, "rows": made} for name, made in rows.items()]
    state = {"constraints": now, "rank": 2, "rows": 3, "dependent": ["b"], "residual": 1e-15} | changes
    return {
        "scene": display_fake.scene(constraints=views, speeds=["a", "b"]),
        "state": display_fake.state(TOUCHING_S, **state),
    }


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/publish"


@pytest.fixture
def server(endpoint: str) -> Iterator[Publisher]:
    with Publisher(endpoint) as publisher:
        yield publisher


@pytest.fixture
def window(monkeypatch: pytest.MonkeyPatch, endpoint: str, server: Publisher) -> Iterator[Window]:
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    opened = Window(endpoint)
    yield opened
    opened.close()


def test_without_constraints_nothing_is_added(window, server):
    view = show(window, server, topics({}))[:VIEW]
    assert count(view, PURPLE) == 0
    assert window.feed.trouble == ""


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_is_drawn_while_it_holds_and_fainter_while_it_is_free(window, server, kind):
    held = show(window, server, topics({kind: KINDS[kind]}))[:VIEW]
    slips = show(window, server, topics({kind: KINDS[kind]}, "forward"))[:VIEW]
    none = show(window, server, topics({}))[:VIEW]
    free = show(window, server, topics({kind: KINDS[kind]}, "free"))[:VIEW]
    assert count(held, PURPLE) > 25 and count(none, PURPLE) == 0
    assert count(slips, PURPLE) == 0 and count(slips, ORANGE) > count(none, ORANGE) + 25
    assert count(free, PURPLE) == 0
    assert (np.abs(free - none).max(axis=2) > 25).sum() > 25  # but it can be seen


def test_a_joined_point_is_marked_where_it_is(window, server):
    view = show(window, server, topics({"ball": KINDS["ball"]}))[:VIEW]
    (at,), _ = window.camera.project(np.array([PLACE_W]))
    x, y = at.round().astype(int)
    assert count(view[x - 3 : x + 4, y - 3 : y + 4], PURPLE, within=40) > 5


def test_a_guide_line_runs_along_its_direction(window, server):
    view = show(window, server, topics({"line": KINDS["line"]}))[:VIEW]
    for step in (-0.15, -0.1, 0.1, 0.15):
        (at,), _ = window.camera.project(np.array([PLACE_W]) + np.array([step, 0.0, 0.0]))
        x, y = at.round().astype(int)
        assert count(view[x - 1 : x + 2, y - 2 : y + 3], PURPLE, within=40) > 0


def test_a_circle_has_its_radius(window, server):
    view = show(window, server, topics({"circle": KINDS["circle"]}))[:VIEW]
    for turn in np.linspace(0.1, 6.0, 9):
        rim = np.array(PLACE_W) + 0.1 * np.array([math.cos(turn), 0.0, math.sin(turn)])
        (at,), _ = window.camera.project(rim[None])
        x, y = at.round().astype(int)
        assert count(view[x - 2 : x + 3, y - 2 : y + 3], PURPLE, within=60) > 0


def test_a_curve_goes_through_its_points_and_on_beyond_them(window, server):
    view = show(window, server, topics({"curve": KINDS["curve"]}))[:VIEW]
    bent = np.array(BENT).reshape(-1, 3)
    places = [*bent, 0.5 * (bent[2] + bent[3]), bent[-1] + 0.3 * (bent[-1] - bent[-2])]
    for place in places:
        (at,), _ = window.camera.project(place[None])
        x, y = at.round().astype(int)
        assert count(view[x - 2 : x + 3, y - 2 : y + 3], PURPLE, within=60) > 0
    around = [*BENT, *BENT[:3]]  # closed: nothing beyond
    rows = [row("curve", curve=around, direction_b=AXES[i]) for i in range(2)]
    view = show(window, server, topics({"curve": rows}))[:VIEW]
    (at,), _ = window.camera.project(places[-1][None])
    x, y = at.round().astype(int)
    assert count(view[x - 2 : x + 3, y - 2 : y + 3], PURPLE, within=60) == 0


def test_the_panel_tells_what_each_does(window, server):
    held = show(window, server, topics({"loop": KINDS["ball"], "lock": KINDS["lock"]}))[VIEW:]
    assert count(held, PURPLE) > 100  # two discs and two forces
    full = topics({"loop": KINDS["ball"]}, "free", rank=3)
    deficient = topics({"loop": KINDS["ball"]}, "free", rank=2)
    without = count(show(window, server, full)[VIEW:], ORANGE)
    assert count(show(window, server, deficient)[VIEW:], ORANGE) > without  # rank 2 of 3 rows


def test_what_a_constraint_does_in_words():
    (weld,) = read_constraints(
        [{"name": "w", "rows": [row("point"), row("angle", unit="N m"), row("point")]}], 4
    )

    def now(hold: str, force: list[float]) -> Any:
        payload = {"constraints": [{"name": "w", "hold": hold, "force": force, "gap": []}]}
        return Imposed.read(payload).constraints[0]

    assert what_it_does(now("free", [0.0, 0.0, 0.0]), weld) == "free"
    assert what_it_does(now("held", [3.0, 100.0, -4.0]), weld) == "5.00 N"
    assert what_it_does(now("backward", [3.0]), None) == "slips, 3.00 N"
    (lock,) = read_constraints([{"name": "l", "rows": KINDS["lock"]}], 4)
    assert what_it_does(now("held", [-2.0]), lock) == "2.00 N m"
    assert fault_words(Fault.INCONSISTENT, advice=False) == "constraints contradict one another"


@pytest.mark.parametrize(
    "changes",
    [
        {"curve": [0.0, 0.0]},
        {"kind": "curve"},
        {"a": 4},
        {"b": -2},
        {"joints": [[9, 1.0]]},
        {"point_a": [0.0]},
        {"direction_b": [math.nan] * 3},
    ],
)
def test_a_row_that_cannot_be_read_is_said(changes):
    rows = [row("point") | changes]
    with pytest.raises(Unreadable):
        SceneMessage.read(display_fake.scene(constraints=[{"name": "x", "rows": rows}]))
    with pytest.raises(Unreadable):
        StateMessage.read(display_fake.state(0.0, constraints=[{"name": "x"}]))


# -- number keys -------------------------------------------------------------------------------------------


def press(window: Window, digit: str, times: int = 1) -> None:
    key = getattr(pygame, f"K_{digit}")
    for _ in range(times):
        event = pygame.event.Event(pygame.KEYDOWN, key=key, unicode=digit, mod=0)
        window.controls.take(event, time.monotonic())


def release(window: Window, digit: str) -> None:
    event = pygame.event.Event(pygame.KEYUP, key=getattr(pygame, f"K_{digit}"), mod=0)
    window.controls.take(event, time.monotonic())


def heard(window: Window, port: ControlPort, answer: str = "done", **content: Any) -> list[SwitchRequest]:
    """Pass on the keys, answer what comes, and return it."""
    requests: list[SwitchRequest] = []
    until = time.monotonic() + 2.0
    while time.monotonic() < until and not requests:
        window.take_switches()
        for asked in port.poll():
            assert isinstance(asked.request, SwitchRequest)
            requests.append(asked.request)
            port.answer(asked, answer, **content)
        time.sleep(0.01)
    before = window._note
    while time.monotonic() < until and window._note == before:
        window.take_switches()
        time.sleep(0.01)
    return requests


@pytest.fixture
def port(window: Window, endpoint: str) -> Iterator[ControlPort]:
    with ControlPort(f"{endpoint}-control") as port:
        time.sleep(0.3)  # the window connects again
        yield port


def test_a_number_key_asks_for_the_opposite_and_the_answer_is_shown(window, server, port):
    show(window, server, topics({"loop": KINDS["ball"], "lock": KINDS["lock"]}))
    press(window, "2")
    (asked,) = heard(window, port, name="lock", hold="free")
    assert (asked.name, asked.held) == ("lock", False)
    assert window._note == "'lock' is free."
    show(window, server, topics({"loop": KINDS["ball"]}, "free"))
    press(window, "1")
    (asked,) = heard(window, port, "refused", reason="it is out of reach.")
    assert (asked.name, asked.held) == ("loop", True)
    assert window._note == "it is out of reach."


def test_a_key_held_down_is_one_wish(window):
    press(window, "1", times=5)
    assert window.controls.switches_wanted == [1]
    release(window, "1")
    press(window, "1")
    press(window, "2")
    assert window.controls.switches_wanted == [1, 1, 2]


def test_what_cannot_be_switched_is_said(window, server):
    press(window, "3")
    window.take_switches()
    assert window._note == "There is no constraint 3."
    shown = topics({"loop": KINDS["ball"]})
    show(window, server, shown)
    press(window, "1")
    window.take_switches()
    assert window._note.startswith("Nobody takes switches at ipc://")
    release(window, "1")
    shown["scene"]["role"] = "recording"
    show(window, server, shown)
    press(window, "1")
    window.take_switches()
    assert window._note == "A recording cannot be switched: it happened before."
