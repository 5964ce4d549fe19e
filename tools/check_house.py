"""Print the rooms of the house, and say which is too large or does not say what it is for.

    python tools/check_house.py

Of each folder: how many files and lines it holds, and the sentence of its ``__init__``.  Ends with status 1
where a folder holds more than MOST_FILES modules or has no sentence, or where the root of the package holds
more than MOST_AT_ROOT files.  What may import what is checked by lint-imports.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "hapticsim"
MOST_AT_ROOT, MOST_FILES = 6, 14  # modules; __init__ is counted at the root only


def rooms(package: Path = PACKAGE) -> list[Path]:
    """The folders of a package that hold Python, the package first."""
    return sorted({file.parent for file in package.rglob("*.py")})


def sentence_of(room: Path) -> str:
    """What the ``__init__`` of a folder says first, on one line; empty where it says nothing."""
    init = room / "__init__.py"
    text = ast.get_docstring(ast.parse(init.read_text(encoding="utf-8"))) if init.exists() else None
    return " ".join((text or "").partition("\n\n")[0].split())


def lines_in(files: list[Path]) -> int:
    return sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)


def complaints(package: Path = PACKAGE) -> list[str]:
    """What is wrong with the rooms, a sentence each."""
    out = []
    for room in rooms(package):
        name, files = room.relative_to(package.parent), list(room.glob("*.py"))
        most = MOST_AT_ROOT if room == package else MOST_FILES
        found = len(files) if room == package else len([f for f in files if f.name != "__init__.py"])
        if found > most:
            out.append(f"{name} holds {found} files and may hold {most}: make rooms in it.")
        if not sentence_of(room):
            out.append(f"{name} does not say what it is for: give its __init__.py a sentence.")
    return out


def main() -> None:
    console, table = Console(), Table(box=SIMPLE)
    table.add_column("folder")
    table.add_column("files", justify="right")
    table.add_column("lines", justify="right")
    table.add_column("turns")
    total = 0
    for room in rooms():
        files = sorted(room.glob("*.py"))
        total += lines_in(files)
        name = str(room.relative_to(ROOT))
        table.add_row(name, str(len(files)), str(lines_in(files)), sentence_of(room))
    console.print(table)
    devices = list((ROOT / "devices").rglob("*.py"))
    console.print(f"hapticsim {total} lines in {len(rooms())} folders; devices {lines_in(devices)} lines")
    wrong = complaints()
    for sentence in wrong:
        console.print(f"FAILED: {sentence}", markup=False)
    if not wrong:
        console.print("every room is small and says what it is for")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
