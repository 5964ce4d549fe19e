"""Kernels compiled, and kept on disk for later processes.

What a function calls decides its machine code as much as its own lines, so the machine code is kept in a
folder named by the hash of all kernel and loop sources and ``codes.py``: any edit anywhere is a new folder.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import numba
from numba import njit
from numba.core.typing.templates import Signature

from hapticsim.files.cache_folder import cache_folder
from hapticsim.files.shared_file import alone
from hapticsim.kernels.machine_code.store import Store

decorate: Any = njit
WAIT_s = 120.0  # for another process, which may be stopped: then both compile


def _name_of_sources() -> str:
    package = Path(__file__).parents[2]
    digest = hashlib.sha256(f"{numba.__version__} {package}".encode())
    folders = (package / "kernels", package / "realtime")
    sources = [*(path for folder in folders for path in folder.rglob("*.py")), package / "codes.py"]
    for path in sorted(path for path in sources if not path.name.startswith(".") and path.is_file()):
        digest.update(str(path.relative_to(package)).encode() + path.read_bytes())
    return f"kernels-{digest.hexdigest()[:16]}"


_SOURCES = _name_of_sources()  # as they are imported: an edit after that belongs to the next process


@functools.cache
def kernel_folder() -> Path:
    """Return the folder of the machine code of exactly these sources, in this place; it need not exist yet.

    Raises
    ------
    HapticsimError : the user's cache cannot be used (files/cache_folder.py).
    """
    return cache_folder(_SOURCES)


def is_kept(
    function: Callable, signature: Signature, folder: Callable[[], Path] = kernel_folder, **options: Any
) -> bool:
    """Whether an earlier process compiled it with these options, for this processor and this Python."""
    return Store(folder, function, **options).holds(signature)


def keep(
    function: Callable, *signature: Signature, folder: Callable[[], Path] = kernel_folder, **options: Any
) -> Any:
    """Compile for the signature, or for whatever a call brings, or load what an earlier process compiled.

    Of processes that want the same signature at once, one compiles and the others wait and load.
    """
    compiled: Any = decorate(nogil=True, **options)(function)
    store = Store(folder, function, **options)
    if compiled is function:  # NUMBA_DISABLE_JIT
        return compiled
    compiled._cache = store
    for one in signature:
        with ExitStack() as lock:
            if not store.holds(one):
                with suppress(OSError):  # a folder that may only be read
                    lock.enter_context(alone(folder(), store.file(one).stem, WAIT_s))
            compiled.compile(one)
    if signature:
        compiled.disable_compile()
    return compiled


def kept(function: Callable) -> Any:
    """Decorate a function that Python calls, too: a start would spend 0.1 s on compiling each of these."""
    return keep(function)
