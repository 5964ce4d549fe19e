"""Machine code on disk: one file for each function and signature, used only if it is whole.

numba's own cache takes another folder where it cannot write, cannot use one that it may only read, and
believes what it reads: a truncated file is an exception.  Here the folder is given, whoever may read it uses
it, and each file begins with the hash of what follows: whatever is damaged counts as absent.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import CodeType
from typing import Any

import llvmlite
import numba
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

from hapticsim.files.shared_file import write_whole

HASH = hashlib.sha256().digest_size  # bytes
SETTINGS = ("OPT", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "LOOP_VECTORIZE", "SLP_VECTORIZE")  # of numba


class Store(_Cache):
    """What numba asks for the machine code of one function (``Dispatcher._cache``).

    Parameters
    ----------
    folder : returns the folder, when it is first needed.
    options : with which it is compiled.
    """

    def __init__(self, folder: Callable[[], Path], function: Callable, **options: Any) -> None:
        self._folder, self._function, self._options = folder, function, options

    @property
    def cache_path(self) -> str:
        return str(self._folder())

    def file(self, signature: Any) -> Path:
        """The file of one signature: of this function, compiled so, for this processor and this Python."""
        function, processor = self._function, cpu_target.target_context.codegen().magic_tuple()
        settings = [getattr(numba.config, name, None) for name in SETTINGS]
        about = (signature, sorted(self._options.items()), settings, processor, llvmlite.__version__)
        digest = hashlib.sha256(f"{about} {sys.version}".encode())
        digest.update(_source(inspect.getfile(function)) + _words(function.__code__).encode())
        if function.__closure__:
            digest.update(dumps(tuple(cell.cell_contents for cell in function.__closure__)))
        return self._folder() / f"{function.__module__}.{function.__name__}-{digest.hexdigest()[:16]}.kept"

    def holds(self, signature: Any) -> bool:
        """Whether the machine code for a signature is there, and whole."""
        return _read_whole(self.file(signature)) is not None

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, None if it is not there or cannot be used here."""
        target_context.refresh()
        data = _read_whole(self.file(sig))
        if data is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(data))
        except Exception:  # whole, and yet of no use: it is compiled
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function; where that fails the next process compiles it again."""
        payload = dumps(data._reduce())
        with suppress(OSError):
            write_whole(self.file(sig), hashlib.sha256(payload).digest() + payload)

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """A file that is whole does not go stale."""


@functools.cache
def _source(file: str) -> bytes:
    """Return the hash of a source as it was when this process first asked: an edit is for the next."""
    return hashlib.sha256(Path(file).read_bytes()).digest()


def _words(code: CodeType) -> str:
    """Return what a function does, and with which names and constants."""
    constants = [_words(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_firstlineno} {code.co_code!r} {code.co_names} {code.co_varnames} {constants}"


def _read_whole(path: Path) -> bytes | None:
    """Return what follows the hash in a file, None if that is not what was written."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data[HASH:] if hashlib.sha256(data[HASH:]).digest() == data[:HASH] else None
