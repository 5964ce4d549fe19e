"""The bytes of a mesh file, or of one that it names: never of a folder or a device, and never too many."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from hapticsim.errors import ConfigError, listed
from hapticsim.files.near_file import near_file
from hapticsim.files.special_file import SPECIAL, is_special

FORMATS = {
    ".stl": "STL",
    ".obj": "OBJ",
    ".ply": "PLY",
    ".off": "OFF",
    ".gltf": "glTF",
    ".glb": "GLB",
    ".dae": "COLLADA",
}
MOST_BYTES = 1 << 30  # the triangles that may be, written as text with 15 digits, take half of it


def contents(path: Path, formats: dict[str, str] = FORMATS) -> bytes:
    """Return the bytes of a file.

    formats : names of formats by the suffixes that it may have; empty: any suffix.

    Raises
    ------
    ConfigError : it is missing, empty, too large, a folder, a device, or may not be read; another suffix.
    """
    if is_special(path):
        raise ConfigError(path, "", SPECIAL)
    try:
        size = path.stat().st_size
        if path.is_dir():
            raise ConfigError(path, "", "is a folder: name the mesh file in it.")
        if formats and path.suffix.lower() not in formats:
            _refuse_suffix(path, formats)
        if size == 0:
            raise ConfigError(path, "", "is empty: export the mesh again.")
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1) if size <= MOST_BYTES else b""
    except FileNotFoundError:
        near = near_file(path, tuple(formats))
        raise ConfigError(path, "", f"does not exist{near}: check the path of the mesh.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            path, "", f"cannot be read ({reason}): check the path and its permissions."
        ) from None
    if max(size, len(data)) > MOST_BYTES:
        raise ConfigError(path, "", "is larger than 1 GiB, the most that is read: make the mesh coarser.")
    return data


def _refuse_suffix(path: Path, formats: dict[str, str]) -> NoReturn:
    found = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    raise ConfigError(
        path, "", f"has {found}, which is not read: export the mesh to one of {listed(formats)}."
    )
