"""Checks of what a driver does: how long its calls take, and what becomes of a force."""

from __future__ import annotations

import math
import threading
import time

from ..base import ZERO
from .bench import (
    FAILED,
    OK,
    RATE_HZ,
    UNSEEN,
    Found,
    Make,
    gentle,
    opened,
    pushed,
    timed,
)

SLOW_S = 0.005  # of one call: half of the time in which force must be gone
SLOW_SHARE = 0.005  # of the calls; fewer are the computer's doing
BUSY_SHARE = 0.8  # of a period, for one read and one write
GONE = 0.01  # of the force: what is left counts as zero


def check_rate(make: Make) -> Found:
    """A read and a write fit into a period, most of the time."""
    with opened(make) as driver:
        both = sorted(a + b for a, b in timed(driver))
    median_s, period_s = both[len(both) // 2], 1.0 / max(driver.info.rate_Hz, RATE_HZ)
    words = f"read and write take {1e3 * median_s:.2f} ms of a period of {1e3 * period_s:.2f}"
    if median_s > BUSY_SHARE * period_s:
        return (
            FAILED,
            f"{words}: give a library that waits a thread of its own, and answer from what it last said.",
        )
    return OK, words


def check_read(make: Make) -> Found:
    """Reads do not hang now and then."""
    with opened(make) as driver:
        return _hangs("read", [a for a, _ in timed(driver)])


def check_write(make: Make) -> Found:
    """Nor do writes."""
    with opened(make) as driver:
        return _hangs("write", [b for _, b in timed(driver)])


def check_force(make: Make) -> Found:
    """A write returns what was sent, and that is what was asked for."""
    with opened(make) as driver:
        force, sent = gentle(driver), ZERO
        for _, _ in pushed(driver, force):
            sent = driver.write(force)
        driver.write(ZERO)
        turned = driver.write_torque(ZERO)
    for what, returned in (("write", sent), ("write_torque", turned)):
        if not isinstance(returned, tuple) or len(returned) != 3 or not math.isfinite(sum(returned)):
            return FAILED, f"{what} returned {returned!r}: return the three numbers really sent."
    if math.dist(sent, force) > 0.1 * math.hypot(*force) + 1e-9:
        return (
            FAILED,
            f"asked for {force} N, write says that it sent {sent}: return the force really sent, in N.",
        )
    return OK, f"{force[0]:g} N asked for and sent"


def check_zero(make: Make) -> Found:
    """Zero is zero at once: no filter, no ramp, no queue of more than 10 ms."""
    with opened(make) as driver:
        force, told = gentle(driver), ZERO
        for _, sample in pushed(driver, force):
            told = sample.force_N
        sent = driver.write(ZERO)
        for _, sample in pushed(driver, ZERO, 10):
            left = sample.force_N
    if isinstance(sent, tuple) and len(sent) == 3 and math.hypot(*sent) > GONE * math.hypot(*force):
        return (
            FAILED,
            f"zero was asked for, and {sent} N sent: whatever smooths the force must let zero pass.",
        )
    if math.hypot(*told) == 0.0:
        return UNSEEN, "zero is what write says; the driver measures no force (DeviceSample.force_N)"
    if math.hypot(*left) > GONE * math.hypot(*force):
        return FAILED, f"10 ms after zero was written the force is {left} N: it must be gone by then."
    return OK, "zero within 10 ms"


def check_halt(make: Make) -> Found:
    """Another thread can zero the motors."""
    failed: list[BaseException] = []

    def halt() -> None:
        try:
            for _ in range(100):
                driver.halt()
        except BaseException as error:
            failed.append(error)

    with opened(make) as driver:
        force, told = gentle(driver), ZERO
        for _, sample in pushed(driver, force):
            told = sample.force_N
        thread = threading.Thread(target=halt, daemon=True)
        thread.start()
        thread.join(1.0)
        if thread.is_alive():
            return FAILED, "halt did not return from another thread within 1 s: it must never wait."
        left = driver.read(time.monotonic()).force_N
    if failed:
        return FAILED, f"halt raised {failed[0]!r} in another thread: override Driver.halt."
    if math.hypot(*told) == 0.0:
        return UNSEEN, "halt returns; the driver measures no force (DeviceSample.force_N)"
    if math.hypot(*left) > GONE * math.hypot(*force):
        return FAILED, f"after halt the force is {left} N: zero the motors in it."
    return OK, "zero from another thread"


def check_close(make: Make) -> Found:
    """Closing leaves no force on the motors, as the next driver sees it."""
    with opened(make) as driver:
        force = gentle(driver)
        for _ in pushed(driver, force):
            pass
    with opened(make) as again:
        left = again.read(time.monotonic()).force_N
    if math.hypot(*left) > GONE * math.hypot(*force):
        return FAILED, f"after close the force is {left} N: write zero in close, before letting go."
    return OK, "no force after close"


def _hangs(what: str, times_s: list[float]) -> Found:
    slow = [t for t in times_s if t > SLOW_S]
    worst_ms = 1e3 * max(times_s, default=0.0)
    if len(slow) > SLOW_SHARE * max(len(times_s), 1):
        return FAILED, (
            f"{len(slow)} of {len(times_s)} calls of {what} took more than {1e3 * SLOW_S:g} ms, at worst "
            f"{worst_ms:.1f}: a library that waits needs a thread of its own."
        )
    return OK, f"at worst {worst_ms:.2f} ms"
