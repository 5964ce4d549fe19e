"""Both sides of the haptic loop in virtual time, with a network between them.

What decides is the product: the bridge with its guard, engagement, watchdog, pacer and link, the codec, the
server's port and session, and the kernels of the state machine.  Modelled are the clock, the sockets, the
handle, and the threads.
"""

from __future__ import annotations

import dataclasses
import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import pytest
from hapticsim_devices.base import FIRST, READY, ZERO, DeviceInfo, DeviceSample, Driver, Vector
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.limits import device_limits
from hapticsim_devices.watchdog import Watchdog

from hapticsim.assemble.assembly import Assembly
from hapticsim.server.device_session import DeviceSession
from hapticsim.server.server import terms_of
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.device.port import DevicePort
from tests.virtual_server import Loop, Wire
from tests.virtual_wire import DeviceEnd, Lane, ServerEnd, World

LIMIT_N, SLEW_N_PER_S = 9.0, 2000.0
FOR_EVER_S = 1.0  # longer than any silence of an episode
CLOCKS = (
    "hapticsim_devices.bridge", "hapticsim_devices.pacing", "hapticsim_devices.watchdog",
    "hapticsim.server.device_session", "hapticsim.wire.device.link", "hapticsim.wire.device.port",
)  # fmt: skip


class Witness(Protocol):
    """Whoever watches the device's side, and the ticks of the server."""

    def measured(self, sample: DeviceSample) -> None: ...
    def engaged(self) -> None: ...
    def heard(self) -> None: ...
    def wrote(self, force_N: Vector) -> None: ...
    def ticked(self) -> None: ...


class WatchedLink(DeviceLink):
    """A link that tells when it asks for force."""

    witness: Witness

    def arm(self) -> bool:
        self.witness.engaged()
        return super().arm()


class Handle(Driver):
    """A device that moves slowly, with buttons and flags as the test wants them; a read can hang."""

    name = "handle"

    def __init__(self, world: World, witness: Witness, hold_to_run: int) -> None:
        self._world, self._witness, self._hold_to_run = world, witness, hold_to_run
        self.buttons, self.flags, self.hangs_until_ns = FIRST, READY, 0
        self.force_N = ZERO

    @property
    def info(self) -> DeviceInfo:
        limits = device_limits("omega_3")
        return DeviceInfo("handle", "omega_3", limits, 3, 3, 1000.0, True, hold_to_run=self._hold_to_run)

    def open(self) -> None: ...

    def read(self, now_s: float) -> DeviceSample:
        world, buttons, flags = self._world, self.buttons, self.flags
        if world.now_ns < self.hangs_until_ns:
            world.stopped_until_ns = max(world.stopped_until_ns, self.hangs_until_ns)
            world.stand_still()
        x_m = 0.04 * math.sin(10.0 * world.monotonic())  # the hand moves on while a read hangs
        sample = DeviceSample(now_s, (x_m, 0.0, 0.0), buttons=buttons, flags=flags)
        sample.force_N = self.force_N
        self._witness.measured(sample)
        return sample

    def write(self, force_N: Vector) -> Vector:
        self.force_N = force_N
        self._witness.wrote(force_N)
        return force_N

    def close(self) -> None: ...


class BothSides:
    """A bridge and a server that know each other by the wire only.

    A server that ``forgets`` resumes after any silence, whatever its welcome says.
    """

    def __init__(
        self,
        world: World,
        witness: Witness,
        assembly: Assembly,
        terms: dict[str, float],
        hold_to_run: int,
        forgets: bool,
    ) -> None:
        safety = dataclasses.replace(
            assembly.scene.safety, force_limit_N=LIMIT_N, slew_limit_N_per_s=SLEW_N_PER_S, **terms
        )
        welcome = terms_of(dataclasses.replace(assembly.scene, safety=safety))
        if forgets:
            terms = terms | {"resume_within_s": FOR_EVER_S}
        scene = dataclasses.replace(assembly.scene, safety=dataclasses.replace(safety, **terms))
        plan = (
            dict(assembly.plan.items()) | terms | {"slew_limit_N_per_s": SLEW_N_PER_S, "coupled_rotation": 0}
        )
        assembly = dataclasses.replace(assembly, scene=scene, plan=type(assembly.plan)(**plan))
        self.world, self.up, self.down = world, Lane(world), Lane(world)
        self.handle, self.loop = Handle(world, witness, hold_to_run), Loop(world, assembly, witness.ticked)
        with virtual_time(self, witness):
            link = WatchedLink("virtual", self.handle.info.hello())
            link.witness = witness
            self.bridge = Bridge(self.handle, link, stream=io.StringIO())
            port = DevicePort("virtual", welcome)
        loop: Any = self.loop
        session = DeviceSession(scene, loop, port, lambda sentence: None)
        self.ticks = world.add(self.loop.ticks())
        self.wire = Wire(world, session, port, self.loop, self.up).party
        self.watchdog = world.add(watch(world, self.bridge._watchdog))

    def run(self, witness: Witness) -> None:
        """Find the server and tick, until the bridge is stopped."""
        with virtual_time(self, witness):
            while (welcome := self.bridge.link.try_connect()) is None:
                self.world.sleep(0.001)
            self.bridge._loop(welcome, None)


def watch(world: World, watchdog: Watchdog) -> Iterator[int]:
    """The thread of the bridge's watchdog."""
    while True:
        yield world.late(world.now_ns + round(watchdog.look() * 1e9))


@contextmanager
def virtual_time(sides: BothSides, witness: Witness) -> Iterator[None]:
    """The clock, the sockets and the watchdog's thread replaced."""
    with pytest.MonkeyPatch.context() as patch:
        for module in CLOCKS:
            patch.setattr(f"{module}.time", sides.world)
        device_end = DeviceEnd(sides.up, sides.down, witness.heard)
        server_end = ServerEnd(sides.up, sides.down)
        patch.setattr("hapticsim.wire.device.link.connect_dealer", lambda *_, **__: device_end)
        patch.setattr("hapticsim.wire.device.port.bind_router", lambda *_, **__: server_end)
        patch.setattr(Watchdog, "start", lambda self: None)
        yield
