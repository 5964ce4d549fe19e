"""Commands of a run against the clock: its processes, together or one by one."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from hapticsim.commands.options import (
    CommandsEndpoint,
    Config,
    ControlEndpoint,
    DeviceEndpoint,
    Keys,
    Probe,
    PublishEndpoint,
    Realtime,
    RecordedOrNone,
    Report,
    Seconds,
    Settings,
    TelemetryEndpoint,
    Trust,
    between,
    check_report,
    load_scene,
    not_empty,
    refuse_options,
    refuse_robot_file,
    tell,
    write_report,
)
from hapticsim.config.shipped_scenes import DEFAULT, scene_path
from hapticsim.process.child import PYTHON, REFUSED

commands = typer.Typer()


class OnOff(StrEnum):
    """Whether a constraint is to hold."""

    ON = "on"
    OFF = "off"


@commands.command()
def run(
    config: Config = Path(DEFAULT),
    device: Annotated[
        str | None,
        typer.Option(
            "--device",
            "--driver",
            help="driver instead of the scene's, or FILE.py:CLASS; "
            "'auto': the mouse with a display, else the script",
        ),
    ] = None,
    seconds: Seconds = None,
    record: Annotated[
        Path | None, typer.Option(help="recording (default: recordings/NAME-DATE.mcap)")
    ] = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="record nothing")] = False,
    report: Report = None,
    window: Annotated[
        bool | None, typer.Option(help="open the window (default: when there is a display)")
    ] = None,
    realtime: Realtime = True,
    probe: Probe = False,
    settings: Settings = None,
) -> None:
    """Start server, device and window together, and look after them."""
    from hapticsim.commands.supervisor import recording_path, run_all

    if report is not None:
        check_report(report, "leave out --no-record" if no_record else "")
    refuse_robot_file(config)
    scene = load_scene(config, settings)
    if device is None and scene_path(config) != config:  # a shipped one: whatever there is plays it
        device = "auto"
    record = recording_path(scene) if report is not None and record is None else record
    is_new = record is not None and not os.path.lexists(record)
    given = settings or []
    try:
        run_all(scene, config, given, device, seconds, record, not no_record, window, realtime, probe, tell)
    finally:
        if report is not None and record is not None and is_new and os.path.exists(record):
            write_report(record, report)


@commands.command()
def serve(
    context: typer.Context,
    config: Config,
    seconds: Seconds = None,
    record: Annotated[Path | None, typer.Option(help="recording (default: none)")] = None,
    device_endpoint: DeviceEndpoint = None,
    publish_endpoint: PublishEndpoint = None,
    control_endpoint: ControlEndpoint = None,
    telemetry: TelemetryEndpoint = None,
    commands: CommandsEndpoint = None,
    keys: Keys = None,
    realtime: Realtime = True,
    probe: Probe = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="no live line, no report")] = False,
    settings: Settings = None,
) -> None:
    """Start the server alone; devices and windows join on their own.  With a link: the remote site."""
    from hapticsim.commands.supervisor import FAILED, say_line, watch
    from hapticsim.server.remote import Remote
    from hapticsim.server.server import Server

    refuse_robot_file(config)
    scene = load_scene(config, settings)
    common: dict[str, Any] = {
        "publish_endpoint": publish_endpoint,
        "control_endpoint": control_endpoint,
        "record": record,
        "keys": keys,
        "realtime": realtime,
        "probe": probe,
        "say": (lambda line: None) if quiet else say_line,
        "progress": tell,
    }
    if scene.link is None:
        refuse_options(context, ("telemetry", "commands"), "for a link: this scene has none")
        server = Server(scene, device_endpoint=device_endpoint, **common)
        say_line(f"device endpoint {server.device_endpoint}")
    else:
        server = Remote(scene, telemetry_endpoint=telemetry, commands_endpoint=commands, **common)
    if not quiet:
        say_line(f"publish endpoint {server.publisher.endpoint}")
        if server.control:
            say_line(f"control endpoint {server.control.endpoint}")
    if not watch(server, seconds, quiet=quiet):
        raise typer.Exit(FAILED)


@commands.command()
def switch(
    name: Annotated[str | None, typer.Argument(help="constraint; left out: list all")] = None,
    to: Annotated[OnOff | None, typer.Argument(help="whether it is to hold")] = None,
    at: Annotated[str | None, typer.Option(callback=not_empty, help="control endpoint of the server")] = None,
    keys: Keys = None,
) -> None:
    """Let a constraint of a running server hold or go; without a name, list them."""
    from hapticsim.wire.sockets.curve_security import Curve
    from hapticsim.wire.switches import Switches

    if name is not None and to is None:
        raise typer.BadParameter(f"on or off is missing after {name!r}")
    with Switches(at, curve=Curve(keys) if keys else None) as switches:
        if name is not None:
            print(f"{name}: {switches.switch(name, to == OnOff.ON)}")
            return
        found = switches.constraints()
        width = max((len(str(c["name"])) for c in found), default=0)
        for c in found:
            print(f"{c['name']:{width}}  {c['hold']:8}  {c['rows']} row{'' if c['rows'] == 1 else 's'}")
        if not found:
            print("this scene has no constraints")


# no help option of its own: --help goes to the driver's program like everything else
@commands.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
)
def device(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="driver, or FILE.py:CLASS; 'list' shows all")],
) -> None:
    """Start one device driver; further options go to it (see: hapticsim device NAME --help)."""
    arguments = ["--list"] if name == "list" else [name, *context.args]
    os.execv(PYTHON[0], [*PYTHON, "-m", "hapticsim_devices", *arguments])


@commands.command()
def view(
    context: typer.Context,
    file: RecordedOrNone = None,
    out: Annotated[
        Path | None, typer.Option(help="with FILE: write a film, .gif or .mp4, or with --at a .png, and end")
    ] = None,
    at: Annotated[
        float | None, typer.Option(help="[s] with FILE and --out: one picture, of this time")
    ] = None,
    speed: Annotated[
        float, typer.Option(callback=between(0.001, 1000.0), help="with FILE: times its own speed")
    ] = 1.0,
    fps: Annotated[
        float, typer.Option(callback=between(1.0, 100.0), help="with --out: pictures per second")
    ] = 25.0,
    endpoint: Annotated[
        str | None, typer.Option(callback=not_empty, help="publish endpoint of the server")
    ] = None,
    control: Annotated[
        str | None,
        typer.Option(callback=not_empty, help="control endpoint of the server (default: beside the other)"),
    ] = None,
    pointer: Annotated[
        str | None, typer.Option(callback=not_empty, help="endpoint to publish the pointer on, for the mouse")
    ] = None,
    screenshot: Annotated[Path | None, typer.Option(help="save a picture and end")] = None,
    frames: Annotated[int | None, typer.Option(min=1, help="end after this many frames")] = None,
    keys: Keys = None,
    trust: Trust = False,
) -> None:
    """Open the window on a running server, or on a recording."""
    if file is not None:
        _view_recording(context, file, out, at, speed, fps, frames, screenshot, trust)
        return
    if at is not None:
        raise typer.BadParameter(
            "--at needs a recording: hapticsim view FILE --at SECONDS --out PICTURE.png."
        )
    if out is not None:
        raise typer.BadParameter("--out needs a recording: hapticsim view FILE --out FILM.")
    refuse_options(context, ("speed", "fps", "trust"), "for a recording: name its FILE")
    from hapticsim.display.window import main as show
    from hapticsim.wire.sockets.endpoints import default_endpoint

    show(endpoint or default_endpoint("publish"), pointer, frames, screenshot, keys, control)


def _view_recording(
    context: typer.Context,
    file: Path,
    out: Path | None,
    at: float | None,
    speed: float,
    fps: float,
    frames: int | None,
    screenshot: Path | None,
    trust: bool,
) -> None:
    from hapticsim.playback.animation import show
    from hapticsim.playback.pictures import film, picture

    of_server = ("endpoint", "control", "pointer", "keys")
    refuse_options(context, of_server, "for a window on a server: leave out FILE, a recording has none")
    if out is not None:
        refuse_options(context, ("screenshot", "frames"), "for the window: leave out --out, which opens none")
        if at is not None:
            refuse_options(context, ("speed", "fps"), "for films: leave out --at, which makes one picture")
            picture(file, out, at, tell, trust)
            print(f"{out}: the picture at {at:g} s")
            return
        print(f"{out}: {film(file, out, speed, fps, tell, trust)} pictures")
        return
    refuse_options(context, ("at",), "for one picture: give --out PICTURE.png too")
    refuse_options(context, ("fps",), "for films: give --out too")
    status = show(file, speed, tell, frames, screenshot, trust)
    if status == REFUSED:  # it has said why
        raise typer.Exit(status)


@commands.command()
def operator(
    config: Config,
    seconds: Seconds = None,
    device_endpoint: DeviceEndpoint = None,
    publish_endpoint: PublishEndpoint = None,
    telemetry: TelemetryEndpoint = None,
    commands: CommandsEndpoint = None,
    record: Annotated[Path | None, typer.Option(help="recording (default: none)")] = None,
    keys: Keys = None,
    realtime: Realtime = True,
    settings: Settings = None,
) -> None:
    """Start the operator side of a scene with a link: local prediction of a delayed remote site."""
    from hapticsim.commands.supervisor import FAILED, say_line, watch
    from hapticsim.server.operator import Operator

    refuse_robot_file(config)
    side = Operator(
        load_scene(config, settings),
        device_endpoint=device_endpoint,
        publish_endpoint=publish_endpoint,
        telemetry_endpoint=telemetry,
        commands_endpoint=commands,
        record=record,
        keys=keys,
        realtime=realtime,
        say=say_line,
        progress=tell,
    )
    if not watch(side, seconds):
        raise typer.Exit(FAILED)
