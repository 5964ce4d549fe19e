"""Closed loops: through the pose where their rank drops, beside Pinocchio, and over ten seconds."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault
from hapticsim.config.load import loads
from tests.loop_scenes import CONFIGS, config, parallelogram, stepped_to

# The double four-bar at 10 s, end of its first crank: extrapolated from another program's four step sizes.
LIMIT_P = np.array([0.3284581, 0.9445185])  # [m]
LIMIT_V = np.array([1.4230514, -0.4948688])  # [m/s]


def branch(angle: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
    """(q, u) of the parallelogram."""
    return np.array([angle, -angle, angle - np.pi]), turn * np.array([1.0, -1.0, 1.0])


def turned_over(angle: float, turn: float) -> tuple[np.ndarray, np.ndarray]:
    """(q, u) of the other branch of the four-bar: coupler and rocker mirrored at their diagonal."""
    crank, coupler, rocker, ground = 1.0, 1.5, 1.0, 1.5
    to_ground = np.array([ground, 0.0]) - crank * np.array([np.cos(angle), np.sin(angle)])
    reach = np.hypot(*to_ground)
    lean = np.arctan2(to_ground[1], to_ground[0])
    at = np.arccos((coupler**2 + reach**2 - rocker**2) / (2.0 * coupler * reach))
    second = max(lean + at, lean - at, key=abs)  # the parallelogram's is zero
    end = to_ground - coupler * np.array([np.cos(second), np.sin(second)])
    third = np.arctan2(end[1], end[0])
    # Speeds: lengths times angular velocities, summed along the chain, give nothing.
    S = np.array(
        [
            [coupler * np.sin(second), rocker * np.sin(third)],
            [coupler * np.cos(second), rocker * np.cos(third)],
        ]
    )
    w2, w3 = np.linalg.solve(S, -turn * crank * np.array([np.sin(angle), np.cos(angle)]))
    q = np.array([angle, second - angle, third - second])
    return q, np.array([turn, w2 - turn, w3 - w2])


@pytest.mark.parametrize("side", (1.0, -1.0))
@pytest.mark.parametrize("angle", (1.3, 0.6, 0.1, 1e-2, 1e-3, 1e-4))
def test_a_redundant_loop_near_its_flat_pose_accelerates_as_in_pinocchio(angle, side):
    pytest.importorskip("pinocchio")
    from tools.loop_pinocchio import PinocchioLoops

    scene = parallelogram(0.5)
    sim, peer = hs.Simulation(scene), PinocchioLoops(scene)
    torque = np.array([0.7, -0.4, 0.3])
    sim.apply(torque=torque)
    udot = stepped_to(sim, *branch(side * angle, 2.0))
    assert sim.rank == (2, 3)
    theirs = peer.acceleration(sim._output.q, sim._output.u, torque)
    np.testing.assert_allclose(udot, theirs, rtol=0, atol=1e-9)
    assert np.all(np.isnan(peer.acceleration(*branch(side * angle, 2.0), torque, mu=0.0)))  # redundant rows


@pytest.mark.parametrize("angle", (1.3, 0.6, 0.1, 1e-2))
def test_the_other_branch_of_the_loop_accelerates_as_in_pinocchio(angle):
    pytest.importorskip("pinocchio")
    from tools.loop_pinocchio import PinocchioLoops

    scene = parallelogram(0.5)
    sim, peer = hs.Simulation(scene), PinocchioLoops(scene)
    udot = stepped_to(sim, *turned_over(angle, 1.5))
    q, u = sim._output.q, sim._output.u
    assert abs(q[0] + q[1]) > 0.5 * angle  # not the parallelogram
    np.testing.assert_allclose(udot, peer.acceleration(q, u, np.zeros(3)), rtol=0, atol=1e-9)


def test_the_flat_pose_is_a_loss_of_rank_and_not_a_number_without_bounds():
    sim = hs.Simulation(parallelogram(0.5))
    udot = stepped_to(sim, *branch(0.0, 0.0))
    assert sim.rank == (1, 3)
    assert [e.value for e in sim.events if e.kind == Event.RANK] == [1.0]
    assert np.all(np.isfinite(udot))
    assert np.abs(sim.constraint_force("loop")).max() < 50.0  # the rods weigh 34 N together
    # d'Alembert: with the force of the one row that is left, at rest
    M, h = sim.assembly.equations.mass_matrix(np.array([0, 0, -np.pi])), sim._workspace.f
    row = np.array([1.5, 0.5, -1.0])  # of the vertical: levers of the point about the three joints
    left = M @ udot - h
    np.testing.assert_allclose(left - row * (left @ row) / (row @ row), 0.0, atol=1e-8)
    assert row @ udot == pytest.approx(0.0, abs=1e-12)


def test_a_rank_that_drops_is_reported_with_the_directions_set_free():
    sim = hs.Simulation(parallelogram(0.5))
    sim.step()
    sim.set_state(*branch(0.0, 0.0))
    sim.step()
    (choice,) = [c for c in sim.choices if c.rank == 1]
    assert (choice.rows, choice.condition_before) == (3, None)
    assert len(choice.free) > 0
    np.testing.assert_allclose(choice.free @ [1.5, 0.5, -1.0], 0.0, atol=1e-12)


def test_a_loop_let_go_where_it_is_flat_chooses_a_branch_and_goes_on():
    sim = hs.Simulation(parallelogram(0.0))
    ranks, largest, energy = [], 0.0, sum(sim.energy())
    for _ in range(3000):
        sim.step()
        ranks += [e.value for e in sim.events if e.kind == Event.RANK]
        assert np.all(np.isfinite(sim.state.q)) and np.all(np.isfinite(sim.state.u))
        largest = max(largest, abs(sum(sim.energy()) - energy))
    assert ranks[:2] == [1.0, 2.0]
    assert sim.rank == (2, 3)
    assert sim.state.fault == Fault.NONE
    assert largest < 1e-5
    assert np.abs(sim.constraint_gap("loop")).max() < 1e-10


def test_a_loop_that_moves_through_its_flat_pose_from_exactly_there_keeps_its_speed():
    sim = hs.Simulation(parallelogram(0.0, turn=4.0))
    energy = sum(sim.energy())
    sim.step()
    assert sim.rank[0] == 1
    assert not [e for e in sim.events if e.kind == Event.IMPULSE]  # 4, -4, 4 meets the rows there are
    for _ in range(500):
        sim.step()
    assert sum(sim.energy()) == pytest.approx(energy, abs=1e-4)
    assert np.abs(sim.constraint_gap("loop")).max() < 1e-10


def test_an_impulse_accounts_for_the_energy_lost_where_a_loop_is_no_longer_flat():
    """Flat, the loop leaves two directions free; once off it, only one: the other one's speed is taken."""
    sim = hs.Simulation(parallelogram(0.0, gravity=False, turn=1.0))
    q, folding = sim.state.q, sim.state.u
    across = np.array([-0.2, 2.0, 0.7])
    row = np.array([1.5, 0.5, -1.0])  # of the vertical: levers of the point about the three joints
    basis = np.linalg.qr(np.column_stack([row, folding]))[0]
    across -= basis @ (basis.T @ across)
    sim.set_state(q, folding + 0.3 * across / np.linalg.norm(across))
    start = sum(sim.energy())
    sim.step()
    assert sim.rank == (1, 3) and sum(sim.energy()) == pytest.approx(start, rel=1e-12)
    sim.step()
    assert sim.rank == (2, 3)
    at_start = sum(sim.assembly.equations.energy(sim._output.q, sim._output.u))  # of the tick
    told = sum(e.value for e in sim.events if e.kind == Event.IMPULSE)
    assert told == pytest.approx(start - at_start, rel=1e-4)  # projection takes some, too
    assert told > 0.1
    sim.step(100)  # ticks next to the flat pose are long for the integration
    assert told == pytest.approx(start - sum(sim.energy()), rel=0.05)


