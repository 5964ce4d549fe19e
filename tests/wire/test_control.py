"""The control road: each request answered once, nonsense refused in a sentence, nobody held up by a flood."""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgpack
import pytest
import zmq
from hypothesis import given
from hypothesis import strategies as st

from hapticsim.arguments import shown
from hapticsim.errors import WireError
from hapticsim.wire.control import ControlPort
from hapticsim.wire.messages.fields import Reason, Refused
from hapticsim.wire.messages.requests import (
    ListRequest,
    SwitchRequest,
    decode_answer,
    decode_request,
    encode_answer,
    encode_request,
)
from hapticsim.wire.sockets.endpoints import control_beside
from hapticsim.wire.sockets.ports import connect_dealer
from hapticsim.wire.switches import Switches

PROTOCOL_PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"
GOOD = {"v": 1, "k": "switch", "n": 7, "name": "loop", "held": True}


@pytest.fixture
def port(tmp_path: Path) -> Iterator[ControlPort]:
    with ControlPort(f"ipc://{tmp_path}/control.sock") as port:
        yield port


class Serving:
    """Answers requests on a thread, as a server does: knows one constraint, called loop."""

    def __init__(self, port: ControlPort) -> None:
        self.port, self.taken, self._stop = port, list[Any](), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Serving:
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join(5.0)

    def _run(self) -> None:
        while not self._stop.wait(0.001):
            for asked in self.port.poll():
                request = asked.request
                self.taken.append(request)
                if isinstance(request, ListRequest):
                    self.port.answer(asked, "list", constraints=[{"name": "loop", "hold": "held", "rows": 3}])
                elif request.name == "loop":
                    self.port.answer(asked, "done", name="loop", hold="held" if request.held else "free")
                else:
                    self.port.answer(asked, "refused", reason=f"{request.name!r} is not there.")


@pytest.fixture
def serving(port: ControlPort) -> Iterator[Serving]:
    with Serving(port) as serving:
        yield serving


def eventually(claim: Callable[[], object]) -> None:
    give_up = time.monotonic() + 5.0
    while not claim():
        assert time.monotonic() < give_up, "it never happened"
        time.sleep(0.002)


class Raw:
    """Sends bytes, and reads answers, without the client."""

    def __init__(self, port: ControlPort) -> None:
        self.socket = connect_dealer(port.endpoint, queue=10_000)
        eventually(lambda: port.poll() or self.socket.poll(0, zmq.POLLOUT))

    def send(self, *frames: bytes) -> None:
        self.socket.send_multipart(list(frames))

    def answer(self) -> dict[str, Any]:
        assert self.socket.poll(5000), "no answer"
        answer = decode_answer(self.socket.recv())
        assert answer is not None
        return answer


@pytest.fixture
def raw(port: ControlPort) -> Iterator[Raw]:
    raw = Raw(port)
    yield raw
    raw.socket.close()


def test_a_switch_is_asked_for_and_answered_with_what_it_does_then(serving):
    with Switches(serving.port.endpoint) as switches:
        assert switches.switch("loop", False) == "free"
        assert switches.switch("loop", True) == "held"
        assert switches.constraints() == [{"name": "loop", "hold": "held", "rows": 3}]
    assert serving.taken == [SwitchRequest(1, "loop", False), SwitchRequest(2, "loop", True), ListRequest(3)]


def test_the_sentence_of_a_refusal_is_raised(serving):
    with (
        Switches(serving.port.endpoint) as switches,
        pytest.raises(WireError, match=r"^'lop' is not there\.$"),
    ):
        switches.switch("lop", True)


def test_the_answer_to_an_earlier_request_is_not_taken_for_that_to_this_one(serving):
    with Switches(serving.port.endpoint) as switches:
        eventually(lambda: switches.offer("loop", True))
        assert switches.offer("lop", True)
        assert switches.switch("loop", False) == "free"


def test_two_clients_get_their_own_answers(serving):
    with Switches(serving.port.endpoint) as one, Switches(serving.port.endpoint) as other:
        for _ in range(20):
            assert one.offer("loop", True) or one.switch("loop", True)
            assert other.switch("loop", False) == "free"
        found: list[str] = []
        eventually(lambda: found.append(one.take() or "") or found.count("'loop' is held.") >= 19)
        assert "'loop' is free." not in found


