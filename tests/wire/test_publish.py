"""The observer road: newest payloads, gaps, ages, and a publisher that nobody can hold up."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hapticsim.errors import WireError
from hapticsim.wire.messages.topics import Published, frame, unframe
from hapticsim.wire.publisher import Publisher
from hapticsim.wire.subscriber import Subscriber


@pytest.fixture
def publisher(tmp_path):
    with Publisher(f"ipc://{tmp_path}/publish.sock") as publisher:
        yield publisher


def subscribed(publisher, *topics):
    """Return a subscriber to which the publisher's messages already get through, with nothing waiting."""
    subscriber = Subscriber(publisher.endpoint, topics=topics)
    give_up = time.monotonic() + 5.0
    while any(math.isinf(subscriber.age_s(topic)) for topic in topics):
        assert time.monotonic() < give_up, "never connected"
        for topic in topics:
            publisher.offer(topic, {})
        subscriber.receive(0.005)
    time.sleep(0.02)
    while subscriber.receive() is not None:
        pass
    subscriber.missing.clear()
    return subscriber


def settle(subscriber, topic, number):
    give_up = time.monotonic() + 5.0
    while subscriber.latest(topic).get("i") != number:
        assert time.monotonic() < give_up, "waited in vain"
        time.sleep(0.001)


def test_latest_is_the_newest_payload_and_stays(publisher):
    with subscribed(publisher, "state") as subscriber:
        for i in range(50):
            assert publisher.offer("state", {"i": i, "q": [0.1, None], "device": {"connected": True}})
        settle(subscriber, "state", 49)
        assert subscriber.latest("state") == {"i": 49, "q": [0.1, None], "device": {"connected": True}}
        assert subscriber.missing["state"] == 0


def test_receive_gives_every_message_once_in_order_across_topics(publisher):
    with subscribed(publisher, "state", "events") as subscriber:
        for i in range(20):
            publisher.offer("state", {"i": i})
            publisher.offer("events", {"i": i})
        got = [subscriber.receive(1.0) for _ in range(40)]
        assert [(m.topic, m.payload["i"]) for m in got] == [
            (topic, i) for i in range(20) for topic in ("state", "events")
        ]
        assert subscriber.receive() is None


def test_latest_of_one_topic_leaves_the_events_for_receive(publisher):
    with subscribed(publisher, "state", "events") as subscriber:
        for i in range(5):
            publisher.offer("events", {"i": i})
            publisher.offer("state", {"i": i})
        settle(subscriber, "state", 4)
        assert [m.payload["i"] for m in iter(subscriber.receive, None)] == [0, 1, 2, 3, 4]


def test_a_topic_that_is_a_prefix_of_another_does_not_receive_it(publisher):
    with subscribed(publisher, "state") as subscriber:
        publisher.offer("statements", {"i": 1})
        publisher.offer("state", {"i": 2})
        assert subscriber.receive(1.0).payload == {"i": 2}


def test_a_subscriber_that_stops_reading_holds_nobody_up_and_sees_the_gap(publisher):
    with subscribed(publisher, "state") as sleeper, subscribed(publisher, "state") as reader:
        payload = {"bulk": [0.5] * 500}
        slowest = 0.0
        for i in range(5000):
            started = time.thread_time()
            publisher.offer("state", payload | {"i": i})
            slowest = max(slowest, time.thread_time() - started)
            reader.latest("state")
        settle(reader, "state", 4999)
        assert slowest < 0.05
        for _ in range(10):  # the sleeper wakes up: what still fits its queues, then a gap
            publisher.offer("state", payload | {"i": 5000})
            time.sleep(0.005)
            sleeper.latest("state")
        settle(sleeper, "state", 5000)
        assert sleeper.missing["state"] > 0


def test_age_counts_from_the_moment_of_publishing(publisher):
    with subscribed(publisher, "state") as subscriber:
        publisher.offer("state", {"i": 1})
        settle(subscriber, "state", 1)
        assert subscriber.age_s("state") < 0.5
        time.sleep(0.1)
        assert 0.1 <= subscriber.age_s("state") < 0.6


def test_a_publisher_that_starts_again_is_followed(tmp_path):
    endpoint = f"ipc://{tmp_path}/publish.sock"
    first = Publisher(endpoint)
    subscriber = subscribed(first, "state")
    first.close()
    with Publisher(endpoint) as second:
        give_up = time.monotonic() + 5.0
        while subscriber.latest("state") != {"again": True} and time.monotonic() < give_up:
            second.offer("state", {"again": True})
            time.sleep(0.01)
        assert subscriber.latest("state") == {"again": True}
    subscriber.close()


def test_waiting_for_a_server_that_is_not_there_ends_in_a_sentence(tmp_path):
    endpoint = f"ipc://{tmp_path}/nobody.sock"
    with Subscriber(endpoint) as subscriber:
        assert subscriber.latest("state") is None
        assert subscriber.receive(0.01) is None
        assert subscriber.age_s("state") == math.inf
        with pytest.raises(WireError) as refused:
            subscriber.latest("state", timeout_s=0.05)
    assert str(refused.value) == (
        f"{endpoint}: no 'state' arrived in 0.05 s: start one with 'hapticsim run'."
    )


def test_a_topic_that_was_not_subscribed_is_refused(tmp_path):
    with Subscriber(f"ipc://{tmp_path}/a.sock") as subscriber, pytest.raises(WireError) as refused:
        subscriber.latest("events")
    assert str(refused.value) == "topic 'events' is not subscribed to: name it in topics=('state',)."


def test_one_name_instead_of_a_list_of_topics_is_refused(tmp_path):
    with pytest.raises(WireError) as refused:
        Subscriber(f"ipc://{tmp_path}/a.sock", topics="state")
    assert str(refused.value) == "topics = 'state' is not usable: give a list of names, such as ('state',)."


def test_a_payload_that_msgpack_cannot_carry_is_refused_in_a_sentence(publisher):
    with pytest.raises(WireError, match=r"^topic 'state' cannot carry this \(.*\): use plain values\.$"):
        publisher.offer("state", {"q": {1, 2}})


def test_a_payload_too_long_for_subscribers_is_dropped_and_counted(publisher):
    assert not publisher.offer("scene", {"shapes": ["x" * 1000] * 1100})
    assert publisher.dropped == {"scene": 1}


@given(st.binary(max_size=300) | st.binary(max_size=300).map(lambda tail: b"state\0" + tail))
def test_no_bytes_make_a_subscriber_raise(data):
    assert unframe(data) is None or isinstance(unframe(data), Published)


@pytest.mark.parametrize(
    "content", [b"\xc0", b"\x80", b"\x84\xa1v\x02\xa1n\x01\xa1t\x01\xa1d\x80", b"\x91" * 2000]
)
def test_a_frame_of_another_make_is_no_message(content):
    assert unframe(b"state\0" + content) is None


def test_a_published_message_is_its_topic_a_zero_and_a_map():
    data = frame(Published("state", 3, 1_000_000, {"tick": 5}))
    assert data == b"state\0" + bytes.fromhex("84a17601a16e03a174ce000f4240a16481a47469636b05")
    assert unframe(data) == Published("state", 3, 1_000_000, {"tick": 5})
