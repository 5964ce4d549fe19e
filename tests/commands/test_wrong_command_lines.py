"""A wrong command line is answered with one sentence and status 2: by a table, and by odd values."""

# ruff: noqa: E501

from __future__ import annotations

import os
import random
import shlex
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from hapticsim.commands.command_line import app, status_of
from hapticsim.commands.experiment import read_scene, run_experiment
from tests.commands.test_experiment import ROD
from tests.processes import CONFIGS, DISPLAYS
from tests.wrong_command_lines import WRONG

LIMIT_S = 60.0  # for one command line, the first of which imports most of the program
PROGRESS = ("note: ", "compiling ")
RANDOM = int(os.environ.get("HAPTICSIM_COMMAND_LINES", "100"))  # more of them by hand, after a change here


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Files of every kind that a command may meet."""
    here = tmp_path_factory.mktemp("w")
    (here / "folder").mkdir()
    (here / "keys").mkdir()
    (here / "keys" / "own.key_secret").touch()
    for name in ("old.mcap", "old.csv", "old.gif", "old.png", "film"):
        (here / name).write_bytes(b"old")
    (here / "rod.urdf").write_text(ROD)
    (here / "rand.yaml").write_text("name: x\n")
    (here / "above.yaml").write_text("extends: pucks_table\n")
    (here / "empty.yaml").touch()
    (here / "list.yaml").write_text("- 1\n")
    shutil.copy(CONFIGS / "puck_and_wall.yaml", here / "puck.yaml")
    run_experiment(read_scene(here / "rod.urdf", []), 0.01, here / "alone.mcap", integrator="rk4")
    return here


@pytest.fixture(autouse=True)
def apart(folder, monkeypatch) -> Iterator[None]:
    """No display, sockets of its own, and an end to a command that hangs."""
    for name in DISPLAYS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder))
    monkeypatch.chdir(folder)
    before = signal.signal(signal.SIGALRM, hangs)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def hangs(*_: Any) -> None:
    raise AssertionError("the command line hangs")


def answer(capfd, arguments: list[str]) -> tuple[int, list[str]]:
    """Status of a command, and what it said apart from notes and progress."""
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    status = status_of(arguments)
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    said = capfd.readouterr().err.splitlines()
    return status, [line for line in said if not line.startswith(PROGRESS)]


@pytest.mark.parametrize(("line", "sentence"), WRONG, ids=[line for line, _ in WRONG])
def test_a_wrong_command_line_is_answered_with_this_sentence(folder, capfd, line, sentence):
    arguments = [word.replace("{T}", str(folder)) for word in shlex.split(line)]
    assert answer(capfd, arguments) == (2, [sentence.replace("{T}", str(folder))])
    assert (folder / "old.mcap").read_bytes() == b"old"


class Stub:
    """Stands for what would run until Ctrl-C: a command line that comes this far is a good one."""

    device_endpoint, control = "", None
    publisher = type("Publisher", (), {"endpoint": ""})

    def __init__(self, *arguments: Any, **options: Any) -> None: ...
    def __enter__(self) -> Stub:
        return self

    def __exit__(self, *exception: object) -> None: ...
    def step(self) -> None: ...
    def constraints(self) -> list[dict[str, Any]]:
        return []


@pytest.fixture
def stubbed(monkeypatch) -> None:
    for name in (
        "server.server.Server",
        "server.remote.Remote",
        "server.operator.Operator",
        "wire.switches.Switches",
        "simulate.simulation.Simulation",
    ):
        monkeypatch.setattr(f"hapticsim.{name}", Stub)
    monkeypatch.setattr(
        "hapticsim.commands.supervisor.say_line", lambda line: None
    )  # a thread's, that comes late
    monkeypatch.setattr("hapticsim.commands.supervisor.watch", lambda *_, **__: True)
    monkeypatch.setattr("hapticsim.commands.supervisor.run_all", lambda *_: None)
    monkeypatch.setattr("hapticsim.playback.animation.show", lambda *_: 0)
    monkeypatch.setattr("hapticsim.playback.pictures.film", lambda *_: 1)
    monkeypatch.setattr("hapticsim.realtime.doctor.watch_host", lambda *_: None)
    monkeypatch.setattr("hapticsim.commands.compiling.compile_ahead", lambda *_: [])


ODD = (
    "", " ", "nan", "inf", "-inf", "-1", "0", "1e308", "1e-320", "7", "x" * 5000, "y" * 255 + ".mcap", "π\u202e\n\x1b[2J",
    "a\0b", "\udcff", "folder", "none/none", "old.mcap", "rod.urdf", "puck.yaml", "/dev/null", "/dev/full", "j=1", "j=", "=", "--", "-",
)  # fmt: skip
SIXTH = 6  # of the values, another sixth for the next option
GOOD = {  # what a command needs beside the option that is tried
    "model": ["rod.urdf"],
    "simulate": ["rod.urdf", "--integrator", "rk4", "--seconds", "0.01"],
    "replay": ["alone.mcap"],
    "export": ["alone.mcap", "new.csv"],
    "run": ["puck.yaml"],
    "serve": ["puck.yaml"],
    "operator": ["puck.yaml"],
    "switch": [],
    "view": ["alone.mcap"],
    "keys": ["folder/keys"],
    "probe": [],
    "compile": ["rod.urdf"],
}
OPTIONS = [
    (name, option.opts[0])
    for name, command in sorted(typer.main.get_command(app).commands.items())  # type: ignore[attr-defined]
    if name in GOOD
    for option in command.params
    if option.opts[0].startswith("--") and option.opts[0] != "--help"
]


def check(capfd, folder: Path, arguments: list[str]) -> None:
    status, said = answer(capfd, arguments)
    assert (status == 2 and len(said) == 1) or status in (0, 1), (arguments, status, said)
    assert not any("Traceback" in line for line in said)
    (folder / "new.csv").unlink(missing_ok=True)
    shutil.rmtree(folder / "folder")
    (folder / "folder").mkdir()


@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=[" ".join(o) for o in OPTIONS])
def test_an_odd_value_of_an_option_is_refused_in_one_sentence_or_taken(
    folder, capfd, stubbed, command, option
):
    for value in ODD[OPTIONS.index((command, option)) % SIXTH :: SIXTH]:
        check(capfd, folder, [command, *GOOD[command], option, value])


@pytest.mark.long
@pytest.mark.parametrize(("command", "option"), OPTIONS, ids=[" ".join(o) for o in OPTIONS])
def test_every_odd_value_of_an_option_is_refused_in_one_sentence_or_taken(
    folder, capfd, stubbed, command, option
):
    for value in ODD:
        check(capfd, folder, [command, *GOOD[command], option, value])


def test_random_command_lines_are_refused_in_one_sentence_or_taken(folder, capfd, stubbed):
    random_ = random.Random(5)
    for _ in range(RANDOM):
        command = random_.choice(sorted(GOOD))
        words = [
            w for n, o in OPTIONS if n == command and random_.random() < 0.2 for w in (o, random_.choice(ODD))
        ]
        given = [random_.choice(ODD) if random_.random() < 0.3 else w for w in GOOD[command]]
        check(capfd, folder, [command, *given, *words])
