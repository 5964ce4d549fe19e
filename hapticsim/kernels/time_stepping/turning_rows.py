"""How much the rates along near contacts grow because their rows turn within a time step.

A part that turns on an edge, or an arm that swings over the floor, would else come in by half the square of
its angle in every tick.  The second derivative of the gap says it where the row changes slowly, and the gap
at the end of the free motion says it of the whole tick: near an edge or between lines that are nearly
parallel the first means nothing.  Where both agree in sign the smaller one is taken, else none but
for what turns in deep.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.machine_code.part import from_row
from hapticsim.kernels.rows.row_table import HELD
from hapticsim.kernels.time_stepping.near_contacts import rate_along, second_tree
from hapticsim.kernels.time_stepping.turned_axes import bend_of_axes
from hapticsim.kernels.units import gap

RATE_STRIKE = 1e-4  # [m/s] what closes faster strikes; slower, both ways of moving are 0.1 um apart
LEAST_TURNING = 1e-6  # [m/s] less is 1 nm a tick
DEEP = 1e-4  # [m] what would turn in so deep is believed by its gap alone
MOST_TURNING = 10.0  # [m/s] a row that changes faster says nothing of the end of the tick


@kernel
def find_turning(plan, state, ws, n):
    """Write to ws.near_turning how much the rate [m/s] along each of the n near contacts grows, and to
    ws.near_least the least rate that each must have.

    Expects the frames of the free motion in ws, and ws.free_u.  Turning is left out of what strikes and of
    all that its trees touch, because their speeds jump.
    """
    for t in range(plan.tree_first.size):
        ws.jumps[t] = 0
    for i in range(n):
        ws.near_least[i] = -max(ws.near_gap[i], 0.0) / plan.tick_s
        ws.near_turning[i] = turning_of_row(plan, state, ws, i)
        if closes_fast(ws, i) and rate_along(ws, i, ws.free_u) < ws.near_least[i] - RATE_STRIKE:
            mark_jump(plan, ws, ws.near[i])
    for i in range(n):
        k, grows = ws.near[i], ws.near_turning[i]
        if grows == 0.0 or jumps(plan, ws, k):
            continue
        outside = grows > 0.0 and state.mode[k] != HELD  # it has to be so at the end, too
        ws.near_least[i] -= 0.5 * grows if outside else grows


@kernel
def turning_of_row(plan, state, ws, i):
    """How much the rate [m/s] along the near contact i grows by the turning of its row."""
    k, half = ws.near[i], ws.near_J.shape[1] // 2
    bend = ws.near_bend[i] - bend_of_axes(plan, ws, ws.near_J[i], plan.row_tree_a[k], ws.u0)
    bend -= bend_of_axes(plan, ws, from_row(ws.near_J[i], half), second_tree(plan, k), ws.u0)
    grows = plan.tick_s * bend
    if abs(grows) < LEAST_TURNING:
        return 0.0
    end = gap(plan, state, k, ws.X)
    way = end - ws.near_gap[i]
    found = 2.0 * way / plan.tick_s - rate_along(ws, i, ws.u0) - rate_along(ws, i, ws.free_u)
    if found < 0.0 and end < -DEEP:
        return max(found, -MOST_TURNING)
    if grows * found <= 0.0 or abs(grows) > MOST_TURNING:
        return 0.0
    return grows if abs(grows) < abs(found) else found


@kernel
def closes_fast(ws, i):
    """Whether the near contact i closes faster than the turning of its row explains."""
    return rate_along(ws, i, ws.u0) < min(ws.near_turning[i], 0.0) - RATE_STRIKE


@kernel
def mark_jump(plan, ws, k):
    """Note that the trees which candidate k is about may jump."""
    for side in range(2):
        t = plan.row_tree_a[k] if side == 0 else plan.row_tree_b[k]
        if t >= 0:
            ws.jumps[t] = 1


@kernel
def jumps(plan, ws, k):
    """Whether a tree that candidate k is about may jump."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    return (a >= 0 and ws.jumps[a] == 1) or (b >= 0 and ws.jumps[b] == 1)
