"""Files that somebody sends: no program in them is run unasked, and none is too large to be refused."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest
from hapticsim_devices.scripted import Scripted

from hapticsim.config.load import load, loads
from hapticsim.describe.recorded_scene import about_files, scene_of
from hapticsim.drivers.registry import options_for
from hapticsim.equations.kane.source import MechanismFile, load_mechanism
from hapticsim.errors import ConfigError, HapticsimError
from hapticsim.files.cache_folder import ENVIRONMENT, cache_folder
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.robot_file.urdf import load_urdf
from hapticsim.model.scene import Scene
from hapticsim.playback.animation import Animation
from hapticsim.playback.pictures import film
from hapticsim.playback.replay import play
from hapticsim.recording import reader
from hapticsim.recording.reader import read_recording
from hapticsim.recording.writer import RecordingWriter
from hapticsim.simulate.virtual import simulate
from tests.processes import CONFIGS

CONFIG = "name: sent\nrobot: {mechanism: {path: attached.py}}\n"


@pytest.fixture
def marker(tmp_path):
    return tmp_path / "it-was-run"


@pytest.fixture
def program(marker):
    """A program that leaves a trace; its text is like no other's, so that it was never compiled before."""
    return f"from pathlib import Path\nPath({str(marker)!r}).touch()\n# {time.time_ns()}\n"


def recorded(folder: Path, **about: str) -> Path:
    path = folder / "sent.mcap"
    with RecordingWriter(
        path, ["time_s", "tick"], CONFIG, {"path": str(folder / "scene.yaml"), **about}
    ) as out:
        out.append(np.zeros((1, 2)))
    return path


def with_text(folder: Path, text: str) -> Path:
    model = MechanismModel("m", (), source=MechanismFile("attached.py", text))
    return recorded(folder, **about_files(Scene("m", model)))


OPEN = [lambda file, trust: play(file, False, str, trust), lambda file, trust: Animation(file, str, trust)]


@pytest.mark.parametrize("open_it", OPEN)
def test_a_program_in_a_recording_is_run_only_when_its_user_says_so(tmp_path, program, marker, open_it):
    file = with_text(tmp_path, program)
    with pytest.raises(ConfigError) as refused:
        open_it(file, False)
    assert not marker.exists()
    sentence = str(refused.value)
    assert sentence.startswith(f"{tmp_path}/attached.py: is a Python program of {file} that was never run on")
    assert sentence.endswith(": give --trust to run it, if you know who wrote it.")
    with pytest.raises(ConfigError, match="has no function mechanism"):  # it was run, and makes none
        open_it(file, True)
    assert marker.exists()


@pytest.mark.parametrize("open_it", OPEN)
def test_nor_is_one_that_a_recording_only_names(tmp_path, program, marker, open_it):
    (tmp_path / "attached.py").write_text(program)
    with pytest.raises(ConfigError, match="give --trust to run it"):
        open_it(recorded(tmp_path), False)
    assert not marker.exists()


def test_what_was_recorded_is_run_and_not_what_has_the_same_name_today(tmp_path, program, marker):
    file = with_text(tmp_path, program)
    (tmp_path / "attached.py").write_text("1 / 0")
    with pytest.raises(ConfigError, match="has no function mechanism"):
        scene_of(read_recording(file), trust=True)
    assert marker.exists()


def test_a_text_that_was_changed_is_refused_although_trusted(tmp_path, program, marker):
    file = recorded(tmp_path, mechanism=program, mechanism_sha256="0" * 64)
    with pytest.raises(ConfigError, match="text and hash do not agree"):
        scene_of(read_recording(file), trust=True)
    assert not marker.exists()


def test_one_that_the_user_names_himself_is_run_as_ever(tmp_path, program, marker):
    (tmp_path / "mine.py").write_text(program)
    with pytest.raises(ConfigError, match="has no function mechanism"):
        load_mechanism(tmp_path / "mine.py")
    assert marker.exists()


def test_a_robot_of_200_000_links_is_refused_at_once(tmp_path):
    path = tmp_path / "large.urdf"
    links = "".join(f'<link name="l{n}"/>' for n in range(200_000))
    path.write_text(f'<robot name="large">{links}</robot>')
    start = time.process_time()
    with pytest.raises(ConfigError) as refused:
        load_urdf(path)
    assert str(refused.value) == (f"{path}: has 200000 elements <link> and may have 2000: this is no robot.")
    assert time.process_time() - start < 10.0


