"""Looking ahead: what is foreseen saves trial steps, and changes nothing beyond rounding."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.kernels.memory.arrays import HINT, HINTS
from hapticsim.kernels.memory.pack import pack_state, read_packed, state_size
from hapticsim.kernels.memory.sample import WIDTH
from hapticsim.kernels.solve.prepared import check_choice, eliminate, read_mask
from hapticsim.model.scene import Scene
from hapticsim.realtime.ahead import Foresight
from hapticsim.realtime.loop import RealTimeLoop
from tests.kernel_access import FLOAT, INT, INTS, MATRIX, STATE, VECTOR, compiled
from tests.scenes import arm, block

CROSSINGS, TRIALS, ADOPTED = 5, 6, 7  # of Output.counts
HORIZON = 20
TICKS = 1500


def landing(anticipate_s: float = 0.02, restitution: float = 0.6) -> Scene:
    """An arm that falls on a floor and bounces on it, or slides along it."""
    scene = arm((0.5, 0.3))
    bouncy = tuple(replace(c, restitution=restitution) for c in scene.contacts)
    return replace(scene, anticipate_s=anticipate_s, contacts=bouncy)


def run(scene: Scene, hints: str, ticks: int = TICKS, lift: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Rows (ticks, columns) and counts (ticks, 9) with no hints, true ones, or wrong ones.

    lift : [N m] size of a torque at the shoulder that presses the arm down and lifts it, 3 times a second.
    """
    simulation = hs.Simulation(scene)
    foresight = Foresight(simulation.assembly)
    rng, pushes = np.random.default_rng(3), np.random.default_rng(4)
    rows, counts = np.zeros((ticks, len(simulation.columns))), np.zeros((ticks, 9), int)
    for k in range(ticks):
        if hints == "true" and k % 5 == 0:
            foresight.look(simulation._state, simulation._input, HORIZON)
        if hints == "true":
            foresight.tell(simulation._input, k)
        if hints == "wrong":
            hint = simulation._input.hint
            hint[:, 0] = rng.integers(0, 3, HINTS)
            hint[:, 1] = rng.uniform(-1000.0, 1000.0, HINTS)
            hint[:, 2] = rng.integers(0, 5, HINTS)
            hint[:, 3] = pushes.integers(0, 5, HINTS)
        simulation.apply(torque=np.array([lift * np.sin(0.02 * k), 0.0]))
        simulation.step()
        simulation.read_row(rows[k])
        counts[k] = simulation._output.counts
    return rows, counts


def motion(scene: Scene, rows: np.ndarray) -> np.ndarray:
    return rows[:, WIDTH : WIDTH + scene.model.nq + scene.model.nu]


@pytest.mark.long
def test_what_is_foreseen_saves_trial_steps_and_leaves_the_motion_as_it_was() -> None:
    """A force that crosses zero is told in advance; a gap is found at once without."""
    scene = landing(restitution=0.0)
    (plain, counts), (told, fewer) = run(scene, "no", 3000, 30.0), run(scene, "true", 3000, 30.0)
    np.testing.assert_array_equal(counts[:, CROSSINGS], fewer[:, CROSSINGS])
    np.testing.assert_allclose(motion(scene, told), motion(scene, plain), rtol=1e-9, atol=1e-9)
    in_events = counts[:, CROSSINGS] > 0
    assert in_events.sum() >= 5
    force = plain[:, WIDTH + 2 * (scene.model.nq) + len(scene.contacts)]
    leaves = in_events & (force > 0.0)
    assert leaves.sum() >= 2 and (in_events & ~leaves).sum() >= 2
    assert fewer[leaves, TRIALS].sum() < 0.8 * counts[leaves, TRIALS].sum()
    np.testing.assert_array_equal(fewer[~leaves, TRIALS], counts[~leaves, TRIALS])


def test_a_gap_that_closes_within_a_tick_is_located_by_one_trial_step() -> None:
    """The whole tick, the step to the crossing, and the rest of the tick."""
    scene = landing()
    _, counts = run(scene, "no")
    single = counts[:, CROSSINGS] == 1
    assert single.sum() >= 4
    assert np.all(counts[single, TRIALS] <= 4) and np.median(counts[single, TRIALS]) == 3.0


def test_a_foreseen_choice_of_speeds_is_adopted_and_leaves_the_motion_as_it_was() -> None:
    scene = landing(restitution=0.0)
    (plain, counts), (told, adopted) = run(scene, "no"), run(scene, "true")
    assert adopted[:, ADOPTED].sum() > 0 and counts[:, ADOPTED].sum() == 0
    np.testing.assert_allclose(motion(scene, told), motion(scene, plain), rtol=1e-9, atol=1e-9)


def test_a_wrong_forecast_costs_at_most_a_trial_step_per_crossing_on_average() -> None:
    scene = landing()
    ticks = 1400  # four bounces; later ones magnify the 5e-11 m within which an event is located
    (plain, counts), (told, more) = run(scene, "no", ticks), run(scene, "wrong", ticks)
    np.testing.assert_allclose(motion(scene, told), motion(scene, plain), rtol=1e-9, atol=1e-9)
    extra = more[:, TRIALS].sum() - counts[:, TRIALS].sum()
    assert extra <= counts[:, CROSSINGS].sum()


def test_a_run_that_was_told_replays_to_the_bit_from_its_rows() -> None:
    scene = landing()
    rows, _ = run(scene, "true")
    assert np.any(rows[:, -HINT * HINTS :: HINT] >= 0.0)  # guards that were told
    again = hs.Simulation(scene)
    row = np.zeros(rows.shape[1])
    for recorded in rows:
        again.take_inputs(recorded)
        again.step()
        again.read_row(row)
        np.testing.assert_array_equal(row, recorded)


