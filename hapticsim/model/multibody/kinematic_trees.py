"""Kinematic trees of a model: speeds of different trees never meet in the mass matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hapticsim.model.multibody.joint import WORLD, Joint


def find_kinematic_trees(joints: Sequence[Joint]) -> tuple[np.ndarray, dict[str, int]]:
    """Return the tree of each speed, (nu,) int, and of each body; -1 for the world and what is fixed to it.

    joints : parents first.

    Trees hang on the world alone.  They are numbered in the order of their speeds, which stand side by side:
    trees whose speeds are mixed count as one, and so do two of which a joint of one follows a joint of the
    other.
    """
    starts = dict(
        zip((j.name for j in joints), np.cumsum([0, *(j.nu for j in joints)]).tolist(), strict=False)
    )
    counts = {j.name: j.nu for j in joints}
    root = {WORLD: WORLD}  # of each body: the first body of its tree that moves
    spans: dict[str, tuple[int, int]] = {}  # of each root: the speeds of its tree, from first to end
    for joint in joints:
        over = root[joint.parent]
        root[joint.child] = joint.child if over == WORLD and joint.kind != "fixed" else over
        if joint.kind != "fixed":
            moves = joint.mimic.joint if joint.mimic else joint.name
            first, end = starts[moves], starts[moves] + counts[moves]
            least, most = spans.get(root[joint.child], (first, end))
            spans[root[joint.child]] = min(least, first), max(most, end)
    tree_of_root, trees, reached = {WORLD: -1}, -1, 0
    for name, (first, end) in sorted(spans.items(), key=lambda item: item[1]):
        trees += int(first >= reached)
        tree_of_root[name], reached = trees, max(reached, end)
    of_speed = np.zeros(sum(counts.values()), np.int64)
    for name, (first, end) in spans.items():
        of_speed[first:end] = tree_of_root[name]
    return of_speed, {body: tree_of_root[of_it] for body, of_it in root.items()}
