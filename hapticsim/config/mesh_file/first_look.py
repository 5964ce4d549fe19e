"""What a mesh file says of itself, looked at before anything is made of it.

A file may be cut short, ask for what is not read, or claim sizes that would fill the memory: other people's
readers take such files for something else, or for ever.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from hapticsim.config.mesh_file.collada_outline import check_collada
from hapticsim.config.mesh_file.limits import MOST_PARTS, MOST_TRIANGLES, too_many, too_many_parts
from hapticsim.errors import ConfigError

_BINARY_HEAD, _BINARY_TRIANGLE = 84, 50  # bytes of an STL file
_COUNTED_BACKWARDS = re.compile(rb"^f\b[^\n]*\s(?:-\d|0+(?=[/\s]))", re.MULTILINE)
_FACES = {
    "OFF": re.compile(rb"OFF\s+(?:#[^\n]*\n\s*)*\d+\s+(\d{1,18})"),
    "PLY": re.compile(rb"element\s+face\s+(\d{1,18})"),
}
_IN_HEAD = 10_000  # bytes in which a header says how many faces there are
_MATERIALS = re.compile(rb"^(?:usemtl|mtllib)\b[^\n]*", re.MULTILINE)


def looked_at(path: Path, kind: str, data: bytes) -> bytes:
    """Return what is to be read of a file: text in UTF-8, an OBJ without its materials.

    kind : a value of ``contents.FORMATS``.

    Raises
    ------
    ConfigError : cut short, too large, or of a sort that is not read.
    """
    match kind:
        case "STL":
            return _stl(path, data)
        case "OBJ":
            return _obj(path, _utf8(data))
        case "OFF" | "PLY":
            if (found := _FACES[kind].search(data[:_IN_HEAD])) and int(found[1]) > MOST_TRIANGLES:
                raise too_many(path, int(found[1]))
            return _utf8(data) if kind == "OFF" else data
        case "glTF" | "GLB":
            data = data.removeprefix(b"\xef\xbb\xbf")
            _gltf(path, data)
        case "COLLADA":
            check_collada(path, data)
    return data


def _utf8(data: bytes) -> bytes:
    """Names and comments in an old encoding are no reason to guess which, or to give up."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1").encode()
    return data


def _stl(path: Path, data: bytes) -> bytes:
    count = int.from_bytes(data[_BINARY_HEAD - 4 : _BINARY_HEAD], "little")
    expected = _BINARY_HEAD + _BINARY_TRIANGLE * count
    if len(data) >= _BINARY_HEAD and len(data) == expected:
        if count > MOST_TRIANGLES:
            raise too_many(path, count)
        return data
    if not data[:80].lstrip().lower().startswith(b"solid") or b"\0" in data[:1000]:
        raise ConfigError(
            path,
            "",
            f"is no whole STL file: by its header it has {count} triangles, which take {expected} bytes, "
            f"and it has {len(data)}; export it again.",
        )
    last = data.rstrip().rpartition(b"\n")[2].strip().lower()
    if not last.startswith(b"endsolid"):
        raise ConfigError(path, "", "is no whole STL file: its last line is not 'endsolid'; export it again.")
    lower = data.lower()
    if lower.count(b"endsolid") > MOST_PARTS:
        raise too_many_parts(path, "solids")
    if (count := lower.count(b"endfacet")) > MOST_TRIANGLES:
        raise too_many(path, count)
    return _utf8(data)


def _obj(path: Path, data: bytes) -> bytes:
    if (count := data.count(b"\nf ")) > MOST_TRIANGLES:
        raise too_many(path, count)
    if found := _COUNTED_BACKWARDS.search(data):
        line = data.count(b"\n", 0, found.start()) + 1
        raise ConfigError(
            path,
            "",
            f"line {line} counts vertices from 0 or backwards, which is not read: "
            "export it with numbers from 1.",
        )
    return _MATERIALS.sub(b"", data)


def _gltf(path: Path, data: bytes) -> None:
    if data[:4] == b"glTF":
        data = data[20 : 20 + int.from_bytes(data[12:16], "little")]
    try:
        header: Any = json.loads(data)
        asked = [str(name) for name in header.get("extensionsRequired", [])]
        counts = [int(accessor["count"]) for accessor in header.get("accessors", [])]
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        raise ConfigError(
            path, "", "is no glTF 2 file: its header is not as it must be; export it again."
        ) from None
    for name in asked:
        if "compression" in name:
            raise ConfigError(path, "", f"needs {name}, which is not read: export it without compression.")
    if max(counts, default=0) > 3 * MOST_TRIANGLES:
        raise too_many(path, max(counts) // 3)
