"""The runs of the closed-loop study: the task with the fingertip kept on the plane in three ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from closed_loop_kkt import EULER_OFF, EULER_ON, OFF, ON, SLOWER_ON, KktArm, Method
from closed_loop_task import BODY, NORMAL, PRESS_N, SPEED, ball_of, controller, scene, sine_path

import hapticsim as hs
from hapticsim.control.hybrid import Path
from hapticsim.control.tip import Tip

STABILISED, PLAIN, EMBEDDED = "KKT, stabilised", "KKT, not stabilised", "embedded"
WAYS = (STABILISED, PLAIN, EMBEDDED)


@dataclass(frozen=True, eq=False)
class Trace:
    """One run, a row per servo cycle, taken at its end with Q still held."""

    time: np.ndarray  # (n,) [s]
    tip: np.ndarray  # (n, 3) [m] centre of the fingertip
    path: np.ndarray  # (n, 3) [m] where it was to be
    speed: np.ndarray  # (n,) [m/s] of the fingertip
    force: np.ndarray  # (n,) [N] contact force
    error: np.ndarray  # (n,) [m] loop error e of (19)
    rate: np.ndarray  # (n,) [m/s] its rate


def run_kkt(seconds: float, method: Method, rate_Hz: float = 1000.0, speed: float = SPEED) -> Trace:
    """The task by (24)."""
    task = scene(rate_Hz)
    equations = hs.compile_equations(task.model, (BODY,))
    arm = KktArm(equations, task, method)
    path = sine_path(task, speed)
    law = controller(equations, task, path)
    law.press(PRESS_N, NORMAL)
    tip = Tip(equations, BODY, ball_of(task).X_BS.translation, "closed-loop study")
    rows, force = [], PRESS_N
    for tick in range(round(seconds * rate_Hz)):
        Q = law.update(tick * task.tick_s, arm.q, arm.u, force)
        arm.step(Q)
        _, force = arm.acceleration(Q)
        _, _, _, error, rate = arm.terms()
        rows.append(_row((tick + 1) * task.tick_s, path, tip, arm.q, arm.u, force, error, rate))
    return _trace(rows)


def run_embedded(seconds: float, rate_Hz: float = 1000.0) -> Trace:
    """The task by the tick of the simulator: a rigid contact of the fingertip with the plane, embedded."""
    task = scene(rate_Hz)
    sim = hs.Simulation(task)
    path = sine_path(task)
    law = controller(sim.assembly.equations, task, path)
    law.press(PRESS_N, NORMAL)
    tip = Tip(sim.assembly.equations, BODY, ball_of(task).X_BS.translation, "closed-loop study")
    rows, state, force = [], sim.state, 0.0
    for tick in range(round(seconds * rate_Hz)):
        sim.apply(torque=law.update(tick * task.tick_s, state.q, state.u, force))
        sim.step()
        state = sim.state
        force = state.contacts[0].force if state.contacts else 0.0
        rate = float(tip.at_rest(state.q)[1][2] @ state.u)
        rows.append(_row(sim.time, path, tip, state.q, state.u, force, sim.gaps[0], rate))
    return _trace(rows)


def run(way: str, seconds: float) -> Trace:
    """The task one way."""
    return run_embedded(seconds) if way == EMBEDDED else run_kkt(seconds, ON if way == STABILISED else OFF)


def _row(
    time: float, path: Path, tip: Tip, q: np.ndarray, u: np.ndarray, force: float, error: float, rate: float
) -> tuple[float, ...]:
    r, J = tip.at_rest(q)
    return (time, *r, *path(time), float(np.linalg.norm(J @ u)), force, error, rate)


def _trace(rows: list[tuple[float, ...]]) -> Trace:
    a = np.array(rows)
    return Trace(a[:, 0], a[:, 1:4], a[:, 4:7], a[:, 7], a[:, 8], a[:, 9], a[:, 10])


HARDER: dict[str, tuple[float, float, Method, Method]] = {  # [Hz], [m/s], stabilised, not stabilised
    "RK4, 1000 Hz, 0.015 m/s": (1000.0, SPEED, ON, OFF),
    "RK4, 1000 Hz, 0.015 m/s, 10 ms": (1000.0, SPEED, SLOWER_ON, OFF),
    "RK4, 1000 Hz, 0.15 m/s": (1000.0, 10.0 * SPEED, ON, OFF),
    "RK4, 500 Hz, 0.15 m/s": (500.0, 10.0 * SPEED, ON, OFF),
    "Euler, 1000 Hz, 0.015 m/s": (1000.0, SPEED, EULER_ON, EULER_OFF),
    "Euler, 1000 Hz, 0.15 m/s": (1000.0, 10.0 * SPEED, EULER_ON, EULER_OFF),
}


def harder(name: str, seconds: float) -> dict[str, float]:
    """Loop error [m] of the two KKTs when the motion is faster, the cycle longer or the integrator poorer."""
    rate_Hz, speed, on, off = HARDER[name]
    found = {}
    for key, method in (("stabilised_m", on), ("not_stabilised_m", off)):
        found[key] = float(np.max(np.abs(run_kkt(seconds, method, rate_Hz, speed).error)))
    return found
