"""The surface in a mesh file as it is drawn: open or closed, whatever it encloses.

What is touched must be closed and have an inside, ``read.py``; what is only looked at need not.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.contents import FORMATS, contents
from hapticsim.config.mesh_file.parts import parts_of
from hapticsim.config.mesh_file.read import SOURCES, VERSIONS, FURTHEST_m, check_packages
from hapticsim.config.mesh_file.surface import joined
from hapticsim.errors import ConfigError
from hapticsim.files.kept_arrays import Arrays, kept_arrays
from hapticsim.model.triangle_mesh import Surface

MOST_BYTES = 1 << 28  # of a file that no contact needs
KEPT = 50_000  # bytes of a file from which on what is read of it is kept: a COLLADA file of 1 MB takes 0.1 s


def read_look(path: Path, scale: Sequence[float]) -> Surface:
    """Read the triangles in a file.

    path : of one of ``contents.FORMATS``.
    scale : (3,) [m] per unit of the file, along its axes; one below 0 mirrors it.

    Raises
    ------
    ConfigError : one sentence with the file, what was found, what is allowed and what to do.
    """
    data = contents(path, most=MOST_BYTES)
    if len(data) < KEPT or path.suffix.lower() in (".gltf", ".glb"):  # which may name other files
        found = _read(path, data, scale)
    else:
        about = f"look {path.suffix.lower()} {[float(s) for s in scale]} {VERSIONS}".encode()
        found = kept_arrays("meshes", (SOURCES, about, data), lambda: _read(path, data, scale))
    return Surface(found["vertices"], found["triangles"])


def _read(path: Path, data: bytes, scale: Sequence[float]) -> Arrays:
    """Vertices, those that are equal as one, and triangles of a file with these bytes."""
    check_packages(path)
    parts = parts_of(path, FORMATS[path.suffix.lower()], data)
    if not parts:
        raise ConfigError(path, "", "holds no triangles: export a surface, not points or lines.")
    vertices, triangles = joined(parts)
    with np.errstate(over="ignore", invalid="ignore"):
        vertices = vertices * np.asarray(scale)
    if np.prod(np.sign(scale)) < 0.0:
        triangles = triangles[:, ::-1]
    if not np.all(np.abs(vertices) <= FURTHEST_m):
        raise ConfigError(
            path,
            "",
            f"reaches more than {FURTHEST_m:g} m from its origin, or holds NaN: give scale, the metres per "
            "unit of the file (0.001 where it is in millimetres).",
        )
    if not np.ptp(vertices, axis=0).max() > 0.0:
        raise ConfigError(path, "", "is a single point: export a surface.")
    return {"vertices": vertices, "triangles": np.ascontiguousarray(triangles)}
