"""CURVE keys: who may talk to whom when an endpoint leaves the machine.

A folder per end::

    own.key_secret   this end's pair, mode 600
    own.key          its public half, to be copied into the peers folder of the other end
    peers/NAME.key   public keys of the others: for a server all who may connect, for a client the one server

Encryption alone admits anybody (a CURVE server without an authenticator accepts every client key), so a
guarded socket always comes with the allow-list.
"""

from __future__ import annotations

import threading
from pathlib import Path
from weakref import WeakKeyDictionary

import zmq
import zmq.auth
from zmq.auth.thread import ThreadAuthenticator

from hapticsim.errors import WireError

_DOMAIN = "hapticsim"  # the wildcard domain does not match a named one: both sides use this literal
_authenticators: WeakKeyDictionary[zmq.Context, tuple[Path, ThreadAuthenticator]] = WeakKeyDictionary()
_authenticators_lock = threading.Lock()


def create_keys(folder: Path) -> Path:
    """Make ``folder`` with a new key pair and an empty ``peers``; return the path of the public key.

    Raises
    ------
    WireError : the folder holds keys already, or cannot be written.
    """
    if (folder / "own.key_secret").exists():
        raise WireError(f"{folder}: holds keys already: choose another folder, or remove them yourself.")
    try:
        (folder / "peers").mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
        public, secret = zmq.auth.create_certificates(folder, "own")
        Path(secret).chmod(0o600)
    except OSError as error:
        raise WireError(
            f"{folder}: keys cannot be written ({error.strerror}): choose another folder."
        ) from error
    return Path(public)


class Curve:
    """The keys of one end, read from a folder.

    Raises
    ------
    WireError : keys are missing, unreadable, or open to other users.
    """

    def __init__(self, folder: Path | str) -> None:
        self.folder = Path(folder)
        secret_file = self.folder / "own.key_secret"
        try:
            if secret_file.stat().st_mode & 0o077:
                raise WireError(f"{secret_file}: can be read by others: set its mode to 600.")
            public, secret = zmq.auth.load_certificate(secret_file)
        except (OSError, ValueError) as error:
            raise WireError(
                f"{secret_file}: is no readable key file: make a pair with create_keys."
            ) from error
        if secret is None:
            raise WireError(f"{secret_file}: holds no secret key: make a pair with create_keys.")
        self._public, self._secret = public, secret
        self._peers = sorted((self.folder / "peers").glob("*.key"))

    def guard(self, socket: zmq.Socket[bytes]) -> None:
        """Make a socket that will bind accept only the peers in the folder."""
        if not self._peers:
            raise WireError(
                f"{self.folder / 'peers'}: is empty, so nobody could connect: copy public keys into it."
            )
        _authenticate(socket.context, self.folder)
        socket.curve_server = True
        socket.curve_secretkey = self._secret
        socket.curve_publickey = self._public
        socket.zap_domain = _DOMAIN.encode()

    def introduce(self, socket: zmq.Socket[bytes]) -> None:
        """Give a socket that will connect its own keys and the key of the one server it may believe."""
        if len(self._peers) != 1:
            raise WireError(
                f"{self.folder / 'peers'}: holds {len(self._peers)} public keys and a client needs one: "
                "keep the server's alone."
            )
        try:
            server, _ = zmq.auth.load_certificate(self._peers[0])
        except ValueError as error:
            raise WireError(f"{self._peers[0]}: is no public key file: copy the server's own.key.") from error
        socket.curve_secretkey = self._secret
        socket.curve_publickey = self._public
        socket.curve_serverkey = server


def _authenticate(context: zmq.Context, folder: Path) -> None:
    """Start the authenticator of a context, or read the allow-list again if it runs.

    ZeroMQ allows one per context, and it must be of the same context as the sockets it guards.
    """
    with _authenticators_lock:
        running = _authenticators.get(context)
        if running is not None and running[0] != folder:
            raise WireError(
                f"{folder}: a socket of this process is guarded with keys of {running[0]}: use one folder."
            )
        if running is None:
            authenticator = ThreadAuthenticator(context)
            authenticator.start()
            _authenticators[context] = (folder, authenticator)
        else:
            authenticator = running[1]
        authenticator.configure_curve(domain=_DOMAIN, location=folder / "peers")


def stop_authenticator(context: zmq.Context) -> None:
    """End the authenticator of a context, if it has one; call it before terminating the context."""
    with _authenticators_lock:
        running = _authenticators.pop(context, None)
    if running is not None:
        running[1].stop()
