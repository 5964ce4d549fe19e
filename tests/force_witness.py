"""What must hold at the motors of a device, whatever either side of the haptic loop does."""

from __future__ import annotations

import math
from collections import Counter

from hapticsim_devices.base import DISENGAGE, ENGAGE, READY, STOPPED, ZERO, DeviceSample, Vector

from tests.both_sides import LIMIT_N, SLEW_N_PER_S
from tests.virtual_wire import World

MS = 1_000_000  # [ns]
SILENCE_NS = 10 * MS  # in which force must be gone
AFTERWARDS_NS = 20 * MS  # what failed is felt for two time-outs more
LONGEST_STEP_S = 0.002  # two writes never differ by more than the slew of this
SLACK_NS = 21 * MS  # by which a bridge may outstay resume_within_s: two time-outs and a tick
RISE_S = 0.1  # of what a bridge lets through, after an interruption


class Witness:
    """What the motors got against what the device measured and the hand asked for; ``broken`` says what."""

    def __init__(self, world: World, resume_within_s: float, hold_to_run: int) -> None:
        self._world, self._hold_to_run = world, hold_to_run
        self._resume_ns = round(resume_within_s * 1e9)
        self.broken: list[str] = []
        self.met: Counter[str] = Counter()
        self.process_ns = 0  # that the whole bridge has been stopped
        self._force = ZERO
        self._now_s = self._elapsed_s = self._back_s = 0.0  # of the bridge's ticks
        self._wrote_ns = self._gone_ns = self._heard_ns = self._ticked_ns = world.now_ns
        self._wire_fails_until_ns = 0
        self._before_ns = 0, 0, 0, 0  # heard, ticked, bridge stood, process stopped: as of the last write
        self._stopped_by = ""  # and nobody engaged since
        self._buttons = 0
        self._asked = self._pressed = self._had_force = False
        self.oldest_ns = self.stalest_ns = 0  # word, and tick, that there was force by
        self.longest_ns = 0  # absence that was ridden through

    def claim(self, holds: bool, what: str) -> None:
        if not holds:
            self.broken.append(f"{what} (at {self._world.now_ns / MS:.2f} ms)")

    def measured(self, sample: DeviceSample) -> None:
        """The bridge is given a sample."""
        self._elapsed_s, self._now_s = sample.time_s - self._now_s, sample.time_s
        pressed, self._buttons = sample.buttons & ~self._buttons, sample.buttons
        stopped_by = self._why_stopped(sample)
        self._pressed = bool(pressed & ENGAGE) and not stopped_by
        if stopped_by:
            self.met[stopped_by] += not self._stopped_by
            self._stopped_by, self._asked = stopped_by, False

    def _why_stopped(self, sample: DeviceSample) -> str:
        if sample.flags & STOPPED or not sample.flags & READY:
            return "emergency stop"
        if sample.buttons & DISENGAGE:
            return "disengage"
        return "hold-to-run button" if self._hold_to_run and not sample.buttons & self._hold_to_run else ""

    def engaged(self) -> None:
        """The bridge asks for force."""
        self.claim(self._pressed, "asked for force and nobody engaged")
        self._asked, self._stopped_by = True, ""
        self.met["engaged"] += 1

    def heard(self) -> None:
        """The bridge takes a frame of the server."""
        self._heard_ns = self._world.now_ns

    def ticked(self) -> None:
        """The server's loop takes a tick."""
        self._ticked_ns = self._world.now_ns

    def wire_fails(self, until_ns: int) -> None:
        """Between the loop and the motors something goes wrong until then."""
        self._wire_fails_until_ns = max(self._wire_fails_until_ns, until_ns)

    def wrote(self, force_N: Vector) -> None:
        """The motors get a force; the one before was on them until now."""
        now_ns, before = self._world.now_ns, self._force
        if before != ZERO:
            self._judge_age(now_ns)
        if force_N != ZERO:
            self._judge(force_N, before)
            if before == ZERO:
                self._judge_return(now_ns)
            self._judge_ramp(math.hypot(*force_N))
            self._had_force, self._asked = True, False
            self.met["forces"] += 1
        elif before != ZERO:
            self._gone_ns = now_ns
        self._force, self._wrote_ns = force_N, now_ns
        self._before_ns = self._heard_ns, self._ticked_ns, self._world.stood_ns, self.process_ns

    def _judge_age(self, now_ns: int) -> None:
        """How old the word, the write and the tick were that there was force by."""
        heard_ns, ticked_ns, stood_ns, stopped_ns = self._before_ns
        silent_ns = now_ns - heard_ns - (self._world.stood_ns - stood_ns)
        self.oldest_ns = max(self.oldest_ns, silent_ns)
        self.claim(silent_ns <= SILENCE_NS, f"force {silent_ns / MS:.2f} ms after the last word")
        left_ns = now_ns - self._wrote_ns - (self.process_ns - stopped_ns)
        self.claim(left_ns <= SILENCE_NS, f"force for {left_ns / MS:.2f} ms that nobody looked at")
        late_ns = now_ns - ticked_ns
        well = now_ns > self._wire_fails_until_ns + AFTERWARDS_NS
        if well:
            self.stalest_ns = max(self.stalest_ns, late_ns)
        self.claim(not well or late_ns <= SILENCE_NS, f"force {late_ns / MS:.2f} ms after the loop's tick")

    def _judge(self, force_N: Vector, before: Vector) -> None:
        size, step = math.hypot(*force_N), math.dist(force_N, before)
        most = SLEW_N_PER_S * min(self._elapsed_s, LONGEST_STEP_S)
        self.claim(size <= LIMIT_N * (1.0 + 1e-9), f"{size:.3f} N is above the clamp")
        self.claim(step <= most + 1e-6, f"a step of {step:.3f} N, {most:.3f} allowed")
        self.claim(not self._stopped_by, f"force after {self._stopped_by}, and nobody engaged")

    def _judge_return(self, now_ns: int) -> None:
        """Force is there again: somebody engaged since, or it was away for no longer than agreed."""
        self._back_s = 0.0
        if self._asked:
            return
        away_ns = now_ns - self._gone_ns
        short = self._had_force and 0 < self._resume_ns and away_ns <= self._resume_ns + SLACK_NS
        what = f"came back by itself after {away_ns / MS:.2f} ms, {self._resume_ns / MS:.0f} agreed"
        self.claim(short, what)
        self._back_s, self.longest_ns = self._now_s, max(self.longest_ns, away_ns)
        self.met["came back by itself"] += 1

    def _judge_ramp(self, size_N: float) -> None:
        """Force that came back by itself rises from zero."""
        most_N = LIMIT_N * (self._now_s - self._back_s + LONGEST_STEP_S) / RISE_S
        self.claim(size_N <= most_N + 1e-6, f"{size_N:.3f} N on return, {most_N:.3f} allowed")
