"""What strikes: with restitution, with friction, with both; what rocks and what leaves its support."""

from __future__ import annotations

import math

import yaml
from scipy.integrate import quad
from scipy.optimize import brentq

from hapticsim.codes import Event
from truth.bench import Bench, G, Quantity, Truths, falls, free_part, instant

TRUTHS = Truths()

RADIUS = 0.05
BALL = f"kind: sphere, radius_m: {RADIUS}"
OF_BALL = (0.4 * RADIUS**2,) * 3
UNIT = {"mass_kg": 1.0, "inertia_kg_m2": {"xx": 1.0, "yy": 1.0, "zz": 1.0}}


@TRUTHS.add(
    "ball thrown on a floor, slides through", "Garwin 1969: mu (1 + e) v of its speed along the floor is lost"
)
def _():
    friction, e, fall, along = 0.1, 0.6, 0.5, 3.0
    down = math.sqrt(2.0 * G * fall)
    bench = Bench(free_part(BALL, OF_BALL, RADIUS + fall, friction, restitution=e))
    bench.begin(u={3: along}).run(0.5)
    lost = friction * (1.0 + e) * down
    return bench, [
        instant("strikes at", bench.times(Event.IMPULSE)[0], down / G),
        Quantity("speed along", bench.velocity[0], along - lost, "m/s"),
        Quantity("turning", bench.u[1], 2.5 * lost / RADIUS, "rad/s"),
        Quantity("speed up", bench.velocity[2], e * down - G * (0.5 - down / G), "m/s"),
    ]


@TRUTHS.add(
    "ball thrown on a floor, grips", "Garwin 1969: leaves with 5/7 v + 2/7 R w, and rolls as it leaves"
)
def _():
    friction, e, fall, along, spin = 0.8, 0.6, 0.5, 1.0, -20.0
    down = math.sqrt(2.0 * G * fall)
    bench = Bench(free_part(BALL, OF_BALL, RADIUS + fall, friction, restitution=e))
    bench.begin(u={3: along, 1: spin}).run(0.5)
    after = (5.0 * along + 2.0 * RADIUS * spin) / 7.0
    return bench, [
        Quantity("speed along", bench.velocity[0], after, "m/s"),
        Quantity("turning", bench.u[1], after / RADIUS, "rad/s"),
        Quantity("speed up", bench.velocity[2], e * down - G * (0.5 - down / G), "m/s"),
    ]


@TRUTHS.add("rod dropped on one end", "its impulse is m v / (1 + 3 cos^2); smooth floor, e = 0")
def _():
    """A uniform rod of 1 m, 0.5 rad from level, as a thin capsule whose lower end strikes."""
    lean, half, thin, fall = 0.5, 0.5, 1e-3, 0.2
    ax, az = half * math.cos(lean), half * math.sin(lean)
    lies = f"kind: capsule, radius_m: {thin}, length_m: {2.0 * half}"  # along z of the body
    bench = Bench(free_part(lies, (half**2 / 3.0, half**2 / 3.0, 1e-4), 2.0 * half, 0.0))
    turn = math.pi / 2.0 - lean
    bench.begin(q={2: az + thin + fall - 2.0 * half, 3: math.cos(turn / 2.0), 5: math.sin(turn / 2.0)})
    hits = math.sqrt(2.0 * fall / G)
    bench.run(hits - hits % 1e-3 + 1e-3)
    down = G * hits
    impulse = down / (1.0 + 3.0 * math.cos(lean) ** 2)
    turning = impulse * ax / (half**2 / 3.0)
    left = (hits - hits % 1e-3 + 1e-3) - hits
    return bench, [
        instant("strikes at", bench.times(Event.TOUCH)[0], hits),
        Quantity("turning", abs(bench.u[1]), _turning_after(turning, lean, half, left), "rad/s"),
    ]


