"""What the checks share: drivers opened and closed, samples, pushes, durations.

A check takes a function that makes drivers, and returns an outcome and a sentence.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..base import ZERO, DeviceSample, Driver, Vector
from ..pacing import Pacer

OK, FAILED, UNSEEN = "OK", "FAILED", "UNSEEN"
Found = tuple[str, str]
Make = Callable[[], Driver]

RATE_HZ = 1000.0  # of a server with a loop of 1 kHz or slower
READS = 600
VIRTUAL_READS = 6000  # of an emulated device, which needs no clock


@contextmanager
def opened(make: Make) -> Iterator[Driver]:
    """An open driver, closed afterwards."""
    driver = make()
    try:
        driver.open()
        yield driver
    finally:
        driver.close()


def gentle(driver: Driver) -> Vector:
    """A force that a hand hardly feels."""
    return (min(0.05 * driver.info.limits.max_force_N, 0.3), 0.0, 0.0)


def samples(driver: Driver) -> Iterator[tuple[float, DeviceSample]]:
    """Times and what was read then, against the clock, or as fast as it goes from an emulated device."""
    if driver.info.emulated:
        t = time.monotonic()
        for _ in range(VIRTUAL_READS):
            t += 1.0 / RATE_HZ
            yield t, driver.read(t)
        return
    pacer = Pacer(1.0 / RATE_HZ)
    for _ in range(READS):
        now_s = pacer.wait()
        yield now_s, driver.read(now_s)


def pushed(driver: Driver, force_N: Vector, count: int = 50) -> Iterator[tuple[float, DeviceSample]]:
    """Read and write against the clock; the last sample knows of the force."""
    pacer = Pacer(1.0 / RATE_HZ)
    for _ in range(count):
        now_s = pacer.wait()
        sample = driver.read(now_s)
        driver.write(force_N)
        yield now_s, sample


def timed(driver: Driver) -> Iterator[tuple[float, float]]:
    """Durations of reads and writes [s], less what the thread waited for a processor meanwhile."""
    pacer, force = Pacer(1.0 / RATE_HZ), gentle(driver)
    for i in range(READS):
        now_s = pacer.wait()
        began_s = _without_waiting_s()
        driver.read(now_s)
        read_s = _without_waiting_s()
        driver.write(force if i % 2 else ZERO)
        driver.write_torque(ZERO)
        yield read_s - began_s, _without_waiting_s() - read_s
    driver.write(ZERO)


def _without_waiting_s() -> float:
    """A clock that stands still while this thread could run and has no processor, where the system tells."""
    try:
        with open("/proc/thread-self/schedstat", "rb") as file:
            waited_ns = int(file.read().split()[1])
    except (OSError, IndexError):  # not Linux
        waited_ns = 0
    return time.perf_counter() - 1e-9 * waited_ns
