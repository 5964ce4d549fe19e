"""A state is answered with the force that knows it, where the tick is due soon; else at once."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assemble.assembly import Assembly, assemble
from hapticsim.haptics.delay import wire_delay_s
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.server.device_session import DeviceSession
from hapticsim.wire.device.port import News
from hapticsim.wire.messages.device import State
from tests.processes import CONFIGS

PERIOD_NS = 1_000_000
LATE_NS = 60_000  # a turn that came later than this after its time is not judged
TURNS = 200


class Peer:
    """A device that speaks at one phase of every period, and notes which state each force knows."""

    def __init__(self, loop: RealTimeLoop, phase_ns: int) -> None:
        self.loop, self.phase_ns = loop, phase_ns
        self.device = SimpleNamespace()
        self.knew: list[float] = []
        self.waited_s: list[float] = []
        self.in_time: list[bool] = []
        self._sent_s = 0.0
        self._stamp_ns = 0

    def poll(self, timeout_s: float) -> News:
        due = (time.monotonic_ns() // PERIOD_NS + 1) * PERIOD_NS + self.phase_ns
        while time.monotonic_ns() < due:
            time.sleep(0)
        self._sent_s = time.monotonic()
        self.in_time.append(time.monotonic_ns() - due < LATE_NS)
        self._stamp_ns += 1
        state = State((0, 0, 0), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0), 0, (0, 0, 0), 0, None)
        state.stamp_ns = self._stamp_ns
        return News(state=state)

    def send_force(self, *force: object) -> None:
        self.waited_s.append(time.monotonic() - self._sent_s)
        self.knew.append(self._stamp_ns - round(1e9 * self.loop.read_force()[5]))


class Watched(RealTimeLoop):
    """Notes how each wait for a force ended."""

    def __init__(self, assembly: Assembly) -> None:
        self.answers: list[bool] = []
        super().__init__(assembly)

    def await_force(self, *arguments: float) -> bool:
        answered = super().await_force(*arguments)
        self.answers.append(answered)
        return answered


def serve(phase_ns: int, rate_Hz: float = 1000.0) -> tuple[np.ndarray, np.ndarray, float]:
    """How many states ago the one was that each force knew, how long the state waited for it [s], and in
    which share of the times the tick that took it was waited for."""
    scene = replace(hs.load(CONFIGS / "puck_and_wall.yaml"), rate_Hz=rate_Hz)
    loop, stop = Watched(assemble(scene)), threading.Event()
    loop.answers.clear()  # a loop tries all that it does before it starts
    peer = Peer(loop, phase_ns)
    session = DeviceSession(scene, loop, peer, print)
    loop.start()
    thread = threading.Thread(target=session.run, args=(stop, True), daemon=True)
    try:
        thread.start()
        while len(peer.knew) < TURNS:
            time.sleep(0.01)
    finally:
        stop.set()
        thread.join()
        loop.stop()
    judged = np.array(peer.in_time[1 : TURNS - 1])
    knew, waited_s = np.array(peer.knew[1 : TURNS - 1]), np.array(peer.waited_s[1 : TURNS - 1])
    return knew[judged], waited_s[judged], float(np.mean(np.array(loop.answers[1 : TURNS - 1])[judged]))


def test_a_state_that_comes_before_its_tick_is_answered_by_that_tick():
    knew, waited_s, answered = serve(phase_ns=200_000)  # ticks are at 500 us
    assert answered > 0.5
    assert np.median(knew) == 0 and np.mean(knew == 0) > 0.9
    assert 0.0003 < np.median(waited_s) < 0.0006


def test_a_state_that_comes_after_the_tick_is_answered_at_once_with_what_there_is():
    knew, waited_s, _ = serve(phase_ns=600_000)
    assert np.median(knew) == 1
    assert np.median(waited_s) < 0.0003


def test_one_state_in_ten_waits_for_a_loop_at_100_hz_the_one_before_its_tick():
    _, waited_s, answered = serve(phase_ns=0, rate_Hz=100.0)
    assert 0.05 < answered < 0.2
    assert 0.05 < np.mean(waited_s > 0.0003) < 0.2 and np.median(waited_s) < 0.0003


def test_a_loop_faster_than_python_is_not_waited_for():
    _, waited_s, answered = serve(phase_ns=0, rate_Hz=4000.0)
    assert answered == 0.0 and np.median(waited_s) < 0.0003


@pytest.mark.parametrize(
    ("rate_Hz", "delay_s"),
    [
        (100.0, 0.01),
        (500.0, 0.002),
        (800.0, 0.0025),
        (1000.0, 0.001),
        (2000.0, 0.0006),
        (2500.0, 0.0008),
        (4000.0, 0.0006),
    ],
)
def test_the_gains_count_with_the_delay_of_the_wire(rate_Hz, delay_s):
    scene = replace(hs.load(CONFIGS / "puck_and_wall.yaml"), rate_Hz=rate_Hz)
    assert wire_delay_s(scene) == pytest.approx(delay_s)
