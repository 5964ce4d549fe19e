"""What the files of a robot say of shapes that are not to touch: an SRDF by links, an MJCF file by geoms.

A shape that a scene puts on a link counts as one of the link.  What stands still in the scene is no part of
the robot: no file knows of it, even where it names the world.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from hapticsim.config.contacts.apart import Apart
from hapticsim.model.mjcf.read import MjcfRobot
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.robot_file.srdf import read_srdf
from hapticsim.model.scene import Shape


def apart_by_srdf(path: Path, urdf: Path, own: set[str], notes: list[str]) -> tuple[Apart, ...]:
    """Return the rule of an SRDF; refusals as in ``read_srdf``.

    own : names of the robot's shapes.
    """
    disabled = read_srdf(path, urdf)
    if not disabled:
        notes.append(f"{path}: disables no pair of links.")
        return ()
    return (Apart(f"disable_collisions of {path.name}", _of_bodies(disabled.has, own)),)


def apart_by_mjcf(path: Path, robot: MjcfRobot, own: set[str]) -> tuple[Apart, ...]:
    """Return the rules of an MJCF file: its exclusions, and the masks of its geoms.

    Geoms that a ``pair`` of the file names are kept apart by neither, as in MuJoCo.

    own : names of the robot's shapes, which are those of geoms.
    """
    mj, names = robot.mj, robot.names
    number = {name: g for g, name in enumerate(names.geoms) if name in own}
    paired = {frozenset(pair) for pair in zip(mj.pair_geom1.tolist(), mj.pair_geom2.tolist(), strict=True)}
    signatures = np.asarray(mj.exclude_signature)
    excluded = {
        frozenset((names.bodies[first], names.bodies[second]))
        for first, second in zip((signatures >> 16).tolist(), (signatures & 0xFFFF).tolist(), strict=True)
    }
    types, affinities = mj.geom_contype.tolist(), mj.geom_conaffinity.tolist()

    def geoms(a: Shape, b: Shape) -> tuple[int, int] | None:
        """The numbers of two shapes that are geoms of the file and no pair of it."""
        if a.name not in number or b.name not in number:
            return None
        found = number[a.name], number[b.name]
        return None if frozenset(found) in paired else found

    of_bodies = _of_bodies(lambda a, b: frozenset((a, b)) in excluded, own)

    def excludes(a: Shape, b: Shape) -> bool:
        are_both_geoms = a.name in number and b.name in number
        return of_bodies(a, b) and (not are_both_geoms or geoms(a, b) is not None)

    def masks(a: Shape, b: Shape) -> bool:
        found = geoms(a, b)
        if found is None:
            return False
        i, j = found
        return not (types[i] & affinities[j] or types[j] & affinities[i])

    by_masks = Apart(f"contype and conaffinity of {path.name}", masks)
    return (Apart(f"exclude of {path.name}", excludes), by_masks) if excluded else (by_masks,)


def _of_bodies(has: Callable[[str, str], bool], own: set[str]) -> Callable[[Shape, Shape], bool]:
    """A rule by bodies; of shapes of the world it means only those of the robot."""

    def keeps(a: Shape, b: Shape) -> bool:
        strange = any(shape.body == WORLD and shape.name not in own for shape in (a, b))
        return not strange and has(a.body, b.body)

    return keeps
