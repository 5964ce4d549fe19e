"""The list of those who may connect on one road: a folder of public keys, looked at while it is in use."""

from __future__ import annotations

import os
import stat
import threading
import time
from pathlib import Path

import zmq.auth

from hapticsim.errors import WireError
from hapticsim.files.ownership import who_else_writes

LOOK_AGAIN_S = 0.2  # a flood of strangers costs five looks at the folder a second
MOST_FILES = 1000  # of a list; one with more is a folder of something else
MOST_BYTES = 4096  # of a key file: it has some 300


class AllowList:
    """Public keys in a folder; a file that comes or goes counts within `LOOK_AGAIN_S`.

    Any thread may ask.  A file that holds no key admits nobody and harms nobody; ``notes`` has a sentence for
    each.  A folder that others can write admits nobody at all from then on.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._looked_at_s = time.monotonic()
        self._banned: frozenset[bytes] = frozenset()
        self._keys, self.notes = read_keys(path)

    def keys(self) -> frozenset[bytes]:
        """Return the keys that are admitted now, in Z85."""
        with self._lock:
            if time.monotonic() - self._looked_at_s >= LOOK_AGAIN_S:
                self._keys, self.notes = read_keys(self.path)
                self._looked_at_s = time.monotonic()
            return self._keys - self._banned

    def admits(self, key: bytes) -> bool:
        """Whether the holder of a key, in Z85, may connect now."""
        return key in self.keys()

    def was_admitted(self, key: bytes) -> bool:
        """Whether it might at the last look at the folder; does not look, because a folder may be slow."""
        return key in self._keys - self._banned

    def ban(self, key: bytes) -> None:
        """Admit the holder of a key, in Z85, no more while this list is in use, whatever is in the folder."""
        with self._lock:
            self._banned |= {key}


def read_keys(folder: Path) -> tuple[frozenset[bytes], list[str]]:
    """Return the public keys of a folder, in Z85, and a sentence for each file that is none."""
    keys: set[bytes] = set()
    notes: list[str] = []
    try:
        if why := who_else_writes(folder):
            return frozenset(), [f"{folder}: admits nobody, because {why}: set its mode to 700."]
        files = sorted(folder.glob("*.key"))
    except OSError:  # there is no list: it admits nobody
        return frozenset(), []
    if len(files) > MOST_FILES:
        return frozenset(), [
            f"{folder}: holds {len(files)} key files and may hold {MOST_FILES}: remove some."
        ]
    for file in files:
        try:
            keys.add(_public_key(file))
        except (WireError, OSError, ValueError) as error:
            notes.append(f"{file}: admits nobody ({error}): copy the peer's own.key there.")
    return frozenset(keys), notes


def _public_key(file: Path) -> bytes:
    status = os.stat(file)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
        raise WireError("it is no key file")
    if why := who_else_writes(file):
        raise WireError(why)
    try:
        key, _ = zmq.auth.load_certificate(file)
    except (ValueError, UnicodeDecodeError) as error:
        raise WireError("it holds no public key") from error
    if len(key) != 40:
        raise WireError("it holds no public key")
    return key
