"""A whole server and a whole bridge in virtual time, and a hand that holds the device.

All of both sides is what runs against the clock: the bridge with its guard, the codec, session and port of
the server, the compiled loop.  Replaced are the clock, the sockets and the motors.  A millisecond is one tick
of the bridge, then one of the loop half a millisecond later, whose force waits for the bridge's next tick.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any

from hapticsim_devices.base import DISENGAGE, ENGAGE, ZERO, DeviceSample, Vector
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from campaign.kinds import Trial
from campaign.sockets import Road, virtual_sockets
from campaign.virtual_time import VirtualClock, VirtualLoop
from hapticsim.assemble.initial_check import assemble_start
from hapticsim.codes import Safety
from hapticsim.server.device_session import DeviceSession
from hapticsim.server.server import terms_of
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.device.port import DevicePort

SCENE = Path(__file__).parents[2] / "configs" / "wam_table.yaml"
MS_NS, HALF_NS = 1_000_000, 500_000
RAMP_S = 0.05
LEAST_FORCE_N = 0.5
FORCEFUL = (Safety.ARMING, Safety.ARMED)
SWAY = {  # to and fro, so that there is force
    "waypoints": [{"time_s": 0.25 * i, "position_m": [0.03 * (-1) ** i, 0.0, 0.0]} for i in range(5)],
    "presses": [],
    "repeat": True,
}


class Held(Scripted):
    """The emulated device, with a hook into each measurement and each command, and a log of the motors."""

    def __init__(self, options: dict[str, Any]) -> None:
        super().__init__(options)
        self.buttons = 0
        self.spoil: Callable[[DeviceSample], DeviceSample] = lambda sample: sample
        self.on_write: Callable[[Vector], None] = lambda force: None
        self.on_torque: Callable[[Vector], None] = lambda torque: None
        self.given: Vector = ZERO  # what the motors have

    def read(self, now_s: float) -> DeviceSample:
        sample = super().read(now_s)
        sample.buttons = self.buttons
        return self.spoil(sample)

    def write(self, force_N: Vector) -> Vector:
        self.on_write(force_N)
        self.given = super().write(force_N)
        return self.given

    def write_torque(self, torque_Nm: Vector) -> Vector:
        self.on_torque(torque_Nm)
        return super().write_torque(torque_Nm)


class OneTurn:
    """An event that stops a thread's loop after one turn."""

    def __init__(self) -> None:
        self._left = 1

    def is_set(self) -> bool:
        self._left -= 1
        return self._left < 0


