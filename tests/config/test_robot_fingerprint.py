"""A recording knows the URDF or MJCF file of its robot again, whatever the layout of the file."""

from __future__ import annotations

import os
import random
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
import yaml
from hapticsim_devices.scripted import Scripted
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.commands.options import refuse_robot_file
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.robot_file.fingerprint import fingerprint_of
from hapticsim.offline.sweeps.journal import Journal
from hapticsim.playback.replay import play
from hapticsim.simulate.virtual import simulate
from tests.good_files import URDF

MJCF = """<mujoco>
  <include file="below/part.xml"/>
  <worldbody><body name="a"><joint name="j" stiffness="3"/><geom size="0.1"/></body></worldbody></mujoco>"""
PART = '<mujoco><option gravity="0 0 -9"/></mujoco>'
SCENE = "name: x\nrobot: {{{form}: {{path: robot.xml}}}}\n"


def test_a_hash_is_of_what_the_file_says(tmp_path):
    file = tmp_path / "robot.xml"

    def of(text: str | bytes) -> str:
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return fingerprint_of(file)

    same = [
        URDF,
        URDF.replace("><", ">\n  <!-- said later -->\n <"),
        URDF.replace("\n", "\r\n"),
        URDF.replace('name="j" type="revolute"', 'type = "revolute"  name="j"'),
        "\ufeff" + URDF,
    ]
    assert len({of(text) for text in same}) == 1
    others = [
        URDF,
        URDF.replace('mass value="1"', 'mass value="1.0000000001"'),
        URDF.replace('mass value="1"', 'mass  value="2"', 1),
        URDF.replace("</robot>", "<material/></robot>"),
        "no xml",
        "no  xml",
        "",
        b"<?xml version='1.0' encoding='nonsense'?><robot/>",
        b"\xff\xfe<",
    ]
    assert len({of(text) for text in others}) == len(others)


def test_what_is_included_counts_and_a_file_that_includes_itself_ends(tmp_path):
    (tmp_path / "below").mkdir()
    file, part = tmp_path / "robot.xml", tmp_path / "below" / "part.xml"
    file.write_text(MJCF)
    part.write_text(PART)
    first = fingerprint_of(file)
    part.write_text(PART.replace("-9", "-8"))
    assert fingerprint_of(file) != first
    part.write_text(PART.replace("<option", "\n<option"))
    assert fingerprint_of(file) == first
    part.write_text('<mujoco><include file="part.xml"/><include file="../robot.xml"/><include/></mujoco>')
    assert fingerprint_of(file) != first
    part.unlink()
    assert fingerprint_of(file) != first


VALUES = st.text(alphabet="01.e-&<\"'", max_size=6)


@st.composite
def elements(draw, depth: int = 0) -> tuple:
    """Tag, attributes, children: what a file may say."""
    tag = draw(st.sampled_from(["robot", "link", "joint"]))
    attributes = draw(st.dictionaries(st.sampled_from(["name", "xyz", "rpy"]), VALUES, max_size=3))
    return tag, attributes, draw(st.lists(elements(depth + 1), max_size=3)) if depth < 2 else []


def as_text(element: tuple, rng: random.Random) -> str:
    """One of the ways to write it."""
    tag, attributes, children = element
    order = rng.sample(sorted(attributes), len(attributes))
    gaps = [" ", "\n", "\t  "]
    head = tag + "".join(f"{rng.choice(gaps)}{name}={quoteattr(attributes[name])}" for name in order)
    if not children and rng.random() < 0.5:
        return f"<{head}{rng.choice(['', ' '])}/>"
    between = ["", "\n   ", "<!-- a remark -->", " <!-- <link/> --> "]
    inside = "".join(rng.choice(between) + as_text(child, rng) for child in children)
    return f"<{head}>{inside}{rng.choice(between)}</{tag}>"


