"""Both sites of a link in virtual time: equal to the bit whatever the network and the computers do."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.codes import Fault, Safety
from hapticsim.kernels.memory.pack import place_of
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.scene import Scene
from hapticsim.model.settings import LinkSettings
from hapticsim.simulate.virtual import simulate
from tests.processes import CONFIGS, ROOT
from tests.seeds import seeds
from tools.virtual_link import Host, VirtualLink, stalls

SECONDS = 6.0
HIGHER = np.array([0.0, 0.0, 0.002])  # [m]


@pytest.fixture(scope="module")
def scene() -> Scene:
    return hs.load(CONFIGS / "wam_table.yaml")


@pytest.fixture(scope="module")
def visit(scene: Scene) -> np.ndarray:
    """A scripted hand visits the table: one row per tick."""
    with Scripted({"emulate": "omega_3"}) as hand:
        return simulate(scene, hand, 8.0)


def modes(rows: list[np.ndarray]) -> np.ndarray:
    return np.array([int(row[PLACE["safety"]]) for row in rows])


def armed_ticks(there: VirtualLink) -> int:
    return int(np.sum(modes(there.operator_loop.rows) == Safety.ARMED))


def assert_exact(run: VirtualLink) -> None:
    """The remote site took every command once, in order, and stood where the operator's side stood."""
    assert len(run.remote_loop.executed) > 1000
    assert run.is_gapless() and run.differing_ticks() == 0
    assert run.operator.corrections == 0 and run.largest_step == 0.0 and run.operator.losses == 0
    assert run.operator.worst_m < 1e-9
    assert run.operator.malformed == run.remote.malformed == 0


@pytest.mark.parametrize("seed", seeds(4, 16))
def test_jitter_loss_stalls_and_drift_change_nothing(scene: Scene, visit: np.ndarray, seed: int) -> None:
    """Jitter of 100 ms, half of all messages lost, stalls of up to 50 ms on either side, +-100 ppm."""
    rng = np.random.default_rng(seed)
    far = 1.0 if seed % 2 else 0.1
    link = LinkSettings(far, far, jitter_s=0.1, loss=0.5, seed=seed)
    here = Host(100.0, stalls(rng, SECONDS, 2.0, 50.0))
    yonder = Host(-100.0, stalls(rng, SECONDS, 2.0, 50.0))
    run = VirtualLink(scene, visit, link, here, yonder).run(SECONDS)
    assert_exact(run)
    assert armed_ticks(run) > 2000 and run.faults == 0


def test_telemetry_whose_state_is_of_another_tick_is_refused_and_said(
    scene: Scene, visit: np.ndarray
) -> None:
    """A state of long ago in a message of now would count as fresh for ever."""
    run = VirtualLink(scene, visit, LinkSettings()).run(1.0)
    payload = run.remote.step(1e6)[-1]
    payload["tick"] += 1000
    heard_until = run.operator.hearing.until_s
    assert run.operator.hear(payload, 1e6) is None and run.operator.malformed == 1
    assert run.operator.refused == "its tick is not that of the message"
    assert run.operator.hearing.until_s == heard_until


def test_without_a_network_the_remote_site_follows_within_the_margin(scene: Scene, visit: np.ndarray) -> None:
    run = VirtualLink(scene, visit, LinkSettings()).run(2.0)
    assert_exact(run)
    assert np.median(run.ages_s) < 0.07


@pytest.mark.long
def test_twelve_seconds_each_way(scene: Scene, visit: np.ndarray) -> None:
    run = VirtualLink(scene, visit, LinkSettings(12.0, 12.0)).run(52.0)
    assert_exact(run)
    assert 24.0 < run.ages_s[-1] < run.operator.hearing.allowed_s


@pytest.mark.long
def test_an_outage_takes_the_force_away_and_costs_no_exactness(scene: Scene, visit: np.ndarray) -> None:
    """Nothing gets through for a second while the hand pushes; then everything comes, and is made up for."""
    link = LinkSettings(0.05, 0.05)
    cut = lambda at_s, way: 3.0 < at_s < 4.0  # noqa: E731
    run = VirtualLink(scene, visit, link, cut=cut).run(8.0)
    assert_exact(run)
    mode, fault = modes(run.operator_loop.rows), [row[PLACE["fault"]] for row in run.operator_loop.rows]
    (off,) = np.flatnonzero((mode[1:] == Safety.FAULT) & (mode[:-1] == Safety.ARMED))
    assert int(fault[off + 1]) == Fault.LINK
    heard_s = 3.0 + link.delay_down_s  # what was under way still came
    at_s = run.operator_loop.rows[off + 1][0] + 0.1
    assert heard_s < at_s < heard_s + link.silence_s + 0.1
    force = [row[PLACE["hand_force_x_N"] : PLACE["hand_force_x_N"] + 3] for row in run.operator_loop.rows]
    assert np.linalg.norm(force[off]) > 0.1 and not np.any(force[off + 1])
    mode_place = place_of(run.remote_loop.state, "safety")
    assert (
        run.remote_loop.before[off + 5][mode_place] == Safety.FAULT
    )  # the remote site lets go at the same tick
    assert run.ages_s[-1] < 0.25  # what had gathered is made up for


@pytest.mark.parametrize("way", ["up", "down"])
def test_either_direction_that_dies_takes_the_force_away(scene: Scene, visit: np.ndarray, way: str) -> None:
    run = VirtualLink(scene, visit, LinkSettings(0.05, 0.05), cut=lambda at_s, w: w == way and at_s > 3.0)
    run.run(6.0)
    mode = modes(run.operator_loop.rows)
    assert mode[2500] == Safety.ARMED and mode[-1] == Safety.FAULT
    assert int(run.operator_loop.rows[-1][PLACE["fault"]]) == Fault.LINK
    assert np.flatnonzero(mode == Safety.FAULT)[0] < 3000 + 500


