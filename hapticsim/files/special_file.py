"""A file that somebody sends may name any path: a device never ends, and a pipe keeps its reader for ever."""

from __future__ import annotations

import stat
from pathlib import Path

SPECIAL = "is a device, a pipe or a socket: name a file."  # the end of a refusal


def is_special(path: Path) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):  # whoever reads it will say so
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
