"""The bounding volumes of shapes in contact, and which candidates each pair of shapes has."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from hapticsim.model.candidates import Candidate
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.scene import Scene, Shape

MANY = 8  # pairs of shapes from which on it is worth while to ask which are far


def volume_of(shape: Shape) -> tuple[np.ndarray, np.ndarray, float] | None:
    """Middle in its axes (3,), half extents (3,) and radius [m] of what holds a shape; None of a plane."""
    middle = np.zeros(3)
    if shape.mesh is not None:
        low, high = shape.mesh.vertices.min(axis=0), shape.mesh.vertices.max(axis=0)
        middle = 0.5 * (low + high)
        radius = float(np.sqrt(((shape.mesh.vertices - middle) ** 2).sum(axis=1).max()))
        return middle, 0.5 * (high - low), radius
    match shape.kind, shape.size:
        case "sphere", (radius,):
            return middle, np.full(3, radius), radius
        case "capsule", (radius, length):
            return middle, np.array([radius, radius, radius + 0.5 * length]), radius + 0.5 * length
        case "cylinder" | "cone", (radius, length):
            return middle, np.array([radius, radius, 0.5 * length]), math.hypot(radius, 0.5 * length)
        case "ellipsoid", (x, y, z):
            return middle, np.array([x, y, z]), max(x, y, z)
        case "box", (x, y, z):
            return middle, np.array([x, y, z]), math.sqrt(x * x + y * y + z * z)
    return None


def frame_sizes(scene: Scene, frames: Sequence[str]) -> np.ndarray:
    """(nf,) [m] how far the shapes on each of these bodies reach from its origin."""
    sizes = dict.fromkeys(frames, 0.0)
    for shape in scene.shapes:
        volume = volume_of(shape)
        if shape.body in sizes and volume is not None:
            X, (middle, _, radius) = shape.X_BS, volume
            reach = float(np.linalg.norm(X.rotation @ middle + X.translation)) + radius
            sizes[shape.body] = max(sizes[shape.body], reach)
    return np.array(list(sizes.values()), float)


def asks_for_pairs(scene: Scene) -> bool:
    """Whether the tick goes by pairs of shapes."""
    return len(scene.contacts) >= MANY or scene.may_step or scene.sleep is not None


def plan_of_volumes(
    scene: Scene, candidates: Sequence[Candidate], place: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """The fields ``volume_...`` and ``pair_...`` of the plan; without any in a scene of few pairs.

    place : numbers of the frames by body, -1 of the world.
    """
    shapes = {shape.name: shape for shape in scene.shapes}
    few = not asks_for_pairs(scene)
    number: dict[str, int] = {}
    frame: list[int] = []
    pose, half, radii = [], [], []
    first: list[int] = []
    pairs: list[tuple[int, int]] = []
    before: frozenset[str] = frozenset()
    for k, candidate in enumerate(() if few else candidates):
        names = frozenset((candidate.a, candidate.b))
        if names == before:
            continue
        before = names
        if candidate.stop is not None:  # a point, and a plane, by names that no shape has
            point = Shape(candidate.sphere_body, candidate.sphere_body, "sphere", (0.0,))
            pair_shapes = [point, Shape(f"\t{candidate.b}", WORLD, "plane", (0.0, 0.0))]
        else:
            pair_shapes = [shapes[candidate.a], shapes[candidate.b]]
        for shape in pair_shapes:
            volume, name = volume_of(shape), shape.name
            if name in number or volume is None:
                continue
            X, (middle, extents, radius) = shape.X_BS, volume
            number[name] = len(frame)
            frame.append(place[shape.body])
            pose.append([*X.rotation.ravel(), *(X.rotation @ middle + X.translation)])
            half.append(extents)
            radii.append(radius)
        first.append(k)
        pairs.append((number[pair_shapes[0].name], number.get(pair_shapes[1].name, -1)))
    pair = np.array(pairs, np.int64).reshape(-1, 2)
    return {
        "volume_frame": np.array(frame, np.int64),
        "volume_pose": np.array(pose, float).reshape(-1, 12),
        "volume_half": np.array(half, float).reshape(-1, 3),
        "volume_radius": np.array(radii, float),
        "pair_a": np.ascontiguousarray(pair[:, 0]),
        "pair_b": np.ascontiguousarray(pair[:, 1]),
        "pair_first": np.array([*first, len(candidates)], np.int64),
    }
