"""Peers that mean harm at a path: whatever they send, memory stays, and those who mean well are served."""

from __future__ import annotations

import random
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
import zmq

from hapticsim.wire.messages.device import MAX_BYTES
from hapticsim.wire.sockets.local_peers import MOST_PEERS, LocalPeers
from hapticsim.wire.sockets.local_publisher import MOST_PREFIXES
from hapticsim.wire.sockets.ports import bind_publisher, bind_router, connect_dealer, connect_subscriber
from hapticsim.wire.sockets.zmtp import GREETING, Incoming, Violation, encode_frame, ready
from tests.processes import eventually, resident_MiB

MORE, COMMAND = 1, 4
GROWTH_MiB = 24.0
SERVED = """
import sys, time
from hapticsim.wire.control import ControlPort
from hapticsim.wire.device.port import DevicePort, Terms
from hapticsim.wire.publisher import Publisher
folder = sys.argv[1]
terms = Terms(1000.0, 0.01, 8.0, 2000.0)
with (
    DevicePort(f"ipc://{folder}/device", terms) as device,
    ControlPort(f"ipc://{folder}/control") as control,
    Publisher(f"ipc://{folder}/publish") as publisher,
):
    print("bound", flush=True)
    next_publish = 0.0
    while True:
        device.poll(0.002)
        control.poll()
        if time.monotonic() >= next_publish:
            next_publish = time.monotonic() + 0.005
            publisher.offer("state", {"x": [0.0] * 50})
"""


class Attacker:
    """A connection that speaks ZMTP as far as it likes, and comes back when it is thrown out."""

    def __init__(self, path: Path, kind: str) -> None:
        self.path, self.kind, self.thrown_out = str(path), kind, 0
        self._connect()

    def _connect(self) -> None:
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.link.settimeout(2.0)
        try:
            self.link.connect(self.path)
            self.link.sendall(GREETING + ready(self.kind))
        except OSError:
            pass

    def send(self, data: bytes) -> None:
        try:
            self.link.sendall(data)
        except OSError:
            self.thrown_out += 1
            self.link.close()
            time.sleep(0.005)
            self._connect()


