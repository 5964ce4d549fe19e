"""Many balls over a floor: each bounces by itself, more events than a tick or its list has, more touches than
rows."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import NO_TICK, Event, Mode, Safety
from hapticsim.config.load import loads
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.events import dense
from hapticsim.kernels.memory.arrays import Output
from hapticsim.model.scene import Scene
from tests.kernel_access import FLOAT, PLAN, STATE, WORKSPACE, compiled

dense_crossing = compiled(dense.dense_crossing, PLAN, STATE, WORKSPACE, FLOAT)


def balls(
    heights: list[float], restitution: float = 0.0, engages: int | None = None, constraints: str = ""
) -> Scene:
    """Balls of 1 kg that move up and down, each at its height [m] over a floor; one may engage its latch."""
    inertial = "{mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}"
    bodies = joints = shapes = contacts = ""
    for i in range(len(heights)):
        bodies += f"    - {{name: b{i}, inertial: {inertial}}}\n"
        joints += f"    - {{name: j{i}, type: prismatic, parent: world, child: b{i}, axis: [0, 0, 1]}}\n"
        shapes += f"  - {{name: s{i}, body: b{i}, kind: sphere, radius_m: 0.05}}\n"
        contacts += f"  - {{between: [s{i}, floor], restitution: {restitution}}}\n"
    latch = ""
    if engages is not None:
        where = f"joints: [j{engages}], held: false, engage_on_touch: [s{engages}, floor]"
        constraints += f"  - {{name: latch, kind: lock, {where}}}\n"
    if constraints:
        latch = f"constraints:\n{constraints}"
    q = ", ".join(f"j{i}: {height + 0.05!r}" for i, height in enumerate(heights))
    return loads(
        f"name: balls\nrobot:\n  bodies:\n{bodies}  joints:\n{joints}shapes:\n{shapes}"
        f"  - {{name: floor, kind: plane}}\ncontacts:\n{contacts}{latch}"
        f"initial: {{q_m: {{{q}}}}}\nhandle: {{body: b0, point_m: [0, 0, 0]}}\n"
    )


@pytest.mark.parametrize("apart", (1e-6, 1e-5, 1e-4))
def test_balls_that_strike_the_floor_a_microsecond_apart_all_bounce(apart):
    sim, h = hs.Simulation(balls([0.05 + apart * i for i in range(6)], 0.8)), 0.05 + apart * np.arange(6)
    falls, struck = np.sqrt(2.0 * h / 9.81), []
    for _ in range(140):
        sim.step()
        assert sim._output.counts[3] == 0, "nothing is captured"
        struck += [e.contact for e in sim.events if e.kind == Event.IMPULSE]
    assert sorted(struck) == list(range(6))
    since = 0.14 - falls
    np.testing.assert_allclose(sim.state.u, 0.8 * 9.81 * falls - 9.81 * since, atol=1e-8)
    np.testing.assert_allclose(
        sim.state.q - 0.05, 0.8 * 9.81 * falls * since - 0.5 * 9.81 * since**2, atol=1e-8
    )


@pytest.mark.parametrize("count", (5, 6))
@pytest.mark.parametrize("apart", (0.0, 1e-6, 1e-4))
def test_the_fifth_of_balls_that_touch_one_after_the_other_engages(count, apart):
    sim = hs.Simulation(balls([0.05 + apart * i for i in range(count)], engages=4))
    sim.step(120)
    assert sim.held["latch"] == Mode.HELD
    sim.apply(torque={"j4": 50.0})
    sim.step(50)
    assert sim.state.q[4] == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("allowed", (1, 2, 3))
def test_a_contact_that_is_captured_engages(allowed):
    """The last ball touches at once with, or right after, the event after which everything is captured."""
    for apart in (1e-9, 1e-6, 1e-5):
        sim = hs.Simulation(balls([0.05 + apart * i for i in range(4)], engages=3))
        sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "max_events": allowed})
        overflows = 0
        for _ in range(120):
            sim.step()
            overflows += sum(e.kind == Event.OVERFLOW for e in sim.events)
        assert overflows > 0 and len(sim.state.contacts) == 4
        assert sim.held["latch"] == Mode.HELD


def armed(sim: hs.Simulation) -> hs.Simulation:
    """Ask for force; granted, and told, in the next tick."""
    sim.couple(DeviceLimits(12.0, 14500.0, 10.0, 0.2))
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    return sim


def test_a_full_list_of_events_still_tells_safety_and_the_last_touch_engages():
    """32 balls are thrown up in the tick in which 17 others land, the last of which has a latch."""
    sim = hs.Simulation(balls([0.0] * 32 + [0.05] * 17, engages=48))
    sim.step(100)
    sim.apply(torque=np.array([20.0] * 32 + [0.0] * 17))
    armed(sim).step()
    kinds = [e.kind for e in sim.events]
    assert kinds.count(Event.LEAVE) == 32
    assert len(kinds) >= len(sim._output.events) - 3, "the list is full"
    assert kinds[-1] == Event.SAFETY and sim.events[-1].value == Safety.ARMING
    assert sim.held["latch"] == Mode.HELD
    sim.step(5)
    assert sim._state.mode[48] == 1 and sim.state.q[48] == pytest.approx(0.05, abs=1e-9)


@pytest.mark.parametrize("places", (4, 5, 8))
def test_overflow_safety_and_a_refusal_have_places_in_every_list(places):
    """One more event than that was captured, the state machine moved, and the tick came to nothing."""
    sim = hs.Simulation(balls([1e-3 * (0.9 - 1e-4 * i) for i in range(12)], engages=11))
    small = {**dict(sim._output.items()), "events": np.full((places, 4), -1.0)}
    sim._output = Output(**small)
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "max_events": 3})
    armed(sim)
    sim.set_state(sim.state.q, np.full(12, -1.0))
    sim.step()
    kinds = [e.kind for e in sim.events]
    assert len(kinds) <= places and Event.OVERFLOW in kinds and kinds[-1] == Event.SAFETY
    assert kinds.count(Event.TOUCH) <= places - 4
    assert sim.held["latch"] == Mode.HELD, "the list decides what is told, not what happens"
    sim.apply(torque=np.full(12, 1e308))
    sim.step()
    kinds = [e.kind for e in sim.events]
    assert kinds[-2:] == [Event.NOT_FINITE, Event.SAFETY] and sim.state.safety is Safety.FAULT


@pytest.mark.parametrize("allowed", (1, 3, 5))
def test_a_tick_without_events_left_stands_still_instead_of_pushing_in(allowed):
    """Twelve balls at 3 m/s strike within one tick; those that no event is left for would be 2 mm deep."""
    sim = hs.Simulation(balls([1e-3 + 1.5e-4 * i for i in range(12)]))
    never = {"max_events": allowed, "steps": NO_TICK}  # as where there are constraints
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), **never})
    sim.set_state(sim.state.q, np.full(12, -3.0))
    kinetic, potential = sim.energy()
    halted = 0
    for _ in range(40):
        sim.step()
        for event in sim.events:
            if event.kind == Event.HALTED:
                halted += 1
                assert 0.0 < event.value <= 1e-3
                assert event.time + event.value == pytest.approx(sim.time, abs=1e-12)
        assert sim.gaps.min() >= -1e-5
        assert sum(sim.energy()) <= kinetic + potential + 1e-12
    assert 12 / allowed - 2 <= halted <= 12
    assert len(sim.state.contacts) == 12 and not sim.state.fault
    assert sim.gaps == pytest.approx(np.zeros(12), abs=1e-9)


@pytest.mark.parametrize("speed", (3.0, 5e-3))
@pytest.mark.parametrize("allowed", (1, 3, 5))
def test_a_tick_without_events_left_becomes_a_time_step_of_several_bodies(allowed, speed):
    """The same twelve balls where a time step may be taken: nothing waits, or comes in slowly."""
    sim = hs.Simulation(balls([speed / 3.0 * (1e-3 + 1.5e-4 * i) for i in range(12)]))
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "max_events": allowed})
    sim.set_state(sim.state.q, np.full(12, -speed))
    kinetic, potential = sim.energy()
    told = set()
    for _ in range(5):
        sim.step()
        told |= {event.kind for event in sim.events}
        assert sim.gaps.min() >= -1e-9
        assert sum(sim.energy()) <= kinetic + potential + 1e-12
    assert Event.STEPPED in told and Event.HALTED not in told
    assert len(sim.state.contacts) == 12 and not sim.state.fault
    assert sim.gaps == pytest.approx(np.zeros(12), abs=1e-9)


@pytest.mark.parametrize("speed", (0.5, 2.0))
def test_a_prescribed_motion_goes_on_in_a_tick_that_runs_out_of_events(speed):
    """It would run away from a mechanism that stands still, and be let go as if something contradicted it."""
    lift = f"  - {{name: lift, kind: motion, joint: j0, speed_per_s: {speed}}}\n"
    sim = hs.Simulation(balls([0.5] + [1e-3 + 1.5e-4 * i for i in range(11)], constraints=lift))
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "max_events": 1})
    u = np.full(12, -3.0)
    u[0] = speed
    sim.set_state(sim.state.q, u)
    for k in range(30):
        sim.step()
        assert sim.held["lift"] == Mode.HELD and not sim.state.fault
        assert sim.state.q[0] == pytest.approx(0.55 + speed * 1e-3 * (k + 1), abs=1e-9)


def test_what_starts_closed_and_rises_is_no_touch_though_others_fall_far():
    """Ball 0 is 3e-13 m over the floor and rises to 2e-9 m before it falls back; ball 1 falls through."""
    sim = hs.Simulation(balls([0.0, 9e-4, 0.5]))
    h, ws = 1e-3, sim._workspace
    start, end = np.array([3e-13, 9e-4, 0.5]), np.array([-1e-8, -2e-3, 0.5])
    rate = np.array([5e-8 / h, -2.9e-3 / h, 0.0])
    ws.q0[:], ws.q1[:] = 0.05 + start, 0.05 + end
    ws.guard0[:3], ws.guard2[:3] = start, end
    ws.dq[0, :] = rate
    ws.rate1[:] = np.array([-5e-8 / h, -2.9e-3 / h, 0.0])
    at, slope = dense_crossing(sim.plan, sim._state, ws, h)
    assert at == pytest.approx(9.0 / 29.0 * h, rel=1e-6) and slope == pytest.approx(-2.9, rel=1e-3)


@pytest.mark.parametrize("gap", (1e-7, 3e-7))
def test_what_rises_from_the_floor_while_another_strikes_is_no_event(gap):
    """Ball 0 leaves at 0.1 mm/s, is still closer than a hit when ball 1 strikes, and is back after 20 us."""
    sim = hs.Simulation(balls([0.0, gap]))
    sim.set_state(sim.state.q, np.array([1e-4, -1.0]))
    sim.step()
    assert [e.contact for e in sim.events if e.kind == Event.TOUCH] == [1, 0]
    assert sim._output.counts[1] == 3, "two events divide a tick into three pieces"


def test_touches_beyond_the_rows_cost_no_search():
    """Of 60 balls 32 are held, the rows there are; the others fall on, and no tick looks for their touch."""
    sim = hs.Simulation(balls([0.05 + 1e-4 * (i % 7) for i in range(60)]))
    sim.plan = type(sim.plan)(**{**dict(sim.plan.items()), "steps": NO_TICK})
    trials = []
    for _ in range(200):
        sim.step()
        trials.append(int(sim._output.counts[5]))
    assert int(sim._state.mode.sum()) == 32
    landing = int(np.argmax(trials))
    assert 100 <= landing < 104 and max(trials) < 60
    assert set(trials[105:]) == {1}, "nothing happens any more"
    held = sim._state.mode == 1
    np.testing.assert_allclose(sim.state.q[held], 0.05, atol=1e-9)
