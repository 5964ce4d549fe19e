"""Endpoints: exclusive, private, and closed to the network without keys."""

from __future__ import annotations

import os
import random
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from hapticsim.wire.sockets.endpoints import check_endpoint, default_endpoint, is_same_machine, private_folder
from hapticsim.wire.sockets.ports import bind_publisher, bind_router, connect_dealer
from tests.refusals import refusal

HOLD = """
import sys, time
from hapticsim.wire.sockets.ports import bind_router
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


def test_a_second_bind_in_this_process_is_refused(endpoint):
    first = bind_router(endpoint)
    assert refusal(bind_publisher, endpoint) == (
        f"{endpoint}: is wanted twice by this program: give each road an endpoint of its own."
    )
    first.close()


def test_a_second_bind_from_another_process_is_refused_until_that_one_is_killed(endpoint, holder):
    process, _ = holder(endpoint)
    assert f"is in use by process {process.pid}: end it" in refusal(bind_router, endpoint)
    process.send_signal(signal.SIGKILL)
    process.wait()
    bind_router(endpoint).close()


def test_a_closed_endpoint_can_be_bound_again_at_once_and_leaves_no_socket_behind(endpoint):
    for _ in range(20):
        bind_router(endpoint).close()
    assert not Path(endpoint.removeprefix("ipc://")).exists()


@pytest.mark.parametrize(
    ("endpoint", "sentence"),
    [
        (
            "tcp://*:5555",
            "tcp://*:5555: would be open to the network: use an ipc:// endpoint, "
            "or give a folder of keys (make one with 'hapticsim keys FOLDER').",
        ),
        (
            "tcp://192.168.1.4:5555",
            "tcp://192.168.1.4:5555: would be open to the network: use an ipc:// endpoint, "
            "or give a folder of keys (make one with 'hapticsim keys FOLDER').",
        ),
        (
            "tcp://0.0.0.0:5555",
            "tcp://0.0.0.0:5555: would be open to the network: use an ipc:// endpoint, "
            "or give a folder of keys (make one with 'hapticsim keys FOLDER').",
        ),
        (
            "tcp://127.0.0.1:5555",
            "tcp://127.0.0.1:5555: would be open to all users of this computer: use an ipc:// endpoint, "
            "or give a folder of keys (make one with 'hapticsim keys FOLDER').",
        ),
        (
            "tcp://127.0.0.1",
            "tcp://127.0.0.1: is no endpoint: write ipc:///absolute/path or tcp://HOST:PORT.",
        ),
        (
            "tcp://127.0.0.1:0",
            "tcp://127.0.0.1:0: has no usable port: end it with a number from 1 to 65535.",
        ),
        (
            "udp://127.0.0.1:5",
            "udp://127.0.0.1:5: is no endpoint: write ipc:///absolute/path or tcp://HOST:PORT.",
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
    assert "open to all users of this computer" in refusal(check_endpoint, f"tcp://{host}:5555")


def test_a_folder_that_cannot_be_written_is_refused_in_one_sentence(tmp_path):
    endpoint = f"ipc://{tmp_path}/absent/a.sock"
    assert refusal(bind_router, endpoint) == (
        f"{endpoint}: cannot be bound (No such file or directory: {tmp_path}/absent): "
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


# ------------------------------------------------------------------------------- what is at a path already


def state_of(path):
    """What must not change: kind, mode, owner, content."""
    status = path.lstat()
    content = (
        path.read_bytes() if stat.S_ISREG(status.st_mode) else os.listdir(path) if path.is_dir() else b""
    )
    return status.st_ino, status.st_mode, status.st_uid, content


def make(path, kind, rng):
    """Put something at a path; return what keeps it there."""
    if kind == "file":
        path.write_bytes(rng.randbytes(rng.randrange(100)) + b"precious")
    elif kind == "number":
        path.write_text("4242 is the number of a page")
    elif kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "link":
        target = path.with_name("target")
        target.write_text("precious")
        path.symlink_to(target)
    else:  # somebody else's service: bound without our lock
        listening = socket.socket(
            socket.AF_UNIX, socket.SOCK_STREAM if kind == "stream" else socket.SOCK_DGRAM
        )
        listening.bind(str(path))
        if kind == "stream":
            listening.listen(1)
        return listening
    return None


@pytest.mark.parametrize("bind", [bind_router, bind_publisher])
def test_binding_changes_nothing_that_is_at_the_path_or_at_that_of_the_lock(tmp_path, bind):
    rng = random.Random(9)
    for trial in range(60):
        folder = tmp_path / str(trial)
        folder.mkdir(mode=0o700)
        path = folder / "x"
        kinds = ["file", "number", "folder", "fifo", "link", "stream", "datagram"]
        at_path, at_lock = rng.choice([*kinds, None]), rng.choice([*kinds, None])
        there = [(path, at_path), (Path(f"{path}.lock"), at_lock)]
        held = [make(place, kind, rng) for place, kind in there if kind and not place.exists()]
        before = {place: state_of(place) for place in folder.iterdir() if place.name != "target"}
        if at_path is None and at_lock is None:
            bind(f"ipc://{path}").close()
            continue
        sentence = refusal(bind, f"ipc://{path}")
        assert sentence.startswith(f"ipc://{path}: ") and sentence.endswith(".")
        for place, state in before.items():
            assert state_of(place) == state, (at_path, at_lock, place)
        for one in held:
            if one is not None:
                one.close()


def test_what_is_refused_at_a_path_is_told_in_one_sentence(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("precious")
    assert refusal(bind_router, f"ipc://{path}") == (
        f"ipc://{path}: cannot be bound, there is a file or folder that is no socket: "
        "move it away, or choose another endpoint."
    )
    lock = tmp_path / "a.lock"
    lock.write_text("precious")
    assert refusal(bind_router, f"ipc://{tmp_path}/a") == (
        f"ipc://{tmp_path}/a: cannot be bound, {lock} is no lock of ours: "
        "move it away, or choose another endpoint."
    )
    assert path.read_text() == lock.read_text() == "precious"


def test_a_bound_socket_is_for_this_user_alone(endpoint):
    bound = bind_router(endpoint)
    assert stat.S_IMODE(Path(endpoint.removeprefix("ipc://")).stat().st_mode) == 0o600
    bound.close()


def test_a_folder_that_others_can_write_is_refused_by_both_ends(tmp_path):
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    sentence = (
        f"ipc://{folder}/a: {folder} can be written by others (mode 777), who could put another socket "
        "there: choose a folder of yours with mode 700."
    )
    assert (
        refusal(bind_router, f"ipc://{folder}/a") == refusal(connect_dealer, f"ipc://{folder}/a") == sentence
    )
    (folder / "mine").mkdir(mode=0o700)  # whoever may write above can put another folder in its place
    assert f"{folder} can be written by others" in refusal(bind_router, f"ipc://{folder}/mine/a")


def test_a_folder_of_another_user_is_refused(tmp_path):
    if os.geteuid():
        pytest.skip("only root can give a folder away")
    folder = tmp_path / "theirs"
    folder.mkdir(mode=0o700)
    os.chown(folder, 12345, 0)
    assert f"{folder} belongs to user 12345" in refusal(bind_router, f"ipc://{folder}/a")


def test_a_full_folder_does_not_keep_a_server_from_starting(endpoint):
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
        "from hapticsim.wire.sockets.ports import bind_router\n"
        "bind_router(sys.argv[1]).close()"
    )
    done = subprocess.run([sys.executable, "-c", code, endpoint], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