TRIES = settings(
    deadline=None,
    max_examples=int(os.environ.get("HAPTICSIM_ROBOT_FILES", "200")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


@given(one=elements(), other=elements(), seed=st.integers(0, 10**6))
@TRIES
def test_two_files_have_one_hash_where_they_say_the_same(tmp_path, one, other, seed):
    rng, found = random.Random(seed), []
    for said in (one, one, other):
        (tmp_path / "robot.xml").write_text(as_text(said, rng))
        found.append(fingerprint_of(tmp_path / "robot.xml"))
    assert found[0] == found[1] and (found[0] == found[2]) == (one == other)


@given(data=st.data(), seed=st.integers(0, 10**6))
@TRIES
def test_a_damaged_file_has_a_hash_and_is_read_or_refused_in_one_sentence(tmp_path, data, seed):
    rng, file = random.Random(seed), tmp_path / "robot.xml"
    text = bytearray(b"<?xml version='1.0' encoding='utf-8'?>" + URDF.encode())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text))
        text[at : at + rng.randint(0, 12)] = data.draw(st.binary(max_size=8))
    file.write_bytes(bytes(text))
    assert len(fingerprint_of(file)) == 64
    try:
        hs.load_urdf(file)
    except ConfigError as refused:
        assert "\n" not in str(refused) and str(refused).endswith(".")


def test_a_scene_without_a_robot_file_has_none():
    assert hs.load("wam_table").robot_fingerprint == ""


@pytest.mark.parametrize("form", ["urdf", "mjcf"])
def test_a_journal_knows_the_robot_file(tmp_path, form):
    if form == "mjcf":
        pytest.importorskip("mujoco")
    robot, text = tmp_path / "robot.xml", URDF if form == "urdf" else MJCF.replace("include", "option", 1)
    text = text.replace('file="below/part.xml"', "")
    robot.write_text(text)

    def scene() -> hs.Scene:
        return loads(SCENE.format(form=form), tmp_path / "scene.yaml")

    with Journal(tmp_path / "sweep.jsonl", scene) as journal:
        journal.add(scene(), 1.0)
        assert journal.has(scene())
        robot.write_text(text.replace("><", ">\n<"))
        assert journal.has(scene())
        robot.write_text(text.replace('"3"', '"4"').replace('mass value="1"', 'mass value="2"'))
        assert not journal.has(scene())


@given(stem=st.text(st.characters(exclude_characters="/\0", codec="utf-8"), min_size=1, max_size=40))
@TRIES
def test_the_line_of_any_name_is_that_of_its_file(tmp_path, stem):
    robot = tmp_path / f"{stem}.urdf"
    robot.touch()
    with pytest.raises(ConfigError) as caught:
        refuse_robot_file(robot)
    line = str(caught.value).partition("'name: mine' and '")[2].removesuffix("'.")
    assert "\n" not in line and yaml.safe_load(line) == {"robot": {"urdf": {"path": robot.name}}}
    robot.unlink()


@pytest.mark.parametrize(
    "name", ["123", "1e3", "null", "a: b", "a, b", "a #b", "a}b", "[a]", "@a", "%d", "*", "'"]
)
def test_the_lines_that_the_refusal_of_a_robot_alone_tells_are_a_scene(tmp_path, name):
    robot = tmp_path / f"{name}.urdf"
    robot.write_text(URDF)
    with pytest.raises(ConfigError) as caught:
        refuse_robot_file(robot)
    lines = str(caught.value).partition(" with the lines '")[2].removesuffix("'.").split("' and '")
    assert len(lines) == 2
    assert loads("\n".join(lines), tmp_path / "scene.yaml").model.nu == 1


def test_a_replay_says_that_the_robot_file_was_edited(tmp_path, capsys):
    robot: Path = tmp_path / "robot.xml"
    robot.write_text(URDF)
    recording = tmp_path / "run.mcap"
    scene = loads(SCENE.format(form="urdf"), tmp_path / "scene.yaml")
    with Scripted() as hand:
        simulate(scene, hand, 0.05, recording)
    play(recording, False, lambda _: None)
    assert "edited" not in capsys.readouterr().err
    robot.write_text(URDF.replace('mass value="1"', 'mass value="2"'))
    play(recording, False, lambda _: None)
    said = capsys.readouterr()
    assert "note: the robot file was edited since this was recorded: states may differ." in said.err