def test_without_a_server_it_says_so_in_time(tmp_path):
    endpoint = f"ipc://{tmp_path}/nobody.sock"
    with Switches(endpoint, timeout_s=0.1) as switches:
        assert switches.offer("loop", True) is False
        with pytest.raises(WireError) as refused:
            switches.switch("loop", True)
    assert str(refused.value) == f"{endpoint}: no server answered in 0.1 s: start one with 'hapticsim run'."


@pytest.mark.parametrize("name", ["", "x" * 65, "a\nb", 3])
def test_what_cannot_be_a_name_is_refused_before_it_is_sent(tmp_path, name):
    with Switches(f"ipc://{tmp_path}/a.sock") as switches, pytest.raises(WireError) as refused:
        switches.switch(name, True)
    assert str(refused.value) == (
        f"constraint {shown(name)}: is not usable: a name has 1 to 64 printable characters."
    )


WRONG = [
    (b"", Reason.MSGPACK, 0),
    (b"\xc1", Reason.MSGPACK, 0),
    (msgpack.packb(GOOD)[:-1], Reason.MSGPACK, 0),
    (msgpack.packb(GOOD) + b"\0", Reason.MSGPACK, 0),
    (msgpack.packb([1, 2]), Reason.SHAPE, 0),
    (msgpack.packb(GOOD | {"more": {"deep": 1}}), Reason.SHAPE, 7),
    (msgpack.packb(GOOD | {"name": ["loop"]}), Reason.SHAPE, 7),
    (msgpack.packb({str(i): i for i in range(17)}), Reason.MSGPACK, 0),
    (msgpack.packb(GOOD | {"x": msgpack.ExtType(1, b"")}), Reason.MSGPACK, 0),
    (msgpack.packb(GOOD | {"v": 2}), Reason.VERSION, 7),
    (msgpack.packb(GOOD | {"v": True}), Reason.VERSION, 7),
    (msgpack.packb(GOOD | {"k": "explode"}), Reason.KIND, 7),
    (msgpack.packb({k: v for k, v in GOOD.items() if k != "held"}), Reason.KEY, 7),
    (msgpack.packb({k: v for k, v in GOOD.items() if k != "n"}), Reason.KEY, 0),
    (msgpack.packb(GOOD | {"held": 1}), Reason.TYPE, 7),
    (msgpack.packb(GOOD | {"name": b"loop"}), Reason.TYPE, 7),
    (msgpack.packb(GOOD | {"n": 1.0}), Reason.TYPE, 0),
    (msgpack.packb(GOOD | {"n": -1}), Reason.VALUE, 0),
    (msgpack.packb(GOOD | {"name": ""}), Reason.VALUE, 7),
    (msgpack.packb(GOOD | {"name": "x" * 65}), Reason.VALUE, 7),
    (msgpack.packb(GOOD | {"name": "\x1b[2J"}), Reason.VALUE, 7),
]


@pytest.mark.parametrize(("data", "reason", "number"), WRONG)
def test_what_is_no_request_is_counted_and_answered_in_a_sentence(serving, raw, data, reason, number):
    raw.send(data)
    answer = raw.answer()
    assert (answer["k"], answer["n"]) == ("refused", number)
    assert answer["reason"].startswith("this is no request (")
    assert answer["reason"].endswith("): write it as docs/protocol.md says.")
    assert serving.port.dropped == {reason: 1} and serving.port.received == 0
    raw.send(msgpack.packb(GOOD))
    assert raw.answer()["k"] == "done"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"held": 1}, "held has a value of the wrong type"),
        ({"name": "x" * 65}, "name has a value beyond what is allowed"),
        ({"n": "7"}, "n has a value of the wrong type"),
        ({"k": "explode"}, "k is 'list' or 'switch'"),
        ({"v": 2}, "this server speaks protocol 1"),
    ],
)
def test_the_answer_to_what_is_no_request_names_the_key(serving, raw, changes, why):
    raw.send(msgpack.packb(GOOD | changes))
    assert f"({why})" in raw.answer()["reason"]


def test_a_request_in_two_frames_is_dropped(serving, raw):
    raw.send(msgpack.packb(GOOD), b"")
    raw.send(msgpack.packb(GOOD))
    assert raw.answer()["k"] == "done"
    assert serving.port.dropped == {Reason.FRAMES: 1} and serving.port.received == 1


