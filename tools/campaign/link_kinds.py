"""A side of a teleoperation is stopped, killed or started again.

The hand must lose its force once the remote site has not been heard for as long as its link allows
(teleop/hearing.py); what is counted here starts at that moment.  The remote site must lose it as soon as no
commands come, and a new operator must not get any before a hand engages.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import hapticsim as hs
from campaign.kinds import Trial, kind
from campaign.process_kinds import no_force
from campaign.site import PATIENCE_S, SCENE, Site, read_whole
from hapticsim.codes import Safety
from hapticsim.recording.reader import Recording
from hapticsim.teleop.hearing import allowed_age_s

LINK = "link: {delay_up_s: 0.01, delay_down_s: 0.01}\n"
LOOKED_AFTER_S, UNTOUCHED_S = 0.25, 0.5
TAKES_OVER = "another operator takes over"
FORCEFUL = (int(Safety.ARMING), int(Safety.ARMED))


class Link(Site):
    """Both sides of a short link, and a hand at the operator's."""

    def __enter__(self) -> Link:
        super().__enter__()
        self.scene.write_text(SCENE + LINK)
        self.allowed_s = allowed_age_s(hs.load(self.scene).link)
        self.remote = self.operator = 0
        self._stack.callback(self._end_sides)
        return self

    def begin(self) -> Path:
        """Start both sides; returns the recording of the remote one."""
        record = self.new_record()
        self.remote = self.start(["serve", str(self.scene), "--record", str(record)])
        self.operate()
        return record

    def operate(self) -> None:
        """Start an operator's side."""
        self.operator = self.start(["operator", str(self.scene)])

    def heard(self, takeovers: int) -> bool:
        """Wait until the remote site has said so often that another operator takes over."""
        give_up = time.monotonic() + PATIENCE_S
        while self.said(TAKES_OVER) < takeovers:
            if time.monotonic() > give_up:
                return False
            time.sleep(0.01)
        return True

    def _end_sides(self) -> None:
        for pid in filter(None, (self.operator, self.remote)):
            self.strike(pid, signal.SIGCONT)
            self.strike(pid, signal.SIGKILL)
            self.wait(pid)


@kind("remote site stopped", "processes", "SIGSTOP to the remote site for a quarter of a second")
def _remote_stopped(trials: int, rng: random.Random) -> Iterator[Trial]:
    with Link() as link:
        link.begin()
        link.hold()
        for _ in range(trials):
            if not link.pushing():
                yield no_force()
                continue
            number, struck_s = link.moment(rng)
            link.strike(link.remote, signal.SIGSTOP)
            time.sleep(link.allowed_s + LOOKED_AFTER_S)
            trial = link.trial(struck_s, number, zero=True)
            trial.device_s = max(trial.device_s - link.allowed_s, 0.0)
            trial.host_s = link.host_s(struck_s + link.allowed_s)
            link.strike(link.remote, signal.SIGCONT)
            yield trial


def operators(name: str, about: str, strike: Callable[[Link], None], status: str) -> None:
    """A kind that ends the operator's side: the next one must not get any force before a hand engages."""

    @kind(name, "processes", about)
    def _run(trials: int, rng: random.Random) -> list[Trial]:
        found: list[Trial] = []
        with Link() as link:
            record = link.begin()
            link.hold()
            for _ in range(trials):
                if not link.pushing():
                    found.append(no_force())
                    break
                number, struck_s = link.moment(rng)
                strike(link)
                time.sleep(0.06)
                found.append(link.trial(struck_s, number, zero=True))
                ended = link.wait(link.operator)
                if ended != status:
                    found[-1].wrong.append(f"the operator's side ended with status {ended}")
                link.let_go()
                takeovers = link.said(TAKES_OVER)
                link.operate()
                if not link.heard(takeovers + 1):
                    found[-1].wrong.append("the remote site did not follow the new operator")
                    break
                time.sleep(UNTOUCHED_S)
                link.hold()
            link.pushing()  # what the last operator asked for is in the recording, too
            link.strike(link.operator, signal.SIGTERM)
            link.wait(link.operator)
            link.strike(link.remote, signal.SIGTERM)
            status_there = link.wait(link.remote)
            link.operator = link.remote = 0
            recording, found[-1].whole = read_whole(record, complete=True)
        if status_there != "0":
            found[-1].wrong.append(f"the remote site ended with status {status_there}")
        if recording is not None:
            judge_sessions(recording, found)
        return found


def judge_sessions(recording: Recording, found: list[Trial]) -> None:
    """The remote site must not be armed before the operator of the time has asked for it.

    Requests of an operator are counted from 0 on: where the count falls, another took over.
    """
    asked = recording.column("arm_requests")
    forceful = np.isin(recording.column("safety"), FORCEFUL)
    begins = np.flatnonzero(np.diff(asked) < 0) + 1
    if len(begins) < len(found):
        found[-1].wrong.append(f"the remote site saw {len(begins)} new operators of {len(found)}")
    for trial, first, last in zip(found, begins, [*begins[1:], len(asked)], strict=False):
        if forceful[first:last][asked[first:last] == 0].any():
            trial.wrong.append("the remote site was armed and nobody had engaged")


operators("operator killed and started", "SIGKILL; a new one is started, and nobody engages",
          lambda link: link.strike(link.operator, signal.SIGKILL), "-9")  # fmt: skip
operators("operator ended and started", "SIGINT; a new one is started, and nobody engages",
          lambda link: link.strike(link.operator, signal.SIGINT), "0")  # fmt: skip
