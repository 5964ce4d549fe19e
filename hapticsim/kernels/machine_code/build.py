"""The program of a process that compiles kernels beside another one (beside.py)."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from importlib import import_module

from hapticsim.kernels.machine_code.cache import keep
from hapticsim.kernels.machine_code.called import DECLARED
from hapticsim.kernels.machine_code.lean import install


def build(paths: Sequence[str]) -> None:
    """Compile the kernels of these paths, keep them on disk, and print each path when it is there."""
    gc.disable()
    install()
    for path in paths:
        import_module(path.partition(":")[0])
        called = DECLARED[path]
        keep(called.function, called.signature, error_model="numpy")
        print(path, flush=True)
