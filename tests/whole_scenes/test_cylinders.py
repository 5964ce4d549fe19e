"""Cylinders that stand, lie, slide, roll, tip and wobble on planes, and touch others as prisms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.model.candidates import STANDS_ON, STANDS_OUT, WITHIN_RIM
from hapticsim.model.scene import Scene
from hapticsim.model.triangle_mesh import prism
from tests.naive import turned
from tests.seeds import seeds
from tests.solids import end_of_two_that_touch
from tests.watch import Watch

R, LENGTH, MASS, G = 0.05, 0.12, 1.3, 9.81
A, C = MASS * (3.0 * R**2 + LENGTH**2) / 12.0, MASS * R**2 / 2.0  # moments across and along the axis
LYING = [0.0, np.pi / 2.0, 0.0]


def scene(
    at: list[float],
    rpy: list[float],
    v: list[float] | None = None,
    w: list[float] | None = None,
    radius: float = R,
    length: float = LENGTH,
    e: float = 0.0,
    slope: float = 0.0,
    more: str = "",
) -> Scene:
    """A free cylinder over a plane through the origin, turned about x; speeds in axes of the world."""
    across, along = MASS * (3.0 * radius**2 + length**2) / 12.0, MASS * radius**2 / 2.0
    moments = f"{{xx: {across}, yy: {across}, zz: {along}}}"
    start = {
        "xyz_m": at, "rpy_rad": rpy, "velocity_m_per_s": v or [0.0] * 3,
        "angular_velocity_rad_per_s": w or [0.0] * 3,
    }  # fmt: skip
    start = {key: [float(x) for x in value] for key, value in start.items()}
    return loads(f"""
name: a cylinder
gravity_m_per_s2: [0, 0, {-G}]
robot:
  bodies: [{{name: can, inertial: {{mass_kg: {MASS}, inertia_kg_m2: {moments}}}}}]
  joints: [{{name: flight, type: free, parent: world, child: can}}]
shapes:
  - {{name: drum, body: can, kind: cylinder, radius_m: {radius}, length_m: {length}}}
  - {{name: floor, kind: plane, origin: {{rpy_rad: [{slope}, 0, 0]}}}}
