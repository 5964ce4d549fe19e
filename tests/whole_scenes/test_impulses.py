"""What an impulse changes: constraints imposed in motion, landings, and bounces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from tests.loop_scenes import bodies, dropped, impulse, parallelogram
from tests.scenes import arm, block


def imposed(sim: hs.Simulation, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Switch a constraint on; return q where that was, and u before and after."""
    before = sim.state.u
    sim.switch(name, True)
    sim.step()
    return sim._output.q.copy(), before, sim._output.u.copy()


@pytest.mark.parametrize("seed", range(6))
def test_a_loop_closed_in_motion_takes_the_speeds_that_pinocchio_gives(seed):
    pytest.importorskip("pinocchio")
    from tools.loop_pinocchio import PinocchioLoops

    scene = parallelogram(0.5)
    scene = replace(scene, constraints=tuple(replace(c, held=False) for c in scene.constraints))
    sim, peer = hs.Simulation(scene), PinocchioLoops(scene)
    rng = np.random.default_rng(seed)
    angle = rng.uniform(-2.0, 2.0)
    sim.set_state(np.array([angle, -angle, angle - np.pi]), rng.uniform(-3.0, 3.0, 3))
    q, before, after = imposed(sim, "loop")
    np.testing.assert_allclose(after, peer.after_impulse(q, before), rtol=0, atol=1e-8)
    change = after - before
    assert impulse(sim) == pytest.approx(0.5 * change @ peer.mass_matrix(q) @ change, rel=1e-9)
    assert impulse(sim) > 1e-3


@pytest.mark.parametrize("kind", ("point", "distance"))
def test_the_energy_lost_is_that_of_the_change_of_speeds(kind):
    joints = ["type: free, parent: world, child: b0", "type: ball, parent: world, child: b1"]
    extra = {"point": "", "distance": ", distance_m: 0.3"}[kind]
    apart = {"point": "[0, 0, 0]", "distance": "[0.3, 0, 0]"}[kind]
    sim = hs.Simulation(
        bodies(
            joints,
            [f"name: tie, kind: {kind}, bodies: [b0, b1], point_b_m: {apart}, held: false{extra}"],
            "free: {j0: {velocity_m_per_s: [1, 2, -1], angular_velocity_rad_per_s: [1, 0, 2]}}",
        )
    )
    q, before, after = imposed(sim, "tie")
    M = sim.assembly.equations.mass_matrix(q)
    change = after - before
    assert impulse(sim) == pytest.approx(0.5 * change @ M @ change, rel=1e-10)
    assert impulse(sim) == pytest.approx(0.5 * (before @ M @ before - after @ M @ after), rel=1e-10)


def test_a_free_body_that_lands_on_a_corner_takes_the_speeds_that_pinocchio_gives():
    pin = pytest.importorskip("pinocchio")
    mass, half = 2.0, (0.1, 0.08, 0.05)
    sim = hs.Simulation(
        block(half, mass, at=(0, 0, 0.3), rpy=(0.3, 0.2, 0), velocity=(0.3, -0.2, -1.0), spin=(1, 2, 0.5))
    )
    lowest = int(np.argmin(sim.gaps))
    q, before = sim.state.q, sim.state.u
    q[2] -= sim.gaps[lowest]  # onto the floor
    up = sim.body_pose("block").rotation.T @ [0.0, 0.0, 1.0]
    sim.set_state(q, before)
    sim.step()
    assert [e.contact for e in sim.events if e.kind == Event.TOUCH] == [lowest]
    after = sim._output.u
    model = pin.Model()
    body = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "float")
    inertia = np.diag([mass / 3 * (sum(h * h for h in half) - h * h) for h in half])
    model.appendBodyToJoint(body, pin.Inertia(mass, np.zeros(3), inertia), pin.SE3.Identity())
    data = model.createData()
    pq = np.array([*q[:3], *q[4:7], q[3]])
    pin.computeJointJacobians(model, data, pq)
    # velocities of the body in its own axes, linear first: the corner's along the vertical
    J6 = pin.getJointJacobian(model, data, body, pin.ReferenceFrame.LOCAL)
    J = up @ (J6[:3] - pin.skew(sim.plan.row_point_a[lowest]) @ J6[3:])
    expected = pin.impulseDynamics(model, data, pq, _linear_first(before), J.reshape(1, -1), 0.0, 0.0)
    np.testing.assert_allclose(_linear_first(after), expected, rtol=0, atol=1e-8)
    assert np.abs(after - before).max() > 0.1


def _linear_first(u: np.ndarray) -> np.ndarray:
    """Our speeds of a free body as Pinocchio has them, body axes in both"""
    return np.array([*u[3:], *u[:3]])


