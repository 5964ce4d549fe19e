"""Contacts by impulses over whole ticks: closed forms, piles, what is refused, and the same bits again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from pile_maker import make_pile
from scene_trial import loaded, run

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.model.scene import TIME_STEPPING, Scene
from tests.places import CONFIGS

G = 9.81
HALF = 0.05  # [m] of a cube
DEVICE = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=5000.0, max_damping_Ns_per_m=30.0, apparent_mass_kg=0.2
)
LONG = pytest.mark.long


def one(
    shape: str, start: str, restitution: float = 0.0, floor: str = "", others: str = "", mass: float = 1.0
) -> hs.Simulation:
    """A free body with a shape over a floor."""
    inertial = f"{{mass_kg: {mass}, inertia_kg_m2: {{xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}}}}"
    return hs.Simulation(
        loads(f"""
name: one
contact_regime: time_stepping
robot:
  bodies: [{{name: b, inertial: {inertial}}}]
  joints: [{{name: j, type: free, parent: world, child: b}}]
shapes:
  - {{name: s, body: b, {shape}}}
  - {{name: floor, kind: plane{floor}}}
{others}
contacts: [{{between: ["*", "*"], restitution: {restitution}}}]
initial: {{free: {{j: {{{start}}}}}}}
""")
    )


def cubes(places: list[tuple[float, float, float]], regime: str = TIME_STEPPING) -> Scene:
    """Cubes of 1 kg, all of which may touch all."""
    inertial = "{mass_kg: 1.0, inertia_kg_m2: {xx: 1.7e-3, yy: 1.7e-3, zz: 1.7e-3}}"
    bodies = joints = shapes = start = ""
    for i, place in enumerate(places):
        bodies += f"    - {{name: b{i}, inertial: {inertial}}}\n"
        joints += f"    - {{name: j{i}, type: free, parent: world, child: b{i}}}\n"
        shapes += f"  - {{name: s{i}, body: b{i}, kind: box, half_extents_m: [{HALF}, {HALF}, {HALF}]}}\n"
        start += f"    j{i}: {{xyz_m: {list(place)}}}\n"
    return loads(
        f"name: cubes\ncontact_regime: {regime}\nrobot:\n  bodies:\n{bodies}  joints:\n{joints}"
        f"shapes:\n  - {{name: floor, kind: plane}}\n{shapes}"
        f'contacts: [{{between: ["*", "*"]}}]\ninitial:\n  free:\n{start}'
    )


def weight_on(sim: hs.Simulation, name: str) -> float:
    return sum(contact.force for contact in sim.state.contacts if name in (contact.a, contact.b))


def test_a_box_rests_and_its_weight_is_borne():
    sim = one("kind: box, half_extents_m: [0.03, 0.02, 0.01]", "xyz_m: [0, 0, 0.01]")
    start = sim.state.q
    sim.step(1000)
    np.testing.assert_allclose(sim.state.q, start, atol=1e-9)
    np.testing.assert_allclose(sim.state.u, 0.0, atol=1e-9)
    assert weight_on(sim, "floor") == pytest.approx(G, rel=1e-6)
    assert len(sim.state.contacts) == 4


def test_a_box_slides_down_a_slope_as_without_friction():
    a = 0.3
    place = f"xyz_m: [{0.01 * math.sin(a)}, 0, {0.01 * math.cos(a)}], rpy_rad: [0, {a}, 0]"
    floor = f", origin: {{rpy_rad: [0, {a}, 0]}}"
    sim = one("kind: box, half_extents_m: [0.03, 0.02, 0.01]", place, floor=floor)
    start, energy = sim.state.q, sum(sim.energy())
    sim.step(500)
    way = np.linalg.norm(sim.state.q[:3] - start[:3])
    assert way == pytest.approx(0.5 * G * math.sin(a) * 0.25, abs=1e-7)
    assert -1e-7 < sum(sim.energy()) - energy <= 1e-12


@pytest.mark.parametrize("restitution", (0.3, 0.8, 0.95))
def test_a_ball_bounces_to_the_square_of_its_restitution(restitution: float):
    sim = one("kind: sphere, radius_m: 0.02", "xyz_m: [0, 0, 0.12]", restitution)
    heights = []
    for _ in range(int(1000 * (1.0 + 2.0 * restitution) * math.sqrt(0.2 / G)) - 20):
        sim.step()
        heights.append(sim.state.q[2] - 0.02)
    first = max(heights[150:])
    assert first == pytest.approx(0.1 * restitution**2, rel=2e-3)
    assert min(heights) > -1e-6


def test_two_balls_exchange_their_momentum():
    scene = loads("""
