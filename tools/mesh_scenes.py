"""Triangle meshes to try, plain geometry about them, and scenes in which a ball meets one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import trimesh

from hapticsim.config.load import loads
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.scene import ContactPair, Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh

GRAVITY = 9.81


def mesh_of(surface: trimesh.Trimesh) -> TriangleMesh:
    return TriangleMesh(np.array(surface.vertices, float), np.array(surface.faces, np.int64))


def box_mesh(half: Sequence[float], divided: int = 0) -> TriangleMesh:
    """A cuboid, each of its triangles divided into four so many times."""
    surface = trimesh.creation.box(2.0 * np.array(half))
    for _ in range(divided):
        surface = surface.subdivide()
    return mesh_of(surface)


def bumpy(rng: np.random.Generator, finer: int = 2, rough: float = 0.2) -> TriangleMesh:
    """A ball of about 0.4 m with random bumps and hollows."""
    surface = trimesh.creation.icosphere(finer, 0.4)
    surface.vertices *= 1.0 + rough * rng.random((len(surface.vertices), 1))
    return mesh_of(surface)


def terrain(rng: np.random.Generator, cells: int = 8, high: float = 0.08) -> TriangleMesh:
    """A closed block of 1 m by 1 m whose upper side has random heights up to ``high`` [m]."""
    n = cells + 1
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, n), indexing="ij")
    top = np.stack([x, y, high * rng.random((n, n))], -1).reshape(-1, 3)
    return closed_below(top, n)


def bowl(cells: int = 20, steepness: float = 1.0) -> TriangleMesh:
    """The same with the heights steepness (x^2 + y^2)."""
    n = cells + 1
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, n), np.linspace(-0.5, 0.5, n), indexing="ij")
    return closed_below(np.stack([x, y, steepness * (x * x + y * y)], -1).reshape(-1, 3), n)


def groove(angle: float) -> TriangleMesh:
    """A block with a groove along y whose two sides rise from x = 0 at this angle [rad]."""
    x, y = np.meshgrid([-0.5, 0.0, 0.5], [-0.5, 0.0, 0.5], indexing="ij")
    return closed_below(np.stack([x, y, np.tan(angle) * abs(x)], -1).reshape(-1, 3), 3)


def prism(
    profile: Sequence[Sequence[float]], flat: Sequence[Sequence[int]], half_width: float = 1.0
) -> TriangleMesh:
    """A prism along y over a polygon of points (x, z) [m], which the triangles ``flat`` fill."""
    points, n = np.array(profile, float), len(profile)
    near = np.column_stack([points[:, 0], np.full(n, -half_width), points[:, 1]])
    far = near + np.array([0.0, 2.0 * half_width, 0.0])
    ends = np.array(flat)
    i = np.arange(n)
    j = (i + 1) % n
    sides = np.concatenate([np.stack([i, i + n, j + n], 1), np.stack([i, j + n, j], 1)])
    vertices = np.vstack([near, far])
    triangles = np.concatenate([ends, ends[:, ::-1] + n, sides])
    volume = trimesh.Trimesh(vertices, triangles, process=False).volume
    return TriangleMesh(vertices, triangles if volume > 0.0 else triangles[:, ::-1])


def floor_and_wall() -> TriangleMesh:
    """A floor, z = 0, and on it at x = 0.5 m a wall 20 mm thick, of one piece."""
    profile = [(-2, -0.3), (1, -0.3), (1, 0), (0.52, 0), (0.52, 0.5), (0.5, 0.5), (0.5, 0), (-2, 0)]
    return prism(profile, [(0, 1, 2), (0, 2, 3), (0, 3, 6), (0, 6, 7), (3, 4, 5), (3, 5, 6)])


def trough(facets: int, radius: float = 0.5, half_angle: float = np.pi / 3) -> TriangleMesh:
    """A block with a round trough along y, lowest at z = 0, of so many facets."""
    angle = np.linspace(half_angle, -half_angle, facets + 1)
    top = np.stack([radius * np.sin(angle), radius - radius * np.cos(angle)], 1)
    bottom = np.column_stack([top[::-1, 0], np.full(facets + 1, -0.3)])
    i, last = np.arange(facets), 2 * facets + 1
    flat = np.concatenate([np.stack([i, i + 1, last - i], 1), np.stack([i + 1, last - i - 1, last - i], 1)])
    return prism(np.vstack([top, bottom]), flat)


def funnel(sides: int) -> TriangleMesh:
    """A block with a pit of so many flat sides that meet at the origin, 45 degrees steep."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    around = np.stack([np.cos(angle), np.sin(angle)], 1)
    rim, outer = (np.column_stack([r * around, np.full(sides, 0.5)]) for r in (0.5, 0.7))
    foot = np.column_stack([0.7 * around, np.full(sides, -0.3)])
    vertices = np.vstack([[0.0, 0.0, 0.0], rim, outer, foot, [0.0, 0.0, -0.3]])
    a = 1 + np.arange(sides)
    b = 1 + (np.arange(sides) + 1) % sides
    zero, last = np.zeros(sides, int), np.full(sides, 1 + 3 * sides)
    rings = [np.stack([zero, a, b], 1), np.stack([last, b + 2 * sides, a + 2 * sides], 1)]
    for inner, n in ((0, sides), (sides, sides)):
        rings += [np.stack([a + inner, a + inner + n, b + inner + n], 1)]
        rings += [np.stack([a + inner, b + inner + n, b + inner], 1)]
    return TriangleMesh(vertices, np.concatenate(rings))


