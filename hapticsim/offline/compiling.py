"""The integrators compiled, once per precision for all robots, and kept on disk.

As with the tick, machine code lies in a folder named by the hash of the sources it comes from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import njit

from hapticsim.kernels import machine_code
from hapticsim.kernels.machine_code.cache import cache_folder

_compiled: dict[tuple[str, str], Any] = {}


def compile_for(precision: str, function: Callable, signature: Any) -> Any:
    """Return a function compiled for one precision, or what an earlier process compiled."""
    key = (f"{function.__module__}.{function.__qualname__}", precision)
    if key not in _compiled:
        settings: Any = numba.config
        before, settings.CACHE_DIR = settings.CACHE_DIR, str(_folder())
        try:
            _compiled[key] = njit(signature, nogil=True, error_model="numpy", cache=True)(function)
        finally:
            settings.CACHE_DIR = before
    return _compiled[key]


def _folder() -> Path:
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [*sorted(here.glob("*.py")), *sorted(Path(machine_code.__file__).parent.glob("*.py"))]:
        digest.update(path.name.encode() + path.read_bytes())
    return cache_folder() / f"offline-{digest.hexdigest()[:16]}"
