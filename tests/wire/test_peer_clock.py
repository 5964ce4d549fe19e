"""The age of a message from its sender's stamp, when the two clocks have nothing in common."""

from __future__ import annotations

import random

import pytest

from hapticsim.wire.device.peer_clock import PeerClock

MS = 1_000_000


@pytest.mark.parametrize("seed", range(50))
def test_a_message_is_as_old_as_its_delay_beyond_the_quickest_and_never_from_the_future(seed):
    rng = random.Random(seed)
    ours_less_peers = rng.choice((0, 10**6, 10**18, rng.randrange(2**62)))
    clock, now, least = PeerClock(), ours_less_peers + 10**12, None
    for n in range(200):
        delay = rng.randrange(rng.choice((MS, 50 * MS)))
        sent = ours_less_peers + 10**12 + n * MS
        now = max(now, sent + delay)
        said = clock.sent_ns(sent - ours_less_peers, now)
        least = now - sent if least is None else min(least, now - sent)
        assert now - said == pytest.approx(now - sent - least, abs=60_000)  # what the drift allows
        assert said <= now


def test_what_waited_in_a_queue_is_old_when_it_is_taken():
    clock = PeerClock()
    for n in range(100):
        clock.sent_ns(n * MS, 5_000 * MS + n * MS + 100_000)
    queued = [clock.sent_ns(n * MS, 5_400 * MS) for n in range(100, 110)]
    ages = [(5_400 * MS - said) / MS for said in queued]
    assert ages == pytest.approx([5_400 - 5_000 - n - 0.1 for n in range(100, 110)], abs=0.1)


@pytest.mark.parametrize("drift", [-1e-4, 1e-4])
def test_clocks_that_drift_apart_make_nothing_old(drift):
    clock, oldest = PeerClock(), 0
    for n in range(600_000):  # ten minutes at 1 kHz
        now = n * MS
        oldest = max(oldest, now - clock.sent_ns(round(now * (1.0 + drift)), now))
    assert oldest < 1000


def test_a_peer_that_never_sets_its_clock_falls_silent():
    clock = PeerClock()
    ages = [n * MS - clock.sent_ns(0, n * MS) for n in range(100)]
    assert ages[0] == 0 and ages[-1] > 90 * MS
