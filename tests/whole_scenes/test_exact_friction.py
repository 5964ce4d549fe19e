"""Coulomb friction of contacts in exact ticks, against closed forms and independent integrations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from tests.rubbing import BALL, BOX, HALF, INERTIA, RADIUS, G, part, thrown, velocity_of

TIMES = 1e-9  # [s] to which instants are met


def run(sim: hs.Simulation, ticks: int) -> list[tuple[Event, float]]:
    """Step, asking every tick for its certificate; return what began to slide or stick, and when [s]."""
    seen = []
    for _ in range(ticks):
        sim.step()
        seen += [
            (event.kind, event.time)
            for event in sim.events
            if event.kind in (Event.SLIDES, Event.STICKS, Event.STEPPED)
        ]
        told = sim.certificate
        assert max(told.depth, told.normal) < 1e-9 and told.friction < 1e-9, told
        assert told.cone < 1e-8 and told.gain < 1e-9, told
    return seen


@pytest.mark.parametrize("friction", [0.05, 0.3, 1.0])
@pytest.mark.parametrize("angle", [0.0, 0.7, 2.0])
def test_a_block_stops_where_and_when_the_formula_says(friction: float, angle: float):
    way = np.array([math.cos(angle), math.sin(angle)])
    sim = thrown(part(friction, regime="exact"), (*way, 0.0))
    ends = 1.0 / (friction * G)
    seen = run(sim, int(1000.0 * ends) + 50)
    assert {kind for kind, _ in seen} == {Event.STICKS}
    assert seen[0][1] == pytest.approx(ends, abs=TIMES)
    np.testing.assert_allclose(sim.state.q[:2], way / (2.0 * friction * G), rtol=1e-12, atol=1e-15)
    assert np.abs(sim.state.u).max() < 1e-15


@pytest.mark.parametrize("friction", [0.1, 0.3, 0.6])
def test_a_ball_slides_then_rolls(friction: float):
    sim, begins = thrown(part(friction, BALL, regime="exact"), (1.0, 0.0, 0.0)), 2.0 / (7.0 * friction * G)
    seen = run(sim, int(1000.0 * begins) + 100)
    assert [kind for kind, _ in seen] == [Event.STICKS]
    assert seen[0][1] == pytest.approx(begins, abs=1e-7)  # its turning is integrated in axes that turn
    assert velocity_of(sim)[0] == pytest.approx(5.0 / 7.0, rel=1e-8)


def test_a_ball_with_backspin_comes_back():
    sim = thrown(part(0.2, BALL, regime="exact"), (1.0, 0.0, 0.0), (0.0, -3.0 / RADIUS, 0.0))
    run(sim, 900)
    assert velocity_of(sim)[0] == pytest.approx((5.0 - 2.0 * 3.0) / 7.0, abs=1e-7)


@pytest.mark.parametrize("slope", [10.0, 30.0])
def test_a_block_on_a_slope_holds_or_slides_as_its_coefficient_says(slope: float):
    steep, limit = math.radians(slope), math.tan(math.radians(slope))
    still = part(limit * 1.0001, slope_deg=slope, regime="exact")
    run(still, 500)
    np.testing.assert_array_equal(still.state.q, still.scene.q0)
    slides = part(0.5 * limit, slope_deg=slope, regime="exact")
    assert {kind for kind, _ in run(slides, 500)} == {Event.SLIDES}
    assert slides.state.q[0] == pytest.approx(0.125 * 0.5 * G * math.sin(steep), rel=1e-10)


@pytest.mark.long
def test_a_block_on_a_slope_does_not_creep_in_an_hour():
    sim = part(0.3, slope_deg=10.0, regime="exact")
    sim.step(3_600_000)
    np.testing.assert_array_equal(sim.state.q, sim.scene.q0)


@pytest.mark.parametrize("slope", [5.0, 20.0, 40.0])
def test_a_ball_rolls_down_a_slope_where_friction_is_enough_and_slides_beside_where_not(slope: float):
    needs = 2.0 / 7.0 * math.tan(math.radians(slope))
    pull = G * math.sin(math.radians(slope))
    for friction, acceleration in (
        (1.001 * needs, 5.0 / 7.0 * pull),
        (0.999 * needs, pull - 0.999 * needs * G * math.cos(math.radians(slope))),
    ):
        sim = part(friction, BALL, slope, regime="exact")
        run(sim, 400)
        assert sim.state.q[0] == pytest.approx(0.5 * acceleration * 0.16, rel=1e-6)


def corners_rub(t: float, y: np.ndarray, friction: float) -> np.ndarray:
    """Rates of x, y, angle and their speeds of a box that slides and turns on its four corners.

    The corners carry it with the least sum of squares: three equations for four normal forces, which depend
    on the friction below the centre of mass.
    """
    turned, v, w = y[2], y[3:5], y[5]
    c, s = math.cos(turned), math.sin(turned)
    corners = np.array([[i * HALF[0], j * HALF[1]] for i in (-1, 1) for j in (-1, 1)])
    arms = corners @ np.array([[c, s], [-s, c]])
    slips = v + w * np.stack([-arms[:, 1], arms[:, 0]], axis=1)
    along = slips / np.linalg.norm(slips, axis=1)[:, None]
    pulls = -friction * along  # per newton of each corner
    balance = np.array([np.ones(4), arms[:, 1] + HALF[2] * pulls[:, 1], -arms[:, 0] - HALF[2] * pulls[:, 0]])
    symmetric = np.array([np.ones(4), arms[:, 1], -arms[:, 0]])  # what rows can say: all but one pattern
    push = symmetric.T @ np.linalg.solve(balance @ symmetric.T, [G, 0.0, 0.0])
    force = (push[:, None] * pulls).sum(axis=0)
    torque = float(np.sum(push * (arms[:, 0] * pulls[:, 1] - arms[:, 1] * pulls[:, 0])))
    return np.array([*v, w, *force, torque / INERTIA])


@pytest.mark.parametrize("spin", [-8.0, 1.0, 5.0])
def test_a_box_that_slides_and_turns_does_as_an_independent_integration(spin: float):
    friction, ticks = 0.3, 250
    sim = thrown(part(friction, regime="exact"), (1.0, 0.5, 0.0), (0.0, 0.0, spin))
    assert run(sim, ticks) == []
    peer = solve_ivp(
        corners_rub, (0.0, ticks * 1e-3), [0.0, 0.0, 0.0, 1.0, 0.5, spin], "DOP853",
        rtol=1e-12, atol=1e-14, args=(friction,),
    ).y[:, -1]  # fmt: skip
    q = sim.state.q
    np.testing.assert_allclose(q[:2], peer[:2], atol=2e-9)
    assert 2.0 * math.atan2(q[6], q[3]) == pytest.approx(peer[2], abs=1e-7)
    np.testing.assert_allclose(velocity_of(sim)[:2], peer[3:5], atol=1e-8)


ROD = """
name: rod on a rough floor
robot:
  bodies:
    - name: carriage
      inertial: {{mass_kg: 1.0e-9, inertia_kg_m2: {{xx: 1.0e-12, yy: 1.0e-12, zz: 1.0e-12}}}}
    - name: mast
      inertial: {{mass_kg: 1.0e-9, inertia_kg_m2: {{xx: 1.0e-12, yy: 1.0e-12, zz: 1.0e-12}}}}
    - name: rod
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: {J}, yy: {J}, zz: {J}}}}}
  joints:
    - {{name: x, type: prismatic, parent: world, child: carriage, axis: [1, 0, 0]}}
    - {{name: z, type: prismatic, parent: carriage, child: mast, axis: [0, 0, 1]}}
    - {{name: turn, type: revolute, parent: mast, child: rod, axis: [0, 1, 0]}}
