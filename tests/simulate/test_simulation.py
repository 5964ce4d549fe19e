"""The public simulation: the same run twice, forks, states put in by hand, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Safety
from hapticsim.config.load import loads
from hapticsim.describe.topics import Describer
from hapticsim.haptics.coupler import DeviceLimits
from tests import scenes
from tests.places import CONFIGS, PUCK, WAM

LIMITS = DeviceLimits(12.0, 14500.0, 10.0, 0.2)


def coupled() -> hs.Simulation:
    """The arm, armed, with a device that will move."""
    sim = hs.Simulation(hs.load(WAM))
    sim.couple(LIMITS)
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    return sim


def visit(sim: hs.Simulation, start: int, ticks: int) -> bytes:
    """Lead the fingertip down to the table and up again; the bytes of all states on the way."""
    record = b""
    for i in range(start, start + ticks):
        z = -0.07 * (1.0 - np.cos(2e-3 * np.pi * i)) / 2
        sim.set_device(
            np.array([0.0, 0.0, z]), np.array([0.0, 0.0, -0.07 * np.pi * np.sin(2e-3 * np.pi * i)])
        )
        sim.step()
        record += b"".join(array.tobytes() for _, array in sim.fork().items())
    return record


def test_two_simulations_of_one_scene_have_byte_identical_states():
    first, second = coupled(), coupled()
    assert visit(first, 0, 1500) == visit(second, 0, 1500)
    assert first.state.hand_force.tobytes() == second.state.hand_force.tobytes()


def test_looking_does_not_change_the_run():
    quiet, watched = coupled(), coupled()
    quiet_record = visit(quiet, 0, 800)
    record = b""
    for i in range(800):
        record += visit(watched, i, 1)
        _ = watched.state, watched.gaps, watched.energy(), watched.events, watched.body_pose("forearm")
    assert record == quiet_record


def test_ticks_taken_together_are_ticks_taken_one_by_one():
    sims = [hs.Simulation(scenes.block(at=(0.0, 0.0, 0.25), rpy=(0.3, 0.2, 0.1))) for _ in range(2)]
    sims[0].step(900)
    for _ in range(900):
        sims[1].step()
    assert sims[0].state.q.tobytes() == sims[1].state.q.tobytes()
    assert sims[0].state.u.tobytes() == sims[1].state.u.tobytes()


@pytest.mark.parametrize("when", [100, 430, 700])
def test_a_fork_replays_to_the_bit_also_in_another_simulation(when):
    sim = coupled()
    visit(sim, 0, when)
    fork = sim.fork()
    expected = visit(sim, when, 500)
    sim.restore(fork)
    assert visit(sim, when, 500) == expected
    other = coupled()
    visit(other, 0, 37)  # whatever it did before
    other.restore(fork)
    assert visit(other, when, 500) == expected


def test_a_fork_is_a_copy():
    sim = coupled()
    fork = sim.fork()
    sim.step(50)
    assert fork.state.tick[0] == 0 and sim.state.tick == 50


def test_a_visit_arms_touches_pushes_back_and_leaves():
    sim, kinds, pushed, pressed = coupled(), [], 0.0, 0.0
    for i in range(1000):
        visit(sim, i, 1)
        kinds += [e.kind for e in sim.events if e.kind not in (Event.SELECT, Event.IMPULSE)]
        pushed = max(pushed, sim.state.hand_force[2])
        pressed = max(pressed, *(c.force for c in sim.state.contacts), 0.0)
    assert kinds == [Event.SAFETY, Event.TOUCH, Event.SAFETY, Event.LEAVE], "arming, a touch, armed, a lift"
    assert sim.state.safety is Safety.ARMED and pushed > 5.0 and pressed > 5.0


def test_an_event_says_itself_in_the_words_of_the_server():
    sim, texts = coupled(), []
    for i in range(700):
        visit(sim, i, 1)
        texts += [str(e) for e in sim.events if e.kind not in (Event.SELECT, Event.IMPULSE)]
        for e in sim.events:
            choice = sim.choices[0] if e.kind is Event.SELECT else None
            published = Describer(sim.assembly).event(i, e.kind, e.contact, e.value, 0.0, choice)
            assert e.text == str(e) == published["text"]
            assert e.kind is not Event.SELECT or "dependent: J" in e.text or not choice.dependent
    assert texts[0] == "force output is arming"
    assert texts[1].startswith("fingertip on table touched, ") and texts[1].endswith(" mJ lost")
    assert texts[2] == "force output is armed"


def test_an_event_of_a_constraint_names_it():
    sim = hs.Simulation(hs.load(CONFIGS / "four_bar.yaml"))
    (name,) = sim.held
    sim.switch(name, False)
    sim.step()
    assert [e.text for e in sim.events] == [f"{name!r} is free"]


def test_a_state_put_in_by_hand_finds_its_contacts_anew():
    sim = hs.Simulation(hs.load(PUCK))
    sim.step(10)
    assert len(sim.state.contacts) == 4
    sim.set_state(np.array([0.0, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    assert not sim.state.contacts and sim.gaps.min() > 0.05
    sim.step(100)
    assert not sim.state.contacts and sim.state.u[5] == pytest.approx(-0.981, abs=1e-12)
    sim.set_state(np.array([0.0, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    sim.step()
    assert len(sim.state.contacts) == 4


def test_contacts_say_who_where_and_how_strongly():
    sim = hs.Simulation(hs.load(PUCK))
    sim.step(5)
    for contact in sim.state.contacts:
        assert (contact.a, contact.b) == ("puck_box", "table")
        np.testing.assert_allclose(np.abs(contact.point), [0.04, 0.04, 0.0], atol=1e-12)
        np.testing.assert_allclose(contact.normal, [0.0, 0.0, 1.0], atol=1e-15)
        assert contact.force == pytest.approx(0.5 * 9.81 / 4, rel=1e-10)


def test_applied_torque_and_force_do_their_work():
    sim = hs.Simulation(scenes.arm((1.2, 0.5)))
    sim.apply(torque={"elbow": 0.4})
    sim.apply(force=np.array([0.3, 0.0, 0.2]))
    before, start = sum(sim.energy()), sim.body_pose("fore")
    elbow = sim.state.q[1]
    sim.step(150)
    end = sim.body_pose("fore")
    tip = np.array([0.3, 0.0, 0.0])
    way = end.rotation @ tip + end.translation - start.rotation @ tip - start.translation
    work = 0.4 * (sim.state.q[1] - elbow) + way @ [0.3, 0.0, 0.2]
    assert sum(sim.energy()) - before == pytest.approx(work, abs=1e-8)


def test_an_input_that_is_not_finite_is_refused_by_the_tick_and_the_last_good_state_kept():
    """The door refuses it first; a device message that got past it must still not harm."""
    sim = coupled()
    visit(sim, 0, 700)
    before = sim.state
    sim._input.device[0] = np.nan
    sim.step()
    after = sim.state
    assert after.safety is Safety.FAULT and after.fault & Fault.NOT_FINITE
    assert after.q.tolist() == before.q.tolist() and not np.any(after.u) and not np.any(after.hand_force)
    assert [e.kind for e in sim.events][-2:] == [Event.NOT_FINITE, Event.SAFETY]
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.step(100)
    assert np.all(np.isfinite(sim.state.q)) and sim.state.safety is Safety.FAULT


def test_a_device_taken_away_takes_the_force_with_it_in_the_next_tick():
    sim = coupled()
    visit(sim, 0, 700)
    assert np.any(sim.state.hand_force)
    sim.remove_device()
    sim.step()
    assert sim.state.fault is Fault.DEVICE_SILENT and not np.any(sim.state.hand_force)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda s: s.step(0), "step: n = 0 is not usable: it must be a whole number from 1 to 1000000000."),
        (
            lambda s: s.apply(torque={"J22": 1.0}),
            "apply: torque['J22'] is not a joint with one degree of freedom (did you mean 'J2'?): "
            "allowed are 'J1', 'J2', 'J3', 'J4'.",
        ),
        (
            lambda s: s.apply(torque={"J1": np.nan}),
            "apply: torque['J1'] holds NaN or infinity: every number must be finite.",
        ),
        (lambda s: s.apply(torque=np.zeros(3)), "apply: torque has shape (3,): it must be (4,)."),
        (
            lambda s: s.apply(force=np.array([0.0, np.inf, 0.0])),
            "apply: force holds NaN or infinity: every number must be finite.",
        ),
        (
            lambda s: s.set_device(np.zeros(2), np.zeros(3)),
            "set_device: position has shape (2,): it must be (3,).",
        ),
        (
            lambda s: s.set_state(np.zeros(4), np.full(4, np.nan)),
            "set_state: u holds NaN or infinity: every number must be finite.",
        ),
    ],
)
def test_refusals_are_one_sentence_with_a_remedy(call, sentence):
    sim = hs.Simulation(hs.load(WAM))
    with pytest.raises(hs.ConfigError) as refused:
        call(sim)
    assert str(refused.value) == sentence
    sim.step()
    assert np.all(np.isfinite(sim.state.q)), "a refusal leaves the simulation as it was"


def test_a_force_without_a_handle_is_refused():
    text = scenes.ARM.replace("handle: {body: fore, point_m: [0.3, 0, 0]}", "")
    sim = hs.Simulation(hs.config.load.loads(text))
    with pytest.raises(hs.ConfigError) as refused:
        sim.apply(force=np.zeros(3))
    assert str(refused.value) == "apply: force has no handle to act on: give the scene a 'handle'."


def test_a_scene_that_starts_inside_a_surface_is_refused(tmp_path) -> None:
    path = tmp_path / "inside.yaml"
    path.write_text(f"extends: {WAM}\ninitial: {{q_rad: {{J2: 0.8, J4: 2.0724}}}}\n")
    with pytest.raises(
        hs.ConfigError, match=r"initial puts 'fingertip' \S+ mm into 'table': start with at most 1 mm; "
    ):
        hs.Simulation(hs.load(path))


FALLING = """
name: falling
robot:
  bodies:
    - {name: b, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}
  joints:
    - {name: j, type: free, parent: world, child: b}
