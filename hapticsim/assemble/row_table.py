"""The blocks of a scene and their rows as arrays of the plan: contact candidates first, then constraints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hapticsim.codes import CONTACT_ROW, CURVE_ROW, EQUATION_ROW, ONE_SIDED, RUBBING, SPEEDS_ROW, TWO_SIDED
from hapticsim.errors import ConfigError
from hapticsim.model.candidates import Candidate
from hapticsim.model.constraints import Row
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import EXACT, TIME_STEPPING, Scene


def row_table(
    scene: Scene, place: Mapping[str, int], candidates: Sequence[Candidate], rows_function: int = 0
) -> dict[str, Any]:
    """Return the fields of ``Plan`` that are about blocks and rows.

    place : index of the frame of every body, -1 for the world.
    rows_function : address of the mechanism's own equations, 0 without any.

    Raises
    ------
    ConfigError : constraints that hold at the start have more rows than can be imposed at once, or one with
        friction has not one row.
    """
    _refuse_too_many(scene)
    constraints, nk = scene.constraints, len(candidates)
    rows = rows_of_blocks(scene, candidates)
    sizes = [1] * nk + [len(c.rows) for c in constraints]
    frictions = [None] * nk + [c.friction for c in constraints]
    block = {c.name: nk + i for i, c in enumerate(constraints)}
    laws = [ONE_SIDED] * nk + [RUBBING if c.friction else TWO_SIDED for c in constraints]

    def vectors(name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in rows], float).reshape(len(rows), 3)

    def whole(values: Sequence[Any]) -> np.ndarray:
        return np.array(values, np.int64)

    return {
        "contacts": nk,
        "block_start": whole([0, *np.cumsum(sizes)]),
        "block_law": whole(laws),
        "bounded": int(any(f is not None and f.bounded for f in frictions)),
        "block_bounded": whole([int(f is not None and f.bounded) for f in frictions]),
        "static_friction": np.array([f.static if f else np.inf for f in frictions], float),
        "kinetic_friction": np.array([f.kinetic if f else 0.0 for f in frictions], float),
        "friction_load": np.array([f.load if f else 0.0 for f in frictions], float),
        "friction_normal": whole([block[f.normal] if f and f.normal is not None else -1 for f in frictions]),
        "touch_activates": whole([_activated(scene, c, block) for c in candidates]),
        "row_kind": whole([row.kind for row in rows]),
        "row_block": np.repeat(np.arange(len(sizes)), sizes).astype(np.int64),
        "row_a": whole([place[row.a] for row in rows]),
        "row_b": whole([place[row.b] for row in rows]),
        "row_point_a": vectors("point_a"),
        "row_point_b": vectors("point_b"),
        "row_direction_a": vectors("direction_a"),
        "row_direction_b": vectors("direction_b"),
        "row_length": np.array([row.length for row in rows], float),
        "row_drive": np.array([row.drive for row in rows], float).reshape(len(rows), 4),
        "row_latch": whole([int(row.latch) for row in rows]),
        **_items(rows, scene.model),
        "rows_function": rows_function,
    }


def _refuse_too_many(scene: Scene) -> None:
    rows = sum(len(c.rows) for c in scene.constraints if c.held)
    if rows > scene.max_rows:
        raise ConfigError(
            scene.path,
            "constraints",
            f"hold {rows} rows at the start, and {scene.max_rows} can be imposed at once: raise 'max_rows', "
            "or write 'held: false' for one that need not hold at the start.",
        )
    if scene.constraints and scene.contact_regime == TIME_STEPPING:
        raise ConfigError(
            scene.path,
            "contact_regime",
            f"is {TIME_STEPPING!r}, which has no constraints yet, and the scene has constraint "
            f"{scene.constraints[0].name!r}: write {EXACT!r}, or take the constraints out.",
        )
    if scene.rubs_rigidly and scene.constraints:
        pair = next(p for p in scene.contacts if p.friction > 0.0 and p.compliance is None)
        raise ConfigError(
            scene.path,
            "contacts",
            f"[{pair.a}, {pair.b}] has friction {pair.friction:g}, and the scene has constraint "
            f"{scene.constraints[0].name!r}: both are not there together yet; leave 'friction' out, or the "
            "constraints.",
        )
    for c in scene.constraints:
        if c.friction and len(c.rows) != 1:
            raise ConfigError(
                scene.path,
                f"constraint {c.name!r}",
                f"has friction and {len(c.rows)} rows: friction is of one row; split it, or leave it out.",
            )


def rows_of_blocks(scene: Scene, candidates: Sequence[Candidate]) -> list[Row]:
    """Return all rows in the order of the table."""
    contacts = [
        Row(CONTACT_ROW, c.sphere_body, c.surface_body, c.centre_B, length=c.radius) for c in candidates
    ]
    return contacts + [row for c in scene.constraints for row in c.rows]


def _items(rows: Sequence[Row], model: SceneModel) -> dict[str, np.ndarray]:
    """What rows of some kinds have beside: factors of speeds, curves (each once), equations."""
    curves = list({id(row.curve): row.curve for row in rows if row.curve is not None}.values())
    index = {id(curve): i for i, curve in enumerate(curves)}
    factors = [row for row in rows if row.kind == SPEEDS_ROW]
    factor_q, factor_u = np.zeros((len(factors), model.nq)), np.zeros((len(factors), model.nu))
    for i, row in enumerate(factors):
        for joint, factor in row.joints:
            factor_q[i, model.q_slice(joint)] = factor
            factor_u[i, model.u_slice(joint)] = factor
    line = {id(row): i for i, row in enumerate(factors)}
    item = {
        EQUATION_ROW: lambda row: row.equation,
        CURVE_ROW: lambda row: index[id(row.curve)],
        SPEEDS_ROW: lambda row: line[id(row)],
    }
    return {
        "row_item": np.array([item[row.kind](row) if row.kind in item else -1 for row in rows], np.int64),
        "factor_q": factor_q,
        "factor_u": factor_u,
        "curve_start": np.cumsum([0, *(len(curve.cell) for curve in curves)]).astype(np.int64),
        "curve_closed": np.array([int(curve.closed) for curve in curves], np.int64),
        "curve_cell": np.concatenate([np.zeros((0, 31)), *(curve.cell for curve in curves)]),
        "curve_chord": np.concatenate([np.zeros((0, 9)), *(curve.chord for curve in curves)]),
    }


def _activated(scene: Scene, candidate: Candidate, block: Mapping[str, int]) -> int:
    """Block of the constraint that the touch of a candidate switches on, -1 for none."""
    for constraint in scene.constraints:
        if constraint.touch is not None and set(constraint.touch) == {candidate.a, candidate.b}:
            return block[constraint.name]
    return -1
