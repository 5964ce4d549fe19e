"""Gaps against plain geometry, and their first and second derivatives along a motion of both bodies."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.assemble.assembly import assemble
from hapticsim.codes import (
    ON_BOX,
    ON_CAPSULE,
    ON_CONE,
    ON_CROSSING,
    ON_CYLINDER,
    ON_EDGES,
    ON_ELLIPSOID,
    ON_RIM,
    ON_SIDE,
    ON_SUPPORT,
)
from hapticsim.config.load import loads
from hapticsim.kernels.events import inside
from hapticsim.kernels.geometry import contact, edges
from tests import naive
from tests.kernel_access import INT, MATRIX, PLAN, STATE, WORKSPACE, compiled
from tests.seeds import seeds

gap = compiled(contact.gap_of, PLAN, STATE, INT, MATRIX)
contact_row = compiled(contact.contact_row, PLAN, STATE, INT, INT, WORKSPACE)
overhang = compiled(edges.overhang, PLAN, STATE, INT, MATRIX)
is_lost = compiled(edges.is_lost, PLAN, STATE, INT, MATRIX)
hold_here = compiled(inside.hold_here, PLAN, STATE, INT, MATRIX)

BODY = "{{name: {0}, inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: 0.01, yy: 0.02, zz: 0.025}}}}}}"
SCENE = f"""
name: everything that may touch
robot:
  bodies: [{BODY.format("one")}, {BODY.format("two")}]
  joints:
    - {{name: free_one, type: free, parent: world, child: one}}
    - {{name: free_two, type: free, parent: world, child: two}}
shapes:
  - {{name: ball, body: one, kind: sphere, radius_m: 0.07, origin: {{xyz_m: [0.1, -0.2, 0.05]}}}}
  - {{name: rod, body: one, kind: capsule, radius_m: 0.03, length_m: 0.4,
     origin: {{xyz_m: [0.0, 0.1, 0.0], rpy_rad: [0.3, 0.4, 0.5]}}}}
  - {{name: cube, body: one, kind: box, half_extents_m: [0.1, 0.2, 0.3]}}
  - {{name: post, kind: sphere, radius_m: 0.04, origin: {{xyz_m: [0.3, 0.1, -0.2]}}}}
  - {{name: floor, kind: plane, origin: {{xyz_m: [0.0, 0.0, -0.1], rpy_rad: [0.2, -0.1, 0.0]}}}}
  - {{name: shelf, kind: box, half_extents_m: [0.5, 0.3, 0.1],
     origin: {{xyz_m: [0.1, 0.2, 0.3], rpy_rad: [0.1, 0.7, -0.4]}}}}
  - {{name: tray, body: two, kind: plane, origin: {{xyz_m: [0.05, 0.0, 0.1], rpy_rad: [0.5, 0.0, 0.2]}}}}
  - {{name: brick, body: two, kind: box, half_extents_m: [0.4, 0.25, 0.15],
     origin: {{xyz_m: [0.0, -0.1, 0.05], rpy_rad: [-0.3, 0.2, 0.9]}}}}
  - {{name: knob, body: two, kind: sphere, radius_m: 0.06, origin: {{xyz_m: [0.02, 0.03, -0.1]}}}}
  - {{name: bar, body: two, kind: capsule, radius_m: 0.02, length_m: 0.5,
     origin: {{xyz_m: [0.1, 0.0, 0.05], rpy_rad: [0.9, -0.2, 0.1]}}}}
  - {{name: pole, kind: capsule, radius_m: 0.05, length_m: 0.3, origin: {{xyz_m: [0.2, 0.0, 0.1]}}}}
  - {{name: drum, body: two, kind: cylinder, radius_m: 0.2, length_m: 0.3,
     origin: {{xyz_m: [-0.1, 0.05, 0.2], rpy_rad: [0.4, 0.3, -0.2]}}}}
  - {{name: keg, body: one, kind: cylinder, radius_m: 0.15, length_m: 0.2,
     origin: {{xyz_m: [0.1, -0.05, 0.2], rpy_rad: [0.2, -0.3, 0.1]}}}}
  - {{name: egg, body: two, kind: ellipsoid, radii_m: [0.2, 0.1, 0.15],
     origin: {{xyz_m: [-0.1, 0.05, 0.2], rpy_rad: [0.4, 0.3, -0.2]}}}}
  - {{name: stone, body: one, kind: ellipsoid, radii_m: [0.1, 0.15, 0.03],
     origin: {{xyz_m: [0.1, -0.05, 0.2], rpy_rad: [0.2, -0.3, 0.1]}}}}
  - {{name: hat, body: two, kind: cone, radius_m: 0.2, length_m: 0.3,
     origin: {{xyz_m: [-0.1, 0.05, 0.2], rpy_rad: [0.4, 0.3, -0.2]}}}}