@pytest.fixture
def served(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", SERVED, tmp_path], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "bound\n"
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def subscriptions(rng: random.Random) -> bytes:
    """A flood of subscriptions to what nobody publishes."""
    return b"".join(encode_frame(b"\1" + rng.randbytes(rng.randrange(60))) for _ in range(2000))


def same_subscription(rng: random.Random) -> bytes:
    return (encode_frame(b"\1state\0") + encode_frame(b"\0state\0")) * 1000


def unfinished(rng: random.Random) -> bytes:
    """Frames of a message that never ends."""
    return encode_frame(rng.randbytes(rng.choice([0, 50, 4000])), MORE) * 100


def several(rng: random.Random) -> bytes:
    """Messages of a few frames each."""
    return (encode_frame(b"a" * 1000, MORE) * rng.randrange(1, 8) + encode_frame(b"")) * 50


def announced(rng: random.Random) -> bytes:
    """The head of a frame that is too long."""
    return struct.pack(">BQ", 2, rng.choice([MAX_BYTES + 1, 2**31, 2**63 - 1, 2**64 - 1])) + b"x" * 100


def pings(rng: random.Random) -> bytes:
    return encode_frame(b"\4PING\0\0" + b"c" * rng.randrange(17), COMMAND) * 1000


def noise(rng: random.Random) -> bytes:
    return rng.randbytes(4096)


def small(rng: random.Random) -> bytes:
    return encode_frame(b"") * 3000


ATTACKS = [subscriptions, same_subscription, unfinished, several, announced, pings, noise, small]


@pytest.mark.clock
@pytest.mark.parametrize("road", ["device", "control", "publish"])
def test_no_peer_makes_a_server_grow_or_silences_the_others(served, tmp_path, road):
    observer = connect_subscriber(f"ipc://{tmp_path}/publish", (b"state\0",))
    assert observer.poll(5000)
    before, rng, bytes_sent, longest = resident_MiB(served.pid), random.Random(7), 0, 0.0
    for attack in ATTACKS:
        attackers = [Attacker(tmp_path / road, "SUB" if road == "publish" else "DEALER") for _ in range(6)]
        until, heard = time.monotonic() + 0.8, time.monotonic()
        while time.monotonic() < until:
            for attacker in attackers:
                attacker.link.settimeout(0.05)
                data = attack(rng)
                attacker.send(data)
                bytes_sent += len(data)
                while observer.poll(0):
                    observer.recv()
                    heard = time.monotonic()
                longest = max(longest, time.monotonic() - heard)
        for attacker in attackers:
            attacker.link.close()
        assert served.poll() is None
        grown = resident_MiB(served.pid) - before
        assert grown < GROWTH_MiB, f"{attack.__name__}: {grown:.0f} MiB after {bytes_sent / 2**20:.0f} MiB"
    assert longest < 1.0  # 3.8 s by ZeroMQ's own socket
    while observer.poll(0):
        observer.recv()
    assert observer.poll(2000)
    observer.close()


def test_a_subscriber_that_stops_reading_costs_a_bounded_queue_and_no_other_a_message(tmp_path):
    bound = bind_publisher(f"ipc://{tmp_path}/p")
    asleep = [Attacker(tmp_path / "p", "SUB") for _ in range(10)]
    for one in asleep:
        one.send(encode_frame(b"\1"))
    good = connect_subscriber(bound.endpoint, (b"a\0",))
    eventually(lambda: len(bound.socket._prefixes) == 11)
    for n in range(1000):
        bound.socket.send(b"a\0" + n.to_bytes(2, "big") + bytes(20_000))
        assert good.poll(5000) and good.recv()[2:4] == n.to_bytes(2, "big")
    waiting = sum(peer.waiting_bytes for peer in bound.socket._peers.peers.values())
    assert waiting < 11 * 300_000
    bound.close()


def test_too_many_subscriptions_end_a_connection_and_are_counted(tmp_path):
    bound = bind_publisher(f"ipc://{tmp_path}/p")
    greedy, modest = Attacker(tmp_path / "p", "SUB"), connect_subscriber(bound.endpoint, (b"a\0", b"b\0"))
    for n in range(MOST_PREFIXES + 1):
        greedy.link.sendall(encode_frame(b"\1%d" % n))
    eventually(lambda: sum(bound.refused.values()) == 1)
    assert "subscribed to more than 16 prefixes" in next(iter(bound.refused))

    def heard():
        bound.socket.send(b"a\0hello")
        return modest.poll(10)

    eventually(heard)
    assert modest.recv() == b"a\0hello"
    bound.close()


def test_one_more_peer_takes_the_place_of_the_one_that_was_silent_for_longest(tmp_path):
    bound = bind_router(f"ipc://{tmp_path}/r")
    silent = [Attacker(tmp_path / "r", "DEALER") for _ in range(MOST_PEERS)]
    eventually(lambda: (bound.socket.poll(1), len(bound.socket._peers.peers) == MOST_PEERS)[1])
    dealer = connect_dealer(bound.endpoint)
    assert dealer.poll(5000, zmq.POLLOUT)
    dealer.send(b"hello")
    got = []

    def heard():
        bound.socket.poll(5)
        try:
            got.append(bound.socket.recv_multipart()[1])
        except zmq.Again:
            pass
        return got

    eventually(heard)
    assert got == [b"hello"] and len(bound.socket._peers.peers) <= MOST_PEERS
    for one in silent:
        one.link.close()
    bound.close()


def test_a_peer_is_let_in_though_the_one_that_has_to_make_room_went_by_itself(tmp_path):
    """The thread of the socket may close it while the door looks who goes; the door must not end of that."""
    peers = LocalPeers(str(tmp_path / "r"), "ROUTER", frozenset({"DEALER"}), 4096)
    gone, (here, there) = socket.socket(socket.AF_UNIX), socket.socketpair()
    gone.close()
    peers.peers = {bytes([n]): SimpleNamespace(heard_s=n, link=gone) for n in range(MOST_PEERS)}
    peers._admit(SimpleNamespace(name=b"new", link=here))
    assert b"new" in peers.peers and peers.selector.get_key(here).data is peers.peers[b"new"]
    peers.peers = {}
    peers.close()
    here.close()
    there.close()


# ------------------------------------------------------------------------------------------------------ tcp

WATCHED = """
import sys, time, zmq
from collections import Counter
from hapticsim.wire.sockets.byte_watch import ByteWatch, _Connection
kind, refused = getattr(zmq, sys.argv[1]), Counter()
router = zmq.Context.instance().socket(kind)
router.setsockopt(zmq.MAXMSGSIZE, 4096)
if float(sys.argv[3]):
    router.setsockopt(zmq.RCVBUF, 8 << 20)  # what waits while the reader stalls
if away_s := float(sys.argv[4]):  # the watch has no processor between its looks at messages and at bytes
    count = _Connection.count_unfinished
    _Connection.count_unfinished = lambda self, finished: (time.sleep(away_s), count(self, finished))[1]
watch = ByteWatch(router, refused)
port = router.bind_to_random_port("tcp://127.0.0.1")
print(port, flush=True)
until = time.monotonic() + float(sys.argv[2])
stalls = time.monotonic() + 1.0
while time.monotonic() < until:
    if time.monotonic() > stalls:
        time.sleep(float(sys.argv[3]))
        stalls = float("inf")
    if router.poll(10):
        frames = router.recv_multipart(copy=False)
        watch.finished(int(frames[-1].get(zmq.SRCFD)), sum(len(f) + 160 for f in frames[1:]))
print(sum(refused.values()), flush=True)
watch.stop()
"""


def watched(
    kind: str, seconds: float, stalled_s: float = 0.0, away_s: float = 0.0
) -> tuple[subprocess.Popen, int]:
    process = subprocess.Popen(
        [sys.executable, "-c", WATCHED, kind, str(seconds), str(stalled_s), str(away_s)],
        stdout=subprocess.PIPE,
        text=True,
    )
    return process, int(process.stdout.readline())


def shake_hands(link: socket.socket, peer: str) -> None:
    """Wait for the answer as well: ZeroMQ sends away whoever sends messages before it."""
    link.sendall(GREETING + ready(peer))
    with link.makefile("rb") as answer:
        head = answer.read(len(GREETING) + 2)
        answer.read(head[-1])


@pytest.mark.parametrize(("kind", "peer"), [("ROUTER", "DEALER"), ("XPUB", "SUB")])
def test_a_message_that_does_not_end_ends_its_connection_on_tcp_too(kind, peer):
    """Without keys, which only ZeroMQ's own sockets could bring along: those do not send half a message."""
    process, port = watched(kind, 4.0)
    before, most, bytes_sent = resident_MiB(process.pid), 0.0, 0
    attack = encode_frame(bytes(4000), MORE) * 20
    until = time.monotonic() + 3.0
    while time.monotonic() < until:
        with socket.create_connection(("127.0.0.1", port)) as link:
            link.settimeout(0.5)  # one that was ended may go silent first
            try:
                shake_hands(link, peer)
                while time.monotonic() < until:
                    link.sendall(attack)  # whole: after a part of a frame the next byte breaks the protocol
                    bytes_sent += len(attack)
                    most = max(most, resident_MiB(process.pid) - before)
            except OSError:
                pass
    ended = int(process.stdout.readline())
    process.wait(20.0)
    process.stdout.close()
    assert ended >= 2  # 4 MiB each time
    assert most < 64.0, f"{most:.0f} MiB after {bytes_sent / 2**20:.0f} MiB"


@pytest.mark.parametrize(
    ("sizes", "stalled_s", "away_s"),
    [([0, 10, 300, 4096], 0.0, 0.0), ([4096], 1.5, 0.0), ([4096], 0.0, 0.5)],
)
def test_complete_messages_end_no_connection_on_tcp_however_many(sizes, stalled_s, away_s):
    """Nor those that wait in the system, where a reader that stalls leaves megabytes, nor those that were
    read while the watch itself had no processor.
    """
    process, port = watched("ROUTER", 4.0, stalled_s, away_s)
    with zmq.Context() as context:
        dealer = context.socket(zmq.DEALER)
        dealer.connect(f"tcp://127.0.0.1:{port}")
        rng, until, sent = random.Random(1), time.monotonic() + 2.5, 0
        while time.monotonic() < until:
            data = bytes(rng.choice(sizes))
            if dealer.poll(100, zmq.POLLOUT):
                dealer.send(data)
                sent += len(data)
        dealer.close(linger=0)
    assert process.stdout.readline() == "0\n" and sent > 7e6
    process.wait(20.0)
    process.stdout.close()


# ------------------------------------------------------------------------------------------------- the bytes


def fed(incoming: Incoming, stream: bytes, rng: random.Random) -> list[bytes | None]:
    """Messages of a stream that comes in pieces."""
    found, at = [], 0
    while at < len(stream):
        piece = stream[at : at + min(rng.choice([1, 3, 100, 10_000]), incoming.room)]
        assert piece, "no room for a frame"
        incoming.feed(piece)
        at += len(piece)
        if not incoming.is_ready and not incoming.handshake():
            continue
        while (taken := incoming.next()) is not None:
            if not taken.reply:
                found.append(taken.body)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_messages_come_whole_however_their_bytes_are_cut(seed):
    rng = random.Random(seed)
    stream, sent = GREETING + ready("DEALER"), []
    for _ in range(60):
        if rng.random() < 0.2:
            stream += encode_frame(b"\4PING\0\0ctx", COMMAND)
        body = rng.randbytes(rng.choice([0, 1, 200, 255, 256, 4096]))
        several = rng.random() < 0.3
        stream += encode_frame(b"part", MORE) * (rng.randrange(1, 8) if several else 0) + encode_frame(body)
        sent.append(None if several else body)
    assert fed(Incoming(4096, frozenset({"DEALER"})), stream, rng) == sent


@pytest.mark.parametrize("seed", range(40))
def test_damaged_bytes_lead_to_messages_or_a_violation_and_never_fill_the_buffer(seed):
    rng = random.Random(seed)
    good = GREETING + ready("DEALER") + b"".join(encode_frame(rng.randbytes(300)) for _ in range(50))
    for _ in range(30):
        damaged = bytearray(good)
        for _ in range(rng.randrange(1, 6)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        incoming = Incoming(4096, frozenset({"DEALER"}))
        try:
            fed(incoming, bytes(damaged), rng)
        except Violation as violation:
            assert str(violation).startswith("it")
        assert len(incoming._buffer) <= 2 * (4096 + 9)


def test_a_peer_with_keys_or_another_kind_of_socket_is_sent_away(tmp_path):
    bound = bind_router(f"ipc://{tmp_path}/r")
    context = zmq.Context()
    subscriber = context.socket(zmq.SUB)
    subscriber.connect(bound.endpoint)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as curved:
        curved.connect(str(tmp_path / "r"))
        curved.sendall(GREETING.replace(b"NULL\0", b"CURVE"))
        eventually(lambda: len(bound.refused) == 2)
    assert set(bound.refused) == {
        "it asks for keys, which a path does not use",
        "it has a socket of another type",
    }
    context.destroy(linger=0)
    bound.close()
