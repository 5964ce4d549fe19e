"""What the commands share: options that several have, and reading a scene with its notes."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from hapticsim.errors import ConfigError
from hapticsim.files.near_file import near_file


def above_zero(value: float | None) -> float | None:
    """Refuse a number that is not finite or not above zero (callback of an option)."""
    if value is not None and not 0.0 < value < math.inf:
        raise typer.BadParameter(f"{value} is not usable, it must be finite and above 0")
    return value


def between(least: float, most: float) -> Callable[[float], float]:
    """Return the callback of an option that refuses a number outside, and what is no number."""

    def check(value: float) -> float:
        if not least <= value <= most:
            raise typer.BadParameter(f"{value} is not usable, it must be from {least:g} to {most:g}")
        return value

    return check


def not_empty(value: str | None) -> str | None:
    """Refuse an empty word, as a script's unset variable makes one (callback of an option)."""
    if value == "":
        raise typer.BadParameter("it is empty: write a value, or leave the option out")
    return value


def _there(value: Path | None) -> Path | None:
    """Refuse a file that does not exist where a recording beside it was probably meant (callback)."""
    if value is not None and not os.path.lexists(value) and (near := near_file(value, (".mcap",))):
        raise ConfigError(value, "", f"does not exist{near}: give the path of a recording.")
    return value


Recorded = Annotated[Path, typer.Argument(callback=_there, help="recording (.mcap)")]
RecordedOrNone = Annotated[
    Path | None,
    typer.Argument(callback=_there, help="recording (.mcap) to show instead of a running server"),
]
Config = Annotated[Path, typer.Argument(help="scene file (YAML), or the name of one (hapticsim scenes)")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="a value of the scene, by its dotted key (docs/config.md); repeatable",
    ),
]
Seconds = Annotated[float | None, typer.Option(callback=above_zero, help="[s] stop after this long")]
Trust = Annotated[
    bool, typer.Option("--trust", help="run a Python program in the recording: a mechanism somebody wrote")
]
Keys = Annotated[Path | None, typer.Option(help="folder of CURVE keys, for endpoints beyond this machine")]
Realtime = Annotated[bool, typer.Option(help="ask for SCHED_FIFO and locked memory")]
Probe = Annotated[
    bool,
    typer.Option("--probe", help="watch the host too: say of late ticks whether it stood still"),
]
DeviceEndpoint = Annotated[str | None, typer.Option(callback=not_empty, help="endpoint of devices")]
ControlEndpoint = Annotated[
    str | None, typer.Option(callback=not_empty, help="endpoint of those who switch constraints")
]
TelemetryEndpoint = Annotated[
    str | None,
    typer.Option("--telemetry", callback=not_empty, help="endpoint of telemetry, bound by the remote site"),
]
CommandsEndpoint = Annotated[
    str | None,
    typer.Option("--commands", callback=not_empty, help="endpoint of commands, bound by the operator's side"),
]
PublishEndpoint = Annotated[str | None, typer.Option(callback=not_empty, help="endpoint of observers")]


_line_is_open = False  # a piece of progress was written, and the end of its line was not

Report = Annotated[Path | None, typer.Option(help="page about the run to write at its end, .html")]


def check_report(page: Path, remedy: str = "") -> None:
    """Refuse before a run what would be refused after it; with a remedy where nothing is recorded."""
    if remedy:
        raise typer.BadParameter(f"--report is made from a recording: {remedy}")
    from hapticsim.playback.report import check_page

    check_page(page)


def write_report(recording: Path, page: Path) -> None:
    """Write the page about a run that has ended; its own scene may run here, as it just did."""
    from hapticsim.playback.report import report

    report(recording, page, tell, trust=True)
    print(f"report: {page}")


def tell(text: str) -> None:
    """Write a piece of progress."""
    global _line_is_open
    sys.stderr.write(text)
    sys.stderr.flush()
    _line_is_open = not text.endswith("\n") if text else _line_is_open


def end_line() -> None:
    """End the line of a piece of progress: what comes now is something else."""
    if _line_is_open:
        tell("\n")


def tell_notes(notes: list[str] | tuple[str, ...]) -> None:
    """Say what was read and is not acted on."""
    end_line()
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


def refuse_robot_file(config: Path, or_else: str = "") -> None:
    """Refuse a URDF or MJCF file where a scene is wanted.

    or_else : another remedy, which the sentence names first, such as ``give --integrator too``.
    """
    import yaml

    from hapticsim.model.robot_file.read import robot_file

    if (title := robot_file(config)) and os.path.isfile(config):
        key = "mjcf" if "MJCF" in title else "urdf"
        named = {"robot": {key: {"path": config.name}}}
        style: dict[str, Any] = (
            {"allow_unicode": True} if config.name.isprintable() else {"default_style": '"'}
        )
        line = yaml.safe_dump(named, default_flow_style=True, width=10**6, **style).strip()[1:-1]
        remedy = f"write a scene file beside it with the lines 'name: mine' and '{line}'"
        both = f"{or_else}, or {remedy}" if or_else else remedy
        raise ConfigError(config, "", f"is {title}, a robot alone: {both}.")


def load_scene(config: Path, settings: Sequence[str] | None = None) -> Any:
    """Return the scene of a file with the values of ``--set``, its notes told."""
    from hapticsim.config.load import load
    from hapticsim.config.overrides import parse_settings

    scene = load(config, parse_settings(settings or ()), "--set", tell)
    tell_notes(scene.notes)
    return scene
