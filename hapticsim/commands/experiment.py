"""An off-line simulation as a user asks for it: a scene or URDF in, a recording and a few lines out.

The mechanism of the scene moves alone, by its own torque laws and damping: no hand, no contact, no clock.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

import hapticsim
from hapticsim.config.load import load, loads
from hapticsim.config.overrides import parse_settings, refuse_settings
from hapticsim.describe.columns import offline_quantities
from hapticsim.describe.drawing import of_offline
from hapticsim.describe.recorded_scene import OFFLINE, about_files
from hapticsim.equations.base import Equations
from hapticsim.equations.compiled import compile_equations
from hapticsim.errors import ConfigError, HapticsimError, listed, nearest
from hapticsim.model.protocol import SceneModel
from hapticsim.model.robot_file.read import TITLES, robot_file
from hapticsim.model.robot_file.urdf import load_urdf
from hapticsim.model.scene import Scene
from hapticsim.model.stops import stopped_joints
from hapticsim.model.write import model_to_yaml
from hapticsim.offline.ending import Ending
from hapticsim.offline.run import OfflineRun, simulate_offline
from hapticsim.recording.writer import RecordingWriter, check_can_record

OFF = 1e-3  # of the energy in the motion: energy that is off by more is told
LARGEST = 1e15  # number of an option, as of a file
DEFAULT, WITH_FOLLOWERS = "abm_exact", "crbm_ldl"  # algorithms, the second for mimic joints
OPTIONS = {  # of the command line, by what ``simulate_offline`` calls them
    "seconds": "--seconds",
    "integrator": "--integrator",
    "accuracy": "--accuracy",
    "precision": "--precision",
    "step_s": "--step",
}
WRONG = 0.1  # from which the run shows the integrator and not the robot


def read_scene(file: Path, notes: list[str], settings: Sequence[str] = ()) -> Scene:
    """Return the scene of a file; a URDF or MJCF file becomes one that holds the robot and nothing else.

    What a scene file cannot say of a robot (a published inertia that no body has, say) is left in the URDF,
    and the scene, which a recording keeps, names that file.

    settings : KEY=VALUE, values of ``--set`` laid over a scene file.
    """
    if robot_file(file):
        refuse_settings(file, settings)
    if robot_file(file) == TITLES[".xml"]:
        scene = loads(yaml.safe_dump({"name": file.stem, "robot": {"mjcf": {"path": file.name}}}), file)
        notes.extend(scene.notes)
        return scene
    if robot_file(file):
        robot = load_urdf(file, notes=notes)
        try:
            return loads(model_to_yaml(robot), file)
        except HapticsimError:
            return loads(yaml.safe_dump({"name": robot.name, "robot": {"urdf": {"path": file.name}}}), file)
    scene = load(file, parse_settings(settings), "--set")
    notes.extend(scene.notes)
    return scene


def left_out(scene: Scene) -> list[str]:
    """Return notes on what a scene says and the mechanism alone does not have: constraints and contacts."""
    constraints = [repr(c.name) for c in scene.constraints]
    contacts = [f"{c.a!r} with {c.b!r}" for c in scene.contacts]
    stops = [f"of {joint!r}" for joint in stopped_joints(scene)]
    kinds = (("constraint", constraints), ("contact", contacts), ("stop", stops))
    words = [f"{kind}{'s' * (len(found) > 1)} {', '.join(found)}" for kind, found in kinds if found]
    return [f"the mechanism moves alone, without {' and '.join(words)}."] if words else []


def settings(model: SceneModel, given: Sequence[str], option: str, unit: str) -> dict[str, float]:
    """Return NAME=VALUE pairs for joints with one coordinate [SI units]."""
    names = [j.name for j in model.moving_joints if j.nq == 1]
    found: dict[str, float] = {}
    for pair in given:
        name, equals, value = pair.rpartition("=")
        if equals and name not in names:
            raise ConfigError(
                option,
                pair,
                f"names no joint with one coordinate{nearest(name, names)}: use {listed(names)}.",
            )
        try:
            number = float(value) if equals else math.nan
        except ValueError:
            number = math.nan
        if not abs(number) <= LARGEST:
            raise ConfigError(
                option, pair, f"is not usable: write NAME=NUMBER, in {unit}, up to {LARGEST:g}."
            )
        if name in found:
            raise ConfigError(option, pair, f"is for {name!r} a second time: give it once.")
        found[name] = number
    return found


def fitting_algorithm(model: SceneModel) -> str:
    """Return the algorithm for a robot when none was asked for: joints that follow others need a matrix."""
    return WITH_FOLLOWERS if model.has_followers else DEFAULT


def algorithm_notes(model: SceneModel, algorithm: str | None) -> list[str]:
    """Return a note on the algorithm where none was asked for and the default is not for this robot."""
    if algorithm is not None or fitting_algorithm(model) == DEFAULT:
        return []
    return [f"{model.name} has joints that follow others, so {WITH_FOLLOWERS} is used and not {DEFAULT}."]


def run_experiment(
    scene: Scene,
    seconds: float,
    out: Path | None,
    *,
    initial: Sequence[str] = (),
    torques: Sequence[str] = (),
    progress: Callable[[str], Any] | None = None,
    algorithm: str | None = None,
    **options: Any,
) -> tuple[str, bool]:
    """Simulate, record if asked to, and return the report and whether the run can be used.

    initial, torques : NAME=VALUE, instead of the scene's start and beside its torque laws.
    algorithm : of the forward dynamics; None: the one that fits the robot.
    options : others of ``offline.run.simulate_offline``.

    Raises
    ------
    HapticsimError : an option that cannot be used, a mechanism by Kane's method, or a recording that cannot
        be made or written any further.
    """
    model = scene.model.as_tree("simulate it without --integrator.")
    q0, constant = scene.q0.copy(), np.zeros(model.nu)
    for name, value in settings(model, initial, "--initial", "rad or m").items():
        q0[model.q_slice(name)] = value
    for name, value in settings(model, torques, "--torque", "N m or N").items():
        constant[model.u_slice(name)] = value
    if out is not None:
        check_can_record(out)
    equations = compile_equations(model, (), progress)
    law = torque_law(scene, equations, constant)
    start = time.perf_counter()
    options["algorithm"] = algorithm or fitting_algorithm(model)
    try:
        run = simulate_offline(equations, q0, scene.u0, seconds, torques=law, **options)
    except ConfigError as error:
        if error.key not in OPTIONS:
            raise
        raise HapticsimError(f"{OPTIONS[error.key]} {error.problem}") from None
    wall_s = time.perf_counter() - start
    if out is not None:
        record(run, scene, equations, out)
    return report(run, wall_s), is_usable(run)


def is_usable(run: OfflineRun) -> bool:
    """Say whether the run reached its end, and its energy is that of the robot."""
    return run.ending is Ending.DONE and run.energy_off <= WRONG * run.energy_scale


def torque_law(scene: Scene, equations: Equations, constant: np.ndarray) -> Any:
    """Return the scene's torque laws as a function of time, q and u; an array where they are constant."""
    model = scene.model
    if not scene.torque_laws:
        return constant
    places = [
        (law, model.q_slice(law.joint).start, model.u_slice(law.joint).start) for law in scene.torque_laws
    ]
    gravity = np.zeros(model.nu)

    def torques(_time_s: float, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        tau = constant.copy()
        equations.kernels.gravity_force(np.ascontiguousarray(q, float), gravity)
        for law, i, r in places:
            tau[r] += law.constant + law.stiffness * (law.reference - q[i]) - law.damping * u[r]
            if law.gravity_compensation:
                tau[r] += gravity[r]
        return tau

    return torques


def columns(model: SceneModel) -> list[str]:
    """Return the names of the columns of a recording."""
    return [
        "time_s",
        *(f"q{i}" for i in range(model.nq)),
        *(f"{name}{r}" for name in ("u", "udot") for r in range(model.nu)),
        "kinetic_J",
        "potential_J",
        "evaluations",
        "condition_number",
        *(f"difference{r}" for r in range(model.nu)),
    ]


def record(run: OfflineRun, scene: Scene, equations: Equations, out: Path) -> None:
    """Write a run; what was not asked for is NaN."""
    ns = len(run.time)
    condition = np.full(ns, np.nan) if run.condition is None else run.condition
    difference = np.full(run.u.shape, np.nan) if run.difference is None else run.difference
    parts = (
        run.time,
        run.q,
        run.u,
        run.udot,
        run.kinetic,
        run.potential,
        run.evaluations,
        condition,
        difference,
    )
    about = {"hapticsim": hapticsim.__version__, "kind": OFFLINE, "scene": scene.name, "path": scene.path}
    about |= about_files(scene)
    about |= {"algorithm": run.algorithm, "integrator": run.integrator, "precision": run.precision}
    names = columns(scene.model)
    with RecordingWriter(
        out,
        names,
        scene.source,
        about,
        quantities=offline_quantities(scene.model),
        drawing=of_offline(scene, equations, names),
    ) as writer:
        writer.append(np.column_stack([np.asarray(p, float) for p in parts]))
    if writer.failure or writer.note:
        raise HapticsimError(writer.failure or writer.note)


def report(run: OfflineRun, wall_s: float) -> str:
    """Return what a run was, in a few lines."""
    energy = run.energy
    scale = max(np.abs(run.potential).max(), np.abs(run.kinetic).max(), 1e-300)
    rejected = "" if run.rejected < 0 else f", {run.rejected} rejected"
    off = np.abs(energy - energy[0]).max()
    lines = [
        f"{run.algorithm}, {run.integrator}, {run.precision}: {run.time[-1]:g} s in {wall_s:.2f} s. "
        f"{run.ending.sentence}",
        f"{run.total_evaluations} evaluations of the forward dynamics, {run.accepted} steps{rejected}",
        f"energy {energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end, off by up to "
        f"{off:.3g} J ({off / scale:.2g} of the largest)",
    ]
    off = run.energy_off / run.energy_scale
    if off > OFF and run.ending is not Ending.DIVERGED:
        remedy = (
            "take a shorter --step, or --integrator cash_karp"
            if run.integrator == "rk4"
            else "ask for more accuracy"
        )
        worth = ": this is not the motion of the robot" if off > WRONG else ""
        lines.append(
            f"warning: the energy is off by {run.energy_off:.3g} J from what torques and damping account "
            f"for, {100.0 * off:.2g} % of what is in the motion{worth}; {remedy}."
        )
    if run.condition is not None:
        lines.append(
            f"condition number of the mass matrix {run.condition.min():.3g} to {run.condition.max():.3g}"
        )
    if run.difference is not None:
        finite = run.difference[np.isfinite(run.difference)]
        lines.append(f"relative difference of the other algorithm up to {finite.max(initial=0.0):.3g}")
    return "\n".join(lines)
