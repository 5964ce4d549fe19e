"""The last authority over the force on the device's side of the wire.

Pure decisions, no clock and no socket: what came, how old it is, and out comes what the motors may have.

1. Zero while nothing came, or the newest is too old (cut four ticks early: zero *within* the time-out), or
   answers a measurement of more than two time-outs ago.
2. Zero for anything that is not finite, while the measurement is not usable, and after this side itself stood
   still for a time-out.
3. Zero in a mode that is not ARMING or ARMED.
4. Zero, in a new session or after a silence (of the server, or of this side) that was not ridden through,
   until the server was seen disarmed: force comes back by arming, never by itself.
5. Zero from a stop by the hand or the device on, until it is over, the server was seen disarmed, and then
   the hand engaged.
6. Otherwise clamped to the smallest of the device's limit, the server's, and what warm motors may give
   (heat.py), along its direction,
7. and bounded in its change per second.  Going to zero by 1 to 5 is not slowed down.

A silence of at most ``resume_within_s`` is ridden through: zero until the server, told by a flag, said that
it took its own force away as well; then what comes is let through under a ceiling that rises from zero.

What a server asks for is obeyed within bounds of this side's own: the time-out, the slew, the limits, and how
late force may come back.

A torque that comes with the force shares its fate; from zero to its limit it takes no less time than the
force.
"""

from __future__ import annotations

import math

from hapticsim.codes import Safety

from .base import ZERO, Vector
from .heat import Heat
from .limits import MAX_SLEW_N_PER_S, Heating

FORCEFUL = (Safety.ARMING, Safety.ARMED)
STILL = (Safety.DISARMED, Safety.FAULT)

# This side's own bounds on the terms of a server.
LONGEST_TIMEOUT_S = 0.020
LONGEST_RESUME_S = 0.5  # then a silent session is over anyway
LONGEST_STEP_S = 0.002  # a tick of 500 Hz: no two writes differ by more than the slew of this time

WAKE_S = 0.001  # that a thread which zeroes the motors may need to wake
ANSWER_TIMEOUTS = 2.0  # that may pass between a measurement and a command that knows of it
RISE_S = 0.1  # of the ceiling, from zero to the limit, after an interruption
TORQUE_RISE_S = 0.005  # from zero to the limit, of a device that has torque and no force


