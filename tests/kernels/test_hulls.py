"""Features of two hulls: gaps and rows against plain geometry and differences, and which get a place."""

from __future__ import annotations

import numpy as np
import pytest
from plain_hulls import nearest
from shape_candidates import Candidates, Least
from shape_motion import Motion, differences
from shape_poses import Poses, random_hull, random_pair, random_poses, turned

from hapticsim.kernels.events.edge_places import REACH
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, INSET, NOWHERE
from hapticsim.kernels.geometry.corner import EDGE
from hapticsim.kernels.geometry.hull_contact import ACROSS, VERTEX_OF_A, VERTEX_OF_B
from hapticsim.kernels.memory.arrays import HULL
from hapticsim.model.candidates import hull_of
from hapticsim.model.hull import Hull, around
from hapticsim.model.scene import Shape

KINDS = {"edges": ACROSS, "vertex of A": VERTEX_OF_A, "vertex of B": VERTEX_OF_B}
PAIRS = [("mesh", "box"), ("mesh", "mesh")]


def in_world(shape: Shape, q: np.ndarray) -> tuple[Hull, np.ndarray, np.ndarray]:
    """The hull of a shape, its rotation and its origin in the world."""
    part = q[:7] if shape.body == "one" else q[7:]
    R = turned(part[None, 3:])[0]
    return hull_of(shape), R @ shape.X_BS.rotation, part[:3] + R @ shape.X_BS.translation


def naive_gap(a: Shape, b: Shape, kind: int, i: int, j: int, q: np.ndarray) -> tuple[float, float]:
    """Gap of two features and how far past an end they meet [m], by projections and least squares."""
    (A, R_A, o_A), (B, R_B, o_B) = in_world(a, q), in_world(b, q)
    if kind == VERTEX_OF_B:
        (A, R_A, o_A), (B, R_B, o_B) = (B, R_B, o_B), (A, R_A, o_A)
    if kind != ACROSS:
        x = R_B.T @ (R_A @ A.vertices[i] + o_A - o_B)
        n, past = B.planes[j, :3], -np.inf
        for u, v in around(B.faces[j]):
            out = np.cross(B.vertices[v] - B.vertices[u], n)
            past = max(past, float((x - B.vertices[u]) @ out / np.linalg.norm(out)))
        return float(x @ n - B.planes[j, 3]), past - EDGE
    p, r = (
        R @ h.vertices[h.edges[k, :2]].T + o[:, None] for h, R, o, k in ((A, R_A, o_A, i), (B, R_B, o_B, j))
    )
    along, across = p[:, 1] - p[:, 0], r[:, 1] - r[:, 0]
    n = np.cross(along, across)
    n /= np.linalg.norm(n)
    into_a, into_b = (h.edge_lines[k, 7:].reshape(2, 3).sum(axis=0) for h, k in ((A, i), (B, j)))
    n *= np.sign(n @ (R_A @ into_a - R_B @ into_b))  # out of both faces of B, and into both of A
    (s, t, distance), *_ = np.linalg.lstsq(
        np.column_stack([-along, across, n]), p[:, 0] - r[:, 0], rcond=None
    )
    past = max((abs(x - 0.5) - 0.5) * np.linalg.norm(e) for x, e in ((s, along), (t, across)))
    return float(distance), float(past) + INSET


def place(of: Candidates, kind: int, i: int, j: int) -> None:
    """Put features into the first place."""
    of.state.face[:], of.state.depth[:] = 0, 0.0
    of.state.face[0] = EDGE_PAIR + (kind * HULL + i) * HULL + j


def random_features(rng: np.random.Generator, a: Shape, b: Shape, kind: int) -> tuple[int, int]:
    A, B = hull_of(a), hull_of(b)
    counts = {
        ACROSS: (len(A.edges), len(B.edges)),
        VERTEX_OF_A: (len(A.vertices), len(B.faces)),
        VERTEX_OF_B: (len(B.vertices), len(A.faces)),
    }[kind]
    return int(rng.integers(counts[0])), int(rng.integers(counts[1]))


