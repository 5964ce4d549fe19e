"""Overrides: the scene of a file with values laid over it is the scene of that file edited by hand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.config.overrides import parse_settings
from hapticsim.config.yaml_text import parse, to_text
from hapticsim.simulate.virtual import simulate
from tests.processes import CONFIGS, Place

PUCK, WAM = CONFIGS / "puck_and_wall.yaml", CONFIGS / "wam_table.yaml"

NUMBER = st.floats(0.4, 3.0)
# What can be laid over the puck's scene: the key, the way to the value for an editor, and values.
CHANGES: dict[str, tuple[tuple[Any, ...], Any]] = {
    "robot.bodies.puck.inertial.mass_kg": (("robot", "bodies", 0, "inertial", "mass_kg"), NUMBER),
    "robot.bodies[0].inertial.com_m": (
        ("robot", "bodies", 0, "inertial", "com_m"),
        st.lists(st.floats(-0.01, 0.01), min_size=3, max_size=3),
    ),
    "shapes.wall.origin.xyz_m.0": (("shapes", 2, "origin", "xyz_m", 0), st.floats(0.13, 0.2)),
    "contacts.1.restitution": (("contacts", 1, "restitution"), st.floats(0.0, 1.0)),
    "initial.free.puck_motion.velocity_m_per_s": (
        ("initial", "free", "puck_motion", "velocity_m_per_s"),
        st.just([2.0, 0.0, 0.0]),
    ),
    "gravity_m_per_s2": (
        ("gravity_m_per_s2",),
        st.tuples(st.just(0.0), st.just(0.0), st.floats(-10.0, -1.0)),
    ),
    "name": (("name",), st.sampled_from(["1e3", "on", "null", "a: b", "'", "~"])),
    "coupler.stiffness_N_per_m": (("coupler", "stiffness_N_per_m"), st.floats(100.0, 900.0)),
}


def edited(file: Path, changes: dict[str, Any]) -> str:
    """The text of the file with every value typed where it belongs."""
    data = yaml.safe_load(file.read_text(encoding="utf-8"))
    for key, value in changes.items():
        here = data
        *way, last = CHANGES[key][0]
        for part in way:
            here = here.setdefault(part, {}) if isinstance(here, dict) else here[part]
        here[last] = value
    # ours: YAML's own would write the word 1e3 without its quotation marks
    return to_text(data)


def motion(scene: hs.Scene) -> bytes:
    """The state after each of some ticks, to the bit."""
    sim = hs.Simulation(scene)
    rows = []
    for _ in range(20):
        sim.step(5)
        rows += [sim.state.q, sim.state.u]
    return b"".join(row.tobytes() for row in rows)


def load(overrides: Any, path: Any = PUCK) -> hs.Scene:
    return hs.load(path, overrides)


@settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.fixed_dictionaries({}, optional={key: values for key, (_, values) in CHANGES.items()}))
def test_an_override_is_the_same_file_edited_by_hand(changes: dict[str, Any]) -> None:
    by_hand = loads(
        edited(PUCK, {k: list(v) if isinstance(v, tuple) else v for k, v in changes.items()}), PUCK
    )
    laid_over = load(changes)
    assert parse("", laid_over.source) == parse("", by_hand.source)
    assert motion(laid_over) == motion(by_hand) == motion(loads(laid_over.source, PUCK))


def test_a_mapping_is_the_scene_of_its_file() -> None:
    data = yaml.safe_load(PUCK.read_text(encoding="utf-8"))
    before = to_text(data)
    scene = hs.load(data, {"robot.bodies.puck.inertial.mass_kg": np.float64(0.75)})
    assert scene.model.bodies[0].mass == 0.75 and to_text(data) == before
    assert motion(hs.load(data)) == motion(hs.load(PUCK))


def test_paths_in_a_mapping_are_relative_to_the_working_folder(tmp_path, monkeypatch) -> None:
    (tmp_path / "base.yaml").write_text(PUCK.read_text(encoding="utf-8"))
    monkeypatch.chdir(tmp_path)
    assert hs.load({"extends": "base.yaml", "rate_Hz": 500}).rate_Hz == 500.0


def test_overrides_come_after_extends(tmp_path) -> None:
    (tmp_path / "base.yaml").write_text(PUCK.read_text(encoding="utf-8"))
    above = tmp_path / "above.yaml"
    above.write_text("extends: base.yaml\nrate_Hz: 500\n")
    scene = load({"rate_Hz": 250, "robot.bodies.puck.inertial.mass_kg": 2}, above)
    assert (scene.rate_Hz, scene.model.bodies[0].mass) == (250.0, 2.0)
    assert loads(scene.source).rate_Hz == 250.0 and "extends" not in scene.source


def test_aliases_of_a_file_are_values_of_their_own(tmp_path) -> None:
    text = PUCK.read_text(encoding="utf-8").replace("color: [230, 159, 0]", "color: &c [230, 159, 0]")
    file = tmp_path / "scene.yaml"
    file.write_text(text.replace("color: [176, 140, 104]", "color: *c"))
    shapes = load({"shapes.table.color.0": 1}, file).shapes
    assert [s.color for s in shapes[:2]] == [(230, 159, 0), (1, 159, 0)]


def test_names_may_have_dots_and_come_before_numbers() -> None:
    data = yaml.safe_load(PUCK.read_text(encoding="utf-8"))
    data["shapes"][1]["name"] = "a.b"
    data["shapes"][2]["name"] = "0"
    data["contacts"] = [{"between": ["puck_box", "a.b"]}]
    shapes = load({"shapes.a.b.color": [1, 2, 3], "shapes.0.color": [4, 5, 6]}, data).shapes
    assert [s.color for s in shapes[1:]] == [(1, 2, 3), (4, 5, 6)]


REFUSED: list[tuple[Any, str]] = [
    ({"": 1}, '"" has an empty part: write a dotted key'),
    ({"robot..bodies": 1}, "robot..bodies has an empty part: write a dotted key"),
    ({"x." * 3000: 1}, "x.x.x.x"),
    ({"extends": "wam_table.yaml"}, "extends cannot be set"),
    ({"robot": 3}, "robot = 3 is not usable: it must be a mapping of keys."),
    (
        {"robot.bodies.puk.inertial.mass_kg": 1},
        "names 'puk', which is not in robot.bodies (did you mean 'puck'?)",
    ),
    ({"robot.bodies.9.inertial.mass_kg": 1}, "names '9', which is not in robot.bodies"),
    ({"contacts.9.restitution": 1}, "names '9', which is not in contacts: its entries are 0 to 1."),
    ({"contacts.-1.restitution": 1}, "names '-1', which is not in contacts: its entries are 0 to 1."),
    ({"torques.J1.damping_Nms_per_rad": 1}, "names an entry of torques, of which this scene has none"),
    ({"robot.bodys.puck": 1}, "has the part 'bodys', which is not a key here (did you mean 'bodies'?)"),
    ({"robot.bodies.puck.inertial.mass_g": 1}, "has the wrong unit or none: write mass_kg"),
    ({"robot.bodies.puck.inertial.mass_kg": "heavy"}, "= 'heavy' is not usable: it must be a finite number"),
    ({"robot.bodies.puck.inertial.mass_kg": 1e300}, "is a number beyond 1e+15"),
    ({"robot.bodies.puck.inertial.mass_kg.x": 1}, "goes on below robot.bodies[0].inertial.mass_kg"),
    ({"robot.bodies.puck.inertial.mass_kg": object()}, "is of the type object"),
    (
        {"robot.bodies.puck.inertial.inertia_kg_m2.xx": 5.0},
        "robot.bodies[0].inertial has the principal moments",
    ),
    ({"shapes.wall.kind": "spere"}, "has the kind 'spere' (did you mean 'sphere'?)"),
    ({"contacts.0.between.1": "wal"}, "= 'wal' is not a shape (did you mean 'wall'?)"),
    ({"robot.bodies.puck.inertial": 5, "robot.bodies.puck.inertial.mass_kg": 1}, "which is 5 in this scene"),
    ({1: 2}, "1 is not a dotted key"),
]


@pytest.mark.parametrize(("overrides", "sentence"), REFUSED, ids=lambda x: str(x)[:40])
def test_what_cannot_be_laid_over_is_refused_with_its_key(overrides: Any, sentence: str) -> None:
    with pytest.raises(hs.ConfigError) as refusal:
        load(overrides)
    said = str(refusal.value)
    assert sentence in said and "overrides" in said and str(list(overrides)[-1])[:100] in said
    assert "\n" not in said and len(said) < 700


def test_what_is_no_mapping_is_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    for wrong, sentence in (
        ({"name": "x"}, "<mapping>: robot is missing"),
        ({"name": loop}, "nested deeper than 40 levels"),
        ({1: 2}, "<mapping>: has the key 1"),
        (5, "load: path of the type int is not usable"),
    ):
        with pytest.raises(hs.ConfigError, match=re.escape(sentence)):
            hs.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(hs.ConfigError, match="overrides of the type list are not usable"):
        hs.load(PUCK, [1])  # type: ignore[arg-type]


def test_words_of_the_command_line_are_yaml() -> None:
    words = ["a=1e-3", "b=[1, 2]", "c={d: on}", "e=null", 'f="3"', "g=x=y"]
    assert parse_settings(words) == {
        "a": 1e-3, "b": [1, 2], "c": {"d": "on"}, "e": None, "f": "3", "g": "x=y",
    }  # fmt: skip
    for wrong in (["a"], ["a="], ["a= "], ["a=1", "a=2"], ["a=[1"], ["a=" + "[" * 5000]):
        with pytest.raises(hs.ConfigError, match=r"^--set"):
            parse_settings(wrong)


@given(st.text(max_size=12))
@settings(max_examples=200)
def test_a_word_is_written_so_that_it_is_read_again(word: str) -> None:
    if word.isprintable():
        assert parse("", to_text({"name": word, "others": [word]})) == {"name": word, "others": [word]}


def test_a_recording_made_with_overrides_replays(place: Place, tmp_path: Path) -> None:
    out = tmp_path / "visit.mcap"
    mass = "--set=robot.bodies.puck.inertial.mass_kg=0.8"
    made = place.run("simulate", PUCK, mass, "--seconds", "0.5", "--out", out)
    assert made.process.returncode == 0, made.said
    again = place.run("replay", out)
    assert "every state and force the same to the bit" in again.printed, again.said
    plain = simulate(hs.load(PUCK, {"robot.bodies.puck.inertial.mass_kg": 0.8}), *scripted())
    assert len(plain) == 500


def scripted() -> tuple[Any, float]:
    from hapticsim.drivers.registry import require_driver

    return require_driver("scripted")({}), 0.5


@pytest.mark.parametrize("command", ("run", "serve", "operator", "simulate", "model", "compile"))
def test_every_command_that_reads_a_scene_takes_values(place: Place, command: str) -> None:
    said = place.run(command, PUCK, "--set", "robot.bodies.puk.inertial.mass_kg=1")
    assert said.process.returncode == 2
    assert "--set: robot.bodies.puk.inertial.mass_kg names 'puk'" in said.said
    robot = place.folder / "robot.urdf"
    robot.write_text("<robot name='r'/>")
    if command in ("model", "compile"):
        assert "--set: name=x is for scene files" in place.run(command, robot, "--set", "name=x").said
