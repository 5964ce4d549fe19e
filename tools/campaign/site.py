"""Servers and a hand as processes, and what the hand's motors were told.

Times are on the monotonic clock, which all processes share.  A probe watches the host meanwhile.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import random
import select
import signal
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from campaign.hand import LOG_BYTES, MotorLog
from campaign.host import Host
from campaign.kinds import Trial
from hapticsim.codes import Safety
from hapticsim.process.child import PYTHON
from hapticsim.realtime.clock import request_priority
from hapticsim.recording.reader import Recording, read_recording

HERE = Path(__file__).parent
WAM = HERE.parents[1] / "configs" / "wam_table.yaml"
SCENE = f"extends: {WAM}\nsafety: {{ramp_s: 0.1}}\n"
LEAST_FORCE_N = 0.5
CLAMP_N, SLEW_N_PER_S = 12.0, 2000.0  # of the scene and its device
PATIENCE_S, LOOKED_AFTER_S = 30.0, 0.06
START_S, ANSWER_S = 600.0, 60.0  # a first start compiles
GUESSES = 8  # strikes of which one at least cost the force
STRIKES_AT = 82  # SCHED_FIFO: above the loops
MATCH_S = 0.02  # a silence of the device begins so soon after it was struck


class Zygote:
    """The process that starts all others (zygote.py)."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [*PYTHON, str(HERE / "zygote.py"), str(WAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE.parent), str(HERE.parents[1])])},
            start_new_session=True,
        )
        self._lines = b""
        self._answer(START_S)

    def ask(self, **request: object) -> str:
        """The answer to a request."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        self._process.stdin.flush()
        return self._answer(ANSWER_S)

    def _answer(self, within_s: float) -> str:
        assert self._process.stdout is not None
        out, give_up = self._process.stdout.fileno(), time.monotonic() + within_s
        while b"\n" not in self._lines:
            ready, _, _ = select.select([out], [], [], max(give_up - time.monotonic(), 0.0))
            read = os.read(out, 4096) if ready else b""
            if not read:
                self.end()
                raise RuntimeError("the process that starts servers has died, or hangs.")
            self._lines += read
        line, self._lines = self._lines.split(b"\n", 1)
        return line.decode()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def alive(self) -> bool:
        return self._process.poll() is None


_zygotes: list[Zygote] = []  # one is shared by all sites: a start of it loads all that a server needs


def zygote() -> Zygote:
    """The one that runs, or a new one."""
    if not (_zygotes and _zygotes[0].alive):
        _zygotes[:] = [Zygote()]
    return _zygotes[0]


def end_zygote() -> None:
    """End it, if there is one."""
    while _zygotes:
        _zygotes.pop().end()


atexit.register(end_zygote)


class Site:
    """A server at a time, and a hand."""

    def __enter__(self) -> Site:
        self._zygote = zygote()
        self._stack = ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="hs-")))
        self.endpoint = f"ipc://{self.folder}/hapticsim/device.sock"
        self.scene = self.folder / "scene.yaml"
        self.scene.write_text(SCENE)
        self._host = self._stack.enter_context(Host())
        self._stack.callback(self._end)
        self.server = self.hand = 0
        self.records = 0
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def _end(self) -> None:
        self.let_go()
        if self.server:
            self.strike_server(signal.SIGKILL)
            self.ended()

    # -- processes -------------------------------------------------------------------------------------------

    def serve(self, **trouble: Any) -> Path:
        """Start a server; returns the path of its recording."""
        record = self.new_record()
        self.server = self.start(["serve", str(self.scene), "--record", str(record)], **trouble)
        return record

    def new_record(self) -> Path:
        """A path that no recording has yet."""
        self.records += 1
        return self.folder / f"{self.records}.mcap"

    def start(
        self,
        arguments: list[str],
        *,
        longest_file: int = 0,
        hang_s: float = 0.0,
        blocked: bool = False,
        dies: str = "",
    ) -> int:
        """Start ``hapticsim``; returns its process id.  Trouble as in zygote.py; blocked: by its output."""
        return int(
            self._zygote.ask(
                start=arguments,
                runtime=str(self.folder),
                out=str(self.folder / "out"),
                err="a pipe" if blocked else str(self.folder / "err"),
                longest_file=longest_file,
                hang_s=hang_s,
                dies=dies,
                died=str(self.folder / "died"),
            )
        )

    def strike(self, pid: int, how: signal.Signals) -> None:
        """Send a signal to a process, if it still runs."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, how)

    def wait(self, pid: int, within_s: float = 10.0) -> str:
        """Status of a process, once it has ended; "no" if it had to be killed."""
        status = self._zygote.ask(wait=pid, within_s=within_s)
        if status == "no":
            self.strike(pid, signal.SIGKILL)
            self._zygote.ask(wait=pid, within_s=5.0)
        return status

    def said(self, words: str) -> int:
        """How often the programs have said something so far."""
        path = self.folder / "err"
        return path.read_text(errors="replace").count(words) if path.exists() else 0

    def block(self) -> None:
        """From now on nobody takes what the server says."""
        self._zygote.ask(block=True)

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
        self.hand = int(self._zygote.ask(hold=[self.endpoint, str(path)]))
        give_up = time.monotonic() + PATIENCE_S
        while not path.exists() or path.stat().st_size < LOG_BYTES:
            if time.monotonic() > give_up:
                raise RuntimeError("the hand did not start: a defect.")
            time.sleep(0.005)
        self.log = MotorLog(path)

    def strike_hand(self, how: signal.Signals) -> None:
        self.strike(self.hand, how)

    def let_go(self, how: signal.Signals = signal.SIGKILL) -> None:
        """End the hand."""
        if self.hand:
            self.strike(self.hand, signal.SIGCONT)
            self.strike(self.hand, how)
            self.wait(self.hand)
            self.hand = 0

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

    def moment(self, rng: random.Random) -> tuple[int, float]:
        """Wait a random while; from which write on the motors are to be looked at, and what time it is.

        From here to ``trial`` nothing that was started keeps this thread waiting: a signal that was sent late
        made the hand look late.
        """
        number = self.log.written
        time.sleep(rng.uniform(0.0, 0.1))
        request_priority(STRIKES_AT)
        return number, time.monotonic()

    def died_s(self) -> float:
        """When the thread that was told to end did."""
        return float((self.folder / "died").read_text())

    def is_off(self) -> bool:
        """Whether what the motors were told last is zero."""
        return not np.any(self.log.since(self.log.written - 1)[:, 1:])

    def host_s(self, struck_s: float) -> float:
        """For how long the host kept us from running about a strike."""
        return self._host.stalled_s(struck_s - 0.005, struck_s + 0.03)

    def trial(self, struck_s: float, number: int, zero: bool) -> Trial:
        """What the motors were told from a number of writes on, and when it was zero after a strike."""
        give_up_priority()
        rows = self.log.since(number)
        size = np.linalg.norm(rows[:, 1:], axis=1)
        change = np.linalg.norm(np.diff(rows[:, 1:], axis=0), axis=1)
        allowed = SLEW_N_PER_S * np.maximum(np.diff(rows[:, 0]), 1e-3)
        rising = size[1:] > 0.0
        after = (rows[:, 0] > struck_s) & (size == 0.0)
        found = Trial(limit_N=CLAMP_N, host_s=self.host_s(struck_s))
        before = size[rows[:, 0] <= struck_s]
        if zero and not (len(before) and before[-1] > 0.0):
            found.void = "the force was off already at the strike"
        elif zero:
            found.device_s = float(rows[np.argmax(after), 0]) - struck_s if after.any() else float("inf")
            until = rows[: np.argmax(after) + 1, 0] if after.any() else rows[:, 0]
            found.paused_s = float(np.diff(until[until > struck_s - 0.005]).max(initial=0.0))
        found.largest_N = float(size.max(initial=0.0))
        if rising.any():
            found.step_N = float(change[rising].max())
            # a tick of the bridge starts up to a millisecond before it writes, and may be late itself
            found.step_share = float((change[rising] / (allowed[rising] + SLEW_N_PER_S * 1e-3)).max())
        return found


