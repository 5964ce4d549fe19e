"""Two shapes on two free bodies at random poses, and what the product's kernels say of them.

Shapes have random sizes and random places on their bodies; both bodies have random poses in the world.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from mesh_scenes import box_mesh, bumpy, terrain
from numba import float64, int64
from plain_shapes import Distances, core_of, distances, separations, width_of

from hapticsim.assemble.assembly import Assembly, assemble
from hapticsim.config.load import loads
from hapticsim.kernels import units
from hapticsim.kernels.entry import compile_cached
from hapticsim.kernels.events.edge_places import put_edges_in_places
from hapticsim.kernels.events.inside import GAP_DEEP, hold_here, where
from hapticsim.kernels.geometry.contact import contact_row, has_ends, past_side, witness
from hapticsim.kernels.memory.arrays import Plan, State, Workspace
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import quaternion_of, rotation_from_rpy
from hapticsim.model.scene import ContactPair, Scene, Shape

VECTOR, MATRIX, INTS = float64[::1], float64[:, ::1], int64[::1]
PLAN, STATE, WORKSPACE = Plan._type, State._type, Workspace._type
GROUPS = ("near", "touching", "deep")
TOUCHING = 1e-6  # [m] largest gap or depth of the second group
LEAST_TILT = 1e-10  # [rad] edges that are less than this from parallel have no direction across both
DEEPEST = 1.0 / 3.0  # of the smaller width, in the third group

BODIES = """
name: two shapes
robot:
  bodies:
    - {name: one, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.02, zz: 0.025}}}
    - {name: two, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.02, zz: 0.025}}}
  joints:
    - {name: free_one, type: free, parent: world, child: one}
    - {name: free_two, type: free, parent: world, child: two}
