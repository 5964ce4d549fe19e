"""Every refusal is one line on stderr, after notes of the scene, and status 2, before anything started."""

from __future__ import annotations

import subprocess
import sys

import pytest

from hapticsim.wire.publisher import Publisher
from tests.processes import CONFIGS, Place

PUCK = CONFIGS / "puck_and_wall.yaml"


def refusal(place: Place, *arguments: object) -> str:
    """Run a command that is to refuse; return its sentence."""
    program = place.run(*arguments)
    lines = [line for line in program.said.splitlines() if not line.startswith("note: ")]
    assert (program.process.returncode, len(lines), program.printed) == (2, 1, ""), program.said
    assert not list(place.folder.glob("recordings/*")), "a refused run left a recording"
    return lines[0]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("serve",), "hapticsim serve: Missing argument"),
        (("runn",), "hapticsim: No such command 'runn'"),
        (("run", PUCK, "--second", "3"), "hapticsim run: No such option"),
        (("run", PUCK, "--seconds", "soon"), "hapticsim run: Invalid value for '--seconds'"),
        (("run", PUCK, "--seconds", "-1"), "hapticsim run: Invalid value for '--seconds'"),
        (("run", "configs/wamtable.yaml"), "configs/wamtable.yaml: does not exist"),
        (("run", PUCK, "--device", "falcon"), "there is no device 'falcon'"),
        (("run", PUCK, "--device", "mouse"), "there is no display: start it from a desktop"),
        (("run", PUCK, "--device", "scripted", "--window"), "--window: needs a display"),
        (
            ("run", PUCK, "--device", "scripted", "--record", "/proc/a.mcap"),
            "/proc/a.mcap: cannot be written",
        ),
        (("serve", PUCK, "--device-endpoint", "tcp://0.0.0.0:5555"), "tcp://0.0.0.0:5555: would be open"),
        (("device", "mouse"), "mouse: there is no display"),
        (("device", "scripted", "--option", "scale=0"), "<device options>: scale = 0 is not usable"),
        (("device", "scripted", "--wait", "0.1"), "no server answered within 0.1 s"),
        (("view",), "no display: set DISPLAY"),
        (("view", "--screenshot", "none/x.png"), "none/x.png: is in a folder that does not exist"),
        (("view", "--speed", "2"), "--speed is for a recording: name its FILE"),
        (
            ("view", "r.mcap", "--pointer", "ipc:///x"),
            "--pointer is for a window on a server: leave out FILE",
        ),
        (
            ("view", "r.mcap", "--endpoint", "ipc:///x", "--control", "ipc:///y", "--keys", "k"),
            "--endpoint, --control, --keys are for a window on a server",
        ),
        (
            ("view", "r.mcap", "--out", "a.gif", "--frames", "3"),
            "--frames is for the window: leave out --out",
        ),
        (("view", "r.mcap", "--fps", "30"), "--fps is for films: give --out too"),
        (
            ("simulate", PUCK, "--initial", "a=b", "--step", "0.01"),
            "--step, --initial are for the mechanism alone: give --integrator too",
        ),
        (
            ("simulate", PUCK, "--integrator", "rk4", "--device", "scripted"),
            "--device is for a run with a hand: leave out --integrator",
        ),
        (("replay", PUCK), "puck_and_wall.yaml: is not an MCAP recording"),
        (("export", "none.mcap", "none.csv"), "none.mcap: "),
    ],
)
def test_a_command_that_cannot_be_is_refused_with_this_sentence(place, arguments, sentence):
    assert sentence in refusal(place, *arguments)


def test_an_unknown_device_is_answered_with_all_there_are_and_why_some_cannot_run(place):
    said = refusal(place, "run", PUCK, "--device", "mousse")
    assert "did you mean 'mouse'?" in said
    assert "scripted (available)" in said and "mouse (there is no display" in said


def test_a_gamepad_that_is_not_there_is_said_before_anything_starts(place):
    assert "no gamepad" in refusal(place, "run", PUCK, "--device", "gamepad")


def test_options_that_the_device_does_not_know_are_refused_before_anything_starts(place):
    scene = place.scene("puck_and_wall", device={"driver": "scripted", "options": {"stifness": 3}})
    said = refusal(place, "run", scene)
    assert "stifness" in said and "is not known" in said


def test_an_unknown_key_is_answered_with_the_nearest(place):
    said = refusal(place, "run", place.scene("puck_and_wall", saftey={"ramp_s": 1.0}))
    assert "saftey" in said and "did you mean 'safety'?" in said


def test_a_rate_out_of_range_is_refused(place):
    assert "rate_Hz = 20000.0 is not usable" in refusal(place, "run", place.scene(rate_Hz=20000.0))


def test_a_taken_ipc_endpoint_is_refused_with_the_process_that_has_it(place):
    path = place.folder / "hapticsim" / "publish.sock"
    path.parent.mkdir(mode=0o700)
    publisher = Publisher(f"ipc://{path}")
    try:
        said = refusal(place, "run", PUCK, "--device", "scripted")
    finally:
        publisher.close()
    assert f"ipc://{path}: is in use by process" in said and "choose another endpoint" in said


def test_a_port_that_every_user_of_this_computer_could_reach_is_refused_without_keys(place):
    endpoint = "tcp://127.0.0.1:5999"
    said = refusal(place, "serve", PUCK, "--device-endpoint", endpoint)
    assert said.startswith(f"{endpoint}: would be open to all users of this computer: use an ipc:// endpoint")


def test_two_roads_on_one_path_are_refused_and_a_document_stays(place):
    path = place.folder / "thesis.txt"
    path.write_text("precious")
    said = refusal(place, "serve", PUCK, "--publish-endpoint", f"ipc://{path}")
    assert "there is a file or folder that is no socket" in said and path.read_text() == "precious"
    ends = (f"--{road}-endpoint={end}" for road in ("device", "publish") for end in (f"ipc://{path}-x",))
    said = refusal(place, "serve", PUCK, *ends)
    assert said == f"ipc://{path}-x: is wanted twice by this program: give each road an endpoint of its own."


def test_a_recording_that_exists_is_not_overwritten(place):
    kept = place.folder / "kept.mcap"
    kept.write_bytes(b"precious")
    assert "exists already" in refusal(place, "run", PUCK, "--device", "scripted", "--record", kept)
    assert kept.read_bytes() == b"precious"


def test_no_command_shows_the_help(place):
    program = place.run()
    assert program.process.returncode == 2 and "Traceback" not in program.said
    assert "simulate" in program.printed + program.said


def test_the_command_line_needs_nothing_that_is_not_declared():
    """Tools of the test environment bring modules (click is one) that a user's does not have."""
    code = "import sys; sys.modules['click'] = None; import hapticsim.__main__"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
