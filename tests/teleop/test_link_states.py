"""States that cross a link: each field has its rule and its owner, and what breaks one is named."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import ON_BOX, ON_EDGES
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR
from hapticsim.kernels.geometry.mesh.search import MESH_FEATURE
from hapticsim.kernels.memory.arrays import HULL
from hapticsim.kernels.memory.command import COMMAND, NAMES, apply_command
from hapticsim.kernels.memory.pack import pack_state, place_of, state_size
from hapticsim.realtime.exchange import adopt
from hapticsim.teleop.handover import HAND, MECHANISM, without_hand
from hapticsim.teleop.state_check import StateCheck
from tests.concave import decomposed, with_solids
from tests.processes import CONFIGS, ROOT
from tests.whole_scenes.test_edges_cross import BOX, scene
from tests.whole_scenes.test_hulls_touch import flat
from tests.whole_scenes.test_hulls_touch import scene as hulls
from tools.mesh_scenes import ball_scene, box_mesh, bumpy


@pytest.fixture(scope="module")
def wam():
    return hs.Simulation(hs.load(CONFIGS / "wam_table.yaml"))


@pytest.fixture(scope="module")
def four_bar():
    return hs.Simulation(hs.load(CONFIGS / "four_bar.yaml"))


@pytest.fixture(scope="module")
def boxes():
    """Two cubes that fall onto one another, turned: edges cross edges."""
    cube = BOX.format(0.05, 0.05, 0.05)
    starts = [((0.0, 0.0, 0.051), (0.0, 0.0, 0.0)), ((0.02, 0.0, 0.2), (0.3, 0.2, 0.6))]
    return scene([cube] * 2, starts, ["name: floor, kind: plane"])


def packed_of(sim: hs.Simulation) -> np.ndarray:
    row = np.zeros(state_size(sim.fork().state))
    pack_state(sim.fork().state, row)
    return row


def test_every_field_of_a_state_has_its_rule_and_its_owner(wam: hs.Simulation):
    fields = {name for name, _ in wam.fork().state.items()}
    assert set(StateCheck(wam.assembly).rules) == fields
    assert MECHANISM | HAND == fields and not MECHANISM & HAND


def test_a_correction_takes_the_mechanism_and_what_the_device_is_fixed_to(four_bar: hs.Simulation):
    source, target = four_bar.fork().state.copy(), four_bar.fork().state.copy()
    for _, array in source.items():
        array += 1
    adopt(source, target)
    taken = {name for name, array in target.items() if np.any(array == getattr(source, name))}
    there = {name for name, array in target.items() if array.size}  # no contacts here
    assert taken == there & ((MECHANISM - {"tick", "switched"}) | {"origin_W", "turn_offset"})


def test_a_new_operator_finds_the_mechanism_and_no_hand_on_it(wam: hs.Simulation):
    state = wam.fork().state.copy()
    for _, array in state.items():
        array += 1
    row = np.zeros(state_size(state))
    pack_state(state, row)
    left, start = without_hand(wam.assembly, row), packed_of(wam)
    for name, array in state.items():
        place = place_of(state, name)
        kept = left[place : place + array.size]
        expected = row if name in MECHANISM else start
        assert np.array_equal(kept, expected[place : place + array.size]), name


@pytest.mark.parametrize("which", ["wam", "four_bar", "boxes"])
def test_a_state_of_the_scene_passes_also_in_contact(which: str, request: pytest.FixtureRequest):
    sim = request.getfixturevalue(which)
    check = StateCheck(sim.assembly)
    start = sim.fork()
    for _ in range(200):
        sim.step()
        assert check.trouble(packed_of(sim)) == ""
    assert which != "boxes" or sim._state.face.max() >= EDGE_PAIR
    sim.restore(start)


def test_a_place_takes_pairs_of_edges_and_a_corner_takes_faces(boxes: hs.Simulation):
    check, row = StateCheck(boxes.assembly), packed_of(boxes)
    face = place_of(boxes.fork().state, "face")
    kinds = [c.kind for c in boxes.assembly.candidates]
    place, corner = face + kinds.index(ON_EDGES), face + kinds.index(ON_BOX)
    for at, allowed, refused in (
        (place, (0, 8, 16, 159), (9, 15, 160, -1)),
        (corner, (0, 1, 8), (9, 16, -1)),
    ):
        before = row[at]
        for values, trouble in ((allowed, ""), (refused, "its face is out of range")):
            for value in values:
                row[at] = value
                assert check.trouble(row) == trouble, value
        row[at] = before


@pytest.mark.parametrize(
    "field, value, named",
    [
        ("order", 1e12, "order"),
        ("order", -1.0, "order"),
        ("order", 0.5, "order"),
        ("rank", 33.0, "rank"),
        ("rank", np.inf, "rank"),
        ("mode", 2.0, "mode"),
        ("tick", -1.0, "tick"),
        ("safety", 9.0, "safety"),
        ("q", np.nan, "q"),
        ("u", 1e200, "u"),
        ("gain", 1.5, "gain"),
        ("turn_offset", 0.0, "turn_offset"),
        ("turn_offset", 1e300, "turn_offset"),  # whose square is infinite
    ],
)
def test_a_number_that_breaks_a_rule_is_named(wam: hs.Simulation, field: str, value: float, named: str):
    row = packed_of(wam)
    row[place_of(wam.fork().state, field)] = value
    with np.errstate(all="raise"):
        assert StateCheck(wam.assembly).trouble(row) == f"its {named} is out of range"


def test_a_state_of_another_scene_is_refused(wam: hs.Simulation, four_bar: hs.Simulation):
    assert "numbers" in StateCheck(wam.assembly).trouble(packed_of(four_bar))


FUZZ = """
import sys
import numpy as np
import hapticsim as hs
from hapticsim.kernels.geometry.mesh.search import MESH_FEATURE
from hapticsim.kernels.memory.command import COMMAND
from hapticsim.kernels.memory.pack import pack_state, state_size
from hapticsim.teleop.predictor import Predictor
from hapticsim.teleop.state_check import StateCheck

