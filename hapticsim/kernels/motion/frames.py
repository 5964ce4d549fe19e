"""Frames and terms of the equations of motion in ws: whoever writes them here also says what they are of.

Behind the frames of bodies are those in which a coordinate is a place: its joint has stops.

A tick in contact needs its frames at its end, and the next one all terms at the same place.  So it evaluates
the terms, and the next tick takes them over: ws.known_q, ws.known_u and ws.known_qdot say what they are of.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.foreign import kane_at, kinematics_at
from hapticsim.kernels.machine_code.jit import inlined, kernel


@kernel
def place_stops(plan, ws, q, u):
    """Frames and motions of the points that stand for coordinates, on their z axes (model/stops.py)."""
    for i in range(plan.stop_q.size):
        f, r = plan.stop_frame + i, plan.stop_u[i]
        X = ws.X[f]
        for j in range(12):
            X[j] = 0.0
        X[0] = X[4] = X[8] = 1.0
        X[11] = q[plan.stop_q[i]]
        for j in range(6):
            ws.vel[f, j] = ws.acc[f, j] = ws.V[f, r, j] = 0.0
        ws.vel[f, 5] = u[r]
        ws.V[f, r, 5] = 1.0


@inlined
def place_frames(plan, ws, q, u, qdot):
    """Frames and motions of the bodies at (q, u), and the rate of the coordinates there."""
    ws.known_terms[0] = 0
    kinematics_at(plan.kinematics)(q, u, qdot, ws.X, ws.V, ws.vel, ws.acc)
    place_stops(plan, ws, q, u)


@inlined
def place_frames_and_keep_terms(plan, ws, q, u, qdot):
    """The same, with M and h, which ``find_terms`` at the same place takes over."""
    kane_at(plan.kane)(q, u, qdot, ws.M, ws.h, ws.X, ws.V, ws.vel, ws.acc)
    place_stops(plan, ws, q, u)
    for i in range(q.size):
        ws.known_q[i] = q[i]
        ws.known_qdot[i] = qdot[i]
    for r in range(u.size):
        ws.known_u[r] = u[r]
    ws.known_terms[0] = 1


@inlined
def find_terms(plan, ws, q, u, qdot):
    """M, h, frames and qdot at (q, u).  Whoever changes M or h afterwards has them for himself."""
    if ws.known_terms[0] == 1 and _are_of(ws, q, u):
        for i in range(q.size):
            qdot[i] = ws.known_qdot[i]
    else:
        kane_at(plan.kane)(q, u, qdot, ws.M, ws.h, ws.X, ws.V, ws.vel, ws.acc)
        place_stops(plan, ws, q, u)
    ws.known_terms[0] = 0


@inlined
def _are_of(ws, q, u):
    """Whether the terms that were kept are those at (q, u)."""
    same = True
    for i in range(q.size):
        same = same and q[i] == ws.known_q[i]
    for r in range(u.size):
        same = same and u[r] == ws.known_u[r]
    return same
