"""Machine code kept on disk, for later processes.

numba's disk cache does not see an edit in a file that a cached function merely calls, so the machine code is
kept in a folder named by the hash of all kernel and loop sources and ``codes.py``: any edit anywhere is a new
folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.typing.templates import Signature

decorate: Any = njit


def cache_folder() -> Path:
    """Where machine code is kept: ``$HAPTICSIM_CACHE_DIR`` or the user's cache folder."""
    base = os.environ.get("HAPTICSIM_CACHE_DIR")
    if base:
        return Path(base)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hapticsim"


@functools.cache
def kernel_folder() -> Path:
    """The folder of the machine code of exactly these sources, in this place: numba asks for both."""
    package = Path(__file__).parents[2]
    digest = hashlib.sha256(f"{numba.__version__} {package}".encode())
    folders = (package / "kernels", package / "realtime")
    sources = [*(path for folder in folders for path in folder.rglob("*.py")), package / "codes.py"]
    for path in sorted(sources):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return cache_folder() / f"kernels-{digest.hexdigest()[:16]}"


def keep(function: Callable, *signature: Signature, **options: Any) -> Any:
    """Compile for the signature, or for whatever a call brings, or load what an earlier process compiled."""
    settings: Any = numba.config
    before, settings.CACHE_DIR = settings.CACHE_DIR, str(kernel_folder())
    try:
        return decorate(*signature, nogil=True, cache=True, **options)(function)
    finally:
        settings.CACHE_DIR = before


def kept(function: Callable) -> Any:
    """Decorate a function that Python calls, too: a start would spend 0.1 s on compiling each of these."""
    return keep(function)
