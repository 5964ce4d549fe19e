"""What swings against stops and friction, and what is carried off."""

from __future__ import annotations

import math

import yaml
from scipy.integrate import quad
from scipy.optimize import brentq

from hapticsim.codes import Event
from truth.bench import Bench, G, Quantity, Truths, instant

TRUTHS = Truths()

ALONG = """
name: oscillator
robot:
  bodies: [{{name: mass, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}]
  joints: [{{name: x, type: prismatic, parent: world, child: mass, axis: [1, 0, 0]{more}}}]
torques: [{{joint: x, law: pd, stiffness_N_per_m: 100.0, reference_m: 0.0}}]
initial: {{q_m: {{x: {start}}}}}
{rest}
"""
TURNS = 10.0  # [rad/s] of that spring and mass


@TRUTHS.add(
    "impact oscillator", "its stop takes half a swing between impacts, and e of the speed is left by each"
)
def _():
    e, start = 0.8, 0.1
    bench = Bench(
        ALONG.format(
            more=", limits: {lower_m: 0.0, upper_m: 1.0}",
            start=start,
            rest=f"joint_stops: {{restitution: {e}}}",
        )
    ).run(1.2)
    times = bench.times(Event.IMPULSE)
    last = 0.5 * math.pi / TURNS + 3 * math.pi / TURNS
    return bench, [
        *(instant(f"impact {n + 1} at", times[n], (0.5 + n) * math.pi / TURNS) for n in range(4)),
        Quantity("then", bench.q[0], start * e**4 * math.sin(TURNS * (1.2 - last)), "m"),
    ]


@TRUTHS.add("oscillator with Coulomb friction", "its amplitude falls by 4 mu m g / k a cycle")
def _():
    """On a floor; it stops where the spring is weaker than friction."""
    friction, start = 0.1, 0.1
    text = f"""
name: oscillator on a floor
robot:
  bodies:
    - {{name: light, inertial: {{mass_kg: 1.0e-9, inertia_kg_m2: {{xx: 1.0e-9, yy: 1.0e-9, zz: 1.0e-9}}}}}}
    - {{name: mass, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}
  joints:
    - {{name: x, type: prismatic, parent: world, child: light, axis: [1, 0, 0]}}
    - {{name: z, type: prismatic, parent: light, child: mass, axis: [0, 0, 1]}}
shapes:
  - {{name: mass, body: mass, kind: sphere, radius_m: 0.1}}
  - {{name: floor, kind: plane, origin: {{xyz_m: [0, 0, -0.1]}}}}
contacts: [{{between: [mass, floor], friction: {friction}}}]
contact_regime: exact
torques: [{{joint: x, law: pd, stiffness_N_per_m: 100.0, reference_m: 0.0}}]
initial: {{q_m: {{x: {start}}}}}
"""
    bench = Bench(text).run(2.0)
    shift = friction * G / TURNS**2
    halves = math.ceil((start - shift) / (2.0 * shift))
    rests = bench.times(Event.STICKS)
    return bench, [
        instant("turns first at", rests[0], math.pi / TURNS),
        instant("stops at", rests[-1], halves * math.pi / TURNS),
        Quantity(
            "stops where", bench.q[0], (start - 2.0 * halves * shift) * (-1.0) ** halves, "m", scale=start
        ),
    ]


@TRUTHS.add(
    "pendulum with a rough hinge", "m g l (cos b - cos a) = T (a + b) from one end of a swing to the next"
)
def _():
    rub, arm, start = 0.4, 0.5, 1.0
    text = f"""
name: pendulum
robot:
  bodies:
    - name: bob
      inertial: {{mass_kg: 1.0, com_m: [0, 0, {-arm}], inertia_kg_m2: {{xx: 1.0e-9, yy: 1.0e-9, zz: 1.0e-9}}}}
  joints:
    - {{name: hinge, type: revolute, parent: world, child: bob, axis: [0, 1, 0], coulomb_friction_Nm: {rub}}}
joint_friction: {{}}
initial: {{q_rad: {{hinge: {start}}}}}
"""
    bench, ends, weight = Bench(text).run(5.0), [start], G * arm
    while weight * math.sin(ends[-1]) > rub:
        a = ends[-1]
        ends.append(float(brentq(left_over, -a + 1e-9, a, args=(a, weight, rub), xtol=1e-15)))
    return bench, [
        Quantity(
            f"rests after {len(ends) - 1} swings at",
            bench.q[0],
            ends[-1] * (-1.0) ** (len(ends) - 1),
            "rad",
            scale=start,
        )
    ]


def left_over(b: float, a: float, weight: float, rub: float) -> float:
    """Energy [J] that is left at b of a swing from rest at a."""
    return weight * (math.cos(b) - math.cos(a)) - rub * (a + b)


@TRUTHS.add("box put on a belt", "slips V^2 / (2 mu g) in V / (mu g)")
def _():
    friction, speed = 0.3, 1.0
    text = f"""
name: belt
robot:
  bodies:
    - {{name: belt, inertial: {{mass_kg: 1.0e+10, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}
    - {{name: part, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1.5e-3, yy: 1.5e-3, zz: 2.0e-3}}}}}}
  joints:
    - {{name: belt, type: prismatic, parent: world, child: belt, axis: [1, 0, 0]}}
    - {{name: free, type: free, parent: world, child: part, origin: {{xyz_m: [0, 0, 0.03]}}}}
shapes:
  - {{name: belt, body: belt, kind: box, half_extents_m: [20, 1, 0.5], origin: {{xyz_m: [0, 0, -0.5]}}}}
  - {{name: part, body: part, kind: box, half_extents_m: [0.05, 0.05, 0.03]}}
contacts: [{{between: [part, belt], friction: {friction}}}]
contact_regime: exact
"""
    bench = Bench(text).begin(u={0: speed}).run(0.5)
    return bench, [
        instant("rides at", bench.times(Event.STICKS)[0], speed / (friction * G)),
        Quantity("slipped", bench.q[0] - bench.q[1], speed**2 / (2.0 * friction * G), "m"),
    ]


