"""The kit for authors of drivers as a plugin of pytest: each check is a test, and says what is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hapticsim_devices.conformance import CHECKS

from tests.processes import ROOT

UNREADABLE = "--haptic-options cannot be read:"
DRIVER = """
from hapticsim_devices.scripted import Scripted

class Mine(Scripted):
    name = "mine"

    def write(self, force_N):
        super().write(({factor} * force_N[0], force_N[1], force_N[2]))
"""


def run_pytest(folder: Path, *arguments: str) -> tuple[int, str]:
    """Exit status and output of pytest in a folder, with the plugin."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "-p", "hapticsim_devices.pytest_plugin", "-p", "no:cacheprovider",
            "-rA", *arguments,
        ],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


@pytest.mark.clock
def test_each_check_is_a_test_beside_those_of_the_package(tmp_path):
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    status, said = run_pytest(tmp_path, "--haptic-device", "scripted")
    assert status == 0 and "PASSED test_own.py::test_own" in said, said
    assert set(re.findall(r"scripted\[(\w+)\]", said)) == set(CHECKS), said


@pytest.mark.clock
def test_a_driver_that_breaks_the_contract_fails_with_the_words_of_the_kit(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(DRIVER.format(factor=2.0))
    status, said = run_pytest(
        tmp_path, "-m", "haptic_device", "--haptic-device", f"{file}:Mine", "-k", "force or info",
        "--haptic-options", json.dumps({"emulate": "omega_3"}),
    )  # fmt: skip
    assert status == 1 and "1 failed, 1 passed" in said, said
    assert "Traceback" not in said and "pytest_plugin.py" not in said


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--haptic-device", "nothing"], "--haptic-device "),
        (["--haptic-device", "scripted", "--haptic-options", "[1]"], f"{UNREADABLE} it is no mapping"),
        (["--haptic-device", "scripted", "--haptic-options", "{"], UNREADABLE),
    ],
)
def test_a_wrong_option_is_one_sentence(tmp_path, arguments, sentence):
    status, said = run_pytest(tmp_path, *arguments)
    assert status == pytest.ExitCode.USAGE_ERROR
    assert f"ERROR: {sentence}" in said and "Traceback" not in said


def test_without_the_option_nothing_is_added(tmp_path):
    (tmp_path / "test_own.py").write_text("def test_own():\n    pass\n")
    status, said = run_pytest(tmp_path)
    assert status == 0 and "1 passed" in said


def test_the_plugin_is_found_where_the_package_is_installed():
    declared = (ROOT / "pyproject.toml").read_text()
    assert '"hapticsim_devices.pytest_plugin" = "hapticsim_devices.pytest_plugin"' in declared