shapes:
  - {{name: tip, body: rod, kind: sphere, radius_m: 0.01, origin: {{xyz_m: [0, 0, {down}]}}}}
  - {{name: floor, kind: plane}}
contacts: [{{between: [tip, floor], friction: {friction}}}]
contact_regime: exact
initial: {{q_m: {{x: 0.0, z: {z}}}, q_rad: {{turn: {turn}}}, u_m_per_s: {{x: {speed}}}}}
"""
HALF_LENGTH = 0.5


def rod(friction: float, turn: float, speed: float) -> hs.Simulation:
    """A uniform rod of 1 kg and 1 m whose lower end slides on a floor, inclined by ``turn`` [rad]."""
    text = ROD.format(
        friction=friction,
        J=HALF_LENGTH**2 / 3.0,
        down=-HALF_LENGTH,
        z=0.01 + HALF_LENGTH * math.cos(turn),
        turn=turn,
        speed=speed,
    )
    return hs.Simulation(loads(text, "<test>"))


def rod_rates(t: float, y: np.ndarray, friction: float, way: float) -> np.ndarray:
    """Rates of x, turn and their speeds while the end slides: Newton and Euler for the rod alone."""
    turn, v, w = y[1], y[2], y[3]
    ax, az = HALF_LENGTH * math.sin(turn), HALF_LENGTH * math.cos(turn)  # from the tip to the middle
    arm = np.array([-ax, -az - 0.01])  # to where it touches, x and z
    inertia = HALF_LENGTH**2 / 3.0
    # N (1 / m + moment of a unit of N and -mu way N along x, times the arm of z) = g - w^2 az
    moment = arm[1] * (-friction * way) - arm[0]  # about y
    push = (G - w * w * az) / (1.0 + moment * ax / inertia)
    return np.array([v, w, -friction * way * push, moment * push / inertia])


@pytest.mark.parametrize(("turn", "friction", "speed"), [(0.4, 0.3, 1.0), (0.4, 0.3, -1.0), (-0.6, 0.5, 1.5)])
def test_a_rod_whose_end_slides_does_as_a_peer_integrates_it(turn: float, friction: float, speed: float):
    sim, ticks = rod(friction, turn, speed), 80
    assert run(sim, ticks) == []
    peer = solve_ivp(
        rod_rates, (0.0, ticks * 1e-3), [0.0, turn, speed, 0.0], "DOP853",
        rtol=1e-12, atol=1e-14, args=(friction, math.copysign(1.0, speed)),
    ).y[:, -1]  # fmt: skip
    np.testing.assert_allclose(sim.state.q[[0, 2]], peer[:2], atol=1e-8)
    np.testing.assert_allclose(sim.state.u[[0, 2]], peer[2:], atol=1e-7)


def test_a_rod_that_jams_is_not_guessed_at():
    """Beyond Painleve's coefficient (4/3 at least) no normal force slides it on: the tick is a time step."""
    turn = -(math.pi / 2.0 - math.atan(2.0))  # leans against its way, as much as is worst
    slides, jams = rod(1.2, turn, 2.0), rod(2.0, turn, 2.0)
    slides.step()
    assert Event.STEPPED not in {event.kind for event in slides.events}
    jams.step()
    assert Event.STEPPED in {event.kind for event in jams.events}
    kinetic, _ = jams.energy()
    assert kinetic < 2.0 and np.all(np.isfinite(jams.state.u))


