"""Write the meshes of the scenes: a fluted knob, from a formula.

    python tools/make_meshes.py                        configs/meshes/knob.ply
    python tools/make_meshes.py --around 400 --out fine.ply

The knob is star-shaped around its axis, z: a turned profile with a bead and a waist, six flutes that fade
out above and below, and a dimple on top.  With n vertices around there are about 5/6 n^2 triangles.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

OUT = Path(__file__).parents[1] / "configs" / "meshes" / "knob.ply"
PROFILE_m = (  # radius, height
    (0.034, 0.000), (0.036, 0.004), (0.036, 0.010), (0.030, 0.013), (0.022, 0.018), (0.019, 0.026),
    (0.022, 0.032), (0.030, 0.037), (0.037, 0.045), (0.039, 0.055), (0.037, 0.065), (0.031, 0.073),
    (0.022, 0.078), (0.012, 0.0795), (0.005, 0.0775),
)  # fmt: skip
FLUTES, FLUTE_m = 6, 0.005
FLUTED_m = (0.040, 0.070)  # heights between which the flutes are deep


def knob(around: int) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (nv, 3) [m] and triangles (nt, 3) of the knob."""
    profile = smooth(np.array(PROFILE_m), max(8, 5 * around // 12))
    angle = 2.0 * np.pi * np.arange(around) / around
    low, high = FLUTED_m
    share = np.clip((profile[:, 1] - low) / (high - low), 0.0, 1.0)
    deep = FLUTE_m * np.sin(np.pi * share)
    radius = profile[:, 0, None] - deep[:, None] * (0.5 - 0.5 * np.cos(FLUTES * angle)) ** 2
    rings = np.stack(
        [radius * np.cos(angle), radius * np.sin(angle), np.broadcast_to(profile[:, 1, None], radius.shape)],
        axis=-1,
    )
    rows = len(profile)
    vertices = np.vstack([rings.reshape(-1, 3), [0.0, 0.0, profile[0, 1]], [0.0, 0.0, profile[-1, 1]]])
    i, k = (n.ravel() for n in np.meshgrid(np.arange(rows - 1), np.arange(around), indexing="ij"))
    here, beside = i * around + k, i * around + (k + 1) % around
    k = np.arange(around)
    beyond, top = (k + 1) % around, (rows - 1) * around
    bottom_centre, top_centre = np.full(around, rows * around), np.full(around, rows * around + 1)
    triangles = np.concatenate(
        [
            np.stack([here, beside, beside + around], 1),
            np.stack([here, beside + around, here + around], 1),
            np.stack([bottom_centre, beyond, k], 1),
            np.stack([top_centre, top + k, top + beyond], 1),
        ]
    )
    return vertices, triangles


def smooth(points: np.ndarray, count: int) -> np.ndarray:
    """Points (count, 2) along a Catmull-Rom spline through these."""
    ends = np.vstack([2.0 * points[0] - points[1], points, 2.0 * points[-1] - points[-2]])
    at = np.linspace(0.0, len(points) - 1.0, count)
    i = np.minimum(at.astype(int), len(points) - 2)
    s = (at - i)[:, None]
    a, b, c, d = (ends[i + k] for k in range(4))
    return b + 0.5 * s * (c - a + s * (2.0 * a - 5.0 * b + 4.0 * c - d + s * (3.0 * (b - c) + d - a)))


def write_ply(path: Path, vertices: np.ndarray, triangles: np.ndarray) -> None:
    """Write a binary PLY file."""
    header = (
        f"ply\nformat binary_little_endian 1.0\nelement vertex {len(vertices)}\nproperty float x\n"
        f"property float y\nproperty float z\nelement face {len(triangles)}\n"
        "property list uchar int vertex_indices\nend_header\n"
    )
    faces = np.empty(len(triangles), dtype=[("n", "u1"), ("v", "<i4", 3)])
    faces["n"], faces["v"] = 3, triangles
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(header.encode() + vertices.astype("<f4").tobytes() + faces.tobytes())


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--around", type=int, default=60, help="vertices around the axis (60)")
    parser.add_argument("--out", type=Path, default=OUT, help="file (configs/meshes/knob.ply)")
    asked = parser.parse_args()
    vertices, triangles = knob(asked.around)
    write_ply(asked.out, vertices, triangles)
    print(f"{asked.out}: {len(vertices)} vertices, {len(triangles)} triangles")


if __name__ == "__main__":
    main()
