"""Servers and a hand as processes, and what the hand's motors were told.

Times are on the monotonic clock, which all processes share.  A probe watches the host meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

import numpy as np

from campaign.hand import MotorLog
from campaign.kinds import Trial
from hapticsim.child import PYTHON
from hapticsim.codes import Safety
from hapticsim.realtime.probe import HostProbe, stood_still_s
from hapticsim.recording.reader import Recording, read_recording

HERE = Path(__file__).parent
WAM = HERE.parents[1] / "configs" / "wam_table.yaml"
SCENE = f"extends: {WAM}\nsafety: {{ramp_s: 0.1}}\n"
LEAST_FORCE_N = 0.5
CLAMP_N, SLEW_N_PER_S = 12.0, 2000.0  # of the scene and its device
PATIENCE_S, LOOKED_AFTER_S = 30.0, 0.06
START_S = 300.0  # a first start compiles


class Site:
    """A zygote, a server at a time, and a hand."""

    def __enter__(self) -> Site:
        self._stack = ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hs-")))
        self.environment = os.environ | {
            "XDG_RUNTIME_DIR": str(self.folder),
            "PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE.parents[1])]),
        }
        self.endpoint = f"ipc://{self.folder}/hapticsim/device.sock"
        self.scene = self.folder / "scene.yaml"
        self.scene.write_text(SCENE)
        self.probe = self._stack.enter_context(HostProbe())
        self._zygote = subprocess.Popen(
            [*PYTHON, str(HERE / "zygote.py"), str(self.scene)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self.environment,
            text=True,
        )
        self._stack.callback(self._end)
        self._answer()
        self.server = 0
        self.records = 0
        self.hand: subprocess.Popen[bytes] | None = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _end(self) -> None:
        if self.server:
            self.strike_server(signal.SIGKILL)
        self.let_go()
        self._zygote.kill()
        self._zygote.wait()

    def _answer(self) -> str:
        assert self._zygote.stdout is not None
        line = self._zygote.stdout.readline().strip()
        if not line:
            raise RuntimeError("the process that starts servers has died.")
        return line

    def _ask(self, **request: object) -> str:
        assert self._zygote.stdin is not None
        self._zygote.stdin.write(json.dumps(request) + "\n")
        self._zygote.stdin.flush()
        return self._answer()

    # -- processes -------------------------------------------------------------------------------------------

    def serve(self, longest_file: int = 0, hang_s: float = 0.0, blocked: bool = False) -> Path:
        """Start a server; returns the path of its recording."""
        record = self.new_record()
        arguments = ["serve", str(self.scene), "--record", str(record)]
        self.server = self.start(arguments, longest_file, hang_s, blocked)
        return record

    def new_record(self) -> Path:
        """A path that no recording has yet."""
        self.records += 1
        return self.folder / f"{self.records}.mcap"

    def start(
        self, arguments: list[str], longest_file: int = 0, hang_s: float = 0.0, blocked: bool = False
    ) -> int:
        """Start ``hapticsim``; returns its process id."""
        words = {"out": str(self.folder / "out"), "err": "a pipe" if blocked else str(self.folder / "err")}
        return int(self._ask(start=arguments, **words, longest_file=longest_file, hang_s=hang_s))

    def strike(self, pid: int, how: signal.Signals) -> None:
        """Send a signal to a process, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)

    def wait(self, pid: int, within_s: float = 10.0) -> str:
        """Status of a process, once it has ended; "no" if it had to be killed."""
        status = self._ask(wait=pid, within_s=within_s)
        if status == "no":
            self.strike(pid, signal.SIGKILL)
            self._ask(wait=pid, within_s=5.0)
        return status

    def block(self) -> None:
        """From now on nobody takes what the server says."""
        self._ask(block=True)

    def strike_server(self, how: signal.Signals) -> None:
        self.strike(self.server, how)

    def ended(self, within_s: float = 10.0) -> str:
        """Status of the server, once it has ended, or "no"."""
        status, self.server = self.wait(self.server, within_s), 0
        return status

    def hold(self) -> None:
        """Start a hand."""
        path = self.folder / "motors"
        path.unlink(missing_ok=True)
        command = [sys.executable, str(HERE / "hand.py"), self.endpoint, str(path)]
        self.hand = subprocess.Popen(command, env=self.environment, stderr=subprocess.DEVNULL)
        give_up = time.monotonic() + PATIENCE_S
        while not path.exists() or path.stat().st_size == 0:
            if time.monotonic() > give_up:
                raise RuntimeError("the hand did not start: a defect.")
            time.sleep(0.005)
        self.log = MotorLog(path)

    def let_go(self) -> None:
        """End the hand."""
        if self.hand is not None:
            self.hand.kill()
            self.hand.wait()
            self.hand = None

    # -- what the motors were told ---------------------------------------------------------------------------

    def pushing(self, within_s: float = PATIENCE_S) -> bool:
        """Wait until the hand is pushed."""
        give_up = time.monotonic() + within_s
        while time.monotonic() < give_up:
            rows = self.log.since(self.log.written - 20) if self.log.written > 20 else np.zeros((0, 4))
            if len(rows) and np.all(np.linalg.norm(rows[:, 1:], axis=1) > LEAST_FORCE_N):
                return True
            time.sleep(0.005)
        return False

    def host_s(self, struck_s: float) -> float:
        """How long the host stood still about a strike."""
        return stood_still_s(self.probe.stalls(), struck_s - 0.005, struck_s + 0.03)

    def trial(self, struck_s: float, number: int, zero: bool) -> Trial:
        """What the motors were told from a number of writes on, and when it was zero after a strike."""
        rows = self.log.since(number)
        size = np.linalg.norm(rows[:, 1:], axis=1)
        change = np.linalg.norm(np.diff(rows[:, 1:], axis=0), axis=1)
        allowed = SLEW_N_PER_S * np.maximum(np.diff(rows[:, 0]), 1e-3)
        rising = size[1:] > 0.0
        after = (rows[:, 0] > struck_s) & (size == 0.0)
        found = Trial(limit_N=CLAMP_N, host_s=self.host_s(struck_s))
        if zero:
            found.device_s = float(rows[np.argmax(after), 0]) - struck_s if after.any() else float("inf")
        found.largest_N = float(size.max(initial=0.0))
        if rising.any():
            found.step_N = float(change[rising].max())
            # a tick of the bridge starts up to a millisecond before it writes, and may be late itself
            found.step_share = float((change[rising] / (allowed[rising] + SLEW_N_PER_S * 1e-3)).max())
        return found


def read_whole(record: Path, complete: bool) -> tuple[Recording | None, bool]:
    """A recording, and whether it is whole: readable and without a gap; ``complete``: rows in it, and closed.

    A server that was killed in its first second may have none.
    """
    try:
        recording = read_recording(record)
    except Exception:
        return None, False
    tick = recording.column("tick")
    gapless = bool(np.all(np.diff(tick) == 1.0))
    return recording, gapless and (not complete or (recording.complete and len(tick) > 0))


def silences_s(recording: Recording) -> list[float]:
    """Age of the device's newest sample at each tick that took the force away [s]."""
    safety, age = recording.column("safety"), recording.column("device_age_s")
    on = np.isin(safety, (int(Safety.ARMING), int(Safety.ARMED)))
    return [float(age[i + 1]) for i in np.flatnonzero(on[:-1] & ~on[1:])]
