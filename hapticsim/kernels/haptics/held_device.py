"""An emulated device in a hand, compiled for virtual time: devices/emulated.py and wrist.py in numbers.

The equations, (E1) to (E4) and (E6), stand in docs/devices.md.  What this file computes is what those two
compute, to the bit, in the same order of operations; tests compare them tick by tick.  They serve a bridge,
which imports no compiler, and are the twins of this file.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.block import Block, Float, Int, IntVector, Matrix, Vector

FORGIVEN = 1e-6  # of a step: rounding of a caller that sums up its tick
INSTANT_S = 1e-9  # by which a sample may be older than the window


class HeldDevice(Block):
    """Numbers of a device and its hand (constant), and what it remembers between two ticks."""

    step_s: Float  # grid of the emulation
    most_steps: Int  # at once
    ready: Int  # DeviceFlag bits
    saturated: Int
    at_limit: Int
    transition: Vector  # (6,) held_step of the handle: a11, a12, a21, a22, g1, g2
    hand_damping: Float  # [N s/m]
    coulomb: Float  # [N]
    max_force: Float  # [N]
    radius: Float  # [m] of the workspace
    edge_stiffness: Float  # [N/m] of its end
    edge_damping: Float  # [N s/m]
    resolution: Float  # [m]
    window_s: Float
    rotates: Int  # 1: the handle turns about z
    rotation_transition: Vector  # (6,) held_step of the handle about z
    grip_damping: Float  # [N m s/rad]
    rotation_coulomb: Float  # [N m]
    max_torque: Float  # [N m]
    angular_resolution: Float  # [rad]
    done: IntVector  # (3,) int: steps done, 1 once it was read, 1 while the last force was cut
    motion: Vector  # (9,) position [m], velocity [m/s], target [m]
    force: Vector  # (4,) on the motors now [N], and the torque [N m]
    rotation: Vector  # (3,) angle [rad], rate [rad/s], target [rad]
    late: Matrix  # (delay, 4) forces and torques on their way to the motors
    history: Matrix  # (length, 5) a ring: time [s], rounded position [m], rounded angle [rad]
    places: IntVector  # (3,) int: oldest of the history, its length, next of late
    sample: Vector  # (8,) position [m], velocity [m/s], angle [rad], rate [rad/s], as measured
    flags: IntVector  # (1,) int, DeviceFlag bits of the sample


@kernel
def read_held(dev, now_s, target, target_angle):
    """Advance to the grid point of ``now_s``, the target going straight there, and measure.

    target (3,) [m] and target_angle [rad]: where the hand wants to be then.
    """
    done, m, t = dev.done, dev.motion, dev.rotation
    if done[1] == 0:
        done[1] = 1
        for i in range(3):
            m[i] = m[6 + i] = target[i]
        t[0] = t[2] = target_angle
    at = max(int(now_s / dev.step_s + FORGIVEN), done[0])
    steps = min(at - done[0], dev.most_steps)
    done[0] = at
    if steps > 0:
        move_handle(dev, steps, target)
        if dev.rotates == 1:
            rotate_handle(dev, steps, target_angle)
    time_s = done[0] * dev.step_s
    s, D = dev.sample, dev.resolution
    for i in range(3):
        s[i] = round(m[i] / D) * D
    s[6] = round(t[0] / dev.angular_resolution) * dev.angular_resolution if dev.rotates == 1 else 0.0
    measure_rates(dev, time_s)
    flags = dev.ready
    if done[2] == 1:
        flags |= dev.saturated
    if m[0] * m[0] + m[1] * m[1] + m[2] * m[2] > dev.radius * dev.radius:
        flags |= dev.at_limit
    dev.flags[0] = flags


@kernel
def move_handle(dev, steps, target):
    """(E1) to (E4) over some steps."""
    a, m = dev.transition, dev.motion
    a11, a12, a21, a22, g1, g2 = a[0], a[1], a[2], a[3], a[4], a[5]
    B, h = dev.hand_damping, dev.step_s
    bound = g2 * dev.coulomb
    edge_sq = dev.radius * dev.radius
    x, y, z, u, v, w = m[0], m[1], m[2], m[3], m[4], m[5]
    tx, ty, tz = m[6], m[7], m[8]
    dx, dy, dz = (target[0] - tx) / steps, (target[1] - ty) / steps, (target[2] - tz) / steps
    tx, ty, tz = tx + 0.5 * dx, ty + 0.5 * dy, tz + 0.5 * dz
    px = dev.force[0] + B * dx / h
    py = dev.force[1] + B * dy / h
    pz = dev.force[2] + B * dz / h
    for _ in range(steps):
        x0, y0, z0, at_rest = x, y, z, u == 0.0 and v == 0.0 and w == 0.0
        ex, ey, ez = x - tx, y - ty, z - tz
        x, u = tx + a11 * ex + a12 * u + g1 * px, a21 * ex + a22 * u + g2 * px
        y, v = ty + a11 * ey + a12 * v + g1 * py, a21 * ey + a22 * v + g2 * py
        z, w = tz + a11 * ez + a12 * w + g1 * pz, a21 * ez + a22 * w + g2 * pz
        speed = math.sqrt(u * u + v * v + w * w)
        if speed > bound:
            s = bound / speed
            x, y, z = x - s * g1 / g2 * u, y - s * g1 / g2 * v, z - s * g1 / g2 * w
            u, v, w = u - s * u, v - s * v, w - s * w
        elif speed > 0.0:
            if at_rest:
                x, y, z = x0, y0, z0
            else:
                x, y, z = x - g1 / g2 * u, y - g1 / g2 * v, z - g1 / g2 * w
            u = v = w = 0.0
        if x * x + y * y + z * z > edge_sq:
            r = math.sqrt(x * x + y * y + z * z)
            nx, ny, nz = x / r, y / r, z / r
            rate = nx * u + ny * v + nz * w
            K, D = dev.edge_stiffness, dev.edge_damping
            push = max((K * (r - dev.radius) + D * rate) / (1.0 + K * g1 + D * g2), 0.0)
            dv, dp = g2 * push, g1 * push
            x, y, z = x - dp * nx, y - dp * ny, z - dp * nz
            u, v, w = u - dv * nx, v - dv * ny, w - dv * nz
        tx, ty, tz = tx + dx, ty + dy, tz + dz
    m[0], m[1], m[2], m[3], m[4], m[5] = x, y, z, u, v, w
    m[6], m[7], m[8] = target[0], target[1], target[2]


@kernel
def rotate_handle(dev, steps, target):
    """(E6) over some steps."""
    t, A = dev.rotation, dev.rotation_transition
    a11, a12, a21, a22, g1, g2 = A[0], A[1], A[2], A[3], A[4], A[5]
    bound = g2 * dev.rotation_coulomb
    a, w, step = t[0], t[1], (target - t[2]) / steps
    middle = t[2] + 0.5 * step
    load = dev.force[3] + dev.grip_damping * step / dev.step_s
    for _ in range(steps):
        was, at_rest, e = a, w == 0.0, a - middle
        a, w = middle + a11 * e + a12 * w + g1 * load, a21 * e + a22 * w + g2 * load
        taken = min(max(w, -bound), bound)
        a, w = a - g1 / g2 * taken, w - taken
        if at_rest and w == 0.0:
            a = was
        middle += step
    t[0], t[1], t[2] = a, w, target


@kernel
def measure_rates(dev, time_s):
    """Velocity and rate: differences of what was rounded, over the window."""
    s, H, places = dev.sample, dev.history, dev.places
    n = H.shape[0]
    newest = (places[0] + places[1] - 1) % n
    if places[1] == 0 or time_s > H[newest, 0]:
        newest = (places[0] + places[1]) % n
        places[1] += 1
        H[newest, 0], H[newest, 1], H[newest, 2], H[newest, 3], H[newest, 4] = time_s, s[0], s[1], s[2], s[6]
    earliest = time_s - dev.window_s + INSTANT_S
    while places[1] > 2 and H[(places[0] + 1) % n, 0] <= earliest:
        places[0] = (places[0] + 1) % n
        places[1] -= 1
    old = places[0]
    span = time_s - H[old, 0]
    for i in range(3):
        s[3 + i] = (s[i] - H[old, 1 + i]) / span if span > 0.0 else 0.0
    s[7] = (s[6] - H[old, 4]) / span if span > 0.0 and dev.rotates == 1 else 0.0


@kernel
def write_held(dev, fx, fy, fz, torque):
    """Give the motors a force [N] and a torque [N m], cut to their maxima, late by the device's delay."""
    size, limit = math.sqrt(fx * fx + fy * fy + fz * fz), dev.max_force
    dev.done[2] = 1 if size > limit else 0
    if size > limit:
        s = limit / size
        fx, fy, fz = fx * s, fy * s, fz * s
    torque = min(max(torque, -dev.max_torque), dev.max_torque) if dev.rotates == 1 else 0.0
    f, late = dev.force, dev.late
    if late.shape[0] == 0:
        f[0], f[1], f[2], f[3] = fx, fy, fz, torque
        return
    i = dev.places[2]
    for j in range(4):
        f[j] = late[i, j]
    late[i, 0], late[i, 1], late[i, 2], late[i, 3] = fx, fy, fz, torque
    dev.places[2] = (i + 1) % late.shape[0]
