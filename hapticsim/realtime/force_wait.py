"""Wait for the force that answers a device sample, instead of sending the one before it.

A force that is sent when a sample arrives knows the sample before; the device then feels what it did two
periods ago.  Sent when the tick that took the sample has ended, it is in the hand one period after.
"""

from __future__ import annotations

from numba import njit

from hapticsim.realtime.clock import deadline_after, now_ns, sleep_until
from hapticsim.realtime.exchange import ANSWERED
from hapticsim.realtime.slots import read_slot

LOOK_NS = 30_000  # after a deadline until the first look, and between two


@njit(nogil=True)
def await_force(io, sender_s, longest_ns, force, times):
    """Sleep until the force slot answers the sample with this stamp of its sender; return whether it does.

    io          Exchange of the loop.
    longest_ns  within which it should; a tick that is due later is not waited for.
    force       (2, FORCE) scratch, times (2, 2) int64 scratch.
    """
    timespec, rest = times[0], times[1]
    now = now_ns(timespec)
    last = now + longest_ns
    wake = deadline_after(now, io.period_ns) + LOOK_NS
    while wake <= last:
        sleep_until(wake, timespec, rest)
        read_slot(io.force_count, io.force_slot, force[0], force[1])
        if force[1, ANSWERED] == sender_s:
            return True
        wake = now_ns(timespec) + LOOK_NS
    return False
