"""The motion of a mechanism whose constraints come and go, by SciPy: DOP853 from one change to the next.

Slip and stick are its events, located on the dense output; what is switched is switched at its time, with a
plastic impulse.  Nothing of the tick is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from mechanism_kane import BACKWARD, FORWARD, FREE, HELD, Equations, Holds
from scipy.integrate import solve_ivp

RTOL, ATOL, LONGEST_s = 1e-12, 1e-13, 0.01  # steps short enough for the dense output to be as good


@dataclass(frozen=True)
class Wish:
    """What is asked for from a time [s] on: values of inputs, constraints on or off, by name."""

    time: float
    inputs: dict[str, float] = field(default_factory=dict)
    switch: dict[str, bool] = field(default_factory=dict)


@dataclass
class Motion:
    """q (n, nq) and u (n, nu) at t (n,), just before what is asked for then; and what changed.

    changes : (time [s], constraint, what it does from then on).
    """

    t: np.ndarray
    q: np.ndarray
    u: np.ndarray
    changes: list[tuple[float, str, str]]


def empty_motion(t: np.ndarray, q: np.ndarray, u: np.ndarray) -> Motion:
    """A motion that starts from (q, u) and is not known yet."""
    motion = Motion(t, np.full((len(t), len(q)), np.nan), np.full((len(t), len(u)), np.nan), [])
    motion.q[0], motion.u[0] = q, u
    return motion


class Oracle:
    """Integrates the equations of one mechanism from an initial state at time 0."""

    def __init__(self, equations: Equations, q: np.ndarray, u: np.ndarray, t: np.ndarray) -> None:
        self.equations = equations
        self.t, self.q, self.u = 0.0, q, u
        self.given: dict[str, float] = {}
        self.now: Holds = {rule.name: HELD if rule.held else FREE for rule in equations.rules.values()}
        self.motion = empty_motion(t, q, u)

    def run(self, wishes: Sequence[Wish]) -> Motion:
        """The motion at its times; wishes in the order of time, the first at 0."""
        self.q, self.u = self.equations.impose(self.q, self.u, self.now)
        ends = [*(wish.time for wish in wishes[1:]), self.motion.t[-1]]
        for wish, end in zip(wishes, ends, strict=True):
            self.given.update(wish.inputs)
            for name, on in wish.switch.items():
                if on != (self.now[name] != FREE):
                    self._change(name, HELD if on else FREE)
            self._let_slip()
            while self.t < end:
                self._advance(end)
        return self.motion

    def _change(self, name: str, hold: str) -> None:
        self.now[name] = hold
        self.motion.changes.append((self.t, name, hold))
        if hold == HELD:
            self.q, self.u = self.equations.impose(self.q, self.u, self.now)

    def _let_slip(self) -> None:
        """Let go what needs more friction than there is."""
        for name in [name for name, hold in self.now.items() if hold == HELD]:
            _, forces = self.equations.accelerate(self.q, self.u, self.given, self.now)
            if self.equations.spare(name, forces) < 0.0:
                self._change(name, BACKWARD if forces[name] > 0.0 else FORWARD)

    def _derivative(self, _: float, y: np.ndarray) -> np.ndarray:
        q, u = np.split(y, [len(self.q)])
        udot, _forces = self.equations.accelerate(q, u, self.given, self.now)
        return np.concatenate([self.equations.qdot(q, u), udot])

    def _guard(self, name: str) -> Any:
        """What falls through zero when the constraint slips, or its slip comes to rest."""

        def value(_: float, y: np.ndarray) -> float:
            q, u = np.split(y, [len(self.q)])
            if self.now[name] == HELD:
                forces = self.equations.accelerate(q, u, self.given, self.now)[1]
                return self.equations.spare(name, forces)
            rate = float(self.equations.rows(q, u, [name])[0] @ u)
            return rate if self.now[name] == FORWARD else -rate

        guard: Any = value
        guard.terminal, guard.direction = True, -1.0  # what solve_ivp asks of an event
        return guard

    def _advance(self, end: float) -> None:
        """To the end or the first event, which is dealt with."""
        rules, times = self.equations.rules, self.motion.t
        rubbing = [name for name, hold in self.now.items() if rules[name].friction and hold != FREE]
        inside = np.flatnonzero((times > self.t + 1e-12) & (times <= end + 1e-12))
        found = solve_ivp(
            self._derivative,
            (self.t, end),
            np.concatenate([self.q, self.u]),
            "DOP853",
            t_eval=[*np.minimum(times[inside], end), *([] if inside.size else [end])],
            events=[self._guard(name) for name in rubbing],
            rtol=RTOL,
            atol=ATOL,
            max_step=LONGEST_s,
        )
        assert found.success, found.message
        states = np.transpose(found.y) if len(found.t) else np.empty((0, len(self.q) + len(self.u)))
        for k, y in zip(inside, states, strict=False):
            self.motion.q[k], self.motion.u[k] = np.split(y, [len(self.q)])
        for name, at, y in zip(rubbing, found.t_events or [], found.y_events or [], strict=True):
            if len(at):
                self.t, (self.q, self.u) = float(at[0]), np.split(y[0], [len(self.q)])
                if self.now[name] == HELD:
                    self._let_go(name)
                else:
                    self._change(name, HELD)
                self._let_slip()
                return
        self.t, (self.q, self.u) = end, np.split(states[-1], [len(self.q)])

    def _let_go(self, name: str) -> None:
        _, forces = self.equations.accelerate(self.q, self.u, self.given, self.now)
        self._change(name, BACKWARD if forces[name] > 0.0 else FORWARD)
