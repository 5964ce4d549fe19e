"""What README and docs print runs as it is printed: commands, programs, scenes.

Pages with programs that lean on one another are run in files of their own (``test_mechanism_page.py``,
``test_wheel.py``, ``test_protocol_page.py``, ``test_api_page.py``, ``devices/test_page.py``).
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from hapticsim.commands.command_line import MISUSE, app
from hapticsim.config.load import loads

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"^ {4}(hapticsim [a-z].*)$", re.MULTILINE)


def commands() -> list[tuple[str, str]]:
    """The name of a page and a command line on it; two spaces and more part a command from what it does."""
    found = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for match in COMMAND.finditer(text):
            command = re.split(r" {2,}(?!-)", match[1])[0].replace("[", "").replace("]", "")
            if command.count("'") % 2:  # a quotation goes on over lines
                command = match[1] + text[match.end() : text.index("'", match.end()) + 1]
            found.append((page.name, command))
    return found


@pytest.mark.parametrize(("page", "command"), commands())
def test_every_command_of_the_pages_is_understood(page, command):
    group = typer.main.get_command(app)
    _, name, *arguments = shlex.split(command, comments=True)
    assert name in group.commands, f"{page}: there is no command {name}"
    try:
        group.commands[name].make_context(name, arguments)
    except MISUSE as misuse:
        pytest.fail(f"{page}: {command}: {misuse.format_message()}")


def scenes() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        blocks = re.findall(r"```yaml\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
        found += [
            (page.name, b) for b in blocks if re.search("^robot:", b, re.MULTILINE) and "mechanism:" not in b
        ]
    return found


@pytest.mark.parametrize(("page", "text"), scenes())
def test_every_scene_of_the_pages_is_one(page, text):
    assert loads(text, ROOT / "configs" / page).name


# Programs of these pages, and what a program needs that the page tells in words.
PROGRAMS = {
    "README.md": [""],
    "docs/config.md": [""],
    "docs/studies.md": [""],
    "docs/speed.md": ["def drift(parameters):\n    return parameters['links']\n", ""],
    "docs/closed_loop.md": [
        """
import numpy as np
import hapticsim as hs
from hapticsim.control.hybrid import HybridController, HybridSettings

sim, force = hs.Simulation(hs.load("wam_table")), 0.0
point_B, stiffness, damping = (0.0, 0.0, 0.0), np.full(4, 100.0), np.full(4, 10.0)
path = None
"""
    ],
}


@pytest.mark.parametrize("page", PROGRAMS)
def test_every_program_of_the_page_runs(page, tmp_path):
    programs = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) == len(PROGRAMS[page])
    for before, program in zip(PROGRAMS[page], programs, strict=True):
        file = tmp_path / "program.py"
        file.write_text(f"{before}\n{program}", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=280
        )
        assert done.returncode == 0, done.stderr


def test_no_page_has_a_program_that_no_test_runs():
    elsewhere = {f"docs/{name}.md" for name in ("api", "devices", "mechanisms", "recordings", "tutorial")}
    pages = {str(page.relative_to(ROOT)) for page in PAGES if "```python" in page.read_text(encoding="utf-8")}
    assert pages == elsewhere | set(PROGRAMS)


def test_every_file_of_the_tour_is_there_and_has_what_the_tour_finds_in_it():
    page = (ROOT / "docs" / "tour.md").read_text(encoding="utf-8")
    files = re.findall(r"`((?:hapticsim|devices)/[\w/]+\.py)`(?:, `(\w+)`)?", page)
    assert len(files) > 20
    for file, name in files:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not name or re.search(rf"^ *(?:def|class) {name}\b", text, re.MULTILINE), (file, name)


def test_every_constant_that_a_page_names_stands_in_the_module_it_names():
    modules: dict[str, str] = {}
    for file in sorted((ROOT / "hapticsim").rglob("*.py")):
        modules[file.stem] = modules.get(file.stem, "") + file.read_text(encoding="utf-8")
    named = [
        (page.name, module, constant)
        for page in PAGES
        for module, constant in re.findall(r"`([a-z_]+)\.([A-Z][A-Z_]+)`", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 15
    wrong = [
        n for n in named if not re.search(rf"^(?:.*, )?{n[2]}\b.*=", modules.get(n[1], ""), re.MULTILINE)
    ]
    assert wrong == []
