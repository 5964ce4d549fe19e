"""The fuzzer of scenes: a seed makes the same scene, every judge finds a planted fault, finds get small.

The campaign itself is tools/fuzz_scenes.py (1000 scenes in CI); here a few of its scenes run.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import fuzz_scenes
import numpy as np
import pytest
from fuzz_scenes import Worker
from scene_maker import Trial, make
from scene_shrink import keep, kept, shrunk
from scene_trial import Verdict, loaded, run

from hapticsim.codes import MAX_EVENTS, Event, Fault
from hapticsim.errors import ConfigError
from hapticsim.kernels.memory.arrays import Workspace
from hapticsim.simulate.simulation import Simulation, Snapshot, TickEvent

FINDS = sorted((Path(__file__).parents[1] / "finds").glob("*.yaml"))
assert FINDS, "tests/finds is missing"
FALL = {
    "name": "a ball falls",
    "robot": {
        "bodies": [
            {"name": "b", "inertial": {"mass_kg": 1.0, "inertia_kg_m2": {"xx": 1e-3, "yy": 1e-3, "zz": 1e-3}}}
        ],
        "joints": [{"name": "j", "type": "free", "parent": "world", "child": "b"}],
    },
    "shapes": [
        {"name": "floor", "kind": "plane"},
        {"name": "s", "body": "b", "kind": "sphere", "radius_m": 0.05},
    ],
    "contacts": [{"between": ["s", "floor"], "restitution": 0.5}],
    "handle": {"body": "b"},
    "initial": {"free": {"j": {"xyz_m": [0.0, 0.0, 0.06]}}},
}


def fall(**changes: object) -> Trial:
    return Trial(**{"seed": 1, "kind": "boxes", "scene": FALL, "ticks": 500, **changes})


def test_the_same_seed_makes_the_same_trial():
    assert make(7, 0, 16) == make(7, 0, 16)
    assert make(7, 0, 16) != make(7, 1, 16) != make(8, 1, 16)


def test_a_robot_of_the_pool_has_one_name_so_that_its_equations_are_compiled_once():
    first, again = make(3, 0, 16).scene, make(19, 1, 16).scene
    assert first["name"] == again["name"] and first["robot"] == again["robot"]
    assert first["shapes"] != again["shapes"]


def test_a_scene_without_fault_has_no_finds():
    verdict = run(fall())
    assert verdict.finds == {} and verdict.contacts == 1 and verdict.ticks == 500


def accepted(seed: int, **kinds: bool) -> Trial:
    """The first start of a scene that is not refused at load."""
    for attempt in range(20):
        trial = make(seed, attempt, 6, **kinds)
        with suppress(ConfigError):
            Simulation(loaded(trial))
            return trial
    raise AssertionError(f"seed {seed}: every start was refused")


@pytest.mark.parametrize("kind", ["", "hulls", "cylinders", "stops", "friction"])
@pytest.mark.parametrize("seed", range(6))
def test_random_scenes_hold(seed: int, kind: str):
    verdict: Verdict = run(accepted(seed, **({kind: True} if kind else {})))
    assert verdict.finds == {} and verdict.ticks > 100


HULLS = [-1, -2, -3]  # seeds of scenes of hulls, below zero
STOPS = [101, 103, 107]  # seeds of trees whose joints have stops
RUB = [202, 205, 208]  # of scenes in which contacts rub
SEEDS = [*range(6), *HULLS, *STOPS, *RUB]
LARGE = "sunk_2119018"  # a find with so many parts that it is for long runs
EACH = [pytest.param(of, marks=pytest.mark.long) if of.stem == LARGE else of for of in FINDS]


@pytest.mark.parametrize("of", [*EACH, *SEEDS], ids=lambda of: getattr(of, "stem", f"seed {of}"))
def test_a_tick_needs_nothing_that_the_one_before_left_in_the_workspace(of: Path | int):
    """It is the same to the bit where the workspace holds NaN, and ones for integers; M, V, A hold zeros."""
    trial = (
        kept(of)
        if isinstance(of, Path)
        else accepted(abs(of), hulls=of < 0, stops=of in STOPS, friction=of in RUB)
    )
    scene = loaded(trial)
    used, fresh = Simulation(scene), Simulation(scene)
    acts = {act["tick"]: act for act in trial.acts if act["do"] == "switch"}
    for tick in range(trial.ticks):
        fresh.restore(used.fork())
        for sim in (used, fresh):
            if tick in acts:
                sim.switch(acts[tick]["name"], acts[tick]["held"])
            sim.step()
        assert all(
            np.array_equal(a, b)
            for (_, a), (_, b) in zip(used.fork().items(), fresh.fork().items(), strict=True)
        ), tick
        for name in Workspace.__annotations__:
            array = getattr(fresh._workspace, name)
            array.fill(np.nan if array.dtype.kind == "f" else 1)
        for name in ("M", "V", "A", "row_low", "row_high"):  # these say what is zero, always
            getattr(fresh._workspace, name).fill(0)


@pytest.mark.parametrize("path", FINDS, ids=lambda path: path.stem)
def test_what_long_campaigns_found_holds(path: Path):
    assert run(kept(path)).finds == {}


def test_a_corner_that_closes_where_no_face_holds_it_uses_up_no_events(monkeypatch: pytest.MonkeyPatch):
    pieces, overlooked, step = [], 0, Simulation.step

    def watched(sim: Simulation, n: int = 1) -> None:
        nonlocal overlooked
        step(sim, n)
        pieces.append(int(sim._output.counts[1]))
        overlooked += int(sim._workspace.overlooked.any())

    monkeypatch.setattr(Simulation, "step", watched)
    (path,) = (path for path in FINDS if path.stem == "stuck_1000290")
    run(kept(path))
    assert overlooked > 0, "the scene has such corners"
    assert max(pieces) <= MAX_EVENTS + 1, "each event ends a piece, and the tick ends with one more"


def spoil(monkeypatch: pytest.MonkeyPatch, **changes: object) -> Verdict:
    """Run the fall with fields of every snapshot put wrong from tick 50 on."""
    true = Simulation.state.fget

    def state(sim: Simulation) -> Snapshot:
        snapshot: Snapshot = true(sim)
        if snapshot.tick >= 50:
            for name, value in changes.items():
                object.__setattr__(snapshot, name, value)
        return snapshot

    monkeypatch.setattr(Simulation, "state", property(state))
    return run(fall(hand=[[0.01, 1.0, 0.0]] * 3))


def test_every_judge_finds_its_fault(monkeypatch: pytest.MonkeyPatch):
    with monkeypatch.context() as m:
        assert "nan" in spoil(m, q=np.full(7, np.nan)).finds
    with monkeypatch.context() as m:
        assert "flight" in spoil(m, u=np.full(6, 2e3)).finds
    with monkeypatch.context() as m:
        assert "leap" in spoil(m, q=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 9.0])).finds
    with monkeypatch.context() as m:
        assert "force" in spoil(m, hand_force=np.array([0.0, 0.0, 50.0])).finds
    with monkeypatch.context() as m:
        assert "silent" in spoil(m, fault=Fault.ENERGY).finds
    with monkeypatch.context() as m:
        m.setattr(Simulation, "events", (TickEvent(Event.HALTED, None, 1e-4, 0.0),))
        assert "stuck" in run(fall()).finds
    with monkeypatch.context() as m:
        true = Simulation.energy
        m.setattr(Simulation, "energy", lambda sim: (true(sim)[0] + 1e-3 * sim.time, true(sim)[1]))
        assert "gain" in run(fall()).finds
    with monkeypatch.context() as m:
        gaps = Simulation.gaps.fget
        m.setattr(Simulation, "gaps", property(lambda sim: gaps(sim) - 2e-3 * (sim.time > 0.05)))
        assert "sunk" in run(fall()).finds


@pytest.mark.long
def test_a_worker_that_dies_or_hangs_is_a_find_and_the_next_trial_gets_another(
    monkeypatch: pytest.MonkeyPatch,
):
    worker = Worker()
    try:
        assert worker.run(fall())["finds"] == {}
        assert worker._process is not None
        worker._process.kill()
        assert worker.run(fall()) == {"finds": {"crash": "status -9: no words"}}
        assert worker.run(fall())["finds"] == {}
        monkeypatch.setattr(fuzz_scenes, "LONGEST_s", 0.0)
        assert worker.run(fall()) == {"finds": {"hang": "no answer in 0 s of processor time"}}
        monkeypatch.undo()
        assert worker.run(fall())["finds"] == {}
    finally:
        worker.end()


def test_a_find_gets_small_and_is_kept_whole(tmp_path: Path):
    trial = fall(acts=[{"tick": 3, "do": "arm"}, {"tick": 9, "do": "torque", "values": [0.0] * 6}])
    small = shrunk(trial, lambda one: any(act["do"] == "torque" for act in one.acts))
    assert [act["do"] for act in small.acts] == ["torque"] and "contacts" not in small.scene
    assert trial.scene["contacts"], "the first is left as it was"
    assert kept(keep(small, "gain", tmp_path)) == small


def test_a_contact_that_leaves_its_cone_is_found(monkeypatch: pytest.MonkeyPatch):
    certificate = Simulation.certificate.fget
    monkeypatch.setattr(Simulation, "certificate", property(lambda sim: replace(certificate(sim), cone=1e-3)))
    assert list(run(fall()).finds) == ["cone"]


def test_a_joint_beyond_its_stop_is_found(monkeypatch: pytest.MonkeyPatch):
    trial = accepted(STOPS[0], stops=True)
    gaps = Simulation.gaps.fget

    def beyond(sim: Simulation) -> np.ndarray:
        found: np.ndarray = gaps(sim)
        for k, candidate in enumerate(sim.assembly.candidates):
            found[k] = -2e-5 if candidate.stop else found[k]
        return found

    monkeypatch.setattr(Simulation, "gaps", property(beyond))
    assert list(run(trial).finds) == ["beyond"]
