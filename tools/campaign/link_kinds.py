"""A side of a teleoperation is stopped, killed or started again.

The hand must lose its force once the remote site has not been heard for as long as its link allows
(teleop/hearing.py); what is counted here starts at that moment.  The remote site must lose it as soon as no
commands come, and a new operator must not get any before a hand engages.
"""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import numpy as np

import hapticsim as hs
from campaign.kinds import Trial, kind
from campaign.site import SCENE, Site, read_whole
from hapticsim.codes import Safety
from hapticsim.teleop.hearing import allowed_age_s

LINK = "link: {delay_up_s: 0.01, delay_down_s: 0.01}\n"
LOOKED_AFTER_S, UNTOUCHED_S = 0.25, 0.5
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

    def _end_sides(self) -> None:
        for pid in filter(None, (self.operator, self.remote)):
            self.strike(pid, signal.SIGCONT)
            self.strike(pid, signal.SIGKILL)


@kind("remote site stopped", "processes", "SIGSTOP to the remote site for a quarter of a second")
def _remote_stopped(trials: int, rng: random.Random) -> list[Trial]:
    found = []
    with Link() as link:
        link.begin()
        link.hold()
        for _ in range(trials):
            if not link.pushing():
                found.append(Trial(wrong=["there was no force to begin with"]))
                continue
            number = link.log.written
            time.sleep(rng.uniform(0.0, 0.1))
            struck_s = time.monotonic()
            link.strike(link.remote, signal.SIGSTOP)
            time.sleep(link.allowed_s + LOOKED_AFTER_S)
            found.append(link.trial(struck_s + link.allowed_s, number, zero=True))
            link.strike(link.remote, signal.SIGCONT)
    return found


@kind(
    "operator killed and started",
    "processes",
    "SIGKILL; a new one is started, and nobody engages",
)
def _operator_killed(trials: int, rng: random.Random) -> list[Trial]:
    found, spans = [], []
    with Link() as link:
        record = link.begin()
        link.hold()
        for _ in range(trials):
            if not link.pushing():
                found.append(Trial(wrong=["there was no force to begin with"]))
                break
            time.sleep(rng.uniform(0.0, 0.1))
            number, struck_s = link.log.written, time.monotonic()
            link.strike(link.operator, signal.SIGKILL)
            time.sleep(0.06)
            found.append(link.trial(struck_s, number, zero=True))
            link.wait(link.operator)
            link.let_go()
            link.operate()
            began = time.monotonic()
            link.heard(began)
            time.sleep(UNTOUCHED_S)
            spans.append((struck_s + link.allowed_s + 0.02, time.monotonic()))
            link.hold()
        link.strike(link.operator, signal.SIGTERM)
        link.wait(link.operator)
        link.strike(link.remote, signal.SIGTERM)
        ended_s = time.monotonic()
        status = link.wait(link.remote)
        recording, whole = read_whole(record, complete=True)
    found[-1].whole = whole
    if status != "0":
        found[-1].wrong.append(f"the remote site ended with status {status}")
    if recording is not None:
        since_end = recording.column("time_s") - recording.column("time_s")[-1]
        forceful = np.isin(recording.column("safety"), FORCEFUL)
        for trial, (first, last) in zip(found, spans, strict=False):
            inside = (since_end > first - ended_s + 0.1) & (since_end < last - ended_s - 0.1)
            if forceful[inside].any():
                trial.wrong.append("the remote site was armed and nobody had engaged")
    return found
