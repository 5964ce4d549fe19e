"""Files that several processes write and read: by one at a time, and never seen half written."""

from __future__ import annotations

import errno
import fcntl
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

POLL_s = 0.05
FOLDER_MODE, FILE_MODE = 0o755, 0o644  # whatever the umask allows


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing, which others may read and nobody else may write."""
    for place in reversed([folder, *folder.parents]):
        if not place.is_dir():
            if place.exists():
                raise NotADirectoryError(errno.ENOTDIR, "Not a directory", str(place))
            place.mkdir(FOLDER_MODE, exist_ok=True)


@contextmanager
def alone(folder: Path, name: str, limit_s: float = math.inf) -> Iterator[None]:
    """Hold the lock ``folder/name.lock``; wait while another process (or thread) holds it.

    The operating system releases the lock of a process that dies.  Where nobody can lock (a file system
    without locks), or after ``limit_s`` [s], the caller goes on without: two may do the work.
    """
    make_folder(folder)
    lock = os.open(folder / f"{name}.lock", os.O_RDWR | os.O_CREAT, FILE_MODE)
    with os.fdopen(lock, "a") as file:
        until = time.monotonic() + limit_s
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if limit_s == math.inf else fcntl.LOCK_NB))
            except BlockingIOError:
                if time.monotonic() < until:
                    time.sleep(POLL_s)
                    continue
            except OSError:
                pass
            break
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_UN)  # closing leaves it to a child that was forked meanwhile


def write_whole(path: Path, text: str | bytes, stamp: float | None = None) -> None:
    """Write a file that appears at once and whole; text in UTF-8.

    stamp : time of modification [s since 1970], now if not given.
    """
    make_folder(path.parent)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.", suffix=".draft")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8") if isinstance(text, str) else text)
            os.fchmod(file.fileno(), FILE_MODE)
        if stamp is not None:
            os.utime(draft, (stamp, stamp))
        os.replace(draft, path)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
