"""Heights over a grid as a closed surface: two triangles a cell, walls down from its border, a bottom."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.read import FURTHEST_m
from hapticsim.config.mesh_file.slivers import THIN, thinness
from hapticsim.errors import ConfigError
from hapticsim.model.triangle_mesh import TriangleMesh

MOST_HEIGHTS = 2_500_000  # 5 000 000 triangles; the tables of 4 500 000 take 24 s and 2.4 GB


def surface_of_heights(
    path: Path, key: str, heights: np.ndarray, size: tuple[float, float], below: float
) -> TriangleMesh:
    """Return the closed surface of a field that is solid below.

    path, key : of the heights, for sentences.
    heights : (ny, nx) [m] over points from -size / 2 to size / 2, rows along x, the first at the lowest y.
    size : [m] along x and y.
    below : how far [m] the bottom is below the lowest height.

    Raises
    ------
    ConfigError : a height is not finite; too few or too many; farther than 1 km; too steep for triangles.
    """
    if heights.ndim != 2 or min(heights.shape) < 2:
        shape = " x ".join(str(n) for n in heights.shape)
        raise ConfigError(path, key, f"has {shape} heights: a field has at least 2 x 2.")
    if heights.size > MOST_HEIGHTS:
        raise too_many_heights(path, key, heights.shape)
    if not np.isfinite(heights).all():
        i, j = np.argwhere(~np.isfinite(heights))[0]
        raise ConfigError(
            path, key, f"has the height {heights[i, j]} in row {i + 1}, column {j + 1}: all must be finite."
        )
    bottom = float(heights.min()) - below
    reach = max(0.5 * max(size), float(heights.max()), -bottom)
    if reach > FURTHEST_m:
        raise ConfigError(
            path,
            key,
            f"reaches {reach:.4g} m from its origin and may reach {FURTHEST_m:g} m: make it smaller.",
        )
    vertices, triangles = _closed(heights, size, bottom)
    if np.any(thinness(vertices, triangles) <= THIN):
        raise ConfigError(
            path,
            key,
            "has triangles without area, as it is too steep for its grid: check its size and scale.",
        )
    return TriangleMesh(vertices, triangles)


def too_many_heights(path: Path, key: str, shape: tuple[int, ...]) -> ConfigError:
    """Return the refusal of a field with more heights than may be."""
    return ConfigError(
        path,
        key,
        f"has {shape[0]} x {shape[1]} heights and may have {MOST_HEIGHTS}: take a coarser grid, or cut it.",
    )


def _closed(heights: np.ndarray, size: tuple[float, float], bottom: float) -> tuple[np.ndarray, np.ndarray]:
    ny, nx = heights.shape
    x, y = (np.linspace(-0.5 * s, 0.5 * s, n) for s, n in zip(size, (nx, ny), strict=True))
    top = np.stack([*np.meshgrid(x, y), heights], axis=-1).reshape(-1, 3)
    number = np.arange(nx * ny).reshape(ny, nx)
    a, b, c, d = number[:-1, :-1], number[:-1, 1:], number[1:, 1:], number[1:, :-1]
    upper = [np.stack([corner.ravel() for corner in t], axis=1) for t in ((a, b, c), (a, c, d))]
    border = np.concatenate([number[0, :-1], number[:-1, -1], number[-1, :0:-1], number[:0:-1, 0]])
    foot = nx * ny + np.arange(len(border))
    middle = nx * ny + len(border)
    ahead, foot_ahead = np.roll(border, -1), np.roll(foot, -1)
    walls = [np.stack([border, foot, foot_ahead], axis=1), np.stack([border, foot_ahead, ahead], axis=1)]
    under = np.stack([np.full(len(foot), middle), foot_ahead, foot], axis=1)
    below = np.column_stack([top[border, :2], np.full(len(border), bottom)])
    return np.vstack([top, below, [[0.0, 0.0, bottom]]]), np.concatenate([*upper, *walls, under])
