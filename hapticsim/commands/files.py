"""Commands that read a scene, a robot or a recording and are done with it: no clock, no device."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from hapticsim.commands.options import (
    Recorded,
    Report,
    Settings,
    Trust,
    above_zero,
    check_report,
    load_scene,
    refuse_options,
    refuse_robot_file,
    tell,
    tell_notes,
    write_report,
)

ALONE = ("algorithm", "accuracy", "precision", "step", "initial", "torque", "condition", "compare")  # options

commands = typer.Typer()


@commands.command()
def model(
    file: Annotated[Path, typer.Argument(help="scene file (YAML), the name of one, URDF or MJCF")],
    lock: Annotated[
        list[str] | None, typer.Option(help="NAME=VALUE: fix a joint there [rad or m]; repeatable")
    ] = None,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="print it as a scene file")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="print the numbers")] = False,
    settings: Settings = None,
) -> None:
    """Show what a mechanism is made of."""
    from hapticsim.commands.inspection import show_model

    notes: list[str] = []
    show_model(file, lock or [], as_yaml, as_json, notes, settings or ())
    tell_notes(notes)


@commands.command()
def simulate(
    context: typer.Context,
    config: Annotated[
        Path,
        typer.Argument(help="scene file (YAML) or the name of one; with --integrator also a URDF or MJCF"),
    ],
    seconds: Annotated[float, typer.Option(callback=above_zero, help="[s] of simulated time")] = 15.0,
    out: Annotated[Path | None, typer.Option(help="recording to make (.mcap)")] = None,
    report: Report = None,
    device: Annotated[
        str | None,
        typer.Option("--device", "--driver", help="driver, or FILE.py:CLASS (default: the scripted hand)"),
    ] = None,
    integrator: Annotated[
        str | None, typer.Option(help="the mechanism alone: cash_karp, rk4, dop853, radau, bdf or lsoda")
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="of the forward dynamics, with --integrator (default: abm_exact; crbm_ldl for mimic joints)"
        ),
    ] = None,
    accuracy: Annotated[
        float, typer.Option(callback=above_zero, help="relative error of a step, with --integrator")
    ] = 1e-6,
    precision: Annotated[str, typer.Option(help="float64 or float32, with --integrator")] = "float64",
    step: Annotated[
        float, typer.Option(callback=above_zero, help="[s] first step, or that of rk4, with --integrator")
    ] = 0.01,
    initial: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE: where a joint starts [rad or m], with --integrator; repeatable"),
    ] = None,
    torque: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE: constant force of a joint [N m or N], with --integrator; repeatable"),
    ] = None,
    condition: Annotated[
        bool, typer.Option("--condition", help="record the condition number of M, with --integrator")
    ] = False,
    compare: Annotated[
        str | None, typer.Option(help="record the difference to another algorithm, with --integrator")
    ] = None,
    settings: Settings = None,
) -> None:
    """Run in virtual time: with a scripted hand, or with --integrator the mechanism alone."""
    if report is not None:
        check_report(report, "give --out RECORDING.mcap too" if out is None else "")
        if out is not None and not os.path.lexists(out):  # one that exists is refused below
            context.call_on_close(lambda: write_report(out, report) if os.path.exists(out) else None)
    if integrator is None:
        refuse_options(context, ALONE, "for the mechanism alone: give --integrator too")
        refuse_robot_file(config, "give --integrator too")
        _simulate_with_hand(config, settings, seconds, out, device)
        return
    from hapticsim.commands.experiment import algorithm_notes, left_out, read_scene, run_experiment

    refuse_options(context, ("device",), "for a run with a hand: leave out --integrator")
    notes: list[str] = []
    scene = read_scene(config, notes, settings or ())
    tell_notes(notes + left_out(scene) + algorithm_notes(scene.model, algorithm))
    words, usable = run_experiment(
        scene,
        seconds,
        out,
        initial=initial or (),
        torques=torque or (),
        progress=tell,
        integrator=integrator,
        algorithm=algorithm,
        accuracy=accuracy,
        precision=precision,
        step_s=step,
        condition_number=condition,
        compare_with=compare,
    )
    print(words)
    if out:
        print(f"recording: {out}; see it: hapticsim view {out}")
    if not usable:
        raise typer.Exit(1)


def _simulate_with_hand(
    config: Path, settings: list[str] | None, seconds: float, out: Path | None, device: str | None
) -> None:
    """The whole tick, with a driver in lockstep."""
    from hapticsim.describe.forces import force_lines
    from hapticsim.drivers.calls import opened
    from hapticsim.drivers.registry import build_driver, options_for, require_driver
    from hapticsim.recording.writer import check_can_record
    from hapticsim.simulate.simulation import Simulation
    from hapticsim.simulate.virtual import simulate as run_virtual

    if out is not None:
        check_can_record(out)
    scene = load_scene(config, settings)
    if scene.link is not None:
        tell_notes(["in virtual time the link is left out: hand and mechanism meet without its delay."])
    name = device or "scripted"
    driver, _ = build_driver(require_driver(name), options_for(name, scene.device))
    simulation = Simulation(scene, tell)
    start = time.perf_counter()
    shown = sys.stderr.isatty()

    reached_s = 0.0

    def advance(time_s: float, row: Any) -> None:
        nonlocal reached_s
        reached_s = time_s
        if shown:
            ratio = time_s / max(time.perf_counter() - start, 1e-9)
            tell(f"\r\033[K{time_s:.1f} of {seconds:g} s, {ratio:.0f} times real time")

    try:
        with opened(driver):
            rows = run_virtual(scene, driver, seconds, out, advance, simulation)
    except KeyboardInterrupt:
        kept = f"; recording: {out}" if out else ""
        tell(f"{chr(10) * shown}{reached_s:g} of {seconds:g} s were simulated{kept}\n")
        raise
    wall = time.perf_counter() - start
    if shown:
        tell("\n")
    print(
        f"{len(rows)} ticks, {seconds:g} s simulated in {wall:.2f} s ({seconds / wall:.1f} times real time)"
    )
    print("\n".join(force_lines(rows)))
    print(_end_of(rows, simulation))
    if out:
        print(f"recording: {out}")
    if refused := _refused(rows):
        print(refused, file=sys.stderr)
        raise typer.Exit(1)


def _refused(rows: Any) -> str:
    """The ticks that were taken back, in a sentence; empty where none was."""
    import numpy as np

    from hapticsim.codes import Fault
    from hapticsim.kernels.memory.sample import PLACE
    from hapticsim.wire.messages.fault_words import fault_words

    # A fault is latched: a row may show it long after its tick.
    faults = rows[:, PLACE["fault"]].astype(np.int64) & int(Fault.ENERGY | Fault.NOT_FINITE)
    if not faults.any():
        return ""
    first = int(np.argmax(faults != 0))
    return (
        f"refused from {rows[first, PLACE['time_s']]:.4g} s on: {fault_words(Fault(int(faults[first])))}; "
        "the state before was kept, at rest. Look at the masses and inertias of the robot, or raise rate_Hz."
    )


def _end_of(rows: Any, simulation: Any) -> str:
    import numpy as np

    from hapticsim.kernels.memory.sample import PLACE

    i = PLACE["hand_force_x_N"]
    force = np.linalg.norm(rows[:, i : i + 3], axis=1)
    contact = rows[:, [n for n, c in enumerate(simulation.columns) if c.startswith("force_N[")]]
    q = " ".join(f"{x:.6f}" for x in simulation.state.q)
    lines = [
        f"force on the hand up to {force.max(initial=0.0):.3f} N, contact force up to "
        f"{contact.max(initial=0.0):.3f} N",
        f"q = {q}",
        *(f"{name} = {value:.6g}" for name, value in simulation.sensors.items()),
    ]
    return "\n".join(lines)


@commands.command()
def replay(
    file: Recorded,
    window: Annotated[bool, typer.Option(help="show it in the window, at its own speed")] = False,
    trust: Trust = False,
) -> None:
    """Play a recording through the same tick again, and say whether every state is the same to the bit."""
    from hapticsim.playback.replay import play

    if play(file, window, tell, trust) > 0.0:
        raise typer.Exit(1)


@commands.command()
def export(
    file: Recorded,
    out: Annotated[
        Path | None, typer.Argument(help=".csv or .npz; without it the columns are listed")
    ] = None,
    named: Annotated[
        bool, typer.Option("--named", help="by the names of joints and shapes, forces summed over a pair")
    ] = False,
) -> None:
    """Write a recording as a table, or list what it holds: names, units and what each number says."""
    from hapticsim.recording.export import check_can_export, listing
    from hapticsim.recording.export import export as write
    from hapticsim.recording.reader import read_recording

    if out is not None:
        check_can_export(out)
    recording = read_recording(file)
    if out is None:
        print(listing(recording))
        tell_notes([recording.note] if recording.note else [])
        return
    count = write(recording, out, named)
    print(
        f"{len(recording.data)} rows, {count} columns -> {out}"
        + f" ({recording.note})" * bool(recording.note)
    )