def test_looking_ahead_changes_neither_the_run_nor_its_columns_when_it_is_off() -> None:
    scene = landing(0.0)
    simulation = hs.Simulation(scene)
    assert simulation._input.hint.shape == (0, HINT)
    assert not any(c.startswith("hint") for c in simulation.columns)
    foresight = Foresight(simulation.assembly)
    before = simulation.fork()
    foresight.look(simulation._state, simulation._input, HORIZON)
    for (name, x), (_, y) in zip(before.items(), simulation.fork().items(), strict=True):
        np.testing.assert_array_equal(x, y, err_msg=name)


def test_the_very_tick_of_a_touch_is_foreseen_while_the_hand_moves_on() -> None:
    simulation = hs.Simulation(block(at=(0.0, 0.0, 0.09), rpy=(0.1, 0.05, 0.0)))
    foresight = Foresight(simulation.assembly)
    simulation.step(5)
    found = foresight.look(simulation._state, simulation._input, 200).copy()
    expected = found[found[:, 0] >= 0.0]
    assert len(expected) > 0
    first = int(expected[0, 0])
    while not simulation.state.contacts and simulation.state.tick <= first + 1:
        simulation.step()
    assert simulation.state.tick - 1 == first


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), m=st.integers(1, 8))
def test_an_adopted_choice_keeps_the_bound_of_selection_whatever_was_foreseen(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    n = 12
    A, M = rng.normal(size=(m, n)), np.diag(rng.uniform(0.1, 10.0, n))
    pivots = np.zeros(n, np.int64)
    pivots[:m] = np.sort(rng.permutation(n)[:m])
    R, inverse, norms = np.zeros((m, n)), np.zeros((m, m)), np.zeros(n)
    check = compiled(check_choice, MATRIX, INT, MATRIX, INTS, MATRIX, MATRIX, VECTOR)
    condition = check(A, m, M, pivots, R, inverse, norms)
    scaled = A / np.sqrt(np.diag(M))
    if condition == 0.0:
        return
    chosen = scaled[:, pivots[:m]]
    assert np.linalg.norm(scaled, 2) * np.linalg.norm(np.linalg.inv(chosen), 2) <= condition * (1 + 1e-9)
    assert np.abs(np.linalg.solve(chosen, scaled)).max() <= 2.0 + 1e-9


def test_dependent_rows_are_left_to_the_singular_values() -> None:
    rng = np.random.default_rng(5)
    A = rng.normal(size=(4, 9))
    A[3] = A[0] - A[1] + 1e-9 * rng.normal(size=9)
    pivots = np.arange(9)
    R, inverse, norms = np.zeros((4, 9)), np.zeros((4, 4)), np.zeros(9)
    check = compiled(check_choice, MATRIX, INT, MATRIX, INTS, MATRIX, MATRIX, VECTOR)
    assert check(A, 4, np.eye(9), pivots, R, inverse, norms) == 0.0


def test_elimination_gives_the_inverse_and_the_remaining_columns() -> None:
    rng = np.random.default_rng(6)
    A, pivots = rng.normal(size=(3, 7)), np.array([5, 0, 2, 0, 0, 0, 0])
    A[0, 5] = 0.0  # rows have to be exchanged
    R, inverse = A.copy(), np.zeros((3, 3))
    assert compiled(eliminate, MATRIX, INT, INT, INTS, MATRIX)(R, 3, 7, pivots, inverse)
    np.testing.assert_allclose(inverse, np.linalg.inv(A[:, [5, 0, 2]]), atol=1e-12)
    np.testing.assert_allclose(R, inverse @ A, atol=1e-12)


@pytest.mark.parametrize(
    ("mask", "speeds"), [(0.0, []), (5.0, [0, 2]), (2.0**9, []), (-3.0, []), (np.nan, []), (2.0**60, [])]
)
def test_only_a_sum_of_powers_of_two_for_speeds_that_exist_is_a_choice(
    mask: float, speeds: list[int]
) -> None:
    pivots = np.zeros(9, np.int64)
    count = compiled(read_mask, FLOAT, INT, INTS)(mask, 9, pivots)
    assert list(pivots[:count]) == speeds


@pytest.mark.clock
def test_the_loop_is_told_by_a_thread_of_its_own_and_its_rows_replay() -> None:
    scene = landing()
    simulation = hs.Simulation(scene)
    loop = RealTimeLoop(simulation.assembly)
    loop.start(realtime_priority=False)
    rows, give_up = [loop.drain().copy()], time.monotonic() + 10.0
    while sum(map(len, rows)) < 1500 and time.monotonic() < give_up:
        time.sleep(0.01)
        rows.append(loop.drain().copy())
    loop.stop()
    seen = np.concatenate(rows)
    assert loop.statistics()["looks_ahead"] > 10
    assert np.any(seen[:, -HINT * HINTS :: HINT] >= 0.0)
    row = np.zeros(seen.shape[1])
    for recorded in seen:
        simulation.take_inputs(recorded)
        simulation.step()
        simulation.read_row(row)
        np.testing.assert_array_equal(motion(scene, row[None]), motion(scene, recorded[None]))


def test_a_packed_state_is_read_back_whole() -> None:
    simulation = hs.Simulation(landing())
    simulation.step(400)
    state, again = simulation.fork().state, simulation.assembly.new_state()
    row = np.zeros(state_size(state))
    compiled(pack_state, STATE, VECTOR)(state, row)
    compiled(read_packed, VECTOR, STATE)(row, again)
    for (name, x), (_, y) in zip(state.items(), again.items(), strict=True):
        np.testing.assert_array_equal(x, y, err_msg=name)
