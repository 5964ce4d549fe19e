"""The hash of a robot file as it is written, whatever its layout: a recording knows its robot by it.

What was computed from the file would not do: its last bits depend on the processor's routines.
"""

from __future__ import annotations

import hashlib
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

from hapticsim.errors import ConfigError
from hapticsim.files.input_file import input_bytes

MOST_BYTES = 20_000_000  # as of the files themselves
MOST_FILES = 1000


def fingerprint_of(path: Path, *beside: Path) -> str:
    """Return the sha256 of a file, of what an MJCF file includes, and of files beside it, as an SRDF.

    It is that of elements, attributes and texts: layout, comments and the order of attributes do not count.
    """
    digest, waiting, seen = hashlib.sha256(), [path, *beside], {path, *beside}
    while waiting:
        file = waiting.pop(0)
        try:
            data = input_bytes(file, "file", MOST_BYTES, "")
        except ConfigError:  # whoever reads it has refused it, or found it elsewhere
            continue
        try:
            digest.update(ElementTree.canonicalize(data, strip_text=True).encode() + b"\0")
            names = [e.get("file", "") for _, e in ElementTree.iterparse(BytesIO(data)) if e.tag == "include"]
        except (ElementTree.ParseError, LookupError, ValueError):
            digest.update(data + b"\0")
            names = []
        for below in (folder / name for name in names for folder in (path.parent, file.parent)):
            if below not in seen and len(seen) < MOST_FILES and "\0" not in str(below):
                seen.add(below)
                waiting.append(below)
    return digest.hexdigest()
