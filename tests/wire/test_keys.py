"""CURVE keys: who is let in on which road, who no longer, and which keys and lists are refused."""

from __future__ import annotations

import os
import random
import socket
import stat
import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest
import zmq

from hapticsim.wire.sockets import allow_list
from hapticsim.wire.sockets.curve_security import Curve, create_keys, stop_authenticator
from hapticsim.wire.sockets.endpoints import check_endpoint
from hapticsim.wire.sockets.ports import bind_publisher, bind_router, connect_dealer, connect_subscriber
from tests.processes import resident_MiB
from tests.refusals import refusal


@pytest.fixture
def keys(tmp_path):
    """Folders of keys for a server, a friend it admits on two roads, and a stranger that only knows it."""
    folders = {name: tmp_path / name for name in ("server", "friend", "stranger")}
    public = {name: create_keys(folder).read_bytes() for name, folder in folders.items()}
    for road in ("device", "observe"):
        (folders["server"] / "peers" / road / "friend.key").write_bytes(public["friend"])
    for name in ("friend", "stranger"):
        (folders[name] / "peers" / "server" / "server.key").write_bytes(public["server"])
    return folders


@pytest.fixture
def context():
    context = zmq.Context()
    yield context
    stop_authenticator(context)
    context.destroy(linger=0)


def heard(bound, dealers, within_s=1.0):
    """Which of the dealers, by name, get a message through."""
    through, give_up = set(), time.monotonic() + within_s
    while time.monotonic() < give_up:
        for name, dealer in dealers.items():
            with suppress(zmq.Again):
                dealer.send(name.encode(), zmq.DONTWAIT)
        while bound.socket.poll(5) and time.monotonic() < give_up:
            with suppress(zmq.Again):
                through.add(bound.socket.recv_multipart()[1].decode())
    return through


def test_only_a_listed_key_gets_through(keys, context):
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    dealers = {
        name: connect_dealer(bound.endpoint, context=context, curve=Curve(keys[name]))
        for name in ("friend", "stranger")
    }
    plain = dealers["plain"] = context.socket(zmq.DEALER)
    plain.setsockopt(zmq.IMMEDIATE, 1)
    plain.connect(bound.endpoint)
    assert heard(bound, dealers) == {"friend"}
    bound.close()


def test_a_list_admits_to_its_own_road_only(keys, context):
    (keys["server"] / "peers" / "control" / "other.key").write_bytes(
        (keys["stranger"] / "own.key").read_bytes()
    )
    curve = Curve(keys["server"])
    for road, known in (("device", "friend"), ("control", "stranger")):
        bound = bind_router("tcp://127.0.0.1:*", road=road, context=context, curve=curve)
        dealers = {
            name: connect_dealer(bound.endpoint, context=context, curve=Curve(keys[name]))
            for name in ("friend", "stranger")
        }
        assert heard(bound, dealers) == {known}
        bound.close()


def test_a_key_that_comes_is_admitted_without_a_restart(keys, context):
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    dealer = connect_dealer(bound.endpoint, context=context, curve=Curve(keys["stranger"]))
    assert heard(bound, {"stranger": dealer}, 0.5) == set()
    new = keys["server"] / "peers" / "device" / "new.key"
    new.write_bytes((keys["stranger"] / "own.key").read_bytes())
    time.sleep(0.3)
    again = connect_dealer(bound.endpoint, context=context, curve=Curve(keys["stranger"]))
    assert heard(bound, {"stranger": again}) == {"stranger"}
    bound.close()


def test_who_is_taken_off_the_list_is_not_heard_any_more(keys, context):
    other = keys["server"] / "peers" / "device" / "other.key"
    other.write_bytes((keys["stranger"] / "own.key").read_bytes())
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    dealers = {
        name: connect_dealer(bound.endpoint, context=context, curve=Curve(keys[name]))
        for name in ("friend", "stranger")
    }
    assert heard(bound, dealers) == {"friend", "stranger"}
    other.unlink()
    heard(bound, dealers, 0.5)
    assert heard(bound, dealers) == {"friend"}
    assert bound.refused["its key was taken off the list"] > 0
    bound.close()


