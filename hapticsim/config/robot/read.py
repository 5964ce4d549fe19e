"""The ``robot:`` section: a tree, a URDF by path or by name, an MJCF file, or a mechanism file."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from hapticsim.config.contacts.apart import Apart
from hapticsim.config.decomposition.points import Progress
from hapticsim.config.robot.apart import apart_by_mjcf, apart_by_srdf
from hapticsim.config.robot.collision_shapes import collision_shapes
from hapticsim.config.robot.mjcf_shapes import mjcf_shapes
from hapticsim.config.robot.mjcf_visuals import mjcf_visuals
from hapticsim.config.robot.package_file import package_file
from hapticsim.config.robot.tree import tree_of
from hapticsim.config.robot.visuals import visual_shapes
from hapticsim.config.schema.robot import MechanismEntry, Mjcf, Robot, Urdf
from hapticsim.errors import ConfigError, Refuse, listed, nearest
from hapticsim.files.special_file import SPECIAL, is_special
from hapticsim.model.constraints import Constraint
from hapticsim.model.mjcf.read import read_mjcf
from hapticsim.model.mjcf.state import JointState
from hapticsim.model.multibody.tree import Model
from hapticsim.model.protocol import SceneModel
from hapticsim.model.robot_file.fingerprint import fingerprint_of
from hapticsim.model.robot_file.library import library_path
from hapticsim.model.robot_file.urdf import read_urdf
from hapticsim.model.scene import Handle, Shape, TorqueLaw

FORMS = ("urdf", "mjcf", "mechanism")
PACKAGE = "package://"
FileOf = Callable[[tuple[str | int, ...]], Path]


@dataclass(frozen=True, eq=False)
class RobotParts:
    """What the section gives to a scene."""

    model: SceneModel
    shapes: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    springs: tuple[TorqueLaw, ...] = ()
    sites: dict[str, Handle] = field(default_factory=dict)
    start: dict[str, JointState] = field(default_factory=dict)  # by joint
    fingerprint: str = ""  # of the robot file; empty where there is none
    apart: tuple[Apart, ...] = ()


def read_robot(
    entry: Robot,
    name: str,
    file_of: FileOf,
    refuse: Refuse,
    notes: list[str],
    progress: Progress | None = None,
) -> RobotParts:
    """Read what ``robot:`` describes.

    file_of : tells which file of an ``extends`` chain holds a place; paths are relative to it.
    progress : called with pieces of a line while a mesh is decomposed.
    """
    inline = entry.bodies is not None or entry.joints is not None
    given = [form for form in FORMS if getattr(entry, form) is not None]
    if len(given) > 1:
        raise refuse(("robot", given[1]), f"stands beside {given[0]}: give one of the two.")
    if inline and entry.mechanism is not None:
        raise refuse(("robot",), "has a mechanism and a tree beside it: give one of the two.")
    if not inline and not given:
        raise refuse(
            ("robot",), "has neither bodies and joints nor a urdf, mjcf or mechanism: give one of them."
        )
    file = file_of(("robot", *given, "path")[: 3 if given else 1])
    if entry.mechanism is not None:
        return RobotParts(_of_mechanism(entry.mechanism, file, refuse))
    parts = None
    if entry.urdf is not None:
        parts = _of_urdf(entry.urdf, file_of, refuse, notes, progress)
    if entry.mjcf is not None:
        parts = _of_mjcf(entry.mjcf, file, refuse, notes, progress)
    model = None if parts is None else parts.model.as_tree("")
    if inline:
        model = tree_of(entry.bodies or [], entry.joints or [], name, model, refuse, notes)
    assert model is not None
    if not model.moving_joints:
        raise refuse(("robot",), "has no joint that moves: give at least one a type other than fixed.")
    return RobotParts(model) if parts is None else replace(parts, model=model)


def _of_mechanism(entry: MechanismEntry, file: Path, refuse: Refuse) -> SceneModel:
    place = ("robot", "mechanism")
    path = _path(entry.path, file, (*place, "path"), refuse)
    for name, value in entry.parameters.items():
        if not isinstance(value, bool | int | float | str) or not math.isfinite(
            value if isinstance(value, float) else 0.0
        ):
            raise refuse(
                (*place, "parameters", name),
                f"= {value!r} is not usable: write a number, a word, true or false.",
            )
    from hapticsim.equations.kane.source import load_mechanism  # numba, which nobody else needs here

    if is_special(path):
        raise ConfigError(path, "", SPECIAL)
    return load_mechanism(path, entry.parameters)


def _of_urdf(
    entry: Urdf, file_of: FileOf, refuse: Refuse, notes: list[str], progress: Progress | None
) -> RobotParts:
    place = ("robot", "urdf")
    if (entry.path is None) == (entry.package is None):
        raise refuse(place, "must have either a path or the name of a robot in package: give one of the two.")
    if entry.path is not None:
        path = _path(entry.path, file_of((*place, "path")), (*place, "path"), refuse)
    else:
        path = library_path(str(entry.package), refuse((*place, "package"), "").file)
    model: Model = read_urdf(path, entry.fixed_base, notes, entry.locked, entry.mimic)
    _check_solids(entry, place, refuse)
    shapes: list[Shape] = []
    if entry.collision:
        shapes = collision_shapes(path, notes, entry.corners, entry.decompose, progress)
    apart: tuple[Apart, ...] = ()
    beside: list[Path] = []
    if entry.srdf is not None:
        beside = [_srdf_path(entry.srdf, path, file_of((*place, "srdf")), refuse)]
        apart = apart_by_srdf(beside[0], path, {shape.name for shape in shapes}, notes)
    visuals = visual_shapes(path, notes) if entry.visual else []
    seen = {visual.body for visual in visuals}
    return RobotParts(
        model,
        tuple(replace(shape, is_drawn=shape.body not in seen) for shape in shapes),
        tuple(visuals),
        fingerprint=fingerprint_of(path, *beside),
        apart=apart,
    )


def _srdf_path(text: str, urdf: Path, file: Path, refuse: Refuse) -> Path:
    """The SRDF of this name: relative to the file that holds it, or in a package."""
    place = ("robot", "urdf", "srdf")
    path = _path(text, file, place, refuse)
    if not text.startswith(PACKAGE):
        return path
    package, _, rest = text.removeprefix(PACKAGE).partition("/")
    found = package_file(urdf, package, rest) if package else None
    if found is None:
        raise refuse(
            place,
            f"= {text!r} is in no package {package!r} above the URDF: set ROS_PACKAGE_PATH to the folder "
            f"that holds {package!r}, or write the path.",
        )
    return found


def _of_mjcf(
    entry: Mjcf, file: Path, refuse: Refuse, notes: list[str], progress: Progress | None
) -> RobotParts:
    place = ("robot", "mjcf")
    path = _path(entry.path, file, (*place, "path"), refuse)
    robot = read_mjcf(path, notes)
    _check_solids(entry, place, refuse)
    shapes: list[Shape] = []
    if entry.collision:
        shapes = mjcf_shapes(path, robot, notes, entry.corners, entry.decompose, progress)
    visuals: list[Shape] = []
    if entry.visual:
        visuals, shapes = mjcf_visuals(path, robot, shapes, notes)
    start: dict[str, JointState] = {}
    if entry.keyframe is not None:
        valid = robot.names.keyframes
        if entry.keyframe not in valid:
            known = f"they are {listed(valid)}" if valid else "the file has none"
            raise refuse(
                (*place, "keyframe"),
                f"= {entry.keyframe!r} is no keyframe{nearest(entry.keyframe, valid)}: {known}.",
            )
        start = robot.keyframe(entry.keyframe)
    return RobotParts(
        robot.model,
        tuple(shapes),
        tuple(visuals),
        robot.constraints,
        robot.springs,
        robot.sites,
        start,
        fingerprint_of(path),
        apart_by_mjcf(path, robot, {shape.name for shape in shapes}),
    )


def _check_solids(entry: Urdf | Mjcf, place: tuple[str, ...], refuse: Refuse) -> None:
    for key in ("corners", "decompose"):
        if getattr(entry, key) is not None and not entry.collision:
            raise refuse((*place, key), "is for collision shapes: write collision: true, or remove it.")
    if entry.corners is not None and entry.decompose is not None:
        raise refuse((*place, "decompose"), "stands beside corners, and has its own: give one of the two.")


def _path(text: str, file: Path, place: tuple[str, ...], refuse: Refuse) -> Path:
    """The file of this name; a path is relative to the file that holds it."""
    if "\0" in text:
        raise refuse(place, f"= {text!r} is not a path: remove the NUL character.")
    return file.parent / text
