"""Generated modules on disk, where numba keeps their machine code beside them.

A folder is named by a hash of everything its content depends on: the numbers of the model, the frames, the
sources that generate, and the version of numba.  So a folder never goes stale, and a second process only
loads.  What a crash left half written is made again (``seal.py``).
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numba
import numpy as np
from numba import njit

from hapticsim.equations.codegen.emit import without_numbers
from hapticsim.equations.codegen.seal import is_sealed, remove_unsealed, seal
from hapticsim.equations.codegen.transplant import PATTERNS, donor_of, remember, transplant
from hapticsim.errors import HapticsimError
from hapticsim.files.cache_folder import cache_folder, cannot_keep
from hapticsim.files.shared_file import alone, write_whole
from hapticsim.model.moving import MovingTree

# numba recompiles when the time stamp of a source changes.  Two processes may write the same file, one after
# the other; with one stamp for all, whoever comes second still finds the first one's machine code.
_STAMP = 1_000_000_000

USED = "used"  # its time of modification says when a folder was last loaded from
DAY_s = 86_400.0

NOWHERE = "no locator available"  # numba's words where it may write neither here nor in its own cache

# Functions of this process, by folder, name and whether NUMBA_DISABLE_JIT is set.  Numba never frees what
# it loaded, and a second load would be a second copy.
_loaded: dict[tuple[Path, str, bool], Any] = {}


def equations_folder(tree: MovingTree, frames: Iterable[str], precision: str = "float64") -> Path:
    """Return the folder for one model, one choice of frames and one precision; it need not exist yet."""
    digest = hashlib.sha256()
    digest.update(f"{_generator_hash()} numba {numba.__version__}\n".encode())
    digest.update(f"{precision} {tree.name} {tree.gravity_W.tolist()} {list(frames)}\n".encode())
    for b in tree.bodies:
        words = [
            b.name,
            b.joint.name,
            b.joint.kind,
            b.parent,
            b.axis,
            b.sign,
            float(b.joint.armature),
            float(b.joint.pitch),
            b.u_start,
            b.ratio,
            b.offset,
            b.mass,
        ]
        digest.update(repr(words).encode())
        for array in (b.X_PJ.rotation, b.X_PJ.translation, b.direction_M, b.com, b.central_inertia):
            digest.update(np.ascontiguousarray(array, float).tobytes())
    for name, (index, X_MB) in tree.where.items():
        digest.update(f"{name} {index}".encode())
        digest.update(np.ascontiguousarray(X_MB.rotation, float).tobytes())
        digest.update(np.ascontiguousarray(X_MB.translation, float).tobytes())
    return cache_folder(f"equations-{digest.hexdigest()[:24]}")


def load_generated(folder: Path, name: str, generate: Callable[[], str]) -> ModuleType:
    """Return the module ``folder/name.py``, generated first if it is not there."""
    path = folder / f"{name}.py"
    if not path.exists():
        write_whole(path, generate(), _STAMP)
    spec = importlib.util.spec_from_file_location(f"hapticsim_{folder.name.replace('-', '_')}_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba looks the module up by name when it loads machine code
    # Bytecode goes into this cache even where the user wants none beside sources: parsing ten thousand lines
    # takes longer than loading their machine code.
    kept, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = kept
    return module


def load_compiled(
    folder: Path,
    name: str,
    generate: Callable[[], str],
    signature: Any,
    doing: str,
    progress: Callable[[str], Any] | None,
) -> Any:
    """Return the compiled function ``name`` of the module ``folder/name.py``; it does not need the GIL.

    A process loads each function once.

    generate : returns the source, if the module is not there.
    doing : what is said to ``progress`` while something is compiled that is not in the cache.
    """
    key = folder, name, bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]
    if key in _loaded:
        return _loaded[key]

    def load() -> Any:
        say = progress if progress and not has_machine_code(folder, name) else _silent
        say(f"{doing} ... ")
        start = time.perf_counter()
        module = load_generated(folder, name, generate)
        compile_now: Any = njit(signature, nogil=True, cache=True, error_model="numpy", boundscheck=False)
        compiled = compile_now(getattr(module, name))
        say(f"{time.perf_counter() - start:.1f} s\n")
        return compiled

    try:
        if not is_sealed(folder, name):
            with alone(folder, name):
                remove_unsealed(folder, name)  # nothing, if another process has compiled it by now
                if key[-1] or has_machine_code(folder, name):
                    compiled = load()
                    seal(folder, name)
                else:
                    compiled = _shared(folder, name, load_generated(folder, name, generate), signature, load)
        else:
            compiled = load()
            if _was_compiled(compiled):  # for another processor, or another Python
                with suppress(OSError), alone(folder, name):
                    seal(folder, name)
    except OSError as error:
        raise HapticsimError(cannot_keep(folder, error)) from error
    except RuntimeError as error:
        if NOWHERE not in str(error):
            raise
        raise HapticsimError(cannot_keep(folder, error)) from error
    _mark_used(folder)
    _loaded[key] = compiled
    return compiled


def _shared(folder: Path, name: str, module: ModuleType, signature: Any, load: Callable[[], Any]) -> Any:
    """Load a function with the machine code of a robot that differs in its numbers only, or compile it.

    Of robots with the same lines one is compiled, the others wait for it.
    """
    source = Path(str(module.__file__)).read_text(encoding="utf-8")
    about = f"{_generator_hash()} numba {numba.__version__} {name} {signature}\n"
    pattern = hashlib.sha256((about + without_numbers(source)).encode()).hexdigest()[:24]
    with alone(folder.parent / PATTERNS, pattern):
        donor = donor_of(folder.parent, pattern)
        if donor is not None and donor != folder:
            transplant(donor, getattr(module, name), name)
        compiled = load()
        if _was_compiled(compiled):  # first: without its seal a folder is no donor, and is compiled again
            remember(folder.parent, pattern, folder)
        seal(folder, name)
    return compiled


def forget_loaded() -> None:
    """Let the next use of each function load it from the disk again, as a new process does."""
    _loaded.clear()


def has_machine_code(folder: Path, name: str) -> bool:
    """Say whether numba has kept machine code for a generated function."""
    return any((folder / "__pycache__").glob(f"{name}.*.nbi"))


def last_used(folder: Path) -> float:
    """Return when a folder of the cache was last loaded from [s since 1970], to a day.

    Folders that others keep here (the tick, the integrators) have no mark: there the files say when they were
    last read.
    """
    mark = folder / USED
    if mark.exists():
        return mark.stat().st_mtime
    times = [max(path.stat().st_atime, path.stat().st_mtime) for path in folder.rglob("*") if path.is_file()]
    return max(times, default=folder.stat().st_mtime)


def _mark_used(folder: Path) -> None:
    mark = folder / USED
    try:
        if not mark.exists() or time.time() - mark.stat().st_mtime > DAY_s:
            mark.touch()
    except OSError:
        pass  # a cache that cannot be written is not pruned either


def _was_compiled(compiled: Any) -> bool:
    return hasattr(compiled, "stats") and bool(compiled.stats.cache_misses)


def _silent(text: str) -> None:
    """Say nothing."""


@cache
def _generator_hash() -> str:
    """Return a hash of the sources that decide what is generated."""
    package = Path(__file__).parents[2]
    digest = hashlib.sha256()
    for path in [*sorted((package / "equations").rglob("*.py")), package / "model" / "moving.py"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
