"""How an off-line run can end; in a compiled loop trouble is a number, here it gets its words."""

from __future__ import annotations

from enum import IntEnum


class Ending(IntEnum):
    """Why an integrator stopped."""

    DONE = 0
    STEP_UNDERFLOW = 1
    NOT_FINITE = 2
    TOO_MANY_STEPS = 3
    DIVERGED = 4

    @property
    def sentence(self) -> str:
        """What happened and what to do about it."""
        return _SENTENCES[self]


_SENTENCES = {
    Ending.DONE: "Reached the end.",
    Ending.STEP_UNDERFLOW: "The step became too small to advance the time, the accelerations being rougher "
    "than the accuracy asked for: ask for less accuracy, for float64, or for algorithm 'abm_exact'.",
    Ending.NOT_FINITE: "A coordinate, speed or acceleration became infinite or NaN: shorten the step, or "
    "look at the mass matrix and the torques there.",
    Ending.DIVERGED: "A coordinate or speed went beyond 1e9 (SI): the step is too long for this motion, or "
    "for the damping of a joint; shorten it, or take one that chooses its steps ('cash_karp', 'radau').",
    Ending.TOO_MANY_STEPS: "The limit of steps was reached first: ask for less accuracy or for a shorter "
    "time; in Python max_steps can be raised.",
}
