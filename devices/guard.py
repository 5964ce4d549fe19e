"""The last authority over the force on the device's side of the wire.

Pure decisions, no clock and no socket: what came, how old it is, and out comes what the motors may have.

1. Zero while nothing came, or the newest is too old (cut four ticks early: zero *within* the time-out).
2. Zero for anything that is not finite.
3. Zero in a mode that is not ARMING or ARMED.
4. Zero, in a new session or after a silence, until the server was seen disarmed: force comes back by arming,
   never by itself.
5. Otherwise clamped to the smaller of the device's and the server's limit, along its direction,
6. and bounded in its change per second.  Going to zero by 1 to 4 is not slowed down.

A torque that comes with the force shares its fate; its limit is the device's, and from zero to the limit it
takes no less time than the force.
"""

from __future__ import annotations

import math

from devices.base import ZERO, Vector
from hapticsim.codes import Safety

FORCEFUL = (Safety.ARMING, Safety.ARMED)
STILL = (Safety.DISARMED, Safety.FAULT)


class ForceGuard:
    """Decides what reaches the motors.

    Parameters
    ----------
    device_limit_N, device_limit_Nm : what the device can do; 0 N m for one that cannot turn the hand.

    Public attributes: ``torque_Nm`` (of the motors, decided with the force),
    ``held`` (no force before the server was seen disarmed), ``silent`` (forces stopped
    coming), ``silences`` (how often that began), ``not_finite`` (commands refused), ``largest_N`` (largest
    force let through).
    """

    def __init__(self, device_limit_N: float, device_limit_Nm: float = 0.0) -> None:
        self.device_limit_N, self.device_limit_Nm = device_limit_N, device_limit_Nm
        self.torque_Nm: Vector = ZERO
        self.held = True
        self.silent = False
        self._fresh = False  # a usable age has been seen since the last silence
        self.silences = 0
        self.not_finite = 0
        self.largest_N = 0.0
        self._limit_N = 0.0
        self._slew_N_per_s = 0.0
        self._oldest_s = 0.0
        self._last: Vector = ZERO

    def begin(
        self, force_limit_N: float, slew_limit_N_per_s: float, timeout_s: float, period_s: float
    ) -> None:
        """Enter a session with the server's terms; the bridge ticks every ``period_s``."""
        self._limit_N = min(self.device_limit_N, force_limit_N)
        self._slew_N_per_s = slew_limit_N_per_s
        # A force may have waited a period before it was taken, the next look is a period away, and that
        # look may be late by two.  With three periods in all the median of 60 strikes at a server was 8.4 ms
        # and the worst 9.1 ms, on another day 10.4 ms (tools/bench_silence.py).
        self._oldest_s = max(timeout_s - 4.0 * period_s, 0.5 * timeout_s)
        self.held = True
        self.silent = False
        self._fresh = False
        self._last = self.torque_Nm = ZERO

    def apply(
        self, force_N: Vector | None, mode: int, age_s: float, elapsed_s: float, torque_Nm: Vector = ZERO
    ) -> Vector:
        """Return the force [N] for the motors; ``torque_Nm`` of the guard is the torque that goes with it.

        force_N    newest command of this session, None if none came
        mode       codes.Safety that came with it
        age_s      since it came
        elapsed_s  since the last call
        torque_Nm  newest command, with the force
        """
        if force_N is None:
            return self._zero()
        if age_s > self._oldest_s:
            if self._fresh:
                self._fresh, self.silent, self.held = False, True, True
                self.silences += 1
            return self._zero()
        self._fresh, self.silent = True, False
        x, y, z = force_N
        size = math.sqrt(x * x + y * y + z * z)
        if not math.isfinite(size + sum(torque_Nm)):
            self.not_finite += 1
            return self._zero()
        if mode not in FORCEFUL:
            self.held = self.held and mode not in STILL
            return self._zero()
        if self.held:
            return self._zero()
        most = self._slew_N_per_s * elapsed_s
        self._last = _bounded(force_N, size, self._limit_N, self._last, most)
        x, y, z = self._last
        self.largest_N = max(self.largest_N, math.sqrt(x * x + y * y + z * z))
        if self.device_limit_Nm > 0.0:
            x, y, z = torque_Nm
            size, most = math.sqrt(x * x + y * y + z * z), most * self.device_limit_Nm / self.device_limit_N
            self.torque_Nm = _bounded(torque_Nm, size, self.device_limit_Nm, self.torque_Nm, most)
        return self._last

    def _zero(self) -> Vector:
        self._last = self.torque_Nm = ZERO
        return ZERO


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