def give_up_priority() -> None:
    """Give the calling thread the ordinary priority: what it starts takes it over."""
    if hasattr(os, "sched_setscheduler"):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


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


def silences(recording: Recording) -> np.ndarray:
    """(n, 2) of each tick that took the force away: when the device was heard last, and how old that was [s].

    Times are those of the loop's clock, from the first tick on.
    """
    safety, age = recording.column("safety"), recording.column("device_age_s")
    on = np.isin(safety, (int(Safety.ARMING), int(Safety.ARMED)))
    off = np.flatnonzero(on[:-1] & ~on[1:]) + 1
    when = np.cumsum(recording.column("tick_gap_s"))
    return np.column_stack([when[off] - age[off], age[off]])


def silence_of_each(struck_s: list[float], silent: np.ndarray) -> list[float]:
    """Age of the device's newest sample when each strike cost the force [s]; nan where none did.

    The clocks of both differ by a constant: the one for which most strikes have a silence.
    """
    struck, began = np.array(struck_s), silent[:, 0]
    if not len(struck) or not len(began):
        return [float("nan")] * len(struck)

    def nearest(shift_s: float) -> np.ndarray:
        after = np.clip(np.searchsorted(began, struck + shift_s), 1, max(len(began) - 1, 1))
        return np.where(
            np.abs(began[after - 1] - struck - shift_s)
            <= np.abs(began[after % len(began)] - struck - shift_s),
            after - 1,
            after % len(began),
        )

    def misses(shift_s: float) -> np.ndarray:
        return np.abs(struck + shift_s - began[nearest(shift_s)])

    def agreement(shift_s: float) -> tuple[int, float]:
        apart = misses(shift_s)
        return int(np.sum(apart < MATCH_S)), -float(np.median(apart))

    best = max((began[None, :] - struck[:GUESSES, None]).ravel(), key=agreement)
    near = misses(best) < MATCH_S
    return [float(silent[i, 1]) if ok else float("nan") for i, ok in zip(nearest(best), near, strict=True)]
