"""Events of a tick in sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hapticsim.codes import Event, Mode, Safety
from hapticsim.model.candidates import Candidate

_MODE_WORDS = {
    Mode.FREE: "is free",
    Mode.HELD: "holds",
    Mode.FORWARD: "slips forward",
    Mode.BACKWARD: "slips backward",
}


def subject_of(candidates: Sequence[Candidate], constraints: Sequence[str], number: int) -> str:
    """Return what an event is about: two shapes, or the name of a constraint; empty for -1."""
    if number < 0:
        return ""
    if number < len(candidates):
        candidate = candidates[number]
        return f"{candidate.a} on " + (f"its {candidate.stop.side} stop" if candidate.stop else candidate.b)
    return repr(constraints[number - len(candidates)])


def event_words(kind: Event, subject: str, value: float) -> str:
    """Return an event as a sentence; ``value`` is what ``codes.Event`` says of the kind.

    subject : of ``subject_of``; an impulse without one is by constraints, with one by a contact that parts
        again at once.
    """
    match kind:
        case Event.TOUCH:
            return f"{subject} touched" + (f", {value * 1e3:.3g} mJ lost" if value else "")
        case Event.LEAVE:
            return f"{subject} left: it would have had to pull, or is past its edge"
        case Event.SELECT:
            return f"independent speeds chosen again, cond(A_D) = {value:.3g}"
        case Event.OVERFLOW:
            return f"chatter, {int(value)} events in one tick: contacts nearly closed are taken as resting"
        case Event.SAFETY:
            return f"force output is {Safety(int(value)).name.lower()}"
        case Event.SWITCH:
            return f"{subject} {_MODE_WORDS[Mode(int(value))]}"
        case Event.REFUSED:
            off = f"it is off by {value:.3g} (SI)" if math.isfinite(value) else "it is out of reach"
            if value == -math.inf:
                off = "no rows are left, let another constraint go"
            elif value < 0.0:
                off = f"that would push a shape {-value * 1e3:.3g} mm into another"
            return f"{subject} was not imposed: {off}"
        case Event.RANK:
            return f"the rank of the imposed rows is {int(value)}"
        case Event.CONFLICT:
            return f"{subject} contradicts other constraints (its share {100.0 * value:.0f} %)"
        case Event.TWICE:
            return f"{subject} was switched more than once within a tick: the last wish counted"
        case Event.IMPULSE:
            what = f"{subject} touched and parted at once" if subject else "constraints imposed by an impulse"
            return f"{what}, {value * 1e3:.3g} mJ lost"
        case Event.ENERGY:
            return f"the tick was refused, it would have gained {value:.3g} J: state taken back, force off"
        case Event.ROWS_FULL:
            return f"{subject} was left out with {int(value) - 1} more: all rows are taken"
        case Event.THROUGH:
            return f"{subject}: {value * 1e3:.3g} mm inside, held by nothing, and passes through"
        case Event.HALTED:
            return f"the mechanism, or a part, stood still for the last {value * 1e3:.3g} ms of the tick"
        case Event.SLIDES:
            return f"{subject} slides: {value:.3g} N held it until now"
        case Event.STICKS:
            return f"{subject} sticks: its slip came to rest"
        case Event.STEPPED:
            return f"ticks are time steps, for what touches or rubs: {int(value)} contacts hold"
        case _:
            return "the tick was not finite, or left all bounds: state taken back, force off"