"""


# ---- scenes


@cache
def bodies() -> Scene:
    return loads(BODIES)


def random_placement(rng: np.random.Generator) -> Placement:
    """Where a shape is on its body: up to 0.1 m from its origin, turned anyhow."""
    rpy = rng.uniform(-np.pi, np.pi, 3)
    return Placement(rotation_from_rpy((rpy[0], rpy[1], rpy[2])), rng.uniform(-0.1, 0.1, 3))


def random_shape(rng: np.random.Generator, kind: str, name: str, body: str) -> Shape:
    """A shape of a few centimetres to half a metre."""
    X_BS = random_placement(rng)
    match kind:
        case "sphere":
            return Shape(name, body, kind, (rng.uniform(0.02, 0.2),), X_BS)
        case "capsule":
            return Shape(name, body, kind, (rng.uniform(0.02, 0.1), rng.uniform(0.05, 0.5)), X_BS)
        case "box":
            return Shape(name, body, kind, tuple(rng.uniform(0.03, 0.3, 3).tolist()), X_BS)
        case "plane":
            return Shape(name, body, kind, (1.0, 1.0), X_BS)
    divided, rough = int(rng.integers(3)), rng.uniform(0.0, 0.3)
    mesh = (
        box_mesh(rng.uniform(0.1, 0.5, 3).tolist(), divided),
        bumpy(rng, 1 + divided, rough),
        terrain(rng, 3 + divided),
    )[int(rng.integers(3))]
    half = np.abs(mesh.vertices).max(axis=0)
    return Shape(name, body, "mesh", tuple(half.tolist()), X_BS, mesh=mesh)


def scene_of(a: Shape, b: Shape) -> Scene:
    return replace(bodies(), shapes=(a, b), contacts=(ContactPair(a.name, b.name),))


def random_pair(rng: np.random.Generator, kinds: tuple[str, str]) -> tuple[Shape, Shape]:
    return random_shape(rng, kinds[0], "first", "one"), random_shape(rng, kinds[1], "second", "two")


# ---- poses


@dataclass
class Poses:
    """Of two shapes, n times: coordinates of the bodies, and where A is in the axes of B."""

    q: np.ndarray  # (n, 14) position [m] and quaternion w, x, y, z of body one, then of body two
    R: np.ndarray  # (n, 3, 3) axes of A in those of B
    c: np.ndarray  # (n, 3) [m] middle of A in the axes of B
    R_WB: np.ndarray  # (n, 3, 3) axes of B in the world
    plain: Distances
    group: np.ndarray  # (n,) of GROUPS
    aligned: np.ndarray  # (n,) bool: the axes of A are nearly those of B, or one is


def turned(quaternions: np.ndarray) -> np.ndarray:
    """Rotations (n, 3, 3) of unit quaternions (n, 4)."""
    w, x, y, z = quaternions.T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), -1, 0)


def quaternion_by(theta: np.ndarray) -> np.ndarray:
    """Quaternion of a rotation vector."""
    half = 0.5 * float(np.linalg.norm(theta))
    return np.array([np.cos(half), *(0.5 * np.sinc(half / np.pi) * theta)])


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def random_poses(rng: np.random.Generator, a: Shape, b: Shape, count: int) -> Poses:
    """Poses of two shapes, a third in each of GROUPS; of each group a quarter is aligned.

    What is apart is moved along its normal until the gap is the one that was drawn; the nearest point stays
    the nearest on the way.  Boxes start from where a ray out of the middle leaves the sum of both, so that
    corners meet faces and edges meet edges as often as they would by chance.
    """
    quaternions = unit(rng.normal(size=(2, count, 4)))
    R_WB = turned(quaternions[1]) @ b.X_BS.rotation
    number = np.arange(count) // len(GROUPS)
    aligned = number % 4 == 3
    for i in np.flatnonzero(aligned):
        quaternions[0, i] = quaternion_of(R_WB[i] @ nearly_aligned(rng) @ a.X_BS.rotation.T)
    R_WA = turned(quaternions[0]) @ a.X_BS.rotation
    R = np.swapaxes(R_WB, 1, 2) @ R_WA
    width = min(width_of(a), width_of(b))
    group = np.arange(count) % len(GROUPS)
    wanted = np.choose(
        group,
        [
            rng.uniform(0.0, 1.0, count) * width,
            rng.uniform(-1.0, 1.0, count) * TOUCHING,
            -(10.0 ** rng.uniform(-4.0, 0.0, count)) * DEEPEST * width,
        ],
    )
    c, n = start(rng, a, b, R, width)
    if b.kind in ("box", "capsule") and a.kind != "sphere":
        c, n = meet_at_edges(rng, a, b, R, c, n, aligned & (number % 8 == 3), width)
    if a.kind == b.kind == "box":
        aside = unit(rng.normal(size=(count, 3))) * width
        aside *= np.sign((aside * n).sum(axis=1, keepdims=True))  # apart along n, so apart
        aside[(group > 0) | (np.arange(count) % 2 == 0)] = 0.0
        c += n * wanted[:, None] + aside
    else:
        before = distances(a, b, R, c)
        c += (wanted - before.distance)[:, None] * before.normal
    q = np.empty((count, 14))
    q[:, 3:7], q[:, 10:] = quaternions
    q[:, 7:10] = rng.uniform(-0.5, 0.5, (count, 3))
    o_B = q[:, 7:10] + turned(quaternions[1]) @ b.X_BS.translation
    middle = o_B + np.einsum("nij,nj->ni", R_WB, c)
    q[:, :3] = middle - turned(quaternions[0]) @ a.X_BS.translation
    return Poses(q, R, c, R_WB, distances(a, b, R, c), group, aligned)


def nearly_aligned(rng: np.random.Generator) -> np.ndarray:
    """A rotation (3, 3) by quarters, sometimes by any angle about an axis, and by 1e-16 to 1e-2 rad."""
    quarters = np.eye(3)[rng.permutation(3)] * rng.choice([-1.0, 1.0], (3, 1))
    quarters *= np.linalg.det(quarters)
    about = np.roll([rng.choice([0.0, rng.uniform(-np.pi, np.pi)]), 0.0, 0.0], rng.integers(3))
    tilt = unit(rng.normal(size=3)) * 10.0 ** rng.uniform(-16.0, -2.0)
    first, last = turned(np.array([quaternion_by(about), quaternion_by(tilt)]))
    return np.asarray(first @ quarters @ last)


def meet_at_edges(
    rng: np.random.Generator,
    a: Shape,
    b: Shape,
    R: np.ndarray,
    c: np.ndarray,
    n: np.ndarray,
    which: np.ndarray,
    width: float,
) -> tuple[np.ndarray, np.ndarray]:
    """The same places and normals, but where ``which`` says so edges that are nearly parallel cross."""
    (half_a, radius_a), (half_b, radius_b) = core_of(a), core_of(b)
    c, n, gap = c.copy(), n.copy(), 0.0 if a.kind == b.kind == "box" else radius_a + radius_b + width
    for k in np.flatnonzero(which):
        cosines = np.where(np.outer(half_b, half_a) > 0.0, np.abs(R[k]), -1.0)
        j, i = np.unravel_index(np.argmax(cosines), (3, 3))
        across = np.cross(R[k][:, i], np.eye(3)[j])
        size = np.linalg.norm(across)
        if size > LEAST_TILT:
            n[k] = across / size
            on_a, on_b = -np.sign(R[k].T @ n[k]) * half_a, np.sign(n[k]) * half_b
            on_a[i], on_b[j] = rng.uniform(-0.8, 0.8, 2) * (half_a[i], half_b[j])
            c[k] = on_b - R[k] @ on_a + gap * n[k]
    return c, n


def start(
    rng: np.random.Generator, a: Shape, b: Shape, R: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 3) [m] of A about its width away from B, boxes in touch, and the normals there."""
    count = len(R)
    away = unit(rng.normal(size=(count, 3)))
    if b.kind == "plane":
        return np.column_stack([away[:, :2], np.ones(count)]), away
    if b.kind == "mesh":
        assert b.mesh is not None
        corners = b.mesh.vertices[b.mesh.triangles[rng.integers(len(b.mesh.triangles), size=count)]]
        at = np.einsum("nij,ni->nj", corners, rng.dirichlet(np.full(3, 0.5), count))
        out = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        return at + (a.size[0] + 1.5 * width) * unit(out + 0.7 * away), out
    (half_a, radius_a), (half_b, radius_b) = core_of(a), core_of(b)
    axes, separation, _ = separations(R, np.zeros((count, 3)), half_a, half_b)
    forward = np.einsum("nki,ni->nk", axes, away)
    along = np.where(np.isfinite(separation), np.abs(forward), 0.0)
    far = np.where(along > 0.0, -separation / np.where(along > 0.0, along, 1.0), np.inf)
    k = np.argmin(far, axis=1)
    rows = np.arange(count)
    n = axes[rows, k] * np.sign(forward[rows, k])[:, None]
    at = far[rows, k][:, None] * away
    if a.kind == b.kind == "box":
        return at, n
    return at + (radius_a + radius_b + width) * unit(n + rng.uniform(0, 2, (count, 1)) * away), n


