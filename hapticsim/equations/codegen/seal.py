"""What lies in the cache for one function is used only if it is what was written there, to the bit.

A process can be killed while it writes, a disk can be full, and numba and Python believe what they read: a
truncated index is an exception, a damaged object file is a crash.  So when a function has been compiled, the
hashes of its files (source, byte code, machine code) go into ``NAME.seal``; what is not sealed is removed
before the next use, which makes it again.  Only who holds ``NAME.lock`` removes, writes and seals.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from hapticsim.files.shared_file import write_whole

_OURS = (".seal", ".lock")


def is_sealed(folder: Path, name: str) -> bool:
    """Say whether the files of a function are there, and are those that were sealed."""
    sealed = _read_seal(folder, name)
    present = {path.name: path for path in _files(folder, name)}
    return (
        bool(sealed)
        and sealed.keys() == present.keys()
        and all(_hash(path) == sealed[key] for key, path in present.items())
    )


def sealed_files(folder: Path, name: str) -> dict[Path, bytes]:
    """Return the files of a function by their place below the folder; none where one is not as sealed."""
    sealed, found = _read_seal(folder, name), {}
    try:
        for path in _files(folder, name):
            data = path.read_bytes()
            if hashlib.sha256(data).hexdigest() != sealed.get(path.name):
                return {}
            found[path.relative_to(folder)] = data
    except OSError:  # somebody removes it
        return {}
    return found if len(found) == len(sealed) else {}


def remove_unsealed(folder: Path, name: str) -> None:
    """Remove the files of a function that are not as they were sealed; the caller holds the lock."""
    sealed = _read_seal(folder, name)
    for path in _files(folder, name):
        if _hash(path) != sealed.get(path.name):
            path.unlink(missing_ok=True)


def seal(folder: Path, name: str) -> None:
    """Write the hashes of the files of a function as they are now; the caller holds the lock."""
    lines = [f"{_hash(path)}  {path.name}\n" for path in _files(folder, name)]
    write_whole(folder / f"{name}.seal", "".join(lines))


def _files(folder: Path, name: str) -> list[Path]:
    """Everything of one function, drafts of dead processes included."""
    places = (folder, folder / "__pycache__")
    found = [path for place in places for path in place.glob(f"{name}.*") if path.suffix not in _OURS]
    return sorted(found)


def _read_seal(folder: Path, name: str) -> dict[str, str]:
    """Return the sealed hashes by file name; nothing where there is no seal that can be read."""
    try:
        lines = (folder / f"{name}.seal").read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return {}
    words = [line.split("  ", 1) for line in lines]
    return {pair[1]: pair[0] for pair in words if len(pair) == 2}


def _hash(path: Path) -> str:
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:  # the draft of a process that has just finished it
        return ""