def test_who_takes_messages_never_reads_a_folder(keys, context, monkeypatch):
    """It may be a slow one, and it may hold a thousand keys: there is force on whoever takes messages."""
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    dealer = connect_dealer(bound.endpoint, context=context, curve=Curve(keys["friend"]))
    assert heard(bound, {"friend": dealer}) == {"friend"}
    readers, read = set(), allow_list.read_keys

    def noted(folder):
        readers.add(threading.get_ident())
        return read(folder)

    monkeypatch.setattr(allow_list, "read_keys", noted)
    for _ in range(4):
        assert heard(bound, {"friend": dealer}, 0.3) == {"friend"}
    assert readers and threading.get_ident() not in readers
    bound.close()


def test_who_is_taken_off_the_list_is_disconnected_however_much_it_says(keys, context):
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    dealer = connect_dealer(bound.endpoint, context=context, curve=Curve(keys["friend"]))
    assert heard(bound, {"friend": dealer}) == {"friend"}
    (keys["server"] / "peers" / "device" / "friend.key").unlink()

    def refused_in(seconds):
        before, give_up = bound.refused["its key was taken off the list"], time.monotonic() + seconds
        while time.monotonic() < give_up:
            with suppress(zmq.Again):
                for _ in range(8):
                    dealer.send(b"flood", zmq.DONTWAIT)
            with suppress(zmq.Again):
                bound.socket.recv_multipart()
        return bound.refused["its key was taken off the list"] - before

    assert refused_in(1.0) > 0
    assert refused_in(0.5) == 0
    bound.close()


def test_who_is_taken_off_the_list_gets_nothing_any_more_and_the_others_do(keys, context):
    other = keys["server"] / "peers" / "observe" / "other.key"
    other.write_bytes((keys["stranger"] / "own.key").read_bytes())
    bound = bind_publisher("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    subscribers = {
        name: connect_subscriber(bound.endpoint, (b"state\0",), context=context, curve=Curve(keys[name]))
        for name in ("friend", "stranger")
    }

    def reached(within_s):
        got, give_up = set(), time.monotonic() + within_s
        while time.monotonic() < give_up:
            with suppress(zmq.Again):
                bound.socket.send(b"state\0hello")
            for name, one in subscribers.items():
                while one.poll(1):
                    got.add((name, one.recv()))
        return {name for name, _ in got}

    assert reached(1.5) == {"friend", "stranger"}
    other.unlink()
    reached(2.0)
    assert reached(1.5) == {"friend"}
    bound.close()


def test_files_that_are_no_keys_lock_nobody_out_and_are_named(keys, context):
    rng = random.Random(3)
    folder = keys["server"] / "peers" / "device"
    for n in range(30):
        (folder / f"{n}.key").write_bytes(rng.randbytes(rng.randrange(2000)))
    (folder / "long.key").write_bytes(b"#" * 1_000_000)
    (folder / "folder.key").mkdir()
    (folder / "gone.key").symlink_to(folder / "nowhere")
    os.mkfifo(folder / "fifo.key")
    curve = Curve(keys["server"])
    assert len(curve.notes) == 34 and all("admits nobody" in note for note in curve.notes)
    bound = bind_router("tcp://127.0.0.1:*", context=context, curve=curve)
    dealer = connect_dealer(bound.endpoint, context=context, curve=Curve(keys["friend"]))
    assert heard(bound, {"friend": dealer}) == {"friend"}
    bound.close()


