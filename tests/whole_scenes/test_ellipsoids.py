"""Ellipsoids that rock, spin and fall on planes, and touch others as solids with flat faces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.model.scene import Scene
from hapticsim.model.triangle_mesh import globe
from tests.naive import turned
from tests.seeds import seeds
from tests.solids import check_fall, end_of_two_that_touch
from tests.watch import Watch

HALF, MASS, G = (0.1, 0.06, 0.04), 1.3, 9.81
SIX = [0.0] * 3


def moments(half: tuple[float, ...]) -> np.ndarray:
    """About the axes of a solid ellipsoid [kg m^2]."""
    squares = np.array(half) ** 2
    return MASS / 5.0 * (squares.sum() - squares)


def scene(
    at: list[float],
    rpy: list[float],
    v: list[float] | None = None,
    w: list[float] | None = None,
    half: tuple[float, ...] = HALF,
    e: float = 0.0,
    shape: str = "",
    more: str = "",
    floor: str = "plane",
) -> Scene:
    """A free ellipsoid over a floor; ``shape`` is another kind of its size, ``more`` keys of the scene."""
    xx, yy, zz = moments(half).tolist()
    start = {
        "xyz_m": at, "rpy_rad": rpy, "velocity_m_per_s": v or SIX, "angular_velocity_rad_per_s": w or SIX,
    }  # fmt: skip
    start = {key: [float(x) for x in value] for key, value in start.items()}
    return loads(f"""
name: an ellipsoid
gravity_m_per_s2: [0, 0, {-G}]
robot:
  bodies: [{{name: egg, inertial: {{mass_kg: {MASS}, inertia_kg_m2: {{xx: {xx}, yy: {yy}, zz: {zz}}}}}}}]
  joints: [{{name: flight, type: free, parent: world, child: egg}}]
shapes:
  - {{name: shell, body: egg, {shape or f"kind: ellipsoid, radii_m: {list(half)}"}}}
  - {{name: floor, kind: {floor}}}
