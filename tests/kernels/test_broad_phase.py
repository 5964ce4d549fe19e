"""Pairs that are said to be far are; what is skipped changes no bit; what comes in a single tick is met."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import trimesh

from hapticsim.assemble import assembly
from hapticsim.assemble.bounding_volumes import MANY
from hapticsim.assemble.features import features_of
from hapticsim.codes import ON_RIM, ON_SUPPORT, Event
from hapticsim.config.load import load
from hapticsim.kernels.entry import Feature
from hapticsim.kernels.tick.broad_phase import find_far_pairs
from hapticsim.model.scene import Scene
from hapticsim.simulate.simulation import Simulation
from tests.kernel_access import INT, PLAN, WORKSPACE, compiled

find = compiled(find_far_pairs, PLAN, WORKSPACE, INT)
KINDS = {
    "brick": "kind: box, half_extents_m: [0.05, 0.03, 0.02]",
    "block": "kind: box, half_extents_m: [0.03, 0.03, 0.03], "
    "origin: {xyz_m: [0.02, 0, 0], rpy_rad: [0, 0, 1]}",
    "ball": "kind: sphere, radius_m: 0.03",
    "marble": "kind: sphere, radius_m: 0.012, origin: {xyz_m: [0, 0.02, 0]}",
    "roll": "kind: capsule, radius_m: 0.02, length_m: 0.1",
    "pin": "kind: capsule, radius_m: 0.01, length_m: 0.05, origin: {rpy_rad: [1.2, 0, 0]}",
    "stone": "kind: mesh, file: stone.stl, origin: {xyz_m: [0.0, -0.01, 0.02]}",
}
ROLLERS = {  # on a floor, and on nothing else
    "can": "kind: cylinder, radius_m: 0.03, length_m: 0.06, origin: {xyz_m: [0, 0.01, 0]}",
    "top": "kind: cone, radius_m: 0.03, length_m: 0.05, origin: {rpy_rad: [1.9, 0, 0]}",
    "pebble": "kind: ellipsoid, radii_m: [0.03, 0.02, 0.015], origin: {xyz_m: [0.01, 0, 0]}",
}
MOVING = KINDS | ROLLERS
FIXED = {
    "floor": "kind: plane",
    "post": "kind: cylinder, radius_m: 0.04, length_m: 0.2, origin: {xyz_m: [0, 0, 0.1]}",
    "egg": "kind: ellipsoid, radii_m: [0.06, 0.03, 0.02], "
    "origin: {xyz_m: [0, 0.2, 0.1], rpy_rad: [0, 1, 0.4]}",
    "hat": "kind: cone, radius_m: 0.05, length_m: 0.1, origin: {xyz_m: [0, -0.2, 0.1], rpy_rad: [1, 0, 0]}",
    "wall": "kind: box, half_extents_m: [0.02, 0.4, 0.2], "
    "origin: {xyz_m: [0.4, 0, 0.2], rpy_rad: [0, 0, 0.2]}",
}


def many_shapes(folder, seed: int, spread: float = 0.3) -> Scene:
    """Free bodies of all kinds above a floor, thrown at random; all pairs that can touch."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(16, 3))
    points *= 0.04 / np.linalg.norm(points, axis=1, keepdims=True)
    trimesh.convex.convex_hull(points).export(folder / "stone.stl")
    inertia = "{xx: 1.0e-4, yy: 1.3e-4, zz: 1.6e-4}"
    free, places = [], list(itertools.product((-1.0, 0.0, 1.0), (-1.0, 1.0), (0.5, 1.5)))
    for name, i in zip(MOVING, rng.permutation(len(places)), strict=False):
        x, y, z = spread * (np.array(places[i]) * 0.5 + 0.05 * rng.random(3))
        v, w = rng.normal(size=3).round(3).tolist(), (6.0 * rng.normal(size=3)).round(3).tolist()
        moving = f"velocity_m_per_s: {v}, angular_velocity_rad_per_s: {w}"
        free.append(f"    {name}: {{xyz_m: [{x}, {y}, {z + 0.1}], {moving}}}")
    pairs = list(itertools.combinations(KINDS, 2))
    pairs += [(name, fixed) for name in KINDS for fixed in ("floor", "wall")]
    pairs += [(name, "floor") for name in ROLLERS]
    pairs += list(itertools.product(("ball", "marble"), ("post", "egg", "hat")))
    path = folder / "scene.yaml"
    path.write_text(
        "\n".join(
            [
                "name: many shapes",
                "max_rows: 64",
                "robot:",
                "  bodies:",
                *(
                    f"    - {{name: {n}, inertial: {{mass_kg: 0.2, inertia_kg_m2: {inertia}}}}}"
                    for n in MOVING
                ),
                "  joints:",
                *(f"    - {{name: {n}, type: free, parent: world, child: {n}}}" for n in MOVING),
                "shapes:",
                *(f"  - {{name: {n}, body: {n}, {keys}}}" for n, keys in MOVING.items()),
                *(f"  - {{name: {n}, {keys}}}" for n, keys in FIXED.items()),
                "contacts:",
                *(f"  - {{between: [{a}, {b}]}}" for a, b in pairs),
                "initial:",
                "  free:",
                *free,
            ]
        )
    )
    return load(path)


