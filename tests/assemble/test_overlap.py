"""How deep boxes and capsules are in boxes, beside the same said axis by axis and point by point."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hapticsim.assemble.overlap import distance_of_segment, overlap_of_boxes
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy, rotation_of
from tests import naive


def placed(rng: np.random.Generator) -> Placement:
    return Placement(rotation_of(naive_unit(rng.normal(size=4))), rng.uniform(-0.4, 0.4, 3))


def naive_unit(x: np.ndarray) -> np.ndarray:
    return x / np.linalg.norm(x)


def overlap_axis_by_axis(half_a, X_WA: Placement, half_b, X_WB: Placement) -> float:
    """The least of the overlaps of the shadows of all corners, along 15 axes in the world."""
    corners = [
        np.array(
            [
                X.rotation @ (np.array(signs) * half) + X.translation
                for signs in itertools.product((-1, 1), repeat=3)
            ]
        )
        for X, half in ((X_WA, half_a), (X_WB, half_b))
    ]
    A, B = X_WA.rotation.T, X_WB.rotation.T
    axes = [*A, *B, *(np.cross(a, b) for a in A for b in B)]
    depths = []
    for axis in axes:
        if np.linalg.norm(axis) < 1e-6:
            continue
        a, b = (c @ naive_unit(axis) for c in corners)
        middle_a, middle_b = 0.5 * (a.max() + a.min()), 0.5 * (b.max() + b.min())
        depths.append(0.5 * (np.ptp(a) + np.ptp(b)) - abs(middle_a - middle_b))
    return min(depths)


@pytest.mark.parametrize("seed", range(300))
def test_boxes_overlap_by_their_least_axis(seed):
    rng = np.random.default_rng(seed)
    half_a, half_b = rng.uniform(0.05, 0.4, 3), rng.uniform(0.05, 0.4, 3)
    X_WA, X_WB = placed(rng), placed(rng)
    if seed % 3 == 0:  # edges that are parallel have no common normal
        X_WA = Placement(
            X_WB.rotation @ rotation_from_rpy([0.0, 0.0, 0.5 * np.pi * (seed % 2)]), X_WA.translation
        )
    expected = overlap_axis_by_axis(half_a, X_WA, half_b, X_WB)
    assert overlap_of_boxes(half_a, X_WA, half_b, X_WB) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", range(100))
def test_a_segment_is_as_far_as_its_nearest_point(seed):
    rng = np.random.default_rng(seed)
    half, half_b = float(rng.uniform(0.01, 0.5)), rng.uniform(0.05, 0.4, 3)
    X_WS, X_WB = placed(rng), placed(rng)
    points = [X_WS.translation + t * X_WS.rotation[:, 2] for t in np.linspace(-half, half, 4001)]
    expected = min(naive.distance_to_box(X_WB.rotation.T @ (p - X_WB.translation), half_b) for p in points)
    found = distance_of_segment(half, X_WS, half_b, X_WB)
    assert expected - half / 2000 - 1e-12 < found < expected + 1e-12
