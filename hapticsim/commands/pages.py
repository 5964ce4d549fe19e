"""Commands that make a figure or a page of a recording."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from hapticsim.commands.options import Recorded, Trust, tell

commands = typer.Typer()


@commands.command()
def plot(
    file: Recorded,
    out: Annotated[
        Path | None, typer.Option(help="figure to make, .png, .svg or .pdf (default: a window)")
    ] = None,
    columns: Annotated[
        str,
        typer.Option(help="names of columns, with commas between them (default: force, position, energy)"),
    ] = "",
    trust: Trust = False,
) -> None:
    """Plot force, position and energy of a recording over time, with its events."""
    from hapticsim.playback.plot import plot as draw

    names = [name for name in _names(columns) if name]
    if columns and not names:
        raise typer.BadParameter("--columns names no column: give names with commas between them")
    for note in draw(file, out, names, tell, trust):
        print(f"note: {note}", file=sys.stderr)
    if out is not None:
        print(out)


@commands.command()
def report(
    file: Recorded,
    out: Annotated[Path, typer.Option(help="page to make, .html")],
    trust: Trust = False,
) -> None:
    """Write a page about a recording: picture, plots, events, passivity, punctuality."""
    from hapticsim.playback.report import report as write

    write(file, out, tell, trust)
    print(out)


def _names(text: str) -> list[str]:
    """Split at commas outside brackets: the name of a contact may hold one."""
    names, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == "," and depth <= 0:
            names.append("")
        else:
            names[-1] += letter
    return [name.strip() for name in names]
