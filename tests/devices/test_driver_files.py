"""A driver that is a class in a file, and drivers that cannot be loaded: one sentence each, with the line."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from hapticsim_devices import __main__ as program
from hapticsim_devices.drivers import listing
from hapticsim_devices.scripted import Scripted

import hapticsim.drivers.classes as driver_classes
from hapticsim.drivers.classes import command_name, driver_class, from_anywhere
from hapticsim.drivers.registry import build_driver, options_for, require_driver
from hapticsim.errors import ConfigError, DeviceError
from hapticsim.model.scene import DeviceSettings
from tests.processes import ROOT


@pytest.fixture(autouse=True)
def _signals_as_they_were():
    """The program catches signals for the rest of its process, which here is that of other tests."""
    numbers = (*program.END, *program.STANDSTILL)
    before = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


WAVE = ROOT / "docs" / "examples" / "wave.py"
BASE = "from hapticsim_devices.base import Driver\n"


def refusal(folder: Path, text: str | bytes, wanted: str = ":Wave") -> str:
    """What is said of a file of a driver, without the folder."""
    file = folder / "wave.py"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DeviceError) as refused:
        driver_class(f"{file}{wanted}")
    return str(refused.value).replace(f"{folder}/", "")


@pytest.mark.parametrize(
    ("text", "wanted", "said"),
    [
        ("class A\n", ":A", "wave.py: cannot be loaded: SyntaxError: expected ':' (wave.py line 1): correct"),
        (
            "\nimport nothing_here\n",
            ":A",
            "wave.py: cannot be loaded: ModuleNotFoundError: No module named 'nothing_here' (wave.py line 2)",
        ),
        (
            "x = 1\nraise OSError('two\\nlines')\n",
            ":A",
            "wave.py: cannot be loaded: OSError: two lines (wave.py line 2): correct it.",
        ),
        ("raise SystemExit(3)", ":A", "wave.py: cannot be loaded: SystemExit: 3 (wave.py line 1): correct"),
        (b'x = "\xff"', ":A", "wave.py: cannot be loaded: SyntaxError: (unicode error)"),
        (b"\0", ":A", "wave.py: cannot be loaded: SyntaxError: source code string cannot contain null bytes"),
        ("", ":A", "wave.py: has no class: a driver is a class derived from hapticsim_devices.base.Driver."),
        ("class Wave: ...", "", "wave.py: which of its classes is the driver? Give it: wave.py:Wave."),
        ("class Wave: ...", ":Wav", "wave.py: has no class 'Wav' (did you mean 'Wave'?): it has Wave."),
        ("class Wave: ...", ":Wave", "wave.py: Wave is not a hapticsim_devices.base.Driver: derive"),
        ("class A: ...\nWave = 3", ":Wave", "wave.py: Wave is not a hapticsim_devices.base.Driver: derive"),
        (
            f"{BASE}class Wave(Driver):\n name = 'wave'\n def read(self): ...",
            ":Wave",
            "wave.py: Wave does not define __init__, close, info, open, write: a driver needs them",
        ),
        (
            f"{BASE}class Wave(Driver):\n __init__ = info = open = read = write = close = print",
            ":Wave",
            "wave.py: Wave has no name: give the class one, as in name = 'wave'.",
        ),
        (
            f"{BASE}class Wave(Driver):\n name, shared_options = 'wave', None\n"
            " __init__ = info = open = read = write = close = print",
            ":Wave",
            "wave.py: Wave has shared_options that are no set of names: give a frozenset.",
        ),
    ],
)  # fmt: skip
def test_a_file_that_holds_no_driver_is_one_sentence(tmp_path, text, wanted, said):
    found = refusal(tmp_path, text, wanted)
    assert found.startswith(said) and found.endswith(".") and "\n" not in found


def test_a_file_that_is_none_is_one_sentence(tmp_path):
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "thing.py").touch()
    (tmp_path / "folder.py").mkdir()
    for name, why in (
        ("gone.py:Wave", "gone.py: cannot be read (No such file or directory): give the file of a driver"),
        (
            "thin.py:Wave",
            "thin.py: cannot be read (No such file or directory) (did you mean 'thing.py'?): give the file",
        ),
        ("folder.py:Wave", "folder.py: cannot be read (Is a directory)"),
        ("pipe.py:Wave", "pipe.py: is a device, a pipe or a socket: name a file."),
    ):
        with pytest.raises(DeviceError) as refused:
            driver_class(f"{tmp_path}/{name}")
        assert why in str(refused.value)


def test_the_class_of_a_file_without_its_suffix_is_answered_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("wave.py").touch()
    with pytest.raises(
        DeviceError, match=r"there is no device 'wave:Wave' \(did you mean 'wave.py:Wave'\?\)"
    ):
        driver_class("wave:Wave")


def test_a_relative_path_counts_from_the_working_folder_and_neighbours_can_be_imported(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("wave_helper.py").write_text("AMPLITUDE_M = 0.03\n")
    Path("wave.py").write_text(WAVE.read_text() + "\nimport wave_helper\nHIGH = wave_helper.AMPLITUDE_M\n")
    found = driver_class("wave.py:Wave")
    assert sys.modules[found.__module__].HIGH == 0.03  # type: ignore[attr-defined]
    assert driver_class("./wave.py:Wave") is found  # run once
    assert command_name(found) == "wave.py:Wave"
    assert from_anywhere("wave.py:Wave") == f"{tmp_path}/wave.py:Wave"
    assert from_anywhere("scripted") == "scripted"
    sys.modules.pop("wave_helper")


def test_the_class_in_a_file_gets_the_options_of_a_scene_that_means_it():
    name, options = f"{WAVE}:Wave", {"period_s": 2.0}
    for driver in (name, "wave"):
        settings = DeviceSettings(driver, "omega_3", options)
        assert options_for(name, settings) == options
    assert options_for(name, DeviceSettings("scripted", "omega_3", {"repeat": False})) == {}
    device, info = build_driver(require_driver(name), options)
    assert device.period_s == 2.0 and info.model == "wave"
    with pytest.raises(ConfigError, match="<device options>: perod_s is not known"):
        build_driver(require_driver(name), {"perod_s": 2.0})


def test_a_class_that_changes_the_script_is_called_tick_by_tick():
    """The compiled loop knows the script alone, and nothing of a subclass that reads otherwise."""
    assert Scripted().in_numbers(np.arange(3) * 1e-3) is not None
    assert type("Shaky", (Scripted,), {"name": "shaky"})().in_numbers(np.arange(3) * 1e-3) is None


class Broken:
    """A registered driver whose module cannot be loaded."""

    name, value = "broken", "broken:Broken"

    def load(self):
        raise SyntaxError("invalid syntax", ("broken.py", 7, 1, "", 7, 1))


def test_one_driver_that_cannot_be_loaded_hides_no_other(monkeypatch, capsys):
    real = driver_classes.entry_points
    monkeypatch.setattr(driver_classes, "entry_points", lambda group: [*real(group=group), Broken()])
    broken = (
        "device 'broken' cannot be loaded: SyntaxError: invalid syntax (broken.py line 7); correct or "
        "reinstall the package that ships it."
    )
    assert f"broken       {broken}" in listing() and "scripted     available" in listing()
    assert program.main(["broken"]) == 2 and capsys.readouterr().err == f"{broken}\n"
    assert program.main(["falcon"]) == 2
    assert "scripted (available)" in (said := capsys.readouterr().err) and "broken.py line 7" in said


def test_a_name_that_several_packages_register_is_refused_with_all_of_them(monkeypatch):
    class Other:
        name, value = "scripted", "their_package:Scripted"

    real = driver_classes.entry_points
    twice = "hapticsim_devices.scripted:Scripted"
    monkeypatch.setattr(
        driver_classes, "entry_points", lambda group: [*real(group=group), *real(group=group), Other()]
    )
    assert driver_class("mouse").name == "mouse"  # the same package found twice is one
    with pytest.raises(DeviceError) as refused:
        driver_class("scripted")
    assert str(refused.value) == (
        f"device 'scripted' is registered by several packages, as {twice} and their_package:Scripted: remove "
        "all but one of them, or name the class of a file, as in wave.py:Wave."
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--wait", "nan"], "<command line>: --wait = 'nan' is not usable: give seconds, 0 or more, or inf"),
        (["--wait", "-1"], "<command line>: --wait = '-1' is not usable: give seconds, 0 or more, or inf"),
        (["--duration", "nan"], "<command line>: --duration = 'nan' is not usable: give seconds, 0 or more;"),
        (["--duration", "-1"], "<command line>: --duration = '-1' is not usable: give seconds, 0 or more;"),
        (["--duration", "inf"], "<command line>: --duration = 'inf' is not usable: give seconds, 0 or more;"),
        (["--duration", "soon"], "<command line>: --duration = 'soon' is not usable: give seconds"),
        (["--option", "scale=NaN"], "<device options>: scale = nan is not usable: give a finite number"),
        (["--option", f"scale=1{'0' * 400}"], "<device options>: scale = 1000"),
        (["--option", "workspace_radius_m=100"], "<device options>: workspace_radius_m = 100 is not usable"),
        (["--options", "[" * 100_000], "<command line>: --options = '[[["),
        (["--bogus"], "python -m hapticsim_devices: unrecognized arguments: --bogus: see "),
        (["--hold-to-run", "x"], "python -m hapticsim_devices: argument --hold-to-run: invalid choice: 'x'"),
    ],
)
def test_an_argument_that_is_not_usable_is_one_sentence(arguments, said, capsys):
    assert program.main(["scripted", *arguments]) == 2
    found = capsys.readouterr().err
    assert found.startswith(said) and found.count("\n") == 1
