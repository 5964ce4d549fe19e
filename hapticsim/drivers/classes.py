"""Classes of drivers by name: registered under the entry-point group ``hapticsim.devices``, or in a file.

``wave.py:Wave`` is the class Wave of the file wave.py, a relative path from the working folder.  Modules
beside the file can be imported, unless an installed one has their name.  Whatever is wrong with one driver is
one sentence about that driver.
"""

from __future__ import annotations

import inspect
import os
import shlex
import sys
from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

from hapticsim.errors import DeviceError, HapticsimError, in_words, nearest
from hapticsim.files.near_file import near_file
from hapticsim.files.special_file import SPECIAL, is_special

GROUP = "hapticsim.devices"
CONTRACT = "hapticsim_devices.base"  # the module of Driver, which whoever derives from it has imported
IN_A_FILE = "hapticsim_driver_file_"  # what the names of modules of files begin with


def registered() -> dict[str, EntryPoint]:
    """The registered drivers by name."""
    return {point.name: point for point in entry_points(group=GROUP)}


def is_file(name: str) -> bool:
    """Whether a driver is named by its file."""
    return ".py:" in name or name.endswith(".py") or "/" in name or os.sep in name


def from_anywhere(name: str) -> str:
    """The same driver for a process with another working folder."""
    if not is_file(name):
        return name
    path, colon, wanted = _parts(name)
    return f"{path}{colon}{wanted}"


def driver_class(name: str) -> Any:
    """The class of a registered driver, or of ``FILE.py:CLASS``; it derives from Driver and can be built.

    Raises
    ------
    DeviceError : there is no such driver (all are listed, with the reason why some cannot run here), or what
        was found is none.
    """
    where, found = _of_file(name) if is_file(name) else _of_entry_point(name)
    if problem := _is_no_driver(found):
        raise DeviceError(f"{where} {problem}")
    return found


def command_name(driver: type) -> str:
    """What the command line calls a driver: the name that is registered, or its file and class."""
    if driver.__module__.startswith(IN_A_FILE):
        file = os.path.relpath(inspect.getfile(driver))
        return shlex.quote(f"{file}:{driver.__qualname__}")
    return str(getattr(driver, "name", driver.__qualname__))


def _of_entry_point(name: str) -> tuple[str, Any]:
    points = registered()
    if name not in points:
        known = "; ".join(f"{n} ({_usable(n)})" for n in sorted(points))
        raise DeviceError(
            f"there is no device {name!r}{_near(name, points)}: choose one of {known or 'none'}, or give "
            "the class of a file, as in wave.py:Wave."
        )
    where = f"device {name!r}"
    ways = sorted({point.value for point in entry_points(group=GROUP) if point.name == name})
    if len(ways) > 1:
        raise DeviceError(
            f"{where} is registered by several packages, as {' and '.join(ways)}: remove all but one "
            "of them, or name the class of a file, as in wave.py:Wave."
        )
    try:
        return where, points[name].load()
    except HapticsimError:
        raise
    except KeyboardInterrupt:
        raise
    except ImportError as error:
        problem = f"cannot be loaded: {in_words(error)}; install what it needs."
        raise DeviceError(f"{where} {problem}") from error
    except BaseException as error:
        problem = f"cannot be loaded: {in_words(error)}; correct or reinstall the package that ships it."
        raise DeviceError(f"{where} {problem}") from error


def _near(name: str, points: Iterable[str]) -> str:
    """The driver that was probably meant: a class whose file lacks its suffix, or a registered one."""
    file, colon, wanted = name.partition(":")
    if colon and Path(f"{file}.py").is_file():
        return f" (did you mean '{file}.py:{wanted}'?)"
    return nearest(name, points)


def _usable(name: str) -> str:
    """Whether a registered driver can run here, without its full stop."""
    try:
        reason = driver_class(name).unavailable()
    except HapticsimError as error:
        reason = error
    except Exception as error:
        reason = in_words(error)
    return str(reason or "available").rstrip(".")


def _parts(name: str) -> tuple[Path, str, str]:
    """File, colon and class."""
    file, colon, wanted = name.rpartition(":") if ".py:" in name else (name, "", "")
    return Path(os.path.abspath(os.path.expanduser(file))), colon, wanted


def _of_file(name: str) -> tuple[str, Any]:
    path, _, wanted = _parts(name)
    module = _module(path, _changed_ns(path))
    own = sorted(k for k, v in vars(module).items() if _is_own(v, module))
    if not own:
        raise DeviceError(f"{path}: has no class: a driver is a class derived from {CONTRACT}.Driver.")
    if not wanted:
        raise DeviceError(f"{path}: which of its classes is the driver? Give it: {path.name}:{own[-1]}.")
    if wanted not in vars(module):
        raise DeviceError(f"{path}: has no class {wanted!r}{nearest(wanted, own)}: it has {', '.join(own)}.")
    return f"{path}: {wanted}", vars(module)[wanted]


def _is_own(thing: object, module: ModuleType) -> bool:
    return isinstance(thing, type) and thing.__module__ == module.__name__


def _changed_ns(path: Path) -> int:
    if is_special(path):
        raise DeviceError(f"{path}: {SPECIAL}")
    try:
        return path.stat().st_mtime_ns
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error


def _unreadable(path: Path, error: OSError | ValueError) -> DeviceError:
    why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    near = near_file(path, (".py",)) if isinstance(error, FileNotFoundError) else ""
    return DeviceError(f"{path}: cannot be read ({why}){near}: give the file of a driver, and its class.")


@cache
def _module(path: Path, changed_ns: int) -> ModuleType:
    """The module of a file as it was at a time, run once."""
    try:
        source = path.read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from error
    module = ModuleType(f"{IN_A_FILE}{path.stem}_{abs(hash((path, changed_ns)))}")
    module.__file__ = str(path)
    folder = str(path.parent)
    if folder not in sys.path:
        sys.path.append(folder)  # last: a file here must not take the place of a module that is installed
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(source, str(path), "exec"), vars(module))
    except BaseException as error:
        del sys.modules[module.__name__]
        if isinstance(error, (HapticsimError, KeyboardInterrupt)):
            raise
        raise DeviceError(f"{path}: cannot be loaded: {in_words(error, str(path))}: correct it.") from error
    return module


def _is_no_driver(found: Any) -> str:
    """Why something is no driver that can be built, the rest of a sentence; empty: it is one."""
    contract = sys.modules.get(CONTRACT)
    if contract is None or not isinstance(found, type) or not issubclass(found, contract.Driver):
        return f"is not a {CONTRACT}.Driver: derive the class from it."
    if inspect.isabstract(found):
        missing = ", ".join(sorted(getattr(found, "__abstractmethods__", ())))
        return f"does not define {missing}: a driver needs them (docs/devices.md)."
    if not isinstance(getattr(found, "name", None), str) or not found.name.strip():  # type: ignore[attr-defined]
        return "has no name: give the class one, as in name = 'wave'."
    if not isinstance(found.shared_options, (frozenset, set)):  # type: ignore[attr-defined]
        return "has shared_options that are no set of names: give a frozenset."
    return ""
