"""Every topic is declared once: what is published, what is read and docs/protocol.md are held against it."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest
from hapticsim_devices.mouse import goal_and_buttons

from hapticsim.codes import Event
from hapticsim.config.load import load, loads
from hapticsim.describe.forces import ENGAGE_REFUSED
from hapticsim.describe.topics import Describer
from hapticsim.display.messages.scene import PredictedMessage, SceneMessage, StateMessage
from hapticsim.display.messages.stats import StatsMessage
from hapticsim.display.window import Window
from hapticsim.kernels.memory.pack import state_size
from hapticsim.kernels.memory.sample import WIDTH
from hapticsim.model.settings import LinkSettings
from hapticsim.server.host_watch import HostWatch
from hapticsim.server.server import Server
from hapticsim.simulate.simulation import Simulation
from hapticsim.teleop.messages import (
    COLUMNS,
    Commands,
    Telemetry,
    read_commands,
    read_telemetry,
    write_commands,
    write_telemetry,
)
from hapticsim.teleop.operator_site import OperatorSite
from hapticsim.teleop.predictor import Prediction
from hapticsim.wire.messages.schema import keys_of
from hapticsim.wire.messages.topics import DECLARED
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.subscriber import Subscriber
from tests import display_fake
from tests.drawn_meshes import cuboid, shape_of
from tests.four_bar import FOUR_BAR
from tests.processes import CONFIGS

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
WITH_A_FLOOR = f"""{FOUR_BAR}
shapes:
  - {{name: pin, body: crank, kind: sphere, radius_m: 0.02}}
  - {{name: floor, kind: plane, origin: {{xyz_m: [0, 0, -0.5]}}}}
contacts:
  - {{between: [pin, floor]}}