def test_while_the_link_is_silent_arming_is_refused_with_the_reason(scene: Scene, visit: np.ndarray) -> None:
    asking = visit.copy()
    asking[3500:, PLACE["arm_requests"]] += np.arange(len(asking) - 3500) // 100  # again and again
    run = VirtualLink(scene, asking, LinkSettings(), cut=lambda at_s, way: at_s > 3.0).run(6.0)
    mode = modes(run.operator_loop.rows)[3500:]
    assert np.all((mode == Safety.FAULT) | (mode == Safety.DISARMED))
    assert int(run.operator_loop.rows[-1][PLACE["fault"]]) == Fault.LINK


def test_a_restarted_operator_arms_nothing_by_its_counters(scene: Scene, visit: np.ndarray) -> None:
    """The counters of a new operator begin anew; only its own request engages."""
    first = VirtualLink(scene, visit, LinkSettings()).run(3.0)
    mode_place = place_of(first.remote_loop.state, "safety")
    assert first.remote_loop.packed[mode_place] == Safety.ARMED
    quiet = visit[2000:].copy()  # in the middle of the table, requests counted up to 1 long ago
    quiet[:, PLACE["arm_requests"]] = 0
    quiet[1500:, PLACE["arm_requests"]] = 1
    second = VirtualLink(scene, quiet, LinkSettings())
    second.remote = first.remote  # the same remote site, asked by another operator
    second.remote_loop = first.remote_loop
    first.remote_loop.before.clear()
    first.remote_loop.executed.clear()
    second.now_ns = first.now_ns
    second._heap = [(first.now_ns, n, what) for n, (_, _, what) in enumerate(second._heap)]
    second.run(4.0)
    assert second.operator.ready and second.is_gapless() and second.differing_ticks() == 0
    begun = second.operator.hearing.first
    taken = sorted(first.remote_loop.before.items())
    before = [state[mode_place] for tick, state in taken if tick >= begun]
    assert before[0] == Safety.DISARMED
    assert len(before) > 2000 and all(mode == Safety.DISARMED for mode in before[:1500])
    assert before[-1] in (Safety.ARMING, Safety.ARMED)
    assert second.operator.corrections == 0


def test_two_operators_at_once_the_second_is_not_served(scene: Scene, visit: np.ndarray) -> None:
    run = VirtualLink(scene, visit, LinkSettings()).run(2.0)
    other = VirtualLink(scene, visit, LinkSettings())
    now_s = run.now_ns * 1e-9
    run.remote.receive(other.operator.knock(), now_s)
    run.run(1.0)
    assert run.remote.strangers > 0 and not other.operator.ready
    assert_exact(run)


def test_a_remote_site_that_starts_anew_is_joined_again_without_force(
    scene: Scene, visit: np.ndarray
) -> None:
    run = VirtualLink(scene, visit, LinkSettings(0.02, 0.02)).run(3.0)
    assert armed_ticks(run) > 1000
    fresh = VirtualLink(scene, visit, LinkSettings(0.02, 0.02))
    run.remote, run.remote_loop = fresh.remote, fresh.remote_loop
    run.run(2.0)
    assert run.operator.losses == 1 and run.operator.synced
    assert any("begun anew" in line for line in run.said)
    mode = modes(run.operator_loop.rows)
    assert mode[-1] == Safety.FAULT and mode[3200] == Safety.FAULT
    late = max(run.remote_loop.before) - 200
    nq = run.remote_loop.state.q.size
    here = run.operator_loop.states[late][: 2 * nq]
    assert np.array_equal(here, run.remote_loop.before[late][: 2 * nq])  # and again to the bit


def test_with_another_model_there_the_mechanism_is_corrected_and_the_force_followed(
    scene: Scene, visit: np.ndarray
) -> None:
    """The table stands 2 mm higher at the remote site than the operator's side knows."""
    shapes = tuple(
        dataclasses.replace(s, X_BS=dataclasses.replace(s.X_BS, translation=s.X_BS.translation + HIGHER))
        if s.name == "table"
        else s
        for s in scene.shapes
    )
    there = hs.Simulation(dataclasses.replace(scene, shapes=shapes)).assembly
    link = LinkSettings(0.05, 0.05)
    run = VirtualLink(scene, visit, link, there=there).run(8.0)
    assert run.operator.corrections > 10 and run.is_gapless()
    assert 1e-4 < run.operator.worst_m < 0.05


@pytest.mark.long
def test_the_study_of_random_networks_finds_both_sites_equal() -> None:
    program = [sys.executable, str(ROOT / "tools" / "study_link.py"), "--runs", "8", "--seconds", "3"]
    done = subprocess.run(program, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "jitter 100 ms" in done.stdout and "loss 50 %" in done.stdout


@pytest.mark.parametrize("call", ["clear_schedule", "take_whole"])
def test_no_operator_is_let_in_while_the_loop_of_the_remote_site_does_not_answer(
    scene: Scene, visit: np.ndarray, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = VirtualLink(scene, visit, LinkSettings())
    with monkeypatch.context() as stuck:
        stuck.setattr(run.remote_loop, call, lambda *packed: False)
        run.run(1.0)
    assert run.remote.playout.session == 0 and not run.remote_loop.executed
    assert run.said == ["the loop does not answer: no operator is let in until it does."]
    run.run(2.0)
    assert_exact(run)
    assert run.said[1:] == ["an operator is there: no force until it engages."]
