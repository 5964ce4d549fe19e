"""The bridge against a server made by hand from a ROUTER, which can misbehave.

The same file run as a program is that server in a process of its own, so that it can be stopped and killed.
"""

from __future__ import annotations

import io
import math
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
import zmq
from hapticsim_devices.base import DISENGAGE, ENGAGE, READY, ZERO, DeviceInfo, DeviceSample, Driver, Vector
from hapticsim_devices.bridge import Bridge
from hapticsim_devices.limits import device_limits
from hapticsim_devices.report import BridgeReport

from hapticsim.codes import Safety
from hapticsim.errors import DeviceError, WireError
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import (
    Arm,
    Bye,
    DeviceFlag,
    Disarm,
    Force,
    Hello,
    Message,
    Reject,
    State,
    Welcome,
)

TIMEOUT_S = 0.010
SHARED_MACHINE_S = (
    0.005  # what a busy neighbour may hold back a single wake-up; medians get no such allowance
)
PUSH: Vector = (0.0, 0.0, 3.0)


class FakeServer(threading.Thread):
    """Welcomes one device, answers each state with a force, and breaks rules when told to."""

    def __init__(
        self,
        endpoint: str,
        *,
        refuse: str = "",
        mode: Safety = Safety.DISARMED,
        terms: Welcome | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self.endpoint, self.refuse, self.mode = endpoint, refuse, mode
        self.terms = terms or Welcome(1000.0, TIMEOUT_S, 8.0, 1e6)
        self.force: Vector = PUSH
        self.torque: Vector = ZERO
        self.obedient = True  # changes mode when asked to
        self.silent = False
        self.session_error = 0
        self.seen: list[Message] = []
        self.last_force_s = math.nan
        self._number = 0
        self._session = 0
        self._greeted = False  # welcomed, and nothing else heard since
        self._over = threading.Event()
        self._ready = threading.Event()
        self.start()
        assert self._ready.wait(5.0)

    def run(self) -> None:
        with zmq.Context() as context, context.socket(zmq.ROUTER) as socket:
            socket.setsockopt(zmq.LINGER, 0)
            socket.bind(self.endpoint)
            self._ready.set()
            while not self._over.is_set():
                if socket.poll(5):
                    peer, frame = socket.recv_multipart()
                    self._take(socket, peer, decode(frame))

    def _take(self, socket: zmq.Socket[bytes], peer: bytes, message: Message) -> None:
        self.seen.append(message)
        if not isinstance(message, Hello):
            self._greeted = False
        if isinstance(message, Hello):
            again = self._greeted and not self.refuse  # it repeated itself while our answer was under way
            self._session += 0 if again else 1
            self._greeted = True
            if self.refuse:
                self._send(socket, peer, Reject(self.refuse), 0, message.stamp_ns)
            else:
                if self._session > 1 and not again:
                    self.mode = Safety.DISARMED
                self._send(socket, peer, self.terms, self._session, message.stamp_ns)
        elif isinstance(message, Arm) and self.obedient:
            self.mode = Safety.ARMED
        elif isinstance(message, Disarm) and self.obedient:
            self.mode = Safety.DISARMED
        elif isinstance(message, State) and not self.silent:
            interrupted = message.flags & DeviceFlag.WATCHDOG and self.mode == Safety.ARMED and self.obedient
            force = Force(self.force, self.torque, int(Safety.INTERRUPTED if interrupted else self.mode), 0)
            self._send(socket, peer, force, self._session + self.session_error, message.stamp_ns)
            self.last_force_s = time.monotonic()

    def _send(self, socket, peer: bytes, message: Message, session: int, echo_ns: int) -> None:
        self._number += 1
        message.session, message.number, message.echo_ns = session, self._number, echo_ns
        message.stamp_ns = time.monotonic_ns()
        socket.send_multipart([peer, encode(message)])

    def count(self, kind: type[Message]) -> int:
        return sum(isinstance(m, kind) for m in list(self.seen))

    def end(self) -> None:
        self._over.set()
        self.join(2.0)


class RecordingDriver(Driver):
    """Reports what it is told to, remembers every write."""

    name = "recording"

    def __init__(self, options=None) -> None:
        limits = device_limits("omega_3")
        self._info = DeviceInfo("recording", "omega_3", limits, 3, 3, 1000.0, False)
        self.buttons = 0
        self.position: Vector = (0.01, 0.0, 0.0)
        self.flags = READY
        self.fail: Exception | None = None
        self.writes: list[tuple[float, Vector]] = []
        self.modes: list[int] = []
        self.opened = self.closed = 0

    @property
    def info(self) -> DeviceInfo:
        return self._info

    def open(self) -> None:
        self.opened += 1

    def read(self, now_s: float) -> DeviceSample:
        if self.fail is not None:
            raise self.fail
        return DeviceSample(now_s, self.position, buttons=self.buttons, flags=self.flags)

    def write(self, force_N: Vector) -> Vector:
        self.writes.append((time.monotonic(), force_N))
        return force_N

    def notice(self, mode: int, fault: int) -> None:
        self.modes.append(mode)

    def close(self) -> None:
        self.closed += 1

    def press(self, button: int) -> None:
        """Hold a button for some ticks."""
        self.buttons = button
        time.sleep(0.03)
        self.buttons = 0
        time.sleep(0.03)


class Running:
    """A bridge in a thread, and what became of it."""

    def __init__(self, endpoint: str, *, driver: RecordingDriver | None = None, **options) -> None:
        self.driver, self.stop = driver or RecordingDriver(), threading.Event()
        self.stream = options.pop("stream", None) or io.StringIO()
        link = DeviceLink(endpoint, self.driver.info.hello(), retry_s=0.05, lost_after_s=0.15)
        self.bridge = Bridge(self.driver, link, stop=self.stop, stream=self.stream, **options)
        self.error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.bridge.run()
        except (DeviceError, WireError) as error:
            self.error = error

    def join(self) -> BridgeReport:
        self._thread.join(5.0)
        assert not self._thread.is_alive()
        return self.bridge.report

    def end(self) -> BridgeReport:
        self.stop.set()
        return self.join()

    @property
    def newest(self) -> Vector:
        return self.driver.writes[-1][1] if self.driver.writes else ZERO


@contextmanager
def running(endpoint: str, server: FakeServer | None = None, **options) -> Iterator[Running]:
    run = Running(endpoint, **options)
    try:
        yield run
    finally:
        run.end()
        if server is not None:
            server.end()


def eventually(claim: Callable[[], object], within_s: float = 3.0) -> None:
    give_up = time.monotonic() + within_s
    while not claim():
        assert time.monotonic() < give_up, "it never happened"
        time.sleep(0.002)


def armed(run: Running) -> None:
    """Wait for the session and engage; anew where the machine made a silence, which took the force."""
    guard, modes = run.bridge._guard, run.driver.modes

    def is_still(silences: int) -> bool:
        return guard.silences > silences and not guard.held and modes[-1:] == [Safety.DISARMED]

    def is_decided(silences: int) -> bool:
        return run.newest == PUSH or is_still(silences)

    for _ in range(5):
        silences = guard.silences  # read first: one that begins after the look is counted
        eventually(lambda: is_still(-1))
        run.driver.press(ENGAGE)
        eventually(partial(is_decided, silences))
        if run.newest == PUSH:
            return
    raise AssertionError(f"no force after five engages: {run.stream.getvalue()}")


@pytest.fixture
def endpoint(tmp_path: Path) -> str:
    return f"ipc://{tmp_path}/device.sock"


def test_the_device_introduces_itself_and_reports_at_the_servers_rate(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server):
        eventually(lambda: server.count(State) > 10)
        before, started = server.count(State), time.monotonic()
        time.sleep(0.5)
        rate = (server.count(State) - before) / (time.monotonic() - started)
    hello = next(m for m in server.seen if isinstance(m, Hello))
    state = next(m for m in server.seen if isinstance(m, State))
    assert (hello.driver, hello.model, hello.max_force_N) == ("recording", "omega_3", 12.0)
    assert state.position_m == (0.01, 0.0, 0.0)
    assert 600.0 < rate < 1010.0  # skipped deadlines on a busy machine, never a burst


def test_force_flows_only_after_the_hand_engaged(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        eventually(lambda: len(run.driver.writes) > 50)
        assert all(force == ZERO for _, force in run.driver.writes)
        armed(run)
        assert run.driver.modes[-1] == Safety.ARMED
    assert run.bridge.report.largest_force_N == pytest.approx(3.0)


def test_the_force_is_clamped_to_the_servers_limit_when_that_is_lower(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        server.force = (100.0, 0.0, 0.0)
        eventually(lambda: run.newest[0] > 3.0)
        time.sleep(0.05)
        assert run.newest == pytest.approx((8.0, 0.0, 0.0))


def test_engaging_asks_once_and_only_a_server_that_is_still(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        asked = server.count(Arm), server.count(Disarm)
        run.driver.press(ENGAGE)
        assert server.count(Arm) == asked[0]
        run.driver.press(DISENGAGE)
        eventually(lambda: run.newest == ZERO)
        assert server.count(Disarm) == asked[1] + 1
        server.mode = Safety.FAULT
        eventually(lambda: run.driver.modes[-1] == Safety.FAULT)
        run.driver.press(ENGAGE)
        assert server.count(Arm) == asked[0] + 1


def test_a_server_that_is_armed_already_gives_no_force_to_a_new_device(endpoint):
    server = FakeServer(endpoint, mode=Safety.ARMED)
    server.obedient = False
    with running(endpoint, server) as run:
        eventually(lambda: server.count(Disarm) >= 2)
        assert all(force == ZERO for _, force in run.driver.writes)


def test_the_end_is_zero_goodbye_and_close(endpoint):
    server = FakeServer(endpoint)
    with running(endpoint, server) as run:
        armed(run)
        report = run.end()
        eventually(lambda: server.count(Bye) == 1)
    assert run.newest == ZERO
    assert run.driver.opened == run.driver.closed == 1
    assert report.ticks > 50 and report.round_trip_p50_us < 1e5
    assert "largest force 3.00 N" in report.text()


def _serve_alone(endpoint: str) -> None:
    server = FakeServer(endpoint)
    print("ready")
    server.join()


if __name__ == "__main__":
    _serve_alone(sys.argv[1])
