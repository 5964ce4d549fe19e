"""Guides along a curve: a bead keeps to it and keeps its energy, over the seam and beyond the ends."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Mode
from tests.curves import SPRING, WAVY, Twin, bead, curve
from tests.loop_scenes import bodies, config, largest_energy_change

WAVE = Twin(WAVY, True)
FREELY = "[0, 0, 0]"


def sliding(rate: float = 1000.0, speed: float = 1.6) -> hs.Simulation:
    """A bead on the wavy wire, from its first point and fast enough to go round."""
    return hs.Simulation(bead([curve(WAVY, True)], WAVY[0], speed * WAVE.tangent(0.0), rate))


def test_a_bead_keeps_to_a_wavy_wire_and_keeps_its_energy_over_the_seam():
    sim = sliding()
    before = sum(sim.energy())
    rounds, sigma, off, change = 0, 0.0, 0.0, 0.0
    for tick in range(5000):
        sim.step()
        change = max(change, abs(sum(sim.energy()) - before))
        if tick % 10 == 0:
            now = WAVE.nearest(sim.state.q)
            rounds += now < sigma - 0.5 * WAVE.length
            sigma = now
            off = max(off, WAVE.distance(sim.state.q))
    assert rounds >= 3
    assert off < 1e-10
    assert change < 1e-9  # of 0.26 J
    assert sim.held["wire"] == Mode.HELD


def test_the_order_of_integration_is_kept_along_a_curve():
    rates = [250.0, 500.0, 1000.0]
    changes = [largest_energy_change(sliding(rate), int(2 * rate)) for rate in rates]
    order = -np.polyfit(np.log(rates), np.log(changes), 1)[0]
    assert order > 3.7


def test_the_force_of_the_wire_is_what_bends_the_path():
    sim = sliding()
    sim.step(700)
    q, u = sim.state.q, sim.state.u
    e, bend = WAVE.rate(WAVE.nearest(q)), WAVE.bend(WAVE.nearest(q))
    t = e / np.linalg.norm(e)
    curvature = (bend - (bend @ t) * t) / (e @ e)
    square = np.array([0.0, 0.0, -9.81]) - (t[2] * -9.81) * t
    expected = 0.2 * np.linalg.norm((u @ u) * curvature - square)
    assert np.linalg.norm(sim.constraint_force("wire")) == pytest.approx(expected, rel=1e-8)


def test_a_circle_through_24_points_is_the_circle_to_the_accuracy_of_the_spline():
    turn = 2.0 * np.pi * np.arange(24) / 24
    points = 0.3 * np.column_stack([np.cos(turn), np.zeros(24), np.sin(turn)])
    ring = "name: wire, kind: circle, bodies: [bead, world], normal_b: [0, 1, 0], radius_m: 0.3"
    start, speed = points[3], np.array([-0.5, 0.0, 0.5])
    spline, circle = (hs.Simulation(bead([c], start, speed)) for c in (curve(points, True), ring))
    apart = 0.0
    for _ in range(3000):
        spline.step()
        circle.step()
        apart = max(apart, float(np.linalg.norm(spline.state.q - circle.state.q)))
    radius = Twin(points, True)
    error = np.abs(np.linalg.norm(radius.c(np.linspace(0.0, radius.length, 999)), axis=1) - 0.3).max()
    assert error < 1e-7
    assert apart < 100.0 * error  # three seconds, in which it swings to and fro
    force, other = (np.linalg.norm(sim.constraint_force("wire")) for sim in (spline, circle))
    assert force == pytest.approx(other, rel=1e-3)


def test_a_line_through_two_points_is_the_line_guide_and_has_no_ends():
    through = np.array([[0.0, 0.0, 0.0], [0.1, 0.2, 0.05]])
    line = "name: wire, kind: line, bodies: [bead, world], direction_b: [0.1, 0.2, 0.05]"
    speed = through[1] / np.linalg.norm(through[1])
    sims = [hs.Simulation(bead([c], through[0], speed)) for c in (curve(through, False), line)]
    for sim in sims:
        sim.step(1500)
    np.testing.assert_allclose(sims[0].state.q, sims[1].state.q, rtol=0, atol=1e-11)
    assert np.linalg.norm(sims[0].state.q) > 0.5


def test_switched_on_away_from_it_a_curve_draws_the_bead_to_its_nearest_place():
    sigma = 0.37 * WAVE.length
    t = WAVE.tangent(sigma)
    side = np.cross(t, [0.3, -0.5, 0.8])
    start = WAVE.c(sigma) + 0.03 * side / np.linalg.norm(side)
    speed = np.array([0.2, 0.1, -0.3])
    sim = hs.Simulation(bead([curve(WAVY, True, held=False)], start, speed, gravity=FREELY))
    sim.switch("wire", True)
    sim.step()
    assert sim.held["wire"] == Mode.HELD
    assert WAVE.distance(sim.state.q) < 1e-10
    where = WAVE.nearest(start)
    # Every Newton step is the least by kinetic energy, here by length; several together are so nearly.
    assert np.linalg.norm(sim.state.q - WAVE.c(where)) < 2e-3
    assert abs(sim.state.u @ t) == pytest.approx(abs(speed @ t), abs=5e-3)


def test_a_curve_out_of_reach_is_refused():
    sim = hs.Simulation(bead([curve(WAVY, True, held=False)], np.zeros(3), np.zeros(3), gravity=FREELY))
    sim.switch("wire", True)
    sim.step()
    assert [e.kind for e in sim.events if e.kind == Event.REFUSED]
    assert sim.held["wire"] == Mode.FREE
    np.testing.assert_array_equal(sim.state.q, 0.0)


def test_in_a_plane_one_of_the_two_rows_is_redundant():
    points = WAVY[:, [0, 2, 1]] * [1.0, 0.0, 1.0]
    wire = curve(points, True)
    sim = hs.Simulation(bead([wire], points[0], np.array([0.0, 0.0, 2.5]), axes="xz"))
    assert largest_energy_change(sim, 3000) < 1e-8
    assert sim.rank == (1, 2)
    assert Twin(points, True).distance(np.array([sim.state.q[0], 0.0, sim.state.q[1]])) < 1e-10
    assert np.linalg.norm(sim.constraint_force("wire")) > 0.1


def test_beyond_its_end_the_bead_goes_straight_on():
    twin = Twin(SPRING, False)
    sim = hs.Simulation(
        bead([curve(SPRING, False)], SPRING[7], 0.5 * twin.tangent(twin.knots[7]), gravity=FREELY)
    )
    sim.step(1000)
    end, t = SPRING[-1], twin.tangent(twin.length)
    beyond = sim.state.q - end
    assert beyond @ t > 0.2
    assert np.linalg.norm(beyond - (beyond @ t) * t) < 1e-10
    np.testing.assert_allclose(sim.state.u, 0.5 * t, rtol=0, atol=1e-8)


def test_a_bead_on_the_curve_does_not_mind_the_tangent_of_an_end_that_crosses_it():
    turn = np.linspace(0.0, 4.0 * np.pi, 40)
    spiral = ((0.05 + 0.01 * turn) * np.array([np.cos(turn), np.sin(turn), 0.0 * turn])).T
    twin = Twin(spiral, False)
    middle = twin.knots[10]
    sim = hs.Simulation(bead([curve(spiral, False)], spiral[10], 0.8 * twin.tangent(middle), gravity=FREELY))
    onward = -twin.tangent(0.0)  # the way the inner end goes on: across the turns outside it
    met = np.inf
    for _ in range(1000):
        sim.step()
        beyond = sim.state.q - spiral[0]
        met = min(met, float(np.linalg.norm(beyond - max(beyond @ onward, 0.0) * onward)))
        assert np.linalg.norm(sim.state.u) == pytest.approx(0.8, abs=1e-6)
    assert met < 8e-4  # it went across between two ticks
    assert twin.distance(sim.state.q) < 1e-10


def test_a_curve_carried_by_a_moving_body_keeps_the_energy_and_replays_to_the_bit():
    joints = ["type: ball, parent: world, child: b0", "type: free, parent: world, child: b1"]
    wire = f"name: wire, kind: curve, bodies: [b1, b0], closed: true, points_b_m: {WAVY.tolist()}"
    start = f"free: {{j1: {{xyz_m: {WAVY[0].tolist()}, angular_velocity_rad_per_s: [1.5, -1, 2]}}}}"
    changes = [
        largest_energy_change(hs.Simulation(bodies(joints, [wire], start, rate=rate)), int(2 * rate))
        for rate in (1000.0, 2000.0)
    ]
    assert changes[0] < 5e-6  # of some 100 J that go back and forth
    assert changes[1] < changes[0] / 12.0
    sim = hs.Simulation(bodies(joints, [wire], start))
    sim.step(500)
    fork = sim.fork()
    sim.step(2000)
    assert np.abs(sim.constraint_gap("wire")).max() < 1e-9
    there = b"".join(array.tobytes() for _, array in sim.fork().items())
    sim.step(37)  # elsewhere, so that nothing that the search might remember fits
    sim.restore(fork)
    sim.step(2000)
    assert b"".join(array.tobytes() for _, array in sim.fork().items()) == there


@pytest.mark.long
def test_the_bead_of_the_shipped_config_is_pushed_round_its_wire_and_passed_on_to_the_rail():
    sim = hs.Simulation(config("curve_guide"))
    wire = Twin(np.array(sim.scene.constraints[0].rows[0].curve.outline[:-1]), True)  # nearly the wire
    seen = np.zeros(8, bool)
    for _ in range(6000):
        t = wire.tangent(wire.nearest(sim.state.q))
        sim.apply(force=0.3 * t)
        sim.step()
        seen[int(8.0 * wire.nearest(sim.state.q) / wire.length) % 8] = True
        assert np.abs(sim.constraint_gap("wire")).max() < 1e-9
    assert seen.all()
    sim = hs.Simulation(config("curve_guide"))
    sim.switch("wire", False)
    sim.switch("rail", True)
    sim.step()
    assert sim.held == {"wire": Mode.FREE, "rail": Mode.HELD}
    sim.apply(force=[0.2, 0.3, 0.4])  # only what is along the rail moves it
    sim.step(200)
    assert sim.state.q[0] > 0.005 and abs(sim.state.q[1]) < 1e-10
