"""The program of a process that compiles kernels beside another one (beside.py)."""

from __future__ import annotations

import gc
import sys
from importlib import import_module

from hapticsim.kernels.machine_code.cache import keep, kernel_folder
from hapticsim.kernels.machine_code.called import DECLARED
from hapticsim.kernels.machine_code.lean import install


def build(sources: str, *paths: str) -> None:
    """Compile the kernels of these paths, keep them on disk, and print each path when it is there.

    sources : name of the folder of the machine code of the sources that the other process imported; if it is
    another one here, somebody edited them in between.
    """
    if kernel_folder().name != sources:
        sys.exit("the sources are not those of the process that asked")
    gc.disable()
    install()
    for path in paths:
        import_module(path.partition(":")[0])
        called = DECLARED[path]
        keep(called.function, called.signature, **called.options)
        print(path, flush=True)
