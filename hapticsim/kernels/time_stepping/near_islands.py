"""The near contacts of a time step, island by island.

All near contacts join trees, also those without a push: what one island is given changes nothing of another.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.solve.islands import join_trees


@kernel
def order_near(plan, ws, n):
    """Write the first n near contacts island by island to ws.near_order, and the trees to ws.tree_order.

    Returns the number of islands, of which some have no contact.
    """
    count = join_trees(plan, ws.island_of, ws.near, n)
    for b in range(count + 1):
        ws.near_start[b] = ws.tree_start[b] = 0
    for i in range(n):
        ws.near_start[island_of_near(plan, ws, i) + 1] += 1
    for t in range(plan.tree_first.size):
        ws.tree_start[ws.island_of[t] + 1] += 1
    for b in range(count):
        ws.near_start[b + 1] += ws.near_start[b]
        ws.tree_start[b + 1] += ws.tree_start[b]
    for i in range(n):
        put_next(ws.near_order, ws.near_start, island_of_near(plan, ws, i), i)
    for t in range(plan.tree_first.size):
        put_next(ws.tree_order, ws.tree_start, ws.island_of[t], t)
    for b in range(count, 0, -1):  # each start has come to the next
        ws.near_start[b], ws.tree_start[b] = ws.near_start[b - 1], ws.tree_start[b - 1]
    ws.near_start[0] = ws.tree_start[0] = 0
    return count


@inlined
def put_next(order, start, b, i):
    """Put i behind what is there of island b."""
    order[start[b]] = i
    start[b] += 1


@inlined
def island_of_near(plan, ws, i):
    """The island of the near contact i."""
    k = ws.near[i]
    return ws.island_of[max(plan.row_tree_a[k], plan.row_tree_b[k])]
