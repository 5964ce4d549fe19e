"""The door for mesh files: a path into a surface that is closed, faces outwards and encloses a volume."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.contents import FORMATS, contents
from hapticsim.config.mesh_file.edges import Edges
from hapticsim.config.mesh_file.fans import one_fan_each
from hapticsim.config.mesh_file.hull import hull_of
from hapticsim.config.mesh_file.parts import NEEDED, Part, parts_of
from hapticsim.config.mesh_file.slivers import THIN, thinness, without_slivers
from hapticsim.config.mesh_file.surface import in_order, joined, near_joined, tidied
from hapticsim.config.mesh_file.winding import alike, outwards, pieces
from hapticsim.errors import ConfigError
from hapticsim.files.kept_arrays import Arrays, kept_arrays
from hapticsim.model.triangle_mesh import TriangleMesh

FURTHEST_m = 1000.0  # a millimetre file read as metres is beyond it from 1 m on, and distances keep 0.1 um
SMALLEST_m = 1e-6  # what is smaller was scaled down once too often
FLAT = 1e-9  # volume by the cube of the size: a foil of 10 um and 1 m has 1e-5, rounding gives 1e-15
ROUNDED = 2.0**-22  # of the size: two last digits of STL; 69 of 779 files of robots are closed by it
SHORT = 1e-9  # of the size: an edge that no file means, and that makes triangles without area
FEWEST_TRIANGLES = 4  # of a tetrahedron
LARGE = 2_000_000  # bytes of a file from which on what is read of it is kept
SOURCES = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
MOST_PIECES = 1000  # that do not hang together; hollows are looked for one by one


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


VERSIONS = [_version(package) for package in ("trimesh", "scipy", "pycollada")]


def read_mesh(
    path: Path,
    scale: Sequence[float],
    notes: list[str],
    convex: bool = False,
    corners: int | None = None,
) -> TriangleMesh:
    """Read the surface in a file.

    path : of one of ``contents.FORMATS``.
    scale : (3,) [m] per unit of the file, along its axes; one below 0 mirrors it.
    notes : gets a sentence for each thing that was put right.
    convex : the convex hull of it instead, which also a surface with holes has.
    corners : how many the hull may have, at least 4.

    Raises
    ------
    ConfigError : one sentence with the file, what was found, what is allowed and what to do.
    """
    data = contents(path)
    if len(data) < LARGE or path.suffix.lower() in (".gltf", ".glb"):  # which may name other files
        return _read(path, data, scale, notes, convex, corners)

    def arrays() -> Arrays:
        said: list[str] = []
        mesh = _read(path, data, scale, said, convex, corners)
        words = np.array([note.removeprefix(str(path)) for note in said], dtype=np.str_)
        return {"vertices": mesh.vertices, "triangles": mesh.triangles, "notes": words}

    about = f"{path.suffix.lower()} {[float(s) for s in scale]} {convex} {corners} {VERSIONS}".encode()
    found = kept_arrays("meshes", (SOURCES, about, data), arrays)
    notes += [f"{path}{note}" for note in found["notes"].tolist()]
    return TriangleMesh(found["vertices"], found["triangles"])


def _read(
    path: Path, data: bytes, scale: Sequence[float], notes: list[str], convex: bool, corners: int | None
) -> TriangleMesh:
    """``read_mesh`` of a file with these bytes."""
    check_packages(path)
    parts = parts_of(path, FORMATS[path.suffix.lower()], data)
    with np.errstate(over="ignore"):
        turn = -1 if np.prod(np.sign(scale)) < 0.0 else 1
        parts = [(points * np.asarray(scale), triangles[:, ::turn]) for points, triangles in parts]
    return surface_of(path, parts, notes, convex, corners)


def check_packages(path: Path) -> None:
    for package in ("trimesh", "scipy"):
        if find_spec(package) is None:
            raise ConfigError(path, "", f"needs {package}, {NEEDED}")


def surface_of(
    path: Path, parts: Sequence[Part], notes: list[str], convex: bool = False, corners: int | None = None
) -> TriangleMesh:
    """Make the surface of what was read of a file; arguments and refusals as in ``read_mesh``."""
    check_packages(path)
    if not parts:
        raise ConfigError(path, "", "holds no triangles: export a surface, not points or lines.")
    for points, _ in parts:
        if not np.isfinite(points).all():
            raise ConfigError(path, "", "holds NaN or infinity among its coordinates: export it again.")
    _check_size(path, parts)
    if convex:
        hull, beyond = hull_of(path, parts, corners)
        parts = [hull]
        if beyond > 0.0:
            notes.append(f"{path}: with {corners} corners the hull is up to {1e3 * beyond:.2g} mm too small.")
    vertices, triangles, edges = _closed(path, parts, notes)
    triangles = _facing_outwards(path, vertices, triangles, edges, notes)
    twins = Edges.of(triangles, len(vertices)).twins
    vertices, triangles = one_fan_each(vertices, triangles, twins)
    triangles = without_slivers(vertices, triangles, twins)
    if count := int(np.sum(thinness(vertices, triangles) <= THIN)):
        raise ConfigError(
            path,
            "",
            f"has {count} triangles without area that cannot be taken out: merge their vertices "
            "(Blender: Merge by Distance, Degenerate Dissolve).",
        )
    return TriangleMesh(*in_order(vertices, triangles))


def _check_size(path: Path, parts: Sequence[Part]) -> None:
    points = np.concatenate([points for points, _ in parts])
    reach = float(np.abs(points).max())
    if reach > FURTHEST_m:
        raise ConfigError(
            path,
            "",
            f"reaches {reach:.4g} m from its origin and may reach {FURTHEST_m:g} m: give scale, the metres "
            "per unit of the file (0.001 where it is in millimetres).",
        )
    size = float(np.max(np.ptp(points, axis=0)))
    if size < SMALLEST_m:
        raise ConfigError(
            path,
            "",
            f"is {size:.3g} m large and must be at least {SMALLEST_m:g} m: give scale, the metres per unit "
            "of the file.",
        )


def _closed(path: Path, parts: Sequence[Part], notes: list[str]) -> tuple[np.ndarray, np.ndarray, Edges]:
    """Vertices and triangles of a surface in which every edge has two, and its edges."""
    size = max(float(np.max(np.ptp(points, axis=0))) for points, _ in parts)
    tried: list[tuple[np.ndarray, np.ndarray, Edges, int]] = []
    wrong: list[tuple[int, int]] = []
    for way in ("joined", "apart", "near"):
        if way == "apart" and len(parts) == 1:
            continue
        vertices, triangles = joined(parts, across=way != "apart")
        if way == "near":
            vertices, triangles = near_joined(vertices, triangles, ROUNDED * size)
        triangles, edges, left_out = tidied(vertices, triangles)
        tried.append((vertices, triangles, edges, left_out))
        wrong.append((edges.open + edges.crowded, edges.shorter(vertices, triangles, SHORT * size)))
        if edges.is_closed and wrong[-1] == (0, 0):
            break
    best = wrong.index(min(wrong))
    vertices, triangles, edges, left_out = tried[best]
    if len(triangles) < FEWEST_TRIANGLES:
        raise ConfigError(
            path,
            "",
            f"has {len(triangles)} triangles, and a closed surface has at least {FEWEST_TRIANGLES}: "
            "export a whole body.",
        )
    if edges.open:
        raise ConfigError(
            path,
            "",
            f"is open: of its {len(edges.count)} edges {edges.open} belong to one triangle only, and what is "
            "touched has no holes; close them (Blender: Make Manifold of the 3D Print Toolbox; MeshLab: "
            "Close Holes).",
        )
    if edges.crowded:
        raise ConfigError(
            path,
            "",
            f"is not one surface: of its {len(edges.count)} edges {edges.crowded} belong to more than two "
            "triangles; take out walls inside it, and take apart bodies that touch along an edge (Blender: "
            "Make Manifold of the 3D Print Toolbox).",
        )
    if way == "near" and best == len(tried) - 1:
        notes.append(f"{path}: vertices within {ROUNDED * size:.2g} m of one another were taken as one.")
    if left_out:
        notes.append(f"{path}: {left_out} pairs of triangles that lay back to back were left out.")
    return vertices, triangles, edges


def _facing_outwards(
    path: Path, vertices: np.ndarray, triangles: np.ndarray, edges: Edges, notes: list[str]
) -> np.ndarray:
    if not edges.agree.all():
        turned = alike(triangles, edges)
        if turned is None:
            raise ConfigError(
                path,
                "",
                "has no inside: its triangles cannot be turned so that neighbours face the same way; "
                "model it as a body.",
            )
        triangles = turned
        notes.append(f"{path}: triangles that faced another way than their neighbours were turned.")
    piece = pieces(triangles, edges)
    count = int(piece.max()) + 1
    if count > MOST_PIECES:
        raise ConfigError(
            path,
            "",
            f"has {count} pieces and may have {MOST_PIECES}: join them, or leave out what is small.",
        )
    outer, volume = outwards(vertices, triangles, piece)
    if not volume > FLAT:
        raise ConfigError(path, "", "is flat: it encloses no volume; give it a thickness.")
    if not np.array_equal(outer, triangles):
        notes.append(f"{path}: was inside out, and was turned so that it faces outwards.")
    return outer
