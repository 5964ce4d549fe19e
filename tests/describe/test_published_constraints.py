"""What observers are told of constraints is what the simulation itself says."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.assemble.speed_choice import SpeedChoice
from hapticsim.codes import Event, Mode
from hapticsim.config.load import loads
from hapticsim.describe.events import event_words
from hapticsim.describe.topics import Describer
from hapticsim.simulate.simulation import Simulation
from tests.curves import WAVY, Twin, bead, curve
from tests.four_bar import FOUR_BAR
from tests.rows import row_of

LOOP, BRAKE, STOP = range(3)


@pytest.fixture(scope="module")
def scene():
    return loads(FOUR_BAR)


@pytest.fixture
def sim(scene) -> Simulation:
    return Simulation(scene)


@pytest.fixture
def describer(sim: Simulation) -> Describer:
    return Describer(sim.assembly)


# -- topics ------------------------------------------------------------------------------------------------


def test_the_scene_names_speeds_and_rows_with_their_bodies(describer):
    payload = describer.scene(0.0, 0.1)
    assert payload["speeds"] == ["crank", "coupler", "rocker"]
    loop, brake, stop = payload["constraints"]
    assert [len(c["rows"]) for c in (loop, brake, stop)] == [3, 1, 1]
    first = loop["rows"][0]
    assert (first["kind"], first["a"], first["b"]) == ("point", 1, 2)
    assert (first["point_a"], first["point_b"]) == ([0.5, 0.0, 0.0], [0.2, 0.0, 0.0])
    assert [r["direction_b"] for r in loop["rows"]] == np.eye(3).tolist()
    assert (brake["rows"][0]["kind"], brake["rows"][0]["joints"]) == ("speeds", [[0, 1.0]])
    assert brake["rows"][0]["unit"] == "N m" and first["unit"] == "N"
    assert (stop["rows"][0]["kind"], stop["rows"][0]["length"], stop["rows"][0]["b"]) == ("distance", 0.5, -1)


def test_the_scene_tells_the_places_along_a_curve():
    made = Simulation(bead([curve(WAVY, True)], WAVY[0], np.zeros(3)))
    (wire,) = Describer(made.assembly).scene(0.0, 0.1)["constraints"]
    assert [r["kind"] for r in wire["rows"]] == ["curve", "curve"]
    places = np.array(wire["rows"][0]["curve"]).reshape(-1, 3)
    assert 50 < len(places) <= 257
    np.testing.assert_allclose(places[[0, -1]], WAVY[[0, 0]], rtol=0, atol=1e-12)
    assert max(Twin(WAVY, True).distance(place) for place in places) < 1e-12
    assert wire["rows"][0]["unit"] == "N"


def test_the_state_tells_hold_force_gap_rank_and_dependent_speeds(sim, describer):
    sim.apply(torque={"crank": 2.0})
    for k in range(60):
        if k == 20:
            sim.switch("brake", True)
        sim.step()
        told = describer.state(row_of(sim))
        assert {c["name"]: c["hold"] for c in told["constraints"]} == {
            name: hold.name.lower() for name, hold in sim.held.items()
        }
        assert (told["rank"], told["rows"]) == sim.rank == ((2, 3) if k < 20 else (3, 4))
        assert told["dependent"] == [describer.constraints.speeds[r] for r in sim.dependent_speeds]
        assert told["residual"] == pytest.approx(max(np.abs(sim._output.gap).max(initial=0.0), 0.0), abs=0.0)
    loop, brake, stop = told["constraints"]
    assert len(loop["force"]) == 3 and loop["force"] == sim._output.force[:3].tolist()
    assert abs(brake["force"][0]) > 0.1 and stop["force"] == [0.0] and stop["gap"] == [0.0]


def test_all_the_plain_payloads_can_go_over_the_wire(sim, describer):
    import msgpack

    sim.step()
    for payload in (describer.scene(1.0, 0.1), describer.state(row_of(sim))):
        assert msgpack.unpackb(msgpack.packb(payload)) == payload


# -- events ------------------------------------------------------------------------------------------------


def test_an_event_of_a_constraint_goes_by_its_name(describer):
    told = describer.event(5, Event.SWITCH, BRAKE, float(Mode.HELD), 0.0002)
    assert (told["kind"], told["text"], told["constraint"]) == ("switch", "'brake' holds", "brake")
    assert told["time_s"] == pytest.approx(0.0052)
    assert "constraint" not in describer.event(5, Event.IMPULSE, -1, 0.1, 0.0)


def test_a_choice_of_speeds_says_what_was_chosen_when_its_record_is_known(sim, describer):
    sim.step()
    (choice,) = sim.choices
    told = describer.event(0, Event.SELECT, -1, choice.condition, 0.0, choice)
    assert (told["rank_before"], told["rank"], told["rows"]) == (0, 2, 3)
    assert told["value"] == told["condition"] == choice.condition >= 1.0
    assert told["condition_before"] is None
    (free,) = np.array(told["free_directions"])  # three rows of rank two: one direction of three is left
    np.testing.assert_allclose(sim._workspace.A[:3] @ free, 0.0, atol=1e-12)
    assert set(told["dependent"]) == {describer.constraints.speeds[r] for r in sim.dependent_speeds}
    assert f"dependent: {', '.join(told['dependent'])}, left free: " in told["text"]
    assert "rank" not in describer.event(0, Event.SELECT, -1, 2.5, 0.0)


def test_a_record_of_a_choice_is_read_and_put_into_words():
    record = np.array([2e-4, 1.0, 1.0, 2.0, 1.5, np.inf, 1.0, 0.0, 0.6, 0.8, 0.0, 0.0])
    choice = SpeedChoice.read(record)
    told = choice.told(["a", "b"])
    assert choice.condition_before == np.inf and told["condition_before"] is None
    assert told["free_directions"] == [[0.6, 0.8]] and told["dependent"] == ["b"]
    assert choice.words(["a", "b"]) == ", inf with the earlier ones, dependent: b, left free: a 0.6, b 0.8"


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (Event.SWITCH, 0.0, "'x' is free"),
        (Event.SWITCH, 3.0, "'x' slips backward"),
        (Event.REFUSED, 0.0123, "'x' was not imposed: it is off by 0.0123 (SI)"),
        (Event.REFUSED, np.inf, "'x' was not imposed: it is out of reach"),
        (Event.CONFLICT, 0.61, "'x' contradicts other constraints (its share 61 %)"),
        (Event.TWICE, 1.0, "'x' was switched more than once within a tick: the last wish counted"),
        (Event.IMPULSE, 0.0021, "'x' touched and parted at once, 2.1 mJ lost"),
        (Event.RANK, 2.0, "the rank of the imposed rows is 2"),
    ],
)
def test_events_of_constraints_in_words(kind, value, words):
    assert event_words(kind, "'x'", value) == words


def test_an_impulse_by_constraints_is_told_from_one_by_a_contact(describer):
    told = describer.event(5, Event.IMPULSE, -1, 0.0021, 0.0)
    assert told["text"] == "constraints imposed by an impulse, 2.1 mJ lost"


def test_every_event_has_words_of_its_own():
    assert len({event_words(kind, "'x'", 1.0) for kind in Event}) == len(Event)


def test_an_infinite_value_is_told_as_nil(describer):
    assert describer.event(0, Event.REFUSED, LOOP, np.inf, 0.0)["value"] is None
