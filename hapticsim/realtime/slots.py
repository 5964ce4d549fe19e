"""Hand-over between the loop and other threads: a newest-value slot and a ring, without locks.

Slot: a sequence lock.  The writer makes the count odd, writes, makes it even; a reader copies and takes the
copy only if the count was even and did not change.  One writer, any number of readers; nobody waits for
anybody for longer than a copy.  Ring: one writer, one reader; a full ring drops the newest row and counts it.
"""

from __future__ import annotations

from numba import njit

from hapticsim.kernels.machine_code.cache import kept
from hapticsim.realtime.atomics import fence, load_acquire, store_release

TRIES = 64  # a reader gives up after this many torn copies and keeps what it had


@kept
def write_slot(count, data, values):
    """Publish values (n,) float64 in the slot ``count`` (1,), ``data`` (n,)."""
    before = count[0]
    store_release(count, 0, before + 1)
    fence()
    for i in range(data.size):
        data[i] = values[i]
    store_release(count, 0, before + 2)


@kept
def read_slot(count, data, scratch, values):
    """Copy the newest values of a slot; return its count, or -1 with values as they were when every try was
    torn.

    scratch (n,) float64, for the copy that may be torn.
    """
    for _ in range(TRIES):
        before = load_acquire(count, 0)
        if before % 2 == 1:
            continue
        for i in range(data.size):
            scratch[i] = data[i]
        fence()
        if load_acquire(count, 0) == before:
            for i in range(data.size):
                values[i] = scratch[i]
            return before
    return -1


@njit(nogil=True)
def claim_row(places, rows):
    """Index of the row to write next in a ring, or -1 when it is full.  places (3,): head, tail, dropped."""
    head = places[0]
    if head - load_acquire(places, 1) >= rows:
        places[2] += 1
        return -1
    return head % rows


@njit(nogil=True)
def publish_row(places):
    """Make the claimed row visible to the reader."""
    store_release(places, 0, places[0] + 1)


@kept
def drain(places, ring, target):
    """Copy waiting rows of a ring (n, c) into target (m, c), oldest first; return how many."""
    head, tail = load_acquire(places, 0), places[1]
    count = min(head - tail, target.shape[0])
    for i in range(count):
        row = ring[(tail + i) % ring.shape[0]]
        for j in range(row.size):
            target[i, j] = row[j]
    store_release(places, 1, tail + count)
    return count
