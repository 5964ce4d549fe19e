"""One run through the four mode changes: free, onto the plane, along it, and off it again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from closed_loop_kkt import OFF, KktArm
from closed_loop_task import BODY, NORMAL, PRESS_N, OUT_m, PLANE_m, ball_of, controller, scene

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.simulate.simulation import TickEvent

ABOVE_m = 0.01  # height at the start
PRESS_FROM_s, LET_GO_s, END_s = 0.2, 1.5, 1.8
ALONG_m_per_s, UP_m_per_s = 0.02, 0.1
FREE, HELD = "free", "constrained"


@dataclass
class ModeChange:
    """Where the mode of the arm changed, or what it was for a stretch of cycles."""

    change: str
    start_s: float
    cycles: int  # how many cycles it lasted; 1 for an event
    force_before_N: float
    force_after_N: float
    rate_before_m_per_s: float | None = None  # of the gap, at the event
    rate_after_m_per_s: float | None = None
    lost_J: float | None = None  # as the tick reports it
    lost_expected_J: float | None = None  # half (A u)^2 / (A M^-1 A'), from a free run of RK4 to the event
    gap_m: float | None = None  # by that run, at the event


def mode_changes() -> list[ModeChange]:
    """Hold still above the plane, press until it strikes, slide along under 10 N, let go and move away.

    Nothing resists the force before the plane does, so the fingertip falls onto it.
    """
    task = scene(above_m=ABOVE_m)
    sim = hs.Simulation(task)
    centre = PLANE_m + ball_of(task).size[0]

    def path(time: float) -> np.ndarray:
        height = ABOVE_m if time < PRESS_FROM_s else UP_m_per_s * max(time - LET_GO_s, 0.0)
        return np.array([0.0, OUT_m + ALONG_m_per_s * max(time - PRESS_FROM_s, 0.0), centre + height])

    law = controller(sim.assembly.equations, task, path, start_s=0.0)
    twin = KktArm(hs.compile_equations(task.model, (BODY,)), task, OFF)
    found: list[ModeChange] = []
    state, force = sim.state, 0.0
    for tick in range(round(END_s * task.rate_Hz)):
        time = tick * task.tick_s
        law.press(PRESS_N if PRESS_FROM_s <= time < LET_GO_s else 0.0, NORMAL)
        Q = law.update(time, state.q, state.u, force)
        sim.apply(torque=Q)
        sim.step()
        before, state, force_before = state, sim.state, force
        force = state.contacts[0].force if state.contacts else 0.0
        events = [e for e in sim.events if e.kind in (Event.TOUCH, Event.LEAVE)]
        for event in events:
            twin.q[:], twin.u[:], twin.held = before.q, before.u, event.kind is Event.LEAVE
            found.append(_event(event, time, twin, Q, force_before, force))
        if not events:
            _extend(found, HELD if state.contacts else FREE, time, force_before, force)
    return found


def _event(
    event: TickEvent, time: float, twin: KktArm, Q: np.ndarray, force_before: float, force: float
) -> ModeChange:
    """A change inside a cycle; the twin goes from the start of the cycle to the event by itself."""
    twin.step(Q, event.time - time)
    M, _, row, gap, rate = twin.terms()
    made = ModeChange("", event.time, 1, force_before, force, rate_before_m_per_s=rate, gap_m=gap)
    if event.kind is Event.LEAVE:
        made.change, made.rate_after_m_per_s = f"{HELD} to {FREE} (contact breaking)", rate
        return made
    made.change, made.rate_after_m_per_s = f"{FREE} to {HELD} (collision)", 0.0
    made.lost_J = float(event.value)
    made.lost_expected_J = float(0.5 * rate**2 / (row @ np.linalg.solve(M, row)))
    return made


def _extend(found: list[ModeChange], mode: str, time: float, force_before: float, force: float) -> None:
    """A cycle without change: one more of the stretch, or the first of a new one."""
    change = f"{mode} to {mode}"
    if found and found[-1].change == change:
        found[-1].cycles += 1
        found[-1].force_after_N = force
    else:
        found.append(ModeChange(change, time, 1, force_before, force))
