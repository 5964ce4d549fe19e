"""The accelerations of the three ways from the same coordinates, speeds and torques, on the manifold."""

from __future__ import annotations

import numpy as np
from closed_loop_kkt import OFF, ON, KktArm
from closed_loop_task import BODY, NORMAL, PRESS_N, controller, scene, sine_path

import hapticsim as hs


def agreement(cycles: int, every: int) -> dict[str, float]:
    """Return the largest differences [rad/s^2, N] at states of an embedded run, every so many cycles.

    with_stabiliser  qddot of (24) with and without the stabiliser
    embedded         qddot of (24) without it, and M^-1 (Q - h + A' f) with the contact force f of the tick
    over_a_cycle     the same as means over a cycle, from the speeds that the tick and RK4 with (24) reach
    force_N          contact forces of (24) and of the tick
    """
    task = scene()
    sim = hs.Simulation(task)
    law = controller(sim.assembly.equations, task, sine_path(task))
    law.press(PRESS_N, NORMAL)
    equations = hs.compile_equations(task.model, (BODY,))
    stabilised, plain = (KktArm(equations, task, method) for method in (ON, OFF))
    largest = dict.fromkeys(("with_stabiliser", "embedded", "over_a_cycle", "force_N"), 0.0)

    def keep(name: str, *differences: np.ndarray | float) -> None:
        largest[name] = max(largest[name], *(float(np.max(np.abs(d))) for d in differences))

    after = sim.state
    for tick in range(cycles):
        before = after
        Q = law.update(tick * task.tick_s, before.q, before.u)
        sim.apply(torque=Q)
        sim.step()
        after = sim.state
        if tick % every:
            continue
        plain.q[:], plain.u[:] = before.q, before.u
        plain.step(Q)
        keep("over_a_cycle", (plain.u - after.u) / task.tick_s)
        for arm in (stabilised, plain):
            arm.q[:], arm.u[:] = after.q, after.u
        (qddot_on, f_on), (qddot_off, f_off) = stabilised.acceleration(Q), plain.acceleration(Q)
        M, h, row, _, _ = plain.terms()
        force = after.contacts[0].force
        keep("with_stabiliser", qddot_on - qddot_off)
        keep("embedded", np.linalg.solve(M, Q - h + row * force) - qddot_off)
        keep("force_N", force - f_on, force - f_off)
    return largest