def test_potra_s_driven_block_slips_and_sticks_when_it_should():
    """m = 1, mu = 0.8, f = 8 cos t (Anitescu and Potra 1997): it slips until 0.338608 s, 4.34857 mm, and is
    fastest, 19.7723 mm/s, at 0.195246 s.  Each tick has the mean of its force."""
    sim, sticks, fastest, at, held = part(0.8, regime="exact"), [], 0.0, 0.0, 0.8 * G
    for tick in range(500):
        mean = 8.0 * (math.sin(1e-3 * (tick + 1)) - math.sin(1e-3 * tick)) / 1e-3
        sim.apply(torque=np.array([0.0, 0.0, 0.0, mean, 0.0, 0.0]))
        sim.step()
        sticks += [event.time for event in sim.events if event.kind is Event.STICKS]
        if sim.state.u[3] > fastest:
            fastest, at = sim.state.u[3], 1e-3 * (tick + 1)
    assert sticks[0] == pytest.approx(0.338608, abs=2e-6)
    assert fastest == pytest.approx(19.7723e-3, rel=1e-5) and at == pytest.approx(0.195246, abs=5e-4)
    assert fastest == pytest.approx(8.0 * math.sin(at) - held * at, rel=1e-9)
    assert sim.state.q[0] == pytest.approx(4.34857e-3, rel=1e-5)  # its force is a stair


@pytest.mark.parametrize("share", [0.5, 0.999999, 1.000001, 3.0])
def test_a_block_moves_where_it_is_pulled_harder_than_friction_holds(share: float):
    sim, holds = part(0.2, regime="exact"), 0.2 * G
    sim.apply(torque=np.array([0.0, 0.0, 0.0, share * holds, 0.0, 0.0]))
    sim.step(500)
    assert sim.state.u[3] == pytest.approx(0.5 * max(share - 1.0, 0.0) * holds, abs=1e-7)


def test_friction_is_told_of_the_instant():
    sim = part(0.3, slope_deg=10.0, regime="exact")
    sim.step(20)
    friction = sum(contact.friction for contact in sim.state.contacts)
    np.testing.assert_allclose(friction, [-G * math.sin(math.radians(10.0)), 0.0, 0.0], atol=1e-12)


def test_what_falls_on_a_rough_floor_strikes_and_comes_to_rest_in_exact_ticks():
    sim = part(0.4, regime="exact")
    q = sim.scene.q0.copy()
    q[2] += 0.01
    sim.set_state(q, np.array([0.0, 0.0, 0.0, 0.5, 0.0, 0.0]))
    seen = run(sim, 400)
    assert [kind for kind, _ in seen] == 4 * [Event.STICKS]
    assert np.abs(sim.state.u).max() < 1e-15


def test_friction_beside_constraints_is_refused_in_one_sentence():
    text = ROD.format(friction=0.3, J=0.1, down=-0.5, z=0.6, turn=0.1, speed=0.0)
    text += "constraints: [{name: lock, kind: lock, joints: [x]}]\n"
    with pytest.raises(ConfigError, match=r"has friction 0\.3, and the scene has constraint 'lock'"):
        hs.Simulation(loads(text, "<test>"))


CYLINDER = "kind: cylinder, radius_m: 0.04, length_m: 0.06"  # on its rim no tick is exact


@pytest.mark.parametrize("shape", [BOX, CYLINDER])
@pytest.mark.parametrize("ticks", [1, 20, 46, 50, 120])
def test_a_new_simulation_goes_on_to_the_bit_from_any_state(shape: str, ticks: int):
    """What falls, strikes, slides and comes to rest: its state alone says how it goes on."""
    one = part(0.4, shape, regime="exact")
    q = one.scene.q0.copy()
    q[2] += 0.01
    one.set_state(q, np.array([0.3, 0.0, 0.5, 0.5, 0.1, 0.0]))
    one.step(ticks)
    other = part(0.4, shape, regime="exact")
    other.restore(one.fork())
    for _ in range(100):
        one.step()
        other.step()
        np.testing.assert_array_equal(one.state.q, other.state.q)
        np.testing.assert_array_equal(one.state.u, other.state.u)
