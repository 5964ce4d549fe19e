"""Which kinematic trees there are, and which of them frames and rows are about, as arrays of the plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hapticsim.codes import EQUATION_ROW, SPEEDS_ROW
from hapticsim.model.constraints import Row
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.protocol import SceneModel


def tree_table(model: SceneModel, frames: Sequence[str], rows: Sequence[Row]) -> dict[str, Any]:
    """Return the fields of ``Plan`` that are about trees.

    frames : names of the bodies whose motion the tick has.
    rows : of all blocks, in the order of the table.

    A row that couples speeds of several trees, as a gear does, makes these and all between them one.
    """
    of_speed, of_body = model.kinematic_trees()
    start = np.flatnonzero(np.diff(of_speed, prepend=-1))
    merged = np.arange(start.size)
    coupled = {id(row): _coupled(model, of_speed, row) for row in rows if row.kind == SPEEDS_ROW}
    for first, last in coupled.values():
        merged[(merged >= merged[first]) & (merged <= merged[last])] = merged[first]
    kept, number = np.unique(merged, return_inverse=True)
    tree = {name: int(number[t]) if t >= 0 else -1 for name, t in of_body.items()} | {WORLD: -1}

    def trees_of(row: Row) -> tuple[int, int]:
        if row.kind == EQUATION_ROW:
            return 0, -1  # of a mechanism, which is one tree
        if row.kind == SPEEDS_ROW:
            return int(number[coupled[id(row)][0]]), -1
        return tree[row.a], tree[row.b]

    pairs = np.array([trees_of(row) for row in rows], np.int64).reshape(-1, 2)
    starts = np.append(start[kept], of_speed.size).astype(np.int64)
    spans = [[starts[[t, t + 1]] for t in pair if t >= 0] for pair in pairs]
    of_frame = np.array([tree[name] for name in frames], np.int64)
    return {
        "tree_first": starts[:-1],
        "tree_end": starts[1:],
        "tree_of_coordinate": _of_coordinates(model, of_speed, number),
        "largest_tree": int(np.diff(starts).max(initial=0)),
        "tree_of_speed": np.repeat(np.arange(kept.size), np.diff(starts)).astype(np.int64),
        "frame_first": np.where(of_frame >= 0, starts[of_frame], 0).astype(np.int64),
        "frame_end": np.where(of_frame >= 0, starts[of_frame + 1], 0).astype(np.int64),
        "row_first": np.array([min((s[0] for s in span), default=0) for span in spans], np.int64),
        "row_end": np.array([max((s[1] for s in span), default=0) for span in spans], np.int64),
        "row_tree_a": np.ascontiguousarray(pairs[:, 0]),
        "row_tree_b": np.ascontiguousarray(pairs[:, 1]),
    }


def _of_coordinates(model: SceneModel, of_speed: np.ndarray, number: np.ndarray) -> np.ndarray:
    """(nq,) int, the tree of each coordinate; in one tree also of what no speed is the rate of."""
    found = np.full(model.nq, 0 if number.max(initial=0) == 0 else -1, np.int64)
    for joint in model.moving_joints:
        found[model.q_slice(joint.name)] = number[of_speed[model.u_slice(joint.name).start]]
    return found


def _coupled(model: SceneModel, of_speed: np.ndarray, row: Row) -> tuple[int, int]:
    """The first and the last tree whose speeds a row couples."""
    trees = [int(of_speed[model.u_slice(joint).start]) for joint, _ in row.joints]
    return min(trees), max(trees)