def moved(scene: Scene, ticks: int, push=lambda sim, tick: None) -> tuple[np.ndarray, list, Simulation]:
    sim = Simulation(scene)
    rows, events = np.zeros((ticks, len(sim.columns))), []
    for tick in range(ticks):
        push(sim, tick)
        sim.step()
        sim.read_row(rows[tick])
        events += [(e.kind, e.contact, e.value, e.time) for e in sim.events]
    return rows, events, sim


def was_far(scene: Scene, kind: int) -> bool:
    """Whether a candidate on this kind of surface is far as the scene begins."""
    sim = Simulation(scene)
    sim.step()
    contacts = sim.plan.contacts
    return bool(np.any(sim._workspace.apart[sim.plan.surface_kind[:contacts] == kind] > 0.0))


def without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assembly, "features_of", lambda scene: features_of(scene) & ~Feature.PAIRS)


@pytest.mark.parametrize("seed", range(4))
def test_what_is_far_is_skipped_and_no_bit_of_any_row_changes(tmp_path, seed, monkeypatch):
    scene = many_shapes(tmp_path, seed)
    assert len(scene.contacts) >= MANY and Feature.PAIRS in features_of(scene)
    rows, events, sim = moved(scene, 400)
    assert sim.plan.find_far != 0 and np.mean(sim._workspace.apart > 0.0) > 0.3
    assert was_far(scene, ON_RIM) and was_far(scene, ON_SUPPORT)
    assert sum(kind == Event.TOUCH for kind, *_ in events) > 5
    without(monkeypatch)
    plain, plain_events, all_looked_at = moved(scene, 400)
    assert all_looked_at.plan.find_far == 0
    assert np.array_equal(rows, plain)
    assert events == plain_events


def test_a_body_that_is_hurled_at_a_far_one_within_a_tick_is_met(tmp_path, monkeypatch):
    """60 000 m/s^2 takes the ball 30 mm in a tick that begins at rest: three times what speeds tell."""
    scene = many_shapes(tmp_path, 0)

    def hurl(sim, tick):
        torque = np.zeros(len(sim.state.u))
        if tick == 3:
            first = sim.scene.model.u_slice("ball").start
            torque[first + 3 : first + 6] = 0.2 * 60_000.0 * np.array([0.0, 0.0, -1.0])
        sim.apply(torque=torque)

    at = scene.model.q_slice("ball").start
    q, u = scene.q0.copy(), np.zeros_like(scene.u0)
    q[at : at + 3] = [0.0, 0.3, 0.03 + 0.02]

    def found():
        sim = Simulation(scene)
        sim.set_state(q, u)
        rows, events = np.zeros((6, len(sim.columns))), []
        for tick in range(6):
            hurl(sim, tick)
            if tick == 3:
                floor = next(k for k, name in enumerate(sim.assembly.contact_names) if name == "ball-floor")
                assert sim.gaps[floor] > 0.019
            sim.step()
            if tick == 3 and sim.plan.find_far != 0:
                assert sim._workspace.apart[floor] == 0.0
            sim.read_row(rows[tick])
            events += [(e.kind, e.contact, e.value, e.time) for e in sim.events]
        return rows, events

    rows, events = found()
    assert any(kind == Event.TOUCH for kind, *_ in events)
    without(monkeypatch)
    plain, plain_events = found()
    assert np.array_equal(rows, plain) and events == plain_events


