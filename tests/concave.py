"""Concave meshes and the solids that touch for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from hapticsim.config.decomposition.solids import solids_of
from hapticsim.config.schema.robot import Decompose
from hapticsim.model.joined.piece import Piece
from hapticsim.model.scene import Scene
from hapticsim.model.triangle_mesh import TriangleMesh
from tools.mesh_scenes import prism

U_PROFILE = [(-0.1, 0), (0.1, 0), (0.1, 0.12), (0.06, 0.12), (0.06, 0.04), (-0.06, 0.04), (-0.06, 0.12)]
U_PROFILE += [(-0.1, 0.12)]
U_FLAT = [(0, 1, 4), (1, 3, 4), (1, 2, 3), (0, 4, 5), (0, 5, 6), (0, 6, 7)]


def bracket_u() -> TriangleMesh:
    """A U of 0.2 m by 0.12 m with walls of 40 mm, along y; its hollow is 0.12 m wide and opens upwards."""
    return prism(U_PROFILE, U_FLAT, 0.06)


def bracket_l() -> TriangleMesh:
    """An L of 0.2 m by 0.16 m with walls of 40 mm, along y."""
    profile = [(-0.1, 0), (0.1, 0), (0.1, 0.04), (-0.06, 0.04), (-0.06, 0.16), (-0.1, 0.16)]
    return prism(profile, [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)], 0.05)


def cross(x: float, y: float) -> TriangleMesh:
    """A flat cross with arms along x (half width y) and y (half width x), to 0.3 m, 60 mm thick."""
    profile = [(-0.3, -y), (-x, -y), (-x, -0.3), (x, -0.3), (x, -y), (0.3, -y)]
    profile += [(-a, -b) for a, b in profile]
    flat = [(0, 1, 10), (0, 10, 11), (1, 4, 7), (1, 7, 10), (4, 5, 6), (4, 6, 7)]
    flat += [(1, 2, 3), (1, 3, 4), (10, 7, 8), (10, 8, 9)]
    upright = prism(profile, flat, 0.03)
    turn = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
    return TriangleMesh(upright.vertices @ turn.T, upright.triangles)


SHAPES = {
    "U": bracket_u,
    "L": bracket_l,
    "cross": lambda: cross(0.1, 0.1),
    "wry cross": lambda: cross(0.08, 0.05),
}


@cache
def decomposed(name: str, concavity: float = 0.05) -> tuple[TriangleMesh, tuple[Piece, ...]]:
    """One of SHAPES, and its solids."""
    mesh = SHAPES[name]()
    return mesh, solids_of(Path(name), "", mesh, Decompose(concavity=concavity), [])


def with_solids(scene: Scene, names: Sequence[str], found: tuple[TriangleMesh, tuple[Piece, ...]]) -> Scene:
    """The scene with this decomposed mesh for the shapes of these names."""
    mesh, solids = found
    return replace(
        scene,
        max_rows=128,
        shapes=tuple(
            replace(s, kind="mesh", mesh=mesh, solids=solids) if s.name in names else s for s in scene.shapes
        ),
    )
