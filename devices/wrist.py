"""The rotation of an emulated device: a handle that turns about the device's Z, held by a hand.

One inertia: the device's and the part of the hand that turns with it.  The motion is (E1) and (E2) of
``hapticsim_devices.emulated`` with angles for positions and torques for forces,

    I a'' = M - b a' - m + K (a_t - a) + B (a_t' - a')                                         (E6)
    I = I_device + I_hand,    |m| <= m_c, and m opposes a' with |m| = m_c while it turns

and is advanced in the same way: exactly but for friction, which is the torque within its bound that leaves
the least speed.  The angle is rounded to encoder counts, the speed is a difference of rounded angles.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from .emulated import MAX_CATCH_UP_STEPS, STEP_S
from .held_step import held_step
from .limits import TurningLimits


@dataclass(frozen=True, slots=True)
class Grip:
    """Impedance of the hand about the angle it wants.

    A choice, not a measurement: 0.5 kg, 6.5 N s/m and 300 N/m at some 40 mm would be 8e-4, 0.01 and 0.5; a
    wrist turns more firmly, and with less inertia, than an arm that is pushed.  Zero in all three is a handle
    that nobody holds.
    """

    stiffness_Nm_per_rad: float = 1.0
    damping_Nms_per_rad: float = 0.02
    inertia_kg_m2: float = 2e-4


class EmulatedWrist:
    """The turning handle.  Assumes checked arguments, and times on the grid of the emulated device.

    Parameters
    ----------
    limits : inertia, friction, resolution and largest torque.
    grip : impedance that turns the handle toward the angle wanted.
    delay_samples : how many writes later a torque reaches the motor.
    velocity_window_s : span of the difference that gives the speed.
    """

    def __init__(
        self, limits: TurningLimits, grip: Grip, *, delay_samples: int = 0, velocity_window_s: float = 0.01
    ) -> None:
        self.limits, self.grip = limits, grip
        self._transition = held_step(
            limits.apparent_inertia_kg_m2 + grip.inertia_kg_m2,
            grip.damping_Nms_per_rad + limits.viscous_friction_Nms_per_rad,
            grip.stiffness_Nm_per_rad,
            STEP_S,
        )
        self._window_s = velocity_window_s
        self._pending: deque[float] = deque([0.0] * delay_samples)
        self._torque = self._angle = self._rate = self._target = 0.0
        self._time_s = math.nan
        self._history: deque[tuple[float, float]] = deque()  # (time, rounded angle)

    @property
    def true_angle_rad(self) -> float:
        """How far the handle is turned, before the encoder."""
        return self._angle

    @property
    def true_rate_rad_per_s(self) -> float:
        """How fast it turns, before the encoder."""
        return self._rate

    def read(self, time_s: float, target_rad: float) -> tuple[float, float]:
        """Advance to ``time_s``, the target going straight to ``target_rad``; angle [rad] and speed [rad/s].

        The first read sets the handle on the target, at rest.
        """
        if math.isnan(self._time_s):
            self._time_s, self._angle, self._target = time_s, target_rad, target_rad
        steps = round((time_s - self._time_s) / STEP_S)
        if steps > 0:
            self._time_s = time_s
            self._advance(min(steps, MAX_CATCH_UP_STEPS), target_rad)
        count = self.limits.angular_resolution_rad
        angle = round(self._angle / count) * count
        return angle, self._speed(angle)

    def write(self, torque_Nm: float) -> float:
        """Give the motor a torque [N m], cut to the maximum; returns what was accepted."""
        limit = self.limits.max_torque_Nm
        torque_Nm = min(max(torque_Nm, -limit), limit)
        self._pending.append(torque_Nm)
        self._torque = self._pending.popleft()
        return torque_Nm

    def let_go(self) -> None:
        """Zero the motor at once, what is still on its way included."""
        self._pending = deque([0.0] * len(self._pending))
        self._torque = 0.0

    def _advance(self, steps: int, target_rad: float) -> None:
        a11, a12, a21, a22, g1, g2 = self._transition
        bound = g2 * self.limits.coulomb_friction_Nm  # largest change of speed by friction in one step
        a, w, step = self._angle, self._rate, (target_rad - self._target) / steps
        middle = self._target + 0.5 * step
        load = self._torque + self.grip.damping_Nms_per_rad * step / STEP_S
        for _ in range(steps):
            was, at_rest, e = a, w == 0.0, a - middle
            a, w = middle + a11 * e + a12 * w + g1 * load, a21 * e + a22 * w + g2 * load
            taken = min(max(w, -bound), bound)
            a, w = a - g1 / g2 * taken, w - taken
            if at_rest and w == 0.0:
                a = was  # stays, to the last bit
            middle += step
        self._angle, self._rate, self._target = a, w, target_rad

    def _speed(self, angle: float) -> float:
        history = self._history
        if not history or self._time_s > history[-1][0]:
            history.append((self._time_s, angle))
        earliest = self._time_s - self._window_s + 1e-9
        while len(history) > 2 and history[1][0] <= earliest:
            history.popleft()
        then, before = history[0]
        span = self._time_s - then
        return (angle - before) / span if span > 0.0 else 0.0