def test_a_loop_locked_flat_under_load_stays_within_bounds():
    lock = "\n  - {name: brake, kind: lock, joints: [ground]}"
    sim = hs.Simulation(parallelogram(0.0, more=lock))
    force = 0.0
    for _ in range(500):
        sim.step()
        force = max(force, np.abs(sim.constraint_force("loop")).max())
        assert np.all(np.isfinite(sim.state.q))
        assert np.abs(sim.constraint_gap("loop")).max() < 1e-6
    assert abs(sim.state.q[0]) < 1e-9
    assert (
        force < 1e8
    )  # nothing rigid could bear a load square to a stretched line: it gives way by micrometres


@pytest.mark.parametrize("angle", (0.3312, 0.7))
def test_a_parallelogram_keeps_its_loop_and_its_energy_for_ten_seconds(angle):
    sim = hs.Simulation(parallelogram(angle))
    energy, largest, open_by = sum(sim.energy()), 0.0, 0.0
    crossings, side = 0, 1.0
    for _ in range(10_000):
        sim.step()
        largest = max(largest, abs(sum(sim.energy()) - energy))
        out = sim._output
        open_by = max(open_by, loop_error(out.q))
        if np.sin(out.q[0]) * side < 0.0:
            crossings, side = crossings + 1, -side
    assert crossings > 10  # every one through the flat pose
    assert largest < 1e-6
    assert open_by < 1e-12


