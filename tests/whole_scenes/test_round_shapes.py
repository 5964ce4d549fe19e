"""Spheres and capsules that touch one another: what is known in closed form, and energy."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from tests.naive import distance_to_cone, distance_to_cylinder, distance_to_ellipsoid, turned

BALL = """
    - {{name: {name}, inertial: {{mass_kg: {mass}, inertia_kg_m2: {{xx: {I}, yy: {I}, zz: {I}}}}}}}"""
FREE = """
    - {{name: j_{name}, type: free, parent: world, child: {name}}}"""
SHAPE = """
  - {{name: s_{name}, body: {name}, kind: sphere, radius_m: {radius}}}"""
START = """
    j_{name}: {{xyz_m: {at}, velocity_m_per_s: {v}, angular_velocity_rad_per_s: {w}}}"""


def balls(
    *of: dict, fixed: str = "", contacts: list[tuple[str, str]], e: float = 0.0, g: float = 0.0
) -> hs.Simulation:
    """Free balls: name, at, and where they differ mass, radius, v, w; and shapes fixed in the world."""
    known = {"mass": 1.0, "radius": 0.05, "I": 0.001, "v": [0, 0, 0], "w": [0, 0, 0]}
    all_of = [known | one for one in of]

    def each(form: str) -> str:
        return "".join(form.format(**one) for one in all_of)

    pairs = "".join(f"\n  - {{between: [{a}, {b}], restitution: {e}}}" for a, b in contacts)
    return hs.Simulation(
        loads(
            f"name: round\ngravity_m_per_s2: [0, 0, {-g}]\n"
            f"robot:\n  bodies:{each(BALL)}\n  joints:{each(FREE)}\n"
            f"shapes:{each(SHAPE)}{fixed}\ncontacts:{pairs}\ninitial:\n  free:{each(START)}\n"
        )
    )


def until(sim: hs.Simulation, kind: Event, ticks: int = 3000) -> float:
    """Step until an event of this kind, and return when it was [s]."""
    for _ in range(ticks):
        sim.step()
        for event in sim.events:
            if event.kind == kind:
                return event.time
    raise AssertionError(f"no {kind.name} in {ticks} ticks")


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("mass", [0.25, 1.0, 7.0])
def test_two_balls_that_meet_head_on_part_as_their_masses_say(e, mass):
    sim = balls(
        {"name": "a", "at": [0, 0, 0], "v": [1.2, 0, 0]},
        {"name": "b", "at": [0.2, 0, 0], "radius": 0.03, "mass": mass},
        contacts=[("s_a", "s_b")],
        e=e,
    )
    sim.step(150)
    q, u = sim.state.q, sim.state.u
    assert u[3] == pytest.approx((1.2 - e * mass * 1.2) / (1.0 + mass), abs=1e-9)
    assert u[9] == pytest.approx((1.2 + e * 1.2) / (1.0 + mass), abs=1e-9)
    assert np.abs(np.delete(u, [3, 9])).max() < 1e-12
    assert q[0] == pytest.approx(0.12 + 0.05 * u[3], abs=1e-9)  # they met after 0.1 s
    assert q[7] == pytest.approx(0.2 + 0.05 * u[9], abs=1e-9)


def slide(rho: float, g: float, cosine: float, v0: float) -> float:
    """Time [s] of a point without friction from the top of a circle of radius rho down to this cosine."""
    theta = np.linspace(0.0, np.arccos(cosine), 200001)
    rate = np.sqrt(v0**2 + 2.0 * g * rho * (1.0 - np.cos(theta))) / rho
    return float(np.trapezoid(1.0 / rate, theta))


@pytest.mark.parametrize(
    "fixed",
    [
        "sphere, radius_m: 0.3",
        "capsule, radius_m: 0.3, length_m: 1.0",
        "cylinder, radius_m: 0.3, length_m: 1.0",
        "ellipsoid, radii_m: [0.3, 0.3, 0.9]",
    ],
)
@pytest.mark.parametrize("v0", [0.2, 0.6])
def test_a_ball_leaves_a_round_top_where_its_weight_no_longer_bends_its_path(fixed, v0):
    """Without friction at cos = 2/3 + v0^2 / (3 g rho); across a log as on a ball."""
    g, rho = 9.81, 0.35
    lying = "origin: {rpy_rad: [1.5707963267948966, 0, 0]}"
    sim = balls(
        {"name": "a", "at": [0, 0, rho], "v": [v0, 0, 0]},
        fixed=f"\n  - {{name: top, kind: {fixed}, {lying}}}",
        contacts=[("s_a", "top")],
        g=g,
    )
    cosine = 2.0 / 3.0 + v0**2 / (3.0 * g * rho)
    left = until(sim, Event.LEAVE)
    assert left == pytest.approx(slide(rho, g, cosine, v0), abs=2e-6)
    assert sum(sim.energy()) == pytest.approx(0.5 * v0**2 + g * rho, rel=1e-9)


def test_a_ball_slides_along_a_log_and_over_its_end():
    """Along the side its row is straight, past the end curved: there it leaves as from the top of a ball."""
    g, v0, rho = 9.81, 0.5, 0.25
    sim = balls(
        {"name": "a", "at": [-0.1, 0, rho], "v": [v0, 0, 0]},
        fixed="\n  - {name: log, kind: capsule, radius_m: 0.2, length_m: 0.4, "
        "origin: {rpy_rad: [0, 1.5707963267948966, 0]}}",
        contacts=[("s_a", "log")],
        g=g,
    )
    left = until(sim, Event.LEAVE)
    cosine = 2.0 / 3.0 + v0**2 / (3.0 * g * rho)
    assert left == pytest.approx(0.3 / v0 + slide(rho, g, cosine, v0), abs=2e-6)
    assert sum(sim.energy()) == pytest.approx(0.5 * v0**2 + g * rho, rel=1e-9)


@pytest.mark.parametrize("standing", [False, True])
def test_a_ball_slides_over_the_rim_of_a_cylinder(standing):
    """Along its side, or over its flat end, and round the rim as round the edge of a box."""
    g, v0, rho = 9.81, 0.3, 0.05
    at, turn = ((-0.1, 0, 0.15), "0, 0, 0") if standing else ((-0.1, 0, 0.15), "0, 1.5707963267948966, 0")
    size = "radius_m: 0.2, length_m: 0.2" if standing else "radius_m: 0.1, length_m: 0.4"
    sim = balls(
        {"name": "a", "at": list(at), "v": [v0, 0, 0]},
        fixed=f"\n  - {{name: drum, kind: cylinder, {size}, origin: {{rpy_rad: [{turn}]}}}}",
        contacts=[("s_a", "drum")],
        g=g,
    )
    left = until(sim, Event.LEAVE)
    cosine = 2.0 / 3.0 + v0**2 / (3.0 * g * rho)
    assert left == pytest.approx(0.3 / v0 + slide(rho, g, cosine, v0), abs=2e-6)
    assert sum(sim.energy()) == pytest.approx(0.5 * v0**2 + g * 0.15, rel=1e-9)


def test_a_ball_slides_down_a_cone_with_the_weight_along_it_and_over_its_rim():
    """Along the side its row is straight, and what it turns by round the rim is curved."""
    g, R, half, r = 9.81, 0.1, 0.15, 0.02
    length = np.hypot(R, 2.0 * half)
    out, down = np.array([2.0 * half, 0.0, R]) / length, np.array([R, 0.0, -2.0 * half]) / length
    start = np.array([0.05 * R, 0.0, 0.95 * 2.0 * half - half]) + r * out
    sim = balls(
        {"name": "a", "at": start.tolist(), "radius": r},
        fixed=f"\n  - {{name: hat, kind: cone, radius_m: {R}, length_m: {2.0 * half}}}",
        contacts=[("s_a", "hat")],
        g=g,
    )
    rate = g * 2.0 * half / length
    for _ in range(20):
        sim.step(10)
        way = 0.5 * rate * sim.time**2
        assert sim.state.q[:3] == pytest.approx(start + way * down, abs=1e-9)
    before = g * start[2]
    assert until(sim, Event.LEAVE) == pytest.approx(np.sqrt(2.0 * 0.95 * length / rate), abs=0.02)
    assert sum(sim.energy()) == pytest.approx(before, rel=1e-9)


@pytest.mark.parametrize("v", [[0.3, 0.0, 0.0], [0.2, -0.3, 0.0]])
def test_a_ball_on_an_ellipsoid_keeps_its_energy_and_its_surface(v):
    """By plain geometry, until it leaves."""
    half, r, g = np.array([0.3, 0.2, 0.1]), 0.05, 9.81
    sim = balls(
        {"name": "a", "at": [0, 0, float(half[2]) + r], "radius": r, "v": v},
        fixed=f"\n  - {{name: egg, kind: ellipsoid, radii_m: {half.tolist()}}}",
        contacts=[("s_a", "egg")],
        g=g,
    )
    before, ticks = sum(sim.energy()), 0
    while not any(e.kind == Event.LEAVE for e in sim.events):
        assert abs(distance_to_ellipsoid(sim.state.q[:3], half) - r) < 1e-9
        assert sum(sim.energy()) == pytest.approx(before, rel=1e-9)
        sim.step()
        ticks += 1
    assert 50 < ticks < 1000


def plain_distance(kind: str, x: np.ndarray, size: tuple[float, ...]) -> float:
    if kind == "ellipsoid":
        return distance_to_ellipsoid(x, np.array(size))
    return (distance_to_cone if kind == "cone" else distance_to_cylinder)(x, size[0], 0.5 * size[1])


def thrown_at_a_solid(seed: int, kind: str = "cylinder") -> bool:
    """A ball and a solid on a body thrown at each other: their distance by plain geometry, and energy.

    Within what random_meshes.py allows, a micrometre and a millionth.  Returns whether they met.
    """
    rng = np.random.default_rng(seed)
    R, length, r = rng.uniform(0.03, 0.3), rng.uniform(0.03, 0.5), rng.uniform(0.005, 0.1)
    size, keys = (R, length), f"radius_m: {R}, length_m: {length}"
    if kind == "ellipsoid":
        size = (R, 0.5 * length, float(rng.uniform(0.02, 0.2)))
        keys = f"radii_m: {list(size)}"
    start = rng.normal(size=3)
    reach = max(0.5 * length + R, size[-1] if kind == "ellipsoid" else 0.0)
    start *= (reach + r + 0.05) / np.linalg.norm(start)
    speed = rng.choice([3.0, 10.0, 30.0])
    w, v = rng.normal(size=3).tolist(), (speed * (0.02 * rng.normal(size=3) - start)).tolist()
    sim = balls(
        {"name": "a", "at": start.tolist(), "radius": r, "v": v},
        {"name": "b", "at": [0, 0, 0], "mass": 2.0, "I": 0.02, "w": w, "radius": 1e-3},
        fixed=f"\n  - {{name: drum, body: b, kind: {kind}, {keys}}}",
        contacts=[("s_a", "drum")],
        e=float(rng.choice([0.0, 0.7])),
    )
    before, touched = sum(sim.energy()), False
    for _ in range(400):
        sim.step()
        q, after = sim.state.q, sum(sim.energy())
        x = turned(q[10:14]).T @ (q[:3] - q[7:10])
        assert plain_distance(kind, x, size) - r > -1e-6
        kinds = {event.kind for event in sim.events}
        lost = sum(event.value for event in sim.events if event.kind in (Event.TOUCH, Event.IMPULSE))
        assert after <= before * (1.0 + 1e-6)
        assert after + lost >= before * (1.0 - 1e-5)  # once a ball lost 2e-4 of it as it left over the rim
        assert not kinds & {Event.THROUGH, Event.ENERGY, Event.NOT_FINITE}
        before, touched = after, touched or bool(kinds & {Event.TOUCH, Event.IMPULSE})
    return touched


@pytest.mark.parametrize("seed", range(30))
def test_balls_and_cylinders_thrown_at_one_another_never_sink_and_never_gain_energy(seed):
    assert thrown_at_a_solid(seed)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kind", ["cone", "ellipsoid"])
def test_nor_do_balls_and_cones_or_ellipsoids(kind, seed):
    assert thrown_at_a_solid(seed, kind)


@pytest.mark.long
@pytest.mark.parametrize("first", range(100, 500, 100))
@pytest.mark.parametrize("kind", ["cylinder", "cone", "ellipsoid"])
def test_more_balls_and_solids(kind, first):
    assert sum(thrown_at_a_solid(seed, kind) for seed in range(first, first + 100)) > 90


def test_a_ball_lies_in_a_nest_of_three_and_each_bears_its_share():
    r, R, ring, g, mass = 0.05, 0.08, 0.09, 9.81, 1.5
    height = np.sqrt((r + R) ** 2 - ring**2)
    at = [(ring * np.cos(a), ring * np.sin(a), 0.0) for a in 2.0 * np.pi * np.arange(3) / 3.0]
    fixed = "".join(
        f"\n  - {{name: n{i}, kind: sphere, radius_m: {R}, origin: {{xyz_m: {list(map(float, p))}}}}}"
        for i, p in enumerate(at)
    )
    sim = balls(
        {"name": "a", "at": [0, 0, float(height)], "mass": mass},
        fixed=fixed,
        contacts=[("s_a", f"n{i}") for i in range(3)],
        g=g,
    )
    sim.step(500)
    share = mass * g / 3.0 * (r + R) / height
    assert [c.force for c in sim.state.contacts] == pytest.approx([share] * 3, rel=1e-9)
    for contact, place in zip(sim.state.contacts, at, strict=True):
        n = np.array([0, 0, height]) - place
        np.testing.assert_allclose(contact.normal, n / np.linalg.norm(n), atol=1e-9)
        np.testing.assert_allclose(contact.point, np.array(place) + R * n / np.linalg.norm(n), atol=1e-9)
    assert np.abs(sim.state.u).max() < 1e-9


def test_a_capsule_lies_along_another_on_both_its_ends():
    sim = balls(
        {"name": "a", "at": [0, 0, 5.0]},
        fixed="\n  - {name: lower, kind: capsule, radius_m: 0.1, length_m: 0.6,"
        " origin: {rpy_rad: [0, 1.5707963267948966, 0]}}"
        "\n  - {name: upper, body: a, kind: capsule, radius_m: 0.05, length_m: 0.3,"
        " origin: {xyz_m: [0, 0, -4.85], rpy_rad: [0, 1.5707963267948966, 0]}}",
        contacts=[("upper", "lower")],
        g=9.81,
    )
    sim.step(20)
    forces = [c.force for c in sim.state.contacts]
    assert forces == pytest.approx([0.5 * 9.81] * 2, rel=1e-6)


ALONG_X = "origin: {rpy_rad: [0, 1.5707963267948966, 0]}"


def test_a_capsule_lies_across_two_and_each_bears_its_share():
    logs = "".join(
        f"\n  - {{name: l{i}, kind: capsule, radius_m: 0.1, length_m: 0.6, "
        f"origin: {{xyz_m: [{x}, 0.05, 0], rpy_rad: [1.5707963267948966, 0, 0]}}}}"
        for i, x in enumerate((-0.2, 0.1))
    )
    sim = balls(
        {"name": "a", "at": [0, 0, 5.0]},
        fixed=logs + "\n  - {name: beam, body: a, kind: capsule, radius_m: 0.05, length_m: 0.8,"
        " origin: {xyz_m: [0.1, 0, -4.85], rpy_rad: [0, 1.5707963267948966, 0]}}",
        contacts=[("beam", "l0"), ("l1", "beam")],
        g=9.81,
    )
    sim.step(50)
    assert [c.force for c in sim.state.contacts] == pytest.approx([9.81 / 3.0, 9.81 * 2.0 / 3.0], rel=1e-9)
    for contact, x in zip(sim.state.contacts, (-0.2, 0.1), strict=True):
        np.testing.assert_allclose(np.abs(contact.normal), [0, 0, 1], atol=1e-9)
        np.testing.assert_allclose(contact.point, [x, 0.0, 0.1], atol=1e-9)
    assert np.abs(sim.state.u).max() < 1e-9


@pytest.mark.parametrize("e", [0.0, 0.6, 1.0])
@pytest.mark.parametrize("yaw", [0.01, 0.4, 1.5707963267948966])
def test_two_capsules_that_meet_crosswise_in_their_middles_part_as_two_balls(e, yaw):
    side = "kind: capsule, radius_m: 0.05, length_m: 0.4"
    sim = balls(
        {"name": "a", "at": [0, 0, 0]},
        {"name": "b", "at": [0, 0, 0.2], "mass": 3.0, "v": [0, 0, -1.0]},
        fixed=f"\n  - {{name: one, body: a, {side}, {ALONG_X}}}\n  - {{name: two, body: b, {side}, "
        f"origin: {{rpy_rad: [0, 1.5707963267948966, {yaw}]}}}}",
        contacts=[("one", "two")],
        e=e,
    )
    sim.step(130)
    u = sim.state.u
    assert u[5] == pytest.approx(-(3.0 + 3.0 * e) / 4.0, abs=1e-9)
    assert u[11] == pytest.approx(-(3.0 - e) / 4.0, abs=1e-9)
    assert np.abs(np.delete(u, [5, 11])).max() < 1e-9


RAILS = """
name: a beam that slides or turns, and falls, and cannot tip
gravity_m_per_s2: [0, 0, -9.81]
robot:
  bodies:
    - {{name: cart, inertial: {{mass_kg: 0, inertia_kg_m2: {{xx: 0, yy: 0, zz: 0}}}}}}
    - {{name: beam, inertial: {{mass_kg: 1.3, inertia_kg_m2: {{xx: 0.01, yy: 0.01, zz: 0.01}}}}}}
  joints:
    - {{name: along, type: {along}, parent: world, child: cart, axis: {axis}}}
    - {{name: up, type: prismatic, parent: cart, child: beam, axis: [0, 0, 1]}}
