"""The command line.  Every refusal is one sentence on stderr and status 2."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hapticsim.errors import HapticsimError

REFUSED = 2
INTERRUPTED = 130

# What a wrong command line raises.  Newer typers bring their own click, older ones import it: asked for by
# its name among the ancestors of a class that typer exports, it is found in both.
MISUSE: type[Any] = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")

app = typer.Typer(
    help="Feel a simulated mechanism: a real-time haptic simulation server.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Config = Annotated[Path, typer.Argument(help="scene file (YAML)")]
Seconds = Annotated[float | None, typer.Option(min=0.0, help="stop after this long")]
Keys = Annotated[Path | None, typer.Option(help="folder of CURVE keys, for endpoints beyond this machine")]
Realtime = Annotated[bool, typer.Option(help="ask for SCHED_FIFO and locked memory")]
DeviceEndpoint = Annotated[str | None, typer.Option(help="endpoint of devices")]
PublishEndpoint = Annotated[str | None, typer.Option(help="endpoint of observers")]


def _progress(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()


def _load(config: Path) -> Any:
    from hapticsim.config.load import load

    scene = load(config)
    for note in scene.notes:
        print(f"note: {note}", file=sys.stderr)
    return scene


@app.command()
def run(
    config: Config,
    device: Annotated[
        str | None,
        typer.Option(help="driver instead of the scene's; 'auto': the mouse with a display, else the script"),
    ] = None,
    seconds: Seconds = None,
    record: Annotated[
        Path | None, typer.Option(help="recording (default: recordings/NAME-DATE.mcap)")
    ] = None,
    no_record: Annotated[bool, typer.Option("--no-record", help="record nothing")] = False,
    window: Annotated[
        bool | None, typer.Option(help="open the window (default: when there is a display)")
    ] = None,
    realtime: Realtime = True,
) -> None:
    """Start server, device and window together, and look after them."""
    from hapticsim.supervisor import run_all

    run_all(_load(config), config, device, seconds, record, not no_record, window, realtime, _progress)


@app.command()
def serve(
    config: Config,
    seconds: Seconds = None,
    record: Annotated[Path | None, typer.Option(help="recording (default: none)")] = None,
    device_endpoint: DeviceEndpoint = None,
    publish_endpoint: PublishEndpoint = None,
    keys: Keys = None,
    realtime: Realtime = True,
    quiet: Annotated[bool, typer.Option("--quiet", help="no live line, no report")] = False,
) -> None:
    """Start the server alone; devices and windows join on their own.  With a link: the remote site."""
    from hapticsim.remote import Remote
    from hapticsim.server import Server
    from hapticsim.supervisor import say_line, watch

    scene = _load(config)
    common: dict[str, Any] = {
        "publish_endpoint": publish_endpoint,
        "record": record,
        "keys": keys,
        "realtime": realtime,
        "say": (lambda line: None) if quiet else say_line,
        "progress": _progress,
    }
    if scene.link is None:
        server = Server(scene, device_endpoint=device_endpoint, **common)
        say_line(f"device endpoint {server.device_endpoint}")
    else:
        server = Remote(scene, **common)
    if not quiet:
        say_line(f"publish endpoint {server.publisher.endpoint}")
    watch(server, seconds, quiet=quiet)


# no help option of its own: --help goes to the driver's program like everything else
@app.command(
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
)
def device(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="driver; 'list' shows all")],
) -> None:
    """Start one device driver; further options go to it (see: hapticsim device NAME --help)."""
    from hapticsim.child import PYTHON
    from hapticsim.drivers import find_driver

    if name == "list":
        arguments = ["--list"]
    else:
        if not name.startswith("-"):
            find_driver(name)
        arguments = [name, *context.args]
    os.execv(PYTHON[0], [*PYTHON, "-m", "devices", *arguments])


@app.command()
def view(
    file: Annotated[
        Path | None, typer.Argument(help="recording (.mcap) to show instead of a running server")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="with FILE: write a film, .gif or .mp4, and end")] = None,
    speed: Annotated[float, typer.Option(min=0.001, max=1000.0, help="with FILE: times its own speed")] = 1.0,
    fps: Annotated[float, typer.Option(min=1.0, max=100.0, help="with --out: pictures per second")] = 25.0,
    endpoint: Annotated[str | None, typer.Option(help="publish endpoint of the server")] = None,
    pointer: Annotated[
        str | None, typer.Option(help="endpoint to publish the pointer on, for the mouse")
    ] = None,
    screenshot: Annotated[Path | None, typer.Option(help="save a picture and end")] = None,
    frames: Annotated[int | None, typer.Option(help="end after this many frames")] = None,
    keys: Keys = None,
) -> None:
    """Open the window on a running server, or on a recording."""
    if file is not None:
        from hapticsim.animation import film
        from hapticsim.animation import show as play

        if out is None:
            play(file, speed, _progress)
        else:
            print(f"{out}: {film(file, out, speed, fps, _progress)} pictures")
        return
    if out is not None:
        raise typer.BadParameter("--out needs a recording: hapticsim view FILE --out FILM.")
    from hapticsim.display.window import main as show
    from hapticsim.wire.endpoints import default_endpoint

    show(endpoint or default_endpoint("publish"), pointer, frames, screenshot, keys)


@app.command()
def operator(
    config: Config,
    seconds: Seconds = None,
    device_endpoint: DeviceEndpoint = None,
    publish_endpoint: PublishEndpoint = None,
    realtime: Realtime = True,
) -> None:
    """Start the operator side of a scene with a link: local prediction of a delayed remote site."""
    from hapticsim.operator import Operator
    from hapticsim.supervisor import say_line, watch

    side = Operator(
        _load(config),
        device_endpoint=device_endpoint,
        publish_endpoint=publish_endpoint,
        realtime=realtime,
        say=say_line,
        progress=_progress,
    )
    watch(side, seconds)


@app.command()
def model(
    file: Annotated[Path, typer.Argument(help="scene file (YAML) or URDF")],
    lock: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: fix a joint there [rad or m]; repeatable")
    ] = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="print it as a scene file")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the numbers")] = False,
) -> None:
    """Show what a mechanism is made of."""
    from hapticsim.inspection import show_model

    notes: list[str] = []
    show_model(file, lock or [], as_yaml, as_json, notes)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)


@app.command()
def simulate(
    config: Annotated[Path, typer.Argument(help="scene file (YAML); with --integrator also a URDF")],
    seconds: Annotated[float, typer.Option(min=0.0, help="[s] of simulated time")] = 15.0,
    out: Annotated[Path | None, typer.Option(help="recording to make (.mcap)")] = None,
    device: Annotated[str | None, typer.Option(help="driver (default: the scripted hand)")] = None,
    integrator: Annotated[
        str | None, typer.Option(help="the mechanism alone: cash_karp, rk4, dop853, radau, bdf or lsoda")
    ] = None,
    algorithm: Annotated[str, typer.Option(help="of the forward dynamics, with --integrator")] = "abm_exact",
    accuracy: Annotated[float, typer.Option(help="relative error of a step, with --integrator")] = 1e-6,
    precision: Annotated[str, typer.Option(help="float64 or float32, with --integrator")] = "float64",
    step: Annotated[float, typer.Option(help="[s] first step, or that of rk4, with --integrator")] = 0.01,
    initial: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: where a joint starts [rad or m]; repeatable")
    ] = None,
    torque: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: constant force of a joint [N m or N]; repeatable")
    ] = None,
    condition: Annotated[bool, typer.Option("--condition", help="record the condition number of M")] = False,
    compare: Annotated[str | None, typer.Option(help="record the difference to another algorithm")] = None,
) -> None:
    """Run in virtual time: with a scripted hand, or with --integrator the mechanism alone."""
    if integrator is None:
        _simulate_with_hand(config, seconds, out, device)
        return
    from hapticsim.experiment import read_scene, run_experiment

    notes: list[str] = []
    scene = read_scene(config, notes)
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    print(
        run_experiment(
            scene,
            seconds,
            out,
            initial=initial or (),
            torques=torque or (),
            progress=_progress,
            integrator=integrator,
            algorithm=algorithm,
            accuracy=accuracy,
            precision=precision,
            step_s=step,
            condition_number=condition,
            compare_with=compare,
        )
    )
    if out:
        print(f"recording: {out}; see it: hapticsim view {out}")


def _simulate_with_hand(config: Path, seconds: float, out: Path | None, device: str | None) -> None:
    """The whole tick, with a driver in lockstep."""
    from hapticsim.drivers import require_driver
    from hapticsim.simulation import Simulation
    from hapticsim.virtual import simulate as run_virtual

    scene = _load(config)
    settings = scene.device
    options = {"emulate": settings.emulate}
    if (device is None and settings.driver == "scripted") or device == settings.driver:
        options |= settings.options
    simulation = Simulation(scene, _progress)
    start = time.perf_counter()
    shown = sys.stderr.isatty()

    def tell(time_s: float, row: Any) -> None:
        if shown:
            ratio = time_s / max(time.perf_counter() - start, 1e-9)
            _progress(f"\r\033[K{time_s:.1f} of {seconds:g} s, {ratio:.0f} times real time")

    with require_driver(device or "scripted")(options) as driver:
        rows = run_virtual(scene, driver, seconds, out, tell, simulation)
    wall = time.perf_counter() - start
    if shown:
        _progress("\n")
    print(
        f"{len(rows)} ticks, {seconds:g} s simulated in {wall:.2f} s ({seconds / wall:.1f} times real time)"
    )
    print(_end_of(rows, simulation))
    if out:
        print(f"recording: {out}")


def _end_of(rows: Any, simulation: Any) -> str:
    import numpy as np

    from hapticsim.kernels.row import PLACE

    i = PLACE["hand_force_x_N"]
    force = np.linalg.norm(rows[:, i : i + 3], axis=1)
    contact = rows[:, [n for n, c in enumerate(simulation.columns) if c.startswith("force_N[")]]
    q = " ".join(f"{x:.6f}" for x in simulation.state.q)
    return (
        f"force on the hand up to {force.max(initial=0.0):.3f} N, contact force up to "
        f"{contact.max(initial=0.0):.3f} N\nq = {q}"
    )


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="recording (.mcap)")],
    window: Annotated[bool, typer.Option(help="show it in the window, at its own speed")] = False,
) -> None:
    """Play a recording through the same tick again, and say whether every state is the same to the bit."""
    from hapticsim.playback import play

    if play(file, window, _progress) > 0.0:
        raise typer.Exit(1)


@app.command()
def export(
    file: Annotated[Path, typer.Argument(help="recording (.mcap)")],
    out: Annotated[Path, typer.Argument(help=".csv or .npz")],
) -> None:
    """Write a recording as a table."""
    from hapticsim.recording.export import export as write
    from hapticsim.recording.reader import read_recording

    recording = read_recording(file)
    write(recording, out)
    print(
        f"{len(recording.data)} rows, {len(recording.columns)} columns -> {out}"
        + f" ({recording.note})" * bool(recording.note)
    )


@app.command()
def keys(folder: Annotated[Path, typer.Argument(help="folder to make")]) -> None:
    """Make a pair of CURVE keys for one end (docs/protocol.md)."""
    from hapticsim.wire.curve import create_keys

    print(f"copy {create_keys(folder)} into the peers folder of the other end")


@app.command()
def doctor() -> None:
    """Say what this computer allows: priority, memory, clock, display, devices."""
    from hapticsim.realtime.doctor import examine

    print(examine())


@app.command()
def compile(config: Config) -> None:
    """Compile everything a scene needs, so that it starts at once later."""
    from hapticsim.simulation import Simulation

    start = time.perf_counter()
    simulation = Simulation(_load(config), _progress)
    simulation.step()
    print(f"{simulation.scene.name}: ready in {time.perf_counter() - start:.1f} s")


def _misuse(error: Any) -> str:
    """One sentence for a wrong command line."""
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "hapticsim"
    return f"{command}: {error.format_message().rstrip('.')}: see '{command} --help'."


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main() -> None:
    """Entry point: a refusal is a sentence, Ctrl-C and SIGTERM are an end."""
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        status = app(prog_name="hapticsim", standalone_mode=False)
        sys.stdout.flush()
    except HapticsimError as refusal:
        print(refusal, file=sys.stderr)
        sys.exit(REFUSED)
    except MISUSE as misuse:
        if misuse.format_message():  # empty when no command was given: the help has been shown instead
            print(_misuse(misuse), file=sys.stderr)
        sys.exit(REFUSED)
    except typer.Exit as end:
        sys.exit(end.exit_code)
    except (typer.Abort, KeyboardInterrupt):
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    sys.exit(status if isinstance(status, int) else 0)  # typer returns the status of an Exit it caught


if __name__ == "__main__":
    main()
