"""Where compiled code is kept on disk, and whether it is safe to run what is there."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from hapticsim.errors import HapticsimError
from hapticsim.files.ownership import who_else_writes
from hapticsim.files.shared_file import make_folder

ENVIRONMENT = "HAPTICSIM_CACHE_DIR"
ROOM = 1 << 20  # bytes that must fit before anything is compiled to be kept


def cache_folder(name: str = "") -> Path:
    """Return ``$HAPTICSIM_CACHE_DIR``, or a folder of the user's cache, or one in it, as an absolute path.

    It need not exist yet.

    Raises
    ------
    HapticsimError : nobody says where, or somebody else could change what is there.
    """
    chosen = os.environ.get(ENVIRONMENT)
    if not chosen:
        try:
            base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        except RuntimeError:
            raise HapticsimError(
                f"there is no home folder for compiled code: set {ENVIRONMENT} to a folder you can write."
            ) from None
        chosen = str(Path(base) / "hapticsim")
    folder = Path(chosen).absolute() / name
    _refuse_unsafe(folder)
    return folder


def refuse_unwritable(folder: Path) -> None:
    """Make a folder for compiled code and try to write there: compiling takes long, and comes after.

    Raises
    ------
    HapticsimError : with the sentence.
    """
    try:
        make_folder(folder)
        trial = folder / f".room-{os.getpid()}"
        try:
            trial.write_bytes(bytes(ROOM))
        finally:
            trial.unlink(missing_ok=True)
    except OSError as error:
        raise HapticsimError(cannot_keep(folder, error)) from error


def cannot_keep(folder: Path, error: Exception) -> str:
    """Return the sentence for a folder that takes no compiled code."""
    why = getattr(error, "strerror", None) or "it cannot be written"
    return f"{folder} cannot keep compiled code ({why}): set {ENVIRONMENT} to a folder that can be written."


@cache
def _refuse_unsafe(folder: Path) -> None:
    """Refuse a folder of machine code that somebody else could change: what is there will be run."""
    there = folder
    try:
        while not there.exists() and there != there.parent:
            there = there.parent
        why = who_else_writes(there)
    except OSError:
        return  # whoever writes there will say so
    if why:
        raise HapticsimError(
            f"{folder}: is not safe for compiled code, {why}: "
            f"set {ENVIRONMENT} to a folder that nobody else can write (mode 700)."
        )
