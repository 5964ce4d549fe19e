"""Generated modules on disk, where numba keeps their machine code beside them.

A folder is named by a hash of everything its content depends on: the numbers of the model, the frames, the
sources that generate, and the version of numba.  So a folder never goes stale, and a second process only
loads.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from types import ModuleType

import numba
import numpy as np

from hapticsim.errors import HapticsimError
from hapticsim.model.moving import MovingTree

ENVIRONMENT = "HAPTICSIM_CACHE_DIR"

# numba recompiles when the time stamp of a source changes.  Two processes may write the same file, one after
# the other; with one stamp for all, whoever comes second still finds the first one's machine code.
_STAMP = 1_000_000_000


def cache_root() -> Path:
    """Return the folder of compiled equations: HAPTICSIM_CACHE_DIR, or a folder of the user's cache."""
    chosen = os.environ.get(ENVIRONMENT)
    if chosen:
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hapticsim"


def equations_folder(tree: MovingTree, frames: Iterable[str]) -> Path:
    """Return the folder for one model and one choice of frames; it need not exist yet."""
    digest = hashlib.sha256()
    digest.update(f"{_generator_hash()} numba {numba.__version__}\n".encode())
    digest.update(f"{tree.name} {tree.gravity_W.tolist()} {list(frames)}\n".encode())
    for b in tree.bodies:
        words = [
            b.name,
            b.joint.name,
            b.joint.kind,
            b.parent,
            b.axis,
            b.sign,
            float(b.joint.armature),
            b.mass,
        ]
        digest.update(repr(words).encode())
        for array in (b.X_PJ.rotation, b.X_PJ.translation, b.moment, b.inertia):
            digest.update(np.ascontiguousarray(array, float).tobytes())
    for name, (index, X_MB) in tree.where.items():
        digest.update(f"{name} {index}".encode())
        digest.update(np.ascontiguousarray(X_MB.rotation, float).tobytes())
        digest.update(np.ascontiguousarray(X_MB.translation, float).tobytes())
    return cache_root() / f"equations-{digest.hexdigest()[:24]}"


def load_generated(folder: Path, name: str, generate: Callable[[], str]) -> ModuleType:
    """Return the module ``folder/name.py``, generated first if it is not there."""
    path = folder / f"{name}.py"
    if not path.exists():
        source = generate()
        try:
            _write(path, source)
        except OSError as error:
            raise HapticsimError(
                f"{folder} cannot keep compiled equations ({error.strerror or error}): "
                f"set {ENVIRONMENT} to a folder that can be written."
            ) from error
    spec = importlib.util.spec_from_file_location(f"hapticsim_{folder.name.replace('-', '_')}_{name}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # numba looks the module up by name when it loads machine code
    spec.loader.exec_module(module)
    return module


def has_machine_code(folder: Path, name: str) -> bool:
    """Say whether numba has kept machine code for a generated function."""
    return any((folder / "__pycache__").glob(f"{name}.*.nbi"))


def _write(path: Path, source: str) -> None:
    """Write a file that appears at once and whole, whoever else is writing it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, suffix=".draft")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(source)
        os.utime(draft, (_STAMP, _STAMP))
        os.replace(draft, path)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise


@cache
def _generator_hash() -> str:
    """Return a hash of the sources that decide what is generated."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in [*sorted(here.glob("*.py")), here.parent / "model" / "moving.py"]:
        digest.update(path.read_bytes())
    return digest.hexdigest()
