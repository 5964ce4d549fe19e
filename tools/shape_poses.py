"""Two shapes of random sizes, at random places of two bodies, at random poses of both in the world."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import trimesh
from mesh_scenes import box_mesh, bumpy, mesh_of, terrain
from plain_hulls import of_hulls
from plain_shapes import Distances, core_of, distances, separations, width_of

from hapticsim.model.candidates import HULLS, hull_of
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import quaternion_of, rotation_from_rpy
from hapticsim.model.scene import Shape

GROUPS = ("near", "touching", "deep")
TOUCHING = 1e-6  # [m] largest gap or depth of the second group
LEAST_TILT = 1e-10  # [rad] edges that are less than this from parallel have no direction across both
APPROACHES = 3  # of hulls towards one another, each by their distance
DEEPEST = 1.0 / 3.0  # of the smaller width, in the third group


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
        case "capsule" | "cylinder" | "cone":
            return Shape(name, body, kind, (rng.uniform(0.02, 0.1), rng.uniform(0.05, 0.5)), X_BS)
        case "box" | "ellipsoid":
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


def are_hulls(a: Shape, b: Shape) -> bool:
    """True for two convex solids of which one is a mesh, or a capsule and one."""
    return (a.kind == "mesh" and b.kind in HULLS) or (a.kind, b.kind) == ("capsule", "mesh")


def random_hull(rng: np.random.Generator, name: str, body: str) -> Shape:
    """A convex mesh: of points on an ellipsoid, or a prism, a frustum, a pyramid."""
    half, kind, n = rng.uniform(0.05, 0.3, 3), int(rng.integers(4)), int(rng.integers(3, 8))
    if kind == 0:
        points = unit(rng.normal(size=(int(rng.integers(4, 16)), 3)))
    else:
        angle = rng.choice([0.0, rng.uniform(0.0, 6.0)]) + 2.0 * np.pi * np.arange(n) / n
        ring = np.column_stack([np.cos(angle), np.sin(angle), np.ones(n)])
        top = {1: ring, 2: ring * [0.5, 0.5, 1.0], 3: np.array([[0.0, 0.0, 1.0]])}[kind]
        points = np.concatenate([ring * [1.0, 1.0, -1.0], top])
    mesh = mesh_of(trimesh.convex.convex_hull(points * half))
    size = np.abs(mesh.vertices).max(axis=0)
    return Shape(name, body, "mesh", tuple(size.tolist()), random_placement(rng), mesh=mesh)


def random_pair(rng: np.random.Generator, kinds: tuple[str, str]) -> tuple[Shape, Shape]:
    if kinds[0] == "mesh" and kinds[1] == "box":
        return random_hull(rng, "first", "one"), random_shape(rng, "box", "second", "two")
    if kinds[0] in ("capsule", "mesh") and kinds[1] == "mesh":
        capsule = random_shape(rng, "capsule", "first", "one") if kinds[0] == "capsule" else None
        return capsule or random_hull(rng, "first", "one"), random_hull(rng, "second", "two")
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
    if b.kind in ("box", "capsule") and a.kind in ("box", "capsule"):
        c, n = meet_at_edges(rng, a, b, R, c, n, aligned & (number % 8 == 3), width)
    if a.kind == b.kind == "box":
        aside = unit(rng.normal(size=(count, 3))) * width
        aside *= np.sign((aside * n).sum(axis=1, keepdims=True))  # apart along n, so apart
        aside[(group > 0) | (np.arange(count) % 2 == 0)] = 0.0
        c += n * wanted[:, None] + aside
    else:
        before = plain_distances(a, b, R, c)
        c += (wanted - before.distance)[:, None] * before.normal
    q = np.empty((count, 14))
    q[:, 3:7], q[:, 10:] = quaternions
    q[:, 7:10] = rng.uniform(-0.5, 0.5, (count, 3))
    o_B = q[:, 7:10] + turned(quaternions[1]) @ b.X_BS.translation
    middle = o_B + np.einsum("nij,nj->ni", R_WB, c)
    q[:, :3] = middle - turned(quaternions[0]) @ a.X_BS.translation
    return Poses(q, R, c, R_WB, plain_distances(a, b, R, c), group, aligned)


def plain_distances(a: Shape, b: Shape, R: np.ndarray, c: np.ndarray) -> Distances:
    """Signed distances of two shapes at n poses."""
    if not are_hulls(a, b):
        return distances(a, b, R, c)
    found = of_hulls(hull_of(a), hull_of(b), R, c)
    if a.kind == "capsule":
        found.distance -= a.size[0]
        found.within = None  # its ends, and vertices on its side, have candidates of their own
    return found


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


def around(shape: Shape) -> tuple[np.ndarray, float]:
    """Half extents (3,) [m] of a box, and the radius [m] about it, that hold a shape."""
    if shape.kind in ("cylinder", "cone"):
        radius, length = shape.size
        return np.array([radius, radius, 0.5 * length]), 0.0
    if shape.kind == "ellipsoid":
        return np.array(shape.size), 0.0
    return core_of(shape)


def start(
    rng: np.random.Generator, a: Shape, b: Shape, R: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray]:
    """Places (n, 3) [m] of A about its width away from B, boxes in touch, and the normals there."""
    count = len(R)
    away = unit(rng.normal(size=(count, 3)))
    if b.kind == "plane":
        return np.column_stack([away[:, :2], np.ones(count)]), away
    if are_hulls(a, b):
        c = away * (hull_of(a).ball[3] + hull_of(b).ball[3] + np.linalg.norm(hull_of(b).ball[:3]))
        c -= np.einsum("nij,j->ni", R, hull_of(a).ball[:3])
        for _ in range(APPROACHES):
            c -= away * np.maximum(of_hulls(hull_of(a), hull_of(b), R, c).distance, 0.0)[:, None]
        return c, away
    if b.kind == "mesh":
        assert b.mesh is not None
        corners = b.mesh.vertices[b.mesh.triangles[rng.integers(len(b.mesh.triangles), size=count)]]
        at = np.einsum("nij,ni->nj", corners, rng.dirichlet(np.full(3, 0.5), count))
        out = unit(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))
        return at + (a.size[0] + 1.5 * width) * unit(out + 0.7 * away), out
    (half_a, radius_a), (half_b, radius_b) = core_of(a), around(b)
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
