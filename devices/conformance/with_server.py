"""The check of a driver with a bridge and a server: does force come, and does it go when it must?

The server is a small one in this process.  Stops are made by adding their flag to what the driver measures.
"""

from __future__ import annotations

import io
import math
import tempfile
import threading
import time
from collections.abc import Callable

from hapticsim.codes import Safety
from hapticsim.drivers.calls import called
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.device.port import DevicePort, Terms

from ..base import ENGAGE, READY, STOPPED, ZERO, DeviceInfo, DeviceSample, Driver, Vector
from ..bridge import Bridge
from ..stop_flag import StopFlag
from .bench import FAILED, OK, UNSEEN, Found, Make, gentle
from .measuring import check_info

TIMEOUT_S = 0.010
LATE_S = 0.005  # what a busy computer may add
PATIENCE_S = 5.0
PRESS_S = 0.05


class SmallServer(threading.Thread):
    """Arms when asked, pushes gently, disarms when asked, and falls silent when told to."""

    def __init__(self, endpoint: str, force_N: Vector, limit_N: float) -> None:
        super().__init__(daemon=True)
        self._port = DevicePort(endpoint, Terms(1000.0, TIMEOUT_S, limit_N, 2000.0))
        self._force_N = force_N
        self.mode = Safety.DISARMED
        self.silent = False
        self.over = threading.Event()
        self.sent_s = math.nan  # when the last force left

    def run(self) -> None:
        with self._port as port:
            while not self.over.is_set():
                news = port.poll(0.002)
                if news.joined or news.disarm:
                    self.mode = Safety.DISARMED
                elif news.arm:
                    self.mode = Safety.ARMED
                if news.state is not None and not self.silent:
                    force = self._force_N if self.mode == Safety.ARMED else ZERO
                    port.send_force(force, int(self.mode))
                    self.sent_s = time.monotonic()


class Supervised(Driver):
    """The driver under check, with a thumb on its buttons and an eye on its motors."""

    name = "supervised"

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.presses, self.stopped = True, False
        self.writes: list[tuple[float, Vector]] = []
        self.took: list[tuple[float, float]] = []  # beginnings and ends of those calls, torques' too

    @property
    def info(self) -> DeviceInfo:
        return self.driver.info

    def open(self) -> None:
        self.driver.open()

    def read(self, now_s: float) -> DeviceSample:
        sample = called(self.driver, "read", now_s)
        thumb = ENGAGE if self.presses and int(now_s / PRESS_S) % 2 else 0
        if self.info.hold_to_run and self.presses:
            thumb |= self.info.hold_to_run & ~ENGAGE
        sample.buttons = sample.buttons & ~ENGAGE | thumb
        sample.flags |= STOPPED if self.stopped else 0
        return sample

    def write(self, force_N: Vector) -> Vector:
        self.writes.append((time.monotonic(), force_N))
        return self._timed("write", force_N)

    def write_torque(self, torque_Nm: Vector) -> Vector:
        return self._timed("write_torque", torque_Nm)

    def halt(self) -> None:
        self.writes.append((time.monotonic(), ZERO))
        self.driver.halt()

    def notice(self, mode: int, fault: int) -> None:
        self.driver.notice(mode, fault)

    def close(self) -> None:
        self.driver.close()

    def in_writes_s(self, start_s: float, end_s: float) -> float:
        """How much of a span of time [s] the driver spent in its writes."""
        return sum(max(0.0, min(b, end_s) - max(a, start_s)) for a, b in self.took)

    def _timed(self, method: str, output: Vector) -> Vector:
        began_s = time.monotonic()
        try:
            return called(self.driver, method, output)
        finally:
            self.took.append((began_s, time.monotonic()))

    @property
    def pushes(self) -> bool:
        """Whether there is force now."""
        return bool(self.writes) and self.writes[-1][1] != ZERO


def check_bridge(make: Make) -> Found:
    """With a server: force comes after an engage, and goes when the device stops or the server is silent."""
    driver = Supervised(make())
    force, (outcome, _) = gentle(driver), check_info(make)
    if outcome == FAILED:
        return UNSEEN, "no server takes what info says: see the check 'info'"
    if not any(force):
        return UNSEEN, "the device cannot push"
    with tempfile.TemporaryDirectory(prefix="hs-") as folder:
        endpoint = f"ipc://{folder}/device.sock"
        server = SmallServer(endpoint, force, driver.info.limits.max_force_N)
        server.start()
        stop = StopFlag()
        failed: list[Exception] = []

        def run() -> None:
            try:
                bridge.run()
            except Exception as error:
                failed.append(error)

        link = DeviceLink(endpoint, driver.info.hello())
        bridge = Bridge(driver, link, stop=stop, stream=io.StringIO())
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        try:
            found = _visit(driver, server, lambda: bool(failed))
        finally:
            stop.set()
            thread.join(PATIENCE_S)
            server.over.set()
            server.join(PATIENCE_S)
    if failed:
        raise failed[0]
    if driver.pushes:
        return FAILED, "the last thing written was not zero: this is a defect of the bridge."
    return found


def _visit(driver: Supervised, server: SmallServer, ended: Callable[[], bool]) -> Found:
    def until(claim: Callable[[], bool]) -> bool:
        give_up = time.monotonic() + PATIENCE_S
        while not claim() and not ended() and time.monotonic() < give_up:
            time.sleep(0.001)
        return claim()

    if not until(lambda: driver.pushes):
        flags = driver.driver.read(time.monotonic()).flags if not ended() else 0
        if flags & STOPPED or not flags & READY:
            return UNSEEN, "the device is not ready, or stopped: see check 'ready'"
        return FAILED, "no force came within 5 s of engaging: look at its buttons, flags and jumps."
    driver.presses, driver.stopped = False, True
    if not until(lambda: not driver.pushes):
        return FAILED, "the force stayed although the device said STOPPED: this is a defect of the bridge."
    driver.presses, driver.stopped = True, False
    if not until(lambda: driver.pushes):
        return FAILED, "no force came back after a stop and an engage: look at its buttons."
    driver.presses = False
    server.silent = True
    until(lambda: not driver.pushes)
    pushed_s = max(t for t, force in driver.writes if force != ZERO)
    gone_s = next((t for t, force in driver.writes if t > pushed_s), math.inf)
    late_s = gone_s - server.sent_s
    late_s -= driver.in_writes_s(server.sent_s, gone_s)  # the check 'write' judges those: none can be halted
    if late_s > TIMEOUT_S + LATE_S:
        return FAILED, (
            f"force was gone {1e3 * late_s:.1f} ms after the server fell silent, 10 are allowed: see the "
            "check 'rate', let 'halt' act while 'read' waits, or close other programs."
        )
    return OK, f"force comes and goes; {1e3 * late_s:.1f} ms after a silent server"