contacts:
  - {{between: [ball, egg]}}
  - {{between: [egg, post]}}
  - {{between: [ball, hat]}}
  - {{between: [stone, floor]}}
  - {{between: [stone, tray]}}
  - {{between: [ball, drum]}}
  - {{between: [drum, post]}}
  - {{between: [ball, knob]}}
  - {{between: [bar, ball]}}
  - {{between: [rod, post]}}
  - {{between: [rod, bar]}}
  - {{between: [pole, bar]}}
  - {{between: [ball, floor]}}
  - {{between: [ball, shelf]}}
  - {{between: [ball, tray]}}
  - {{between: [ball, brick]}}
  - {{between: [rod, brick]}}
  - {{between: [post, tray]}}
  - {{between: [post, brick]}}
  - {{between: [cube, shelf]}}
  - {{between: [cube, brick]}}
  - {{between: [cube, floor]}}
  - {{between: [keg, floor]}}
  - {{between: [keg, tray]}}
"""
ASSEMBLY = assemble(loads(SCENE))
CANDIDATES = ASSEMBLY.candidates
ALWAYS = [k for k, c in enumerate(CANDIDATES) if c.kind != ON_EDGES]  # places for edges: test_box_edges.py
STATE_0 = ASSEMBLY.new_state()  # nothing is held
REGIONS = {"plane": (), "face": (0,), "edge": (0, 1), "corner": (0, 1, 2)}


def pose(q: np.ndarray, body: str) -> tuple[np.ndarray, np.ndarray]:
    """Rotation and position of a body of the scene."""
    part = {"one": q[:7], "two": q[7:]}.get(body)
    return (np.eye(3), np.zeros(3)) if part is None else (naive.turned(part[3:]), part[:3])


def centre_in_surface(candidate, q: np.ndarray) -> np.ndarray:
    """The sphere's centre in the axes of the surface."""
    R, p = pose(q, candidate.sphere_body)
    c = p + R @ candidate.centre_B
    R, p = pose(q, candidate.surface_body)
    X = candidate.X_BS
    return X.rotation.T @ (R.T @ (c - p) - X.translation)


def inward_in_surface(candidate, q: np.ndarray) -> np.ndarray:
    """From a corner into its body, in the axes of the surface."""
    inward, _ = pose(q, candidate.sphere_body)
    R, _ = pose(q, candidate.surface_body)
    return (R @ candidate.X_BS.rotation).T @ inward @ candidate.inward_B


def axes_in_surface(candidate, q: np.ndarray) -> np.ndarray:
    """The axes of an ellipsoid on a plane, in those of the plane."""
    R_A, _ = pose(q, candidate.sphere_body)
    R, _ = pose(q, candidate.surface_body)
    return (R @ candidate.X_BS.rotation).T @ R_A @ candidate.X_AE.rotation


def naive_gap(candidate, q: np.ndarray) -> float:
    x = centre_in_surface(candidate, q)
    if candidate.kind == ON_SUPPORT:
        return naive.height_of_ellipsoid(x, axes_in_surface(candidate, q), np.array(candidate.edge_half))
    if candidate.kind == ON_ELLIPSOID:
        return naive.distance_to_ellipsoid(x, np.array(candidate.half)) - candidate.radius
    if candidate.kind == ON_CONE:
        return naive.distance_to_cone(x, candidate.half[0], candidate.half[2]) - candidate.radius
    if candidate.kind == ON_BOX and candidate.radius == 0.0:
        return naive.distance_of_corner(x, np.array(candidate.half), inward_in_surface(candidate, q))
    if candidate.kind == ON_BOX:
        return naive.distance_to_box(x, np.array(candidate.half)) - candidate.radius
    if candidate.kind == ON_CROSSING:
        radius, *halves = candidate.half
        distance, past = naive.crossing(x, inward_in_surface(candidate, q), *halves)
        phi = distance - radius - candidate.radius
        return phi if past <= 0.0 else max(phi, 0.0) + past
    if candidate.kind == ON_RIM:
        return naive.height_of_rim(x, inward_in_surface(candidate, q), candidate.half[0])
    if candidate.kind == ON_CYLINDER:
        return naive.distance_to_cylinder(x, candidate.half[0], candidate.half[2]) - candidate.radius
    if candidate.kind in (ON_CAPSULE, ON_SIDE):
        phi = naive.distance_to_segment(x, candidate.half[2]) - candidate.half[0] - candidate.radius
        past = abs(x[2]) - candidate.half[2]
        return phi if past <= 0.0 or candidate.kind == ON_CAPSULE else max(phi, 0.0) + past
    return naive.distance_to_plane(x) - candidate.radius


