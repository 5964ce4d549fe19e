"""From pairs of shapes to contact candidates: spheres and corners against surfaces; which pairs there are."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np

from hapticsim.codes import (
    ON_BOX,
    ON_CAPSULE,
    ON_CONE,
    ON_CROSSING,
    ON_CYLINDER,
    ON_EDGES,
    ON_ELLIPSOID,
    ON_HULLS,
    ON_MESH,
    ON_PLANE,
    ON_RIM,
    ON_SIDE,
    ON_SUPPORT,
)
from hapticsim.model.hull import Features, Hull, hull_of_box, segment_of
from hapticsim.model.joined.piece import Piece
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.scene import Scene, Shape
from hapticsim.model.stops import Stop, frame_of, stops_of
from hapticsim.model.triangle_mesh import TriangleMesh, globe, prism, pyramid


@dataclass(frozen=True)
class PairKind:
    """How two kinds of shapes touch: spheres that stand for the first, against the surface of the second."""

    surface: int  # codes.ON_PLANE ...: what the kernel measures the gap to
    rows: int  # that it may take at once; of a box those of a face
    back: int | None = None  # the same for spheres of the second against the surface of the first
    crossing: bool = False  # and the side of one across that of the other
    places: int = 0  # for edges, a side and edges, or features of two hulls, that meet at once


HULLS = ("box", "mesh")  # kinds of convex solids with flat faces
FACETED = (
    "cylinder",
    "cone",
    "ellipsoid",
)  # round kinds with ``sides``: to all but ROUND they are such a solid
ROUND = ("sphere", "plane")  # what these touch as they are
STANDS_ON = 8  # fixed points of each rim, which hold an end that is flat on a plane
STANDS_OUT = 1e-5  # of the radius: how far these are beyond the end, so that it has no other nearest point
WITHIN_RIM = 0.99  # of the radius: nearer to the axis, so that a body that is tilted by 1e-3 rolls on its rim
PAIRS = {
    ("sphere", "plane"): PairKind(ON_PLANE, 1),
    ("capsule", "plane"): PairKind(ON_PLANE, 2),
    ("box", "plane"): PairKind(ON_PLANE, 4),
    ("mesh", "plane"): PairKind(ON_PLANE, 4),
    ("sphere", "box"): PairKind(ON_BOX, 1),
    ("capsule", "box"): PairKind(ON_BOX, 4, back=ON_SIDE, places=4),
    ("box", "box"): PairKind(ON_BOX, 8, back=ON_BOX, places=8),
    ("sphere", "cylinder"): PairKind(ON_CYLINDER, 1),
    ("sphere", "mesh"): PairKind(ON_MESH, 4, places=4),
    ("sphere", "sphere"): PairKind(ON_CAPSULE, 1),
    ("sphere", "capsule"): PairKind(ON_CAPSULE, 1),
    ("capsule", "capsule"): PairKind(ON_CAPSULE, 4, back=ON_SIDE, crossing=True),
    ("capsule", "mesh"): PairKind(ON_HULLS, 4, back=ON_SIDE, places=4),
    ("mesh", "box"): PairKind(ON_HULLS, 12, places=12),
    ("mesh", "mesh"): PairKind(ON_HULLS, 12, places=12),
    ("cylinder", "plane"): PairKind(ON_PLANE, STANDS_ON),
    ("cone", "plane"): PairKind(ON_PLANE, STANDS_ON),
    ("ellipsoid", "plane"): PairKind(ON_SUPPORT, 1),
    ("sphere", "cone"): PairKind(ON_CONE, 1),
    ("sphere", "ellipsoid"): PairKind(ON_ELLIPSOID, 1),
}

# Pairs of kinds of shapes whose contact may yield: each is a sphere, a corner or an ellipsoid on one surface.
YIELDING_PAIRS = frozenset(
    {
        ("sphere", "plane"),
        ("capsule", "plane"),
        ("box", "plane"),
        ("mesh", "plane"),
        ("ellipsoid", "plane"),
        ("sphere", "box"),
        ("sphere", "sphere"),
        ("sphere", "capsule"),
        ("sphere", "cylinder"),
        ("sphere", "cone"),
        ("sphere", "ellipsoid"),
    }
)


@dataclass(frozen=True, eq=False)
class Candidate:
    """One sphere that may touch one surface; frames are body names or ``world``."""

    a: str  # shape with the sphere
    b: str  # shape with the surface
    sphere_body: str
    centre_B: np.ndarray  # (3,) [m]
    radius: float  # [m], 0 for a corner
    inward_B: np.ndarray  # (3,) unit, from a corner into its box, along a side that crosses; 0 for a sphere
    surface_body: str
    kind: int  # codes.ON_PLANE ...
    X_BS: Placement
    half: tuple[float, float, float]  # [m] Plan.surface_half
    X_AE: Placement | None = None  # Plan.edge_pose: of edges, of hulls, of a corner's box, or an ellipsoid
    edge_half: tuple[float, float, float] = (0.0, 0.0, 0.0)  # [m]
    places: int = 0  # Plan.edge_places
    mesh: TriangleMesh | None = None  # of ON_MESH
    hulls: tuple[Hull, Hull] | None = None  # of ON_HULLS
    features: tuple[Features, ...] = ()  # what touches of both
    stop: Stop | None = None  # the end of a joint's range that it is, instead of two shapes

    @property
    def is_curved(self) -> bool:
        """Whether its row may bend: not on a plane, nor that of a corner on the face of a box."""
        return self.kind != ON_PLANE and not (self.kind == ON_BOX and self.radius == 0.0)

    @property
    def turns(self) -> bool:
        """Whether its gap is an angle [rad] and its force a torque [N m]."""
        return self.stop is not None and self.stop.unit == "rad"

    @property
    def thickness(self) -> float:
        """Sum of both radii of round shapes [m], without bound of others."""
        if self.kind in (ON_MESH, ON_CYLINDER, ON_ELLIPSOID, ON_CONE):
            return self.radius
        if self.kind == ON_RIM:
            return self.half[0]
        if self.kind == ON_SUPPORT:
            return min(self.edge_half)
        return self.radius + self.half[0] if ON_CAPSULE <= self.kind < ON_EDGES else math.inf


def touching_as(a: Shape, b: Shape) -> tuple[Shape, Shape]:
    """Two shapes as they touch one another: a FACETED one with ``sides`` as a solid, but of ROUND kinds."""
    return (_solid(a) if b.kind not in ROUND else a), (_solid(b) if a.kind not in ROUND else b)


def _solid(shape: Shape) -> Shape:
    """The solid with flat faces of a shape that has sides; any other shape as it is."""
    match shape.kind, shape.size, shape.sides:
        case "cylinder", (radius, length), int(sides):
            mesh = prism(radius, length, sides)
        case "cone", (radius, length), int(sides):
            mesh = pyramid(radius, length, sides)
        case "ellipsoid", (x, y, z), int(sides):
            mesh = globe((x, y, z), sides)
        case _:
            return shape
    return replace(shape, kind="mesh", size=half_of(shape), mesh=mesh, sides=None)


def spheres_of(shape: Shape) -> list[tuple[np.ndarray, float, np.ndarray]]:
    """Centre, radius and inward direction (body axes) of the spheres that stand for a shape in contact."""
    none = np.zeros(3)
    if shape.kind == "sphere":
        local = [(none, shape.size[0], none)]
    elif shape.kind == "capsule":
        end = np.array([0.0, 0.0, 0.5 * shape.size[1]])
        local = [(end, shape.size[0], none), (-end, shape.size[0], none)]
    elif shape.kind == "box":
        corners = [np.array(s) * shape.size for s in itertools.product((-1.0, 1.0), repeat=3)]
        local = [(p, 0.0, -p / np.linalg.norm(p)) for p in corners]
    elif shape.kind == "cylinder":
        local = [(p, 0.0, -p / np.linalg.norm(p)) for p in points_of_rims(*shape.size)]
    elif shape.kind == "cone":
        radius, length = shape.size
        base = [p for p in points_of_rims(radius, length) if p[2] < 0.0]
        corners = [*base, np.array([0.0, 0.0, 0.5 * length])]
        local = [(p, 0.0, -p / np.linalg.norm(p)) for p in corners]
    elif shape.mesh is not None:
        middle = shape.mesh.vertices.mean(axis=0)
        local = [(p, 0.0, (middle - p) / np.linalg.norm(middle - p)) for p in shape.mesh.vertices]
    else:
        return []
    X = shape.X_BS
    return [(X.rotation @ p + X.translation, radius, X.rotation @ g) for p, radius, g in local]


def points_of_rims(radius: float, length: float) -> list[np.ndarray]:
    """Fixed points (3,) [m] of both rims of a cylinder, which stand out by STANDS_OUT."""
    turns = 2.0 * np.pi * np.arange(STANDS_ON) / STANDS_ON
    ring = WITHIN_RIM * radius * np.column_stack([np.cos(turns), np.sin(turns)])
    ends = 0.5 * length + STANDS_OUT * radius
    return [np.array([x, y, z]) for z in (-ends, ends) for x, y in ring.tolist()]


def rims_on_plane(a: Shape, plane: Shape) -> list[Candidate]:
    """Both rims of a cylinder, or that of a cone, by the point of each that is nearest to a plane."""
    (radius, length), X = a.size, a.X_BS
    z = X.rotation[:, 2]
    return [
        Candidate(
            a.name, plane.name, a.body, X.translation + 0.5 * length * axis, 0.0, axis, plane.body, ON_RIM,
            plane.X_BS, (radius, 0.0, 0.0),
        )
        for axis in ((-z, z) if a.kind == "cylinder" else (-z,))
    ]  # fmt: skip


def support_on_plane(a: Shape, plane: Shape) -> Candidate:
    """An ellipsoid, by the point that is nearest to a plane."""
    half, none = half_of(a), np.zeros(3)
    return Candidate(
        a.name, plane.name, a.body, a.X_BS.translation, 0.0, none, plane.body, ON_SUPPORT, plane.X_BS,
        half_of(plane), a.X_BS, half,
    )  # fmt: skip


def half_of(surface: Shape) -> tuple[float, float, float]:
    """Half extents of a surface as the kernel takes them [m] (Plan.surface_half)."""
    match surface.kind, surface.size:
        case "box" | "ellipsoid", (x, y, z):
            return x, y, z
        case "sphere", (radius,):
            return radius, radius, 0.0
        case "capsule" | "cylinder" | "cone", (radius, length):
            return radius, radius, 0.5 * length
    return 0.0, 0.0, 0.0


def crossing_of(a: Shape, b: Shape) -> Candidate:
    """The sides of two capsules, which may cross."""
    (radius, length), X = a.size, a.X_BS
    half = (b.size[0], 0.5 * length, 0.5 * b.size[1])
    return Candidate(
        a.name, b.name, a.body, X.translation, radius, X.rotation[:, 2], b.body, ON_CROSSING, b.X_BS, half
    )


def places_of(a: Shape, b: Shape, count: int) -> list[Candidate]:
    """Places for the edges of a box or the side of a capsule that cross edges of a box b."""
    radius, half = (0.0, half_of(a)) if a.kind == "box" else (a.size[0], (0.0, 0.0, 0.5 * a.size[1]))
    middle, none = a.X_BS.translation, np.zeros(3)
    return [
        Candidate(
            a.name, b.name, a.body, middle, radius, none, b.body, ON_EDGES, b.X_BS, half_of(b), a.X_BS, half,
            places=0 if i else count,
        )
        for i in range(count)
    ]  # fmt: skip


def places_on_mesh(ball: Shape, b: Shape, count: int) -> list[Candidate]:
    """Places for the faces, edges and vertices of a mesh b that a sphere touches at once, or an end of a
    capsule."""
    return [
        Candidate(
            ball.name, b.name, ball.body, centre, radius, none, b.body, ON_MESH, b.X_BS, half_of(b),
            places=0 if i else count, mesh=b.mesh,
        )
        for centre, radius, none in spheres_of(ball)
        for i in range(count)
    ]  # fmt: skip


def hull_of(shape: Shape) -> Hull:
    """A box or a convex mesh as a hull; of a capsule its middle line."""
    if shape.mesh is not None:
        return shape.mesh.hull
    if shape.kind == "capsule":
        return segment_of(0.5 * shape.size[1])
    x, y, z = shape.size
    return hull_of_box((x, y, z))


def features_of(shape: Shape) -> Features:
    """What touches of a solid: all of it, or of one that is joined to others what shows."""
    return shape.mesh.features if isinstance(shape.mesh, Piece) else hull_of(shape).features


def places_of_hulls(a: Shape, b: Shape, count: int) -> list[Candidate]:
    """Places for the features by which two convex solids touch; of a capsule for edges across its side."""
    middle, none, hulls = a.X_BS.translation, np.zeros(3), (hull_of(a), hull_of(b))
    features = (features_of(a), features_of(b))
    radius = a.size[0] if a.kind == "capsule" else 0.0
    return [
        Candidate(
            a.name, b.name, a.body, middle, radius, none, b.body, ON_HULLS, b.X_BS, half_of(b), a.X_BS,
            places=0 if i else count, hulls=hulls, features=features,
        )
        for i in range(count)
    ]  # fmt: skip


def candidates_of_stops(scene: Scene) -> list[Candidate]:
    """The stops of joints: a point on the axis of its frame, and planes across it."""
    none, axis, down = np.zeros(3), np.array([0.0, 0.0, 1.0]), np.diag([1.0, -1.0, -1.0])
    return [
        Candidate(
            f"joint {stop.joint}", f"{stop.side} stop of {stop.joint}", frame_of(stop.joint), none, 0.0, none,
            WORLD, ON_PLANE, Placement(down if stop.side == "upper" else np.eye(3), stop.at * axis),
            (0.0, 0.0, 0.0), stop=stop,
        )
        for stop in stops_of(scene)
    ]  # fmt: skip


def candidates_of(scene: Scene) -> list[Candidate]:
    """Every candidate of a scene, in the order of its contact pairs; then the stops of its joints.

    A box against a box gives the corners of each on the faces of the other, and places for edges that cross;
    a capsule against a box its ends, the corners of the box on its side, and places for edges across it.  A
    capsule against a capsule gives its ends on the other, the ends of that on its side, and side across side.
    A cylinder on a plane gives both rims, and fixed points of them; a cone its rim, such points, and its
    apex.  A mesh with solids gives what each of these gives alone, under its own name.
    """
    shapes = {s.name: s for s in scene.shapes}
    found = []
    for pair in scene.contacts:
        a, b = touching_as(shapes[pair.a], shapes[pair.b])
        for solid_a, solid_b in itertools.product(a.solids_for(b), b.solids_for(a)):
            found += _candidates_of_pair(solid_a, solid_b)
    return found + candidates_of_stops(scene)


def _candidates_of_pair(a: Shape, b: Shape) -> list[Candidate]:
    kind = PAIRS.get((a.kind, b.kind))
    if kind is None:
        a, b, kind = b, a, PAIRS[b.kind, a.kind]
    found = rims_on_plane(a, b) if b.kind == "plane" and a.kind in ("cylinder", "cone") else []
    if kind.surface == ON_SUPPORT:
        return [support_on_plane(a, b)]
    for ball, surface, touched in ((a, b, kind.surface), (b, a, kind.back)):
        if touched is None or touched == ON_MESH or touched == ON_HULLS:
            continue
        is_sharp = ball.kind == "box" and touched == ON_BOX
        for centre, radius, inward in spheres_of(ball):
            found.append(
                Candidate(
                    a=ball.name,
                    b=surface.name,
                    sphere_body=ball.body,
                    centre_B=centre,
                    radius=radius,
                    inward_B=inward,
                    surface_body=surface.body,
                    kind=touched,
                    X_BS=surface.X_BS,
                    half=half_of(surface),
                    X_AE=ball.X_BS if is_sharp else None,
                    edge_half=half_of(ball) if is_sharp else (0.0, 0.0, 0.0),
                )
            )
    if kind.crossing:
        found.append(crossing_of(a, b))
    if kind.surface == ON_MESH:
        found += places_on_mesh(a, b, kind.places)
    elif kind.surface == ON_HULLS:
        if a.kind == "capsule":
            found += places_on_mesh(a, b, kind.places)
        found += places_of_hulls(a, b, kind.places)
    elif kind.places:
        found += places_of(a, b, kind.places)
    return found