def test_a_peer_that_sends_too_long_a_frame_is_cut_off_and_the_others_are_served(serving, raw):
    raw.send(b"\x93" * 5000)
    with Switches(serving.port.endpoint) as switches:
        assert switches.switch("loop", True) == "held"
    assert not raw.socket.poll(100) and serving.port.received == 1


def test_keys_that_are_not_known_are_ignored():
    assert decode_request(msgpack.packb(GOOD | {"later": 1})) == SwitchRequest(7, "loop", True)


@pytest.mark.parametrize("kind", ["switch", "done", "list", "refused"])
def test_the_bytes_on_the_protocol_page_are_the_message_beside_them(kind):
    section = re.search(rf"^### {kind}\n(.*?)(?=^#{{2,3}} )", PROTOCOL_PAGE.read_text(), re.M | re.S)[1]
    shown = json.loads(re.search(r"```json\n(.*?)```", section, re.S)[1])
    data = bytes.fromhex("".join(re.search(r"```hex\n(.*?)```", section, re.S)[1].split()))
    content = {key: value for key, value in shown.items() if key not in ("v", "k", "n")}
    if kind in ("done", "refused"):
        assert encode_answer(kind, shown["n"], content) == data and decode_answer(data) == shown
    else:
        assert encode_request(decode_request(data)) == data and msgpack.unpackb(data) == shown


@given(st.integers(0, 2**63 - 1), st.text("abc é_-.9", min_size=1, max_size=64), st.booleans())
def test_a_request_survives_its_bytes(number, name, held):
    for request in (SwitchRequest(number, name, held), ListRequest(number)):
        assert decode_request(encode_request(request)) == request


@given(st.binary(max_size=200), st.integers(0, 60), st.integers(0, 255))
def test_damaged_bytes_give_a_request_or_a_refusal_and_nothing_else(noise, place, byte):
    good = bytearray(msgpack.packb(GOOD))
    good[place % len(good)] = byte
    for data in (noise, bytes(good), bytes(good[:place])):
        try:
            assert isinstance(decode_request(data), (SwitchRequest, ListRequest))
        except Refused:
            pass
        decode_answer(data)  # never raises, either


def test_a_poll_takes_no_more_than_its_share_of_a_flood_and_another_client_gets_through(port, raw):
    for _ in range(5000):
        raw.send(os.urandom(40))
    time.sleep(0.3)  # by then more waits than one poll may take
    port.poll()
    assert sum(port.dropped.values()) == port.max_frames
    with Switches(port.endpoint) as switches:
        eventually(lambda: switches.offer("loop", True))
        time.sleep(0.2)
        eventually(lambda: port.poll() or port.received)
    assert port.received == 1 and sum(port.dropped.values()) < 2500  # peers take turns
    eventually(lambda: port.poll() or sum(port.dropped.values()) == 5000)


def test_a_peer_that_never_reads_its_answers_is_given_up_on(port, raw):
    with Serving(port), Switches(port.endpoint) as switches:
        for n in range(30_000):
            raw.send(msgpack.packb({"v": 1, "k": "list", "n": n}))
        assert switches.switch("loop", True) == "held"
        eventually(lambda: port.unsent > 0)


@pytest.mark.parametrize(
    ("publish", "control"),
    [
        ("ipc:///run/hapticsim/publish.sock", "ipc:///run/hapticsim/control.sock"),
        ("ipc:///tmp/a", "ipc:///tmp/a-control"),
        ("tcp://127.0.0.1:5556", "tcp://127.0.0.1:5557"),
        ("tcp://127.0.0.1:*", "tcp://127.0.0.1:*"),
    ],
)
def test_the_control_endpoint_lies_beside_the_publish_endpoint(publish, control):
    assert control_beside(publish) == control


def test_beside_the_last_port_there_is_none():
    assert control_beside("tcp://127.0.0.1:65534") == "tcp://127.0.0.1:65535"
    with pytest.raises(WireError) as refused:
        control_beside("tcp://127.0.0.1:65535")
    assert str(refused.value) == (
        "control endpoint beside tcp://127.0.0.1:65535: there is no port above 65535: give the control "
        "endpoint, or a publish endpoint with a port of at most 65534."
    )


def test_an_endpoint_that_leaves_the_machine_needs_keys():
    for open_one in (ControlPort, Switches):
        with pytest.raises(WireError, match="would be open to the network"):
            open_one("tcp://192.0.2.1:5557")
