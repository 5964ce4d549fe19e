"""Scenes with every kind of joint: where they start, how they move, and how exactly."""

from __future__ import annotations

from textwrap import dedent

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene

BODY = (
    "inertial: {mass_kg: 1.2, com_m: [0.02, -0.01, 0.15], inertia_kg_m2: {xx: 0.011, yy: 0.012, zz: 0.003}}"
)


def scene(
    joints: str, initial: str = "", bodies: int = 1, gravity: str = "[0, 0, -9.81]", **more: object
) -> Scene:
    """A scene with bodies b0, b1, ... and these joints."""
    text = "name: joints\nrobot:\n  bodies:\n"
    text += "".join(f"    - {{name: b{i}, {BODY}}}\n" for i in range(bodies))
    text += "  joints:\n" + "".join(
        f"    - {{{line.strip()}}}\n" for line in dedent(joints).strip().splitlines()
    )
    text += f"gravity_m_per_s2: {gravity}\ninitial: {{{initial}}}\n"
    text += "".join(f"{key}: {value}\n" for key, value in more.items())
    return loads(text)


def test_every_kind_starts_where_the_scene_says():
    s = scene(
        """
        name: screw, type: helical, parent: world, child: b0, axis: [0, 0, 2], pitch_m_per_rad: 0.01
        name: cardan, type: universal, parent: b0, child: b1, axis: [1, 0, 0], axis2: [0, 1, 0]
        name: tube, type: cylindrical, parent: b1, child: b2
        name: floor, type: planar, parent: b2, child: b3
        name: hip, type: ball, parent: b3, child: b4
        """,
        "q_rad: {screw: 0.1}, u_rad_per_s: {screw: 0.2}, "
        "universal: {cardan: {angles_rad: [0.3, 0.4], rates_rad_per_s: [0.5, 0.6]}}, "
        "cylindrical: {tube: {angle_rad: 0.7, displacement_m: 0.8, velocity_m_per_s: 1.0, "
        "angular_velocity_rad_per_s: 0.9}}, "
        "planar: {floor: {xy_m: [1.1, 1.2], angle_rad: 1.3, velocity_m_per_s: [1.4, 1.5], "
        "angular_velocity_rad_per_s: 1.6}}, "
        "ball: {hip: {quaternion_wxyz: [0.6, 0, 0.8, 0], angular_velocity_rad_per_s: [0, 2, 0]}}",
        bodies=5,
    )
    np.testing.assert_allclose(
        s.q0, [0.1, 0.3, 0.4, 0.7, 0.8, 1.1, 1.2, 1.3, 0.6, 0.0, 0.8, 0.0], rtol=0, atol=1e-15
    )
    np.testing.assert_allclose(
        s.u0, [0.2, 0.5, 0.6, 0.9, 1.0, 1.4, 1.5, 1.6, 0.0, 2.0, 0.0], rtol=0, atol=1e-15
    )
    assert [j.name for j in s.model.moving_joints] == ["screw", "cardan", "tube", "floor", "hip"]


def test_a_quaternion_nearly_of_length_1_is_normalised_and_noted():
    s = scene(
        "name: hip, type: ball, parent: world, child: b0", "ball: {hip: {quaternion_wxyz: [1.0004, 0, 0, 0]}}"
    )
    assert s.q0.tolist() == [1.0, 0.0, 0.0, 0.0]
    assert "initial.ball.hip.quaternion_wxyz has the length 1.0004 and was normalised." in s.notes


def test_a_circle_of_followers_is_refused():
    with pytest.raises(ConfigError) as caught:
        scene(
            """
            name: first, type: revolute, parent: world, child: b0, mimic: {joint: second}
            name: second, type: revolute, parent: b0, child: b1, mimic: {joint: first}
            """,
            bodies=2,
        )
    assert "robot.joints[0] is in a circle of joints that follow one another" in str(caught.value)


