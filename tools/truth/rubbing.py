"""What slides, sticks and rolls."""

from __future__ import annotations

import math

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

from hapticsim.codes import Event
from truth.bench import Bench, G, Quantity, free_part, instant, truth

RADIUS = 0.05
BALL = f"kind: sphere, radius_m: {RADIUS}"
OF_BALL = (0.4 * RADIUS**2,) * 3
BOX, HALF = "kind: box, half_extents_m: [0.05, 0.05, 0.03]", 0.03
OF_BOX = (1.5e-3, 1.5e-3, 2e-3)
V = 3  # place of the speed along x among those of a free body; its turning about y is 1


def block(friction: float, slope: float = 0.0) -> Bench:
    return Bench(free_part(BOX, OF_BOX, HALF, friction, slope=slope))


def ball(friction: float, slope: float = 0.0) -> Bench:
    return Bench(free_part(BALL, OF_BALL, RADIUS, friction, slope=slope))


@truth("block that stops", "v^2 / (2 mu g), v / (mu g)")
def _():
    friction, v = 0.3, 1.0
    bench = block(friction).begin(u={V: v}).run(0.4)
    return bench, [
        instant("stops at", bench.times(Event.STICKS)[0], v / (friction * G)),
        Quantity("way", bench.q[0], v * v / (2.0 * friction * G), "m"),
        Quantity("speed left", bench.u[V], 0.0, "m/s", scale=v),
    ]


@truth("block on a slope", "slides with g (sin - mu cos), holds where mu is above tan")
def _():
    slope = math.radians(20.0)
    friction = 0.5 * math.tan(slope)
    slides = block(friction, slope).run(0.5)
    holds = block(1.0001 * math.tan(slope), slope).run(0.5)
    pull = G * (math.sin(slope) - friction * math.cos(slope))
    slides.worst = slides.worst.clip(min=holds.worst)
    return slides, [
        Quantity("way", slides.q[0], 0.125 * pull, "m"),
        Quantity("speed", slides.u[V], 0.5 * pull, "m/s"),
        Quantity("creep of the other", abs(holds.q[0]), 0.0, "m", scale=1.0),
    ]


@truth("block pulled", "moves where it is pulled by more than mu m g")
def _():
    friction = 0.2
    still, moves = block(friction), block(friction)
    for bench, share in ((still, 0.999999), (moves, 1.000001)):
        bench.sim.apply(torque=[0.0, 0.0, 0.0, share * friction * G, 0.0, 0.0])
        bench.run(1.0)
    moves.worst = moves.worst.clip(min=still.worst)
    excess = 1e-6 * friction * G
    return moves, [
        Quantity("way below the limit", still.q[0], 0.0, "m", scale=0.5 * excess),
        Quantity("speed above it", moves.u[V], excess, "m/s", scale=friction * G),
    ]


@truth("ball that slides, then rolls", "at 2 v / (7 mu g) with 5 v / 7")
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


@truth("ball with backspin", "comes back with (5 v - 2 R w) / 7")
def _():
    friction, v, spin = 0.2, 1.0, 3.0
    bench = ball(friction).begin(u={V: v, 1: -spin / RADIUS}).run(0.9)
    turns = v / (friction * G)
    return bench, [
        instant("rolls at", bench.times(Event.STICKS)[0], 2.0 * (v + spin) / (7.0 * friction * G)),
        Quantity("speed", bench.velocity[0], (5.0 * v - 2.0 * spin) / 7.0, "m/s"),
        Quantity("turns before", float(bench.times(Event.STICKS)[0] > turns), 1.0),
    ]


@truth("ball on a slope", "rolls where mu is above 2 tan / 7, else slides and turns")
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


@truth("cylinder on a slope", "rolls where mu is above tan / 3, with 2 g sin / 3")
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


@truth("box that spins on four corners", "loses mu m g d / I of its turning a second")
def _():
    friction, spin = 0.3, 10.0
    arm = math.hypot(0.05, 0.05)
    loss = friction * G * arm / OF_BOX[2]
    bench = block(friction).begin(u={2: spin}).run(0.09)
    return bench, [
        Quantity("turning", bench.u[2], spin - 0.09 * loss, "rad/s"),
        Quantity(
            "angle", 2.0 * math.atan2(bench.q[6], bench.q[3]), 0.09 * spin - 0.5 * loss * 0.09**2, "rad"
        ),
    ]