class ForceGuard:
    """Decides what reaches the motors.

    Parameters
    ----------
    device_limit_N, device_limit_Nm : what the device can do; 0 for one that cannot push, or turn, the hand.
    max_slew_N_per_s : fastest change that the device is given, whatever a server allows.
    heating : what its motors stand for long; None: nothing is known.

    Public attributes: ``torque_Nm`` (of the motors, decided with the force), ``saturated`` (less than the
    command, because of a limit), ``heat``,
    ``held`` (no force before the server was seen disarmed), ``stopped`` (nor before the hand engaged),
    ``silent`` (forces stopped coming), ``riding`` (no force before the server said that it was interrupted),
    ``silences`` (how often forces stopped coming), ``interruptions`` and ``longest_s`` (how often force went
    and came back by itself, and its longest absence), ``not_finite`` (commands refused), ``largest_N``
    (largest force let through).
    """

    def __init__(
        self,
        device_limit_N: float,
        device_limit_Nm: float = 0.0,
        *,
        max_slew_N_per_s: float = MAX_SLEW_N_PER_S,
        heating: Heating | None = None,
    ) -> None:
        self.device_limit_N, self.device_limit_Nm = device_limit_N, device_limit_Nm
        self.max_slew_N_per_s = max_slew_N_per_s
        self.heat = Heat(device_limit_N, heating)
        self.torque_Nm: Vector = ZERO
        self.saturated = False
        self.held = True
        self.stopped = self.silent = self.riding = False
        self.silences = self.interruptions = self.not_finite = 0
        self.longest_s = self.largest_N = 0.0
        self._fresh = False  # a usable age has been seen since the last silence
        self._flows = False  # force was let through, and was not taken away for good since
        self._gap_s = 0.0  # since force was last let through, while it flows
        self._quiet_s = 0.0  # since the server was last heard, while it is silent
        self._risen_s = RISE_S  # since force came back after an interruption
        self._limit_N = self._limit_Nm = self._slew_N_per_s = self._slew_Nm_per_s = 0.0
        self._timeout_s = self._oldest_s = self._stay_s = self._resume_s = 0.0
        self._last: Vector = ZERO

    def begin(
        self,
        force_limit_N: float,
        slew_limit_N_per_s: float,
        timeout_s: float,
        period_s: float,
        torque_limit_Nm: float = 0.0,
        resume_within_s: float = 0.0,
    ) -> None:
        """Enter a session with the server's terms; the bridge ticks every ``period_s``.

        torque_limit_Nm   0: the server says none, the device's holds
        resume_within_s   0: no silence is ridden through
        """
        self._limit_N = min(self.device_limit_N, force_limit_N)
        self._limit_Nm = min(self.device_limit_Nm, torque_limit_Nm or self.device_limit_Nm)
        self._slew_N_per_s = slew = min(slew_limit_N_per_s, self.max_slew_N_per_s)
        if self.device_limit_N > 0.0:
            self._slew_Nm_per_s = slew * self.device_limit_Nm / self.device_limit_N
        else:
            self._slew_Nm_per_s = self.device_limit_Nm / TORQUE_RISE_S
        self._timeout_s = timeout_s = min(timeout_s, LONGEST_TIMEOUT_S)
        # A force may have waited a period before it was taken, the next look is a period away, and that
        # look may be late by two.  With three periods in all the median of 60 strikes at a server was 8.4 ms
        # and the worst 9.1 ms, on another day 10.4 ms (tools/bench_silence.py).
        self._oldest_s = max(timeout_s - 4.0 * period_s, 0.5 * timeout_s)
        self._stay_s = max(timeout_s - WAKE_S, self._oldest_s + 2.0 * period_s)
        self._resume_s = min(resume_within_s, LONGEST_RESUME_S)
        self._hold()
        self.silent = self.riding = self._fresh = False
        self._zero(0.0)

    def engage(self) -> bool:
        """The hand asks for force; False while it may not: something stops it, or the server may be armed."""
        if self.held:
            return False
        self.stopped = False
        return True

    def left_s(self, age_s: float) -> float:
        """How long a force of this age may stay on the motors if ``apply`` is not called again [s].

        Counted from when it came, so that a read that hangs after the server fell silent adds nothing to
        that silence; later than the look after the one that would cut it.
        """
        return self._stay_s - age_s

    @property
    def watchdog(self) -> bool:
        """Whether the force is away because the server was silent."""
        return self.silent or self.riding

    def apply(
        self,
        force_N: Vector | None,
        mode: int,
        age_s: float,
        elapsed_s: float,
        torque_Nm: Vector = ZERO,
        *,
        answered_s: float = 0.0,
        usable: bool = True,
        halted: bool = False,
        stop: bool = False,
    ) -> Vector:
        """Return the force [N] for the motors; ``torque_Nm`` of the guard is the torque that goes with it.

        force_N     newest command of this session, None if none came
        mode        codes.Safety that came with it
        age_s       since it came
        elapsed_s   since the last call
        torque_Nm   newest command, with the force
        answered_s  since the measurement that the command knows of
        usable      whether the measurement of this tick makes sense
        halted      whether the motors were zeroed since the last call, because this side stood still
        stop        the hand or the device wants no force
        """
        x, y, z = self._last
        self.heat.add(math.sqrt(x * x + y * y + z * z), elapsed_s)
        stood_still = halted or elapsed_s > self._timeout_s  # this side, while the last force stayed on
        if stop:
            self.stopped = True
            self._hold()
        elif stood_still:
            self._stand_still()
        too_old = age_s > self._oldest_s or answered_s > ANSWER_TIMEOUTS * self._timeout_s
        if force_N is None or too_old:
            self._miss(age_s, elapsed_s)
            return self._zero(elapsed_s)
        self._fresh, self.silent = True, False
        x, y, z = force_N
        size = math.sqrt(x * x + y * y + z * z)
        if not math.isfinite(size + sum(torque_Nm)):
            self.not_finite += 1
            return self._zero(elapsed_s)
        if mode not in FORCEFUL:
            if mode in STILL:
                self.held, self.riding, self._flows, self._gap_s = stop, False, False, 0.0
            elif mode == Safety.INTERRUPTED:
                self.riding = False
                self._stand_still()
            return self._zero(elapsed_s)
        if self.held or self.stopped or self.riding or stood_still or not usable:
            return self._zero(elapsed_s)
        return self._let_through(force_N, size, torque_Nm, elapsed_s)

    def _miss(self, age_s: float, elapsed_s: float) -> None:
        """The server was not heard in time."""
        if self._fresh:
            self._fresh, self.silent, self.riding = False, True, True
            self.silences += 1
            self._quiet_s = max(age_s, elapsed_s)
        else:
            self._quiet_s += elapsed_s
        if self.silent and (self._resume_s == 0.0 or self._quiet_s > self._resume_s):
            self._hold()

    def _let_through(self, force_N: Vector, size: float, torque_Nm: Vector, elapsed_s: float) -> Vector:
        step_s = min(elapsed_s, LONGEST_STEP_S)
        if self._gap_s > 0.0:
            self.interruptions += 1
            self.longest_s = max(self.longest_s, self._gap_s + elapsed_s)
            self._gap_s = self._risen_s = 0.0
        elif not self._flows:  # armed anew: the server's own ramp is all there is
            self._risen_s = RISE_S
        self._flows = True
        self._risen_s = min(self._risen_s + step_s, RISE_S)
        risen = self._risen_s / RISE_S
        limit = min(self._limit_N, self.heat.limit_N) * risen
        self.saturated = size > limit
        self._last = _bounded(force_N, size, limit, self._last, self._slew_N_per_s * step_s)
        x, y, z = self._last
        self.largest_N = max(self.largest_N, math.sqrt(x * x + y * y + z * z))
        if self._limit_Nm > 0.0:
            x, y, z = torque_Nm
            size, most = math.sqrt(x * x + y * y + z * z), self._slew_Nm_per_s * step_s
            self.torque_Nm = _bounded(torque_Nm, size, self._limit_Nm * risen, self.torque_Nm, most)
        return self._last

    def _zero(self, elapsed_s: float) -> Vector:
        if self._flows:
            self._gap_s += elapsed_s
            if self._gap_s > self._resume_s + 2.0 * self._timeout_s:
                self._hold()
        self._last = self.torque_Nm = ZERO
        self.saturated = False
        return ZERO

    def _stand_still(self) -> None:
        """Either side stood still: that ends a force that flows, where nothing is ridden through."""
        if self._flows and self._resume_s == 0.0:
            self._hold()

    def _hold(self) -> None:
        self.held, self._flows, self._gap_s = True, False, 0.0


def _bounded(wanted: Vector, size: float, limit: float, last: Vector, most: float) -> Vector:
    """The wanted vector of this size, cut to the limit along its direction, its change cut to ``most``."""
    x, y, z = wanted
    if size > limit:
        s = limit / size
        x, y, z = x * s, y * s, z * s
    px, py, pz = last
    dx, dy, dz = x - px, y - py, z - pz
    change = math.sqrt(dx * dx + dy * dy + dz * dz)
    if change > most:
        s = most / change
        x, y, z = px + dx * s, py + dy * s, pz + dz * s
    return x, y, z
