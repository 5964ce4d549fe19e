"""The monotonic clock and absolute sleep, for compiled code; priority and locked memory, for the thread that
runs it.

``time.monotonic_ns`` in Python reads the same clock.
"""

from __future__ import annotations

import ctypes
import os
import threading

from numba import njit, types

CLOCK_MONOTONIC, CLOCK_BOOTTIME, TIMER_ABSTIME = 1, 7, 1  # of Linux; the second goes on in suspension
SECOND = 1_000_000_000  # [ns]
DEVICE_PERIOD_NS = 1_000_000  # bridges tick once in it, or more often
LATE_NS = 4_000  # by which the loop wakes earlier after it woke too late
MCL_CURRENT, MCL_FUTURE, MCL_ONFAULT = 1, 2, 4

_gettime = types.ExternalFunction("clock_gettime", types.int32(types.int32, types.voidptr))
_nanosleep = types.ExternalFunction(
    "clock_nanosleep", types.int32(types.int32, types.int32, types.voidptr, types.voidptr)
)


@njit(nogil=True)
def now_ns(timespec):
    """Monotonic time [ns]; timespec (2,) int64 is scratch."""
    _gettime(CLOCK_MONOTONIC, timespec.ctypes)
    return timespec[0] * SECOND + timespec[1]


@njit(nogil=True)
def suspended_ns(seen, boot_ns, monotonic_ns):
    """How long the computer was suspended since the call before [ns].

    seen (1,) is the largest difference of the two clocks so far; the monotonic one has to be read last, so
    that a thread that is stopped between the two makes the difference smaller, never larger.
    """
    asleep = boot_ns - monotonic_ns
    grown = max(asleep - seen[0], 0)
    seen[0] = max(asleep, seen[0])
    return grown


@njit(nogil=True)
def boot_ns(timespec):
    """Time since the start of the computer [ns], suspension included; timespec (2,) int64 is scratch."""
    if _gettime(CLOCK_BOOTTIME, timespec.ctypes) != 0:  # a system without this clock: never suspended
        return 0
    return timespec[0] * SECOND + timespec[1]


@njit(nogil=True)
def sleep_until(deadline_ns, timespec, rest):
    """Sleep to an absolute monotonic time; a signal may end it early."""
    timespec[0] = deadline_ns // SECOND
    timespec[1] = deadline_ns % SECOND
    _nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, timespec.ctypes, rest.ctypes)


@njit(nogil=True)
def deadline_after(now, period_ns):
    """Return the first deadline after now [ns]: half a period, at most 0.5 ms, after multiples of the period.

    A kernel has its own regular work (Linux: CONFIG_HZ times a second, since 6.4 at multiples of its period),
    which stops a thread of any priority for some 20 us.  Deadlines that fall upon it are late every time.
    Bridges of devices, at 1 kHz or faster, tick at multiples of theirs: what they measured is here in time.
    """
    after = min(period_ns, DEVICE_PERIOD_NS) // 2
    return (now - after) // period_ns * period_ns + period_ns + after


@njit(nogil=True)
def learn_early(early_ns, over_ns):
    """Follow the 99.9th percentile of how late this thread wakes: early_ns (3,) now, least and most [ns].

    over_ns  how late it woke this time.
    A late one adds a thousand times what one in time takes off, so that it rests where one in a thousand is
    late (Robbins & Monro 1951, for a quantile).
    """
    early_ns[0] += LATE_NS if over_ns > early_ns[0] else -LATE_NS // 1000
    early_ns[0] = min(max(early_ns[0], early_ns[1]), early_ns[2])


def request_priority(priority: int) -> str:
    """Ask for SCHED_FIFO on the calling thread; return in words what was given and, if not, what to do."""
    if not hasattr(os, "sched_setscheduler"):
        return "normal priority (this system has no SCHED_FIFO)"
    try:
        os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(priority))
    except (PermissionError, OSError):
        return "normal priority (SCHED_FIFO not permitted: see 'hapticsim doctor')"
    return f"SCHED_FIFO {priority}"


def lock_memory() -> str:
    """Keep every page that has been touched in memory; return in words what was given.

    Pages are locked as they are touched: locking all that is mapped, too, makes a server with 210 MB in use
    hold 580 MB (most of it parts of libraries that never run).  Kernels before Linux 4.4 know only that.
    """
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        for flags in (MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT, MCL_CURRENT | MCL_FUTURE):
            if libc.mlockall(flags) == 0:
                return "memory locked"
    except (OSError, AttributeError):
        pass
    return "memory not locked (not permitted: raise the memlock limit)"
