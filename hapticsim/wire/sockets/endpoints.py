"""Endpoints: which are usable, and which are private.

An endpoint is ``ipc://PATH`` or ``tcp://HOST:PORT``.  The defaults are ipc sockets in a folder only this user
can enter.  TCP is open to every user of a computer, loopback too, so both ends need keys (`curve.Curve`).
"""

from __future__ import annotations

import ipaddress
import os
import stat
import sys
import tempfile
from pathlib import Path

from hapticsim.arguments import text, unusable
from hapticsim.errors import WireError

IPC_PATH_BYTES = 107  # sockaddr_un.sun_path less its final zero
LAST_PORT = 65535
LONGEST_WAIT_S = 1e6  # for a message: eleven days

_told = ""  # an XDG_RUNTIME_DIR that was said to be of no use


def _default_folder() -> Path:
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    if runtime and os.path.isabs(runtime) and os.path.isdir(runtime):
        return Path(runtime) / "hapticsim"
    return Path(tempfile.gettempdir()) / f"hapticsim-{os.getuid()}"


def private_folder() -> Path:
    """Return the folder of the default ipc sockets, made if need be; only this user can enter it.

    ``$XDG_RUNTIME_DIR/hapticsim``, or ``hapticsim-UID`` in the folder for temporary files, which is said once
    where that variable names no absolute path of a folder.

    Raises
    ------
    WireError : somebody else owns the folder, or it is open to others.
    """
    global _told
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    folder = _default_folder()
    if runtime and folder.parent != Path(runtime) and runtime != _told:
        _told = runtime
        print(f"note: XDG_RUNTIME_DIR = {runtime!r} is no folder: sockets are in {folder}.", file=sys.stderr)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError as error:
        raise WireError(
            f"{folder}: cannot be used for sockets ({error.strerror}): "
            "set XDG_RUNTIME_DIR to a folder of yours, or give an endpoint."
        ) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise WireError(
            f"{folder}: must be a folder of yours that nobody else can enter (mode 700): "
            "remove it, or set XDG_RUNTIME_DIR."
        )
    return folder


def check_connection(where: str, endpoint: object, context: object, curve: object) -> None:
    """Refuse what no socket can be made of; what stands in the endpoint is checked by ``check_endpoint``.

    where : the call, for the sentence.

    Raises
    ------
    ConfigError : which argument is of the wrong kind.
    """
    import zmq

    what = "text such as 'ipc:///run/user/1000/hapticsim/publish.sock', or None"
    if not text(where, "endpoint", endpoint, what).isprintable():
        raise unusable(where, "endpoint", endpoint, "text of printable characters")
    if context is not None and not isinstance(context, zmq.Context):
        raise unusable(where, "context", context, "a zmq.Context, or None")
    if curve is not None:
        from hapticsim.wire.sockets.curve_security import Curve

        if not isinstance(curve, Curve):
            raise unusable(where, "curve", curve, "a Curve (hapticsim.wire.sockets.curve_security), or None")


def default_endpoint(name: str) -> str:
    """Return the default endpoint called ``device``, ``publish``, ``pointer`` or any other short name."""
    return f"ipc://{private_folder() / name}.sock"


def is_default(endpoint: str) -> bool:
    """Whether an endpoint is in the folder of the default ones."""
    path = ipc_path(endpoint)
    return path is not None and path.parent == _default_folder()


def control_beside(publish_endpoint: str) -> str:
    """Return the control endpoint of the server that publishes there, where none is given.

    ``publish.sock`` has ``control.sock`` beside it, any other path the same with ``-control`` at its end, a
    tcp port the one above it.

    Raises
    ------
    WireError : there is no port above it.
    """
    path = ipc_path(publish_endpoint)
    if path is not None:
        name = "control.sock" if path.name == "publish.sock" else f"{path.name}-control"
        return f"ipc://{path.with_name(name)}"
    address, _, port = publish_endpoint.rpartition(":")
    if not (port.isascii() and port.isdigit()):
        return publish_endpoint
    if int(port) >= LAST_PORT:
        raise WireError(
            f"control endpoint beside {publish_endpoint}: there is no port above {port}: give the control "
            f"endpoint, or a publish endpoint with a port of at most {LAST_PORT - 1}."
        )
    return f"{address}:{int(port) + 1}"


def ipc_path(endpoint: str) -> Path | None:
    """Return the path of an ipc endpoint, None for another transport."""
    return Path(endpoint.removeprefix("ipc://")) if endpoint.startswith("ipc://") else None


def host_of(endpoint: str) -> str:
    """Return the host of a tcp endpoint, without the brackets of an IPv6 address."""
    return endpoint.removeprefix("tcp://").rpartition(":")[0].strip("[]")


def is_same_machine(endpoint: str) -> bool:
    """Whether both ends of the endpoint run on one machine, and so read one monotonic clock."""
    if endpoint.startswith("ipc://") or host_of(endpoint) == "localhost":
        return True
    try:
        return ipaddress.ip_address(host_of(endpoint)).is_loopback
    except ValueError:
        return False


def check_endpoint(endpoint: str, *, has_keys: bool = False) -> None:
    """Refuse an endpoint that cannot work, or that others could reach without keys.

    Raises
    ------
    WireError : with the sentence.
    """
    if endpoint.startswith("ipc://"):
        path = endpoint.removeprefix("ipc://")
        length = len(os.fsencode(path))
        if length > IPC_PATH_BYTES:
            raise WireError(
                f"{endpoint}: the path is {length} bytes long and a socket's may be {IPC_PATH_BYTES}: "
                "choose a shorter one."
            )
        if not path.startswith("/") or path.endswith("/"):
            raise WireError(f"{endpoint}: is not usable: write ipc:// and the absolute path of a file.")
        return
    port = endpoint.rpartition(":")[2]
    if not endpoint.startswith("tcp://") or not host_of(endpoint):
        raise WireError(f"{endpoint}: is no endpoint: write ipc:///absolute/path or tcp://HOST:PORT.")
    if port != "*" and not (port.isascii() and port.isdigit() and 1 <= int(port) <= LAST_PORT):
        raise WireError(f"{endpoint}: has no usable port: end it with a number from 1 to {LAST_PORT}.")
    if not has_keys:
        who = "all users of this computer" if is_same_machine(endpoint) else "the network"
        raise WireError(
            f"{endpoint}: would be open to {who}: use an ipc:// endpoint, "
            "or give a folder of keys (make one with 'hapticsim keys FOLDER')."
        )
