"""Processor time that other programs took: what excuses a test or a trial that was kept waiting (Linux)."""

from __future__ import annotations

import os
from pathlib import Path

HZ = os.sysconf("SC_CLK_TCK")


def others_s() -> float:
    """Processor time [s] that neither this process nor those it started have used, stolen time included.

    Of processes that ended without their parent looking, it is counted as that of others.
    """
    used = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = map(int, used)
    return (user + nice + system + irq + softirq + steal - _tree_ticks(os.getpid())) / HZ


def used_s(pid: int) -> float:
    """Processor time [s] that a process and its children have used; 0 of one that has ended."""
    return _tree_ticks(pid) / HZ


def _tree_ticks(pid: int) -> int:
    """Ticks of a process and its children, of those that ended as well."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = sum(map(int, after_name[11:15]))  # utime, stime, cutime, cstime
        for task in Path(f"/proc/{pid}/task").iterdir():
            ticks += sum(_tree_ticks(int(child)) for child in (task / "children").read_text().split())
    except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
        return 0
    return ticks
