"""Which kinematic trees there are, which of them frames and rows are about, and which may fall asleep, as
arrays of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hapticsim.codes import EQUATION_ROW, SPEEDS_ROW
from hapticsim.model.constraints import Row
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import Scene
from hapticsim.model.stops import frame_of

SMALL = 1e-3  # [m] a body that reaches less far turns as slowly as one that reaches so far


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
    tree |= {
        frame_of(j.name): int(number[of_speed[model.u_slice(j.name).start]]) for j in model.moving_joints
    }

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
        **_roots(model, starts[:-1]),
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


def _roots(model: SceneModel, first: np.ndarray) -> dict[str, np.ndarray]:
    """The fields of ``Plan`` about the joint that the first speed of each tree (nt,) belongs to."""
    vectors, place = np.zeros(first.size, np.int64), np.full(first.size, -1, np.int64)
    for joint in model.moving_joints:
        t = np.searchsorted(first, model.u_slice(joint.name).start)
        if joint.quaternion is not None and t < first.size and first[t] == model.u_slice(joint.name).start:
            vectors[t] = joint.nu // 3
            place[t] = model.q_slice(joint.name).start + joint.quaternion
    return {"root_vectors": vectors, "root_quaternion": place}


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


def plan_of_sleep(
    scene: Scene, frames: Sequence[str], sizes: np.ndarray, trees: Mapping[str, Any], switches: np.ndarray
) -> dict[str, Any]:
    """Return the fields ``rest_...`` of the plan.

    sizes : (nf,) [m] how far the shapes on each frame's body reach from its origin.
    trees : what ``tree_table`` returned.
    switches : (nk,) block that the touch of each candidate switches on, or -1.

    A tree that is driven may not sleep: by a torque law, by the hand, by a constraint or what switches one.
    """
    model, sleep, rest = scene.model, scene.sleep, np.zeros(scene.model.nu)
    if sleep is None:
        return {"rest_ticks": 0, "rest_speed": rest}
    of_speed, reach = trees["tree_of_speed"], np.zeros(trees["tree_first"].size)
    laws = {law.joint for law in scene.torque_laws}
    driven = {-1}
    for rows in (trees["row_tree_a"], trees["row_tree_b"]):
        driven.update(rows[: switches.size][switches >= 0].tolist())
        driven.update(rows[switches.size :].tolist())  # of constraints
    for frame, first, end, size in zip(frames, trees["frame_first"], trees["frame_end"], sizes, strict=True):
        if end > first:
            reach[of_speed[first]] = max(reach[of_speed[first]], size)
            if scene.handle is not None and frame == scene.handle.body:
                driven.add(int(of_speed[first]))
    for joint in model.moving_joints:
        start = model.u_slice(joint.name).start
        driven |= {int(of_speed[start])} if joint.name in laws else set()
        away = max(float(reach[of_speed[start]]), SMALL)
        for i in range(joint.nu):
            turns = joint.unit == "rad" or (joint.quaternion is not None and i < 3)
            either = joint.unit is None and joint.quaternion is None
            rest[start + i] = sleep.speed_m_per_s / (away if turns else max(1.0, away) if either else 1.0)
    rest[np.isin(of_speed, list(driven))] = 0.0
    return {"rest_ticks": max(1, round(sleep.after_s / scene.tick_s)), "rest_speed": rest}
