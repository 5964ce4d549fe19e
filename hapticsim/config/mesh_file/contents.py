"""The bytes of a mesh file, or of one that it names: never of a folder or a device, and never too many."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NoReturn

from hapticsim.errors import ConfigError, listed
from hapticsim.files.input_file import input_bytes

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


def contents(
    path: Path, formats: dict[str, str] = FORMATS, most: int = MOST_BYTES, what: str = "mesh"
) -> bytes:
    """Return the bytes of a file.

    formats : names of formats by the suffixes that it may have; empty: any suffix.
    most : how many there may be.
    what : it holds, for sentences.

    Raises
    ------
    ConfigError : it is missing, empty, too large, a folder, a device, or may not be read; another suffix.
    """
    if formats and path.suffix.lower() not in formats and os.path.isfile(path):
        _refuse_suffix(path, formats, what)
    size = "1 GiB" if most == MOST_BYTES else f"{most >> 20} MiB"
    too_large = f"is larger than {size}, the most that is read: make the {what} coarser."
    data = input_bytes(path, what, most, too_large, suffixes=tuple(formats))
    if not data:
        raise ConfigError(path, "", f"is empty: export the {what} again.")
    return data


def _refuse_suffix(path: Path, formats: dict[str, str], what: str) -> NoReturn:
    found = f"the suffix {path.suffix!r}" if path.suffix else "no suffix"
    raise ConfigError(
        path, "", f"has {found}, which is not read: export the {what} to one of {listed(formats)}."
    )