# ---- kernels


def _least_gap(plan, state, ws, found):
    """Write the least gap [m], its normal (world), its candidate, and the least gap past an end [m].

    Past an end of a side or of two edges a gap is no distance, and counts for the last alone.  1000 m: none.
    """
    found[0] = found[5] = 1e3
    found[4] = 0
    for k in range(plan.contacts):
        gap = units.gap(plan, state, k, ws.X) + state.depth[k]
        if has_ends(plan, k) and past_side(plan, state, k, ws.X) > 0.0:
            found[5] = min(found[5], gap)
        elif gap < found[0]:
            _, found[1], found[2], found[3], _, _, _, _, _, _ = witness(plan, state, k, ws.X)
            found[0], found[4] = gap, k


def _hold(plan, state, k, X):
    """Hold candidate k at its feature; how far it is past the end of it [m]."""
    _, _, past = where(plan, state, k, X)
    hold_here(plan, state, k, X)
    state.depth[k] = 0.0
    return past


def _feature_gap(plan, state, k, X, part):
    """Gap [m] of candidate k to the feature that holds it; ``part`` tells which part of a surface that is."""
    phi, _, _, _, _, _, _, part[0], part[1], part[2] = witness(plan, state, k, X)
    part[3] = int(past_side(plan, state, k, X) > 0.0) if has_ends(plan, k) else 0
    return phi


