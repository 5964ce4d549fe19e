"""Files that several processes write and read: by one at a time, and never seen half written."""

from __future__ import annotations

import fcntl
import math
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_s = 0.05


@contextmanager
def alone(folder: Path, name: str, limit_s: float = math.inf) -> Iterator[None]:
    """Hold the lock ``folder/name.lock``; wait while another process (or thread) holds it.

    The operating system releases the lock of a process that dies.  Where nobody can lock (a file system
    without locks), or after ``limit_s`` [s], the caller goes on without: two may do the work.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / f"{name}.lock", "a") as file:
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
        yield


def write_whole(path: Path, text: str | bytes, stamp: float | None = None) -> None:
    """Write a file that appears at once and whole; text in UTF-8.

    stamp : time of modification [s since 1970], now if not given.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f"{path.stem}.", suffix=".draft")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8") if isinstance(text, str) else text)
        if stamp is not None:
            os.utime(draft, (stamp, stamp))
        os.replace(draft, path)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
