"""Damping, laws and couplers of any stiffness: nothing gains energy, and smooth motion keeps its order."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Safety
from hapticsim.config.load import load, loads
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA, STIFF_DAMPERS, STIFF_SPRINGS
from hapticsim.model.scene import Scene, TorqueLaw
from tests.places import CONFIGS

CHAIN = """
name: a chain with a light end
robot:
  bodies:
    - {name: b0, inertial: {mass_kg: 2.0, com_m: [0, 0, -0.2], inertia_kg_m2: {xx: 0.03, yy: 0.03, zz: 0.01}}}
    - {name: b1, inertial: {mass_kg: 1.0, com_m: [0.02, 0, -0.2],
       inertia_kg_m2: {xx: 0.02, yy: 0.02, zz: 0.01}}}
    - {name: b2, inertial: {mass_kg: 0.05, com_m: [0, 0.01, -0.05],
       inertia_kg_m2: {xx: 1.0e-4, yy: 1.0e-4, zz: 5.0e-5}}}
  joints:
    - {name: j0, type: revolute, parent: world, child: b0, axis: [0, 1, 0]}
    - {name: j1, type: revolute, parent: b0, child: b1, axis: [1, 0, 0], origin: {xyz_m: [0, 0, -0.4]}}
    - {name: j2, type: revolute, parent: b1, child: b2, axis: [0, 1, 0], origin: {xyz_m: [0, 0, -0.4]}}
handle: {body: b2, point_m: [0, 0, -0.1]}
"""
JOINTS = ("j0", "j1", "j2")

LIGHT_HANDLE = """
name: light handle
robot:
  bodies:
    - {name: b, inertial: {mass_kg: 3.0e-4, inertia_kg_m2: {xx: 1.08e-7, yy: 1.08e-7, zz: 1.08e-7}}}
  joints:
    - {name: j, type: free, parent: world, child: b}
