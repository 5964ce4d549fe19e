"""MJCF to a robot: a tree, the constraints that tie it, the springs of its joints, its geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.arguments import a_path, unusable
from hapticsim.model.constraints import Constraint
from hapticsim.model.mjcf.compiled import compiled
from hapticsim.model.mjcf.equalities import constraints_of
from hapticsim.model.mjcf.left_out import left_out
from hapticsim.model.mjcf.naming import Names
from hapticsim.model.mjcf.state import JointState, tree_state
from hapticsim.model.mjcf.tree import HINGE, SLIDE, tree_of
from hapticsim.model.multibody.notes import joint_notes
from hapticsim.model.multibody.tree import Model
from hapticsim.model.scene import Handle, TorqueLaw


@dataclass(frozen=True, eq=False)
class MjcfRobot:
    """What an MJCF file says of a robot."""

    model: Model
    constraints: tuple[Constraint, ...]
    springs: tuple[TorqueLaw, ...]  # of joints, in the order of the joints
    sites: dict[str, Handle]  # by name
    mj: Any = field(repr=False)  # mujoco.MjModel
    names: Names = field(repr=False)

    def keyframe(self, name: str) -> dict[str, JointState]:
        """Return coordinates and speeds by joint at a keyframe; the names are in ``names.keyframes``."""
        k = self.names.keyframes.index(name)
        return tree_state(self.mj, self.names, self.mj.key_qpos[k], self.mj.key_qvel[k])


def read_mjcf(path: Path, notes: list[str]) -> MjcfRobot:
    """Read a robot from an MJCF file; arguments and refusals as in ``load_mjcf``."""
    mj = compiled(path, notes)
    names = Names(path, mj, notes)
    model = tree_of(path, mj, names)
    notes += joint_notes(model.joints)
    constraints = constraints_of(mj, names, notes)
    notes += left_out(mj, names)
    sites = {
        name: Handle(names.bodies[mj.site_bodyid[s]], np.array(mj.site_pos[s]))
        for s, name in enumerate(names.sites)
    }
    return MjcfRobot(model, constraints, _springs(mj, names), sites, mj, names)


def load_mjcf(path: str | Path, notes: list[str] | None = None) -> Model:
    """Read the tree of a robot from an MJCF file, with MuJoCo's compiler (the extra ``mjcf``).

    Coordinates are 0 where the file draws the robot; MuJoCo's ``qpos`` of a hinge or slide is ``ref`` there.
    Springs of joints and equalities are not part of a tree: a scene with ``robot.mjcf`` has them.

    Parameters
    ----------
    path : MJCF file; what it includes lies where it says.
    notes : if given, one line is appended for each kind of content that is read but not acted on.

    Raises
    ------
    ConfigError : one sentence with the file, what was found, what MuJoCo says of it.
    """
    where = "load_mjcf"
    a_path(where, "path", path, "an MJCF file")
    if notes is not None and not isinstance(notes, list):
        raise unusable(where, "notes", notes, "a list, to which notes are appended, or None")
    said: list[str] = [] if notes is None else notes
    robot = read_mjcf(Path(path), said)
    parts: Sequence[tuple[str, int]] = (
        ("equality", len(robot.constraints)),
        ("spring", len(robot.springs)),
    )
    said += [f"the tree alone is read, without {n} of kind {what}." for what, n in parts if n]
    return robot.model


def _springs(mj: Any, names: Names) -> tuple[TorqueLaw, ...]:
    """The linear springs of hinges and slides; displacements count from qpos0."""
    laws = []
    for j in range(mj.njnt):
        if mj.jnt_stiffness[j] and mj.jnt_type[j] in (SLIDE, HINGE):
            at = mj.jnt_qposadr[j]
            rest = float(mj.qpos_spring[at] - mj.qpos0[at])
            laws.append(TorqueLaw(names.joints[j], stiffness=float(mj.jnt_stiffness[j]), reference=rest))
    return tuple(laws)
