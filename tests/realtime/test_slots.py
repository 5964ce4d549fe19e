"""The hand-over between the loop and Python: never torn, never blocked; and the percentiles of durations."""

from __future__ import annotations

import math
import threading
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit

from hapticsim.realtime.clock import learn_early
from hapticsim.realtime.exchange import early_at_first
from hapticsim.realtime.slots import claim_row, drain, publish_row, read_slot, write_slot
from hapticsim.realtime.stats import BIN_NS, BINS, count_duration, percentiles_us


@njit(nogil=True)
def write_often(count, data, values, stop):
    """Write until stopped, with a pause between: a writer that never pauses leaves nothing to read."""
    idle = 0.0
    while stop[0] == 0:
        for i in range(values.size):
            values[i] += 1.0
        write_slot(count, data, values)
        for _ in range(200):
            idle = math.sin(idle + values[0])
    return idle


@njit(nogil=True)
def read_often(count, data, seen, times):
    """How many of the copies were new, and how many were torn or older than one before."""
    newest, changes, wrong = 0.0, 0, 0
    scratch = np.zeros(data.size)
    for _ in range(times):
        if read_slot(count, data, scratch, seen) >= 0:
            wrong += seen.min() != seen.max() or seen[0] < newest
            changes += seen[0] > newest
            newest = seen[0]
    return changes, wrong


def test_a_slot_is_never_read_half_old_half_new():
    count, data, stop = np.zeros(1, np.int64), np.zeros(32), np.zeros(1, np.int64)
    read_often(count, data, np.zeros(32), 1)
    write_often(count, data, np.zeros(32), np.ones(1, np.int64))
    writer = threading.Thread(target=write_often, args=(count, data, np.zeros(32), stop), daemon=True)
    writer.start()
    changes = wrong = 0
    until = time.monotonic() + 120.0  # on one processor the two take turns, and little changes in a turn
    while changes < 3000 and time.monotonic() < until:
        found = read_often(count, data, np.zeros(32), 100_000)
        changes, wrong = changes + found[0], wrong + found[1]
    stop[0] = 1
    writer.join()
    assert changes >= 3000 and wrong == 0


@njit(nogil=True)
def late_share(early, over_ns):
    """Share of wakes, the second half of those given, that were later than the loop had allowed for."""
    late, half = 0, over_ns.size // 2
    for k in range(over_ns.size):
        late += k >= half and over_ns[k] > early[0]
        learn_early(early, over_ns[k])
    return late / half


def test_the_loop_wakes_so_early_that_one_wake_in_a_thousand_is_late():
    rng = np.random.default_rng(1)
    early = np.array([60_000, 60_000, 250_000])
    over_ns = rng.exponential(20_000.0, 1_000_000).astype(int)
    assert 0.0007 < late_share(early, over_ns) < 0.0014
    assert early[0] == pytest.approx(20_000.0 * math.log(1000.0), rel=0.3)
    assert late_share(early, over_ns[:200_000] // 10) == 0.0 and early[0] == 60_000  # never less
    late_share(early, 10 * over_ns[:200_000])
    assert 200_000 < early[0] <= 250_000  # nor more


@pytest.mark.parametrize(
    ("rate_Hz", "least_us", "most_us"),
    [(100, 60.0, 1000.0), (1000, 60.0, 100.0), (2000, 60.0, 60.0), (10_000, 25.0, 25.0)],
)
def test_the_loop_spins_for_a_tenth_of_a_tick_at_most_or_for_what_a_wake_takes(rate_Hz, least_us, most_us):
    early_us = 1e-3 * early_at_first(1_000_000_000 // rate_Hz)
    assert early_us == pytest.approx([least_us, least_us, most_us])


def test_a_slot_in_the_middle_of_a_write_keeps_what_the_reader_had():
    count, data, seen = np.array([3]), np.full(4, 9.0), np.full(4, 1.0)
    assert read_slot(count, data, np.zeros(4), seen) == -1
    assert np.all(seen == 1.0)


@given(st.lists(st.integers(0, 12), max_size=30))
@settings(deadline=None, max_examples=50)
def test_a_ring_hands_over_every_row_once_in_order_or_counts_it_as_dropped(turns):
    """``turns``: rows written before the reader looks, again and again; the twin is a list."""
    size = 8
    places, ring, out = np.zeros(3, np.int64), np.zeros((size, 1)), np.zeros((size, 1))
    waiting: list[float] = []
    dropped, number = 0, 0.0
    for writes in turns:
        for _ in range(writes):
            number += 1.0
            i = claim_row(places, size)
            assert (i < 0) == (len(waiting) == size)
            if i < 0:
                dropped += 1
                continue
            ring[i, 0] = number
            publish_row(places)
            waiting.append(number)
        n = drain(places, ring, out)
        assert out[:n, 0].tolist() == waiting
        waiting = []
    assert places[2] == dropped


# ------------------------------------------------------------------------------------------------ percentiles


@given(st.lists(st.integers(0, 3 * BINS * BIN_NS), min_size=1, max_size=400))
@settings(deadline=None, max_examples=50)
def test_percentiles_of_the_histogram_are_those_of_the_durations_to_a_bin(durations):
    histogram, largest = np.zeros(BINS, np.int64), np.zeros(1, np.int64)
    for duration in durations:
        count_duration(histogram, largest, 0, duration)
    found = percentiles_us(histogram, int(largest[0]))
    assert found["max"] == max(durations) / 1000.0
    for name, share in (("p50", 0.5), ("p99", 0.99), ("p999", 0.999)):
        exact = float(np.quantile(durations, share, method="inverted_cdf")) / 1000.0
        assert exact <= found[name] <= max(exact + BIN_NS / 1000.0, found["max"])
        if exact < (BINS - 1) * BIN_NS / 1000.0:
            assert found[name] <= exact + BIN_NS / 1000.0


def test_no_durations_have_no_percentiles():
    assert set(percentiles_us(np.zeros(BINS, np.int64), 0).values()) == {0.0}
