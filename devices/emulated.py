"""An emulated haptic device in an emulated hand, in virtual time.

The handle is one mass: the device's apparent mass and the part of the hand that moves with it.  Along each
axis of the device frame

    m x'' = F - b x' - f + K (x_t - x) + B (x_t' - x')                                        (E1)
    m = m_device + m_hand,    |f| <= f_c, and f opposes x' with |f| = f_c while it slides      (E2)

x   handle,  x_t  target of the hand;  F  force of the motors, held between writes, cut to the device's
maximum, late by the device's delay;  b, f_c  viscous and Coulomb friction of the device;  K, B  the hand's
stiffness and damping.

Step.  Between two grid points F, x_t and x_t' are constants, so the linear part of (E1) is advanced by its
exact solution: no step is too long for it and it adds no damping of its own, which matters when the damping
of a device is what a stability study is about.  Friction is the force within its bound that brings the new
velocity nearest to zero (a proximal step): a handle at rest under less than f_c stays at rest to the last
bit, and nothing chatters.

What is read is not what is: the position is rounded to encoder counts, the velocity is a difference of
rounded positions over a window, as the drivers of real devices do it.

The rotation is another file's (wrist.py).

Not modelled: link elasticity, motor heating, gravity (taken as compensated), friction that depends on
direction or pose.  Encoders count in Cartesian axes here, in joints on a real device.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass

from .base import AT_LIMIT, READY, SATURATED, ZERO, DeviceSample, Vector
from .held_step import held_step
from .limits import DeviceLimits

STEP_S = 0.5e-3  # grid of the emulation; only friction and the workspace edge depend on it
MAX_CATCH_UP_STEPS = 500  # 0.25 s, about 1 ms of work; a longer silence of the caller is skipped

# The end of the workspace, a wall inside a sphere: stiff enough to be clear, soft enough not to hurt.
EDGE_STIFFNESS_N_PER_M = 2000.0
EDGE_DAMPING_NS_PER_M = 20.0


@dataclass(frozen=True, slots=True)
class Hand:
    """Impedance of the hand about its target.

    Mass and damping are near one published fit (0.55 kg, 6.5 N s/m, 135 N/m); reported arm stiffness spans 10
    to 2000 N/m.  300 N/m is a deliberate grip: 12 N push it back by 40 mm.  Zero in all three is a handle
    that nobody holds.
    """

    mass_kg: float = 0.5
    damping_Ns_per_m: float = 6.5
    stiffness_N_per_m: float = 300.0


class EmulatedDevice:
    """The handle of an emulated device, held by a hand.  Assumes checked arguments.

    Parameters
    ----------
    limits : mass, friction, resolution, maximal force and workspace of the device.
    hand : impedance that pulls the handle toward the target.
    delay_samples : how many writes later a force reaches the motors.
    velocity_window_s : span of the velocity difference; its mean delay is half of it.
    """

    def __init__(
        self, limits: DeviceLimits, hand: Hand, *, delay_samples: int = 0, velocity_window_s: float = 0.01
    ) -> None:
        self.limits, self.hand = limits, hand
        self.mass_kg = limits.apparent_mass_kg + hand.mass_kg
        self._transition = held_step(
            self.mass_kg,
            hand.damping_Ns_per_m + limits.viscous_friction_Ns_per_m,
            hand.stiffness_N_per_m,
            STEP_S,
        )
        self._window_s = velocity_window_s
        self._pending: deque[Vector] = deque([ZERO] * delay_samples)
        self._force: Vector = ZERO  # on the motors now
        self._x: Vector = ZERO  # true position [m]
        self._v: Vector = ZERO  # true velocity [m/s]
        self._target: Vector = ZERO
        self._start_s = math.nan  # no time before the first read
        self._steps_done = 0
        self._history: deque[tuple[float, Vector]] = deque()  # (grid time, rounded position)
        self._saturated = False

    @property
    def true_position_m(self) -> Vector:
        """Where the handle is, before the encoder."""
        return self._x

    @property
    def true_velocity_m_per_s(self) -> Vector:
        """How fast the handle moves, before the encoder."""
        return self._v

    def grid_time(self, now_s: float) -> float:
        """The last grid point at or before ``now_s`` [s]: the instant a read at ``now_s`` will describe."""
        if math.isnan(self._start_s):
            return now_s
        return self._start_s + self._steps_at(now_s) * STEP_S

    def read(self, now_s: float, target_m: Vector, buttons: int = 0) -> DeviceSample:
        """Advance to the grid point of ``now_s``, the target going straight to ``target_m``, and measure.

        The first read sets the handle on the target, at rest.
        """
        flags = READY
        if math.isnan(self._start_s):
            self._start_s, self._x, self._target = now_s, target_m, target_m
        steps_at_now = self._steps_at(now_s)
        steps = steps_at_now - self._steps_done
        if steps > 0:
            self._steps_done = steps_at_now
            self._advance(min(steps, MAX_CATCH_UP_STEPS), target_m)
        time_s = self._start_s + self._steps_done * STEP_S

        D = self.limits.position_resolution_m
        x, y, z = self._x
        position = (round(x / D) * D, round(y / D) * D, round(z / D) * D)
        if self._saturated:
            flags |= SATURATED
        if x * x + y * y + z * z > self.limits.workspace_radius_m**2:
            flags |= AT_LIMIT
        return DeviceSample(
            time_s=time_s,
            position_m=position,
            velocity_m_per_s=self._velocity(time_s, position),
            buttons=buttons,
            force_N=self._force,
            flags=flags,
            target_m=self._target,
        )

    def write(self, force_N: Vector) -> Vector:
        """Give the motors a force [N], cut to the maximum along its direction; returns what was accepted."""
        fx, fy, fz = force_N
        size = math.sqrt(fx * fx + fy * fy + fz * fz)
        limit = self.limits.max_force_N
        self._saturated = size > limit
        if self._saturated:
            s = limit / size
            force_N = (fx * s, fy * s, fz * s)
        self._pending.append(force_N)
        self._force = self._pending.popleft()
        return force_N

    def let_go(self) -> None:
        """Zero the motors at once, what is still on its way included."""
        self._pending = deque([ZERO] * len(self._pending))
        self._force = ZERO
        self._saturated = False

    def _steps_at(self, now_s: float) -> int:
        # A millionth of a step forgives the rounding of a caller that sums up its tick.
        return max(int((now_s - self._start_s) / STEP_S + 1e-6), self._steps_done)

    def _advance(self, steps: int, target_m: Vector) -> None:
        a11, a12, a21, a22, g1, g2 = self._transition
        B = self.hand.damping_Ns_per_m
        bound = g2 * self.limits.coulomb_friction_N  # largest change of velocity by friction in one step
        edge, edge_sq = self.limits.workspace_radius_m, self.limits.workspace_radius_m**2
        x, y, z = self._x
        u, v, w = self._v
        tx, ty, tz = self._target
        dx, dy, dz = (target_m[0] - tx) / steps, (target_m[1] - ty) / steps, (target_m[2] - tz) / steps
        tx, ty, tz = tx + 0.5 * dx, ty + 0.5 * dy, tz + 0.5 * dz  # target at the middle of the step
        px = self._force[0] + B * dx / STEP_S
        py = self._force[1] + B * dy / STEP_S
        pz = self._force[2] + B * dz / STEP_S
        for _ in range(steps):
            was, at_rest = (x, y, z), u == v == w == 0.0
            ex, ey, ez = x - tx, y - ty, z - tz
            # exact solution of (E1) without friction, forces held
            x, u = tx + a11 * ex + a12 * u + g1 * px, a21 * ex + a22 * u + g2 * px
            y, v = ty + a11 * ey + a12 * v + g1 * py, a21 * ey + a22 * v + g2 * py
            z, w = tz + a11 * ez + a12 * w + g1 * pz, a21 * ez + a22 * w + g2 * pz
            # (E2): the force within its bound that leaves the least velocity
            speed = math.sqrt(u * u + v * v + w * w)
            if speed > bound:
                s = bound / speed  # part of the velocity that friction takes
                x, y, z = x - s * g1 / g2 * u, y - s * g1 / g2 * v, z - s * g1 / g2 * w
                u, v, w = u - s * u, v - s * v, w - s * w
            elif speed > 0.0:
                x, y, z = was if at_rest else (x - g1 / g2 * u, y - g1 / g2 * v, z - g1 / g2 * w)
                u = v = w = 0.0
            if x * x + y * y + z * z > edge_sq:
                x, y, z, u, v, w = _edge((x, y, z), (u, v, w), edge, g2, g1)
            tx, ty, tz = tx + dx, ty + dy, tz + dz
        self._x, self._v, self._target = (x, y, z), (u, v, w), target_m

    def _velocity(self, time_s: float, position: Vector) -> Vector:
        history = self._history
        if not history or time_s > history[-1][0]:
            history.append((time_s, position))
        earliest = time_s - self._window_s + 1e-9
        while len(history) > 2 and history[1][0] <= earliest:
            history.popleft()
        then, p = history[0]
        span = time_s - then
        if span <= 0.0:
            return ZERO
        return ((position[0] - p[0]) / span, (position[1] - p[1]) / span, (position[2] - p[2]) / span)


def _edge(
    x: Vector, v: Vector, radius_m: float, g2: float, g1: float
) -> tuple[float, float, float, float, float, float]:
    """Push a handle outside the workspace back: spring and damper along the radius, implicit, never adhesive.

    g2 [m/s per N] and g1 [m per N] are what one held newton does in one step; the force is solved together
    with the motion it causes, so that no stiffness is too high.
    """
    r = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    nx, ny, nz = x[0] / r, x[1] / r, x[2] / r
    rate = nx * v[0] + ny * v[1] + nz * v[2]
    K, D = EDGE_STIFFNESS_N_PER_M, EDGE_DAMPING_NS_PER_M
    push = max((K * (r - radius_m) + D * rate) / (1.0 + K * g1 + D * g2), 0.0)
    dv, dx = g2 * push, g1 * push
    return (
        x[0] - dx * nx, x[1] - dx * ny, x[2] - dx * nz,
        v[0] - dv * nx, v[1] - dv * ny, v[2] - dv * nz,
    )  # fmt: skip
