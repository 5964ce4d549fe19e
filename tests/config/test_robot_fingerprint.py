"""A recording knows the robot of its URDF or MJCF file again, whatever the layout of the file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.robot.fingerprint import fingerprint_of
from hapticsim.describe.recorded_scene import about_files, scene_of
from hapticsim.errors import ConfigError
from hapticsim.recording.reader import read_recording
from hapticsim.recording.writer import RecordingWriter
from tests.good_files import URDF

MJCF = """<mujoco><worldbody>
  <body name="a"><joint name="j" stiffness="3" springref="10"/><geom size="0.1"/>
    <body name="b" pos="1 0 0"><joint name="k" axis="0 1 0"/><geom size="0.1"/></body></body></worldbody>
  <equality><joint joint1="j" joint2="k" polycoef="0 1 0 0 0"/></equality></mujoco>"""


def recorded(folder: Path, form: str, text: str) -> Path:
    (folder / "robot.xml").write_text(text)
    (folder / "scene.yaml").write_text(f"name: x\nrobot: {{{form}: {{path: robot.xml}}}}\n")
    made = hs.load(folder / "scene.yaml")
    path = folder / "run.mcap"
    about = {"path": made.path, **about_files(made)}
    with RecordingWriter(path, ["time_s", "tick"], made.source, about) as out:
        out.append(np.zeros((1, 2)))
    return path


FILES = [
    ("urdf", URDF, 'mass value="1"', 'mass value="1.0000000001"'),
    ("mjcf", MJCF, 'pos="1 0 0"', 'pos="1 0 1e-9"'),
    ("mjcf", MJCF, 'stiffness="3"', 'stiffness="3.1"'),
    ("mjcf", MJCF, 'polycoef="0 1 0 0 0"', 'polycoef="0 2 0 0 0"'),
    ("mjcf", MJCF, 'axis="0 1 0"', 'axis="0 1 1e-9"'),
]


@pytest.mark.parametrize(("form", "text", "old", "new"), FILES, ids=[old for _, _, old, _ in FILES])
def test_a_recording_is_refused_with_another_robot_and_not_with_another_layout(
    tmp_path, form, text, old, new
):
    if form == "mjcf":
        pytest.importorskip("mujoco")
    assert text.count(old) >= 1
    file = recorded(tmp_path, form, text)
    assert scene_of(read_recording(file), False).model.nu > 0
    (tmp_path / "robot.xml").write_text(text.replace("><", ">\n <!-- said later --> <"))
    assert scene_of(read_recording(file), False).model.nu > 0
    (tmp_path / "robot.xml").write_text(text.replace(old, new))
    with pytest.raises(ConfigError) as caught:
        scene_of(read_recording(file), False)
    assert str(caught.value) == (
        f"{file}: was made with another robot file: put the file of then in its place."
    )
    (tmp_path / "robot.xml").unlink()
    with pytest.raises(ConfigError, match=r"robot\.xml: does not exist"):
        scene_of(read_recording(file), False)


def test_a_scene_without_a_robot_file_has_no_fingerprint():
    assert hs.load("wam_table").robot_fingerprint == ""
    assert "robot_sha256" not in about_files(hs.load("wam_table"))


@dataclass(frozen=True)
class Part:
    name: str = "a"
    size: float = 0.5
    at: np.ndarray = field(default_factory=lambda: np.array([0.0, 1.0]))
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class LaterPart(Part):
    """As Part, with fields that a later version has and nobody uses."""

    more: float = 0.0
    others: tuple[float, ...] = (0.0, 0.0)
    rows: np.ndarray = field(default_factory=lambda: np.zeros(3))
    table: dict[str, float] | None = None


def test_a_field_that_is_not_used_changes_nothing_and_every_other_change_does():
    assert fingerprint_of(LaterPart()) == fingerprint_of(Part())
    found = {
        fingerprint_of(part)
        for part in (
            Part(),
            Part("b"),
            replace(Part(), size=np.nextafter(0.5, 1.0).item()),
            replace(Part(), at=np.array([1.0, 0.0])),
            replace(Part(), names=("x",)),
            replace(Part(), names=("x", "y")),
            replace(Part(), names=("xy",)),
            LaterPart(more=1.0),
            LaterPart(others=(0.0, 1.0)),
            LaterPart(others=(1.0, 0.0)),
            LaterPart(table={"a": 1.0}),
            LaterPart(table={"b": 1.0}),
            (Part(), Part()),
        )
    }
    assert len(found) == 13
    assert fingerprint_of({"a": 1.0, "b": 2.0}) == fingerprint_of({"b": 2.0, "a": 1.0})


def test_what_cannot_be_told_by_its_value_has_no_fingerprint():
    with pytest.raises(TypeError, match="a function has no fingerprint"):
        fingerprint_of({"a": lambda: 1.0})