shapes:
  - {{name: side, body: beam, kind: capsule, radius_m: 0.05, length_m: 0.4, origin: {{{beam}}}}}
  - {{name: log, kind: capsule, radius_m: 0.1, length_m: 0.5,
     origin: {{rpy_rad: [0, 1.5707963267948966, 0]}}}}
contacts: [{{between: {order}}}]
initial: {{{start}}}
"""


@pytest.mark.parametrize("order", ["[side, log]", "[log, side]"])
@pytest.mark.parametrize(("axis", "way"), [("[1, 0, 0]", 0.25), ("[0, 1, 0]", 0.2)])
@pytest.mark.parametrize("v0", [0.3, 0.7])
def test_a_beam_slides_across_a_log_and_off_its_end_or_its_own(order, axis, way, v0):
    """Side on side, then the end of the one on the side of the other, from which it leaves as from a ball."""
    g, rho = 9.81, 0.15
    sim = hs.Simulation(
        loads(
            RAILS.format(
                along="prismatic",
                axis=axis,
                beam="rpy_rad: [1.5707963267948966, 0, 0]",
                order=order,
                start=f"q_m: {{along: 0.05, up: {rho}}}, u_m_per_s: {{along: {v0}}}",
            )
        )
    )
    energy, times = sum(sim.energy()), []
    for _ in range(2000):
        sim.step()
        times += [event.time for event in sim.events if event.kind == Event.LEAVE]
        if not sim.state.contacts and sim.time > (way - 0.05) / v0 + 0.01:
            break
    cosine = 2.0 / 3.0 + v0**2 / (3.0 * g * rho)
    assert times[-1] == pytest.approx((way - 0.05) / v0 + slide(rho, g, cosine, v0), abs=2e-6)
    assert sum(sim.energy()) == pytest.approx(energy, rel=1e-8)


@pytest.mark.parametrize("shift", ["0.0, 0.0", "0.1, 0.0", "-0.12, 0.0"])
@pytest.mark.parametrize("rate_Hz", [250, 1000])
def test_a_beam_turns_through_parallel_on_a_log_without_a_jolt(shift, rate_Hz):
    """About a vertical through the log: its height and its rate stay what they are."""
    sim = hs.Simulation(
        loads(
            RAILS.format(
                along="revolute",
                axis="[0, 0, 1]",
                beam=f"xyz_m: [{shift}, 0], rpy_rad: [0, 1.5707963267948966, 0]",
                order="[side, log]",
                start="q_rad: {along: 0.3217}, q_m: {up: 0.15}, u_rad_per_s: {along: -1.0}",
            )
            + f"rate_Hz: {rate_Hz}\n"
        )
    )
    for _ in range(int(0.7 * rate_Hz)):
        sim.step()
        assert sim.state.q[1] == pytest.approx(0.15, abs=1e-8)
        assert sim.state.u == pytest.approx([-1.0, 0.0], abs=1e-7)
    assert sim.state.q[0] == pytest.approx(0.3217 - 0.7, abs=1e-6)
    assert len(sim.state.contacts) == 1


def test_capsules_end_to_end_touch_at_one_point():
    upright = "kind: capsule, radius_m: 0.05, length_m: 0.2"
    sim = balls(
        {"name": "a", "at": [0, 0, 0.3]},
        fixed=f"\n  - {{name: lower, {upright}}}\n  - {{name: upper, body: a, {upright}}}",
        contacts=[("upper", "lower")],
        g=9.81,
    )
    sim.step(20)
    (contact,) = sim.state.contacts
    assert contact.force == pytest.approx(9.81, rel=1e-9)
    np.testing.assert_allclose(contact.point, [0.0, 0.0, 0.15], atol=1e-9)


def test_thin_shapes_do_not_start_past_one_anothers_middles():
    needle = "kind: capsule, radius_m: 0.0004, length_m: 0.2"
    why = r"puts 'upper' 0\.5 mm into 'lower': start with at most 0\.4 mm"
    with pytest.raises(hs.ConfigError, match=why):
        balls(
            {"name": "a", "at": [0, 0, 0.0003]},
            fixed=f"\n  - {{name: lower, {needle}, {ALONG_X}}}\n  - {{name: upper, body: a, {needle}, "
            "origin: {rpy_rad: [1.5707963267948966, 0, 0]}}",
            contacts=[("upper", "lower")],
        )