def _turning_after(turning: float, lean: float, half: float, left: float) -> float:
    """Turning of the rod [rad/s] so long after its end began to slide without friction: by its energy,
    (1/3 + cos^2) half^2 w^2 / 2 + g half sin of its lean, and time by quadrature over that."""

    def speed(a: float) -> float:
        whole = 0.5 * half**2 * (1.0 / 3.0 + math.cos(lean) ** 2) * turning**2 + G * half * math.sin(lean)
        return math.sqrt(2.0 * (whole - G * half * math.sin(a)) / (half**2 * (1.0 / 3.0 + math.cos(a) ** 2)))

    def late(a: float) -> float:
        return quad(lambda x: 1.0 / speed(x), a, lean, epsabs=1e-15)[0] - left

    return speed(float(brentq(late, lean - 2.0 * turning * left - 1e-9, lean, xtol=1e-15)))


@TRUTHS.add("rocking block", "Housner 1963: 1 - 1.5 sin^2 a of its turning is left by each impact")
def _():
    b, h, thick, tilt = 0.1, 0.3, 0.05, 0.1
    size, a = math.hypot(b, h), math.atan2(b, h)
    inertia = ((thick**2 + h * h) / 3.0, size**2 / 3.0, (b * b + thick**2) / 3.0)
    bench = Bench(free_part(f"kind: box, half_extents_m: [{b}, {thick}, {h}]", inertia, h, 1.0))
    c, s = math.cos(tilt), math.sin(tilt)
    bench.begin(
        q={0: b - b * c + h * s, 2: b * s + h * c - h, 3: math.cos(tilt / 2.0), 5: math.sin(tilt / 2.0)}
    )
    bench.run(1.2)
    times = [t for t in bench.times(Event.TOUCH) if t > 0.0]
    left, kept, at, wanted = 1.0 - 1.5 * math.sin(a) ** 2, tilt, 0.0, []
    for _ in range(4):
        at += falls(0.75 * G / size, a - kept, a)
        wanted.append(at)
        # the turning after the impact rises to where its energy is spent
        kept = a - math.acos(math.cos(a) + (math.cos(a - kept) - math.cos(a)) * left**2)
        at += falls(0.75 * G / size, a - kept, a)
    return bench, [instant(f"impact {i + 1} at", times[i], wanted[i]) for i in range(4)]


@TRUTHS.add("ladder that leaves its wall", "at 2/3 of the height from which it slides, without friction")
def _():
    """A rod of 2 m between a wall and a floor, smooth, let go a little from upright."""
    half, thin, start = 1.0, 1e-6, 0.3  # [rad] from upright
    text = f"""
name: ladder
robot:
  bodies:
    - name: ladder
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: {half**2 / 3.0}, yy: {half**2 / 3.0}, zz: 1.0e-3}}}}
  joints: [{{name: free, type: free, parent: world, child: ladder, origin: {{xyz_m: [1, 0, 2]}}}}]
shapes:
  - {{name: top, body: ladder, kind: sphere, radius_m: {thin}, origin: {{xyz_m: [0, 0, {half}]}}}}
  - {{name: foot, body: ladder, kind: sphere, radius_m: {thin}, origin: {{xyz_m: [0, 0, {-half}]}}}}
  - {{name: floor, kind: plane}}
  - {{name: wall, kind: plane, origin: {{rpy_rad: [0, {math.pi / 2!r}, 0]}}}}
contacts:
  - {{between: [top, wall]}}
  - {{between: [foot, floor]}}
contact_regime: exact
"""
    bench = Bench(text)
    turn = -start  # its top leans to the wall, at x = 0
    bench.begin(
        q={
            0: thin + half * math.sin(start) - 1.0,
            2: thin + half * math.cos(start) - 2.0,
            3: math.cos(turn / 2.0),
            5: math.sin(turn / 2.0),
        }
    )
    bench.run(1.5)
    leaves = math.acos(2.0 / 3.0 * math.cos(start))
    return bench, [instant("leaves at", bench.times(Event.LEAVE)[0], falls(0.75 * G / half, start, leaves))]


