"""What nobody has used for a long time is removed from the cache."""

from __future__ import annotations

import os
import shutil
import time
from contextlib import suppress
from pathlib import Path

from hapticsim.equations.codegen.cache import DAY_s, last_used
from hapticsim.files.cache_folder import cache_folder
from hapticsim.kernels.machine_code.cache import kernel_folder

KEEP_days = 90.0
_REMOVED = "removed-"
_KINDS = ("equations-", "kernels-", "offline-", "meshes-")


def prune_cache(days: float = KEEP_days) -> str:
    """Remove folders of compiled code that were not used for some days; return a sentence of what was freed.

    The tick of this version stays.  A process that has loaded from a removed folder keeps what it has, and
    compiles again what it asks for later.
    """
    root, freed, removed, kept = cache_folder(), 0, 0, 0
    for folder in sorted(root.iterdir()) if root.is_dir() else []:
        if folder.name.startswith(_REMOVED):  # begun by a process that was killed
            shutil.rmtree(folder, ignore_errors=True)
        elif folder.name.startswith(_KINDS) and folder.is_dir():
            if folder == kernel_folder() or _is_used(folder, days):
                kept += 1
            else:
                freed += _remove(root, folder)
                removed += 1
    return (
        f"{root}: freed {freed / 1e6:.1f} MB, {removed} of {removed + kept} folders were not used for "
        f"{days:g} days."
    )


def _is_used(folder: Path, days: float) -> bool:
    """Whether a folder was used within some days; one that changes while it is looked at is in use."""
    try:
        return time.time() - last_used(folder) <= days * DAY_s
    except OSError:
        return True


def _remove(root: Path, folder: Path) -> int:
    """Remove a folder, out of sight first, so that nobody loads from half of it; return its bytes."""
    size = 0
    with suppress(OSError):  # a file that another process has just renamed
        for path in folder.rglob("*"):
            size += path.stat().st_size if path.is_file() else 0
    with suppress(OSError):  # another process prunes too
        aside = root / f"{_REMOVED}{os.getpid()}-{folder.name}"
        folder.rename(aside)
        shutil.rmtree(aside, ignore_errors=True)
    return size