contacts: [{{between: [drum, floor], restitution: {e}}}]
initial: {{free: {{flight: {start}}}}}
{more}
""")


def axis(sim: hs.Simulation) -> np.ndarray:
    return turned(sim.state.q[3:7])[:, 2]


def height(tilt: float, radius: float = R, length: float = LENGTH) -> float:
    """Of the middle over the plane [m], the axis being tilted from the vertical by this [rad]."""
    return float(0.5 * length * np.cos(tilt) + radius * np.sin(tilt))


def test_one_that_stands_bears_its_weight_on_fixed_points_and_may_spin():
    sim = hs.Simulation(scene([0.0, 0.0, 0.5 * LENGTH], [0.0, 0.0, 0.4], w=[0.0, 0.0, 30.0]))
    seen = Watch(sim).take(500)
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(MASS * G, rel=1e-9)
    assert sim.state.q[:3] == pytest.approx([0.0, 0.0, 0.5 * LENGTH], abs=1e-12)
    assert sim.state.u == pytest.approx([0.0, 0.0, 30.0, 0.0, 0.0, 0.0], abs=1e-9)
    assert seen.deepest == pytest.approx(-STANDS_OUT * R, abs=1e-12)


def test_one_that_lies_has_two_contacts_and_spins_about_its_axis_at_the_same_height():
    sim = hs.Simulation(scene([0.0, 0.0, R], LYING, w=[25.0, 0.0, 0.0]))
    seen = Watch(sim).take(1000)
    assert [c.force for c in sim.state.contacts] == pytest.approx([0.5 * MASS * G] * 2, rel=1e-9)
    assert sim.state.q[2] == pytest.approx(R, abs=1e-13)
    assert abs(seen.rise) < 1e-12 and seen.counts[Event.TOUCH] == 2 and not seen.counts[Event.LEAVE]


def test_one_that_lies_slides_down_a_plane_with_the_weight_along_it():
    """Without friction nothing turns it."""
    slope = 0.3
    n = np.array([0.0, -np.sin(slope), np.cos(slope)])
    sim = hs.Simulation(scene((R * n).tolist(), LYING, slope=slope))
    sim.step(500)
    down = np.array([0.0, -np.cos(slope), -np.sin(slope)])
    assert sim.state.q[:3] == pytest.approx(R * n + 0.5 * G * np.sin(slope) * 0.25 * down, abs=1e-9)
    assert np.abs(sim.state.u[:3]).max() < 1e-9


def test_one_that_rolls_down_a_plane_without_slipping_has_two_thirds_of_that():
    slope = 0.3
    n = np.array([0.0, -np.sin(slope), np.cos(slope)])
    rolls = (
        "constraints: [{name: rolls, kind: rolling, bodies: [can, world], "
        f"radius_m: {R}, normal_b: {n.tolist()}}}]"
    )
    sim = hs.Simulation(scene((R * n).tolist(), LYING, slope=slope, more=rolls))
    seen = Watch(sim).take(1000)
    down = np.array([0.0, -np.cos(slope), -np.sin(slope)])
    assert sim.state.q[:3] == pytest.approx(R * n + G * np.sin(slope) / 3.0 * down, abs=1e-7)
    assert seen.deepest > -1e-12 and seen.rise < 1e-9


@pytest.mark.parametrize("kick", [0.0, 10.0])
def test_one_that_tips_over_its_rim_moves_as_its_lagrangian_says(kick):
    """Back or over, by its height h at a tilt t: (A + m h'^2) t'' + m h' h'' t'^2 + m g h' = 0."""
    tilt = 0.02

    def rate(_: float, y: np.ndarray) -> list[float]:
        t, t_dot = y
        h1 = -0.5 * LENGTH * np.sin(t) + R * np.cos(t)
        h2 = -0.5 * LENGTH * np.cos(t) - R * np.sin(t)
        return [t_dot, -(MASS * h1 * h2 * t_dot**2 + MASS * G * h1) / (A + MASS * h1**2)]

    def flat(_: float, y: np.ndarray) -> float:
        return float(np.pi / 4.0 - abs(y[0] - np.pi / 4.0))

    vars(flat)["terminal"] = True  # as scipy reads it
    lands = solve_ivp(rate, (0.0, 5.0), [tilt, kick], events=flat, rtol=1e-11, atol=1e-13, dense_output=True)
    falls_over = lands.y[0, -1] > 1.0
    assert falls_over == (kick > 0.0)
    rises = kick * (-0.5 * LENGTH * np.sin(tilt) + R * np.cos(tilt))
    sim = hs.Simulation(
        scene([0.0, 0.0, height(tilt)], [tilt, 0.0, 0.0], v=[0.0, 0.0, rises], w=[kick, 0.0, 0.0])
    )
    seen, ticks = Watch(sim), int(1000.0 * lands.t[-1]) - 1
    for _ in range(ticks // 10):
        seen.take(10)
        assert np.arccos(axis(sim)[2]) == pytest.approx(lands.sol(sim.state.time)[0], abs=2e-7)
    assert seen.rise < 1e-9 and seen.counts[Event.TOUCH] == 1
    seen.take(1000)
    assert sim.state.q[2] == pytest.approx(R if falls_over else 0.5 * LENGTH + STANDS_OUT * R, abs=1e-9)
    assert np.abs(np.delete(sim.state.u, 2)).max() < 1e-6 and seen.deepest > -1e-9


@pytest.mark.parametrize(("tilt", "length"), [(0.5, LENGTH), (0.3, 0.1 * R), (0.05, 0.1 * R)])
def test_a_coin_that_goes_round_steadily_keeps_its_tilt(tilt, length):
    """A p^2 sin t cos t = m g h'(t) for the rate p round the vertical, where nothing turns about the axis."""
    radius = R
    across = MASS * (3.0 * radius**2 + length**2) / 12.0
    slope = -0.5 * length * np.sin(tilt) + radius * np.cos(tilt)
    p = np.sqrt(MASS * G * slope / (across * np.sin(tilt) * np.cos(tilt)))
    out = turned(np.array([np.cos(0.5 * tilt), np.sin(0.5 * tilt), 0.0, 0.0]))[:, 2]
    w = p * (np.array([0.0, 0.0, 1.0]) - np.cos(tilt) * out)
    sim = hs.Simulation(
        scene([0.0, 0.0, height(tilt, radius, length)], [tilt, 0.0, 0.0], w=w.tolist(), radius=radius,
              length=length)
    )  # fmt: skip
    seen = Watch(sim).take(500)
    assert np.arccos(axis(sim)[2]) == pytest.approx(tilt, abs=1e-5 * tilt)
    turn = np.arctan2(axis(sim)[0], -axis(sim)[1])
    assert np.angle(np.exp(1j * (turn - p * 0.5))) == pytest.approx(0.0, abs=1e-4)
    assert seen.deepest > -1e-8 and abs(seen.drift) < 1e-8
    assert seen.counts[Event.TOUCH] == 1 and not seen.counts[Event.LEAVE]


@pytest.mark.parametrize("turn", [0.0, np.pi / STANDS_ON])
def test_a_coin_that_falls_flat_comes_to_rest_on_its_face(turn):
    """A fixed point is the lowest, or two are equally low."""
    tilt, length = 0.4, 0.1 * R
    sim = hs.Simulation(
        scene([0.0, 0.0, height(tilt, R, length)], [tilt, 0.0, turn], radius=R, length=length)
    )
    seen = Watch(sim).take(1500)
    assert sim.state.q[2] == pytest.approx(0.5 * length + STANDS_OUT * R, abs=1e-9)
    assert np.abs(sim.state.u).max() < 1e-6
    assert seen.deepest > -1e-9 and seen.rise < 1e-9
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(MASS * G, rel=1e-6)


def deepest_point(sim: hs.Simulation, radius: float, length: float) -> float:
    """Height [m] of the lowest point of a cylinder over z = 0, as if nothing stood out of it."""
    up = axis(sim)[2]
    return float(sim.state.q[2] - 0.5 * length * abs(up) - radius * np.sqrt(max(1.0 - up * up, 0.0)))


def thrown(seed: int) -> None:
    """Thrown at the floor anyhow, it never sinks nor gains energy; what it loses is told."""
    rng = np.random.default_rng(seed)
    radius, length = rng.uniform(0.01, 0.1), 10.0 ** rng.uniform(-2.5, -0.7)
    rpy = rng.uniform(-np.pi, np.pi, 3)
    if rng.random() < 0.4:
        rpy[:2] = rng.choice([0.0, 0.5 * np.pi]), rng.normal() * rng.choice([0.0, 1e-6, 1e-4, 1e-2])
    made = scene(
        [0.0, 0.0, radius + length], rpy.tolist(), (0.5 * rng.normal(size=3)).tolist(),
        (rng.normal(size=3) * rng.choice([0.0, 3.0, 20.0])).tolist(), radius, length,
        float(rng.choice([0.0, 0.0, 0.6])),
    )  # fmt: skip
    sim = hs.Simulation(made)
    scale = sum(sim.energy()) - 0.5 * MASS * G * min(length, 2.0 * radius)
    for _ in range(1500):
        before = sum(sim.energy())
        sim.step()
        assert sum(sim.energy()) < before + 1e-6 * scale
        assert not {e.kind for e in sim.events} & {Event.THROUGH, Event.ENERGY, Event.NOT_FINITE}
        assert deepest_point(sim, radius, length) > -1e-6
    assert all(c.force >= 0.0 for c in sim.state.contacts)


@pytest.mark.parametrize("seed", seeds(20, 300))
def test_cylinders_thrown_at_a_floor_never_sink_and_never_gain_energy(seed):
    thrown(seed)


def test_the_rim_takes_over_where_fixed_points_leave_off():
    """Tilted by 1e-3 and more the rim alone is the lowest; below 1e-4 it is higher than a fixed point."""
    for tilt, by_rim in ((1.1e-3, True), (9e-5, False)):
        for turn in np.linspace(0.0, 2.0 * np.pi / STANDS_ON, 7):
            made = scene([0.0, 0.0, 1.0], [tilt, 0.0, turn])
            gaps = hs.Simulation(made).gaps
            assert (np.argmin(gaps) < 2) == by_rim, "the two rims come first"
            exact = 1.0 - height(tilt)
            assert gaps.min() == pytest.approx(exact, abs=1e-14 if by_rim else 1.1 * STANDS_OUT * R)
    assert WITHIN_RIM < 1.0


# ---- prisms

BOX = "  - {name: block, kind: box, half_extents_m: [0.2, 0.2, 0.1], origin: {xyz_m: [0, 0, -0.1]}}"
OTHERS = {
    "box": BOX,
    "capsule": "  - {name: block, kind: capsule, radius_m: 0.1, length_m: 0.3, "
    "origin: {xyz_m: [0, 0, -0.1], rpy_rad: [1.5707963267948966, 0, 0]}}",
    "cylinder": "  - {name: block, kind: cylinder, radius_m: 0.15, length_m: 0.2, sides: 24, "
    "origin: {xyz_m: [0, 0, -0.1]}}",
}


def on_block(kind: str, rpy: list[float], up: float, sides: int = 24) -> Scene:
    made = scene([0.01, 0.02, up], rpy, v=[0.1, 0.0, 0.0], w=[0.3, -0.2, 0.1])
    block = loads(
        "name: x\nrobot: {bodies: [{name: b, inertial: {mass_kg: 1, inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}}], "
        f"joints: [{{name: j, type: free, parent: world, child: b}}]}}\nshapes:\n{OTHERS[kind]}\n"
    ).shapes[0]
    drum = replace(made.shapes[0], sides=sides)
    pair = replace(made.contacts[0], a="drum", b="block")
    if kind == "capsule":
        pair = replace(pair, a="block", b="drum")
    return replace(made, shapes=(drum, block), contacts=(pair,))


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("sides", [3, 24, 32])
def test_a_cylinder_with_sides_is_to_others_a_prism(kind, sides):
    """It moves as the mesh of that prism, to the bit, and stays out of the other."""
    made = on_block(kind, [0.3, 0.8, 0.1], 0.1, sides)
    solid = prism(R, LENGTH, sides)
    drum = replace(made.shapes[0], kind="mesh", size=(R, R, 0.5 * LENGTH), mesh=solid, sides=None)
    pair = made.contacts[0]
    as_mesh = replace(made, shapes=(drum, replace(made.shapes[1])), contacts=(pair,))
    np.testing.assert_array_equal(end_of_two_that_touch(made, 600), end_of_two_that_touch(as_mesh, 600))


def test_a_prism_lies_within_its_cylinder():
    for sides in (3, 24, 32):
        solid = prism(R, LENGTH, sides)
        assert np.hypot(*solid.vertices.T[:2]) == pytest.approx(R)
        assert solid.is_convex and len(solid.hull.vertices) == 2 * sides
        least = np.abs(solid.hull.planes[:, 3]).min()
        assert least == pytest.approx(min(R * np.cos(np.pi / sides), 0.5 * LENGTH))