contacts: [{{between: [shell, floor], restitution: {e}}}]
initial: {{free: {{flight: {start}}}}}
{more}
""")


def lowest(sim: hs.Simulation, half: tuple[float, ...]) -> float:
    """Height [m] of the lowest point over z = 0."""
    q = sim.state.q
    return float(q[2] - np.linalg.norm(turned(q[3:7])[2] * half))


ROCKS = [(0.01, HALF, 2e-7), (0.7, HALF, 2e-7), (0.3, (0.02, 0.1, 0.01), 2e-6)]


@pytest.mark.parametrize(("tilt", "half", "off"), ROCKS)
def test_one_that_rocks_moves_as_its_lagrangian_says(tilt, half, off):
    """About x, by the height h of its middle: (I + m h'^2) t'' + m h' h'' t'^2 + m g h' = 0."""
    _, b, c = half
    inertia = moments(half)[0]

    def rate(_: float, y: np.ndarray) -> list[float]:
        t, t_dot = y
        h = np.sqrt((b * np.sin(t)) ** 2 + (c * np.cos(t)) ** 2)
        h1 = (b * b - c * c) * np.sin(t) * np.cos(t) / h
        h2 = (b * b - c * c) * np.cos(2.0 * t) / h - h1 * h1 / h
        return [t_dot, -(MASS * h1 * h2 * t_dot**2 + MASS * G * h1) / (inertia + MASS * h1**2)]

    sim = hs.Simulation(
        scene([0.0, 0.0, float(np.hypot(b * np.sin(tilt), c * np.cos(tilt)))], [tilt, 0.0, 0.0], half=half)
    )
    seen = Watch(sim)
    told = solve_ivp(rate, (0.0, 1.0), [tilt, 0.0], rtol=1e-11, atol=1e-13, dense_output=True).sol
    for _ in range(100):
        seen.take(10)
        axis = turned(sim.state.q[3:7])[:, 2]
        assert np.arctan2(-axis[1], axis[2]) == pytest.approx(told(sim.state.time)[0], abs=off)
    assert seen.deepest > -1e-9 and seen.widest < 1e-9
    assert abs(seen.rise) < 2e-8 and seen.counts[Event.TOUCH] == 1 and not seen.counts[Event.LEAVE]


def test_small_rocking_has_the_period_of_its_curvature():
    """w^2 = m g (b^2 - c^2) / (c I), by the radius of curvature b^2 / c less the height c of the middle."""
    _, b, c = HALF
    w = np.sqrt(MASS * G * (b * b - c * c) / (c * moments(HALF)[0]))
    sim = hs.Simulation(scene([0.0, 0.0, c], SIX, w=[1e-4 * w, 0.0, 0.0]))
    tilts = []
    for _ in range(1000):
        sim.step()
        tilts.append(2.0 * sim.state.q[4])
    times = 1e-3 * np.arange(1, 1001)
    assert np.array(tilts) == pytest.approx(1e-4 * np.sin(w * times), abs=1e-9)


def test_one_with_equal_half_axes_moves_as_a_ball():
    ends = []
    for shape in ("kind: ellipsoid, radii_m: [0.05, 0.05, 0.05]", "kind: sphere, radius_m: 0.05"):
        sim = hs.Simulation(
            scene(
                [0.0, 0.0, 0.1], [0.4, 0.2, 0.1], [0.3, 0.0, 0.0], [3.0, 5.0, -4.0], (0.05,) * 3, 0.5, shape
            )
        )
        sim.step(700)
        ends.append(np.concatenate([sim.state.q, sim.state.u]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_one_that_spins_fast_on_its_long_axis_keeps_its_energy_and_its_plane():
    """It precesses, and its support point runs round it."""
    tilt = 0.2
    up = float(np.hypot(0.06 * np.sin(tilt), 0.1 * np.cos(tilt)))
    sim = hs.Simulation(scene([0.0, 0.0, up], [tilt, 0.0, 0.0], w=[0.0, 0.0, 60.0], half=(0.06, 0.06, 0.1)))
    seen = Watch(sim).take(1000)
    assert seen.deepest > -1e-9 and seen.widest < 1e-9 and abs(seen.rise) < 1e-9
    assert not seen.counts[Event.LEAVE]


def thrown(seed: int, more: str = "", sinks: float = 1e-6) -> None:
    """Thrown at the floor anyhow, it never sinks nor gains energy."""
    rng = np.random.default_rng(seed)
    half = tuple((10.0 ** rng.uniform(-2.3, -1.0, 3)).tolist())
    made = scene(
        [0.0, 0.0, max(half) + 0.05], rng.uniform(-np.pi, np.pi, 3).tolist(),
        (0.5 * rng.normal(size=3)).tolist(), (rng.normal(size=3) * rng.choice([0.0, 3.0, 20.0])).tolist(),
        half, float(rng.choice([0.0, 0.0, 0.6])), more=more,
    )  # fmt: skip
    sim = hs.Simulation(made)
    scale = sum(sim.energy()) - MASS * G * min(half)
    check_fall(sim, lambda fallen: lowest(fallen, half), scale, sinks)


@pytest.mark.parametrize("seed", seeds(8, 300))
def test_ellipsoids_thrown_at_a_floor_never_sink_and_never_gain_energy(seed):
    thrown(seed)


@pytest.mark.parametrize("seed", seeds(3, 100))
def test_nor_do_they_in_the_time_stepping_regime(seed):
    thrown(seed, "contact_regime: time_stepping", 1e-3)


# ---- solids


@pytest.mark.parametrize("sides", [4, 5, 12])
def test_one_with_sides_is_to_a_box_a_solid_with_flat_faces(sides):
    """It moves as the mesh of that solid, to the bit, and stays out of the box."""
    box = "box, half_extents_m: [0.2, 0.2, 0.1], origin: {xyz_m: [0, 0, -0.1]}"
    shape = f"kind: ellipsoid, radii_m: {list(HALF)}, sides: {sides}"
    made = scene(
        [0.01, 0.02, 0.11], [0.3, 0.8, 0.1], [0.1, 0.0, 0.0], [0.3, -0.2, 0.1], shape=shape, floor=box
    )
    solid = replace(made.shapes[0], kind="mesh", mesh=globe(HALF, sides), sides=None)
    as_mesh = replace(made, shapes=(solid, made.shapes[1]))
    np.testing.assert_array_equal(end_of_two_that_touch(made, 400), end_of_two_that_touch(as_mesh, 400))


@pytest.mark.parametrize("sides", range(4, 13))
def test_that_solid_lies_within_the_ellipsoid_by_as_much_as_is_said(sides):
    bands = sides // 2
    solid = globe(HALF, sides)
    assert np.linalg.norm(solid.vertices / HALF, axis=1) == pytest.approx(1.0)
    assert solid.is_convex and len(solid.hull.vertices) == sides * (bands - 1) + 2
    unit = globe((1.0, 1.0, 1.0), sides)
    least = np.abs(unit.hull.planes[:, 3]).min()
    assert least >= np.cos(np.pi / sides) * np.cos(0.5 * np.pi / bands) - 1e-12