def rate(q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """qdot of the two free bodies; u = (omega, v) in body axes of each."""
    parts = []
    for x, w, v in ((q[:7], u[:3], u[3:6]), (q[7:], u[6:9], u[9:])):
        s, e = x[3], x[4:]
        quaternion = 0.5 * np.concatenate([[-e @ w], s * w + np.cross(e, w)])
        parts += [naive.turned(x[3:]) @ v, quaternion]
    return np.concatenate(parts)


def moved(q: np.ndarray, u: np.ndarray, udot: np.ndarray, t: float) -> np.ndarray:
    """q after t seconds of constant udot, by Runge-Kutta steps of t/8."""
    h = t / 8
    for i in range(8):
        a, b, c = u + udot * i * h, u + udot * (i + 0.5) * h, u + udot * (i + 1) * h
        k1 = rate(q, a)
        k2 = rate(q + 0.5 * h * k1, b)
        k3 = rate(q + 0.5 * h * k2, b)
        q = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(q + h * k3, c))
    return q


def random_pose(rng: np.random.Generator) -> np.ndarray:
    q = rng.normal(size=14)
    for part in (q[3:7], q[10:]):
        part /= np.linalg.norm(part)
    return q


def placed(rng: np.random.Generator, candidate, x_S: np.ndarray) -> np.ndarray:
    """A random pose with the sphere's centre at x_S of the surface, and a corner's body off the box.

    Of sides that cross, x_S is where on the one, where on the other, and how far apart.
    """
    q = random_pose(rng)
    if candidate.kind == ON_CROSSING and len(x_S) == 4:
        while abs(inward_in_surface(candidate, q)[2]) > 0.9:
            q = random_pose(rng)
        s, t, apart, _ = x_S
        a, b = inward_in_surface(candidate, q), np.array([0.0, 0.0, 1.0])
        x_S = t * b - s * a + apart * np.cross(a, b) / np.linalg.norm(np.cross(a, b))
    if candidate.kind == ON_BOX and candidate.radius == 0.0:
        n = np.where(np.abs(x_S) - candidate.half > -1e-8, np.sign(x_S), 0.0)
        while np.any(n * inward_in_surface(candidate, q) < 0.1 * np.abs(n)):
            q = random_pose(rng)
    miss = candidate.X_BS.rotation @ (x_S - centre_in_surface(candidate, q))
    R_WB, _ = pose(q, candidate.surface_body)
    position = {"one": q[:3], "two": q[7:10]}
    if candidate.sphere_body in position:
        position[candidate.sphere_body] += R_WB @ miss
    else:
        position[candidate.surface_body] -= R_WB @ miss
    return q


