"""Wait for the force that answers a device sample, instead of sending the one before it.

A force that is sent when a sample arrives knows the sample before; the device then feels what it did two
periods ago.  Sent when the tick that took the sample has ended, it is in the hand one period after.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.cache import kept
from hapticsim.realtime.clock import deadline_after, now_ns, sleep_until
from hapticsim.realtime.exchange import ANSWERED
from hapticsim.realtime.slots import read_slot

LOOK_NS = 30_000  # after a deadline until the first look, and between two: most ticks are done by then


@kept
def await_force(io, sender_s, due_ns, longest_ns, force, times):
    """Sleep until the force slot answers the sample with this stamp of its sender; return whether it does.

    io          Exchange of the loop.
    due_ns      within which the next tick must be due: a later one is not waited for.
    longest_ns  after which the wait ends, whatever the tick does.
    force       (2, FORCE) scratch, times (2, 2) int64 scratch.
    """
    timespec, rest = times[0], times[1]
    now = now_ns(timespec)
    last, deadline = now + longest_ns, deadline_after(now, io.period_ns)
    wake = deadline + LOOK_NS
    while deadline - now <= due_ns and wake <= last:
        sleep_until(wake, timespec, rest)
        read_slot(io.force_count, io.force_slot, force[0], force[1])
        if force[1, ANSWERED] == sender_s:
            return True
        wake = now_ns(timespec) + LOOK_NS
    return False