@cache
def kernels() -> tuple[Callable[..., Any], ...]:
    """least_gap, put_edges, hold, feature_gap and contact_row, as machine code."""
    wanted = (
        (_least_gap, (PLAN, STATE, WORKSPACE, VECTOR)),
        (put_edges_in_places, (PLAN, STATE, WORKSPACE, int64, float64)),
        (_hold, (PLAN, STATE, int64, MATRIX)),
        (_feature_gap, (PLAN, STATE, int64, MATRIX, INTS)),
        (contact_row, (PLAN, STATE, int64, int64, WORKSPACE)),
    )
    return tuple(compile_cached(getattr(kernel, "py_func", kernel), of) for kernel, of in wanted)


@dataclass
class Least:
    """What the candidates of a pair say at a pose."""

    gap: float  # [m] the least
    normal: np.ndarray  # (3,) of it, world axes, from the second shape to the first
    k: int  # its candidate
    past: float  # [m] the least gap of what is past an end, where it is no distance


class Candidates:
    """The candidates of a pair of shapes, as the tick sees them."""

    def __init__(self, a: Shape, b: Shape) -> None:
        self.assembly: Assembly = assemble(scene_of(a, b))
        self.plan, self.state = self.assembly.plan, self.assembly.new_state()
        self.ws = self.assembly.new_workspace()
        self.sign = [1.0 if c.a == a.name else -1.0 for c in self.assembly.candidates]
        self._found, self._part = np.empty(6), np.empty(4, np.int64)

    def frames(self, q: np.ndarray, u: np.ndarray) -> None:
        """Put frames, velocities and remainder accelerations into the workspace."""
        ws = self.ws
        self.assembly.equations.kernels.kinematics(q, u, ws.qs, ws.X, ws.V, ws.vel, ws.acc)

    def least(self, q: np.ndarray, reach: float) -> Least:
        """The least gap at a pose, each held feature forgotten.

        reach   [m] up to which edges that cross are looked for, as at speeds that go so far in a tick.
        """
        least_gap, put_edges, *_ = kernels()
        self.state.face[:], self.state.depth[:] = 0, 0.0
        u = np.zeros(12)
        u[3] = 0.5 * reach / self.plan.tick_s
        self.frames(q, u)
        put_edges(self.plan, self.state, self.ws, 0, GAP_DEEP)
        least_gap(self.plan, self.state, self.ws, self._found)
        gap, *normal, k, past = self._found.tolist()
        return Least(gap, self.sign[int(k)] * np.array(normal), int(k), past)

    def hold(self, k: int) -> float:
        """Hold a candidate at its feature, at the frames in the workspace; how far it is past its end [m]."""
        return float(kernels()[2](self.plan, self.state, k, self.ws.X))

    def feature_gap(self, k: int, q: np.ndarray) -> tuple[float, list[int]]:
        """Gap [m] to the feature that is held, and which part of the surface it is."""
        self.frames(q, np.zeros(12))
        phi = kernels()[3](self.plan, self.state, k, self.ws.X, self._part)
        return float(phi), self._part.tolist()

    def row(self, k: int, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, float]:
        """The row (12,) of a candidate, and its remainder s [m/s^2]."""
        self.frames(q, u)
        kernels()[4](self.plan, self.state, k, 0, self.ws)
        return self.ws.A[0, :12].copy(), float(self.ws.s[0])
