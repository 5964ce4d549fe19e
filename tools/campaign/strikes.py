"""One strike at a rig: wait until the hand is pushed, do something wrong, look, undo it, see what follows."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from campaign.kinds import ZERO_WITHIN_S, Trial, kind
from campaign.rig import Rig
from hapticsim.codes import Safety

Undo = Callable[[], Any]
Fault = Callable[[Rig, random.Random], Undo]
LOOK_MS, RESUME_MS, LASTS_MS = 150, 400, 40
STAYS_SHARE = 0.9  # of the milliseconds, that have force where a fault is to take none away


class After(Enum):
    """What has to follow when the fault is over."""

    ENGAGE = "no force until the hand engages again, and then force"
    RESUMES = "force again by itself"
    EITHER = "force again by itself, or a fault that is told, and force once the hand engages"
    STAYS = "force all the time"
    ANYTHING = "whatever follows, within the bounds"


def strike(rig: Rig, rng: random.Random, fault: Fault, lasts_ms: int, sides: str, after: After) -> Trial:
    """Strike once; the rig is left as it was."""
    if not rig.pushing(rng):
        return Trial(wrong=["there was no force to begin with"])
    rig.watch()
    undo = fault(rig, rng)
    rig.step(lasts_ms)
    stayed = rig.forces >= STAYS_SHARE * lasts_ms
    trial = rig.trial("device" in sides, "server" in sides)
    undo()
    if after is After.ANYTHING:
        rig.step(LOOK_MS)
        rig.spent = True  # how it stands now is not told
    if rig.spent:
        seen = rig.trial(False, False)
        trial.largest_N, trial.step_N, trial.step_share = seen.largest_N, seen.step_N, seen.step_share
        return trial
    wrong = trial.wrong
    if after is After.STAYS:
        rig.forces = 0
        rig.step(LOOK_MS)
        if not stayed or rig.forces < STAYS_SHARE * LOOK_MS:
            wrong.append("the force went away")
    elif after in (After.RESUMES, After.EITHER):
        rig.forces = 0
        rig.step(RESUME_MS)
        if rig.forces == 0 and (after is After.RESUMES or rig.mode != Safety.FAULT):
            wrong.append("the force did not come back by itself")
        elif rig.mode == Safety.FAULT and after is After.RESUMES:
            wrong.append("the force came back and ended in a fault")
        elif rig.forces == 0 and not rig.engage():
            wrong.append("no force after engaging again")
    else:
        rig.forces = rig.commands = 0
        rig.step(LOOK_MS)
        if rig.forces or ("server" in sides and rig.commands):
            wrong.append("the force came back by itself")
        if not rig.engage():
            wrong.append("no force after engaging again")
    seen = rig.trial(False, False)
    trial.largest_N, trial.step_N, trial.step_share = seen.largest_N, seen.step_N, seen.step_share
    return trial


def virtual(
    name: str,
    about: str,
    *,
    lasts_ms: int = LASTS_MS,
    sides: str = "device server",
    after: After = After.ENGAGE,
    within_s: float = ZERO_WITHIN_S,
    **rig_options: Any,
) -> Callable[[Fault], Fault]:
    """Enter a fault that is tried on a rig in virtual time.

    sides : those that have to give zero within ``within_s`` of the strike; empty for a fault that is to do
        nothing.
    """

    def enter(fault: Fault) -> Fault:
        @kind(name, "virtual time", about)
        def _run(trials: int, rng: random.Random) -> Iterator[Trial]:
            left = trials
            while left:
                with Rig(**rig_options) as rig:
                    while left:
                        trial = strike(rig, rng, fault, lasts_ms, sides, after)
                        trial.within_s = within_s
                        left -= 1
                        yield trial
                        if trial.wrong or rig.spent or rig.is_softened:
                            break  # what is left of it may be broken: a new one

        return fault

    return enter