def random_q(rng: np.random.Generator) -> np.ndarray:
    q = rng.uniform(-0.3, 0.3, 14)
    for at in (3, 10):
        q[at : at + 4] = rng.normal(size=4)
        q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
    return q


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", PAIRS, ids="-".join)
def test_the_gap_of_two_features_is_that_of_plain_geometry_wherever_the_bodies_are(shapes, kind):
    rng = np.random.default_rng(1)
    for _ in range(4):
        a, b = random_pair(rng, shapes)
        of = Candidates(a, b)
        for _ in range(50):
            i, j = random_features(rng, a, b, KINDS[kind])
            q = random_q(rng)
            place(of, KINDS[kind], i, j)
            phi, past = naive_gap(a, b, KINDS[kind], i, j, q)
            found, _ = of.feature_gap(0, q)
            assert found == pytest.approx(phi if past <= 0.0 else max(phi, 0.0) + past, abs=1e-11, rel=1e-8)
    place(of, ACROSS, 0, 0)
    of.state.face[0] = 0
    assert of.feature_gap(0, q)[0] == NOWHERE


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shapes", PAIRS, ids="-".join)
def test_the_row_of_two_features_is_the_derivative_of_their_gap_along_a_motion(shapes, kind):
    rng, checked = np.random.default_rng(2), 0
    a, b = random_pair(rng, shapes)
    of = Candidates(a, b)
    while checked < 20:
        i, j = random_features(rng, a, b, KINDS[kind])
        motion = Motion(rng, random_q(rng))
        place(of, KINDS[kind], i, j)
        if naive_gap(a, b, KINDS[kind], i, j, motion.q)[1] > -1e-3:
            continue  # beyond an end the gap is the way to there, and no row is imposed
        found = differences(lambda at: of.feature_gap(0, at), motion)
        if found is None:
            continue
        checked += 1
        A, s = of.row(0, motion.q, motion.u)
        assert A @ motion.u == pytest.approx(found[0], rel=1e-6, abs=1e-6)
        assert A @ motion.udot + s == pytest.approx(found[1], rel=1e-6, abs=1e-6)


def plain(a: Shape, b: Shape, poses: Poses, i: int) -> float:
    return nearest(hull_of(a), hull_of(b), poses.R[i], poses.c[i]).distance


def features(of: Candidates) -> set[int]:
    held = of.state.face[of.state.face >= EDGE_PAIR]
    assert len(set(held.tolist())) == len(held), "two places are about the same features"
    return set(held.tolist())


@pytest.mark.parametrize("shapes", PAIRS, ids="-".join)
def test_what_touches_has_a_place_with_the_least_gap(shapes):
    rng, seen = np.random.default_rng(3), 0
    for _ in range(5):
        a, b = random_pair(rng, shapes)
        of, poses = Candidates(a, b), random_poses(rng, a, b, 60)
        for i in np.flatnonzero(poses.group == 1):  # within a micrometre
            assert poses.plain.within is not None
            if not poses.plain.within[i] or poses.plain.sine[i] < 1e-2:
                continue
            least: Least = of.least(poses.q[i], 0.0)
            assert least.gap == pytest.approx(plain(a, b, poses, int(i)), abs=1e-11)
            assert features(of)
            seen += 1
    assert seen > 60


@pytest.mark.parametrize("shapes", PAIRS, ids="-".join)
def test_hulls_farther_apart_than_a_tick_goes_have_no_features(shapes):
    rng = np.random.default_rng(4)
    a, b = random_pair(rng, shapes)
    of, poses = Candidates(a, b), random_poses(rng, a, b, 60)
    for i in np.flatnonzero(poses.group == 0):
        if poses.plain.distance[i] > 2.0 * REACH:
            assert of.least(poses.q[i], 0.0).gap == NOWHERE and not features(of)


def test_a_turned_hull_of_the_other_order_says_the_same():
    rng = np.random.default_rng(5)
    a, b = random_hull(rng, "first", "one"), random_hull(rng, "second", "two")
    poses = random_poses(rng, a, b, 30)
    one, other = Candidates(a, b), Candidates(b, a)
    for i in np.flatnonzero(poses.group == 1):
        first, second = one.least(poses.q[i], 0.0), other.least(poses.q[i], 0.0)
        assert first.gap == pytest.approx(second.gap, abs=1e-12)
        if first.gap < NOWHERE and poses.plain.unique[i] and poses.plain.distance[i] < 0.0:
            assert first.normal == pytest.approx(-second.normal, abs=1e-6)