def loop_error(q: np.ndarray) -> float:
    """[m] distance of the end of the rocker from its place in the world."""
    angles = np.cumsum(q)
    lengths = np.array([1.0, 1.5, 1.0])
    return float(np.hypot(lengths @ np.cos(angles) - 1.5, lengths @ np.sin(angles)))


def test_the_double_four_bar_of_the_benchmark_ends_where_it_should():
    sim = hs.Simulation(config("double_four_bar"))
    energy, largest = sum(sim.energy()), 0.0
    assert sim.assembly.plan.row_kind.size == 6
    for _ in range(10_000):
        sim.step()
        largest = max(largest, abs(sum(sim.energy()) - energy))
    assert sim.rank == (4, 6)
    assert largest < 1e-4
    q, u = sim.state.q, sim.state.u
    p = np.array([np.cos(q[0]), np.sin(q[0])])
    v = u[0] * np.array([-np.sin(q[0]), np.cos(q[0])])
    np.testing.assert_allclose(p, LIMIT_P, rtol=0, atol=1e-5)
    np.testing.assert_allclose(v, LIMIT_V, rtol=0, atol=1e-5)


def test_the_order_of_integration_is_kept_by_a_loop():
    ends = []
    for rate in (250.0, 500.0, 1000.0, 8000.0):
        sim = hs.Simulation(loads(open_loop(rate)))
        sim.step(round(0.4 * rate))
        ends.append(sim.state.q.copy())
    errors = [np.abs(q - ends[-1]).max() for q in ends[:-1]]
    assert errors[-1] > 1e-13
    assert np.all(np.log2(np.array(errors[:-1]) / np.array(errors[1:])) > 3.7), errors


def open_loop(rate: float) -> str:
    """A four-bar of four different lengths, whose branch is no straight line in the joint angles."""
    text = (CONFIGS / "four_bar.yaml").read_text()
    begin, end = text.index("initial:"), text.index("# A centimetre")
    text = text[:begin] + text[end:]
    assert "point_b_m: [1.5, 0, 0]" in text
    text = text.replace("point_b_m: [1.5, 0, 0]", "point_b_m: [1.2, 0, 0.1]")
    q = closed_at(0.9)
    start = f"initial: {{q_rad: {{ground: {q[0]!r}, left: {q[1]!r}, right: {q[2]!r}}}}}\n"
    return f"{text}\n{start}rate_Hz: {rate}\n".replace("np.float64", "")


def closed_at(angle: float) -> list[float]:
    """Joint angles that close that loop."""
    crank = np.array([np.cos(angle), np.sin(angle)])
    to_ground = np.array([1.2, 0.1]) - crank
    reach = np.hypot(*to_ground)
    at = np.arccos((1.5**2 + reach**2 - 1.0) / (2.0 * 1.5 * reach))
    second = float(np.arctan2(to_ground[1], to_ground[0]) + at)
    rest = to_ground - 1.5 * np.array([np.cos(second), np.sin(second)])
    third = float(np.arctan2(rest[1], rest[0]))
    return [angle, second - angle, third - second]
