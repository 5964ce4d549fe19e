"""Device messages as bytes: round trip, totality, every reason for refusal, and the documented examples."""

from __future__ import annotations

import json
import math
import re
import struct
import timeit
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hapticsim.wire.messages.codec import LAYOUTS, decode, encode
from hapticsim.wire.messages.device import Arm, Bye, Disarm, Force, Hello, Message, Reject, State, Welcome
from hapticsim.wire.messages.fields import Reason, Refused

PROTOCOL_PAGE = Path(__file__).parents[2] / "docs" / "protocol.md"


def within(limit):
    number = st.floats(-limit, limit)
    return st.tuples(number, number, number)


def unit_quaternions():
    def normalised(q):
        length = math.sqrt(sum(x * x for x in q))
        return tuple(x / length for x in q)

    return st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: sum(x * x for x in q) > 0.01).map(normalised)


uint32 = st.integers(0, 2**32 - 1)
printable = st.characters(min_codepoint=32, max_codepoint=0x24F).filter(str.isprintable)
names = st.text(printable, min_size=1, max_size=64)
envelope = {
    "session": uint32,
    "number": st.integers(0, 2**63 - 1),
    "stamp_ns": st.integers(0, 2**63 - 1),
    "echo_ns": st.integers(0, 2**63 - 1),
}
messages = st.one_of(
    st.builds(
        Hello,
        names,
        names,
        names,
        st.floats(0, 1000),
        st.floats(0, 1e7),
        st.floats(0, 1e5),
        st.floats(1e-4, 10),
        st.just(0.0) | st.floats(1e-4, 1000),
        st.floats(0, 0.1),
        st.floats(1, 1e5),
        st.integers(1, 7),
        st.integers(0, 7),
        st.booleans(),
        **envelope,
    ),
    st.builds(
        State,
        within(10),
        unit_quaternions(),
        within(100),
        within(1000),
        uint32,
        within(1000),
        uint32,
        st.none() | within(10),
        **envelope,
    ),
    st.builds(Force, within(1000), within(100), st.integers(0, 4), uint32, **envelope),
    st.builds(
        Welcome,
        st.floats(1, 1e5),
        st.floats(1e-3, 10),
        st.floats(0, 1000),
        st.floats(0, 1e7),
        torque_limit_Nm=st.floats(0, 100),
        resume_within_s=st.floats(0, 1),
        **envelope,
    ),
    st.builds(Arm, **envelope),
    st.builds(Disarm, **envelope),
    st.builds(Bye, names, **envelope),
    st.builds(Reject, names, **envelope),
)

STATE = State(
    (0.01, -0.02, 0.03),
    (1.0, 0.0, 0.0, 0.0),
    (0.1, 0.0, 0.0),
    (0.0, 0.0, 0.0),
    1,
    (0.0, 0.0, 1.5),
    1,
    None,
    session=7,
    number=2,
    stamp_ns=2_000_000,
    echo_ns=5_000_000,
)


def state_with(**changes):
    """Bytes of a good state with some keys of its map changed; a value of ... removes the key."""
    content = msgpack.unpackb(encode(STATE)) | changes
    return msgpack.packb({key: value for key, value in content.items() if value is not ...})


def reason_of(data):
    with pytest.raises(Refused) as refused:
        decode(data)
    return refused.value.reason


@given(messages)
@settings(max_examples=300)
def test_what_is_encoded_is_decoded_unchanged(message):
    assert decode(encode(message)) == message


@given(st.binary(max_size=5000))
@settings(max_examples=500)
def test_any_bytes_give_a_message_or_a_refusal(data):
    try:
        assert isinstance(decode(data), Message)
    except Refused as refused:
        assert refused.reason in Reason


scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats()
plain = st.recursive(
    scalars | st.text(max_size=5) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(messages, st.data())
@settings(max_examples=500)
def test_a_message_with_one_value_replaced_is_either_refused_or_sound(message, data):
    content = msgpack.unpackb(encode(message))
    key = data.draw(st.sampled_from(sorted(content)))
    content[key] = data.draw(plain)
    try:
        taken = decode(msgpack.packb(content))
    except Refused:
        return
    # sound: it survives the round trip, so each field has its type and is finite (NaN is not equal to itself)
    assert decode(encode(taken)) == taken


NAN = float("nan")


@pytest.mark.parametrize(
    ("reason", "data"),
    [
        (Reason.SIZE, b"\xc0" * 4097),
        (Reason.MSGPACK, b""),
        (Reason.MSGPACK, encode(STATE)[:-1]),
        (Reason.MSGPACK, encode(STATE) + b"\xc0"),
        (Reason.MSGPACK, b"\xc1"),
        (Reason.MSGPACK, b"\x91" * 4000),
        (Reason.MSGPACK, b"\xdd\xff\xff\xff\xff"),
        (Reason.MSGPACK, b"\xdf\xff\xff\xff\xff"),
        (Reason.MSGPACK, state_with(y=msgpack.ExtType(5, b"abcd"))),
        (Reason.MSGPACK, state_with(y=msgpack.ExtType(5, b""))),
        (Reason.MSGPACK, state_with(y=msgpack.Timestamp(1, 2))),
        (Reason.MSGPACK, state_with(y=[0] * 65)),
        (Reason.MSGPACK, msgpack.packb({str(i): i for i in range(65)})),
        (Reason.MSGPACK, b"\x81\xa1\xff\xc0"),
        (Reason.MSGPACK, b"\x81\x01\xc0"),
        (Reason.SHAPE, b"\xc0"),
        (Reason.SHAPE, b"\x93\x01\x02\x03"),
        (Reason.SHAPE, state_with(y={"deep": 1})),
        (Reason.SHAPE, state_with(y=[1, [2]])),
        (Reason.VERSION, state_with(v=2)),
        (Reason.VERSION, state_with(v=1.0)),
        (Reason.VERSION, state_with(v=True)),
        (Reason.KIND, state_with(k="stat")),
        (Reason.KIND, state_with(k=3)),
        (Reason.KIND, state_with(k=[1])),
        (Reason.KEY, state_with(v=...)),
        (Reason.KEY, state_with(k=...)),
        (Reason.KEY, state_with(s=...)),
        (Reason.KEY, state_with(g=...)),
        (Reason.TYPE, state_with(p="abc")),
        (Reason.TYPE, state_with(p=[0.0, 0.0])),
        (Reason.TYPE, state_with(p=[0.0, 0.0, 0.0, 0.0])),
        (Reason.TYPE, state_with(p=[0.0, 0.0, True])),
        (Reason.TYPE, state_with(p=None)),
        (Reason.TYPE, state_with(b=1.0)),
        (Reason.TYPE, state_with(b=True)),
        (Reason.TYPE, state_with(n="1")),
        (Reason.VALUE, state_with(p=[0.0, NAN, 0.0])),
        (Reason.VALUE, state_with(p=[0.0, math.inf, 0.0])),
        (Reason.VALUE, state_with(p=[0.0, 0.0, -10.001])),
        (Reason.VALUE, state_with(g=[NAN, 0.0, 0.0])),
        (Reason.VALUE, state_with(r=[1.0, 0.05, 0.0, 0.0])),
        (Reason.VALUE, state_with(r=[NAN, 0.0, 0.0, 0.0])),
        (Reason.VALUE, state_with(r=[0.0, 0.0, 0.0, 0.0])),
        (Reason.VALUE, state_with(n=-1)),
        (Reason.VALUE, state_with(s=2**32)),
        (Reason.VALUE, state_with(t=2**63)),
        (Reason.VALUE, encode(Bye("\x1b[2J"))),
        (Reason.VALUE, encode(Bye(""))),
        (Reason.VALUE, encode(Force((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 5, 0))),
    ],
)
def test_each_defect_is_refused_for_its_reason(reason, data):
    assert reason_of(data) == reason


def test_a_quaternion_may_be_off_by_its_tolerance_and_no_more():
    assert decode(state_with(r=[1.0009, 0.0, 0.0, 0.0])).quaternion[0] == 1.0009
    assert reason_of(state_with(r=[1.0011, 0.0, 0.0, 0.0])) == Reason.VALUE
    assert reason_of(state_with(r=[0.9989, 0.0, 0.0, 0.0])) == Reason.VALUE


def test_integers_are_taken_where_floats_are_meant():
    state = decode(state_with(p=[1, 0, -1], r=[1, 0, 0, 0]))
    assert state.position_m == (1.0, 0.0, -1.0)
    assert all(type(x) is float for x in (*state.position_m, *state.quaternion))


def test_keys_of_a_later_minor_version_are_ignored():
    assert decode(state_with(grip=0.5, extra=[1, 2])) == STATE


def test_a_welcome_of_an_older_server_says_no_torque_limit_and_no_ride_through():
    content = msgpack.unpackb(
        encode(Welcome(1000.0, 0.01, 8.0, 2000.0, torque_limit_Nm=1.0, resume_within_s=0.1))
    )
    del content["torque_limit_Nm"], content["resume_within_s"]
    taken = decode(msgpack.packb(content))
    assert isinstance(taken, Welcome) and (taken.torque_limit_Nm, taken.resume_within_s) == (0.0, 0.0)


def test_floats_of_four_bytes_are_taken():
    content = msgpack.unpackb(encode(STATE))
    data = msgpack.packb(content, use_single_float=True)
    assert decode(data).position_m[0] == struct.unpack("f", struct.pack("f", 0.01))[0]


def _sections():
    page = PROTOCOL_PAGE.read_text()
    return dict(re.findall(r"^### (\w+)\n(.*?)(?=^#{2,3} |\Z)", page, re.M | re.S))


@pytest.mark.parametrize("kind", sorted(LAYOUTS))
def test_the_bytes_on_the_protocol_page_are_the_message_beside_them(kind):
    section = _sections()[kind]
    shown = re.search(r"```json\n(.*?)```", section, re.S)[1]
    data = bytes.fromhex("".join(re.search(r"```hex\n(.*?)```", section, re.S)[1].split()))
    assert msgpack.unpackb(data) == json.loads(shown)
    message = decode(data)
    assert message.kind == kind
    assert encode(message) == data


@pytest.mark.parametrize("kind", sorted(LAYOUTS))
def test_the_protocol_page_lists_each_key_and_field_and_no_other(kind):
    sections = _sections()
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", sections["envelope"] + sections[kind], re.M)
    documented = {key: name for key, name in rows if key not in ("v", "k")}
    assert documented == {key.name: name for name, key in LAYOUTS[kind].keys.items()}


def test_decoding_a_state_is_a_small_part_of_a_tick():
    data = encode(replace(STATE, target_m=(0.0, 0.1, 0.2)))
    pieces = timeit.repeat(lambda: decode(data), number=50, repeat=200)  # too short to be disturbed
    seconds = min(pieces) / 50
    assert seconds < 30e-6  # 5 us on an idle 2-core machine; the margin is for a busy one