name: two
contact_regime: time_stepping
gravity_m_per_s2: [0, 0, 0]
robot:
  bodies:
    - {name: a, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}}}
    - {name: b, inertial: {mass_kg: 3.0, inertia_kg_m2: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}}}
  joints:
    - {name: ja, type: free, parent: world, child: a}
    - {name: jb, type: free, parent: world, child: b}
shapes:
  - {name: a, body: a, kind: sphere, radius_m: 0.05}
  - {name: b, body: b, kind: sphere, radius_m: 0.05}
contacts: [{between: [a, b], restitution: 0.5}]
initial:
  free:
    ja: {xyz_m: [0, 0, 0], velocity_m_per_s: [2.0, 0, 0]}
    jb: {xyz_m: [0.2004, 0, 0]}
""")
    sim = hs.Simulation(scene)
    sim.step(200)
    u = sim.state.u
    along = u[3], u[9]  # angular velocities come first
    if abs(u[0]) > 1e-9 or abs(u[3]) < 1e-9:
        along = u[0], u[6]
    np.testing.assert_allclose(along, [2.0 * (1 - 3 * 0.5) / 4, 2.0 * 1.5 / 4], atol=1e-6)


@pytest.mark.parametrize("late", range(0, 20, 4))
def test_a_ball_at_50_m_per_s_does_not_pass_a_plate_of_2_mm(late: int):
    plate = "  - {name: plate, kind: box, half_extents_m: [0.5, 0.5, 0.001], origin: {xyz_m: [0, 0, 0.05]}}"
    start = f"xyz_m: [0, 0, {0.2 + late * 0.0025}], velocity_m_per_s: [0, 0, -50.0]"
    sim = one("kind: sphere, radius_m: 0.005", start, others=plate)
    for _ in range(30):
        sim.step()
        assert sim.state.q[2] >= 0.056 - 1e-6


def test_a_body_that_touches_nothing_moves_as_in_the_exact_regime():
    sims = [hs.Simulation(cubes([(0.0, 0.0, 2.0)], regime)) for regime in ("exact", TIME_STEPPING)]
    rng = np.random.default_rng(1)
    u = rng.normal(size=6) * 5.0
    for sim in sims:
        sim.set_state(sim.state.q, u)
        sim.step(300)
    np.testing.assert_allclose(sims[0].state.q, sims[1].state.q, atol=1e-13)
    np.testing.assert_allclose(sims[0].state.u, sims[1].state.u, atol=1e-12)


def test_a_stack_of_ten_cubes_stands_however_many_rows_the_scene_has():
    sim = hs.Simulation(cubes([(0.0, 0.0, HALF * (1 + 2 * i)) for i in range(10)]))
    start = sim.state.q
    sim.step(1000)
    np.testing.assert_allclose(sim.state.q, start, atol=1e-5)
    assert weight_on(sim, "floor") == pytest.approx(10 * G, rel=1e-3)


def test_the_hand_feels_the_wall_as_in_the_exact_regime():
    forces = {}
    for regime in ("exact", TIME_STEPPING):
        sim = hs.Simulation(hs.load(CONFIGS / "puck_and_wall.yaml", {"contact_regime": regime}))
        sim.couple(DEVICE)
        sim.set_device(np.zeros(3), np.zeros(3), 0.0005)
        sim.arm()
        sim.step(800)
        way = np.zeros(3)
        for tick in range(1500):
            way[0] = 0.04 * min(1.0, tick / 1000.0)
            sim.set_device(way, np.zeros(3), 0.0005)
            sim.step()
        assert sim.state.contacts
        forces[regime] = sim.state.hand_force.copy()
    np.testing.assert_allclose(forces[TIME_STEPPING], forces["exact"], rtol=1e-3, atol=1e-3)


def slider(damping: float, law: str = "", others: str = "", contacts: str = "") -> Scene:
    """A bead of 0.1 kg on a damped vertical rail, beside whatever ``others`` are."""
    bead = "{mass_kg: 0.1, inertia_kg_m2: {xx: 1.0e-4, yy: 1.0e-4, zz: 1.0e-4}}"
    box = "{mass_kg: 1.0, inertia_kg_m2: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}}"
    rail = f"damping_Ns_per_m: {damping}, axis: [0, 0, 1], origin: {{xyz_m: [0, 0, 0.5]}}"
    return loads(f"""
