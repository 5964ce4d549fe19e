"""The hybrid controller: its law against the formula, a path and a force on the arm, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.control.hybrid import HybridController, HybridSettings
from hapticsim.control.tip import Tip, damped_step
from hapticsim.model.scene import Scene
from tests import scenes
from tests.places import PUCK, WAM

POINT = np.array([-0.045, -0.35, 0.0])  # of the fingertip's centre in the forearm
P, D = np.array([800.0, 800.0, 200.0, 400.0]), np.array([40.0, 40.0, 4.0, 10.0])
UP = np.array([0.0, 0.0, 1.0])
ON_TABLE = 0.32  # height of the ball's centre when it touches
START = np.array([0.55, 0.0, 0.37])


def arm() -> Scene:
    """The arm over its table without joint friction and torque laws."""
    base = hs.load(WAM)
    model = replace(base.model, joints=tuple(replace(j, damping=0.0) for j in base.model.joints))
    return replace(base, model=model, torque_laws=())


def settings(**changes: Any) -> HybridSettings:
    return replace(HybridSettings(body="forearm", point_B=POINT, stiffness=P, damping=D), **changes)


def along_y(time: float, speed: float = 0.03) -> np.ndarray:
    return np.array([0.55, speed * max(time - 0.4, 0.0), 0.37])


def tip_of(sim: hs.Simulation) -> np.ndarray:
    X = sim.body_pose("forearm")
    return X.rotation @ POINT + X.translation


def drive(
    sim: hs.Simulation, law: HybridController, seconds: float, push: tuple[float, float, float] = (0, 0, 0)
) -> np.ndarray:
    """Run the law; return the contact force [N] after every cycle."""
    force, forces = 0.0, []
    sim.apply(force=np.array(push, float))
    for _ in range(round(seconds * 1000)):
        state = sim.state
        sim.apply(torque=law.update(sim.time, state.q, state.u, force))
        sim.step()
        contacts = sim.state.contacts
        force = contacts[0].force if contacts else 0.0
        forces.append(force)
    return np.array(forces)


def pressing(path: Any = along_y, **changes: Any) -> tuple[hs.Simulation, HybridController]:
    """The arm, told to press with 10 N before it touches."""
    sim = hs.Simulation(arm())
    law = HybridController(sim.assembly.equations, settings(**changes), path)
    law.reset(sim.state.q)
    law.press(10.0, UP)
    return sim, law


def test_the_torque_is_that_of_the_formula():
    equations = hs.compile_equations(arm().model, ("upper_arm", "forearm"))
    law = HybridController(equations, settings())
    rng = np.random.default_rng(1)
    held, n = rng.normal(size=4), np.array([1.0, -2.0, 2.0]) / 3.0
    law.reset(held)
    law.press(7.0, 3.0 * n)
    law.update(0.0, held, np.zeros(4))
    for _ in range(20):
        q, u = rng.normal(size=4), rng.normal(size=4)
        V = equations.partial_velocities("forearm", q)  # by the recursion on floats
        J = V[3:] - np.cross(equations.body_pose("forearm", q).rotation @ POINT, V[:3], axisb=0, axisc=0)
        expected = P * (held - q) - D * u + equations.bias(q, u) - J.T @ n * 7.0
        np.testing.assert_allclose(law.update(0.1, q, u), expected, rtol=0, atol=1e-10)


def test_it_falls_onto_the_table_presses_with_ten_newtons_and_follows_the_path():
    """1.4e-3 N off and 4e-7 m beside the path when this was written."""
    sim, law = pressing()
    forces = drive(sim, law, 1.4)
    assert np.any(forces[:200] == 0.0) and np.all(forces[300:] > 0.0)
    assert np.abs(forces[700:] - 10.0).max() < 0.02
    goal = along_y(sim.time)
    np.testing.assert_allclose(tip_of(sim), [0.55, goal[1], ON_TABLE], rtol=0, atol=2e-4)
    assert goal[1] == pytest.approx(0.03), "it must have moved"


def test_a_path_below_the_table_changes_nothing_of_the_force():
    """Along the normal the position is left to the force."""
    runs = []
    for height in (0.37, 0.20):
        sim, law = pressing(lambda t, z=height: np.array([0.55, 0.02 * t, z]))
        runs.append(drive(sim, law, 0.9))
    np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize(("gain", "push", "expected"), [(0, -3, 13.0), (20, -3, 10.0), (20, -8, 13.0)])
def test_integral_action_removes_a_force_it_does_not_know_as_far_as_its_reserve_goes(gain, push, expected):
    """3 N press on the fingertip; with a reserve of 5 N, 8 N leave 3 N."""
    sim, law = pressing(lambda _t: np.array([0.55, 0.0, 0.37]), force_gain_per_s=float(gain))
    forces = drive(sim, law, 1.2, (0.0, 0.0, float(push)))
    assert forces[-1] == pytest.approx(expected, abs=0.02)


def test_the_force_loop_does_not_wind_up_in_the_air_nor_at_the_limits_of_effort():
    equations = hs.compile_equations(arm().model, ("forearm",))
    q, u = arm().q0, np.zeros(4)
    law = HybridController(equations, settings(force_gain_per_s=20.0))
    law.reset(q)
    law.press(10.0, UP)
    for _ in range(50):
        law.update(0.0, q, u, 0.0)
    assert law.state.integral_N == 0.0
    law.update(0.0, q, u, 4.0)
    assert law.state.integral_N == pytest.approx(20.0 * 1e-3 * 6.0)

    weak = HybridController(equations, settings(force_gain_per_s=20.0, effort_limits=np.full(4, 0.5)))
    weak.reset(q)
    weak.press(10.0, UP)
    tau = weak.update(0.0, q, u, 4.0)
    once = weak.state.integral_N
    assert weak.state.saturated and np.abs(tau).max() == 0.5
    weak.update(0.0, q, u, 4.0)
    assert weak.state.integral_N == once


def test_efforts_are_limited_by_the_joints_of_the_model_unless_told_otherwise():
    model = arm().model
    limited = replace(model, joints=tuple(replace(j, effort_limit=0.7) for j in model.joints))
    equations = hs.compile_equations(limited, ("forearm",))
    q = arm().q0
    for changes, expected in (({}, 0.7), ({"effort_limits": np.full(4, 0.2)}, 0.2)):
        law = HybridController(equations, settings(**changes))
        law.reset(q)
        assert np.abs(law.update(0.0, q + 0.5, np.zeros(4))).max() == expected


def test_before_its_start_the_position_controller_gives_nothing():
    equations = hs.compile_equations(arm().model, ("forearm",))
    law = HybridController(equations, settings(start_s=0.5), along_y)
    rng = np.random.default_rng(2)
    q, u = rng.normal(size=4), rng.normal(size=4)
    law.reset(np.zeros(4))
    np.testing.assert_allclose(law.update(0.499, q, u), equations.bias(q, u), rtol=0, atol=1e-12)
    assert np.abs(law.update(0.5, q, u) - equations.bias(q, u)).max() > 1.0


def test_without_a_force_the_tip_follows_its_path_in_all_directions():
    sim = hs.Simulation(arm())

    def path(time: float) -> np.ndarray:
        return START + np.array([0.02, -0.03, 0.05]) * time

    law = HybridController(sim.assembly.equations, settings(), path)
    law.reset(sim.state.q)
    drive(sim, law, 1.0)
    np.testing.assert_allclose(tip_of(sim), path(1.0), rtol=0, atol=2e-4)


def test_a_path_that_is_elsewhere_is_approached_at_the_speed_allowed():
    sim = hs.Simulation(arm())
    far = START + np.array([0.0, 0.1, 0.0])
    law = HybridController(sim.assembly.equations, settings(path_speed_m_per_s=0.2), lambda _t: far)
    law.reset(sim.state.q)
    before, fastest = tip_of(sim), 0.0
    for _ in range(400):
        drive(sim, law, 1e-3)
        now = tip_of(sim)
        fastest, before = max(fastest, float(np.linalg.norm(now - before)) / 1e-3), now
    assert 0.15 < fastest < 0.3
    drive(sim, law, 0.6)
    np.testing.assert_allclose(tip_of(sim), far, rtol=0, atol=2e-4)


def test_a_state_given_back_repeats_the_torques_to_the_bit():
    sim, law = pressing(force_gain_per_s=5.0)
    drive(sim, law, 0.6)
    fork, remembered = sim.fork(), law.state.copy()
    first = drive(sim, law, 0.2)
    sim.restore(fork)
    law.state = remembered
    second = drive(sim, law, 0.2)
    assert first[1:].tobytes() == second[1:].tobytes(), "the first cycle knows the force before it only once"


def test_a_step_of_least_squares_reaches_where_it_can_and_is_bounded_where_it_cannot():
    rng = np.random.default_rng(3)
    J, error = rng.normal(size=(3, 5)), np.array([1e-3, -2e-3, 5e-4])
    np.testing.assert_allclose(J @ damped_step(J, error, 1e-4), error, rtol=0, atol=1e-9)
    for tiny in (1e-2, 1e-6, 0.0):
        flat = np.diag([1.0, 1.0, tiny])
        assert np.linalg.norm(damped_step(flat, error, 0.01)) <= np.linalg.norm(error) / 0.02


def test_the_jacobian_of_the_tip_is_its_finite_difference():
    equations = hs.compile_equations(arm().model, ("upper_arm", "forearm"))
    tip = Tip(equations, "forearm", POINT, "test")
    q = np.array([0.3, 0.7, -0.4, 1.2])
    r, J = tip.at_rest(q)
    for k in range(4):
        step = 1e-6 * np.eye(4)[k]
        slope = (tip.at_rest(q + step)[0] - tip.at_rest(q - step)[0]) / 2e-6
        np.testing.assert_allclose(J[:, k], slope, rtol=0, atol=1e-9)
    r_too, J_too, h = tip.at(q, np.ones(4))
    assert np.array_equal(r, r_too) and np.array_equal(J, J_too)
    np.testing.assert_allclose(h, equations.bias(q, np.ones(4)), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"body": "forarm"},
            "hybrid controller: body = 'forarm' is not among the frames of the equations (did you mean "
            "'forearm'?): they are 'forearm'; compile the equations with this frame.",
        ),
        (
            {"stiffness": np.ones(3)},
            "hybrid controller: stiffness has shape (3,): it must be (4,), one number for each speed.",
        ),
        (
            {"damping": np.array([1.0, -1.0, 1.0, 1.0])},
            "hybrid controller: damping = [1.0, -1.0, 1.0, 1.0] is not usable: "
            "every number must be 0 or above.",
        ),
        (
            {"period_s": 0.0},
            "hybrid controller: period_s = 0.0 is not usable: it must be finite and above 0.",
        ),
        (
            {"force_gain_per_s": 1500.0},
            "hybrid controller: force_gain_per_s = 1500 is not usable at a cycle of 0.001 s: it must be "
            "below 1000, or the force overshoots in every cycle; lower it.",
        ),
        (
            {"force_reserve_N": -1.0},
            "hybrid controller: force_reserve_N = -1.0 is not usable: it must be finite and 0 or above.",
        ),
        (
            {"point_B": np.array([0.0, np.nan, 0.0])},
            "hybrid controller: point_B = [0.0, nan, 0.0] is not usable: it must be 3 finite numbers.",
        ),
    ],
)
def test_settings_that_cannot_be_used_are_refused_in_one_sentence(changes, sentence):
    equations = hs.compile_equations(arm().model, ("forearm",))
    with pytest.raises(hs.ConfigError) as refused:
        HybridController(equations, settings(**changes))
    assert str(refused.value) == sentence


def test_a_robot_with_quaternions_and_a_pull_are_refused():
    free = hs.load(PUCK).model
    with pytest.raises(hs.ConfigError, match="have 7 coordinates and 6 speeds: only robots"):
        HybridController(hs.compile_equations(free), settings())
    planar = hs.compile_equations(scenes.arm((0.3, 0.4)).model, ("fore",))
    two = settings(body="fore", stiffness=np.ones(2), damping=np.ones(2))
    law = HybridController(planar, two)
    for force, normal, sentence in (
        (-1.0, None, "force_N = -1.0 is not usable: it must be finite and 0 or above."),
        (1.0, np.zeros(3), "normal_W has no length: give the direction out of the surface."),
        (1.0, np.zeros(2), "normal_W has shape (2,): it must be (3,)."),
    ):
        with pytest.raises(hs.ConfigError) as refused:
            law.press(force, normal)
        assert str(refused.value) == f"hybrid controller: {sentence}"