SHAKEN = """
name: Potra's block
robot:
  bodies:
    - name: table
      inertial: {mass_kg: 1.0e+9, inertia_kg_m2: {xx: 1.0, yy: 1.0, zz: 1.0}}
    - name: part
      inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 1.5e-3, yy: 1.5e-3, zz: 2.0e-3}}
  joints:
    - {name: shake, type: prismatic, parent: world, child: table, axis: [1, 0, 0]}
    - {name: free, type: free, parent: world, child: part, origin: {xyz_m: [0, 0, 0.03]}}
shapes:
  - {name: table, body: table, kind: box, half_extents_m: [20, 1, 0.5], origin: {xyz_m: [0, 0, -0.5]}}
  - {name: part, body: part, kind: box, half_extents_m: [0.05, 0.05, 0.03]}
torques: [{joint: shake, law: pd, stiffness_N_per_m: 1.0e+9, reference_m: 0.0}]
contacts: [{between: [part, table], friction: 0.8}]
contact_regime: exact
"""


@truth(
    "Potra's driven block",
    "Anitescu and Potra 1997: f = 8 cos t; slips until 0.338608 s by 4.34857 mm, at most 19.7723 mm/s",
)
def _():
    """The force is that of a table that is shaken: the block feels -m times its acceleration."""
    held = 0.8 * G
    sticks = float(brentq(lambda t: 8.0 * math.sin(t) - held * t, 0.3, 0.4, xtol=1e-15))
    bench = Bench(SHAKEN).begin(q={0: 8.0, 1: 8.0}).run(0.195)
    slip = bench.u[4] - bench.u[0]
    bench.run(0.305)
    return bench, [
        Quantity("slip at 0.195 s", slip, 8.0 * math.sin(0.195) - 0.195 * held, "m/s"),
        instant("sticks at", bench.times(Event.STICKS)[0], sticks),
        Quantity(
            "way", bench.q[1] - bench.q[0], 8.0 * (1.0 - math.cos(sticks)) - 0.5 * held * sticks**2, "m"
        ),
    ]


@truth(
    "rod that slides, near to jamming",
    "N = m g / (1 + 3 cos (cos - mu sin)); none above (1 + 3 cos^2) / (3 sin cos)",
)
def _():
    """Painleve 1895: a uniform rod of 1 m that leans 1.1 rad from the floor against its slide."""
    lean, half, tip = 1.1, 0.5, 1e-8
    c, s = math.cos(lean), math.sin(lean)
    limit = (1.0 + 3.0 * c * c) / (3.0 * s * c)
    text = f"""
name: Painleve's rod
robot:
  bodies:
    - name: rod
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: {half**2 / 3.0}, yy: {half**2 / 3.0}, zz: 1.0e-3}}}}
  joints: [{{name: free, type: free, parent: world, child: rod, origin: {{xyz_m: [0, 0, {2.0 * half}]}}}}]
shapes:
  - {{name: tip, body: rod, kind: sphere, radius_m: {tip}, origin: {{xyz_m: [0, 0, {-half}]}}}}
  - {{name: floor, kind: plane}}
contacts: [{{between: [tip, floor], friction: FRICTION}}]
contact_regime: exact
"""
    turn = lean - 0.5 * math.pi  # its foot goes ahead of its middle
    start = {2: half * s + tip - 2.0 * half, 3: math.cos(0.5 * turn), 5: math.sin(0.5 * turn)}
    way = {3: 2.0 * math.cos(turn), 5: 2.0 * math.sin(turn)}  # 2 m/s along x, in axes of the rod
    below = Bench(text.replace("FRICTION", repr(0.9 * limit))).begin(q=start, u=way).run(0.001)
    above = Bench(text.replace("FRICTION", repr(1.0001 * limit))).begin(q=start, u=way).run(0.001)
    push = below.sim.state.contacts[0].force
    now = 0.5 * math.pi + 2.0 * math.atan2(below.q[5], below.q[3])  # it has begun to turn
    free = G - half * below.u[1] ** 2 * math.sin(now)
    return below, [
        Quantity(
            "push",
            push,
            free / (1.0 + 3.0 * math.cos(now) * (math.cos(now) - 0.9 * limit * math.sin(now))),
            "N",
        ),
        Quantity("steps below the limit", float(below.stepped), 0.0, scale=1.0),
        Quantity("steps above it", float(above.stepped), 1.0),
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


@truth("tippe-top", "turns over; beside an independent integration of Newton and Euler by SciPy")
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
