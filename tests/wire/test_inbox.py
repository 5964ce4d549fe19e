"""Session and sequence rules, and round-trip times."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from hapticsim.wire.device.inbox import Inbox
from hapticsim.wire.device.round_trip import RoundTrip
from hapticsim.wire.messages.codec import encode
from hapticsim.wire.messages.device import FROM_DEVICE, FROM_SERVER, Arm, Force


def arm(number, session=5, stamp_ns=0):
    return encode(Arm(session=session, number=number, stamp_ns=stamp_ns))


@given(st.lists(st.integers(0, 30), max_size=60))
def test_only_numbers_larger_than_all_before_are_taken(numbers):
    inbox, largest, taken = Inbox(5, FROM_DEVICE), -1, 0
    for number in numbers:
        message = inbox.take(arm(number))
        assert (message is not None) == (number > largest)
        taken += message is not None
        largest = max(largest, number)
    assert inbox.taken == taken
    assert inbox.dropped["stale"] == len(numbers) - taken
    if numbers:
        assert inbox.missing == largest - numbers[0] + 1 - taken


def test_another_session_is_dropped_and_does_not_advance_the_sequence():
    inbox = Inbox(5, FROM_DEVICE)
    assert inbox.take(arm(100, session=6)) is None
    assert inbox.take(arm(1)) is not None
    assert inbox.dropped == {"session": 1}


def test_a_kind_of_the_other_direction_is_dropped():
    force = encode(Force((1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 2, 0, session=5, number=1))
    assert Inbox(5, FROM_DEVICE).take(force) is None
    assert Inbox(5, FROM_SERVER).take(force) is not None


@given(st.binary(max_size=200))
def test_nothing_that_comes_in_raises_and_everything_is_counted(data):
    inbox = Inbox(5, FROM_DEVICE)
    taken = inbox.take(data) is not None
    assert inbox.taken + sum(inbox.dropped.values()) == 1
    assert inbox.taken == taken


def test_the_stamp_to_echo_is_the_one_of_the_newest_message_taken():
    inbox = Inbox(5, FROM_DEVICE)
    inbox.take(arm(2, stamp_ns=20))
    inbox.take(arm(1, stamp_ns=10))
    inbox.take(arm(3, session=6, stamp_ns=30))
    assert inbox.newest_stamp_ns == 20


def test_each_echo_counts_once_and_the_future_never():
    trip = RoundTrip()
    assert math.isnan(trip.percentile_us(50))
    for echo_ns, now_ns in [(0, 5_000), (1_000, 4_000), (1_000, 9_000), (50_000, 10_000), (2_000, 7_000)]:
        trip.add(echo_ns, now_ns)
    assert len(trip) == 2
    assert (trip.percentile_us(0), trip.percentile_us(99)) == (3.0, 5.0)
