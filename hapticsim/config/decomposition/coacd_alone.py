"""Decompose a mesh in a process of its own: ``python coacd_alone.py IN.npz OUT.npz``.

CoACD is compiled code that may take for ever, or end its process.  ``IN`` holds vertices, triangles, parts
and concavity; ``OUT`` gets the arrays ``points_0``, ``points_1`` and so on, one of each convex part.  Nothing
of hapticsim is imported here.
"""

from __future__ import annotations

import sys

import coacd
import numpy as np

SEED = 0


def main() -> None:
    """Decompose the mesh in the file named first into the one named second."""
    source, target = sys.argv[1:]
    coacd.set_log_level("off")
    with np.load(source) as given:
        mesh = coacd.Mesh(given["vertices"], given["triangles"])
        parts, concavity = int(given["parts"]), float(given["concavity"])
    found = coacd.run_coacd(mesh, threshold=concavity, max_convex_hull=parts, seed=SEED)
    points = {f"points_{i}": np.asarray(vertices, float) for i, (vertices, _) in enumerate(found)}
    np.savez(target, allow_pickle=False, **points)


if __name__ == "__main__":
    main()
