"""Islands: trees that rows join.  Bodies of different islands have nothing to do with one another.

Their equations are solved one by one, so that a tick costs what touches and not what exists, as in Open
Dynamics Engine and Bullet.
State.order holds the dependent speeds of all islands first, island after island, then the independent ones in
the same order.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import kernel


@kernel
def join_trees(plan, of, rows, m):
    """Write to ``of`` the island of each tree, joined by the first m of ``rows``; return their number.

    Islands are numbered by their first trees.
    """
    trees = plan.tree_first.size
    for t in range(trees):
        of[t] = t
    for i in range(m):
        a, b = plan.row_tree_a[rows[i]], plan.row_tree_b[rows[i]]
        if a >= 0 and b >= 0 and a != b:
            while of[a] != a:
                a = of[a]
            while of[b] != b:
                b = of[b]
            of[max(a, b)] = min(a, b)
    count = 0
    for t in range(trees):  # the tree that another one goes by stands before it
        if of[t] == t:
            of[t] = count
            count += 1
        else:
            of[t] = of[of[t]]
    return count


@kernel
def island_of_row(plan, ws, i):
    """The island of the imposed row i."""
    a, b = plan.row_tree_a[ws.rows[i]], plan.row_tree_b[ws.rows[i]]
    return ws.island_of[max(a, b, 0)]


@kernel
def place_rows(plan, ws, m, count):
    """Write to ws.ordered_rows the m imposed rows island by island, and where each begins."""
    start = ws.island_row
    for b in range(count + 1):
        start[b] = 0
    for i in range(m):
        start[island_of_row(plan, ws, i) + 1] += 1
    for b in range(count):
        start[b + 1] += start[b]
    for i in range(m):
        b = island_of_row(plan, ws, i)
        ws.ordered_rows[start[b]] = i
        start[b] += 1
    for b in range(count, 0, -1):
        start[b] = start[b - 1]
    start[0] = 0


@kernel
def count_speeds(plan, ws, order, first, end, start, count):
    """Write to start where the speeds order[first:end] of each island begin.

    Returns False where they do not stand island by island.
    """
    for b in range(count + 1):
        start[b] = 0
    start[0] = first
    last = 0
    for i in range(first, end):
        b = ws.island_of[plan.tree_of_speed[order[i]]]
        if b < last:
            return False
        last = b
        start[b + 1] += 1
    for b in range(count):
        start[b + 1] += start[b]
    return True


@kernel
def span_islands(plan, ws, count):
    """Write between which speeds those of each island stand."""
    for b in range(count):
        ws.island_first[b], ws.island_end[b] = ws.u0.size, 0
    for t in range(plan.tree_first.size):
        b = ws.island_of[t]
        ws.island_first[b] = min(ws.island_first[b], plan.tree_first[t])
        ws.island_end[b] = max(ws.island_end[b], plan.tree_end[t])


@kernel
def take_as_one(ws, m, r, n):
    """Everything as one island: m rows of rank r in n speeds."""
    ws.islands[0] = 1
    ws.island_row[0], ws.island_dependent[0], ws.island_free[0] = 0, 0, r
    ws.island_row[1], ws.island_dependent[1], ws.island_free[1] = m, r, n
    ws.island_first[0], ws.island_end[0] = 0, n
    for i in range(m):
        ws.ordered_rows[i] = i


@kernel
def find_islands(plan, state, ws, m):
    """Write the islands that the m rows of ws.rows make, with the speeds that were chosen for them.

    Where the choice was made for other rows all is one island, which is as right and takes longer.
    """
    r, n = state.rank[0], state.order.size
    if plan.tree_first.size <= 1 or r == 0:
        take_as_one(ws, m, r, n)
        return
    count = join_trees(plan, ws.island_of, ws.rows, m)
    place_rows(plan, ws, m, count)
    fits = count_speeds(plan, ws, state.order, 0, r, ws.island_dependent, count)
    fits = fits and count_speeds(plan, ws, state.order, r, n, ws.island_free, count)
    for b in range(count):
        rows = ws.island_row[b + 1] - ws.island_row[b]
        rank = ws.island_dependent[b + 1] - ws.island_dependent[b]
        if rank > rows or (r == m and rank < rows):
            fits = False
    if fits:
        ws.islands[0] = count
        span_islands(plan, ws, count)
    else:
        take_as_one(ws, m, r, n)