class Rig:
    """Both sides; ``step`` takes a millisecond.

    Parameters
    ----------
    options : of the scripted hand.
    hold_to_run : buttons of which one must stay down for force; the hand begins with them down.
    coupler : settings of the scene's coupler.
    terms : changes what the server welcomes a device with.

    Public attributes: ``up`` and ``down`` (roads to and from the server), ``driver``, ``bridge``, ``port``,
    ``loop``, ``said`` (by the server), what runs: ``device_runs``, ``server_runs``, ``loop_runs``; and
    ``spent``: it is of no use any more (a bridge that ended, for one).
    """

    def __init__(
        self,
        options: dict[str, Any] | None = None,
        terms: Callable[[Any], Any] | None = None,
        hold_to_run: int = 0,
        **coupler: Any,
    ) -> None:
        base = hs.load(SCENE)
        self.scene = replace(
            base, safety=replace(base.safety, ramp_s=RAMP_S), coupler=replace(base.coupler, **coupler)
        )
        self._options, self._terms = options or SWAY, terms or (lambda given: given)
        self._hold_to_run = hold_to_run
        self._stack = ExitStack()

    def __enter__(self) -> Rig:
        self.clock = self._stack.enter_context(VirtualClock().installed())
        self.up, self.down = (Road(lambda: self.clock.now_ns) for _ in range(2))
        self.assembly = assemble_start(self.scene)
        self.scene = self.assembly.scene
        self.loop = VirtualLoop(self.assembly, self._half)
        self._stack.callback(self.loop.end)
        self.said: list[str] = []
        self.driver = Held(self._options)
        with virtual_sockets(self.up, self.down):
            self.port = DevicePort("virtual", self._terms(terms_of(self.scene)))
            self.link = DeviceLink("virtual", self.driver.info.hello())
        self.session = DeviceSession(self.scene, self.loop, self.port, self.said.append)
        self.stream = io.StringIO()
        self.bridge = Bridge(self.driver, self.link, stream=self.stream, hold_to_run=self._hold_to_run)
        self.driver.buttons = self._hold_to_run
        self.driver.open()
        self.device_runs = self.server_runs = self.loop_runs = True
        self.spent = False
        self.server_asleep_ns = (
            0  # how long the server's computer has been suspended; the clock has the other's
        )
        self._ticked = False
        self._last_s = 1e-9 * self.clock.now_ns
        self.limit_N = self.driver.info.limits.max_force_N
        self.slew_N_per_s = self.scene.safety.slew_limit_N_per_s
        self.watch()
        self.loop.begin(self.clock.now_ns)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    # -- time ------------------------------------------------------------------------------------------------

    def step(self, times: int = 1) -> None:
        """Take milliseconds."""
        for _ in range(times):
            self.clock.now_ns += MS_NS
            self._ticked = False
            if self.device_runs:
                self._tick_device()
            if self.server_runs:
                self.session.run(OneTurn(), False)  # type: ignore[arg-type]
            self._half()
            self.clock.now_ns -= HALF_NS
            self._look()

    def _half(self) -> None:
        """The loop's tick, halfway between two of the bridge."""
        if not self._ticked:
            self._ticked = True
            self.clock.now_ns += HALF_NS
            if self.loop_runs:
                self.loop.advance(self.clock.now_ns, self.server_asleep_ns)

    def _tick_device(self) -> None:
        now_s = 1e-9 * self.clock.now_ns
        before = self.driver.given
        try:
            self.bridge._tick(now_s, now_s - self._last_s)
        except Exception:  # what run() does with an exception of the driver
            self.device_runs, self.spent = False, True
            with suppress(Exception):
                self.bridge._leave()
        if self.bridge._welcome is None:
            self.bridge._look_again()
        self._weigh(before, self.driver.given, now_s - self._last_s)
        self._last_s = now_s

    # -- what is seen ----------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Forget what was seen, and look anew."""
        self.largest_N = self.step_N = self.step_share = 0.0
        self.struck_ns = self.clock.now_ns
        self.device_ns = self.server_ns = -1
        self.forces = self.commands = 0  # ms with force since, on either side

    def _weigh(self, before: Vector, after: Vector, elapsed_s: float) -> None:
        size = math.hypot(*after)
        self.largest_N = max(self.largest_N, size)
        if size > 0.0:
            step = math.dist(before, after)
            allowed = self.slew_N_per_s * max(elapsed_s, 1e-3)
            self.step_N = max(self.step_N, step)
            self.step_share = max(self.step_share, step / allowed)
        if not math.isfinite(size):
            self.step_share = math.inf

    def _look(self) -> None:
        now_ns = self.clock.now_ns
        if self.driver.given == ZERO:
            self.device_ns = now_ns if self.device_ns < 0 else self.device_ns
        else:
            self.device_ns, self.forces = -1, self.forces + 1
        if not self.server_gives:
            self.server_ns = now_ns + HALF_NS if self.server_ns < 0 else self.server_ns
        else:
            self.server_ns, self.commands = -1, self.commands + 1

    @property
    def mode(self) -> Safety:
        return Safety(self.loop.read_force()[1])

    @property
    def is_softened(self) -> bool:
        """Whether the coupler became softer, until the hand engages again: forces came late."""
        late = self.session._late
        return late is not None and late.share < 1.0

    @property
    def server_gives(self) -> bool:
        force, mode, *_ = self.loop.read_force()
        return mode in FORCEFUL and bool(force.any())

    def trial(self, device: bool = True, server: bool = True) -> Trial:
        """What was seen since ``watch``; with the times of the sides that had to give zero."""

        def after_s(at_ns: int) -> float:
            return 1e-9 * (at_ns - self.struck_ns) if at_ns >= 0 else math.inf

        return Trial(
            device_s=after_s(self.device_ns) if device else math.nan,
            server_s=after_s(self.server_ns) if server else math.nan,
            largest_N=self.largest_N,
            limit_N=self.limit_N,
            step_N=self.step_N,
            step_share=self.step_share,
        )

    # -- the hand --------------------------------------------------------------------------------------------

    def press(self, button: int, ms: int = 5) -> None:
        """Press a button for a while."""
        self.driver.buttons |= button
        self.step(ms)
        self.driver.buttons &= ~button
        self.step(2)

    def engage(self, within_ms: int = 800) -> bool:
        """Press ENGAGE until there is force; False if it never comes."""
        for _ in range(within_ms // 107 + 1):
            self.press(ENGAGE)
            for _ in range(100):
                self.step()
                if self.mode == Safety.ARMED and math.hypot(*self.driver.given) > 0.0:
                    return True
        return False

    def disengage(self) -> None:
        self.press(DISENGAGE)

    def pushing(self, rng: random.Random) -> bool:
        """Engage where there is no force, go on for a random while, and to a moment with force."""
        if self.mode != Safety.ARMED and not self.engage():
            return False
        self.step(rng.randrange(1, 100))
        for _ in range(600):
            if self.mode == Safety.ARMED and math.hypot(*self.driver.given) > LEAST_FORCE_N:
                return True
            self.step()
        return False