"""


def section_of(topic: str) -> str:
    return re.split(r"^##", PAGE.split(f"\n### topic {topic}\n")[1], flags=re.MULTILINE)[0]


def table_of(topic: str) -> str:
    """The table of keys on the page."""
    return next(part for part in section_of(topic).split("\n\n") if part.startswith("| key ")).strip()


class Noted(dict[str, Any]):
    """A payload that notes, as paths, which keys are read."""

    def __init__(self, payload: dict[str, Any], read: set[str], above: str = "") -> None:
        super().__init__({key: self._noted(value, read, f"{above}{key}.") for key, value in payload.items()})
        self.read, self.above = read, above

    def _noted(self, value: Any, read: set[str], above: str) -> Any:
        if isinstance(value, dict):
            return Noted(value, read, above)
        return [self._noted(one, read, above) for one in value] if isinstance(value, list) else value

    def __getitem__(self, key: str) -> Any:
        self.read.add(self.above + key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        self.read.add(self.above + key)
        return super().get(key, default)


READERS: dict[str, Callable[[Any], Any]] = {
    "scene": SceneMessage.read,
    "state": StateMessage.read,
    "stats": StatsMessage.read,
    "predicted": PredictedMessage.read,
    "pointer": goal_and_buttons,
    "commands": read_commands,
    "telemetry": read_telemetry,
}


def pointer_message(endpoint: str) -> dict[str, Any]:
    """What the window publishes while the mouse is over it."""
    with Publisher(endpoint) as publisher:
        window = Window(endpoint, f"{endpoint}-pointer")
        try:
            with Subscriber(f"{endpoint}-pointer", topics=("pointer",)) as driver:
                give_up = time.monotonic() + 10.0
                while driver.latest("pointer") is None:
                    assert time.monotonic() < give_up, "no pointer was published"
                    publisher.offer("scene", display_fake.scene())
                    publisher.offer("state", display_fake.state(1.0))
                    moved = pygame.event.Event(
                        pygame.MOUSEMOTION, pos=(300, 300), rel=(1, 1), buttons=(0, 0, 0)
                    )
                    window.controls.take(moved, time.monotonic())
                    window.run(frames=window.frames_drawn + 2)
                return dict(driver.latest("pointer") or {})
        finally:
            window.close()


def state_against_a_stop() -> dict[str, Any]:
    """Topic ``state`` of a crank that is held against the end of its range."""
    sim = Simulation(load(CONFIGS / "crank.yaml"))
    sim.apply(torque={"axle": 1.0})
    sim.step(1000)
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    return Describer(sim.assembly).state(row)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Payloads of every topic, each as its publisher makes it, that between them have every key."""
    folder = tmp_path_factory.mktemp("ends")
    scene = loads(WITH_A_FLOOR)
    scene = replace(scene, shapes=(*scene.shapes, shape_of("stone", cuboid((0.1, 0.1, 0.1)))))
    sim = Simulation(scene)
    sim.step()
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    nq, nu = sim.assembly.equations.nq, sim.assembly.equations.nu
    row[WIDTH + nq + nu + 1] = 2.0  # the force of the one contact: it is closed
    (choice,) = sim.choices
    describer = Describer(sim.assembly)
    prediction = Prediction(1, 0, scene.q0, scene.u0, np.zeros((2, 3)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SDL_VIDEODRIVER", "dummy")
        pointer = pointer_message(f"ipc://{folder}/window")
    ends = {f"{end}_endpoint": f"ipc://{folder}/{end}" for end in ("device", "publish", "control")}
    server = Server(scene, realtime=False, **ends)
    try:
        stats = server.statistics()
    finally:
        server.stop()
    watch = HostWatch(scene.tick_s, lambda: (0, 0.0), str)
    site = OperatorSite(sim.assembly, LinkSettings(), server.loop)
    commands = np.zeros((2, COLUMNS))
    commands[:, 0] = (0.0, 1.0)
    telemetry = Telemetry(1, 0, 0, 0, np.zeros(3), [(2, 5)], 0)
    return {
        "scene": [describer.scene(1.0, 0.1)],
        "state": [describer.state(row), state_against_a_stop()],
        "events": [
            describer.event(1, Event.SWITCH, len(sim.assembly.candidates), 1.0, 0.0),
            describer.event(1, Event.SELECT, -1, 1.0, 0.0, choice),
        ],
        "stats": [stats | {"host": watch.statistics(), "link": site.statistics(0.0)}, stats],
        "predicted": [describer.predicted(prediction, np.zeros(state_size(sim._state)), 0.0, 0.0)],
        "pointer": [pointer],
        "commands": [write_commands(Commands(1, True, -1, commands)), site.knock()],
        "telemetry": [write_telemetry(telemetry)],
    }


@pytest.mark.parametrize("topic", DECLARED)
def test_the_table_of_the_page_is_the_declaration(topic):
    assert table_of(topic) == DECLARED[topic].table()


@pytest.mark.parametrize("topic", DECLARED)
def test_what_is_published_is_declared_with_its_type(published, topic):
    for payload in published[topic]:
        assert DECLARED[topic].problems(payload) == []


@pytest.mark.parametrize("topic", DECLARED)
def test_what_is_declared_is_published(published, topic):
    declared = DECLARED[topic]
    written = set().union(*(keys_of(payload, declared.fields) for payload in published[topic]))
    assert {path for path, _ in declared.paths()} == written


@pytest.mark.parametrize("topic", READERS)
def test_what_is_read_is_declared(published, topic):
    read: set[str] = set()
    for payload in published[topic]:
        assert READERS[topic](Noted(payload, read)) is not None
    declared = DECLARED[topic]
    anything = tuple(
        path + "." for path, field in declared.paths() if field.type == "map" and not field.inside
    )
    assert {path for path in read if not path.startswith(anything)} <= {path for path, _ in declared.paths()}


@pytest.mark.parametrize(
    "change, sentence",
    [
        ({"turns": 1}, "turns is not declared"),
        ({"target": [0.0, 0.0]}, "target = [0.0, 0.0] is not 3 numbers"),
        ({"buttons": True}, "buttons = True is not integer"),
        ({"turn": None}, "turn = None is not number; may be absent"),
    ],
)
def test_a_payload_that_is_not_as_declared_is_told(change, sentence):
    good = {"target": [0.0, 0.0, 0.0], "buttons": 0, "sequence": 1}
    assert DECLARED["pointer"].problems(good) == []
    assert DECLARED["pointer"].problems(good | change) == [sentence]
    assert DECLARED["pointer"].problems({"target": [0.0] * 3, "buttons": 0}) == ["sequence is missing"]


def test_the_page_lists_every_kind_of_event():
    kinds = re.findall(r"^\| `(\w+)` \|", section_of("events").split("| kind |")[1], re.MULTILINE)
    assert sorted(kinds) == sorted([*(kind.name.lower() for kind in Event), ENGAGE_REFUSED])


def test_numbers_between_the_sites_are_little_endian_on_every_computer():
    rows = np.zeros((1, COLUMNS))
    rows[0, 0] = 1.0
    assert write_commands(Commands(1, True, -1, rows))["same"][:8] == bytes.fromhex("000000000000f03f")
    assert write_telemetry(Telemetry(1, 0, 0, 0, rows[0], [], 0))["state"][:8].hex() == "000000000000f03f"
