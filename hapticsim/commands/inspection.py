"""What a model is made of: the tree, its masses, and how large its equations are.

``examine`` returns plain numbers that go into JSON as they are; ``model_tree`` shows them on a terminal.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import singledispatch
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from hapticsim.commands.mechanism_inspection import examine_mechanism, mechanism_words
from hapticsim.config.load import load
from hapticsim.config.overrides import parse_settings, refuse_settings
from hapticsim.equations.operations import operations_of
from hapticsim.equations.tree.frames import frame_pose
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import mass_matrix, poses
from hapticsim.errors import HapticsimError
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.checks import ROUNDING, triangle_excess
from hapticsim.model.multibody.joint import ANGULAR, LINEAR, WORLD, Joint
from hapticsim.model.multibody.tree import Model
from hapticsim.model.protocol import SceneModel
from hapticsim.model.reduce import kept_coordinates, lock_joints
from hapticsim.model.robot_file.read import load_robot, robot_file
from hapticsim.model.write import model_to_yaml

Numbers = dict[str, Any]
PIPE_WIDTH = 200  # no line of a tree is folded in a file or a pipe

# How a kind of joint moves with its axis; kinds without an axis are not here.
_WAY = {
    **dict.fromkeys(("revolute", "continuous", "helical", "universal"), "about"),
    **dict.fromkeys(("prismatic", "cylindrical"), "along"),
    "planar": "square to",
}
_DAMPING = {ANGULAR: "N m s/rad", LINEAR: "N s/m"}
_ARMATURE = {ANGULAR: "kg m^2", LINEAR: "kg"}


def read_model(
    file: str | Path, notes: list[str] | None = None, settings: Sequence[str] = ()
) -> tuple[SceneModel, np.ndarray]:
    """Return the model in a scene or robot file, and where it starts: q (nq,), zero for a robot file.

    notes : if given, gets what was read and is not acted on.
    settings : KEY=VALUE, values of ``--set`` laid over a scene file.
    """
    if robot_file(file):
        refuse_settings(file, settings)
        model = load_robot(file, notes)
        return model, model.zero_q()
    scene = load(file, parse_settings(settings), "--set")
    if notes is not None:
        notes.extend(scene.notes)
    return scene.model, scene.q0


def parse_locks(words: Sequence[str]) -> dict[str, float]:
    """Return the displacements [rad or m] written as ``NAME=VALUE``."""
    locks: dict[str, float] = {}
    for word in words:
        name, equals, value = word.rpartition("=")
        try:
            if not (name and equals):
                raise ValueError
            displacement = float(value)
        except ValueError:
            raise HapticsimError(
                f"--lock {word} is not usable: write JOINT=VALUE with the displacement in rad or m, "
                "such as --lock elbow=0.5."
            ) from None
        if name in locks:
            raise HapticsimError(f"--lock {word} locks {name!r} a second time: give it once.")
        locks[name] = displacement
    return locks


@singledispatch
def examine(model: Any, q: np.ndarray | None = None) -> Numbers:
    """Return what there is to know about a model at coordinates q (nq,), the zero configuration by default.

    Everything is a number, a word, a list or a dict, and None where there is no limit.  The condition number
    is that of the mass matrix as it is, with metres and radians side by side.  Of a mechanism there is what
    ``examine_mechanism`` says.
    """
    q = model.zero_q() if q is None else np.asarray(q, float)
    tree = moving_tree(model)
    link = Linkage(tree, q.tolist())
    moving = poses(link)
    total, moment = 0.0, np.zeros(3)
    for body in model.bodies:
        R, p = frame_pose(tree, moving, body.name)
        total += body.mass
        moment += body.mass * (np.array(R) @ body.com_B + np.array(p))
    return {
        "name": model.name,
        "nq": model.nq,
        "nu": model.nu,
        "q": q.tolist(),
        "gravity_m_per_s2": np.asarray(model.gravity_W, float).tolist(),
        "mass_kg": float(total),
        "moving_mass_kg": float(sum(b.mass for b in model.bodies if tree.where[b.name][0] >= 0)),
        "com_W_m": (moment / total).tolist() if total > 0.0 else None,
        "mass_matrix_condition": _condition(link),
        "forward_dynamics_operations": operations_of("forward_dynamics", tree),
        "bodies": [
            {
                "name": body.name,
                "mass_kg": float(body.mass),
                "com_m": body.com_B.tolist(),
                "joint": _joint_numbers(model, joint),
            }
            for body, joint in zip(model.bodies, model.joints, strict=True)
        ],
    }


examine.register(MechanismModel, examine_mechanism)


def _condition(link: Linkage) -> float | None:
    """Return the 2-norm condition number of M, None where M is singular or nothing moves."""
    if not len(link):
        return None
    condition = float(np.linalg.cond(np.array(mass_matrix(link), float)))
    return condition if math.isfinite(condition) else None


def _joint_numbers(model: Model, joint: Joint) -> Numbers:
    q, u = model.q_slice(joint.name), model.u_slice(joint.name)
    return {
        "name": joint.name,
        "kind": joint.kind,
        "parent": joint.parent,
        "mimic": asdict(joint.mimic) if joint.mimic else None,
        "axis": joint.axis_J.tolist() if joint.kind in _WAY else None,
        "q": list(range(q.start, q.stop)),
        "u": list(range(u.start, u.stop)),
        "units": list(joint.units),
        **{key: _limit(getattr(joint, key)) for key in ("lower", "upper", "effort_limit", "velocity_limit")},
        **{key: float(getattr(joint, key)) for key in ("damping", "coulomb", "armature")},
    }


def _limit(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def model_tree(found: Numbers) -> Tree:
    """Return the bodies that ``examine`` found as a tree for rich, the numbers of the whole below it."""
    tree = Tree(Text(WORLD, "bold"))
    branches = {WORLD: tree}
    for body in found["bodies"]:
        branches[body["name"]] = branches[body["joint"]["parent"]].add(_label(body))
    return tree


def summary(found: Numbers) -> str:
    """Return the numbers of the whole model that ``examine`` found, one line each."""
    operations = found["forward_dynamics_operations"]
    condition, com = found["mass_matrix_condition"], found["com_W_m"]
    conditioned = "none" if condition is None else f"{condition:.4g}"
    where = "" if com is None else f", centre of mass at {_vector(com)} m"
    return "\n".join(
        [
            f"{found['name']}: {found['nq']} coordinates, {found['nu']} speeds",
            f"mass {found['mass_kg']:.6g} kg, of which {found['moving_mass_kg']:.6g} kg move{where}",
            f"q = {_vector(found['q'])}",
            f"condition number of the mass matrix there: {conditioned}",
            f"forward dynamics: {operations['mul']} multiplications, {operations['add']} additions, "
            f"{operations['div']} divisions, {operations['sincos']} sines and cosines",
        ]
    )


def show_model(
    file: str | Path,
    locks: Sequence[str] = (),
    as_yaml: bool = False,
    as_json: bool = False,
    notes: list[str] | None = None,
    settings: Sequence[str] = (),
) -> None:
    """Print a model: as a tree and a summary, as a scene file, or as the numbers of ``examine`` in JSON.

    file : scene file, URDF or MJCF file.
    locks : joints to fix first, each written ``NAME=VALUE`` [rad or m].
    notes, settings : as in ``read_model``.
    """
    if as_yaml and as_json:
        raise HapticsimError("--yaml and --json are two outputs: choose one of them.")
    model, q = read_model(file, notes, settings)
    if locks:
        reduced = lock_joints(model, parse_locks(locks))
        model, q = reduced, kept_coordinates(model, reduced, q)
    if as_yaml:
        odd = [b.name for b in model.bodies if triangle_excess(b.inertia_com_B) > ROUNDING]
        if odd and notes is not None:
            notes.append(
                f"this scene will be refused until these inertias are corrected: {', '.join(odd)}; "
                "a scene with robot.urdf uses them as published."
            )
        print(model_to_yaml(model), end="")
    elif as_json:
        print(json.dumps(examine(model, q), indent=2))
    elif (found := examine(model, q)).get("kind") == "mechanism":
        print(mechanism_words(found))
    else:
        console = Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)
        console.print(model_tree(found))
        print(summary(found))


def _label(body: Numbers) -> Text:
    """``name 1.2 kg (joint: revolute about z, -1 to 1 rad, damping 0.5 N m s/rad)``."""
    joint = body["joint"]
    words = [joint["kind"]]
    if joint["axis"] is not None:
        words[0] += f" {_WAY[joint['kind']]} {_axis(joint['axis'])}"
    if mimic := joint["mimic"]:
        plus = f" plus {mimic['offset']:.4g}" if mimic["offset"] else ""
        words.append(f"follows {mimic['multiplier']:.4g} times {mimic['joint']}{plus}")
    if joint["lower"] is not None or joint["upper"] is not None:
        low, high = ("..." if x is None else f"{x:.4g}" for x in (joint["lower"], joint["upper"]))
        words.append(f"{low} to {high} {' '.join(joint['units'])}")
    for key, unit_of in (("damping", _DAMPING), ("armature", _ARMATURE)):
        units = dict.fromkeys(unit_of[u] for u in joint["units"])
        if joint[key] and units:
            words.append(f"{key} {joint[key]:.4g} {' or '.join(units)}")
    mass = f" {body['mass_kg']:.4g} kg" if body["mass_kg"] else ""
    style = "" if joint["units"] else "dim"
    return Text.assemble((body["name"], "bold"), mass, (f"  ({joint['name']}: {', '.join(words)})", style))


def _axis(axis: Sequence[float]) -> str:
    """``z``, ``-x``, or the three components."""
    for letter, x in zip("xyz", axis, strict=True):
        if abs(abs(x) - 1.0) < 1e-9:
            return letter if x > 0.0 else f"-{letter}"
    return f"({_vector(axis)})"


def _vector(numbers: Sequence[float]) -> str:
    return ", ".join(f"{x:.4g}" for x in numbers)