handle: {body: b}
initial: {free: {j: {SPEED}}}
"""


@pytest.mark.parametrize(
    ("allowed", "given", "sentence"),
    [
        (
            "velocity_m_per_s: [0, 0, -9.9e5]",
            "velocity_m_per_s: [0, 0, -1.1e6]",
            "initial gives 'j[5]' a speed of -1.1e+06 (SI): at most 1e+06 is allowed.",
        ),
        (
            "angular_velocity_rad_per_s: [0, 1500, 0]",
            "angular_velocity_rad_per_s: [0, 1501, 0]",
            "initial gives 'j[1]' a speed of 1.5e+03 (SI): at most 1500 is allowed at 1000 Hz.",
        ),
    ],
)
def test_a_start_faster_than_a_tick_can_follow_is_refused(allowed, given, sentence):
    """The first tick would be refused as gone astray, and the mechanism stand still without a reason."""
    sim = hs.Simulation(loads(FALLING.replace("SPEED", allowed)))
    u = sim.state.u
    with pytest.raises(hs.ConfigError) as refused:
        hs.Simulation(loads(FALLING.replace("SPEED", given)))
    assert str(refused.value).endswith(sentence)
    with pytest.raises(hs.ConfigError, match="at most"):
        sim.set_state(sim.state.q, 1.02 * u)
    assert np.array_equal(sim.state.u, u)
    sim.step()
    assert sim.state.fault == Fault.NONE
