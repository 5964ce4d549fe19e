"""Whose a file or folder is, and who else could change what is there.

A socket, a key or compiled code is worth what its path is worth: whoever may write in a folder above it can
put another in its place.  Trusted are this user and root, and a group of which this user is the only
member (the private group that many systems give to each user).
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

OTHERS_MAY_ENTER = 0o077


def who_else_writes(path: Path) -> str:
    """Why somebody else could change ``path`` or put another in its place; empty if nobody can.

    The rest of a sentence that begins with a path, such as ``/srv/x can be written by others (mode 777)``.
    Symbolic links are followed.  A folder above with the sticky bit, such as /tmp, counts as safe, because
    others can neither move nor remove what is in it.

    Raises
    ------
    OSError : it is not there, or cannot be looked at.
    """
    real = path.resolve(strict=True)
    for place in (real, *real.parents):
        status = place.stat()
        if status.st_uid not in (0, os.geteuid()):
            return f"{place} belongs to {name_of(status.st_uid)}"
        is_sticky_above = place != real and status.st_mode & stat.S_ISVTX
        if _others_write(status) and not is_sticky_above:
            return f"{place} can be written by others (mode {stat.S_IMODE(status.st_mode):o})"
    return ""


def name_of(uid: int) -> str:
    """Return how a user is called in a sentence."""
    try:
        return f"user {pwd.getpwuid(uid).pw_name!r}"
    except KeyError:
        return f"user {uid}"


def _others_write(status: os.stat_result) -> bool:
    return bool(
        status.st_mode & stat.S_IWOTH or (status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid))
    )


def _is_private(gid: int) -> bool:
    """Whether a group holds root, or this user alone."""
    if gid == 0:
        return True
    try:
        me = pwd.getpwuid(os.geteuid())
        return me.pw_gid == gid and set(grp.getgrgid(gid).gr_mem) <= {me.pw_name}
    except KeyError:
        return False