def test_a_key_of_another_user_or_one_that_others_can_write_admits_nobody(keys):
    key = keys["server"] / "peers" / "device" / "friend.key"
    key.chmod(0o666)
    assert Curve(keys["server"]).notes == [
        f"{key}: admits nobody ({key} can be written by others (mode 666)): copy the peer's own.key there."
    ]
    key.chmod(0o644)
    if os.geteuid() == 0:
        os.chown(key, 12345, 0)
        assert "belongs to user 12345" in Curve(keys["server"]).notes[0]
        assert "holds no key, so nobody could connect" in refusal(
            bind_router, "tcp://127.0.0.1:*", curve=Curve(keys["server"])
        )


def test_a_folder_of_keys_that_others_can_write_is_refused(keys):
    for folder in (keys["server"], keys["server"] / "peers", keys["server"] / "peers" / "device"):
        folder.chmod(0o777)
        sentence = (
            f"{folder}: is not safe for keys, {folder} can be written by others (mode 777): "
            "use a folder that nobody else can write (mode 700)."
        )
        said = refusal(lambda: bind_router("tcp://127.0.0.1:*", curve=Curve(keys["server"])))
        assert said == sentence
        folder.chmod(0o700)


def test_a_key_in_no_list_is_named(keys):
    stray = keys["server"] / "peers" / "old.key"
    stray.write_bytes((keys["stranger"] / "own.key").read_bytes())
    assert Curve(keys["server"]).notes == [
        f"{stray}: stands in no list and admits nobody: move it into one of the folders beside it."
    ]


def test_keys_open_an_endpoint_beyond_this_machine(keys):
    check_endpoint("tcp://192.168.1.4:5555", has_keys=True)


def test_a_tcp_port_that_is_taken_is_refused(keys):
    curve = Curve(keys["server"])
    with socket.create_server(("127.0.0.1", 0)) as other:
        endpoint = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        assert refusal(bind_router, endpoint, curve=curve) == (
            f"{endpoint}: is in use by another process: end it, or choose another port."
        )
    first = bind_router("tcp://127.0.0.1:*", curve=curve)
    assert refusal(bind_publisher, first.endpoint, curve=curve) == (
        f"{first.endpoint}: is wanted twice by this program: give each road an endpoint of its own."
    )
    first.close()


def test_a_server_without_a_list_of_peers_is_refused(tmp_path):
    create_keys(tmp_path / "lonely")
    sentence = refusal(bind_router, "tcp://127.0.0.1:*", curve=Curve(tmp_path / "lonely"))
    assert sentence == (
        f"{tmp_path}/lonely/peers/device: holds no key, so nobody could connect: "
        "copy public keys (own.key of others) into it."
    )


def test_a_secret_that_others_can_read_is_refused(keys):
    secret = keys["server"] / "own.key_secret"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    secret.chmod(0o644)
    assert refusal(Curve, keys["server"]) == f"{secret}: can be read by others: set its mode to 600."


def test_missing_or_foreign_keys_are_refused_in_one_sentence(keys, tmp_path):
    absent = tmp_path / "absent"
    assert refusal(Curve, absent) == (
        f"{absent}/own.key_secret: is no readable key file: make a pair with 'hapticsim keys {absent}'."
    )
    assert refusal(create_keys, keys["server"]) == (
        f"{keys['server']}: holds keys already: choose another folder, or remove them yourself."
    )
    place = keys["friend"] / "peers" / "server"
    (place / "server.key").write_text("nonsense")
    assert refusal(connect_dealer, "tcp://127.0.0.1:5", curve=Curve(keys["friend"])) == (
        f"{place}/server.key: admits nobody (it holds no public key): copy the peer's own.key there; "
        f"who connects needs one: copy own.key of the server into {place}."
    )
    (place / "server.key").unlink()
    assert refusal(connect_dealer, "tcp://127.0.0.1:5", curve=Curve(keys["friend"])) == (
        f"{place}: holds 0 public keys; who connects needs one: copy own.key of the server into {place}."
    )


