"""A fork holds the whole run: restored, also elsewhere, it goes on to the same bits as the run itself."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scene_maker import Trial

import hapticsim as hs
from hapticsim.codes import DeviceFlag, Event, Mode, Safety
from hapticsim.config.load import loads
from hapticsim.haptics.coupler import DeviceLimits
from tests import scenes
from tests.places import CONFIGS, WAM
from tests.tools.test_fuzz_scenes import accepted

LIMITS = DeviceLimits(12.0, 14500.0, 10.0, 0.2, max_torque_Nm=0.5, max_stiffness_Nm_per_rad=2.0)
READY = DeviceFlag.READY


def bits(sim: hs.Simulation) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in sim.fork().items()}


def act(sim: hs.Simulation, rng: np.random.Generator) -> str:
    """Ask for something, as a program or a person might; returns what."""
    names = [c.name for c in sim.scene.constraints]
    what = str(rng.choice(["torque", "force", "device", "gone", "arm", "disarm", "switch", "couple"]))
    if what == "torque":
        sim.apply(torque=rng.normal(size=sim.state.u.size))
    elif what == "force" and sim.scene.handle is not None:
        sim.apply(force=rng.normal(size=3))
    elif what == "device":
        turn = rng.normal(size=4)
        sim.set_device(
            rng.normal(size=3) * 0.01,
            rng.normal(size=3) * 0.1,
            age=float(rng.choice([0.0, 0.001, 0.02])),
            quaternion=turn / np.linalg.norm(turn),
            angular_velocity=rng.normal(size=3),
            flags=int(rng.choice([READY, 0])),
        )
    elif what == "gone":
        sim.remove_device()
    elif what == "arm":
        sim.arm()
    elif what == "disarm":
        sim.disarm()
    elif what == "switch" and names:
        sim.switch(str(rng.choice(names)), bool(rng.integers(2)))
    elif what == "couple" and sim.scene.handle is not None:
        sim.couple(LIMITS)
    return what


def check_a_fork(scene: hs.Scene, seed: int) -> int:
    """Fork a run at a random tick, go on with it, with the same run again, and with another; compare bits."""
    rng = np.random.default_rng(seed)
    sim, other = hs.Simulation(scene), hs.Simulation(scene)
    for _ in range(int(rng.integers(1, 8))):
        act(sim, rng)
        act(other, rng)
        sim.step(int(rng.integers(1, 12)))
        other.step(int(rng.integers(1, 12)))
    for _ in range(int(rng.integers(0, 4))):
        act(sim, rng)  # asked for and not yet taken up by a tick
    fork, told, there = sim.fork(), sim.events, bits(sim)
    later = int(rng.integers(2**31))

    def goes_on(one: hs.Simulation) -> list[tuple]:
        again = np.random.default_rng(later)
        passed = []
        for k in range(12):
            if k >= 3:
                act(one, again)
            one.step(int(again.integers(1, 6)))
            passed.append((bits(one), one.events, one.held))
        return passed

    expected = goes_on(sim)
    for one in (sim, other):
        one.restore(fork)
        assert bits(one) == there and one.events == told
        assert goes_on(one) == expected
    return sum(len(events) for _, events, _ in expected)


@pytest.mark.parametrize("seed", range(8))
def test_a_restored_run_goes_on_to_the_same_bits_in_random_scenes(seed: int):
    trial: Trial = accepted(seed)
    check_a_fork(loads(yaml.safe_dump(trial.scene, sort_keys=False)), seed)


@pytest.mark.parametrize("name", ["wam_table", "puck_and_wall", "four_bar", "curve_guide", "rolling_disk"])
def test_a_restored_run_goes_on_to_the_same_bits_in_shipped_scenes(name: str):
    happened = sum(check_a_fork(hs.load(CONFIGS / f"{name}.yaml"), seed) for seed in range(3))
    assert happened > 0


def test_a_turning_device_comes_back_too():
    scene = hs.load(WAM)
    turning = replace(scene, coupler=replace(scene.coupler, rotation="full"))
    for seed in range(4):
        check_a_fork(turning, seed)


def test_what_was_applied_comes_back_with_a_fork():
    sim = hs.Simulation(scenes.arm((1.2, 0.5)))
    sim.apply(torque=[0.3, 0.1], force=[0.5, 0.0, 0.0])
    fork = sim.fork()
    sim.step(100)
    expected = sim.state.q
    sim.apply(torque=[0.0, 0.0], force=[0.0, 0.0, 0.0])
    for one in (sim, hs.Simulation(scenes.arm((1.2, 0.5)))):
        one.restore(fork)
        one.step(100)
        assert one.state.q.tobytes() == expected.tobytes()


def test_a_fork_taken_while_armed_is_armed_in_another_simulation():
    first, second = (hs.Simulation(hs.load(WAM)) for _ in range(2))
    first.couple(LIMITS)
    first.set_device(np.zeros(3), np.zeros(3))
    first.arm()
    first.step(700)
    second.restore(first.fork())
    assert second.state.safety is Safety.ARMED
    second.step(20)
    assert second.state.safety is Safety.ARMED


def test_a_request_that_no_tick_has_seen_is_in_the_fork():
    sim = hs.Simulation(hs.load(CONFIGS / "four_bar.yaml"))
    (name,) = sim.held
    sim.switch(name, False)
    fork = sim.fork()
    other = hs.Simulation(sim.scene)
    other.restore(fork)
    other.step()
    assert other.held == {name: Mode.FREE} and [e.kind for e in other.events] == [Event.SWITCH]


def test_a_fork_cannot_be_written_to():
    fork = hs.Simulation(scenes.arm((1.2, 0.5))).fork()
    for part in (fork.state.q, fork.input.torque, fork.output.events):
        with pytest.raises(ValueError, match="read-only"):
            part[...] = 1.0


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda fork: pickle.loads(pickle.dumps(fork))])
def test_a_fork_can_be_copied_and_pickled(how):
    sim = hs.Simulation(scenes.arm((1.2, 0.5)))
    sim.step(10)
    fork = sim.fork()
    again = how(fork)
    assert all(a.tobytes() == b.tobytes() for (_, a), (_, b) in zip(fork.items(), again.items(), strict=True))
    sim.step(50)
    expected = bits(sim)
    del fork
    sim.restore(again)
    sim.step(50)
    assert bits(sim) == expected


ELSEWHERE = """
import pickle, sys
import hapticsim as hs
sim = hs.Simulation(hs.load(sys.argv[1]))
sim.restore(pickle.load(open(sys.argv[2], "rb")))
sim.step(50)
sys.stdout.write(sim.state.q.tobytes().hex())
"""


def test_a_fork_goes_on_in_another_process(tmp_path: Path):
    sim = hs.Simulation(hs.load(WAM))
    sim.step(20)
    (tmp_path / "fork").write_bytes(pickle.dumps(sim.fork()))
    sim.step(50)
    program = [sys.executable, "-c", ELSEWHERE, str(WAM), str(tmp_path / "fork")]
    done = subprocess.run(program, capture_output=True, text=True, cwd=CONFIGS.parent, timeout=200)
    assert done.stdout == sim.state.q.tobytes().hex(), done.stderr


def test_a_fork_of_another_scene_is_refused_and_nothing_changes():
    sim, arm = hs.Simulation(hs.load(WAM)), hs.Simulation(scenes.arm((1.2, 0.5)))
    before = bits(sim)
    with pytest.raises(hs.ConfigError) as refused:
        sim.restore(arm.fork())
    assert str(refused.value) == (
        "restore: fork is of the scene 'planar arm over a floor', and this is 'WAM over a table': "
        "restore it in a simulation of its own scene."
    )
    assert bits(sim) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda s: replace(s, rate_Hz=500.0),
        lambda s: replace(s, safety=replace(s.safety, slew_limit_N_per_s=1.0)),
        lambda s: replace(s, contacts=()),
        lambda s: replace(s, model=replace(s.model, gravity_W=np.array([0.0, 0.0, -1.62]))),
    ],
)
def test_a_fork_of_the_same_scene_with_another_value_is_refused(change):
    scene = scenes.arm((1.2, 0.5))
    fork = hs.Simulation(scene).fork()
    with pytest.raises(hs.ConfigError, match="is of this scene with other values, and this is"):
        hs.Simulation(change(scene)).restore(fork)


def test_a_scene_that_starts_where_a_fork_stands_can_be_set_and_restored():
    """The arrays of a fork cannot be written to; those of a state made of them can."""
    scene = hs.load(CONFIGS / "four_bar.yaml")
    sim = hs.Simulation(scene)
    sim.step(5)
    fork = sim.fork()
    assert not fork.state.q.flags.writeable
    other = hs.Simulation(replace(scene, q0=fork.state.q, u0=fork.state.u))
    other.step(5)
    other.set_state(fork.state.q, fork.state.u)
    other.restore(other.fork())
    assert np.array_equal(other.state.q, fork.state.q)
