"""The buttons of a device, over the wire: one switches a constraint, one must stay down for force."""

from __future__ import annotations

import threading
import time

import numpy as np
from hapticsim_devices.base import ENGAGE, FIRST, ZERO
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.recording.reader import read_recording
from hapticsim.wire.device.link import DeviceLink
from tests.four_bar import FOUR_BAR
from tests.processes import PUSH, START_S, eventually
from tests.runs.test_visit import publish_endpoint


class Talking(threading.Thread):
    """A device that says a thousand times a second which buttons are down."""

    def __init__(self, endpoint: str) -> None:
        super().__init__(daemon=True)
        self.buttons, self.sent = 0, 0
        self._endpoint, self._over = endpoint, threading.Event()
        self.start()

    def run(self) -> None:
        with DeviceLink(self._endpoint, Scripted().info.hello()) as link:
            link.connect(20.0)
            while not self._over.wait(0.001):
                self.sent += link.send_state(ZERO, ZERO, buttons=self.buttons)

    def hold(self, buttons: int) -> None:
        """Report these for 100 more messages."""
        self.buttons, until = buttons, self.sent + 100
        eventually(lambda: self.sent > until)

    def end(self) -> None:
        self._over.set()
        self.join(5.0)


def test_a_button_switches_a_constraint_once_per_press_and_the_event_says_so(place):
    scene = place.folder / "four_bar.yaml"
    scene.write_text(f"{FOUR_BAR}switch_on_button: {{brake: first, stop: second}}\n")
    server = place.start("serve", scene)
    server.hears("control endpoint", START_S)
    with hs.Subscriber(publish_endpoint(place), ("state", "events")) as observer:
        assert observer.latest("state", START_S) is not None

        def hold() -> str:
            return observer.latest("state", 5.0)["constraints"][1]["hold"]

        device = Talking(f"ipc://{place.folder}/hapticsim/device.sock")
        try:
            eventually(lambda: device.sent > 50)
            assert hold() == "free"
            device.hold(FIRST)
            eventually(lambda: hold() == "held")
            device.hold(FIRST)  # a thumb that stays
            device.hold(0)
            assert hold() == "held"
            device.hold(FIRST | ENGAGE)
            eventually(lambda: hold() == "free")
            device.hold(0)
            device.hold(2 * FIRST)  # the second button, of what is out of reach
            server.hears("'stop' was not imposed: it is out of reach: bring the mechanism")
        finally:
            device.end()
        time.sleep(0.1)
        told = [m.payload for m in iter(observer.receive, None) if m.topic == "events"]
    switched = [e["text"] for e in told if e["kind"] == "switch"]
    assert switched == ["'brake' holds", "'brake' is free"]
    assert server.stop() == 0


def test_a_scene_names_the_button_that_must_stay_down_for_force(place):
    """The scripted hand holds the first button for 2.5 s, and clicks to engage while it is up as well."""
    clicks = [{"time_s": 0.3 + 0.4 * n, "button": "engage", "hold_s": 0.1} for n in range(12)]
    held = {"time_s": 0.9, "button": "first", "hold_s": 2.5}
    device = {"driver": "scripted", "options": {**PUSH, "presses": [held, *clicks]}, "hold_to_run": "first"}
    program = place.run("run", place.scene(device=device), "--seconds", "4.5", "--record", "r.mcap")
    assert program.said.count("the hold-to-run button is up; force is zero until you engage again") == 2
    recording = read_recording(place.folder / "r.mcap")
    force = np.linalg.norm([recording.column(f"hand_force_{axis}_N") for axis in "xyz"], axis=0)
    felt = np.flatnonzero(force > 0.0)
    assert force.max() > 3.0 and felt[-1] - felt[0] < 2600, "no click gives force while the button is up"
    assert felt[-1] < len(force) - 500
    assert np.all(recording.column("safety")[felt[-1] + 10 :] == Safety.DISARMED)
