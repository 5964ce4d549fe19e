"""What a kind of fault is, what one trial of it found, and the list of all kinds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

ZERO_WITHIN_S = 0.010
ROUNDING = 1e-9


@dataclass
class Trial:
    """What was seen of one strike.

    ``device_s`` and ``server_s``: from the strike until that side gave zero; nan where the kind takes no
    force away, or not on that side; infinite where it stayed.  ``step_share``: largest change of the force
    between two writes, as a share of what the slew limit allows.  ``whole``: whether what was recorded is;
    None where nothing was.  ``host_s``: how long the host stood still meanwhile.  ``paused_s``: longest pause
    between two writes to the motors until zero.  ``void``: why nothing could be seen.  ``within_s``: the time
    allowed.
    """

    device_s: float = math.nan
    server_s: float = math.nan
    largest_N: float = 0.0
    limit_N: float = math.inf
    step_N: float = 0.0
    step_share: float = 0.0
    whole: bool | None = None
    host_s: float = 0.0
    paused_s: float = math.nan
    void: str = ""
    within_s: float = ZERO_WITHIN_S
    wrong: list[str] = field(default_factory=list)

    def broken(self) -> list[str]:
        """Which bounds it broke, apart from what a stall of the host explains."""
        found = list(self.wrong)
        late = self.within_s + self.host_s
        for side, after_s in (("device", self.device_s), ("server", self.server_s)):
            if after_s > late:
                words = "force stayed" if math.isinf(after_s) else f"zero after {1e3 * after_s:.1f} ms"
                if side == "device" and not math.isnan(self.paused_s):
                    words += f", longest pause between two writes {1e3 * self.paused_s:.1f} ms"
                found.append(f"{side}: {words}")
        if self.largest_N > self.limit_N * (1.0 + ROUNDING):
            found.append(f"{self.largest_N:.3f} N where {self.limit_N:g} N are allowed")
        if self.step_share > 1.0 + 1e-6:
            found.append(f"a step of {self.step_N:.3f} N, {self.step_share:.1f} times the slew limit")
        if self.whole is False:
            found.append("the recording is not whole")
        return found

    @property
    def is_late(self) -> bool:
        """Whether all that it broke is the time to zero, which it reached: what a host may explain unseen."""
        on_time = replace(self, device_s=math.nan, server_s=math.nan)
        stayed = math.isinf(self.device_s) or math.isinf(self.server_s)
        return bool(self.broken()) and not stayed and not on_time.broken()

    @property
    def is_inconclusive(self) -> bool:
        """Whether it says nothing: it was late by a stall of the host, or void."""
        late = any(self.within_s < x < math.inf for x in (self.device_s, self.server_s))
        return (late or bool(self.void)) and not self.broken()


Run = Callable[[int, random.Random], Iterable[Trial]]  # trials, source of chance


@dataclass(frozen=True)
class Kind:
    """One kind of fault: a name, where it is tried, what it does in one sentence, and how to try it."""

    name: str
    where: str  # virtual time, guard, tick, link, processes
    about: str
    run: Run


KINDS: dict[str, Kind] = {}


def kind(name: str, where: str, about: str) -> Callable[[Run], Run]:
    """Enter a function in the list of kinds."""

    def enter(run: Run) -> Run:
        if name in KINDS:
            raise ValueError(f"there are two kinds {name!r}.")
        KINDS[name] = Kind(name, where, about, run)
        return run

    return enter