name: slider
contact_regime: time_stepping
robot:
  bodies: [{{name: bead, inertial: {bead}}}, {{name: box, inertial: {box}}}]
  joints:
    - {{name: rail, type: prismatic, parent: world, child: bead, {rail}}}
    - {{name: free, type: free, parent: world, child: box}}
shapes:
  - {{name: bead, body: bead, kind: box, half_extents_m: [0.1, 0.1, 0.02]}}
  - {{name: box, body: box, kind: box, half_extents_m: [0.05, 0.05, 0.05]}}
  - {{name: stop, kind: box, half_extents_m: [0.1, 0.1, 0.02], origin: {{xyz_m: [0, 0, 0.4599]}}}}
contacts:
{contacts}
{law}
initial: {{free: {{free: {{xyz_m: [0, 0, 0.57]}}}}}}
""")


@pytest.mark.parametrize("damping", (0.0, 10.0, 100.0, 1000.0))
def test_a_damped_body_pushes_a_stop_with_the_force_that_is_applied(damping: float):
    sim = hs.Simulation(slider(damping, contacts="  - {between: [bead, stop]}"))
    torque = np.zeros(7)
    torque[0] = -10.0
    sim.apply(torque=torque)
    sim.step(1500)
    assert weight_on(sim, "stop") == pytest.approx(10.0 + 0.1 * G, rel=2e-2)


@pytest.mark.parametrize("damping", (10.0, 100.0))
def test_a_law_bears_what_lies_on_it(damping: float):
    law = (
        "torques: [{joint: rail, law: pd, stiffness_N_per_m: 1000.0, "
        f"damping_Ns_per_m: {damping}, gravity_compensation: true}}]"
    )
    sim = hs.Simulation(slider(0.0, law, contacts="  - {between: [bead, box]}"))
    sim.step(6000)
    assert sim.state.q[0] == pytest.approx(-G / 1000.0, rel=2e-2)
    assert weight_on(sim, "box") == pytest.approx(G, rel=2e-2)


def test_a_cube_that_is_struck_within_a_tick_does_not_pass_what_is_behind_it():
    """A cube at 30 m/s strikes one at rest, that a second, and this a wall: gaps of 3 mm between all."""
    scene = cubes([(0.0, 0.0, 1.0), (0.103, 0.0, 1.0), (0.206, 0.0, 1.0)])
    wall = "  - {name: wall, kind: box, half_extents_m: [0.02, 0.5, 0.5], origin: {xyz_m: [0.279, 0, 1.0]}}\n"
    text = scene.source.replace("contacts:", f"{wall}contacts:", 1)
    sim = hs.Simulation(loads(text + "gravity_m_per_s2: [0, 0, 0]\n"))
    speeds = np.zeros(18)
    speeds[sim.scene.model.u_slice("j0").start + 3] = 30.0
    sim.set_state(sim.state.q, speeds)
    for _ in range(100):
        sim.step()
        assert not {Event.THROUGH, Event.ROWS_FULL} & {event.kind for event in sim.events}
        assert sim.state.q[14] < 0.21
    assert sum(sim.energy()) <= 0.5 * 30.0**2 + 1e-9


def test_what_falls_for_ever_does_not_make_everything_near():
    places = [(0.3 * i, 0.0, HALF) for i in range(4)]
    scene = cubes(places)
    floor = "  - {name: floor, kind: plane}"
    slab = "  - {name: floor, kind: box, half_extents_m: [0.55, 0.3, 0.05], origin: {xyz_m: [0.3, 0, -0.05]}}"
    sim = hs.Simulation(loads(scene.source.replace(floor, slab)))
    sim.step(4000)
    assert sim.state.q[7 * 3 + 2] < -50.0, "the last one had nothing under it"
    assert int(sim._workspace.frame_near.sum()) == 3
    assert sim._workspace.reach[0] < 0.01


SEEDS = [*range(3), *(pytest.param(seed, marks=LONG) for seed in range(3, 20))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_pile_gains_no_energy_and_nothing_is_inside(seed: int):
    verdict = run(make_pile(seed, 12, 1.0))
    assert not verdict.finds
    assert verdict.refused_ticks == 0
    assert verdict.contacts > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_pile_of_parts_that_rub_gains_no_energy_and_keeps_to_the_law(seed: int):
    trial = make_pile(seed, 12, 1.0, friction=True)
    verdict = run(trial)
    assert not verdict.finds
    assert verdict.refused_ticks == 0
    sim = hs.Simulation(loaded(trial))
    state, far = sim._state, []
    for _ in range(trial.ticks):
        sim.step()
        sizes = np.linalg.norm(state.friction_impulse_W, axis=1)
        assert np.all(sizes <= sim.plan.contact_friction * state.impulse + 1e-12), "in its cone"
        far.append(max(sim._workspace.cone_residual))
    assert np.median(far) < 2e-7
    assert np.percentile(far, 98) < 5e-5


@pytest.mark.parametrize("friction", [False, True])
def test_a_fork_goes_on_with_the_same_bits(friction: bool):
    trial = make_pile(7, 8, 1.0, friction=friction)
    trial.scene["shapes"] = [s for s in trial.scene["shapes"] if s["kind"] != "mesh"]
    sim = hs.Simulation(loaded(trial))
    sim.step(400)
    other = sim.fork()
    sim.step(300)
    end = sim.state
    sim.restore(other)
    sim.step(300)
    assert sim.state.q.tobytes() == end.q.tobytes()
    assert sim.state.u.tobytes() == end.u.tobytes()


def test_contacts_come_and_go_with_an_event_each():
    sim = one("kind: sphere, radius_m: 0.02", "xyz_m: [0, 0, 0.03]", 0.9)
    kinds = []
    for _ in range(120):
        sim.step()
        kinds += [event.kind for event in sim.events]
    assert kinds[0] == Event.TOUCH
    assert Event.LEAVE in kinds


def test_constraints_are_refused_in_a_sentence():
    scene = hs.load(CONFIGS / "four_bar.yaml")
    with pytest.raises(ConfigError, match=r"contact_regime.*'time_stepping', which has no constraints yet"):
        hs.Simulation(replace(scene, contact_regime=TIME_STEPPING))
    with pytest.raises(ConfigError, match="contact_regime"):
        hs.load(CONFIGS / "puck_and_wall.yaml", {"contact_regime": "soft"})


def test_a_scene_with_more_contacts_than_rows_is_told_of_the_regime_that_has_no_such_limit():
    exact = cubes([(0.3 * i, 0.0, HALF) for i in range(10)], "exact")
    assert any("with 'contact_regime: time_stepping' every tick is one" in note for note in exact.notes)
    assert not cubes([(0.3 * i, 0.0, HALF) for i in range(10)]).notes
