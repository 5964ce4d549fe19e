"""The masses of a tree must say how it accelerates: its mass matrix is regular nearly everywhere."""

from __future__ import annotations

import random

import numpy as np

from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import mass_matrix
from hapticsim.errors import ConfigError, listed
from hapticsim.model.moving import MovingTree

SINGULAR = 1e-13  # smallest eigenvalue of M scaled to unit diagonal
TRIES = 3  # places, so that one that happens to be singular does not speak for all
SEEN = 1e-3  # part of a joint in what has no inertia, of the largest part


def check_determined(tree: MovingTree) -> None:
    """Refuse joints in a row that move masses the same way, wherever they stand.

    Only a body without mass or inertia, whose joint has no armature, leaves its joint to the others.

    Raises
    ------
    ConfigError : which joints.
    """
    if not any(_is_bare(tree, i) for i in range(len(tree.bodies))):
        return
    dice = random.Random(4)
    fault: list[str] = []
    for _ in range(TRIES):
        fault = _undetermined(tree, dice)
        if not fault:
            return
    if len(fault) == 1:
        raise ConfigError(
            tree.name,
            f"joint {fault[0]!r}",
            "moves nothing that resists it (the mass matrix is singular): give what it moves an inertia, or "
            "the joint an armature, or make it fixed.",
        )
    raise ConfigError(
        tree.name,
        f"joints {listed(fault)}",
        "move what has mass in the same way (the mass matrix is singular): remove one, or give a body "
        "between them mass, or one of them an armature.",
    )


def _is_bare(tree: MovingTree, i: int) -> bool:
    body = tree.bodies[i]
    return body.joint.armature == 0.0 and (body.mass == 0.0 or not body.central_inertia.any())


def _undetermined(tree: MovingTree, dice: random.Random) -> list[str]:
    """Names of the joints along which there is no inertia at some place; none where M is regular."""
    q = [dice.uniform(0.3, 1.2) for _ in range(tree.nq)]
    for first in tree.quaternions:
        part = slice(first, first + 4)
        q[part] = (np.array(q[part]) / np.linalg.norm(q[part])).tolist()
    M = np.array(mass_matrix(Linkage(tree, q)), float)
    size = np.sqrt(np.diag(M).clip(1e-300))
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] > SINGULAR:
        return []
    share = np.abs(vectors[:, 0])
    names = [body.joint.name for body in tree.bodies for _ in range(body.joint.nu)]
    return list(dict.fromkeys(n for n, s in zip(names, share, strict=True) if s > SEEN * share.max()))