@TRUTHS.add("point that slides off a sphere", "leaves where cos = 2/3, without friction")
def _():
    big, small, start = 1.0, 0.01, 0.2
    far = big + small
    text = f"""
name: off a sphere
robot:
  bodies:
    - name: part
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}
  joints: [{{name: free, type: free, parent: world, child: part, origin: {{xyz_m: [0, 0, {far!r}]}}}}]
shapes:
  - {{name: part, body: part, kind: sphere, radius_m: {small}}}
  - {{name: dome, kind: sphere, radius_m: {big}}}
contacts: [{{between: [part, dome]}}]
contact_regime: exact
"""
    bench = Bench(text).begin(q={0: far * math.sin(start), 2: far * math.cos(start) - far}).run(1.2)
    leaves = math.acos(2.0 / 3.0 * math.cos(start))
    return bench, [
        instant("leaves at", bench.times(Event.LEAVE)[0], falls(G / far, start, leaves)),
        Quantity(
            "speed along x",
            bench.u[3],
            math.sqrt(2.0 * G * far * (math.cos(start) - math.cos(leaves))) * math.cos(leaves),
            "m/s",
        ),
    ]


@TRUTHS.add("Newton's cradle", "one ball in, one ball out: impacts one after the other")
def _():
    many, gap = 5, 1e-7
    balls, pairs = range(many), range(many - 1)
    apart = 2.0 * RADIUS + gap
    bench = Bench(
        yaml.safe_dump(
            {
                "name": "cradle",
                "robot": {
                    "bodies": [{"name": f"ball{i}", "inertial": UNIT} for i in balls],
                    "joints": [
                        {
                            "name": f"x{i}",
                            "type": "prismatic",
                            "parent": "world",
                            "child": f"ball{i}",
                            "axis": [1, 0, 0],
                            "origin": {"xyz_m": [i * apart, 0.0, 0.0]},
                        }
                        for i in balls
                    ],
                },
                "shapes": [
                    {"name": f"s{i}", "body": f"ball{i}", "kind": "sphere", "radius_m": RADIUS} for i in balls
                ],
                "contacts": [{"between": [f"s{i}", f"s{i + 1}"], "restitution": 1.0} for i in pairs],
                "contact_regime": "exact",
            }
        )
    )
    bench.begin(q={0: -0.1}, u={0: 1.0}).run(0.2)
    last = many - 1
    return bench, [
        *(Quantity(f"speed of ball {i + 1}", bench.u[i], float(i == last), "m/s", scale=1.0) for i in balls),
        Quantity("way of the last", bench.q[last], 0.1 - last * gap, "m", scale=0.1),
    ]


@TRUTHS.add("two balls, unlike, e = 0.5", "momentum, and half the speed of approach apart")
def _():
    text = f"""
name: two balls
robot:
  bodies:
    - {{name: a, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}
    - {{name: b, inertial: {{mass_kg: 3.0, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}
  joints:
    - {{name: x, type: prismatic, parent: world, child: a, axis: [1, 0, 0]}}
    - {{name: y, type: prismatic, parent: world, child: b, axis: [1, 0, 0], origin: {{xyz_m: [0.2, 0, 0]}}}}
shapes:
  - {{name: a, body: a, kind: sphere, radius_m: {RADIUS}}}
  - {{name: b, body: b, kind: sphere, radius_m: {RADIUS}}}
contacts: [{{between: [a, b], restitution: 0.5}}]
contact_regime: exact
"""
    bench = Bench(text).begin(u={0: 2.0}).run(0.1)
    return bench, [
        instant("strike at", bench.times(Event.IMPULSE)[0], 0.05),
        Quantity("speed of a", bench.u[0], (2.0 - 3.0 * 1.0) / 4.0, "m/s"),
        Quantity("speed of b", bench.u[1], 3.0 / 4.0, "m/s"),
    ]


@TRUTHS.add("bouncing ball", "comes to rest sqrt(2 h / g) (1 + e) / (1 - e) after its release")
def _():
    fall, e = 0.3, 0.5
    text = free_part(BALL, OF_BALL, RADIUS + fall, 0.0, restitution=e)
    bench = Bench(text.replace("restitution:", "plastic_below_m_per_s: 1.0e-7, restitution:"))
    hits = math.sqrt(2.0 * fall / G)
    first, second = hits, hits * (1.0 + 2.0 * e)
    bench.run(1.0)
    times = bench.times(Event.IMPULSE)
    return bench, [
        instant("strikes at", times[0], first),
        instant("again at", times[1], second),
        instant("rests at", bench.times(Event.TOUCH)[-1], hits * (1.0 + e) / (1.0 - e), allowed=1e-5),
    ]
