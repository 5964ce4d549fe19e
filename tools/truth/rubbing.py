"""What slides and sticks on flat faces, and what jams."""

from __future__ import annotations

import math

from scipy.optimize import brentq

from hapticsim.codes import Event
from truth.bench import Bench, G, Quantity, Truths, free_part, instant

TRUTHS = Truths()

BOX, HALF = "kind: box, half_extents_m: [0.05, 0.05, 0.03]", 0.03
OF_BOX = (1.5e-3, 1.5e-3, 2e-3)
V = 3  # place of the speed along x among those of a free body; its turning about y is 1


def block(friction: float, slope: float = 0.0) -> Bench:
    return Bench(free_part(BOX, OF_BOX, HALF, friction, slope=slope))


@TRUTHS.add("block that stops", "v^2 / (2 mu g), v / (mu g)")
def _():
    friction, v = 0.3, 1.0
    bench = block(friction).begin(u={V: v}).run(0.4)
    return bench, [
        instant("stops at", bench.times(Event.STICKS)[0], v / (friction * G)),
        Quantity("way", bench.q[0], v * v / (2.0 * friction * G), "m"),
        Quantity("speed left", bench.u[V], 0.0, "m/s", scale=v),
    ]


@TRUTHS.add("block on a slope", "slides with g (sin - mu cos), holds where mu is above tan")
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


@TRUTHS.add("block pulled", "moves where it is pulled by more than mu m g")
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


@TRUTHS.add("box that spins on four corners", "loses mu m g d / I of its turning a second")
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


@TRUTHS.add(
    "Potra's driven block",
    "Anitescu, Potra 1997: f = 8 cos t; slips until 0.338608 s by 4.34857 mm, again 2.946347 to 3.532835 s",
)
def _():
    """The force is that of a table that is shaken: the block feels -m times its acceleration."""
    held = 0.8 * G
    sticks = float(brentq(lambda t: 8.0 * math.sin(t) - held * t, 0.3, 0.4, xtol=1e-15))
    slips = math.pi - math.acos(held / 8.0)
    again = float(
        brentq(lambda t: 8.0 * (math.sin(t) - math.sin(slips)) + held * (t - slips), 3.4, 3.6, xtol=1e-15)
    )
    bench = Bench(SHAKEN).begin(q={0: 8.0, 1: 8.0}).run(0.195)
    slip = bench.u[4] - bench.u[0]
    bench.run(0.305)
    way = bench.q[1] - bench.q[0]
    bench.run(3.1)
    later = [
        t for t in bench.times(Event.SLIDES) if t > 2.5
    ]  # before, corners with little weight leave theirs
    return bench, [
        Quantity("slip at 0.195 s", slip, 8.0 * math.sin(0.195) - 0.195 * held, "m/s"),
        instant("sticks at", bench.times(Event.STICKS)[0], sticks),
        Quantity("way", way, 8.0 * (1.0 - math.cos(sticks)) - 0.5 * held * sticks**2, "m"),
        instant("slips again at", later[0], slips),
        instant("sticks again at", bench.times(Event.STICKS)[1], again),
    ]


@TRUTHS.add(
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
