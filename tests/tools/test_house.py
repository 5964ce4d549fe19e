"""The walls between the rooms of the house, and their sizes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import check_house
import pytest

ROOT = Path(__file__).parents[2]


def test_no_room_sees_a_room_above_it_and_nothing_goes_in_a_circle():
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_every_room_is_small_and_says_what_it_is_for():
    assert check_house.complaints() == []


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"room/a.py": ""}, "house/room does not say what it is for: give its __init__.py a sentence."),
        (
            {"room/__init__.py": '"""A into B."""', **{f"room/f{i}.py": "" for i in range(15)}},
            "house/room holds 15 files and may hold 14: make rooms in it.",
        ),
        ({f"f{i}.py": "" for i in range(6)}, "house holds 7 files and may hold 6: make rooms in it."),
    ],
)
def test_a_room_without_a_sentence_or_with_too_many_files_is_named(tmp_path, files, complaint):
    house = tmp_path / "house"
    for name, text in {"__init__.py": '"""The house."""', **files}.items():
        (house / name).parent.mkdir(parents=True, exist_ok=True)
        (house / name).write_text(text)
    assert check_house.complaints(house) == [complaint]
