"""What rolls, and what slides before."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from hapticsim.codes import Event
from truth.bench import Bench, G, Quantity, Truths, falls, free_part, instant

TRUTHS = Truths()

RADIUS = 0.05
BALL = f"kind: sphere, radius_m: {RADIUS}"
OF_BALL = (0.4 * RADIUS**2,) * 3
V = 3  # place of the speed along x among those of a free body; its turning about y is 1


def ball(friction: float, slope: float = 0.0) -> Bench:
    return Bench(free_part(BALL, OF_BALL, RADIUS, friction, slope=slope))


@TRUTHS.add("ball that slides, then rolls", "at 2 v / (7 mu g) with 5 v / 7")
def _():
    friction, v = 0.3, 1.0
    begins = 2.0 * v / (7.0 * friction * G)
    bench = ball(friction).begin(u={V: v}).run(0.2)
    way = v * begins - 0.5 * friction * G * begins**2 + 5.0 / 7.0 * v * (0.2 - begins)
    return bench, [
        instant("rolls at", bench.times(Event.STICKS)[0], begins),
        Quantity("speed", bench.velocity[0], 5.0 / 7.0 * v, "m/s"),
        Quantity("way", bench.q[0], way, "m"),
    ]


@TRUTHS.add("ball with backspin", "comes back with (5 v - 2 R w) / 7")
def _():
    friction, v, spin = 0.2, 1.0, 3.0
    bench = ball(friction).begin(u={V: v, 1: -spin / RADIUS}).run(0.9)
    turns = v / (friction * G)
    return bench, [
        instant("rolls at", bench.times(Event.STICKS)[0], 2.0 * (v + spin) / (7.0 * friction * G)),
        Quantity("speed", bench.velocity[0], (5.0 * v - 2.0 * spin) / 7.0, "m/s"),
        Quantity("turns before", float(bench.times(Event.STICKS)[0] > turns), 1.0),
    ]


@TRUTHS.add("ball on a slope", "rolls where mu is above 2 tan / 7, else slides and turns")
def _():
    slope = math.radians(20.0)
    needs, pull = 2.0 / 7.0 * math.tan(slope), G * math.sin(slope)
    rolls, slides = ball(1.0001 * needs, slope).run(0.4), ball(0.9999 * needs, slope).run(0.4)
    slides.worst = slides.worst.clip(min=rolls.worst)
    mu = 0.9999 * needs
    return slides, [
        Quantity("way that rolls", rolls.q[0], 5.0 / 14.0 * pull * 0.16, "m"),
        Quantity("way that slides", slides.q[0], 0.08 * (pull - mu * G * math.cos(slope)), "m"),
        Quantity("its turning", slides.u[1], 0.4 * 2.5 * mu * G * math.cos(slope) / RADIUS, "rad/s"),
    ]


@TRUTHS.add("cylinder on a slope", "rolls where mu is above tan / 3, with 2 g sin / 3")
def _():
    slope = math.radians(30.0)
    needs, pull = math.tan(slope) / 3.0, G * math.sin(slope)
    inertia = (0.01, 0.5 * RADIUS**2, 0.01)  # of a solid cylinder about its axis
    lies = f"kind: capsule, radius_m: {RADIUS}, length_m: 0.2, origin: {{rpy_rad: [{math.pi / 2!r}, 0, 0]}}"
    rolls, slides = (
        Bench(free_part(lies, inertia, RADIUS, part * needs, slope=slope)).run(0.4)
        for part in (1.0001, 0.9999)
    )
    slides.worst = slides.worst.clip(min=rolls.worst)
    mu = 0.9999 * needs
    return slides, [
        Quantity("way that rolls", rolls.q[0], 0.08 * 2.0 / 3.0 * pull, "m"),
        Quantity("way that slides", slides.q[0], 0.08 * (pull - mu * G * math.cos(slope)), "m"),
        Quantity("its turning", slides.u[1], 0.4 * 2.0 * mu * G * math.cos(slope) / RADIUS, "rad/s"),
    ]


OFF_A_BALL = """
name: ball on a ball
robot:
  bodies:
    - name: part
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: {inertia!r}, yy: {inertia!r}, zz: {inertia!r}}}}}
  joints: [{{name: free, type: free, parent: world, child: part, origin: {{xyz_m: [0, 0, {far!r}]}}}}]
