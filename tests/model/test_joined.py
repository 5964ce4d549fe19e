"""What shows of convex solids that are joined: against plain looking, point by point."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

from hapticsim.config.decomposition.solids import joined_pieces
from hapticsim.kernels.memory.arrays import HULL
from hapticsim.model.joined.piece import Piece
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.mesh_files import CUBE, CUBE_TRIANGLES
from tools.mesh_scenes import mesh_of

STEP = 1e-3  # of 1 m: far beyond what counts as flush, far less than the solids
AWAY = 5e-3  # [m] from borders, where looking by steps may say either


def blocks(seed: int) -> tuple[Piece, ...]:
    """Two to five cuboids that abut, overlap or stand apart, on a grid of 1/4 m, all turned alike."""
    rng = np.random.default_rng(seed)
    turn = Rotation.random(rng=rng).as_matrix() if seed % 2 else np.eye(3)
    found = []
    for _ in range(int(rng.integers(2, 6))):
        low = rng.integers(0, 3, 3) / 4.0
        high = low + rng.integers(1, 3, 3) / 4.0
        found.append(TriangleMesh((low + CUBE * (high - low)) @ turn.T, CUBE_TRIANGLES))
    return joined_pieces(found)


def inside(pieces: tuple[Piece, ...], points: np.ndarray, margin: float = 0.0) -> np.ndarray:
    """Which points (n, 3) are in any of the solids, so far below its planes at least."""
    planes = [piece.hull.planes for piece in pieces]
    return np.any([np.all(points @ n[:, :3].T - n[:, 3] < -margin, axis=1) for n in planes], axis=0)


def beside_borders(piece: Piece, at: np.ndarray, others: tuple[Piece, ...]) -> bool:
    """Whether a point on a solid is near a plane of another that it is not in."""
    return any(
        np.any(np.abs(other.hull.planes[:, :3] @ at - other.hull.planes[:, 3]) < AWAY) for other in others
    )


@pytest.mark.parametrize("seed", range(20))
def test_a_face_is_touched_where_nothing_lies_beyond_it(seed):
    pieces, rng, looked = blocks(seed), np.random.default_rng(seed), 0
    for piece in pieces:
        others = tuple(other for other in pieces if other is not piece)
        for face, plane in zip(piece.hull.faces, piece.hull.planes, strict=True):
            corners = piece.hull.vertices[list(face)]
            shares = rng.dirichlet(np.ones(len(corners)), 60)
            for at in shares @ corners:
                planes = [o.hull.planes for o in others]
                near = [np.abs(n[:, :3] @ at - n[:, 3]) for n in planes]
                across = [np.abs(n[:, :3] @ plane[:3]) < 0.5 for n in planes]
                if any(np.any(d[c] < AWAY) for d, c in zip(near, across, strict=True)):
                    continue
                hidden = inside(others, (at + STEP * plane[:3])[None])[0]
                touched = any(
                    np.allclose(p, plane) and np.all(border[:, :3] @ at - border[:, 3] < 0.0)
                    for p, border in zip(piece.features.planes, piece.features.borders, strict=True)
                )
                looked += 1
                assert touched != hidden
    assert looked > 300


def is_on(line: np.ndarray, point: np.ndarray) -> bool:
    """Whether a point is where a row (14,) of lines is touched."""
    along = (point - line[:3]) @ line[3:6]
    return bool(np.linalg.norm(point - line[:3] - along * line[3:6]) < 1e-6 and abs(along) < line[13])


@pytest.mark.parametrize("seed", range(20))
def test_an_edge_is_touched_where_all_solids_together_have_one(seed):
    """A ring around a point of it: the directions that lead into a solid are one arc of less than a half."""
    pieces, looked = blocks(seed), 0
    for piece in pieces:
        others = tuple(other for other in pieces if other is not piece)
        for line in piece.hull.edge_lines:
            x = line[7:10] + line[10:13]
            x /= np.linalg.norm(x)
            y = np.cross(line[3:6], x)
            angles = np.arange(0.5, 360.0) * np.pi / 180.0
            ring = STEP * (np.cos(angles)[:, None] * x + np.sin(angles)[:, None] * y)
            for t in np.linspace(-0.95, 0.95, 12) * line[6]:
                at = line[:3] + t * line[3:6]
                along = [np.abs(o.hull.planes[:, :3] @ line[3:6]) > 0.5 for o in others]
                near = [np.abs(o.hull.planes[:, :3] @ at - o.hull.planes[:, 3]) for o in others]
                if any(np.any(d[c] < AWAY) for d, c in zip(near, along, strict=True)):
                    continue
                solid = inside(pieces, at + ring)
                arcs = int(np.sum(solid & ~np.roll(solid, 1)))
                convex = arcs == 1 and solid.sum() < 175
                rows = [r for r in piece.features.lines if is_on(r, at)]
                looked += 1
                if arcs <= 1:  # with two the solids meet in a line, and each keeps its edge
                    assert bool(rows) == convex
                for row in rows if arcs <= 1 else ():
                    between = np.degrees(np.arccos(np.clip(row[7:10] @ row[10:13], -1.0, 1.0)))
                    assert abs(between - solid.sum()) < 1.5
    assert looked > 100


@pytest.mark.parametrize("seed", range(10))
def test_a_vertex_opens_upwards_only_if_all_solids_that_hold_it_do(seed):
    pieces, rng = blocks(seed), np.random.default_rng(seed)
    directions = rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    ball = rng.normal(size=(4000, 3))
    ball *= STEP / np.linalg.norm(ball, axis=1, keepdims=True)
    for piece, i in itertools.product(pieces, range(8)):
        at = piece.hull.vertices[i]
        ways = ball[inside(pieces, at + ball)]
        points = [piece.hull.vertices[piece.features.rings[i]], piece.features.held[i]]
        edges = np.concatenate(points) - at
        lengths = np.linalg.norm(edges, axis=1)
        edges = edges[lengths > 1e-9] / lengths[lengths > 1e-9, None]
        by_edges, by_looking = (edges @ directions.T).min(axis=0), (ways @ directions.T).min(axis=0) / STEP
        clear = np.abs(by_edges) > 0.15  # the sampled cone is a little narrower
        assert np.array_equal(by_edges[clear] > 0.0, by_looking[clear] > -0.02)


def test_a_solid_alone_touches_with_all_it_has():
    (piece,) = joined_pieces([TriangleMesh(CUBE, CUBE_TRIANGLES)])
    alone = piece.hull.features
    assert np.array_equal(piece.features.planes, alone.planes)
    assert np.array_equal(piece.features.lines, alone.lines)
    assert all(np.array_equal(a, b) for a, b in zip(piece.features.borders, alone.borders, strict=True))
    assert piece.features.rings == alone.rings and not any(len(points) for points in piece.features.held)


@pytest.mark.parametrize("seed", range(3))
def test_of_many_solids_no_more_shows_than_a_tick_tells_apart(seed):
    """Sixty-four balls of 64 corners that overlap one another."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(64):
        way = rng.normal(size=(64, 3))
        ball = trimesh.convex.convex_hull(
            0.3 * way / np.linalg.norm(way, axis=1, keepdims=True) + rng.uniform(-0.4, 0.4, 3)
        )
        found.append(mesh_of(ball))
    for piece in joined_pieces(found)[::16]:
        assert len(piece.features.planes) < HULL and len(piece.features.lines) < HULL
