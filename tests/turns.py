"""Tests of several processes at once, and a test that has the machine to itself for a while."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# Files that every process of one checkout can lock: a system's lock ends with its process.
GATE, FLOOR = Path(__file__), Path(__file__).parent / "__init__.py"


@contextmanager
def _locked(path: Path, how: int) -> Iterator[None]:
    with path.open("rb") as file:
        fcntl.flock(file, how)
        try:
            yield
        finally:  # said aloud: a child may have inherited the file
            fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def beside_others() -> Iterator[None]:
    """While tests of other processes may run as well."""
    with _locked(GATE, fcntl.LOCK_EX):  # waits behind one that waits to be alone
        floor = _locked(FLOOR, fcntl.LOCK_SH)
        floor.__enter__()
    try:
        yield
    finally:
        floor.__exit__(None, None, None)


@contextmanager
def alone() -> Iterator[None]:
    """While no test of another process runs; those that are under way end first."""
    with _locked(GATE, fcntl.LOCK_EX), _locked(FLOOR, fcntl.LOCK_EX):
        yield
