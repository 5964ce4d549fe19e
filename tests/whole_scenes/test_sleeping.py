"""Bodies that rest fall asleep: they stay where they are and bear what they bear, until others come near."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.kernels.memory.arrays import ARMS
from hapticsim.kernels.memory.pack import pack_state, place_of, state_size
from hapticsim.model.scene import EXACT, TIME_STEPPING, Scene
from hapticsim.realtime.exchange import adopt
from hapticsim.teleop.state_check import StateCheck
from tests.places import CONFIGS

HALF, WEIGHT = 0.05, 9.81
AFTER_S = 0.1
REGIMES = pytest.mark.parametrize("regime", [EXACT, TIME_STEPPING])


def cubes(regime: str, sleep: bool = True, ball: str = "xyz_m: [5, 0, 0.025]", more: str = "") -> Scene:
    """A stack of two cubes of 1 kg, a cube beside it, and a ball of 0.2 kg; all may touch all."""
    inertial = "{mass_kg: 1.0, inertia_kg_m2: {xx: 1.7e-3, yy: 1.7e-3, zz: 1.7e-3}}"
    bodies = joints = shapes = start = ""
    for i, place in enumerate(PLACES):
        bodies += f"    - {{name: b{i}, inertial: {inertial}}}\n"
        joints += f"    - {{name: j{i}, type: free, parent: world, child: b{i}}}\n"
        shapes += f"  - {{name: s{i}, body: b{i}, kind: box, half_extents_m: [{HALF}, {HALF}, {HALF}]}}\n"
        start += f"    j{i}: {{xyz_m: {list(place)}}}\n"
    return loads(
        f"name: cubes\ncontact_regime: {regime}\n"
        + (f"sleep: {{after_s: {AFTER_S}}}\n" if sleep else "")
        + f"robot:\n  bodies:\n{bodies}"
        "    - {name: ball, inertial: {mass_kg: 0.2, inertia_kg_m2: {xx: 5e-5, yy: 5e-5, zz: 5e-5}}}\n"
        f"  joints:\n{joints}    - {{name: jb, type: free, parent: world, child: ball}}\n"
        f"shapes:\n  - {{name: floor, kind: plane}}\n{shapes}"
        "  - {name: ball, body: ball, kind: sphere, radius_m: 0.025}\n"
        f'contacts: [{{between: ["*", "*"]}}]\n{more}initial:\n  free:\n{start}    jb: {{{ball}}}\n'
    )


PLACES = [(0.0, 0.0, HALF), (0.01, 0.0, 3.0 * HALF), (0.5, 0.0, HALF)]


def asleep(sim: hs.Simulation) -> list[bool]:
    """Which trees slept in the last tick."""
    return [bool(ticks > sim.assembly.plan.rest_ticks) for ticks in sim.fork().state.still]


@REGIMES
def test_what_rests_sleeps_with_all_it_lies_on_and_is_borne(regime: str):
    sim = hs.Simulation(cubes(regime))
    for _ in range(400):  # it is looked at also as it falls asleep
        sim.step()
        assert all(np.isfinite(contact.force) for contact in sim.state.contacts)
    assert asleep(sim) == [True] * 4, sim.state
    before = sim.state
    assert not np.any(before.u)
    sim.step(500)
    now = sim.state
    assert now.q.tobytes() == before.q.tobytes() and not np.any(now.u)
    borne = {
        name: sum(c.force for c in now.contacts if c.b == "floor" and c.a == name) for name in ("s0", "s2")
    }
    np.testing.assert_allclose([borne["s0"], borne["s2"]], [2.0 * WEIGHT, WEIGHT], rtol=1e-3)
    awake = hs.Simulation(cubes(regime, sleep=False))
    awake.step(900)
    np.testing.assert_allclose(now.q, awake.state.q, rtol=0.0, atol=1e-6)
    assert {(c.a, c.b) for c in now.contacts} == {(c.a, c.b) for c in awake.state.contacts}


@REGIMES
def test_what_comes_near_wakes_what_it_strikes_and_nothing_else(regime: str):
    ball = "xyz_m: [2.4, 0.0, 0.025], velocity_m_per_s: [-3.0, 0.0, 0.0]"  # at the third cube at 0.608 s
    slept, awake = (hs.Simulation(cubes(regime, sleep, ball)) for sleep in (True, False))
    for sim in (slept, awake):
        sim.step(600)
    assert asleep(slept) == [True, True, True, False]
    woken = False
    for _ in range(100):
        for sim in (slept, awake):
            sim.step()
        woken = woken or asleep(slept) == [True, True, False, False]
        np.testing.assert_allclose(slept.state.q, awake.state.q, rtol=0.0, atol=1e-6)
    assert woken and abs(slept.state.u[-3] + 3.0) > 0.1
    for sim in (slept, awake):
        sim.step(1000)  # the third cube strikes the stack, whose lower cube leaves the upper one behind
    np.testing.assert_allclose(slept.state.q, awake.state.q, rtol=0.0, atol=5e-3)
    assert abs(slept.state.q[0]) > 0.03


@REGIMES
@pytest.mark.parametrize("late", range(8))
def test_a_ball_at_50_m_per_s_does_not_pass_what_sleeps(regime: str, late: int):
    """It comes near and touches within one tick."""
    ball = f"xyz_m: [{15.575 + 0.00625 * late}, 0.0, 0.05], velocity_m_per_s: [-50.0, 0.0, 0.0]"
    sim = hs.Simulation(cubes(regime, ball=ball))
    sim.step(290)
    assert asleep(sim)[2]
    sim.step(30)
    assert sim.state.q[14] < 0.45 and not asleep(sim)[2]
    assert sim.state.q[-7] > sim.state.q[14]


@REGIMES
def test_a_fork_goes_on_with_the_same_bits_and_looking_changes_none(regime: str):
    ball = "xyz_m: [0.9, 0.0, 0.025], velocity_m_per_s: [-1.0, 0.0, 0.0]"
    sim = hs.Simulation(cubes(regime, ball=ball))
    sim.step(250)
    assert any(asleep(sim))
    other = sim.fork()
    sim.step(300)
    end = sim.fork().state.words.tobytes()
    sim.restore(other)
    for _ in range(300):
        sim.step()
        assert len(sim.state.contacts) >= 3  # it is looked at
    assert sim.fork().state.words.tobytes() == end


def test_what_is_put_elsewhere_or_pushed_is_awake():
    sim = hs.Simulation(cubes(EXACT))
    sim.step(300)
    assert asleep(sim)[2]
    q = sim.state.q.copy()
    q[16] += 0.1
    sim.set_state(q, np.zeros_like(sim.state.u))
    sim.step(50)
    assert sim.state.q[16] < q[16] - 5e-3
    sim.step(300)
    assert asleep(sim)[2]
    torque = np.zeros_like(sim.state.u)
    torque[15] = 5.0  # [N] along x
    sim.apply(torque=torque)
    sim.step(20)
    assert sim.state.u[15] == pytest.approx(5.0 * 0.02, rel=1e-6)


def test_what_is_driven_does_not_sleep():
    puck = hs.load(CONFIGS / "puck_and_wall.yaml", {"sleep": {"after_s": 0.05}})
    sim = hs.Simulation(puck)
    sim.step(500)
    assert not any(asleep(sim))


@pytest.mark.parametrize("name", ["gears", "four_bar", "double_four_bar"])
def test_what_a_constraint_is_about_does_not_sleep(name: str):
    plan = hs.Simulation(hs.load(CONFIGS / f"{name}.yaml", {"sleep": {}})).plan
    trees = {int(t) for t in [*plan.row_tree_a[plan.contacts :], *plan.row_tree_b[plan.contacts :]] if t >= 0}
    assert trees and not any(
        plan.rest_speed[r] for r in range(plan.rest_speed.size) if plan.tree_of_speed[r] in trees
    )


@REGIMES
def test_a_look_shows_where_things_came_to_rest_however_long_ago_the_last_one_was(regime: str):
    slept, awake = (hs.Simulation(cubes(regime, sleep, "xyz_m: [0.8, 0.0, 0.03]")) for sleep in (True, False))
    for sim in (slept, awake):
        assert len(sim.gaps) > 0
        sim.step(400)
    assert asleep(slept) == [True] * 4
    np.testing.assert_allclose(slept.gaps, awake.gaps, rtol=0.0, atol=2e-6)


def test_a_refused_tick_wakes_all():
    sim = hs.Simulation(cubes(EXACT))
    sim.step(300)
    assert asleep(sim)[:3] == [True] * 3
    torque = np.zeros_like(sim.state.u)
    torque[-1] = 1e12
    sim.apply(torque=torque)
    sim.step()
    assert not any(asleep(sim)) and len(sim.state.contacts) == 0
    sim.apply(torque=0.0 * torque)
    sim.step(400)
    assert len(sim.state.contacts) > 8


def test_small_pushes_add_up():
    sim = hs.Simulation(cubes(EXACT))
    sim.step(300)
    torque = np.zeros_like(sim.state.u)
    for i in range(400):
        torque[15] = 0.09 * (i % 2)  # [N] in every second tick
        sim.apply(torque=torque)
        sim.step()
    assert sim.state.u[15] == pytest.approx(0.09 * 0.2, rel=1e-6)


def test_a_correction_takes_over_what_sleeps():
    sim = hs.Simulation(cubes(EXACT))
    start = sim.fork().state.copy()
    sim.step(300)
    now = sim.fork().state.copy()
    adopt(now, start)
    assert np.array_equal(start.still, now.still) and np.array_equal(start.impulse, now.impulse)
    assert np.any(now.still) and np.any(now.impulse) and not np.any(now.impulse < 0.0)
    check = StateCheck(sim.assembly)
    row = np.zeros(state_size(now))
    pack_state(now, row)
    assert check.trouble(row) == ""
    row[place_of(now, "still")] = -1
    assert "still" in check.trouble(row)


def test_a_scene_without_sleep_keeps_nothing_about_it():
    sim = hs.Simulation(cubes(EXACT, sleep=False))
    assert sim.fork().state.still.size == 0 and sim.assembly.plan.put_to_sleep == 0


@pytest.mark.parametrize(
    ("given", "said"),
    [("{speed_m_per_s: 0.1}", "speed_m_per_s"), ("{after_s: 0.0}", "after_s"), ("yes", "sleep")],
)
def test_wrong_settings_are_refused_in_a_sentence(given: str, said: str):
    with pytest.raises(ConfigError, match=said):
        loads(f"name: x\nsleep: {given}\nrobot: {{bodies: [], joints: []}}\n")


def contents(sim: hs.Simulation) -> dict[str, np.ndarray]:
    """All arrays of state and output."""
    return {
        f"{name}.{field}": np.array(getattr(block, field))
        for name, block in sim._blocks
        if name != "input"
        for field in dir(block)
        if field != "_table" and isinstance(getattr(block, field, None), np.ndarray)
    }


@REGIMES
def test_a_tick_in_which_all_sleep_has_the_bits_of_one_that_looks_at_all(regime: str):
    quick, slow = hs.Simulation(cubes(regime)), hs.Simulation(cubes(regime))
    for sim in (quick, slow):
        sim.step(600)
        assert asleep(sim) == [True] * 4
    for _ in range(50):
        quick.step()
        slow._workspace.slept[0] = -1
        slow.step()
        assert quick._workspace.slept[0] == quick._state.tick[0]
        expected = contents(slow)
        for name, found in contents(quick).items():
            np.testing.assert_array_equal(found, expected[name], err_msg=name)
    for sim in (quick, slow):  # what is pushed wakes in the same tick
        sim.apply(torque=np.eye(sim.scene.model.nu)[2])
        sim.step(20)
    assert not any(asleep(quick)[:1])
    np.testing.assert_array_equal(quick.state.q, slow.state.q)


def test_where_all_sleep_the_force_output_still_hears_requests():
    sim = hs.Simulation(cubes(EXACT))
    sim.step(600)
    before = int(sim._state.tick[0])
    sim.arm()
    sim.step(3)
    assert int(sim._state.tick[0]) == before + 3
    assert int(sim._state.safety[ARMS]) == 1
