"""CURVE keys: who may talk to whom where an endpoint is open to others.

A folder per end::

    own.key_secret        this end's pair, mode 600
    own.key               its public half, to be copied into a list of the other end
    peers/server/         for an end that connects: the one key of the server it believes
    peers/device/         for an end that binds: who may connect, a list for each road
    peers/control/
    peers/observe/
    peers/link/           the other site of a teleoperation

Encryption alone admits anybody (a CURVE server without an authenticator accepts every client key), so a
guarded socket always comes with its list (`allow_list`), which is looked at while it is in use: a key that is
removed is out within a second.
"""

from __future__ import annotations

import hashlib
import os
import stat
import threading
from pathlib import Path
from weakref import WeakKeyDictionary

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from hapticsim.errors import WireError
from hapticsim.files.ownership import OTHERS_MAY_ENTER, name_of, who_else_writes
from hapticsim.wire.sockets.allow_list import AllowList, read_keys

ROADS = ("device", "control", "observe", "link")
_SERVER = "server"
_authenticators: WeakKeyDictionary[zmq.Context, ThreadAuthenticator] = WeakKeyDictionary()
_authenticators_lock = threading.Lock()


def create_keys(folder: Path) -> Path:
    """Make ``folder`` with a new key pair and empty lists of peers; return the path of the public key.

    Raises
    ------
    WireError : the folder holds keys already, or cannot be written.
    """
    if os.path.exists(folder / "own.key_secret"):
        raise WireError(f"{folder}: holds keys already: choose another folder, or remove them yourself.")
    try:
        for name in (_SERVER, *ROADS):
            (folder / "peers" / name).mkdir(parents=True, exist_ok=True)
        for path in (folder, folder / "peers", *(folder / "peers").iterdir()):
            path.chmod(0o700)
        public, secret = zmq.auth.create_certificates(folder, "own")
        Path(secret).chmod(0o600)
    except OSError as error:
        raise WireError(
            f"{folder}: keys cannot be written ({error.strerror}): choose another folder."
        ) from error
    return Path(public)


class Curve:
    """The keys of one end, read from a folder.

    Public attributes: ``folder``, ``notes`` (a sentence for each file that admits nobody).

    Raises
    ------
    WireError : keys are missing or unreadable, or others can read or change them.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        self._public, self._secret = _own_pair(self.folder)
        for place in (self.folder, self.folder / "peers"):
            _check_folder(place)
        self._lists = {road: AllowList(self.folder / "peers" / road) for road in ROADS}
        self.notes = [
            f"{path}: stands in no list and admits nobody: move it into one of the folders beside it."
            for path in sorted((self.folder / "peers").glob("*.key"))
        ]
        for allowed in self._lists.values():
            self.notes += allowed.notes

    def allow_list(self, road: str) -> AllowList:
        """Return the list of those who may connect on a road of `ROADS`."""
        return self._lists[road]

    def guard(self, socket: zmq.Socket[bytes], road: str) -> None:
        """Make a socket that will bind accept only the peers on the list of its road.

        Raises
        ------
        WireError : the list is empty, or others can change it.
        """
        allowed = self._lists[road]
        if allowed.path.is_dir():
            _check_folder(allowed.path)
        if not allowed.keys():
            raise WireError(
                f"{allowed.path}: holds no key, so nobody could connect: "
                "copy public keys (own.key of others) into it."
            )
        _authenticate(socket.context, allowed)
        socket.curve_server = True
        socket.curve_secretkey = self._secret
        socket.curve_publickey = self._public
        socket.zap_domain = _domain(allowed).encode()

    def introduce(self, socket: zmq.Socket[bytes]) -> None:
        """Give a socket that will connect its own keys and the key of the one server it may believe.

        Raises
        ------
        WireError : there is not exactly one key of a server, or others can change it.
        """
        place = self.folder / "peers" / _SERVER
        if place.is_dir():
            _check_folder(place)
        servers, notes = read_keys(place)
        if len(servers) != 1:
            found = notes[0] if notes and not servers else f"{place}: holds {len(servers)} public keys"
            raise WireError(
                f"{found.rstrip('.')}; who connects needs one: copy own.key of the server into {place}."
            )
        socket.curve_secretkey = self._secret
        socket.curve_publickey = self._public
        socket.curve_serverkey = next(iter(servers))


def _own_pair(folder: Path) -> tuple[bytes, bytes]:
    """The public and the secret key of an end."""
    file = folder / "own.key_secret"
    make = f"make a pair with 'hapticsim keys {folder}'"
    try:
        status = file.stat()
        if stat.S_IMODE(status.st_mode) & OTHERS_MAY_ENTER:
            raise WireError(f"{file}: can be read by others: set its mode to 600.")
        if status.st_uid != os.geteuid():
            raise WireError(f"{file}: belongs to {name_of(status.st_uid)}: {make} of your own.")
        public, secret = zmq.auth.load_certificate(file)
    except (OSError, ValueError) as error:
        raise WireError(f"{file}: is no readable key file: {make}.") from error
    if secret is None:
        raise WireError(f"{file}: holds no secret key: {make}.")
    return public, secret


def _check_folder(folder: Path) -> None:
    try:
        why = who_else_writes(folder)
    except OSError as error:
        raise WireError(
            f"{folder}: cannot be used for keys ({error.strerror}): make a pair with 'hapticsim keys FOLDER'."
        ) from error
    if why:
        raise WireError(
            f"{folder}: is not safe for keys, {why}: use a folder that nobody else can write (mode 700)."
        )


def _domain(allowed: AllowList) -> str:
    """The name by which a guarded socket tells the authenticator which list is its own, 255 bytes at most."""
    return f"hapticsim-{hashlib.sha256(os.fsencode(allowed.path.absolute())).hexdigest()}"


class _Provider:
    """What the authenticator asks about each key."""

    def __init__(self, allowed: AllowList) -> None:
        self._allowed = allowed

    def callback(self, domain: str, key: bytes) -> bool:
        return self._allowed.admits(key)


def _authenticate(context: zmq.Context, allowed: AllowList) -> None:
    """Have the authenticator of a context, one for all its sockets, ask a list about its own domain."""
    with _authenticators_lock:
        authenticator = _authenticators.get(context)
        if authenticator is None:
            authenticator = ThreadAuthenticator(context)
            authenticator.start()
            _authenticators[context] = authenticator
        authenticator.configure_curve_callback(_domain(allowed), _Provider(allowed))


def stop_authenticator(context: zmq.Context) -> None:
    """End the authenticator of a context, if it has one; call it before terminating the context."""
    with _authenticators_lock:
        authenticator = _authenticators.pop(context, None)
    if authenticator is not None:
        authenticator.stop()