shapes:
  - {{name: part, body: part, kind: sphere, radius_m: {radius}}}
  - {{name: dome, kind: sphere, radius_m: {big}}}
contacts: [{{between: [part, dome], friction: {friction}}}]
contact_regime: exact
"""


@TRUTHS.add(
    "ball that rolls off a ball",
    "from rest at a, slips where 2 sin x = mu (17 cos x - 10 cos a): near cos x = 10/17 cos a for large mu",
)
def _():
    """With mu = 10 it slips a hundredth of a radian before it would leave."""
    big, start, friction = 1.0, 0.2, 10.0
    far, inertia = big + RADIUS, OF_BALL[0]
    bench = Bench(OFF_A_BALL.format(inertia=inertia, far=far, radius=RADIUS, big=big, friction=friction))
    bench.begin(q={0: far * math.sin(start), 2: far * math.cos(start) - far}).run(0.6)
    place, turning = math.atan2(bench.q[0], bench.q[2] + far), bench.u[1]
    speed = math.sqrt(10.0 / 7.0 * G * far * (math.cos(start) - math.cos(place)))
    bench.run(0.276)

    def left(x: float) -> float:
        return friction * (17.0 * math.cos(x) - 10.0 * math.cos(start)) - 2.0 * math.sin(x)

    slips = float(brentq(left, start, 1.5, xtol=1e-15))
    return bench, [
        Quantity("turning at 0.6 s", turning, speed / RADIUS, "rad/s"),
        instant("slips at", bench.times(Event.SLIDES)[0], falls(5.0 / 7.0 * G / far, start, slips)),
    ]


def spinning_rates(t: float, y: np.ndarray, radius: float, far: float, inertia: float) -> np.ndarray:
    """Rates of a ball of 1 kg that rolls on a fixed one without slipping: Newton and Euler.

    y   direction n of its centre from that of the other (3,), and its turning w in the world (3,) [rad/s].
    From v = r w x n, n' = v / far, J w' = -r n x (v' - g).
    """
    n, w = y[:3], y[3:]
    moves = radius * np.cross(w, n) / far
    drive = radius * np.cross(n, [0.0, 0.0, -G]) - radius**2 * np.cross(n, np.cross(w, moves))
    return np.array([*moves, *(drive / (inertia + radius**2))])  # what drives it is across n


@TRUTHS.add(
    "ball that rolls and spins on a ball", "beside an independent integration of Newton and Euler by SciPy"
)
def _():
    """It spins about the normal as well: then the turning of the normal is felt by what sticks."""
    big, lean, along, spin, seconds = 1.0, 0.3, 0.8, 30.0, 0.4
    far, inertia = big + RADIUS, OF_BALL[0]
    n = np.array([math.sin(lean), 0.0, math.cos(lean)])
    velocity = np.array([0.0, along, 0.0])
    turning = np.cross(n, velocity) / RADIUS + spin * n
    bench = Bench(OFF_A_BALL.format(inertia=inertia, far=far, radius=RADIUS, big=big, friction=2.0))
    start = {0: far * n[0], 2: far * (n[2] - 1.0)}
    bench.begin(q=start, u=dict(enumerate([*turning, *velocity]))).run(seconds)
    peer = solve_ivp(
        spinning_rates, (0.0, seconds), [*n, *turning], "DOP853",
        rtol=1e-12, atol=1e-14, args=(RADIUS, far, inertia),
    ).y[:, -1]  # fmt: skip
    ours = bench.q[:3] / far + [0.0, 0.0, 1.0]
    turns = Rotation.from_quat(np.roll(bench.q[3:7], -1)).apply(bench.u[:3])
    return bench, [
        *(Quantity(f"direction {name}", ours[i], peer[i], scale=1.0) for i, name in enumerate("xyz")),
        *(
            Quantity(f"turning {name}", turns[i], peer[3 + i], "rad/s", scale=spin)
            for i, name in enumerate("xyz")
        ),
        Quantity("spin", float(turns @ ours), spin, "rad/s"),
    ]


def top_rates(
    t: float, y: np.ndarray, friction: float, radius: float, low: float, about: np.ndarray
) -> np.ndarray:
    """Rates of a ball that slides on a floor, its centre of mass ``low`` below its middle: Newton and Euler.

    y   place of the centre of mass along the floor, its velocity there, orientation (x, y, z, w), and turning
        in axes of the ball.
    """
    turned = Rotation.from_quat(y[4:8])
    w = y[8:11]
    up, axis = np.array([0.0, 0.0, 1.0]), turned.apply([0.0, 0.0, 1.0])
    spin = turned.apply(w)
    arm = low * axis - radius * up  # from the centre of mass to the floor
    height_rate = -low * np.cross(spin, axis)[2]
    velocity = np.array([y[2], y[3], height_rate])
    slip = velocity + np.cross(spin, arm)
    along = slip / np.linalg.norm(slip)
    pull = up - friction * along  # per newton of push

    def turn(torque: np.ndarray) -> np.ndarray:
        return turned.apply((turned.inv().apply(torque) - np.cross(w, about * w)) / about)

    # the middle keeps its height: 0 = a_z + (turning rate x low axis + spin x (spin x low axis))_z
    free, per = turn(np.zeros(3)), turn(np.cross(arm, pull)) - turn(np.zeros(3))
    bend = np.cross(spin, np.cross(spin, low * axis))[2]
    push = (G - np.cross(free, low * axis)[2] - bend) / (1.0 + np.cross(per, low * axis)[2])
    rate = turned.inv().apply(free + push * per)
    x, yy, z, s = y[4:8]
    quaternion = 0.5 * np.array([
        s * w[0] + yy * w[2] - z * w[1], s * w[1] + z * w[0] - x * w[2], s * w[2] + x * w[1] - yy * w[0],
        -x * w[0] - yy * w[1] - z * w[2],
    ])  # fmt: skip
    return np.array([y[2], y[3], *(-friction * push * along[:2]), *quaternion, *rate])


@TRUTHS.add("tippe-top", "turns over; beside an independent integration of Newton and Euler by SciPy")
def _():
    radius, low, friction, lean, spin = 0.02, 0.003, 0.3, 0.3, 80.0
    about = np.array([0.45, 0.45, 0.4]) * radius**2
    text = free_part(
        f"kind: sphere, radius_m: {radius}, origin: {{xyz_m: [0, 0, {low}]}}",
        tuple(map(float, about)),
        radius - low,
        friction,
    )
    height = radius - low * math.cos(lean)
    start = [math.cos(0.5 * lean), 0.0, math.sin(0.5 * lean), 0.0]
    seconds = 0.3
    turning = [-spin * math.sin(lean), 0.0, spin * math.cos(lean)]  # about the upright
    bench = Bench(text)
    u = {0: turning[0], 2: turning[2]}
    bench.begin(q={2: height - (radius - low), 3: start[0], 5: start[2]}, u=u).run(seconds)
    peer = solve_ivp(
        top_rates, (0.0, seconds), [0.0, 0.0, 0.0, 0.0, *start[1:], start[0], *turning], "DOP853",
        rtol=1e-12, atol=1e-14, args=(friction, radius, low, about),
    ).y[:, -1]  # fmt: skip
    ours = Rotation.from_quat(np.roll(bench.q[3:7], -1)).apply([0.0, 0.0, 1.0])
    true = Rotation.from_quat(peer[4:8]).apply([0.0, 0.0, 1.0])
    return bench, [
        *(Quantity(f"axis {name}", ours[i], true[i], scale=1.0) for i, name in enumerate("xyz")),
        *(
            Quantity(f"turning {name}", bench.u[i], peer[8 + i], "rad/s", scale=spin)
            for i, name in enumerate("xyz")
        ),
        *(Quantity(f"way {name}", bench.q[i], peer[i], "m", scale=radius) for i, name in enumerate("xy")),
    ]
