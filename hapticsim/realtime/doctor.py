"""What this computer allows a 1 kHz loop to do, and what to change where it does not."""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from hapticsim.realtime.clock import lock_memory, now_ns, request_priority, sleep_until
from hapticsim.realtime.probe import HostProbe
from hapticsim.realtime.stats import BINS, count_duration, percentiles_us

PERIOD_NS = 1_000_000
TICKS = 2000


@njit(nogil=True)
def _measure(ticks, period, timespec, rest, histogram, largest):
    deadline = now_ns(timespec) + period
    for _ in range(ticks):
        sleep_until(deadline, timespec, rest)
        count_duration(histogram, largest, 0, now_ns(timespec) - deadline)
        deadline += period


def measure_wakeup(priority: int | None) -> tuple[str, dict[str, float]]:
    """Lateness [us] of waking at 1 kHz for two seconds on a thread of its own, with or without SCHED_FIFO."""
    timespec, rest = np.zeros(2, np.int64), np.zeros(2, np.int64)
    histogram, largest = np.zeros(BINS, np.int64), np.zeros(4, np.int64)
    _measure(1, PERIOD_NS, timespec, rest, histogram, largest)
    histogram[:], largest[:] = 0, 0
    granted = ["normal priority"]

    def body() -> None:
        if priority is not None:
            granted[0] = request_priority(priority)
        _measure(TICKS, PERIOD_NS, timespec, rest, histogram, largest)

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    return granted[0], percentiles_us(histogram, int(largest[0]))


def examine() -> str:
    """A report of some ten lines."""
    lines = [f"{platform.platform()}, {os.cpu_count()} processors, Python {platform.python_version()}"]
    for priority in (None, 80):
        granted, late = measure_wakeup(priority)
        lines.append(
            f"waking at 1 kHz, {granted}: late p50 {late['p50']:.0f}, p99 {late['p99']:.0f}, "
            f"max {late['max']:.0f} us"
        )
    lines.append(lock_memory())
    governor = Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
    if governor.exists():
        lines.append(f"frequency governor {governor.read_text().strip()} (performance is best)")
    lines.append(f"clock resolution {time.get_clock_info('monotonic').resolution * 1e9:.0f} ns")
    lines.append("display: " + (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or "none"))
    lines.append("to allow real-time priority: add 'USER - rtprio 90' and 'USER - memlock unlimited' to "
                 "/etc/security/limits.d/hapticsim.conf and log in again")  # fmt: skip
    for point in sorted(entry_points(group="hapticsim.devices"), key=lambda p: p.name):
        try:
            reason = point.load().unavailable() or "available"
        except ImportError as error:
            reason = f"cannot be loaded: {error}"
        lines.append(f"device {point.name}: {reason}")
    return "\n".join(lines)


def watch_host(
    seconds: float, least_s: float, say: Callable[[str], Any], progress: Callable[[str], Any]
) -> None:
    """Say each stall of this computer as it comes, and in the end how many there were and of which kind."""
    probes = {"the host": HostProbe(progress=progress), "ordinary priority": HostProbe(None, progress)}
    with probes["the host"] as host, probes["ordinary priority"]:
        start, told = time.monotonic(), host.counts()
        if not host.has_priority:
            say(
                "SCHED_FIFO is not permitted: other programs stop the probe as well (see 'hapticsim doctor')."
            )
        while (left := start + seconds - time.monotonic()) > 0.0:
            time.sleep(min(0.1, left))
            stalls, told = host.stalls(told), host.counts()
            for s in (s for s in stalls if s.length_s >= least_s):
                at = s.start_s - start
                say(f"{at:8.3f} s  processor {s.processor} stood still {1e3 * s.length_s:.1f} ms")
    for name, probe in probes.items():
        lengths = sorted(s.length_s for s in probe.stalls())
        longest = f", longest {1e3 * lengths[-1]:.1f} ms" if lengths else ""
        waiting = max(probe.delayed_s()) / seconds
        say(
            f"{name}: {len(lengths)} stalls of 1 ms and more{longest}; kept waiting {waiting:.1%} of the time"
        )
