"""Two shapes on two free bodies in Drake, for bench_pairs.py; Drake is no dependency, and may be missing."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.model.scene import Shape

try:
    from pydrake import geometry as drake
    from pydrake.math import RigidTransform, RotationMatrix
    from pydrake.multibody.plant import AddMultibodyPlantSceneGraph, CoulombFriction
    from pydrake.multibody.tree import SpatialInertia
    from pydrake.systems.framework import DiagramBuilder
except ImportError:
    drake = None


class DrakePair:
    """Distance and contacts of two shapes.

    Raises ValueError where Drake is not installed or lacks a shape.
    """

    def __init__(self, a: Shape, b: Shape) -> None:
        if drake is None:
            raise ValueError("Drake is not installed: pip install drake.")
        builder = DiagramBuilder()
        plant, scene = AddMultibodyPlantSceneGraph(builder, 0.0)
        self._ids = []
        for shape in (a, b):
            body = plant.AddRigidBody(shape.body, SpatialInertia.SolidSphereWithMass(1.0, 0.1))
            where = RigidTransform(RotationMatrix(shape.X_BS.rotation), shape.X_BS.translation)
            self._ids.append(
                plant.RegisterCollisionGeometry(
                    body, where, shape_of(shape), shape.name, CoulombFriction(0.0, 0.0)
                )
            )
        plant.Finalize()
        self._root = builder.Build().CreateDefaultContext()
        self._plant, self._at = plant, plant.GetMyContextFromRoot(self._root)
        self._port, self._scene_at = scene.get_query_output_port(), scene.GetMyContextFromRoot(self._root)

    def coordinates(self, q: np.ndarray) -> np.ndarray:
        """Return coordinates (n, 14) in Drake's order: each quaternion is before its position."""
        return np.ascontiguousarray(q[:, [3, 4, 5, 6, 0, 1, 2, 10, 11, 12, 13, 7, 8, 9]])

    def distance(self, q: np.ndarray) -> float:
        """Return the signed distance [m] at a row of ``coordinates``."""
        self._plant.SetPositions(self._at, q)
        asked = self._port.Eval(self._scene_at)
        return float(asked.ComputeSignedDistancePairClosestPoints(*self._ids).distance)

    def contacts(self, q: np.ndarray) -> Any:
        """Return the points where both overlap."""
        self._plant.SetPositions(self._at, q)
        return self._port.Eval(self._scene_at).ComputePointPairPenetration()


def shape_of(shape: Shape) -> Any:
    """Return the shape in Drake; ValueError for one that it lacks."""
    match shape.kind, shape.size:
        case "sphere", (radius,):
            return drake.Sphere(radius)
        case "capsule", (radius, length):
            return drake.Capsule(radius, length)
        case "cylinder", (radius, length):
            return drake.Cylinder(radius, length)
        case "ellipsoid", half:
            return drake.Ellipsoid(*half)
        case "box", half:
            return drake.Box(*(2.0 * np.array(half)))
        case "plane", _:
            return drake.HalfSpace()
    if shape.mesh is None or not shape.mesh.is_convex:
        raise ValueError(f"Drake has no {shape.kind} like {shape.name}.")
    return drake.Convex(np.ascontiguousarray(shape.mesh.vertices.T), shape.name)
