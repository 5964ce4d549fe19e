"""What the host did to a trial: it stood still, or other programs wanted its processors.

As tests against the clock are judged (tests/host_judge.py): a probe that nothing of ours can stop sees the
first; the second is a probe of ordinary priority that was kept waiting while programs that the campaign did
not start used the processors for at least half of that time.  Threads of ours that run away excuse nothing.
"""

from __future__ import annotations

import os
from pathlib import Path

from hapticsim.realtime.probe import HostProbe, stood_still_s

HZ = os.sysconf("SC_CLK_TCK")
SHARE = 0.5  # of the time that ordinary threads waited


class Host:
    """Watches from ``__enter__`` on."""

    def __enter__(self) -> Host:
        self._own, self._ordinary = HostProbe(), HostProbe(None)
        self._own.start()
        self._ordinary.start()
        self._others_s = others_s()
        return self

    def __exit__(self, *exception: object) -> None:
        self._own.stop()
        self._ordinary.stop()

    def stalled_s(self, start_s: float, end_s: float) -> float:
        """For how long, at most, the host kept a thread of ours from running in a span of time [s]."""
        stood = stood_still_s(self._own.stalls(), start_s, end_s) if self._own.has_priority else 0.0
        if others_s() - self._others_s < SHARE * max(self._ordinary.delayed_s()):
            return stood
        return max(stood, stood_still_s(self._ordinary.stalls(), start_s, end_s))


def others_s() -> float:
    """Processor time [s] that neither this process nor those it started have used, stolen time included."""
    used = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
    user, nice, system, _, _, irq, softirq, steal = map(int, used)
    return (user + nice + system + irq + softirq + steal - _tree_ticks(os.getpid())) / HZ


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