def slot(width: float) -> TriangleMesh:
    """Two slabs beside one another with a gap of this width [m] between x = -width / 2 and width / 2."""
    slabs = [trimesh.creation.box((0.2, 2.0, 2.0)) for _ in range(2)]
    for slab, side in zip(slabs, (-1.0, 1.0), strict=True):
        slab.apply_translation([side * (0.1 + 0.5 * width), 0.0, 0.0])
    return mesh_of(trimesh.util.concatenate(slabs))


def closed_below(top: np.ndarray, n: int) -> TriangleMesh:
    """A block with this upper side, (n n, 3), and a flat bottom at z = -0.3 m."""
    bottom = np.column_stack([top[:, :2], np.full(len(top), -0.3)])
    i, j = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = (i * n + j).ravel()
    b, c, d = a + n, a + n + 1, a + 1
    upper = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    rim = [*range(0, n * (n - 1), n), *range(n * (n - 1), n * n - 1)]
    rim += [*range(n * n - 1, n - 1, -n), *range(n - 1, 0, -1)]
    p = np.array(rim)
    q, low = np.roll(p, -1), n * n
    wall = np.concatenate([np.stack([p, p + low, q + low], 1), np.stack([p, q + low, q], 1)])
    return TriangleMesh(np.vstack([top, bottom]), np.concatenate([upper, upper[:, ::-1] + low, wall]))


def corners_of(mesh: TriangleMesh) -> np.ndarray:
    """(nt, 3, 3) [m]."""
    return mesh.vertices[mesh.triangles]


def plain_distance(mesh: TriangleMesh, point: np.ndarray) -> float:
    """Distance [m] of a point (3,) from all triangles, one by one, below 0 inside by the winding number."""
    corners = corners_of(mesh)
    nearest = trimesh.triangles.closest_point(corners, np.tile(point, (len(corners), 1)))
    distance = np.sqrt(((nearest - point) ** 2).sum(axis=1).min())
    return float(-distance if is_inside(corners, point) else distance)


def is_inside(corners: np.ndarray, point: np.ndarray) -> bool:
    """Whether the triangles wind around a point, by their solid angles [van Oosterom and Strackee 1983]."""
    a, b, c = np.moveaxis(corners - point, 1, 0)
    la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return bool(abs(np.arctan2(volume, below).sum()) > np.pi)


def ball_scene(
    mesh: TriangleMesh | Sequence[float],
    place: Sequence[float],
    velocity: Sequence[float] = (0.0, 0.0, 0.0),
    radius: float = 0.05,
    restitution: float = 0.0,
    rate_Hz: float = 1000.0,
    X_WM: Placement | None = None,
    carried: bool = False,
) -> Scene:
    """A free ball of 1 kg and a mesh, or a box of these half extents, in the world or on a free body.

    The body "block", of 3 kg, starts at the origin.
    """
    inertia = 0.4 * radius * radius
    start = {"xyz_m": np.array(place, float).tolist(), "velocity_m_per_s": np.array(velocity, float).tolist()}
    scene = loads(f"""
name: ball and mesh
rate_Hz: {rate_Hz}
robot:
  bodies:
    - name: ball
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: {inertia}, yy: {inertia}, zz: {inertia}}}}}
    - name: block
      inertial: {{mass_kg: 3.0, inertia_kg_m2: {{xx: 0.3, yy: 0.4, zz: 0.5}}}}
  joints:
    - {{name: ball, type: free, parent: world, child: ball}}
    - {{name: block, type: {"free" if carried else "fixed"}, parent: world, child: block}}
shapes:
  - {{name: ball, kind: sphere, body: ball, radius_m: {radius}}}
initial:
  free:
    ball: {start}
""")
    box = not isinstance(mesh, TriangleMesh)
    half = tuple(mesh) if box else tuple(np.abs(mesh.vertices).max(axis=0))
    body = "block" if carried else WORLD
    kind, surface = ("box", None) if box else ("mesh", mesh)
    solid = Shape("solid", body, kind, half, X_WM or Placement(), mesh=surface)
    return replace(
        scene, shapes=(*scene.shapes, solid), contacts=(ContactPair("ball", "solid", restitution),)
    )
