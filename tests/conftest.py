"""What the tests with whole processes share."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.processes import Place


@pytest.fixture
def place() -> Iterator[Place]:
    """A folder of its own for sockets and recordings, and whatever was started there ended afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="hs-"))  # short: the path of a socket has 107 bytes at most
    here = Place(folder)
    try:
        yield here
    finally:
        here.end_all()
        shutil.rmtree(folder, ignore_errors=True)
