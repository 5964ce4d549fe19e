"""Cut lines and polygons to what the camera can see, before perspective blows them up.

A table edge that passes beside the eye would land a million pixels away, and filling such a polygon takes
seconds. The cut is made in camera axes (y is the depth) against five planes ``n . x >= d``: one in front of
the eye and the four sides of a pyramid a little wider than the picture.
"""

from __future__ import annotations

import numpy as np

from hapticsim.display.scene.camera import NEAREST_M, OrbitCamera

_MARGIN = 1.5  # width of the pyramid over the width of the picture: nothing visible is cut


def guard_planes(camera: OrbitCamera) -> tuple[np.ndarray, np.ndarray]:
    """(5, 3) normals and (5,) offsets [m] of the planes to cut at."""
    across = _MARGIN * 0.5 * camera.width_px / camera.focal_px
    down = _MARGIN * 0.5 * camera.height_px / camera.focal_px
    normals = np.array(
        [[0.0, 1.0, 0.0], [1.0, across, 0.0], [-1.0, across, 0.0], [0.0, down, 1.0], [0.0, down, -1.0]]
    )
    return normals, np.array([NEAREST_M, 0.0, 0.0, 0.0, 0.0])


def clip_segments(
    camera: OrbitCamera, a_C: np.ndarray, b_C: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Visible parts of segments from (n, 3) to (n, 3) [m]: their ends, and (n,) whether any is left."""
    normals, offsets = guard_planes(camera)
    at_a, at_b = a_C @ normals.T - offsets, b_C @ normals.T - offsets  # (n, 5), negative outside
    change = at_a - at_b
    crossing = np.divide(at_a, change, out=np.zeros_like(at_a), where=change != 0.0)
    first = np.where((at_a < 0.0) & (at_b >= 0.0), crossing, 0.0).max(axis=1)
    last = np.where((at_a >= 0.0) & (at_b < 0.0), crossing, 1.0).min(axis=1)
    kept = (first < last) & ~((at_a < 0.0) & (at_b < 0.0)).any(axis=1)
    step = b_C - a_C
    return a_C + first[:, None] * step, a_C + last[:, None] * step, kept


def clip_polygon(camera: OrbitCamera, polygon_C: np.ndarray) -> np.ndarray:
    """Visible part of a convex (n, 3) [m] polygon; an empty (0, 3) array when nothing is left."""
    for normal, offset in zip(*guard_planes(camera), strict=True):
        height = polygon_C @ normal - offset
        if (height >= 0.0).all():
            continue
        kept: list[np.ndarray] = []
        for k in range(len(polygon_C)):
            n = (k + 1) % len(polygon_C)
            if height[k] >= 0.0:
                kept.append(polygon_C[k])
            if (height[k] >= 0.0) != (height[n] >= 0.0):
                part = height[k] / (height[k] - height[n])
                kept.append(polygon_C[k] + part * (polygon_C[n] - polygon_C[k]))
        if not kept:
            return np.zeros((0, 3))
        polygon_C = np.array(kept)
    return polygon_C
