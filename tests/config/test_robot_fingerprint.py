"""A recording knows the URDF or MJCF file of its robot again, whatever the layout of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hapticsim_devices.scripted import Scripted

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
