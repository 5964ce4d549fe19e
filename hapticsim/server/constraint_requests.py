"""Requests from the control road to the loop, and what became of them back; presses of the device's buttons.

A switch is answered when a tick has taken it: by then the constraint holds, or does not, and an event says
why.  A press goes the same way, and asks for the other of what the constraint does, or was asked to do.  The
board is served by the outlet between two messages, so that it never holds anything up.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hapticsim.codes import Event, Mode
from hapticsim.describe.constraints import ConstraintDescriber, hold_word
from hapticsim.model.constraints import nearest_constraint
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.wire.control import Asked, ControlPort
from hapticsim.wire.messages.requests import SwitchRequest

ANSWER_S = 1.0  # after which a loop that has not taken a request stands still
MOST_WAITING = 64
_REASONS = (Event.REFUSED, Event.CONFLICT)


@dataclass
class Waiting:
    """A switch that no tick is known to have taken."""

    asked: Asked | None  # None: a button, which hears no answer
    constraint: int
    held: bool
    count: int  # requests for this constraint, with this one
    until_s: float  # monotonic


class Switchboard:
    """Serves a control port.

    Parameters
    ----------
    constraints : of the assembly that the loop runs.
    loop : what is switched; nobody else switches it.
    port : where requests come from; closed by its owner.
    presses : numbers of constraints to switch over, which another thread adds (``DeviceSession.presses``).
    say : told why a press changed nothing, one sentence.
    """

    def __init__(
        self,
        constraints: ConstraintDescriber,
        loop: RealTimeLoop,
        port: ControlPort,
        presses: deque[int] | None = None,
        say: Callable[[str], Any] = lambda line: None,
    ) -> None:
        self._constraints, self._loop, self._port = constraints, loop, port
        self._presses, self._say = deque() if presses is None else presses, say
        self._counts = [0] * len(constraints.names)
        self._waiting: list[Waiting] = []
        self._why: dict[int, str] = {}  # of a constraint, since it was last asked for

    def note(self, kind: Event, constraint: int, words: str) -> None:
        """Remember why a constraint was not imposed."""
        if kind in _REASONS:
            self._why[constraint] = words

    def serve(self, row: np.ndarray | None) -> None:
        """Answer what the tick of ``row`` has taken (all events up to it were noted), then take requests."""
        if row is not None:
            self._waiting = [w for w in self._waiting if not self._settle(w, row)]
        now = time.monotonic()
        for w in self._waiting:
            if now > w.until_s:
                self._refuse(
                    w.asked,
                    f"the loop has not ticked for {ANSWER_S:g} s; when it does it will take this: "
                    "ask for the opposite, or start the server again.",
                )
        self._waiting = [w for w in self._waiting if now <= w.until_s]
        while row is not None and self._presses:
            self._switch_over(self._presses.popleft(), row)
        for asked in self._port.poll():
            if isinstance(asked.request, SwitchRequest):
                self._switch(asked, asked.request)
            else:
                self._port.answer(asked, "list", constraints=self._list(row))

    def _switch(self, asked: Asked, request: SwitchRequest) -> None:
        names = self._constraints.names
        if request.name not in names:
            end = nearest_constraint(request.name, names)
            self._refuse(asked, f"constraint {request.name!r} is not there{end}")
        else:
            self._ask(asked, names.index(request.name), request.held)

    def _switch_over(self, c: int, row: np.ndarray) -> None:
        """A press: let go what holds, or slips, and the other way round."""
        wishes = [w.held for w in self._waiting if w.constraint == c]
        held = wishes[-1] if wishes else self._constraints.switched(row, c)[1] != Mode.FREE
        self._ask(None, c, not held)

    def _ask(self, asked: Asked | None, c: int, held: bool) -> None:
        if len(self._waiting) >= MOST_WAITING:
            self._refuse(asked, f"{MOST_WAITING} requests wait already: ask again later.")
            return
        self._counts[c] += 1
        self._why.pop(c, None)
        self._loop.switch(c, held)
        self._waiting.append(Waiting(asked, c, held, self._counts[c], time.monotonic() + ANSWER_S))

    def _settle(self, w: Waiting, row: np.ndarray) -> bool:
        """Answer a request that the row's tick knew of; False while it did not."""
        taken, hold = self._constraints.switched(row, w.constraint)
        if taken < w.count:
            return False
        tick, name = int(row[1]), self._constraints.names[w.constraint]
        if w.held and hold == Mode.FREE and taken == w.count:
            words = self._why.get(w.constraint, f"{name!r} let go at once under its force")
            self._refuse(w.asked, f"{words}: bring the mechanism to where it can hold, or let another go.")
        elif w.asked is not None:
            self._port.answer(w.asked, "done", name=name, hold=hold_word(hold), tick=tick)
        return True

    def _refuse(self, asked: Asked | None, sentence: str) -> None:
        if asked is None:
            self._say(sentence)
        else:
            self._port.answer(asked, "refused", reason=sentence)

    def _list(self, row: np.ndarray | None) -> list[dict[str, object]]:
        """What there is; before the first tick what it does is not known."""
        found = self._constraints.scene()["constraints"]
        return [
            {
                "name": entry["name"],
                "hold": "" if row is None else hold_word(self._constraints.switched(row, c)[1]),
                "rows": len(entry["rows"]),
            }
            for c, entry in enumerate(found)
        ]
