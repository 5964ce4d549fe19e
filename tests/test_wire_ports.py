"""Endpoints: exclusive, private, and closed to the network without keys."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
import zmq

from hapticsim.errors import WireError
from hapticsim.wire.curve import Curve, create_keys, stop_authenticator
from hapticsim.wire.endpoints import check_endpoint, default_endpoint, is_same_machine, private_folder
from hapticsim.wire.ports import bind_publisher, bind_router, connect_dealer

HOLD = """
import sys, time
from hapticsim.wire.ports import bind_router
bound = bind_router(sys.argv[1])
print(bound.endpoint, flush=True)
time.sleep(60)
"""


@pytest.fixture
def endpoint(tmp_path):
    return f"ipc://{tmp_path}/a.sock"


@pytest.fixture
def holder():
    """Start processes that bind an endpoint; end them afterwards."""
    started = []

    def hold(endpoint):
        process = subprocess.Popen([sys.executable, "-c", HOLD, endpoint], stdout=subprocess.PIPE, text=True)
        started.append(process)
        return process, process.stdout.readline().strip()

    yield hold
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


def refusal(function, *arguments, **options):
    with pytest.raises(WireError) as refused:
        function(*arguments, **options)
    return str(refused.value)


def test_a_second_bind_in_this_process_is_refused(endpoint):
    first = bind_router(endpoint)
    assert refusal(bind_publisher, endpoint) == (
        f"{endpoint}: is in use by process {os.getpid()}: end it, or choose another endpoint."
    )
    first.close()


def test_a_second_bind_from_another_process_is_refused_until_that_one_is_killed(endpoint, holder):
    process, _ = holder(endpoint)
    assert f"is in use by process {process.pid}: end it" in refusal(bind_router, endpoint)
    process.send_signal(signal.SIGKILL)
    process.wait()
    bind_router(endpoint).close()


def test_a_taken_tcp_port_is_refused(holder):
    _, endpoint = holder("tcp://127.0.0.1:*")
    assert refusal(bind_router, endpoint) == (
        f"{endpoint}: is in use by another process: end it, or choose another port."
    )


def test_a_closed_endpoint_can_be_bound_again_at_once_and_leaves_no_socket_behind(endpoint):
    for _ in range(20):
        bind_router(endpoint).close()
    assert not Path(endpoint.removeprefix("ipc://")).exists()


@pytest.mark.parametrize(
    ("endpoint", "sentence"),
    [
        (
            "tcp://*:5555",
            "tcp://*:5555: would be open to the network: use tcp://127.0.0.1:5555, "
            "or give a folder of CURVE keys.",
        ),
        (
            "tcp://192.168.1.4:5555",
            "tcp://192.168.1.4:5555: would be open to the network: use tcp://127.0.0.1:5555, "
            "or give a folder of CURVE keys.",
        ),
        (
            "tcp://0.0.0.0:5555",
            "tcp://0.0.0.0:5555: would be open to the network: use tcp://127.0.0.1:5555, "
            "or give a folder of CURVE keys.",
        ),
        (
            "tcp://127.0.0.1",
            "tcp://127.0.0.1: is no endpoint: write ipc:///absolute/path or tcp://127.0.0.1:PORT.",
        ),
        (
            "tcp://127.0.0.1:0",
            "tcp://127.0.0.1:0: has no usable port: end it with a number from 1 to 65535.",
        ),
        (
            "udp://127.0.0.1:5",
            "udp://127.0.0.1:5: is no endpoint: write ipc:///absolute/path or tcp://127.0.0.1:PORT.",
        ),
        ("ipc://a.sock", "ipc://a.sock: is not usable: write ipc:// and the absolute path of a file."),
        (
            "ipc:///" + 107 * "x",
            "ipc:///"
            + 107 * "x"
            + ": the path is 108 bytes long and a socket's may be 107: choose a shorter one.",
        ),
    ],
)
def test_an_endpoint_that_cannot_be_used_is_refused_in_one_sentence(endpoint, sentence):
    assert refusal(check_endpoint, endpoint) == sentence
    assert refusal(bind_router, endpoint) == sentence
    assert refusal(connect_dealer, endpoint) == sentence


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "[::1]"])
def test_loopback_is_this_machine(host):
    assert is_same_machine(f"tcp://{host}:5555")
    check_endpoint(f"tcp://{host}:5555")


def test_a_folder_that_cannot_be_written_is_refused_in_one_sentence(tmp_path):
    endpoint = f"ipc://{tmp_path}/absent/a.sock"
    assert refusal(bind_router, endpoint) == (
        f"{endpoint}: cannot be bound (No such file or directory: {tmp_path}/absent/a.sock.lock): "
        "choose a folder you can write."
    )


def test_the_default_folder_is_private(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert default_endpoint("device") == f"ipc://{tmp_path}/hapticsim/device.sock"
    assert stat.S_IMODE(private_folder().stat().st_mode) == 0o700


def test_a_default_folder_that_others_can_enter_or_that_is_a_link_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    folder = tmp_path / "hapticsim"
    folder.mkdir()
    folder.chmod(0o755)
    sentence = (
        f"{folder}: must be a folder of yours that nobody else can enter (mode 700): "
        "remove it, or set XDG_RUNTIME_DIR."
    )
    assert refusal(private_folder) == sentence
    folder.rmdir()
    folder.symlink_to(tmp_path)
    assert refusal(private_folder) == sentence


def test_without_a_runtime_folder_the_default_is_one_per_user(tmp_path, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert private_folder() == tmp_path / f"hapticsim-{os.getuid()}"


# --------------------------------------------------------------------------------------------------- keys


@pytest.fixture
def keys(tmp_path):
    """Folders of keys for a server, a friend it admits, and a stranger that only knows the server."""
    folders = {name: tmp_path / name for name in ("server", "friend", "stranger")}
    public = {name: create_keys(folder).read_bytes() for name, folder in folders.items()}
    (folders["server"] / "peers" / "friend.key").write_bytes(public["friend"])
    for name in ("friend", "stranger"):
        (folders[name] / "peers" / "server.key").write_bytes(public["server"])
    return folders


def test_only_a_listed_key_gets_through(keys):
    context = zmq.Context()
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    curves = {"friend": Curve(keys["friend"]), "stranger": Curve(keys["stranger"]), "plain": None}
    dealers = {}
    for name, curve in curves.items():
        dealers[name] = connect_dealer(bound.endpoint, context=context, curve=curve)
    heard, give_up = set(), time.monotonic() + 1.0
    while time.monotonic() < give_up:
        for name, dealer in dealers.items():
            if dealer.poll(0, zmq.POLLOUT):
                dealer.send(name.encode(), zmq.DONTWAIT)
        while bound.socket.poll(5):
            heard.add(bound.socket.recv_multipart()[1])
    for dealer in dealers.values():
        dealer.close()
    bound.close()
    stop_authenticator(context)
    context.term()
    assert heard == {b"friend"}


def test_keys_open_an_endpoint_beyond_this_machine(keys):
    check_endpoint("tcp://192.168.1.4:5555", has_keys=True)


def test_a_server_without_a_list_of_peers_is_refused(tmp_path):
    create_keys(tmp_path / "lonely")
    sentence = refusal(bind_router, "tcp://127.0.0.1:*", curve=Curve(tmp_path / "lonely"))
    assert (
        sentence == f"{tmp_path}/lonely/peers: is empty, so nobody could connect: copy public keys into it."
    )


def test_a_secret_that_others_can_read_is_refused(keys):
    secret = keys["server"] / "own.key_secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    secret.chmod(0o644)
    assert refusal(Curve, keys["server"]) == f"{secret}: can be read by others: set its mode to 600."


def test_missing_or_foreign_keys_are_refused_in_one_sentence(keys, tmp_path):
    absent = tmp_path / "absent"
    assert refusal(Curve, absent) == (
        f"{absent}/own.key_secret: is no readable key file: make a pair with create_keys."
    )
    assert refusal(create_keys, keys["server"]) == (
        f"{keys['server']}: holds keys already: choose another folder, or remove them yourself."
    )
    (keys["friend"] / "peers" / "server.key").write_text("nonsense")
    assert refusal(connect_dealer, "tcp://127.0.0.1:5", curve=Curve(keys["friend"])) == (
        f"{keys['friend']}/peers/server.key: is no public key file: copy the server's own.key."
    )
