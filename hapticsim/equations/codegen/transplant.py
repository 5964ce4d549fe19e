"""Machine code for a robot, made from that of another one which differs in its numbers only.

Where masses, centres of mass and inertias change, the lines of a function stay and its numbers become others
(``emit.py``).  In machine code these numbers stand together behind a mark (``straightline.py``), and nothing
was derived from them when it was compiled: with others in their place, and with the name of its own module,
the code is what compiling would give.  Compiling takes 0.3 to several seconds, this some milliseconds.

Notes in the folder ``patterns`` of the cache say which folder holds machine code for which lines.  Where
anything is not as expected nothing is taken over, and the function is compiled.
"""

from __future__ import annotations

import pickle
import re
from io import BytesIO
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numba
import numpy as np
from numba.core.caching import CompileResultCacheImpl, IndexDataCacheFile

from hapticsim.equations.codegen.seal import sealed_files
from hapticsim.equations.codegen.straightline import MARK
from hapticsim.files.shared_file import write_whole

# What comes of machine code that a numba to come keeps in another form: then it is compiled.
_STRANGE = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    pickle.PickleError,
)
_ESCAPED = re.compile(r"\\\\|\\[0-9A-F]{2}")
PATTERNS = "patterns"
_DIGEST = re.compile(r"[a-z]+-[0-9a-f]{24}")  # folders whose names are of one length


def donor_of(root: Path, pattern: str) -> Path | None:
    """Return the folder that holds machine code for the lines of a function, if one was remembered."""
    try:
        name = _note(root, pattern).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return root / name if _DIGEST.fullmatch(name) else None


def remember(root: Path, pattern: str, folder: Path) -> None:
    """Note that a folder holds machine code for the lines of a function; the caller holds the note's lock."""
    for draft in (root / PATTERNS).glob(f"{pattern}.*.draft"):  # of a process that was killed
        draft.unlink(missing_ok=True)
    if folder.parent == root and _DIGEST.fullmatch(folder.name):
        write_whole(_note(root, pattern), folder.name)


def _note(root: Path, pattern: str) -> Path:
    return root / PATTERNS / pattern


def transplant(donor: Path, function: Any, name: str) -> bool:
    """Write the machine code of a function beside its source, from that of another robot; say if it could be.

    function : the Python function of the module, which is loaded.  Its lines are those of the donor's, and
        the caller holds its lock.
    """
    files = sealed_files(donor, name)
    place = CompileResultCacheImpl(function)
    source = Path(function.__code__.co_filename)
    old, new = donor.name.encode()[-24:], source.parent.name.encode()[-24:]
    numbers = _numbers(files.get(Path(f"{name}.py"), b"")), _numbers(source.read_bytes())
    index = next((data for path, data in files.items() if path.suffix == ".nbi"), b"")
    code = {path.name: data for path, data in files.items() if path.suffix == ".nbc"}
    made = {}
    try:
        for key, file in _overloads(index).items():
            made[key] = _with_numbers(code[file].replace(old, new), *numbers)
    except _STRANGE:
        return False
    if not made or None in made.values() or not _DIGEST.fullmatch(source.parent.name):
        return False
    place.locator.ensure_cache_path()
    kept = IndexDataCacheFile(
        place.locator.get_cache_path(), place.filename_base, place.locator.get_source_stamp()
    )
    for key, data in made.items():
        kept.save(key, data)
    return True


def _overloads(index: bytes) -> dict[Any, str]:
    """Return the files of machine code by processor and signature, from numba's index of a function."""
    stream = BytesIO(index)
    try:
        if pickle.load(stream) != numba.__version__:
            return {}
        return dict(pickle.load(stream)[1])
    except EOFError:
        return {}


def _numbers(source: bytes) -> list[float]:
    """Return the numbers of a module from its source."""
    found = re.search(rb"^numbers = \(\n((?:    \S+, *\n)+)\)$", source, re.MULTILINE)
    return [float(line.strip().rstrip(b",")) for line in found[1].splitlines()] if found else []


def _with_numbers(data: bytes, old: list[float], new: list[float]) -> Any:
    """Return what numba keeps of a function with other numbers in it; None where they are not found."""
    (name, kind, (machine_code, bitcode)), *others = pickle.loads(data)
    if kind != "object":
        return None
    if old:
        dtype = np.float64 if MARK + _bytes(old, np.float64) in machine_code else np.float32
        before, after = (MARK + _bytes(numbers, dtype) for numbers in (old, new))
        if not machine_code.count(MARK) == machine_code.count(before) >= 1:
            return None
        machine_code = machine_code.replace(before, after)
        text, count = _rewritten(str(llvm.parse_bitcode(bitcode)), before, after)
        if count < 1:
            return None
        bitcode = llvm.parse_assembly(text).as_bitcode()
    return (name, kind, (machine_code, bitcode)), *others


def _bytes(numbers: list[float], dtype: Any) -> bytes:
    return bytes(np.array(numbers, dtype).tobytes())


def _rewritten(text: str, before: bytes, after: bytes) -> tuple[str, int]:
    """Return LLVM's text of a module with other data in place of some, and how often that was there."""
    count = 0

    def other(found: re.Match[str]) -> str:
        nonlocal count
        if _ESCAPED.sub(_plain, found[1]).encode("latin-1") != before:
            return found[0]
        count += 1
        return 'c"' + "".join(f"\\{byte:02X}" for byte in after) + '"'

    return re.sub(r'c"([^"]*)"', other, text), count


def _plain(escape: re.Match[str]) -> str:
    return "\\" if escape[0] == "\\\\" else chr(int(escape[0][1:], 16))
