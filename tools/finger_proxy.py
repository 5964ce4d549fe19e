"""The finger proxy of CHAI3D 3.3 on a triangle mesh that stands still, without friction: a naive twin.

A proxy, a ball of the tip's radius, is moved towards the device and stops at what is in the way; the force is
a spring from the device to it [Ruspini, Kolarov and Khatib 1997; Zilles and Salisbury 1995].  Written from
what the sources of CHAI3D do (src/forces/CAlgorithmFingerProxy, src/graphics/CTriangleArray):

1   towards the device, up to the first triangle that is met; the proxy stops epsilon before it,
2   from there towards the device's projection on that triangle's plane, up to a second triangle,
3   along the line in which both planes meet, up to a third.

Lengths may have any unit: the thresholds of CHAI3D are numbers, and FLAT leaves out faces that are small in
metres.

A goal nearer than epsilon counts as reached, and the proxy does not move.  Epsilon gets smaller, down to a
hundredth, where the proxy was nearer to a triangle than that, and is whole again once nothing is touched.  As
CHAI3D comes one of the three is taken in a tick, and the next one in the next tick; with its dynamic objects,
all three.  Triangles count from their front alone.

CHAI3D itself, compiled and led along paths of `study_mesh_touch.py`, had its proxy there to 4e-14 m.
With shading it is so in the median, not in every tick: presumably where several triangles are met at once.

With shading the goal of step 2 is put first on the plane across the interpolated normal of the vertices, then
on that of the triangle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

EPSILON = 1e-4  # as CHAI3D comes
LEAST = 0.01  # of it
BESIDE = 1e-9  # a hit so far behind the goal still counts
SHADED_rad = 0.75  # vertex normals that differ by more, all of them, are not interpolated
PARALLEL = 1e-14  # doubled area by advance along the normal: a face that is met by less is left
FLAT = 1e-13  # square of the doubled area: a face of less is left, its edges and vertices are not
ROUNDING = 1e-13
NO_HIT = np.inf


def length(v: np.ndarray) -> float:
    return float(np.sqrt(v @ v))


@dataclass(frozen=True)
class Hit:
    """Where the ball's centre is when it meets a triangle, how far that is, the normal there."""

    distance: float
    centre: np.ndarray
    normal: np.ndarray
    triangle: int