@pytest.mark.parametrize("elements", ["<a/>" * 3_000_000, "<a>" * 2_000_000])
def test_a_robot_of_millions_of_elements_is_refused_at_once(tmp_path, elements):
    path = tmp_path / "large.urdf"
    path.write_text(f"<robot name='large'>{elements}")
    start = time.process_time()
    with pytest.raises(ConfigError, match="has more than 500000 elements: this is no robot"):
        load_urdf(path)
    assert time.process_time() - start < 10.0


def test_files_that_are_too_large_are_refused_before_they_are_read(tmp_path, monkeypatch):
    for name, read in (("r.urdf", load_urdf), ("m.py", load_mechanism)):
        path = tmp_path / name
        with path.open("wb") as file:
            file.truncate(10 << 30)
        start = time.process_time()
        with pytest.raises(ConfigError, match="larger than"):
            read(path)
        assert time.process_time() - start < 5.0
    monkeypatch.setattr(reader, "MOST_BYTES", 1000)
    path = tmp_path / "r.mcap"
    with RecordingWriter(path, ["time_s", "tick"]) as out:
        out.append(np.zeros((1000, 2)))
    with pytest.raises(ConfigError, match="holds more than"):
        read_recording(path)


@pytest.mark.parametrize("robot", ["urdf: {path: PATH}", "mechanism: {path: PATH}"])
def test_a_scene_that_names_a_device_or_a_pipe_is_refused_at_once(tmp_path, robot):
    os.mkfifo(tmp_path / "pipe")
    for special in ("/dev/zero", str(tmp_path / "pipe")):
        for text in (f"extends: {special}", f"name: sent\nrobot: {{{robot.replace('PATH', special)}}}"):
            with pytest.raises(ConfigError) as refused:
                loads(text, tmp_path / "sent.yaml")
            assert str(refused.value) == f"{special}: is a device, a pipe or a socket: name a file."


def test_a_folder_of_compiled_code_that_others_can_write_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    folder.mkdir()
    monkeypatch.setenv(ENVIRONMENT, str(folder))
    folder.chmod(0o777)
    with pytest.raises(HapticsimError) as refused:
        cache_folder()
    assert str(refused.value) == (
        f"{folder}: is not safe for compiled code, {folder} can be written by others (mode 777): "
        "set HAPTICSIM_CACHE_DIR to a folder that nobody else can write (mode 700)."
    )
    folder.chmod(0o755)
    assert cache_folder() == folder
    monkeypatch.setenv(ENVIRONMENT, str(folder / "not" / "there" / "yet"))
    assert cache_folder() == folder / "not" / "there" / "yet"
    if os.geteuid() == 0:
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        os.chown(theirs, 12345, 0)
        monkeypatch.setenv(ENVIRONMENT, str(theirs / "below"))
        with pytest.raises(HapticsimError, match="belongs to user 12345"):
            cache_folder()


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    """A recording of a puck that a hand leads to a wall: its header, and its rows."""
    path = tmp_path_factory.mktemp("visit") / "visit.mcap"
    scene = load(CONFIGS / "puck_and_wall.yaml")
    simulate(scene, Scripted(options_for("scripted", scene.device)), 0.3, path)
    return read_recording(path)


@pytest.mark.parametrize("seed", range(30))
def test_a_row_that_no_run_records_is_shown_or_refused_in_a_sentence(tmp_path, visit, seed):
    rng = np.random.default_rng(seed)
    rows = visit.data[:: len(visit.data) // 10].copy()
    for _ in range(int(rng.integers(1, 5))):
        odd = rng.choice([np.nan, np.inf, -np.inf, 1e300, -1.0, 7.5, 1e19, 5e-324])
        rows[rng.integers(len(rows)), rng.integers(rows.shape[1])] = odd
    path = tmp_path / "sent.mcap"
    with RecordingWriter(path, list(visit.columns), visit.config_text, visit.metadata) as out:
        out.append(rows)
    try:
        shown = film(path, tmp_path / "film.gif", 1.0, 10.0, str)
    except ConfigError as refusal:
        assert str(refusal).startswith(str(path)) and "\n" not in str(refusal)
    else:
        assert shown >= 1
