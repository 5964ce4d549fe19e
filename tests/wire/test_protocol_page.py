"""What is published has the keys that docs/protocol.md lists, topic by topic, and no others."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pygame
import pytest

from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from hapticsim.display.window import Window
from hapticsim.kernels.memory.pack import state_size
from hapticsim.kernels.memory.sample import WIDTH
from hapticsim.server.server import Server
from hapticsim.simulate.simulation import Simulation
from hapticsim.teleop.predictor import Prediction
from hapticsim.wire.messages.topics import TOPICS
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.subscriber import Subscriber
from tests import display_fake
from tests.four_bar import FOUR_BAR

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
FROM_OTHERS = {
    "pointer": {"turn"},
    "stats": {"host", "link"},
}  # what is left out here and the page says may be absent
KEYS_OF_THE_SCENE = {"sensors", "dropped"}  # maps whose keys are names of sensors, and reasons
WITH_A_FLOOR = f"""{FOUR_BAR}
shapes:
  - {{name: pin, body: crank, kind: sphere, radius_m: 0.02}}
  - {{name: floor, kind: plane, origin: {{xyz_m: [0, 0, -0.5]}}}}
contacts:
  - {{between: [pin, floor]}}
"""


def section_of(topic: str) -> str:
    return re.split(r"^##", PAGE.split(f"\n### topic {topic}\n")[1], flags=re.MULTILINE)[0]


def words(text: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", text))


def table_of(topic: str) -> dict[str, str]:
    """The first table of a topic: key -> the rest of its row."""
    table = next(part for part in section_of(topic).split("\n\n") if part.startswith("| key "))
    rows: dict[str, str] = {}
    for line in table.splitlines()[2:]:
        keys, rest = line.removeprefix("| ").split(" | ", 1)
        rows |= dict.fromkeys(words(keys), rest)
    return rows


def inner_keys(value: Any) -> set[str]:
    """Keys of all maps inside a value."""
    if isinstance(value, dict):
        return set(value) | {key for inner in value.values() for key in inner_keys(inner)}
    return {key for inner in value for key in inner_keys(inner)} if isinstance(value, list) else set()


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


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Payloads of every topic, each as its publisher makes it, that between them have every key."""
    folder = tmp_path_factory.mktemp("ends")
    scene = loads(WITH_A_FLOOR)
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
    return {
        "scene": [describer.scene(1.0, 0.1)],
        "state": [describer.state(row)],
        "events": [
            describer.event(1, Event.SWITCH, len(sim.assembly.candidates), 1.0, 0.0),
            describer.event(1, Event.SELECT, -1, 1.0, 0.0, choice),
        ],
        "stats": [stats],
        "predicted": [describer.predicted(prediction, np.zeros(state_size(sim._state)), 0.0, 0.0)],
        "pointer": [pointer],
    }


@pytest.mark.parametrize("topic", TOPICS)
def test_the_keys_of_a_topic_are_those_of_its_table(published, topic):
    keys = {key for payload in published[topic] for key in payload}
    assert keys | FROM_OTHERS.get(topic, set()) == set(table_of(topic))


@pytest.mark.parametrize("topic", TOPICS)
def test_the_keys_of_maps_inside_a_topic_are_on_the_page(published, topic):
    told = words(section_of(topic))
    for payload in published[topic]:
        for key, value in payload.items():
            if key not in KEYS_OF_THE_SCENE:
                assert inner_keys(value) <= told, key


@pytest.mark.parametrize("key", ["lateness_us", "execution_us", "round_trip_us"])
def test_the_percentiles_are_those_of_the_page(published, key):
    (stats,) = published["stats"]
    assert set(stats[key]) == words(table_of("stats")[key])


def test_a_closed_contact_and_a_row_of_a_constraint_are_among_what_is_compared(published):
    assert inner_keys(published["state"][0]["contacts"]) >= {"gap_m", "normal"}
    assert inner_keys(published["scene"][0]["constraints"]) >= {"point_a", "curve", "unit"}
