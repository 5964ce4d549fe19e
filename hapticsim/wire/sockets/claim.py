"""Claiming the path of an ipc endpoint: one owner, and nothing else at the path comes to harm.

Binding removes what is at the path, so before it this much is made sure: the folder is one that nobody else
can write, what is at the path is no file and no socket that somebody serves, and the lock beside it is ours.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from pathlib import Path

from hapticsim.errors import WireError
from hapticsim.files.ownership import name_of, who_else_writes
from hapticsim.wire.sockets.endpoints import is_default

DEFAULTS_ELSEWHERE = " (all the default ones at once: set XDG_RUNTIME_DIR to another folder of yours)."
_LOCK_BYTES = 20  # of a lock: the number of a process and a line end


def claim_path(endpoint: str, path: Path) -> int:
    """Claim the path of an ipc endpoint; return the descriptor that holds the claim.

    The system lets a second process put another socket at a path and so take the traffic away from the first.
    So a locked file beside the path decides who owns it; the kernel drops the lock with its process, however
    that ends.  The file is never removed: whoever tries next must meet the same inode.

    Raises
    ------
    WireError : somebody has it, or what is there is not ours to remove.
    """
    check_folder(endpoint, path.parent)
    descriptor = _open_lock(endpoint, Path(f"{path}.lock"))
    try:
        _lock(endpoint, descriptor)
        _check_place(endpoint, path)
    except WireError:
        os.close(descriptor)
        raise
    try:  # for the sentence of whoever tries next: the lock holds without it, also in a folder that is full
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
    except OSError:
        pass
    return descriptor


def check_folder(endpoint: str, folder: Path) -> None:
    """Refuse the folder of a socket where somebody else could put another socket.

    Raises
    ------
    WireError : with the sentence.
    """
    try:
        why = who_else_writes(folder)
    except OSError as error:
        raise WireError(
            f"{endpoint}: cannot be bound ({error.strerror}: {folder}): choose a folder you can write."
        ) from error
    if why:
        raise WireError(
            f"{endpoint}: {why}, who could put another socket there: choose a folder of yours with mode 700."
        )


def _open_lock(endpoint: str, lock: Path) -> int:
    """Open the lock, made if need be; refuse what is none, and leave it as it is."""
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(lock, flags, 0o600)
    except OSError as error:
        raise WireError(
            f"{endpoint}: cannot be bound ({error.strerror}: {lock}): choose a folder you can write."
        ) from error
    status = os.fstat(descriptor)
    try:
        content = os.pread(descriptor, _LOCK_BYTES + 1, 0) if stat.S_ISREG(status.st_mode) else b"?"
    except OSError:
        content = b"?"
    is_lock = len(content) <= _LOCK_BYTES and (not content or content.strip().isdigit())
    if not is_lock or status.st_uid != os.geteuid() or status.st_nlink != 1:
        os.close(descriptor)
        raise WireError(
            f"{endpoint}: cannot be bound, {lock} is no lock of ours: move it away, "
            "or choose another endpoint."
        )
    return descriptor


def _lock(endpoint: str, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.pread(descriptor, _LOCK_BYTES, 0).decode("ascii", "replace").strip()
        if owner == str(os.getpid()):
            why = "is wanted twice by this program: give each road an endpoint of its own."
        else:
            why = f"is in use by process {owner or '(unknown)'}: end it, or choose another endpoint"
            why += DEFAULTS_ELSEWHERE if is_default(endpoint) else "."
        raise WireError(f"{endpoint}: {why}") from error


def _check_place(endpoint: str, path: Path) -> None:
    """Refuse a path where something is that binding would destroy."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise WireError(
            f"{endpoint}: cannot be bound ({error.strerror}): choose another endpoint."
        ) from error
    if not stat.S_ISSOCK(status.st_mode):
        raise WireError(
            f"{endpoint}: cannot be bound, there is a file or folder that is no socket: "
            "move it away, or choose another endpoint."
        )
    if status.st_uid != os.geteuid():
        raise WireError(
            f"{endpoint}: cannot be bound, the socket there belongs to {name_of(status.st_uid)}: "
            "choose another endpoint."
        )
    if _is_served(path):
        raise WireError(
            f"{endpoint}: is in use by a program that holds no lock: end it, or choose another endpoint."
        )


def _is_served(path: Path) -> bool:
    """Whether somebody listens at a socket; what a killed process left behind answers nobody."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            return False
        except OSError:  # another kind of socket, or one whose queue is full
            return True
    return True
