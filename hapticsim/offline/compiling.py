"""The integrators compiled, once per precision for all robots, and kept on disk.

As with the tick, machine code lies in a folder named by the hash of the sources it comes from.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from hapticsim.files.cache_folder import cache_folder, refuse_unwritable
from hapticsim.kernels import machine_code
from hapticsim.kernels.machine_code.cache import is_kept, keep

_compiled: dict[tuple[str, str], Any] = {}


def compile_for(precision: str, function: Callable, signature: Any) -> Any:
    """Return a function compiled for one precision, or what an earlier process compiled.

    Raises
    ------
    HapticsimError : it is not kept, and the user's cache cannot keep it.
    """
    key = (f"{function.__module__}.{function.__qualname__}", precision)
    if key not in _compiled:
        if not is_kept(function, signature, _folder, error_model="numpy"):
            refuse_unwritable(_folder())
        _compiled[key] = keep(function, signature, folder=_folder, error_model="numpy")
    return _compiled[key]


def _name_of_sources() -> str:
    here = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in [*sorted(here.glob("*.py")), *sorted(Path(machine_code.__file__).parent.glob("*.py"))]:
        if not path.name.startswith("."):
            digest.update(path.name.encode() + path.read_bytes())
    return f"offline-{digest.hexdigest()[:16]}"


_SOURCES = _name_of_sources()  # as they are imported


def _folder() -> Path:
    return cache_folder(_SOURCES)