def somewhere(rng: np.random.Generator, candidate, region: str) -> np.ndarray:
    """A point in the surface's axes, nearest to a face, an edge or a corner of a box, or anywhere."""
    if region == "plane":
        return rng.uniform(-0.5, 0.5, 3)
    if region == "crossing":
        s, t = (rng.uniform(-0.9, 0.9) * half for half in candidate.half[1:])
        return np.array([s, t, rng.uniform(0.1, 0.3), 0.0])
    if region in ("around", "rim", "flat"):
        radius, _, half = candidate.half
        out, up = rng.uniform(0.1, 0.3, 2)
        r = rng.uniform(0.2, 0.9) * radius if region == "flat" else radius + out
        z = rng.uniform(-0.9, 0.9) * half if region == "around" else half + up
        angle = rng.uniform(-np.pi, np.pi)
        return np.array([r * np.cos(angle), r * np.sin(angle), rng.choice([-1.0, 1.0]) * z])
    if region == "beyond":
        x = rng.normal(size=3)
        return x * rng.uniform(1.1, 1.5) / np.linalg.norm(x / candidate.half)
    if region in ("base", "brim", "slant", "apex"):  # of a cone, off its base, its rim, its side, its apex
        radius, _, half = candidate.half
        out = np.array([2.0 * half, radius]) / np.hypot(radius, 2.0 * half)
        far, at, angle = rng.uniform(0.05, 0.3), rng.uniform(0.1, 0.9), rng.uniform(-np.pi, np.pi)
        turn = rng.uniform(0.1, 0.9) * (np.pi - np.arccos(out[1]))
        r, z = {
            "base": (at * radius, -half - far),
            "brim": (radius + far * np.sin(turn), -half - far * np.cos(turn)),
            "slant": ((1.0 - at) * radius + far * out[0], (2.0 * at - 1.0) * half + far * out[1]),
            "apex": (far * at * out[0], half + far * np.sqrt(1.0 - (at * out[0]) ** 2)),
        }[region]
        return np.array([r * np.cos(angle), r * np.sin(angle), z])
    if region in ("side", "end"):
        x, half = rng.normal(size=3), candidate.half[2]
        x *= rng.uniform(0.1, 0.3) / np.linalg.norm(x[: 2 if region == "side" else 3])
        x[2] = (
            rng.uniform(-0.9, 0.9) * half
            if region == "side"
            else np.copysign(max(abs(x[2]), 0.05) + half, x[2])
        )
        return x
    half, axes = np.array(candidate.half), rng.permutation(3)[: len(REGIONS[region])]
    x = rng.uniform(-0.8, 0.8, 3) * half
    away = rng.uniform(1e-4, 2e-3) if candidate.radius == 0.0 else rng.uniform(0.1, 0.3)
    for axis in axes:
        x[axis] = rng.choice([-1.0, 1.0]) * (half[axis] + away)
    return x


def frames(q: np.ndarray, u: np.ndarray):
    ws = ASSEMBLY.new_workspace()
    ASSEMBLY.equations.kernels.kinematics(q, u, np.zeros(14), ws.X, ws.V, ws.vel, ws.acc)
    return ws


def kinds() -> list[tuple[int, str]]:
    """One candidate of every pair, with every region of its surface that can hold it."""
    found, seen = [], set()
    for k, c in enumerate(CANDIDATES):
        if k not in ALWAYS or (c.a, c.b, c.kind) in seen:
            continue
        seen.add((c.a, c.b, c.kind))
        if c.kind == ON_CROSSING:
            found.append((k, "crossing"))
        elif c.kind == ON_SIDE:
            found.append((k, "side"))
        elif c.kind == ON_CYLINDER:
            found += [(k, r) for r in ("around", "rim", "flat")]
        elif c.kind == ON_ELLIPSOID:
            found.append((k, "beyond"))
        elif c.kind == ON_CONE:
            found += [(k, r) for r in ("base", "brim", "slant", "apex")]
        elif c.kind == ON_CAPSULE:
            found += [(k, r) for r in (("side", "end") if c.half[2] > 0.0 else ("end",))]
        elif c.kind != ON_BOX:
            found.append((k, "plane"))
        else:
            found += [(k, r) for r in (("face",) if c.radius == 0.0 else ("face", "edge", "corner"))]
    return found


def name(case: object) -> str:
    return f"{CANDIDATES[case].a}-{CANDIDATES[case].b}" if isinstance(case, int) else str(case)


@pytest.mark.parametrize("draw", seeds(1, 4))
@pytest.mark.parametrize("k", ALWAYS)
def test_gaps_are_those_of_plain_geometry_wherever_the_bodies_are(k, draw):
    rng = np.random.default_rng((draw, k))
    for i in range(80):
        region = "plane" if CANDIDATES[k].kind != ON_BOX else ("face", "edge", "corner", "plane")[i % 4]
        if CANDIDATES[k].kind == ON_ELLIPSOID:
            region = "beyond"
        q = placed(rng, CANDIDATES[k], somewhere(rng, CANDIDATES[k], region))
        assert gap(ASSEMBLY.plan, STATE_0, k, frames(q, np.zeros(12)).X) == pytest.approx(
            naive_gap(CANDIDATES[k], q), abs=1e-13, rel=1e-9 if CANDIDATES[k].kind == ON_CROSSING else 0.0
        )


