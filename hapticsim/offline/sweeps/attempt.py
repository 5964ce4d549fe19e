"""One run of a sweep, wherever it happens: a value, or a problem in words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hapticsim.errors import HapticsimError

TRIES = 3  # of a set whose worker dies: once may be chance, the memory or the machine, three times is the set
WORKER_DIED = "ended its worker every time (killed, out of memory or crashed): run it alone to see why."


class SweepError(HapticsimError):
    """A sweep of which some sets failed, after all others were run.

    results : in the order of the sets, None for those that failed.
    problems : by number of a set, the sentence about it.
    """

    def __init__(self, results: list[Any], problems: dict[int, str]) -> None:
        self.results, self.problems = results, dict(sorted(problems.items()))
        first, *others = self.problems.values()
        more = f" {len(others)} more of {len(results)} sets failed: see 'problems'." if others else ""
        super().__init__(first + more)


@dataclass(frozen=True)
class Outcome:
    """What came of a set; ``problem`` is the end of a sentence about it, empty if there is none."""

    value: Any = None
    problem: str = ""


def attempt(function: Callable[[Any], Any], parameters: Any) -> Outcome:
    """Run one set in the process of a worker; an exception becomes words, since not all can be sent."""
    try:
        return Outcome(function(parameters))
    except Exception as error:
        return Outcome(
            problem=f"raised {type(error).__name__}: {str(error).rstrip('.')}: run it alone to see where."
        )
