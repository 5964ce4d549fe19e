"""Parts of a mesh file, as they stand in it: read by trimesh, which does nothing else unasked.

What is read of trimesh are its loaders, which return arrays.  Its class ``Trimesh`` is not used: making one
drops what is not finite and merges vertices that are near.  No loader gets a path, so that none opens a file
or an address; what a glTF file names is looked for beside it, here.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from hapticsim.config.mesh_file.contents import MOST_BYTES, contents
from hapticsim.config.mesh_file.first_look import looked_at
from hapticsim.config.mesh_file.limits import MOST_PARTS, MOST_TRIANGLES, too_many, too_many_parts
from hapticsim.errors import ConfigError, in_words

Part = tuple[np.ndarray, np.ndarray]
"""Vertices (nv, 3) in units of the file, all of them used, and triangles (nt, 3) of their indices."""

_LOADERS = {
    "STL": "stl",
    "OBJ": "obj",
    "PLY": "ply",
    "OFF": "off",
    "glTF": "gltf",
    "GLB": "glb",
    "COLLADA": "dae",
}
_HALF_READ = "string or file could not be read"  # what numpy warns of where text is no number
NEEDED = "which is not installed: pip install 'hapticsim[meshes]'."


def parts_of(path: Path, kind: str, data: bytes) -> list[Part]:
    """Return every part of a file where the file places it.

    kind : a value of ``contents.FORMATS``.

    Raises
    ------
    ConfigError : it is not of that kind, has too much, or needs a package that is not installed.
    """
    data = looked_at(path, kind, data)
    try:
        with _quiet():
            return _parts(path, _loaded(path, kind, data))
    except ConfigError:
        raise
    except ImportError as error:
        raise ConfigError(path, "", f"needs {error.name or 'another package'}, {NEEDED}") from None
    except Exception as error:  # whatever a reader raises about bytes that it does not expect
        raise ConfigError(
            path,
            "",
            f"cannot be read as {kind} ({in_words(error)}): export it again, or in another format.",
        ) from None


def _parts(path: Path, loaded: Mapping[str, Any]) -> list[Part]:
    parts, triangles = [], 0
    for found, pose in _placed(loaded):
        faces = found.get("faces")
        if faces is None or len(faces) == 0:  # points or lines
            continue
        part = _part(found["vertices"], faces, pose)
        parts.append(part)
        triangles += len(part[1])
        if triangles > MOST_TRIANGLES:
            raise too_many(path, triangles)
        if len(parts) > MOST_PARTS:
            raise too_many_parts(path, "parts")
    return parts


def _loaded(path: Path, kind: str, data: bytes) -> dict[str, Any]:
    """What the loader of trimesh returns: one geometry, or several with the poses of their instances."""
    from trimesh.exchange.load import mesh_loaders

    name = _LOADERS[kind]
    options = {"skip_materials": True} if kind in ("OBJ", "PLY", "glTF", "GLB") else {}
    if kind == "COLLADA":
        options = {"ignore_broken": False}
    beside = _Beside(path) if kind in ("glTF", "GLB") else _Nothing()
    return dict(mesh_loaders[name](BytesIO(data), file_type=name, resolver=beside, **options))


def _placed(loaded: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], np.ndarray]]:
    """Each instance of a geometry, with its pose (4, 4) in the file's axes."""
    here = np.eye(4)
    if "geometry" not in loaded:
        yield loaded, here
        return
    geometries = loaded["geometry"]
    if loaded.get("graph") is None:
        yield from ((geometry, here) for geometry in geometries.values())
        return
    poses: dict[Any, np.ndarray] = {}
    for edge in loaded["graph"]:  # a parent stands before its children
        given = edge.get("matrix")
        matrix = here if given is None else np.array(given, dtype=float).reshape(4, 4)
        poses[edge["frame_to"]] = _product(poses.get(edge.get("frame_from"), here), matrix)
        if edge.get("geometry") in geometries:
            yield geometries[edge["geometry"]], poses[edge["frame_to"]]


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b`` in an order of sums that is the same on every processor, and so to the bit."""
    return sum(a[:, k : k + 1] * b[k : k + 1, :] for k in range(a.shape[1]))


def _part(vertices: Any, faces: Any, pose: np.ndarray) -> Part:
    """The part where it is placed: polygons cut from their first corner, a mirrored part turned back."""
    points, corners = np.asarray(vertices, dtype=np.float64), np.asarray(faces)
    if points.ndim != 2 or points.shape[1] < 3 or corners.ndim != 2 or corners.shape[1] < 3:
        raise ValueError("no triangles in space")
    points, corners = points[:, :3], corners.astype(np.int64)
    if corners.size and not (0 <= corners.min() and corners.max() < len(points)):
        raise ValueError("a face names a vertex that is not there")
    fan = [corners[:, [0, k, k + 1]] for k in range(1, corners.shape[1] - 1)]
    triangles = np.concatenate(fan)
    points, triangles = without_unused(points, triangles)
    if not np.array_equal(pose, np.eye(4)):
        points = _product(points, pose[:3, :3].T) + pose[:3, 3]
        if np.linalg.det(pose[:3, :3]) < 0.0:
            triangles = triangles[:, ::-1]
    return points, triangles


def without_unused(vertices: np.ndarray, triangles: np.ndarray) -> Part:
    """The part without vertices that no triangle names."""
    used = np.zeros(len(vertices), dtype=bool)
    used[triangles] = True
    return vertices[used], (np.cumsum(used) - 1)[triangles]


class _Nothing:
    """Answers every name of another file with nothing: textures and materials are not read."""

    def get(self, name: str) -> bytes:
        raise FileNotFoundError(name)

    __getitem__ = get


class _Beside(_Nothing):
    """Files that a glTF file names, beside it or in a folder there."""

    def __init__(self, path: Path) -> None:
        self._path, self._left = path, MOST_BYTES

    def get(self, name: str) -> bytes:
        folder = self._path.parent.resolve()
        try:
            file = (folder / unquote(name)).resolve()
            is_beside = file.is_relative_to(folder)
        except (OSError, ValueError, RuntimeError):
            is_beside = False
        if not is_beside or "://" in name:
            raise ConfigError(
                self._path,
                "",
                f"names the file {name!r:.100}, and may name those beside it: put it there, or export a GLB.",
            )
        data = contents(file, {})
        self._left -= len(data)
        if self._left < 0:
            raise ConfigError(self._path, "", "names files of more than 1 GiB: make the mesh coarser.")
        return data

    __getitem__ = get


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what other libraries log and warn of from the user; half a number is an error, no warning."""
    logger, silence = logging.getLogger("trimesh"), logging.NullHandler()
    propagated = logger.propagate
    logger.addHandler(silence)
    logger.propagate = False
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            warnings.filterwarnings("error", message=_HALF_READ)
            yield
    finally:
        logger.propagate = propagated
        logger.removeHandler(silence)