@TRUTHS.add("rimless wheel", "(I + m l^2 cos 2a) / (I + m l^2) of its turning is left by each impact")
def _():
    """Eight spokes, down a slope; McGeer 1990."""
    spokes, length, inertia, slope, turning, tip = 8, 0.5, 0.05, 0.1, 2.0, 1e-8
    a = math.pi / spokes
    ends = [(length * math.sin((2 * i + 1) * a), -length * math.cos((2 * i + 1) * a)) for i in range(spokes)]
    bench = Bench(
        yaml.safe_dump(
            {
                "name": "rimless wheel",
                "robot": {
                    "bodies": [
                        {
                            "name": "wheel",
                            "inertial": {
                                "mass_kg": 1.0,
                                "inertia_kg_m2": {"xx": 0.04, "yy": inertia, "zz": 0.04},
                            },
                        }
                    ],
                    "joints": [
                        {
                            "name": "free",
                            "type": "free",
                            "parent": "world",
                            "child": "wheel",
                            "origin": {"xyz_m": [0.0, 0.0, length * math.cos(a) + tip]},
                        }
                    ],
                },
                "shapes": [
                    *(
                        {
                            "name": f"f{i}",
                            "body": "wheel",
                            "kind": "sphere",
                            "radius_m": tip,
                            "origin": {"xyz_m": [x, 0.0, z]},
                        }
                        for i, (x, z) in enumerate(ends)
                    ),
                    {"name": "floor", "kind": "plane"},
                ],
                "contacts": [{"between": [f"f{i}", "floor"], "friction": 3.0} for i in range(spokes)],
                "contact_regime": "exact",
                "gravity_m_per_s2": [G * math.sin(slope), 0.0, -G * math.cos(slope)],
            }
        )
    )
    # it begins on the front foot of two, as after an impact
    rises = {1: turning, 3: turning * length * math.cos(a), 5: turning * length * math.sin(a)}
    bench.begin(u=rises).run(1.6)
    whole = inertia + length**2
    kept, factor = (inertia + length**2 * math.cos(2.0 * a)) / whole, 2.0 * G * length / whole
    at, wanted = 0.0, []
    for _ in range(3):
        at += quad(one_by_speed, -a, a, args=(turning, factor, slope, a), epsabs=1e-14, epsrel=1e-13)[0]
        wanted.append(at)
        turning = kept / one_by_speed(a, turning, factor, slope, a)
    times = [t for t in bench.times(Event.TOUCH) if t > 1e-3]
    return bench, [instant(f"impact {n + 1} at", times[n], wanted[n]) for n in range(3)]


def one_by_speed(x: float, turning: float, factor: float, slope: float, a: float) -> float:
    """1 / w [s/rad] of a spoke that leans x, which turned so fast at -a."""
    return 1.0 / math.sqrt(turning**2 + factor * (math.cos(slope - a) - math.cos(x + slope)))


@TRUTHS.add(
    "mass on a belt",
    "sticks and slips: period 2 D / V + (pi + 2 atan(V / (w D))) / w, D = (mu_s - mu_k) g / w^2",
)
def _():
    kinetic, ratio, speed = 0.2, 1.5, 0.1
    text = f"""
name: mass on a belt
robot:
  bodies:
    - {{name: belt, inertial: {{mass_kg: 1.0e+10, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}
    - {{name: light, inertial: {{mass_kg: 1.0e-9, inertia_kg_m2: {{xx: 1.0e-9, yy: 1.0e-9, zz: 1.0e-9}}}}}}
    - {{name: mass, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 1.0, yy: 1.0, zz: 1.0}}}}}}
  joints:
    - {{name: belt, type: prismatic, parent: world, child: belt, axis: [1, 0, 0]}}
    - {{name: x, type: prismatic, parent: world, child: light, axis: [1, 0, 0]}}
    - {{name: z, type: prismatic, parent: light, child: mass, axis: [0, 0, 1]}}
shapes:
  - {{name: belt, body: belt, kind: box, half_extents_m: [20, 1, 0.5], origin: {{xyz_m: [0, 0, -0.6]}}}}
  - {{name: mass, body: mass, kind: sphere, radius_m: 0.1}}
contacts: [{{between: [mass, belt], friction: {kinetic}, static_over_kinetic: {ratio}}}]
contact_regime: exact
torques: [{{joint: x, law: pd, stiffness_N_per_m: 100.0, reference_m: 0.0}}]
"""
    bench = Bench(text).begin(u={0: speed, 1: speed}).run(3.0)
    way = (ratio - 1.0) * kinetic * G / TURNS**2
    slip = (math.pi + 2.0 * math.atan2(speed / TURNS, way)) / TURNS
    first, period = ratio * kinetic * G / TURNS**2 / speed, 2.0 * way / speed + slip
    slides, sticks = bench.times(Event.SLIDES), bench.times(Event.STICKS)
    return bench, [
        instant("slips first at", slides[0], first),
        *(instant(f"sticks, {n + 1}", sticks[n], first + n * period + slip) for n in range(3)),
        *(instant(f"slips, {n + 1}", slides[n], first + n * period) for n in range(1, 4)),
    ]