def heights(sim: hs.Simulation, seconds: float) -> np.ndarray:
    """Height of a ball above the floor, tick by tick [m]."""
    made = np.zeros(round(seconds * sim.scene.rate_Hz))
    for k in range(made.size):
        sim.step()
        made[k] = sim.state.q[2] - 0.05
    return made


def test_a_ball_of_restitution_1_keeps_its_energy():
    sim = hs.Simulation(dropped(1.0))
    energy = sum(sim.energy())
    h = heights(sim, 3.0)
    bounces = np.flatnonzero((h[1:-1] < h[:-2]) & (h[1:-1] <= h[2:]))
    assert len(bounces) > 5
    assert sum(sim.energy()) == pytest.approx(energy, rel=1e-9)
    assert h.max() == pytest.approx(0.2, abs=1e-5) and h.min() > -1e-9


@pytest.mark.parametrize("restitution", (0.3, 0.6, 0.9))
def test_a_ball_rises_to_the_square_of_its_restitution(restitution):
    sim = hs.Simulation(dropped(restitution, velocity=(0.4, 0.0, 0.0)))
    falls = np.sqrt(2.0 * 0.2 / 9.81)
    h = heights(sim, 1.9 * falls + falls * (2.0 * restitution - 0.95))
    after = h[round(1.02 * falls * 1000) :]
    assert after.max() == pytest.approx(restitution**2 * 0.2, abs=1e-5)
    assert sim.state.u[3] == pytest.approx(0.4, abs=1e-12)  # no friction


def test_an_impact_leaves_the_normal_speed_by_newtons_law_and_says_what_it_took():
    for e in (0.0, 0.25, 1.0):
        sim = hs.Simulation(dropped(e, height=0.0, velocity=(0.2, 0.1, -1.5)))
        sim.step()
        u = sim._output.u
        assert u[5] == pytest.approx(1.5 * e, abs=1e-12)
        assert u[3:5] == pytest.approx([0.2, 0.1], abs=1e-12)
        lost = sum(v.value for v in sim.events if v.kind in (Event.TOUCH, Event.IMPULSE))
        assert lost == pytest.approx(0.5 * 2.0 * 1.5**2 * (1.0 - e * e), abs=1e-12)


def test_a_bounce_is_told_with_the_shapes_that_touched_and_the_energy_lost():
    sim = hs.Simulation(dropped(0.5, height=0.0, velocity=(0.0, 0.0, -1.5)))
    sim.step()
    (event,) = [e for e in sim.events if e.kind == Event.IMPULSE]
    told = Describer(sim.assembly).event(0, event.kind, event.contact, event.value, event.time)
    lost_J = 0.5 * 2.0 * 1.5**2 * (1.0 - 0.5**2)
    assert told["value"] == pytest.approx(lost_J, rel=1e-12)
    assert told["text"] == f"ball on floor touched and parted at once, {1e3 * lost_J:.3g} mJ lost"
    assert "constraint" not in told


WALLED = """
name: a ball on a floor, before a wall
robot:
  bodies:
    - {name: ball, inertial: {mass_kg: 2.0, inertia_kg_m2: {xx: 0.002, yy: 0.002, zz: 0.002}}}
  joints:
    - {name: float, type: free, parent: world, child: ball}
shapes:
  - {name: ball, body: ball, kind: sphere, radius_m: 0.05}
  - {name: floor, kind: plane}
  - {name: wall, kind: plane, origin: {xyz_m: [0.06, 0, 0], rpy_rad: [0, -1.5707963267948966, 0]}}
contacts:
  - {between: [ball, floor]}
  - {between: [ball, wall], restitution: 0.5}
initial: {free: {float: {xyz_m: [0, 0, 0.05], velocity_m_per_s: [1.0, 0, 0]}}}
"""


def test_a_bounce_names_what_was_struck_and_not_what_it_rests_on():
    sim = hs.Simulation(loads(WALLED))
    describer, told = Describer(sim.assembly), []
    for k in range(20):
        sim.step()
        told += [describer.event(k, e.kind, e.contact, e.value, 0.0)["text"] for e in sim.events]
    assert "ball on wall touched and parted at once, 750 mJ lost" in told


def test_the_tip_of_an_arm_thrown_back_with_restitution_1_keeps_its_energy():
    scene = arm((0.3, -1.0), rate=4000.0)
    scene = replace(scene, contacts=tuple(replace(c, restitution=1.0) for c in scene.contacts))
    sim = hs.Simulation(scene)
    energy, touches = sum(sim.energy()), 0
    taken = 0.0
    for _ in range(8000):
        sim.step()
        assert sim.gaps.min() > -1e-8
        for event in sim.events:
            touches += event.kind == Event.TOUCH
            taken += event.value if event.kind in (Event.TOUCH, Event.IMPULSE) else 0.0
    rates = abs(sum(sim.energy()) - energy)
    assert rates == pytest.approx(0.0, abs=1e-6)
    assert taken == pytest.approx(0.0, abs=1e-9)
