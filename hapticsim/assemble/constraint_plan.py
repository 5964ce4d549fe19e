"""The constraints of a scene as arrays of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hapticsim.model.candidates import Candidate
from hapticsim.model.constraints import Row
from hapticsim.model.scene import Scene


def constraint_arrays(
    scene: Scene, place: Mapping[str, int], candidates: Sequence[Candidate], rows_function: int = 0
) -> dict[str, Any]:
    """Return the fields of ``Plan`` that are about constraints.

    place : index of the frame of every body, -1 for the world.
    rows_function : address of the mechanism's own equations, 0 without any.
    """
    model, constraints = scene.model, scene.constraints
    rows = [row for c in constraints for row in c.rows]
    nb, nc = len(rows), len(constraints)
    start = np.cumsum([0, *(len(c.rows) for c in constraints)])
    index = {c.name: i for i, c in enumerate(constraints)}
    row_q, row_u = np.zeros((nb, model.nq)), np.zeros((nb, model.nu))
    for k, row in enumerate(rows):
        for joint, factor in row.joints:
            row_q[k, model.q_slice(joint)] = factor
            row_u[k, model.u_slice(joint)] = factor

    def vectors(name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows], float).reshape(nb, 3)

    def numbers(values: Sequence[Any] | np.ndarray, kind: Any = float) -> np.ndarray:
        return np.array(values, kind)

    touch = [_engaged(scene, c) for c in candidates]
    frictions = [c.friction for c in constraints]
    return {
        "touch_engages": numbers(touch, np.int64),
        "constraint_start": numbers(start, np.int64),
        "row_kind": numbers([row.kind for row in rows], np.int64),
        "row_a": numbers([place[row.a] for row in rows], np.int64),
        "row_b": numbers([place[row.b] for row in rows], np.int64),
        "row_point_a": vectors("point_a"),
        "row_point_b": vectors("point_b"),
        "row_direction_a": vectors("direction_a"),
        "row_direction_b": vectors("direction_b"),
        "row_length": numbers([row.length for row in rows]),
        "row_q": row_q,
        "row_u": row_u,
        "row_drive": np.array([row.drive for row in rows], float).reshape(nb, 4),
        "row_equation": numbers([row.equation for row in rows], np.int64),
        **_curve_arrays(rows),
        "row_latch": numbers([int(row.latch) for row in rows], np.int64),
        "rows_function": rows_function,
        "static_friction": numbers([f.static if f else np.inf for f in frictions]),
        "kinetic_friction": numbers([f.kinetic if f else 0.0 for f in frictions]),
        "friction_load": numbers([f.load if f else 0.0 for f in frictions]),
        "friction_normal": numbers(
            [index[f.normal] if f and f.normal is not None else -1 for f in frictions], np.int64
        ).reshape(nc),
    }


def _curve_arrays(rows: Sequence[Row]) -> dict[str, np.ndarray]:
    """The fields about curves, each curve once."""
    curves = list({id(row.curve): row.curve for row in rows if row.curve is not None}.values())
    index = {id(curve): i for i, curve in enumerate(curves)}
    return {
        "row_curve": np.array([index.get(id(row.curve), -1) for row in rows], np.int64),
        "curve_start": np.cumsum([0, *(len(curve.cell) for curve in curves)]).astype(np.int64),
        "curve_closed": np.array([int(curve.closed) for curve in curves], np.int64),
        "curve_cell": np.concatenate([np.zeros((0, 31)), *(curve.cell for curve in curves)]),
        "curve_chord": np.concatenate([np.zeros((0, 9)), *(curve.chord for curve in curves)]),
    }


def row_offsets(rows: Sequence[Row]) -> np.ndarray:
    """(nb,) displacement at which the gap of each row is zero, at the start."""
    return np.array([row.offset for row in rows], float)


def _engaged(scene: Scene, candidate: Candidate) -> int:
    """Constraint that the touch of a candidate switches on, -1 for none."""
    for i, constraint in enumerate(scene.constraints):
        if constraint.touch is not None and set(constraint.touch) == {candidate.a, candidate.b}:
            return i
    return -1