gravity_m_per_s2: [0, 0, 0]
handle: {body: b}
initial: {free: {j: {xyz_m: [0, 0, 0.5]}}}
"""
OMEGA_3 = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=14500.0, max_damping_Ns_per_m=30.0, apparent_mass_kg=0.22
)


def chain(
    damping=(0.0, 0.0, 0.0), kp=(0.0, 0.0, 0.0), kd=(0.0, 0.0, 0.0), rate=1000.0, effort=np.inf, **changes
) -> Scene:
    scene = loads(CHAIN)
    joints = tuple(
        dataclasses.replace(j, damping=c, effort_limit=effort)
        for j, c in zip(scene.model.joints, damping, strict=True)
    )
    laws = tuple(
        TorqueLaw(name, stiffness=k, damping=d) for name, k, d in zip(JOINTS, kp, kd, strict=True) if k or d
    )
    model = dataclasses.replace(scene.model, joints=joints)
    return dataclasses.replace(scene, model=model, torque_laws=laws, rate_Hz=rate, **changes)


TRIALS = [20, pytest.param(150, marks=pytest.mark.long)]


def energies(sim: hs.Simulation, kp, ticks: int) -> np.ndarray:
    """Total energy after every tick, that of the springs of the laws included [J]."""
    found = []
    for _ in range(ticks):
        sim.step()
        kinds = {e.kind for e in sim.events}
        assert not kinds & {Event.ENERGY, Event.NOT_FINITE}, sim.events
        found.append(sum(sim.energy()) + 0.5 * float(np.dot(kp, sim.state.q**2)))
    return np.array(found)


def rise(energy: np.ndarray) -> float:
    return float(np.max(energy - np.minimum.accumulate(energy)))


@pytest.mark.parametrize("trials", TRIALS)
def test_joint_damping_of_any_size_never_gains_energy(trials):
    rng = np.random.default_rng(1)
    for trial in range(trials):
        damping = 10.0 ** rng.uniform(-4.0, 14.0, 3) * rng.integers(0, 2, 3)
        scene = chain(damping, rate=float(rng.choice([100.0, 250.0, 1000.0, 4000.0])))
        scene = dataclasses.replace(scene, q0=rng.uniform(-2.0, 2.0, 3), u0=rng.uniform(-4.0, 4.0, 3))
        sim = hs.Simulation(scene)
        energy = energies(sim, np.zeros(3), 60)
        assert rise(energy) <= 1e-6 * sim.plan.energy_scale, (trial, damping, scene.rate_Hz)
        assert np.all(np.abs(sim.state.u) < 100.0)


@pytest.mark.parametrize("trials", TRIALS)
def test_springs_and_dampers_of_torque_laws_of_any_size_never_gain_energy(trials):
    """Without gravity, which does work of its own; undamped ones too."""
    rng = np.random.default_rng(2)
    for trial in range(trials):
        kp = 10.0 ** rng.uniform(-1.0, 10.0, 3) * rng.integers(0, 2, 3)
        kd = 10.0 ** rng.uniform(-3.0, 8.0, 3) * rng.integers(0, 2, 3)
        scene = chain(kp=kp, kd=kd, rate=float(rng.choice([100.0, 1000.0])))
        model = dataclasses.replace(scene.model, gravity_W=np.zeros(3))
        scene = dataclasses.replace(
            scene,
            model=model,
            q0=rng.uniform(-1.0, 1.0, 3) * np.minimum(0.3, np.sqrt(2.0 / np.maximum(kp, 1e-9))),  # 1 J each
            u0=rng.uniform(-1.0, 1.0, 3),
        )
        sim = hs.Simulation(scene)
        start = sum(sim.energy()) + 0.5 * float(np.dot(kp, scene.q0**2))
        energy = energies(sim, kp, 80)
        # a law that can be held for a tick is held: between its samples it gives and takes
        most = 1.001 if sim.plan.law_in_stages else 1.3
        assert energy.max() <= most * start + 1e-9, (trial, kp, kd, scene.rate_Hz, start, energy.max())


def test_an_undamped_stiff_spring_comes_to_no_more_than_it_had_for_ever():
    """300 rad per tick, and one that goes on at 0.5 rad per tick beside it."""
    scene = chain(kp=(0.0, 0.0, 2e7), rate=1000.0)
    scene = dataclasses.replace(scene, q0=np.array([0.3, 0.2, 0.1]), u0=np.array([0.0, 0.0, 3.0]))
    sim = hs.Simulation(scene)
    start = sum(sim.energy()) + 0.5 * 2e7 * 0.1**2
    sim.step(20_000)
    assert sum(sim.energy()) + 0.5 * 2e7 * sim.state.q[2] ** 2 < start
    assert abs(sim.state.q[2]) < 1e-3, "it stands where the spring wants it"
    assert sim.state.fault == 0


def measured_order(scene: Scene, seconds: float, rates: list[float], method: int) -> float:
    """Slope of log error of the first two joints over log step."""
    ends = []
    for rate in [*rates, 8.0 * rates[-1]]:
        sim = hs.Simulation(dataclasses.replace(scene, rate_Hz=rate))
        sim.step(round(seconds * rate))
        if rate <= rates[-1]:
            assert sim._workspace.method[0] == method
        ends.append(np.concatenate([sim.state.q[:2], sim.state.u[:2]]))
    errors = [np.abs(end - ends[-1]).max() for end in ends[:-1]]
    assert min(errors) > 1e-12, f"too close to rounding to mean something: {errors}"
    return float(-np.polyfit(np.log(rates), np.log(errors), 1)[0])


def test_beside_a_stiff_damper_smooth_motion_keeps_its_fourth_order():
    """The last joint is as good as locked; the others swing."""
    scene = chain(damping=(0.0, 0.05, 1e3))
    scene = dataclasses.replace(scene, q0=np.array([0.5, 0.4, 0.3]), u0=np.array([1.0, -2.0, 0.0]))
    assert measured_order(scene, 0.4, [50.0, 100.0, 200.0], STIFF_DAMPERS) > 3.5


def test_beside_a_stiff_spring_smooth_motion_has_second_order():
    scene = chain(kp=(0.0, 0.0, 1e6), kd=(0.0, 0.0, 50.0))
    scene = dataclasses.replace(scene, q0=np.array([0.5, 0.4, 0.0]), u0=np.array([1.0, -2.0, 0.0]))
    assert measured_order(scene, 0.4, [100.0, 200.0, 400.0], STIFF_SPRINGS) > 1.8


def test_a_stiff_damper_under_load_creeps_as_it_must():
    """A rod held at the horizontal by 5e5 N m s/rad sinks at weight x arm / damping."""
    scene = chain(damping=(5e5, 1e9, 1e9), q0=np.array([np.pi / 2, 0.0, 0.0]))
    sim = hs.Simulation(scene)
    torque = sim.assembly.equations.bias(scene.q0, np.zeros(3))[0]
    sim.step(10)
    assert sim.state.u[0] == pytest.approx(-torque / 5e5, rel=1e-6)


def test_a_law_beyond_its_limit_brakes_with_its_limit_and_then_holds():
    """A damper that wants 1e6 N m and may 2: the same motion as under 2 N m, then rest without a flutter."""
    scene = chain(kd=(0.0, 0.0, 1e5), effort=0.01)
    model = dataclasses.replace(scene.model, gravity_W=np.zeros(3))
    scene = dataclasses.replace(scene, model=model, q0=np.zeros(3), u0=np.array([0.0, 0.0, 10.0]))
    sim = hs.Simulation(scene)
    twin = hs.Simulation(dataclasses.replace(scene, torque_laws=()))
    twin.apply(torque={"j2": -0.01})
    sim.step(100)
    twin.step(100)
    np.testing.assert_allclose(sim.state.u, twin.state.u, rtol=0, atol=1e-3)
    sim.step(2000)
    speeds = []
    for _ in range(20):
        sim.step()
        speeds.append(sim.state.u[2])
    assert np.ptp(speeds) < 1e-4, "it does not flutter between its limits"


def test_a_handle_of_a_third_of_a_gram_follows_the_device_without_a_buzz():
    """The derived stiffness swings it at 2.9 rad per tick: the classical method rings at the full force."""
    sim = hs.Simulation(loads(LIGHT_HANDLE))
    sim.couple(OMEGA_3)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    sim.step(600)
    assert sim._workspace.method[0] == STIFF_SPRINGS
    forces = []
    for k in range(1000):
        x = np.array([0.03 * (1.0 - np.cos(0.01 * k)), 0.0, 0.0])
        sim.set_device(x, np.array([0.3 * np.sin(0.01 * k), 0.0, 0.0]))
        sim.step()
        forces.append(np.linalg.norm(sim.state.hand_force))
    assert sim.state.safety is Safety.ARMED
    assert max(forces) < 0.1, "a third of a gram at 3 m/s^2 is a millinewton"


@pytest.mark.parametrize("name", ("wam_table", "panda_table", "puck_and_wall", "four_bar", "curve_guide"))
def test_shipped_scenes_keep_the_classical_method(name):
    sim = hs.Simulation(load(CONFIGS / f"{name}.yaml"))
    sim.couple(OMEGA_3)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    for _ in range(600):
        sim.step()
        assert sim._workspace.method[0] == RUNGE_KUTTA
        assert not {e.kind for e in sim.events} & {Event.ENERGY, Event.NOT_FINITE}


def test_a_robot_of_the_library_with_stiff_joints_falls_and_loses_energy():
    from hapticsim.commands.experiment import read_scene
    from hapticsim.model.robot_file.library import library_path

    sim = hs.Simulation(read_scene(library_path("xarm7"), []))
    assert sim.plan.damping_rate / 1000.0 > 2.78, "the classical method diverges"
    energy = energies(sim, np.zeros(7), 1000)
    assert rise(energy) == 0.0 and energy[-1] < energy[0]
