"""Welds that are closed with their frames turned against each other.

The three rows for the turn of a weld say that axis x of one frame is square to y of the other, y to z and z
to x.  That also holds after a turn of 180 degrees about an axis of the frame, and of 120 about (1, 1, 1).
"""

from __future__ import annotations

import math
from collections.abc import Container

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import ANGLE_ROW
from hapticsim.errors import ConfigError
from hapticsim.model.constraints import Constraint
from hapticsim.model.multibody.joint import WORLD

FURTHEST = 0.5  # rad; the next turn at which the rows are closed is 2.1


def refuse_twisted(assembly: Assembly, q: np.ndarray, held: Container[str], path: str, key: str) -> None:
    """Refuse coordinates (nq,) at which a weld that holds has its frames turned by more than FURTHEST.

    held : names of the constraints that hold.

    Raises
    ------
    ConfigError : which weld, and by how much.
    """
    for constraint in assembly.scene.constraints:
        turned = _turned(assembly, constraint, q) if constraint.name in held else 0.0
        if turned > FURTHEST:
            raise ConfigError(
                path,
                key,
                f"turns the frames of {constraint.name!r} by {math.degrees(turned):.0f} degrees against each "
                "other, and a weld holds them at 0: start nearer.",
            )


def _turned(assembly: Assembly, constraint: Constraint, q: np.ndarray) -> float:
    """[rad] between the frames of a weld at q, 0 for all other constraints."""
    rows = [row for row in constraint.rows if row.kind == ANGLE_ROW]
    if len(rows) != 3:
        return 0.0
    R_WA, R_WB = (
        np.eye(3) if body == WORLD else assembly.equations.body_pose(body, q).rotation
        for body in (rows[0].a, rows[0].b)
    )
    a = [R_WA @ row.direction_a for row in rows]  # x, y, z
    b = [R_WB @ rows[k].direction_b for k in (2, 0, 1)]  # of the rows they are y, z, x
    trace = sum(float(x @ y) for x, y in zip(a, b, strict=True))
    return math.acos(min(1.0, max(-1.0, 0.5 * (trace - 1.0))))