CLOSED_UNDER_NEWS = """
import socket, sys, time
from pathlib import Path
import zmq
from hapticsim.wire.sockets.curve_security import Curve
from hapticsim.wire.sockets.ports import bind_publisher
bound = bind_publisher("tcp://127.0.0.1:*", curve=Curve(Path(sys.argv[1])))
links, monitor = [], zmq.Socket.monitor
def end_late(watched, place, events):
    if place is None:
        links.append(socket.create_connection(("127.0.0.1", int(bound.endpoint.rsplit(":", 1)[1]))))
        time.sleep(0.2)
    monitor(watched, place, events)
zmq.Socket.monitor = end_late
bound.close()
print(len(links), "connected meanwhile")
"""


def test_who_connects_while_a_socket_is_closed_does_not_hold_it(keys):
    """ZeroMQ told its news to nobody any more, and waited for good with the lock that closing needs."""
    command = [sys.executable, "-c", CLOSED_UNDER_NEWS, str(keys["server"])]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("1 connected meanwhile\n", "")


FLOODED = """
import sys, time
from pathlib import Path
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.sockets.curve_security import Curve
with Publisher("tcp://127.0.0.1:*", curve=Curve(Path(sys.argv[1]))) as publisher:
    print(publisher.endpoint, flush=True)
    while True:
        publisher.offer("state", {"x": [0.0] * 50})
        time.sleep(0.005)
"""


def flood(endpoint, context, keys, subscription, seconds):
    """Subscribe as fast as ZeroMQ lets, with a key that counts, on connections that are opened anew."""
    sockets, sent, until = {}, 0, time.monotonic() + seconds
    while time.monotonic() < until:
        for place in range(6):
            if place not in sockets or sockets[place][1] < time.monotonic():
                if place in sockets:
                    sockets[place][0].close(linger=0)
                one = context.socket(zmq.XSUB)
                Curve(keys).introduce(one)
                one.connect(endpoint)
                sockets[place] = one, time.monotonic() + 0.5
            with suppress(zmq.Again):
                for _ in range(200):
                    sockets[place][0].send(subscription(), zmq.DONTWAIT)
                    sent += 1
    for one, _ in sockets.values():
        one.close(linger=0)
    return sent


@pytest.mark.parametrize("size", [20, 200, 560, 0])
def test_subscriptions_on_tcp_do_not_make_the_publisher_grow(keys, context, size):
    """Random topics of so many bytes; 0: the same good one, again and again."""
    other = keys["server"] / "peers" / "observe" / "other.key"
    other.write_bytes((keys["stranger"] / "own.key").read_bytes())
    command = [sys.executable, "-c", FLOODED, str(keys["server"])]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            endpoint = server.stdout.readline().strip()
            observer = connect_subscriber(
                endpoint, (b"state\0",), context=context, curve=Curve(keys["friend"])
            )
            assert observer.poll(10_000), "an honest observer hears nothing"
            before = resident_MiB(server.pid)
            good = b"\1state\0"
            sent = flood(
                endpoint, context, keys["stranger"], lambda: b"\1" + os.urandom(size) if size else good, 3.0
            )
            grown = resident_MiB(server.pid) - before
            while observer.poll(0):
                observer.recv()
            assert observer.poll(10_000), "the honest observer hears nothing any more"
            assert sent > 1000 and grown < 24.0, f"{grown:.0f} MiB by {sent} subscriptions"
        finally:
            server.kill()


def test_an_observer_that_is_mistaken_about_topics_is_served_all_the_same(keys, context):
    bound = bind_publisher("tcp://127.0.0.1:*", context=context, curve=Curve(keys["server"]))
    wanted = (b"state\0", b"no such topic\0", b"sta")
    observer = connect_subscriber(bound.endpoint, wanted, context=context, curve=Curve(keys["friend"]))
    got, give_up = 0, time.monotonic() + 10.0
    while got < 3 and time.monotonic() < give_up:
        with suppress(zmq.Again):
            bound.socket.send(b"state\0hello")
        while observer.poll(5):
            got += observer.recv() == b"state\0hello"
    assert got >= 3
    assert bound.refused == {"it subscribed to a topic that does not exist": 2}
    bound.close()
