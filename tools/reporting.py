"""What the benchmarks share: where their numbers go, and what they say of the machine.

Every benchmark takes ``--json FILE`` (numbers instead of tables, ``-`` is standard output), ``--save FILE``
and ``--compare FILE`` (numbers kept by an earlier ``--save`` beside the new ones).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

Found = dict[str, Any]
TABLE_WIDTH = 110  # narrower, numbers would be cut off


def parser_of(doc: str) -> argparse.ArgumentParser:
    """Return a parser with the options that all benchmarks have; its help is the docstring of the tool."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--json", metavar="FILE", help="write the numbers instead of a table; - is standard output")
    add("--save", metavar="FILE", type=Path, help="keep the numbers for --compare")
    add("--compare", metavar="FILE", type=Path, help="show the numbers kept by --save beside the new")
    return parser


def report(
    options: argparse.Namespace,
    measure: Callable[[], Found],
    show: Callable[[Console, Found, Found | None], None],
) -> None:
    """Measure, then put the numbers where the options say.

    What ``--compare`` names is read first: better to miss it before minutes of measuring than after.
    """
    before = _kept(options.compare) if options.compare else None
    found = measure()
    text = json.dumps(found, indent=2)
    if options.save:
        options.save.write_text(text)
    if options.json == "-":
        print(text)
    elif options.json:
        Path(options.json).write_text(text)
    else:
        show(Console(width=max(Console().width, TABLE_WIDTH)), found, before)


def _kept(path: Path) -> Found:
    try:
        kept: Found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        sys.exit(f"{path} holds no numbers ({error}): make it with --save.")
    return kept


def machine(*packages: str) -> Found:
    """Return what a reader must know to judge absolute times, with the versions of some packages."""
    return {
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("numba", *packages)},
        "kernel": platform.release(),
        "cores": os.cpu_count(),
        "load_average": os.getloadavg()[0],
    }


def machine_line(found: Found) -> str:
    """Return the same as a sentence."""
    m = found["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in m["versions"].items())
    return (
        f"Python {m['python']}, {versions}; {m['cores']} cores, load average {m['load_average']:.1f} "
        "(above the number of cores absolute times are too long; ratios hold)"
    )


def target(measured: float, limit: float) -> Found:
    """Return a figure beside the limit it is meant to keep."""
    return {"measured": float(measured), "at_most": limit, "met": bool(measured <= limit)}


def show_targets(console: Console, found: Found) -> None:
    """Print each target in a line."""
    for name, t in found["targets"].items():
        verdict = "met" if t["met"] else "NOT MET"
        console.print(f"{name}: {t['measured']:.3g}, at most {t['at_most']:.3g}: {verdict}", markup=False)
