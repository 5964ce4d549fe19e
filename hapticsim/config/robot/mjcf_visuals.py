"""What an MJCF file shows of a robot, as shapes that are drawn and never touched.

As MuJoCo's viewer: geoms of the groups 0, 1 and 2 that are not wholly transparent.  Files keep geoms to touch
in group 3, out of sight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hapticsim.config.robot.mjcf_shapes import (
    HEIGHT_FIELD,
    MESH,
    height_field_of,
    shape_of_geom,
    triangles_of,
)
from hapticsim.config.robot.visuals import MOST, MOST_TRIANGLES
from hapticsim.model.mjcf.read import MjcfRobot
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import Surface

LAST_SHOWN = 2  # group of geoms
ALPHA = 3  # place in rgba


def mjcf_visuals(
    path: Path, robot: MjcfRobot, shapes: Sequence[Shape], notes: list[str]
) -> tuple[list[Shape], list[Shape]]:
    """Return a shape for each geom that is shown and is none of ``shapes``, and these.

    A shape of a geom that is not shown is not drawn where its body has another to show.

    path : of the file, for sentences.
    shapes : the robot's, by the names of their geoms.
    notes : gets a sentence on geoms that are not drawn.
    """
    mj, names = robot.mj, robot.names
    is_shown = (np.asarray(mj.geom_group) <= LAST_SHOWN) & (mj.geom_rgba[:, ALPHA] > 0.0)
    touched = {shape.name for shape in shapes}
    visuals: list[Shape] = []
    left_out: list[str] = []
    read: dict[int, Surface] = {}
    for g in np.flatnonzero(is_shown).tolist():
        name, surface = names.geoms[g], None
        if name in touched:
            continue
        if mj.geom_type[g] == MESH:
            surface = _surface(robot, int(mj.geom_dataid[g]), read)
        if mj.geom_type[g] == HEIGHT_FIELD:
            field = height_field_of(path, mj, g, name)
            surface = Surface(field.vertices, field.triangles)
        visual = shape_of_geom(robot, g, f"{name}:visual", surface)
        if visual is None or len(visuals) == MOST:
            left_out.append(name)
        else:
            visuals.append(visual)
    if left_out:
        geoms = f"{len(left_out)} geoms are" if len(left_out) > 1 else "a geom is"
        notes.append(
            f"{geoms} not drawn, as {left_out[0]!r}: of a kind that is not offered, or beyond {MOST} geoms "
            f"and {MOST_TRIANGLES} triangles."
        )
    shown = {names.geoms[g] for g in np.flatnonzero(is_shown)}
    seen = {visual.body for visual in visuals} | {shape.body for shape in shapes if shape.name in shown}
    drawn = [replace(s, is_drawn=s.name in shown or s.body not in seen) for s in shapes]
    return visuals, drawn


def _surface(robot: MjcfRobot, number: int, read: dict[int, Surface]) -> Surface | None:
    """The surface of a mesh, or None where all together would have too many triangles."""
    if number not in read:
        surface = Surface(*triangles_of(robot.mj, number))
        if len(surface.triangles) + sum(len(one.triangles) for one in read.values()) > MOST_TRIANGLES:
            return None
        read[number] = surface
    return read[number]
