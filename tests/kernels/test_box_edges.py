"""Edges of boxes, and sides of capsules, that cross: against plain geometry, and which get a place."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.assemble.overlap import overlap_of
from hapticsim.codes import ON_EDGES
from hapticsim.config.load import load
from hapticsim.kernels.events import edge_places
from hapticsim.kernels.geometry import contact
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, EDGES, INSET, NOWHERE
from hapticsim.model.multibody.joint import Placement
from hapticsim.simulate.simulation import Simulation
from tests import naive
from tests.kernel_access import FLOAT, INT, MATRIX, OUTPUT, PLAN, STATE, WORKSPACE, compiled
from tests.kernels.test_contact import ASSEMBLY, CANDIDATES, frames, moved, pose, random_pose
from tests.places import PUCK

gap = compiled(contact.gap_of, PLAN, STATE, INT, MATRIX)
contact_row = compiled(contact.contact_row, PLAN, STATE, INT, INT, WORKSPACE)
OUT = ASSEMBLY.new_output()
put_edges = compiled(edge_places.put_edges, PLAN, STATE, WORKSPACE, OUTPUT, INT, FLOAT)

FIRST = {(c.a, c.b): k for k, c in enumerate(CANDIDATES) if c.kind == ON_EDGES and c.places}
SHAPES = {shape.name: shape for shape in ASSEMBLY.scene.shapes}
SIDE = 8


def place(name: str, q: np.ndarray) -> Placement:
    """Pose of a shape of the scene in the world."""
    shape = SHAPES[name]
    R, p = pose(q, shape.body)
    return Placement(R, p) @ shape.X_BS


def edge(name: str, number: int, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Middle, direction, direction out of the box and half length of an edge, in the world."""
    shape, X = SHAPES[name], place(name, q)
    if shape.kind == "capsule":
        return X.translation, X.rotation[:, 2], np.zeros(3), 0.5 * shape.size[1]
    axis = number // 4
    sides = np.zeros(3)
    sides[(axis + 1) % 3], sides[(axis + 2) % 3] = 2 * (number % 2) - 1, 2 * (number // 2 % 2) - 1
    middle = X.translation + X.rotation @ (sides * shape.size)
    return middle, X.rotation[:, axis], X.rotation @ sides, shape.size[axis]


def naive_crossing(k: int, pair: int, q: np.ndarray) -> tuple[float, float]:
    """Gap along the normal across both lines, and how far the crossing is past an end, by least squares."""
    c = CANDIDATES[k]
    p, a, out_a, half_a = edge(c.a, pair // EDGES, q)
    r, b, out_b, half_b = edge(c.b, pair % EDGES, q)
    n = np.cross(a, b) / np.linalg.norm(np.cross(a, b))
    n *= np.sign(n @ (out_b - out_a))
    (s, t, distance), *_ = np.linalg.lstsq(np.column_stack([-a, b, n]), p - r, rcond=None)
    return distance - c.radius, max(abs(s) - half_a, abs(t) - half_b) + INSET


def naive_gap(k: int, pair: int, q: np.ndarray) -> float:
    phi, past = naive_crossing(k, pair, q)
    return phi if past <= 0.0 else max(phi, 0.0) + past


def crossing(rng: np.random.Generator, k: int, apart: float) -> tuple[int, np.ndarray]:
    """Two edges and a pose at which they cross within both, this far apart."""
    c = CANDIDATES[k]
    while True:
        q = random_pose(rng)
        pair = EDGES * (SIDE if c.radius else int(rng.integers(EDGES))) + int(rng.integers(EDGES))
        p, a, out_a, half_a = edge(c.a, pair // EDGES, q)
        r, b, out_b, half_b = edge(c.b, pair % EDGES, q)
        n = np.cross(a, b)
        if np.linalg.norm(n) < 0.3:
            continue
        n *= np.sign(n @ (out_b - out_a)) / np.linalg.norm(n)
        s, t = rng.uniform(-0.8, 0.8) * half_a, rng.uniform(-0.8, 0.8) * half_b
        q[:3] += r + t * b + (apart + c.radius) * n - p - s * a  # body one has the first shape
        if leans_out(n, c.b, pair % EDGES, q) and (c.radius or leans_out(-n, c.a, pair // EDGES, q)):
            return pair, q


def leans_out(n: np.ndarray, name: str, number: int, q: np.ndarray) -> bool:
    """True where n points out of both faces at an edge."""
    R = place(name, q).rotation
    axis, sides = number // 4, (2 * (number % 2) - 1, 2 * (number // 2 % 2) - 1)
    return all(side * (n @ R[:, (axis + 1 + i) % 3]) > 0.02 for i, side in enumerate(sides))


@pytest.mark.parametrize("pair", FIRST, ids="-".join)
def test_the_gap_of_edges_is_that_of_plain_geometry_wherever_the_bodies_are(pair):
    rng, k, state = np.random.default_rng(1), FIRST[pair], ASSEMBLY.new_state()
    for _ in range(300):
        edges = EDGES * (SIDE if CANDIDATES[k].radius else int(rng.integers(EDGES))) + int(
            rng.integers(EDGES)
        )
        state.face[k] = EDGE_PAIR + edges
        q = random_pose(rng)
        found = gap(ASSEMBLY.plan, state, k, frames(q, np.zeros(12)).X)
        assert found == pytest.approx(naive_gap(k, edges, q), abs=1e-12, rel=1e-8)
    state.face[k] = 0
    assert gap(ASSEMBLY.plan, state, k, frames(q, np.zeros(12)).X) == np.inf


@pytest.mark.parametrize("apart", [0.05, 0.0, -1e-3])
@pytest.mark.parametrize("pair", FIRST, ids="-".join)
def test_the_row_of_edges_is_the_derivative_of_their_gap_along_a_motion(pair, apart):
    rng, k, state, h = np.random.default_rng(2), FIRST[pair], ASSEMBLY.new_state(), 5e-4
    for _ in range(25):
        edges, q = crossing(rng, k, apart)
        state.face[k] = EDGE_PAIR + edges
        u, udot = rng.uniform(-0.5, 0.5, 12), rng.uniform(-1.0, 1.0, 12)
        ws = frames(q, u)
        phi = contact_row(ASSEMBLY.plan, state, k, 0, ws)
        m2, m1, p1, p2 = (naive_crossing(k, edges, moved(q, u, udot, i * h))[0] for i in (-2, -1, 1, 2))
        assert phi == pytest.approx(apart, abs=1e-12)
        assert ws.A[0] @ u == pytest.approx((m2 - 8 * m1 + 8 * p1 - p2) / (12 * h), abs=5e-8)
        second = (-m2 + 16 * m1 - 30 * phi + 16 * p1 - p2) / (12 * h * h)
        assert ws.A[0] @ udot + ws.s[0] == pytest.approx(second, abs=1e-5)


def hamilton(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Product of two quaternions w, x, y, z."""
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *vector])


def test_nearly_parallel_edges_turn_their_normal_and_the_row_knows_it():
    """At 0.02 rad the crossing runs along the edges fifty times as fast as they turn."""
    rng, k, state = np.random.default_rng(3), FIRST["cube", "brick"], ASSEMBLY.new_state()
    checked = 0
    while checked < 5:
        edges, q = crossing(rng, k, 0.0)
        _, a, _, _ = edge("cube", edges // EDGES, q)
        _, b, _, _ = edge("brick", edges % EDGES, q)
        n = np.cross(a, b)
        turn = np.arctan2(np.linalg.norm(n), a @ b) - 0.02
        if not 0.0 < turn < 1.5:
            continue
        n /= np.linalg.norm(n)
        R = naive.turned(q[3:7])
        half = np.array([np.cos(0.5 * turn), *(np.sin(0.5 * turn) * (R.T @ n))])
        q[3:7] = hamilton(q[3:7], half)
        state.face[k] = EDGE_PAIR + edges
        phi, _ = naive_crossing(k, edges, q)
        if abs(phi) > 0.5:
            continue
        u, h = rng.uniform(-0.02, 0.02, 12), 1e-3
        ws = frames(q, u)
        assert contact_row(ASSEMBLY.plan, state, k, 0, ws) == pytest.approx(phi, abs=1e-10)
        m2, m1, p1, p2 = (
            naive_crossing(k, edges, moved(q, u, np.zeros(12), i * h))[0] for i in (-2, -1, 1, 2)
        )
        assert ws.A[0] @ u == pytest.approx((m2 - 8 * m1 + 8 * p1 - p2) / (12 * h), rel=1e-4, abs=1e-7)
        second = (-m2 + 16 * m1 - 30 * phi + 16 * p1 - p2) / (12 * h * h)
        assert ws.s[0] == pytest.approx(second, rel=1e-3, abs=1e-5)
        checked += 1


@pytest.mark.parametrize("pair", FIRST, ids="-".join)
def test_edges_about_to_meet_get_a_place_and_shapes_that_are_apart_have_none(pair):
    """Of all pairs of edges, tried one by one: those within reach where the shapes touch first."""
    rng, k, state = np.random.default_rng(4), FIRST[pair], ASSEMBLY.new_state()
    places = slice(k, k + CANDIDATES[k].places)
    touched = 0
    for apart in (1e-3, 1e-6, -5e-10, -1e-5):
        for _ in range(60):
            edges, q = crossing(rng, k, apart)
            shapes = [(SHAPES[name], place(name, q)) for name in pair]
            depth = overlap_of(*shapes[0], *shapes[1])
            put_edges(ASSEMBLY.plan, state, frames(q, np.zeros(12)), OUT, 0, 5e-3)
            found = set(state.face[places]) - {0}
            if depth is not None and -depth == pytest.approx(apart, abs=1e-9):  # nothing else is nearer
                touched += 1
                assert EDGE_PAIR + edges in found
                at = k + list(state.face[places]).index(EDGE_PAIR + edges)
                assert state.depth[at] == pytest.approx(apart if apart < -1e-9 else 0.0, abs=1e-9)
            q[:3] += 5.0
            put_edges(ASSEMBLY.plan, state, frames(q, np.zeros(12)), OUT, 0, 5e-3)
            assert not state.face[places].any()
    assert touched > 40


def test_what_is_held_keeps_its_place_and_its_edges_are_not_put_into_another():
    rng, k, state = np.random.default_rng(5), FIRST["cube", "shelf"], ASSEMBLY.new_state()
    edges, q = crossing(rng, k, 1e-9)
    state.face[k + 3], state.mode[k + 3] = EDGE_PAIR + edges, 1
    put_edges(ASSEMBLY.plan, state, frames(q, np.zeros(12)), OUT, 0, 5e-3)
    assert (
        list(state.face[k : k + 8]).count(EDGE_PAIR + edges) == 1 and state.face[k + 3] == EDGE_PAIR + edges
    )
    q[:3] += 5.0
    put_edges(ASSEMBLY.plan, state, frames(q, np.zeros(12)), OUT, 0, 5e-3)
    assert list(np.flatnonzero(state.face[k : k + 8])) == [3]


def test_a_place_without_edges_says_that_it_is_about_nothing():
    sim = Simulation(load(PUCK))
    sim.step()
    assert list(sim.gaps[-8:]) == [NOWHERE] * 8, "80 mm before the wall"