@pytest.mark.parametrize(("k", "region"), kinds(), ids=name)
def test_rows_are_the_derivatives_of_the_gap_along_a_motion(k, region):
    rng = np.random.default_rng(50 + k)
    candidate, h = CANDIDATES[k], 5e-4
    for _ in range(25):
        q = placed(rng, candidate, somewhere(rng, candidate, region))
        u, udot = rng.uniform(-0.5, 0.5, 12), rng.uniform(-1.0, 1.0, 12)
        if candidate.radius == 0.0:
            u, udot = 0.05 * u, 0.05 * udot  # stays over the face it is close to
        ws = frames(q, u)
        phi = contact_row(ASSEMBLY.plan, STATE_0, k, 0, ws)
        m2, m1, p1, p2 = (naive_gap(candidate, moved(q, u, udot, i * h)) for i in (-2, -1, 1, 2))
        first = (m2 - 8 * m1 + 8 * p1 - p2) / (12 * h)
        second = (-m2 + 16 * m1 - 30 * phi + 16 * p1 - p2) / (12 * h * h)
        assert phi == pytest.approx(naive_gap(candidate, q), abs=1e-13)
        assert ws.A[0] @ u == pytest.approx(first, abs=2e-8)
        assert ws.A[0] @ udot + ws.s[0] == pytest.approx(second, abs=2e-6)


def test_edges_and_corners_curve_the_row():
    """Without the Hessian of the distance the remainder would be wrong by more than the test above allows."""
    rng, k = np.random.default_rng(5), [c.a + c.b for c in CANDIDATES].index("ballshelf")
    q = placed(rng, CANDIDATES[k], somewhere(rng, CANDIDATES[k], "edge"))
    u = np.zeros(12)
    u[3:6] = 1.0
    ws = frames(q, u)
    contact_row(ASSEMBLY.plan, STATE_0, k, 0, ws)
    assert abs(ws.s[0]) > 0.1


def test_a_corner_is_held_by_its_face_up_to_the_edge_and_lost_beyond():
    rng, k = np.random.default_rng(6), [c.a + c.b for c in CANDIDATES].index("cubeshelf")
    half = np.array(CANDIDATES[k].half)
    state = ASSEMBLY.new_state()
    on_top = placed(rng, CANDIDATES[k], np.array([0.5 * half[0], 0.0, half[2]]))
    hold_here(ASSEMBLY.plan, state, k, frames(on_top, np.zeros(12)).X)
    assert state.face[k] == 6 and state.depth[k] == 0.0
    for past in (-0.1, -1e-6, -1e-9, 0.0, 1e-8, 1e-6, 1e-3):
        q = placed(rng, CANDIDATES[k], np.array([half[0] + past, 0.0, half[2]]))
        ws = frames(q, np.zeros(12))
        assert overhang(ASSEMBLY.plan, state, k, ws.X) == pytest.approx(past, abs=1e-14)
        assert abs(contact_row(ASSEMBLY.plan, state, k, 0, ws)) < 1e-14, "it stays in the plane of the face"
        assert is_lost(ASSEMBLY.plan, state, k, ws.X) == (past > 1e-9)


def test_where_two_faces_meet_the_one_below_the_body_holds_whatever_rounding_says():
    """A corner on an edge of the box: its distance is zero to both faces; its body is over one of them."""
    rng, k = np.random.default_rng(8), [c.a + c.b for c in CANDIDATES].index("cubeshelf")
    candidate, half = CANDIDATES[k], np.array(CANDIDATES[k].half)
    shelf, _ = pose(np.zeros(14), "world")
    for _ in range(100):
        q = random_pose(rng)
        inward = inward_in_surface(candidate, q)
        if not (inward[2] > 0.1 and inward[0] < -0.1):
            continue
        x = np.array([half[0], 0.0, half[2]]) + 1e-13 * rng.normal(size=3)
        q[:3] += candidate.X_BS.rotation @ (x - centre_in_surface(candidate, q))
        ws = frames(q, np.zeros(12))
        assert abs(contact_row(ASSEMBLY.plan, STATE_0, k, 0, ws)) < 1e-12
        up = shelf @ candidate.X_BS.rotation[:, 2]
        R, _ = pose(q, "one")
        np.testing.assert_allclose(ws.A[0, 3:6], R.T @ up, atol=1e-12)  # the row of v of the body: the normal
        assert abs(gap(ASSEMBLY.plan, STATE_0, k, ws.X)) < 1e-12


def test_a_ball_is_never_lost_at_an_edge():
    rng = np.random.default_rng(7)
    for k, c in enumerate(CANDIDATES):
        if c.radius > 0.0 and c.kind == ON_BOX:
            q = placed(rng, c, somewhere(rng, c, "edge"))
            assert not is_lost(ASSEMBLY.plan, STATE_0, k, frames(q, np.zeros(12)).X)