class Mesh:
    """Triangles to be met by a ball: vertices (nv, 3), triangles (nt, 3) that face outwards."""

    def __init__(self, vertices: np.ndarray, triangles: np.ndarray, radius: float) -> None:
        self.radius, self.triangles = radius, triangles
        self.corners = vertices[triangles]  # (nt, 3, 3)
        self.least = self.corners.min(axis=1) - radius
        self.most = self.corners.max(axis=1) + radius
        areas = np.cross(self.corners[:, 1] - self.corners[:, 0], self.corners[:, 2] - self.corners[:, 0])
        self.doubled_area = np.linalg.norm(areas, axis=1)
        self.normals = areas / self.doubled_area[:, None]
        at_vertices = np.zeros_like(vertices)
        for i in range(3):
            np.add.at(at_vertices, triangles[:, i], self.normals)
        self._box, self._in_box = (np.zeros(3), np.full(3, -np.inf)), np.zeros(0, int)
        self.vertex_normals = at_vertices / np.linalg.norm(at_vertices, axis=1, keepdims=True)

    def first_hit(self, start: np.ndarray, end: np.ndarray) -> Hit | None:
        """What a ball meets first whose centre goes from start to end."""
        way = end - start
        low, high = np.minimum(start, end), np.maximum(start, end)
        near = self._around(low, high)
        near = near[((self.least[near] <= high) & (self.most[near] >= low)).all(axis=1)]
        near = near[self.normals[near] @ way <= 0.0]
        if len(near) == 0 or not way.any():
            return None
        shares, normals = zip(
            self._faces(near, start, way), self._vertices(near, start, way), self._edges(near, start, way),
            strict=True,
        )  # fmt: skip
        share = np.concatenate(shares)
        k = int(share.argmin())
        if share[k] == NO_HIT:
            return None
        triangle = np.concatenate([near, np.repeat(near, 3), np.repeat(near, 3)])[k]
        centre = start + share[k] * way
        return Hit(share[k] * length(way), centre, np.concatenate(normals)[k], int(triangle))

    def _around(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Triangles of a box around this one, looked for again once this one is not within it."""
        if not ((low >= self._box[0]) & (high <= self._box[1])).all():
            self._box = low - self.radius, high + self.radius
            self._in_box = np.flatnonzero(
                ((self.least <= self._box[1]) & (self.most >= self._box[0])).all(axis=1)
            )
        return self._in_box

    def _faces(self, near: np.ndarray, start: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Share of the way until each face, moved outwards by the radius, is met, and its normal."""
        n = self.normals[near]
        a, b, c = np.moveaxis(self.corners[near], 1, 0)
        falls, edge_b, edge_c = n @ way, b - a, c - a
        with np.errstate(divide="ignore", invalid="ignore"):
            share = ((a - start) * n).sum(axis=1) + self.radius
            share = share / falls
            q = start + share[:, None] * way - a
            bb, bc, cc = (
                (u * v).sum(axis=1) for u, v in ((edge_b, edge_b), (edge_b, edge_c), (edge_c, edge_c))
            )
            qb, qc = (q * edge_b).sum(axis=1), (q * edge_c).sum(axis=1)
            area = bb * cc - bc * bc
            s, t = (cc * qb - bc * qc) / area, (bb * qc - bc * qb) / area
            met = (falls * self.doubled_area[near] <= -PARALLEL) & (area >= FLAT)
            met &= (share >= -ROUNDING) & (share <= 1.0)
            met &= (s >= -ROUNDING) & (t >= -ROUNDING) & (s + t <= 1.0 + ROUNDING)
        return np.where(met, share, NO_HIT), n

    def _vertices(
        self, near: np.ndarray, start: np.ndarray, way: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same of balls around vertices; one that holds the start is left."""
        centres = self.corners[near].reshape(-1, 3)
        off = start - centres
        share = self._entry(way @ way, off @ way, (off * off).sum(axis=1))
        return share, self._outwards(start, way, share, centres)

    def _edges(self, near: np.ndarray, start: np.ndarray, way: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same of cylinders around edges."""
        foot = self.corners[near].reshape(-1, 3)
        along = self.corners[near][:, [1, 2, 0]].reshape(-1, 3) - foot
        long = np.linalg.norm(along, axis=1, keepdims=True)
        along = along / long
        off = start - foot
        ahead, runs = (off * along).sum(axis=1), along @ way
        across = way - runs[:, None] * along
        aside = off - ahead[:, None] * along
        share = self._entry(
            (across * across).sum(axis=1), (aside * across).sum(axis=1), (aside * aside).sum(axis=1)
        )
        at = ahead + np.where(share == NO_HIT, 0.0, share) * runs
        share = np.where((at > 0.0) & (at < long[:, 0]), share, NO_HIT)
        return share, self._outwards(start, way, share, foot + at[:, None] * along)

    def _entry(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Least root within 0 to 1 of a t^2 + 2 b t + c = radius^2, from the outside."""
        with np.errstate(divide="ignore", invalid="ignore"):
            share = (-b - np.sqrt(b * b - a * (c - self.radius**2))) / a
            return np.where((share >= 0.0) & (share <= 1.0), share, NO_HIT)

    def _outwards(
        self, start: np.ndarray, way: np.ndarray, share: np.ndarray, foot: np.ndarray
    ) -> np.ndarray:
        """Unit vectors from the feet to the centre at these shares of the way; rows that are not met: any."""
        v = start + np.where(share == NO_HIT, 0.0, share)[:, None] * way - foot
        return v / np.maximum(np.linalg.norm(v, axis=1, keepdims=True), 1e-300)

    def shaded_normal(self, hit: Hit) -> np.ndarray:
        """Normal of the vertices, interpolated at the contact by the areas of the parts of the triangle."""
        corners, normals = self.corners[hit.triangle], self.vertex_normals[self.triangles[hit.triangle]]
        angles = [np.arccos(np.clip(normals[i] @ normals[i - 1], -1.0, 1.0)) for i in range(3)]
        if min(angles) >= SHADED_rad:
            return hit.normal
        n = self.normals[hit.triangle]
        point = hit.centre - ((hit.centre - corners[0]) @ n) * n
        areas = [length(np.cross(corners[i - 2] - point, corners[i - 1] - point)) for i in range(3)]
        shaded = np.array(areas) @ normals
        return shaded / length(shaded)


class FingerProxy:
    """The proxy.

    stages   of the three steps that a tick takes: 1 as CHAI3D comes, 3 with its dynamic objects.
    """

    def __init__(
        self, mesh: Mesh, stiffness: float, start: np.ndarray, stages: int = 1, epsilon: float = EPSILON,
        shaded: bool = False,
    ) -> None:  # fmt: skip
        self.mesh, self.stiffness, self.stages, self.shaded = mesh, stiffness, stages, shaded
        self.proxy, self.base = np.array(start, float), epsilon
        self.epsilon, self.contacts, self.next_step = epsilon, 0, 0
        self._held: list[Hit] = []

    def force(self, device: np.ndarray) -> np.ndarray:
        """Force on a device that is at a place (3,) in this tick."""
        if self.stages == 1:
            self._take(self.next_step, device)
        else:
            for step in range(3):
                if not self._take(step, device):
                    break
        return self.stiffness * (self.proxy - device) if self.contacts else np.zeros(3)

    def _take(self, step: int, device: np.ndarray) -> bool:
        """Take a step; True where something was in the way."""
        if step == 0:
            if self.contacts == 0:
                self.epsilon = max(self.base, 1e-4 * self.mesh.radius)
            self._held = []
        goal = self._goal(step, device)
        self.next_step = 0
        if goal is None or length(goal - self.proxy) < self.base:
            self.contacts = step or self.contacts
            return False
        distance = length(goal - self.proxy)
        ahead = (goal - self.proxy) / distance
        hit = self.mesh.first_hit(self.proxy, goal + self.base * ahead)
        if hit is None or hit.distance > distance + BESIDE:
            self.proxy, self.contacts = goal, step
            return False
        self._held = [*self._held, hit]
        if hit.distance < self.epsilon:
            self.epsilon = max(hit.distance, LEAST * self.base)
        back = self.epsilon / abs(ahead @ hit.normal)
        if back > hit.distance:
            back = max(hit.distance, self.epsilon)
        self.proxy = hit.centre - back * ahead
        if step == 2:
            self.contacts = 3
        elif length(self.proxy - goal) < self.base:
            self.contacts = step + 1
        else:
            self.next_step = step + 1
        return True

    def _goal(self, step: int, device: np.ndarray) -> np.ndarray | None:
        """Where the proxy should go; None where two planes have no line."""
        if step == 0:
            return device
        n = self._held[0].normal
        if step == 1:
            if self.shaded:
                device = onto_plane(device, self.proxy, self.mesh.shaded_normal(self._held[0]))
            return onto_plane(device, self.proxy, n)
        line = np.cross(n, self._held[1].normal)
        if not line.any():
            return None
        line /= length(line)
        return self.proxy + ((device - self.proxy) @ line) * line


def onto_plane(point: np.ndarray, origin: np.ndarray, normal: np.ndarray) -> np.ndarray:
    return point - ((point - origin) @ normal) * normal