def from_plain_box(point: np.ndarray, X: np.ndarray, half: np.ndarray) -> float:
    inside = X[:9].reshape(3, 3).T @ (point - X[9:])
    return float(np.linalg.norm(inside - np.clip(inside, -half, half)))


def plain_apart(sim: Simulation, p: int) -> tuple[float, float]:
    """The distance that a pair has where it is far, and the one from which on it is."""
    plan, ws = sim.plan, sim._workspace

    def placed(v: int) -> tuple[np.ndarray, float]:
        frame, S = plan.volume_frame[v], plan.volume_pose[v]
        B = ws.X[frame] if frame >= 0 else np.array([1.0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0])
        R, Q = B[:9].reshape(3, 3), S[:9].reshape(3, 3)
        X = np.array([*(R @ Q).ravel(), *(R @ S[9:] + B[9:])])
        if frame < 0:
            return X, 0.0
        w, speed = np.linalg.norm(ws.vel[frame, :3]), np.linalg.norm(ws.vel[frame, 3:])
        return X, float(speed + w * (np.linalg.norm(X[9:] - B[9:]) + plan.volume_radius[v]))

    a, b = plan.pair_a[p], plan.pair_b[p]
    (A, speed_a), (B, speed_b) = placed(a), placed(b) if b >= 0 else (np.zeros(12), 0.0)
    limit = 2.0 * (2e-3 + 2.0 * plan.tick_s * (speed_a + speed_b))
    if b < 0:
        return A[11] - plan.volume_radius[a], limit  # the floor is z = 0
    ways = [
        np.linalg.norm(A[9:] - B[9:]) - plan.volume_radius[a] - plan.volume_radius[b],
        from_plain_box(A[9:], B, plan.volume_half[b]) - plan.volume_radius[a],
        from_plain_box(B[9:], A, plan.volume_half[a]) - plan.volume_radius[b],
    ]
    return next((way for way in ways if way > limit), 0.0), limit


@pytest.mark.parametrize("seed", range(4))
def test_far_pairs_are_those_of_plain_geometry_and_no_gap_is_less_than_it_says(tmp_path, seed):
    _, _, sim = moved(many_shapes(tmp_path, seed), 120 + 40 * seed)
    plan, ws = sim.plan, sim._workspace
    gaps = sim.gaps.copy()  # leaves the frames of the state in the workspace
    find(plan, ws, 1)
    seen = set()
    for p, (first, end) in enumerate(itertools.pairwise(plan.pair_first)):
        names = {frozenset((c.a, c.b)) for c in sim.assembly.candidates[first:end]}
        assert len(names) == 1 and not names & seen
        seen |= names
        apart, limit = plain_apart(sim, p)
        assert ws.apart[first:end] == pytest.approx(apart if apart > limit else 0.0, abs=1e-12)
        assert np.all(ws.apart[first:end] <= gaps[first:end] + 1e-12) or ws.apart[first] == 0.0
    assert len(seen) == len(sim.scene.contacts) and 0.2 < np.mean(ws.apart > 0.0) < 1.0
    ws.X[:, 9:] = 0.0  # all in one place
    find(plan, ws, 0)
    pairs = [(first, b) for first, b in zip(plan.pair_first, plan.pair_b, strict=False) if b >= 0]
    assert all(ws.apart[first] == 0.0 for first, b in pairs if plan.volume_frame[b] >= 0)


def test_volumes_hold_their_shapes(tmp_path):
    scene = many_shapes(tmp_path, 1)
    sim = Simulation(scene)
    stone = next(shape for shape in scene.shapes if shape.name == "stone")
    v = next(
        v
        for v, frame in enumerate(sim.plan.volume_frame)
        if frame == sim.assembly.equations.frames.index("stone")
    )
    X = sim.plan.volume_pose[v]
    for p in stone.mesh.vertices:
        body = stone.X_BS.rotation @ p + stone.X_BS.translation
        inside = X[:9].reshape(3, 3).T @ (body - X[9:])
        assert np.all(np.abs(inside) <= sim.plan.volume_half[v] + 1e-15)
        assert np.linalg.norm(inside) <= sim.plan.volume_radius[v] + 1e-15