sim = hs.Simulation(hs.load(sys.argv[1]))
state = sim.fork().state.copy()
start = np.zeros(state_size(state))
pack_state(state, start)
check, predictor = StateCheck(sim.assembly), Predictor(sim.assembly)
rng = np.random.default_rng(int(sys.argv[2]))
wild = [np.nan, np.inf, -1.0, 0.5, 1e12, -1e12, 1e300, 2.0, 3.0, 7.0, 31.0, 33.0, 2.0**53]
wild += [16.0, 100.0, 159.0, 160.0]
taken = refused = 0
for _ in range(int(sys.argv[3])):
    row = start.copy()
    for i in rng.integers(0, row.size, rng.integers(1, 6)):
        odd, other = wild[rng.integers(len(wild))], row[rng.integers(row.size)]
        row[i] = (odd, rng.normal(), rng.integers(0, 5), other)[rng.integers(4)]
    if rng.random() < 0.1:
        row = np.frombuffer(rng.bytes(8 * row.size)).copy()
    if check.trouble(row):
        refused += 1
        continue
    taken += 1
    predictor.predict(0, row, np.zeros((3, COMMAND)))
print(taken, refused)
"""


OTHERS = [pytest.param(name, marks=pytest.mark.long) for name in ("puck_and_wall", "four_bar")]


@pytest.mark.parametrize("name", ["wam_table", *OTHERS])
def test_a_state_that_is_believed_never_ends_the_process(name: str):
    """Random states: each is refused, or three ticks are taken from it, in a process that must live."""
    program = [sys.executable, "-c", FUZZ, str(CONFIGS / f"{name}.yaml"), "1", "3000"]
    done = subprocess.run(
        program, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=200
    )
    assert done.returncode == 0, done.stderr[-2000:]
    taken, refused = map(int, done.stdout.split())
    assert taken > 100 and refused > 500


def test_names_of_a_command_are_columns_of_a_row():
    assert len(NAMES) == COMMAND == len(set(NAMES))


def test_every_input_of_a_tick_travels_or_has_a_reason_not_to(wam: hs.Simulation):
    """A field that a device fills and a command leaves out would be another one at the remote site."""
    inp = wam.assembly.new_input()
    for _, array in inp.items():
        array[...] = -7
    apply_command(np.arange(1.0, 1.0 + COMMAND), inp)
    stays = {name for name, array in inp.items() if array.size and np.all(array == -7)}
    assert stays <= {"torque", "force_W", "switch"}  # of the simulation alone, or of the remote site
    assert all(np.all(array != -7) for name, array in inp.items() if name not in stays)


def test_a_place_on_a_mesh_holds_a_feature_of_its_own_mesh_or_none():
    """A state that holds nowhere would put the ball 1000 m away."""
    sim = hs.Simulation(ball_scene(bumpy(np.random.default_rng(1)), (0.05, 0.02, 0.7)))
    check, face = StateCheck(sim.assembly), place_of(sim.fork().state, "face")
    mode = place_of(sim.fork().state, "mode")
    sim.step(250)
    held = packed_of(sim)
    assert sim.state.contacts and held[face] >= MESH_FEATURE and check.trouble(held) == ""
    for at, value in ((face, 0.0), (mode, 0.0), (mode + 1, 1.0)):
        wrong = held.copy()
        wrong[at] = value
        assert "holds without a feature" in check.trouble(wrong)
    for value in (10.0, MESH_FEATURE + 1e7, -1.0, MESH_FEATURE + 0.5):
        wrong = held.copy()
        wrong[face] = value
        assert check.trouble(wrong) == "its face is out of range"


def test_a_place_for_solids_that_are_joined_takes_what_shows_of_them():
    """A side of the bar of a cross shows twice, on either side of an arm: it has more places than faces."""
    found = decomposed("cross", 0.01)
    made = with_solids(
        hulls([box_mesh((0.1, 0.1, 0.05))], [flat(0.0, 0.0, 0.031)], (0.5, 0.5, 0.05)), ["table"], found
    )
    sim = hs.Simulation(made)
    check, face = StateCheck(sim.assembly), place_of(sim.fork().state, "face")
    for _ in range(60):
        sim.step()
        assert check.trouble(packed_of(sim)) == ""
    assert sim.state.contacts
    row, k = (
        packed_of(sim),
        [c.features for c in sim.assembly.candidates].index(sim.assembly.candidates[0].features),
    )
    a, b = sim.assembly.candidates[k].features
    for j, trouble in ((len(b.planes) - 1, ""), (len(b.planes), "its face is out of range")):
        row[face + k] = EDGE_PAIR + (1 * HULL + 0) * HULL + j
        assert len(a.rings) == 8 and check.trouble(row) == trouble


def test_a_place_for_hulls_takes_features_that_they_have():
    """A cube of triangles has 12 edges, 8 vertices and 6 faces, as the table of boxes."""
    sim = hs.Simulation(hulls([box_mesh((0.1, 0.1, 0.05))], [flat(0.0, 0.0, 0.05)], (0.5, 0.5, 0.05)))
    check, face = StateCheck(sim.assembly), place_of(sim.fork().state, "face")
    sim.step(50)
    row = packed_of(sim)
    assert len(sim.state.contacts) == 4 and row[face] >= EDGE_PAIR and check.trouble(row) == ""

    def pair(kind: int, i: int, j: int) -> float:
        return EDGE_PAIR + (kind * HULL + i) * HULL + j

    good = [0, 7, 8, *(pair(*of) for of in ((0, 11, 11), (1, 7, 5), (2, 7, 5)))]
    bad = [1, 15, -1, 0.5, *(pair(*of) for of in ((0, 12, 0), (1, 8, 0), (1, 0, 6), (2, 8, 5), (3, 0, 0)))]
    for values, trouble in ((good, ""), (bad, "its face is out of range")):
        for value in values:
            row[face] = value
            assert check.trouble(row) == trouble, value


@pytest.mark.parametrize(("depth", "taken"), [(-1e-3, True), (1e-6, True), (1e-5, True), (1e-3, False)])
def test_a_contact_may_be_held_a_little_open(boxes, depth, taken):
    """Chatter ends so; a link that refused it was dead for as long as the body rested."""
    row = packed_of(boxes)
    row[place_of(boxes.fork().state, "depth")] = depth
    trouble = StateCheck(boxes.assembly).trouble(row)
    assert (trouble == "") == taken and (taken or "depth" in trouble)
