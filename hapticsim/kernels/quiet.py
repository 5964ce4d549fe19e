"""Quiet islands: what rests is evaluated once in a piece, and not in all stages of its step.

Where nothing about an island moves by more than rounding within a tick, all stages of the Runge-Kutta method
say what its first one says: its rows, accelerations and forces stay as they are.  Nothing is held still for
that: what little it is accelerated it goes on with, and the next tick looks at it anew.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import SLIPPING

ROUNDING = 1e-14  # [m] or [rad] by which what is quiet moves within a tick, at most


@kernel
def find_quiet(plan, ws, m):
    """Write to ws.quiet which islands are quiet in the piece that begins at ws.u0 with the accelerations
    ws.du[0] and m rows, and how many to ws.quiets; for a step of the classical method.

    The tree of the handle never is, nor anything where rows move with time or friction slips.
    """
    ws.quiets[0] = 0
    if plan.solve_islands == 0 or m == 0 or ws.islands[0] < 2:
        return
    if plan.driven == 1 or ws.counts[SLIPPING] > 0:
        return
    for b in range(ws.islands[0]):
        ws.quiet[b] = 1
    if plan.handle_frame >= 0:
        r = plan.frame_first[plan.handle_frame]
        ws.quiet[ws.island_of[plan.tree_of_speed[r]]] = 0
    h = plan.tick_s
    for t in range(plan.tree_first.size):
        b = ws.island_of[t]
        if ws.quiet[b] == 1:
            for r in range(plan.tree_first[t], plan.tree_end[t]):
                if not h * abs(ws.u0[r]) + h * h * abs(ws.du[0, r]) <= ROUNDING:
                    ws.quiet[b] = 0
    for b in range(ws.islands[0]):
        ws.quiets[0] += ws.quiet[b]


@inlined
def is_quiet_island(ws, b):
    """Whether nothing about island b changes in this piece."""
    return ws.quiets[0] > 0 and ws.quiet[b] == 1


@inlined
def is_quiet(plan, ws, k):
    """Whether nothing about what row k is about changes in this piece."""
    if ws.quiets[0] == 0:
        return False
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    return (a < 0 or ws.quiet[ws.island_of[a]] == 1) and (b < 0 or ws.quiet[ws.island_of[b]] == 1)