def test_a_row_of_followers_follows_the_first_and_the_motion_keeps_the_ratio():
    s = scene(
        """
        name: first, type: revolute, parent: world, child: b0, axis: [0, 1, 0]
        name: second, type: revolute, parent: b0, child: b1, axis: [0, 1, 0], mimic: {MINUS_TWICE}
        name: third, type: revolute, parent: b1, child: b2, axis: [0, 1, 0], mimic: {HALF}
        """.replace("MINUS_TWICE", "joint: first, multiplier: -2.0").replace(
            "HALF", "joint: second, multiplier: 0.5, offset_rad: 0.3"
        ),
        "q_rad: {first: 1.0}",
        bodies=3,
    )
    mimic = s.model.joints[2].mimic
    assert mimic is not None and (mimic.joint, mimic.multiplier, mimic.offset) == ("first", -1.0, 0.3)
    assert s.model.nq == 1
    sim = hs.Simulation(s)
    before = sum(sim.energy())
    sim.step(1000)
    assert abs(sim.state.q[0] - 1.0) > 0.5  # it fell
    assert sum(sim.energy()) == pytest.approx(before, abs=1e-6)
    X = sim.assembly.equations.body_pose("b2", sim.state.q)
    angle = np.arctan2(X.rotation[0, 2], X.rotation[0, 0])
    assert np.cos(angle - (1.0 - 2.0 - 1.0) * sim.state.q[0] - 0.3) == pytest.approx(1.0, abs=1e-12)


SPINNING = "free: {f: {angular_velocity_rad_per_s: [3, -2, 4], velocity_m_per_s: [0.1, 0.2, -0.3]}}"
CHAIN = """
    name: j0, type: ball, parent: world, child: b0
    name: j1, type: ball, parent: b0, child: b1, origin: {xyz_m: [0, 0, 0.3]}
    name: j2, type: ball, parent: b1, child: b2, origin: {xyz_m: [0, 0, 0.3]}
"""
SWINGING = "ball: {j0: {rpy_rad: [1.2, 0.3, 0]}, j2: {angular_velocity_rad_per_s: [0, 3, 2]}}"
CASES = {
    "free body": (("name: f, type: free, parent: world, child: b0", SPINNING, 1, "[0, 0, 0]"), 0.6),
    "chain of balls": ((CHAIN, SWINGING, 3), 0.3),
}


@pytest.mark.parametrize("case", CASES)
def test_quaternions_are_integrated_at_the_order_of_rk4(case):
    arguments, seconds = CASES[case]
    ends, drifts = [], []
    for rate in (400, 800, 1600, 9600):  # slower, and the balance of energy divides the steps
        sim = hs.Simulation(scene(*arguments, rate_Hz=rate))
        before = sum(sim.energy())
        sim.step(round(seconds * rate))
        ends.append(sim.state.q.copy())
        drifts.append(abs(sum(sim.energy()) - before))
    errors = [np.abs(q - ends[-1]).max() for q in ends[:-1]]
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert errors[-1] > 1e-13, "nothing left to measure"
    assert np.all(orders > 3.9), (errors, orders)
    assert np.log2(drifts[1] / drifts[2]) > 3.9, drifts


def test_a_free_body_keeps_its_angular_momentum_at_the_order_of_rk4():
    changes = []
    for rate in (100, 200, 400):
        sim = hs.Simulation(scene(*CASES["free body"][0], rate_Hz=rate))
        before = angular_momentum(sim)
        sim.step(2 * rate)
        changes.append(np.abs(angular_momentum(sim) - before).max())
        for k in sim.scene.model.quaternions:
            assert np.linalg.norm(sim.state.q[k : k + 4]) == pytest.approx(1.0, abs=1e-14)
    assert np.all(np.log2(np.array(changes[:-1]) / np.array(changes[1:])) > 3.9), changes


def angular_momentum(sim: hs.Simulation) -> np.ndarray:
    """[N m s] about the centre of mass, world axes, of the one body."""
    (body,) = sim.scene.model.bodies
    R = sim.assembly.equations.body_pose(body.name, sim.state.q).rotation
    momentum: np.ndarray = R @ body.inertia_com_B @ sim.state.u[:3]
    return momentum
