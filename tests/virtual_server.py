"""The two threads of a server that serve a device, in virtual time.

The session and the kernels of the state machine are the product's; a tick is the state machine and the
command for the hand alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hapticsim_devices.base import READY, ZERO

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import Fault, Safety
from hapticsim.realtime.force_wait import LOOK_NS
from hapticsim.server.device_session import POLL_S, DeviceSession
from hapticsim.wire.device.port import DevicePort
from tests.safety_kernels import command_hand, update_safety
from tests.virtual_wire import Lane, World

PERIOD_NS = 1_000_000
PULL_N = 20.0  # of the coupler on each axis at most, before the clamp
NEW_PULL = 0.03  # chance of another pull in a tick
RUNAWAY = 10.0  # times the force that the loop gave


class Loop:
    """In place of RealTimeLoop: its slots, and ticks of the state machine alone."""

    def __init__(self, world: World, assembly: Assembly, ticked: Callable[[], None]) -> None:
        self.assembly, self.torque, self._ticked = assembly, np.zeros(3), ticked
        self.state, self._inp = assembly.new_state(), assembly.new_input()
        self.state.origin_W[:] = 0.0
        self._world, self._pull = world, (1.0, 0.0, 0.0)
        self.runs_away_until_ns = 0
        self._last_ns = world.now_ns
        self.write_device(ZERO, ZERO, 0, False, 0, 0, 0.0, None, None, READY)
        self._force = (np.zeros(3), Safety.DISARMED, Fault.NONE, 0, world.monotonic(), 0.0)

    def write_device(self, *sample: Any) -> None:
        self._position, self._velocity, self._stamp_ns, self._present, *self._asked = sample[:6]
        self._sender_s, self._flags = sample[6], int(sample[9])

    def write_gains(self, gains: np.ndarray, turning: Any) -> None:
        self._inp.coupler[:] = gains

    def read_force(self) -> tuple[np.ndarray, Safety, Fault, int, float, float]:
        force, mode, fault, tick, at_s, answers_s = self._force
        if self._world.now_ns < self.runs_away_until_ns:
            force = RUNAWAY * force
        return force, mode, fault, tick, at_s, answers_s

    @property
    def mode(self) -> Safety:
        return self._force[1]

    def answered(self, sender_s: float) -> bool:
        """Whether the newest tick took the sample with this stamp."""
        return self._force[5] == sender_s

    def next_deadline_ns(self) -> int:
        """Half a period after those of the bridge."""
        half_ns = PERIOD_NS // 2
        return (self._world.now_ns + half_ns) // PERIOD_NS * PERIOD_NS + half_ns

    def ticks(self) -> Iterator[int]:
        while True:
            yield self._world.late(self.next_deadline_ns())
            self._tick()

    def _tick(self) -> None:
        world, inp, state, plan = self._world, self._inp, self.state, self.assembly.plan
        if world.rng.random() < NEW_PULL:
            x, y, z = (world.rng.uniform(-1.0, 1.0) for _ in range(3))
            self._pull = PULL_N * x, PULL_N * y, PULL_N * z
        age_s = max(1e-9 * (world.now_ns - self._stamp_ns), 0.0)
        inp.device[:] = (*self._position, *self._velocity, age_s, self._present)
        inp.gap[:] = 1e-9 * (world.now_ns - self._last_ns), 0.0
        inp.requests[:], inp.flags[0], self._last_ns = self._asked, self._flags, world.now_ns
        update_safety(plan, state, inp, *self._position)  # the handle is where the device is
        gain, (x, y, z) = float(state.gain[0]), self._pull
        command_hand(plan, state, inp, gain * x, gain * y, gain * z)
        mode, fault, tick = Safety(int(state.safety[0])), Fault(int(state.safety[1])), self._force[3] + 1
        force = state.hand_force_D.copy()
        self._force = (force, mode, fault, tick, world.monotonic(), self._sender_s)
        self._ticked()


class Wire:
    """The wire thread, as DeviceSession.run does it."""

    def __init__(self, world: World, session: DeviceSession, port: DevicePort, loop: Loop, up: Lane) -> None:
        self._world, self._session, self._port, self._loop, self._up = world, session, port, loop, up
        self._polls = False
        self.party = world.add(self._steps())
        up.tell = self._wake

    def _wake(self, at_ns: int) -> None:
        if self._polls:
            self.party.due_ns = min(self.party.due_ns, at_ns)

    def _steps(self) -> Iterator[int]:
        while True:
            news = self._port.poll()
            if self._session._take(news):
                self._session._tell()
            if news.state is not None:
                yield from self._await_force()
                self._session._answer()
                self._session._soften()
            self._polls = True
            yield min(self._up.next_ns, self._world.now_ns + round(POLL_S * 1e9))
            self._polls = False

    def _await_force(self) -> Iterator[int]:
        """As realtime/force_wait.py does."""
        session, now_ns, deadline_ns = self._session, self._world.now_ns, self._loop.next_deadline_ns()
        last_ns = now_ns + round(session._longest_wait_s * 1e9)
        wake_ns = deadline_ns + LOOK_NS
        while deadline_ns - now_ns <= session._due_s * 1e9 and wake_ns <= last_ns:
            yield wake_ns
            if self._loop.answered(session._sender_s):
                return
            wake_ns = self._world.now_ns + LOOK_NS
