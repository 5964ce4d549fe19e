"""Take many ticks and remember what went wrong in the worst of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from hapticsim.codes import Event, Fault
from hapticsim.kernels.rows.row_table import HELD
from hapticsim.simulate.simulation import Simulation, TickEvent

Push = Callable[[int], tuple[float, float, float]]


class Watch:
    """Events, deepest gap, and widest that is held [m], largest rise of energy [J], most events in a tick."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.events: list[TickEvent] = []
        self.widest = 0.0
        self.deepest, self.rise, self.drift, self.busiest = 0.0, -np.inf, 0.0, 0

    def take(self, ticks: int, push: Push | None = None) -> Watch:
        """Step; push gives the force at the handle [N] for every tick."""
        sim = self.sim
        before = sum(sim.energy())
        for i in range(ticks):
            if push is not None:
                sim.apply(force=np.array(push(i)))
            sim.step()
            state, after = sim.state, sum(sim.energy())
            assert np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.u))
            assert not state.fault & Fault.NOT_FINITE
            assert all(c.force >= -1e-9 for c in state.contacts), "a contact pulls"
            self.deepest = min(self.deepest, float(sim.gaps.min()))
            held = sim._state.mode[: len(sim.gaps)] == HELD
            self.widest = max(self.widest, float(sim.gaps[held].max(initial=0.0)))
            self.drift = max(self.drift, sim.drift)
            self.rise, before = max(self.rise, after - before), after
            self.busiest = max(self.busiest, len(sim.events))
            self.events += sim.events
        return self

    @property
    def counts(self) -> Counter[Event]:
        return Counter(e.kind for e in self.events)

    @property
    def forces(self) -> dict[str, float]:
        """Sum of the contact forces by the shape that gives them [N]."""
        total: Counter[str] = Counter()
        for contact in self.sim.state.contacts:
            total[contact.b] += contact.force
        return dict(total)
