"""The geometry of an element ``visual`` or ``collision`` of a URDF: a primitive, or a mesh file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from hapticsim.config.robot.package_file import package_file
from hapticsim.config.schema.robot import MOST_OF_GLOBE, MOST_SIDES
from hapticsim.errors import ConfigError, listed
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.robot_file.urdf_elements import Element, number_of, origin_of, vector_of

LEAST_SIDES, LEAST_OF_GLOBE = 3, 4
KINDS = ("box", "sphere", "cylinder", "capsule", "mesh")


@dataclass(frozen=True)
class Geometry:
    """What one element describes."""

    kind: str  # of KINDS
    size: tuple[float, ...]  # [m], as of ``Shape``; empty of a mesh
    X_BS: Placement
    file: Path = Path()  # of a mesh
    scale: tuple[float, ...] = ()


def geometry_of(path: Path, key: str, element: Element) -> Geometry:
    """Return the geometry of an element.

    Raises ConfigError : it has none, or one without a size; its mesh has no path that can be.
    """
    found = [kind for geometry in element.findall("geometry") for kind in geometry]
    if len(found) != 1 or found[0].tag not in KINDS:
        raise ConfigError(
            path, key, f"has a {element.tag} without one geometry: give it one of {listed(KINDS)}."
        )
    kind, X_BS = found[0], origin_of(path, key, element)
    size: tuple[float, ...]
    match kind.tag:
        case "box":
            size = tuple(0.5 * vector_of(path, key, kind, "size", np.zeros(3)))
        case "sphere":
            size = (number_of(path, key, kind, "radius", 0.0),)
        case "cylinder" | "capsule":
            size = (number_of(path, key, kind, "radius", 0.0), number_of(path, key, kind, "length", 0.0))
        case _:
            scale = tuple(vector_of(path, key, kind, "scale", np.ones(3)).tolist())
            if 0.0 in scale:
                raise ConfigError(path, key, f"has scale={kind.get('scale')!r}: none of the three may be 0.")
            return Geometry("mesh", (), X_BS, mesh_path(path, key, kind.get("filename", "")), scale)
    if not min(size) > 0.0:
        raise ConfigError(path, key, f"has a {kind.tag} without a size: all its lengths must be above 0.")
    return Geometry(kind.tag, tuple(float(s) for s in size), X_BS)


def sides_of(kind: str, corners: int | None) -> int | None:
    """Sides of a cylinder or an ellipsoid where meshes may have so many corners; None of other kinds."""
    if corners is None:
        return None
    if kind == "cylinder":
        return max(LEAST_SIDES, min(MOST_SIDES, corners // 2))
    if kind == "ellipsoid":
        counts = range(LEAST_OF_GLOBE, MOST_OF_GLOBE + 1)
        return max((n for n in counts if n * (n // 2 - 1) + 2 <= corners), default=LEAST_OF_GLOBE)
    return None


def mesh_path(path: Path, key: str, name: str) -> Path:
    """Where the mesh file lies that a URDF names: beside it, or in a package (``package://NAME/path``)."""
    kind, address, rest = name.rpartition("://")
    if kind == "package":
        rest = rest.lstrip("/")  # some write package:///NAME/path
    package, _, rest = rest.partition("/") if address else ("", "", rest)
    wrong = kind not in ("", "file", "package") or (kind == "file" and package not in ("", "localhost"))
    if not name or "\0" in name or wrong or (kind == "package" and not package):
        raise ConfigError(
            path, key, f"has a mesh in {name!r}: write filename= a path or package://NAME/path."
        )
    if kind == "file":
        return Path("/", unquote(rest))
    if not kind:
        return path.parent / name
    if found := package_file(path, package, rest):
        return found
    raise ConfigError(
        path,
        key,
        f"has a mesh in {name!r}, which is in no package {package!r} above the URDF: set ROS_PACKAGE_PATH to "
        f"the folder that holds {package!r}.",
    )
