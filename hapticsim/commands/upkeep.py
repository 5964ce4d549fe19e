"""Commands that look after an installation: keys, what the computer allows, compiling ahead."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from hapticsim.commands.options import Settings, between, load_scene, tell
from hapticsim.errors import HapticsimError

PIPE_WIDTH = 110  # no column is cut off in a file or a pipe

commands = typer.Typer()


@commands.command()
def keys(folder: Annotated[Path, typer.Argument(help="folder to make")]) -> None:
    """Make a pair of CURVE keys for one end (docs/protocol.md)."""
    from hapticsim.wire.sockets.curve_security import create_keys

    print(
        f"copy {create_keys(folder)} into a list of the other end: its peers/server where it connects to this"
    )
    print(
        "end, else peers/device, peers/control, peers/observe or peers/link, for what this end may do there"
    )


@commands.command()
def scenes(
    name: Annotated[
        str | None, typer.Argument(help="one of them: print its file, to begin an own one")
    ] = None,
) -> None:
    """List the scenes that come with hapticsim: each runs by its name."""
    from hapticsim.config.shipped_scenes import listing, text_of

    print(listing() if name is None else text_of(name).rstrip())


@commands.command()
def doctor() -> None:
    """Say what this computer allows: priority, memory, clock, display, devices."""
    from hapticsim.realtime.doctor import examine

    print(examine())


@commands.command()
def probe(
    seconds: Annotated[float, typer.Option(callback=between(0.1, 1e6), help="[s] how long to watch")] = 10.0,
    least_ms: Annotated[
        float, typer.Option(callback=between(1.0, 1e6), help="shorter stalls are only counted")
    ] = 2.0,
) -> None:
    """Watch whether this computer stands still: a thread on each processor that nothing of ours can stop."""
    from hapticsim.realtime.doctor import watch_host

    watch_host(seconds, 1e-3 * least_ms, print, tell)


@commands.command()
def compile(
    files: Annotated[
        list[Path] | None, typer.Argument(help="scene files (YAML), URDFs and MJCF files")
    ] = None,
    algorithms: Annotated[
        bool, typer.Option("--algorithms", help="all algorithms of forward dynamics of trees too")
    ] = False,
    precision: Annotated[
        str, typer.Option(help="of those algorithms: float64 or float32; scenes run in float64")
    ] = "float64",
    jobs: Annotated[int | None, typer.Option(min=1, help="processes (default: one per core)")] = None,
    prune: Annotated[
        bool, typer.Option("--prune", help="first remove what was not used for 90 days")
    ] = False,
    settings: Settings = None,
) -> None:
    """Compile all that scenes and robots need, so that they start at once later; show what it costs."""
    from hapticsim.commands.compiling import compile_ahead, print_tables
    from hapticsim.commands.pruning import prune_cache
    from hapticsim.model.robot_file.read import robot_file
    from hapticsim.simulate.simulation import Simulation

    if not files and not prune:
        raise HapticsimError(
            "hapticsim compile needs a scene, a URDF or an MJCF file: name one, or give --prune."
        )
    if precision != "float64" and not algorithms:
        raise HapticsimError(
            f"--precision {precision} is for the algorithms of forward dynamics: give --algorithms too."
        )
    if prune:
        print(prune_cache())
    if not files:
        return
    start = time.perf_counter()
    bar = Console(stderr=True) if sys.stderr.isatty() else None
    found = compile_ahead(files, algorithms, precision, jobs, bar, settings or ())
    print_tables(found, Console(width=None if sys.stdout.isatty() else PIPE_WIDTH))
    for file in files:
        if robot_file(file) is None:
            Simulation(load_scene(file, settings), tell).step()  # the tick itself
    names = ", ".join(dict.fromkeys(c.robot for c in found))
    print(f"{names}: ready in {time.perf_counter() - start:.1f} s")
