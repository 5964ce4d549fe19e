"""Kinematic trees against a naive partition of the speeds, on random forests with followers."""

from __future__ import annotations

import numpy as np

from hapticsim.model.multibody.joint import WORLD, Joint, Mimic
from hapticsim.model.multibody.kinematic_trees import find_kinematic_trees

KINDS = ("fixed", "revolute", "prismatic", "planar", "free", "ball")


def random_joints(rng: np.random.Generator) -> list[Joint]:
    """Joints, parents first, of which some follow one with a single coordinate."""
    joints: list[Joint] = []
    for i in range(int(rng.integers(1, 12))):
        kind = str(rng.choice(KINDS))
        parent = WORLD if i == 0 or rng.random() < 0.4 else f"b{rng.integers(i)}"
        leaders = [j.name for j in joints if j.nu == 1]
        follows = kind in ("revolute", "prismatic") and leaders and rng.random() < 0.3
        mimic = Mimic(str(rng.choice(leaders)), 0.5, 0.0) if follows else None
        joints.append(Joint(f"j{i}", kind, parent, f"b{i}", mimic=mimic))
    return joints


def paths_of(joints: list[Joint]) -> list[list[int]]:
    """The speeds that move each body."""
    start, speeds, paths = 0, {}, {WORLD: []}
    for joint in joints:
        speeds[joint.name] = list(range(start, start + joint.nu))
        start += joint.nu
        own = speeds[joint.mimic.joint] if joint.mimic else speeds[joint.name]
        paths[joint.child] = paths[joint.parent] + own
    return [paths[joint.child] for joint in joints]


def naive_parts(paths: list[list[int]], nu: int) -> list[set[int]]:
    """Speeds that move a common body, and speeds between those of a part, are of one part."""
    parts = [{r} for r in range(nu)]
    while True:
        for path in paths:
            met = [p for p in parts if p & set(path)]
            if len(met) > 1:
                parts = [p for p in parts if p not in met] + [set().union(*met)]
        mixed = [(p, q) for p in parts for q in parts if p is not q and min(p) < min(q) < max(p)]
        if not mixed:
            return sorted(parts, key=min)
        p, q = mixed[0]
        parts = [x for x in parts if x is not p and x is not q] + [p | q]


def test_trees_are_the_parts_of_the_mass_matrix_that_stand_side_by_side():
    rng, several, none = np.random.default_rng(0), 0, 0
    for _ in range(400):
        joints = random_joints(rng)
        of_speed, of_body = find_kinematic_trees(joints)
        paths = paths_of(joints)
        expected = naive_parts(paths, len(of_speed))
        assert [set(np.flatnonzero(of_speed == t).tolist()) for t in range(len(expected))] == expected
        assert of_speed.max(initial=-1) == len(expected) - 1
        for joint, path in zip(joints, paths, strict=True):
            assert of_body[joint.child] == (of_speed[path[0]] if path else -1)
        several += len(expected) > 1
        none += len(expected) == 0
    assert several > 100 and none > 0
