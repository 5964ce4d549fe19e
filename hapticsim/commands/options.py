"""What the commands share: options that several have, and reading a scene with its notes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

Config = Annotated[Path, typer.Argument(help="scene file (YAML), or the name of one (hapticsim scenes)")]
Seconds = Annotated[float | None, typer.Option(min=0.0, help="stop after this long")]
Trust = Annotated[
    bool, typer.Option("--trust", help="run a Python program in the recording: a mechanism somebody wrote")
]
Keys = Annotated[Path | None, typer.Option(help="folder of CURVE keys, for endpoints beyond this machine")]
Realtime = Annotated[bool, typer.Option(help="ask for SCHED_FIFO and locked memory")]
Probe = Annotated[
    bool,
    typer.Option("--probe", help="watch the host too: say of late ticks whether it stood still"),
]
DeviceEndpoint = Annotated[str | None, typer.Option(help="endpoint of devices")]
ControlEndpoint = Annotated[str | None, typer.Option(help="endpoint of those who switch constraints")]
TelemetryEndpoint = Annotated[
    str | None, typer.Option("--telemetry", help="endpoint of telemetry, bound by the remote site")
]
CommandsEndpoint = Annotated[
    str | None, typer.Option("--commands", help="endpoint of commands, bound by the operator's side")
]
PublishEndpoint = Annotated[str | None, typer.Option(help="endpoint of observers")]


def tell(text: str) -> None:
    """Write a piece of progress."""
    sys.stderr.write(text)
    sys.stderr.flush()


def tell_notes(notes: list[str] | tuple[str, ...]) -> None:
    """Say what was read and is not acted on."""
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


def refuse_options(context: typer.Context, names: Sequence[str], why: str) -> None:
    """Refuse parameters that stand on the command line and would do nothing.

    why : the rest of the sentence after "is" or "are", such as ``for a recording: name its FILE``.
    """
    sources = {name: context.get_parameter_source(name) for name in names}
    found = [n for n, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if found:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in found)
        raise typer.BadParameter(f"{options} {'is' if len(found) == 1 else 'are'} {why}")


def load_scene(config: Path) -> Any:
    """Return the scene of a file, its notes told."""
    from hapticsim.config.load import load

    scene = load(config)
    tell_notes(scene.notes)
    return scene
