"""The real-time loop stands still for a while: what leaves for the device meanwhile, and afterwards.

The loop's thread is stopped by a signal whose handler sleeps: the wire thread and the device run on, as they
do when a computer takes one processor away.
"""

from __future__ import annotations

import ctypes
import itertools
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from numba import cfunc, types

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.codes import DeviceFlag, Fault, Safety
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.server.device_session import DeviceSession
from hapticsim.wire.device.port import News
from hapticsim.wire.device.round_trip import RoundTrip
from hapticsim.wire.messages.device import Hello, State
from tests.processes import CONFIGS

pytestmark = pytest.mark.clock

HELLO = Hello("bench", "scripted", "omega_3", 12.0, 5000.0, 30.0, 0.075, 0.2, 1e-5, 1000.0, 3, 3, True)
SLEEP = types.ExternalFunction("usleep", types.int32(types.uint32))
STALL_US = 25_000
SLEW_N = 2.0  # in a tick, as the scene says
WALL_m = 0.08  # the puck stops there


@cfunc(types.void(types.int32))
def stand_still(_number):
    SLEEP(STALL_US)


class Pusher:
    """A port whose device leans on the wall with 8 N, and keeps every force that is sent to it."""

    def __init__(self) -> None:
        self.device = SimpleNamespace()
        self.round_trip = RoundTrip()  # nothing is measured, so no coupler becomes softer
        self.sent: list[tuple[float, float, Safety, Fault]] = []
        self.arm = self.joined = False
        self.x = 0.0
        self._began = time.monotonic()

    def poll(self, timeout_s: float) -> News:
        time.sleep(0.001)
        self.x = min(0.2 * max(time.monotonic() - self._began - 0.3, 0.0), WALL_m + 0.01)
        state = State(
            (self.x, 0, 0), (1, 0, 0, 0), (0, 0, 0), (0, 0, 0), 0, (0, 0, 0), DeviceFlag.READY, None
        )
        state.stamp_ns = time.monotonic_ns()
        news = News(state=state, joined=None if self.joined else HELLO, arm=self.arm)
        self.joined, self.arm = True, False
        return news

    def send_force(self, force: list[float], mode: int, fault: int, torque: object = None) -> None:
        self.sent.append((time.monotonic(), float(np.linalg.norm(force)), Safety(mode), Fault(fault)))


class Run:
    """Loop and session at work."""

    def __init__(self, resume_within_s: float) -> None:
        scene = hs.load(CONFIGS / "puck_and_wall.yaml")
        safety = replace(scene.safety, resume_within_s=resume_within_s, ramp_s=0.1)
        scene = replace(scene, safety=safety)
        self.loop, self.port, self.stop = RealTimeLoop(assemble(scene)), Pusher(), threading.Event()
        session = DeviceSession(scene, self.loop, self.port, print)
        self.thread = threading.Thread(target=session.run, args=(self.stop, True), daemon=True)

    def __enter__(self) -> Run:
        self.loop.start()
        self.thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop.set()
        self.thread.join()
        self.loop.stop()

    def presses(self) -> bool:
        """Arm, and see whether the device leans on the wall a second later."""
        time.sleep(0.1)
        self.port.arm = True
        time.sleep(1.0)
        return self.is_pressing and self.port.x > WALL_m + 0.009

    @property
    def is_pressing(self) -> bool:
        return self.mode is Safety.ARMED and self.port.sent[-1][1] > 4.0

    @property
    def mode(self) -> Safety:
        return self.port.sent[-1][2]

    def stall(self) -> None:
        """Stop the thread of the loop for a while."""
        libc = ctypes.CDLL(None)
        libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        libc.signal(int(signal.SIGUSR2), stand_still.address)
        assert self.loop._thread is not None and self.loop._thread.ident is not None
        signal.pthread_kill(self.loop._thread.ident, signal.SIGUSR2)


@contextmanager
def pressing(resume_within_s: float) -> Iterator[Run]:
    """A run that is armed and leans on the wall.

    A host that stands still may take the force away before a test does.  What is armed again then has no
    force where the device stands: so another run begins.
    """
    for _ in range(5):
        with Run(resume_within_s) as run:
            if run.presses():
                yield run
                return
            last = run.port.sent[-1]
    raise AssertionError(f"never pressed: {last}")


def check(run: Run, since: float) -> list[tuple[float, float, Safety, Fault]]:
    """What was sent: no force but zero is further than the slew from the one before."""
    sent = [s for s in run.port.sent if s[0] >= since]
    for before, after in itertools.pairwise(sent):
        ticks = max(round((after[0] - before[0]) / 0.001), 1) + 1
        assert after[1] == 0.0 or abs(after[1] - before[1]) <= SLEW_N * ticks, (before, after)
    return sent


def test_a_stall_of_25_ms_is_ridden_through_with_a_ramp_from_zero():
    with pressing(resume_within_s=0.1) as run:
        since = time.monotonic()
        run.stall()
        time.sleep(0.3)
        give_up = time.monotonic() + 3.0  # the host may take the force away once more meanwhile
        while not run.is_pressing and time.monotonic() < give_up:
            time.sleep(0.05)
        sent = check(run, since)
        modes = [s[2] for s in sent]
        first = modes.index(Safety.INTERRUPTED)
        assert sent[first][1] == 0.0 and sent[first][0] - since < 0.010 + 0.003
        back = next(s for s in sent[first:] if s[1] > 0.0)
        assert back[2] is Safety.ARMING and back[1] < 1.0, "from zero, not 10 N in one message"
        assert modes[-1] is Safety.ARMED and sent[-1][1] > 4.0
        stats = run.loop.statistics()
        assert stats["interruptions"] >= 1 and 20.0 < stats["longest_interruption_ms"] < 100.0
        gaps = run.loop.drain()[:, PLACE["tick_gap_s"]]
        assert gaps.max() > 0.024


def test_without_ride_through_a_stall_is_a_fault_that_stays():
    with pressing(resume_within_s=0.0) as run:
        since = time.monotonic()
        run.stall()
        time.sleep(0.3)
        sent = check(run, since)
        first = [s[2] for s in sent].index(Safety.FAULT)
        assert all(s[1] == 0.0 for s in sent[first:])
        assert all(s[2] is Safety.FAULT and s[3] & Fault.STALLED for s in sent[first:])


def test_four_stalls_in_a_row_end_in_force_or_without_but_never_with_a_step():
    with pressing(resume_within_s=0.1) as run:
        since = time.monotonic()
        for pause_s in (0.03, 0.012, 0.05, 0.2):
            run.stall()
            time.sleep(pause_s)
        time.sleep(0.4)
        sent = check(run, since)
        assert any(s[1] == 0.0 for s in sent)
