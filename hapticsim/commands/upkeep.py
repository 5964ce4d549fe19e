"""Commands that look after an installation: keys, what the computer allows, compiling ahead."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from hapticsim.commands.options import Config, load_scene, tell

commands = typer.Typer()


@commands.command()
def keys(folder: Annotated[Path, typer.Argument(help="folder to make")]) -> None:
    """Make a pair of CURVE keys for one end (docs/protocol.md)."""
    from hapticsim.wire.curve import create_keys

    print(f"copy {create_keys(folder)} into the peers folder of the other end")


@commands.command()
def doctor() -> None:
    """Say what this computer allows: priority, memory, clock, display, devices."""
    from hapticsim.realtime.doctor import examine

    print(examine())


@commands.command()
def compile(config: Config) -> None:
    """Compile everything a scene needs, so that it starts at once later."""
    from hapticsim.simulation import Simulation

    start = time.perf_counter()
    simulation = Simulation(load_scene(config), tell)
    simulation.step()
    print(f"{simulation.scene.name}: ready in {time.perf_counter() - start:.1f} s")
