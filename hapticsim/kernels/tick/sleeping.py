"""Bodies that rest fall asleep: they do not move, and nothing is asked of their contacts.

A tree may sleep that touches something and whose speeds were small for long enough (State.still).  It sleeps
in a tick where all that is near to it may sleep, too, and so on from tree to tree: what moves wakes what it
comes near to, and all that lies together with it, before it touches.  What is so fast that it comes near and
touches within one tick wakes as it touches (``wake_touched``).

Within a tick the contacts between trees that sleep, or of these with the world, are neither free nor held
(``ASLEEP_FREE``, ``ASLEEP_HELD``), so that no part of a tick takes them up.  Between ticks they are what they
were before.
"""

from __future__ import annotations

from hapticsim.codes import EVERY_TICK
from hapticsim.kernels.events.inside import takes_edges
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.rows.row_table import ASLEEP_FREE, ASLEEP_HELD, FREE, HELD, put_modes_back
from hapticsim.kernels.units import find_far_pairs, gap


def put_to_sleep(plan, state, inp, ws):
    """Write which trees sleep in the tick that begins at (ws.q0, ws.u0) to ws.asleep, and how many to
    ws.sleepers; the speeds of these become 0 and their contacts sleep."""
    may = 0
    for t in range(plan.tree_first.size):
        for r in range(plan.tree_first[t], plan.tree_end[t]):
            if inp.torque[r] != 0.0:
                state.still[t] = 0
        ws.asleep[t] = int(state.still[t] >= plan.rest_ticks)
        may += ws.asleep[t]
    ws.sleepers[0] = 0
    if may == 0:
        return
    place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
    find_far_pairs(plan, ws, 1)
    wake_what_is_near(plan, ws)
    let_contacts_sleep(plan, state, ws)


def sleep_on(plan, state, inp, ws):
    """``put_to_sleep`` for a look between ticks: what slept in the last one, for whose rows speeds are
    chosen."""
    for t in range(plan.tree_first.size):
        ws.asleep[t] = int(state.still[t] > plan.rest_ticks)
    let_contacts_sleep(plan, state, ws)


def sleep_again(plan, state, inp, ws):
    """The same within a tick, for what still sleeps, where contacts are what they were between ticks."""
    let_contacts_sleep(plan, state, ws)


@kernel
def let_contacts_sleep(plan, state, ws):
    """Let the contacts of the trees that sleep sleep, too; count these trees, and their speeds become 0."""
    ws.sleepers[0] = 0
    for t in range(plan.tree_first.size):
        if ws.asleep[t] == 1:
            ws.sleepers[0] += 1
            for r in range(plan.tree_first[t], plan.tree_end[t]):
                ws.u0[r] = 0.0
    for k in range(plan.contacts):
        if sleeps(plan, ws, k):
            state.mode[k] = ASLEEP_HELD if state.mode[k] == HELD else ASLEEP_FREE


@kernel
def wake_what_is_near(plan, ws):
    """Of trees that are near to one another, from tree to tree, none sleeps where one is awake."""
    of, awake = ws.island_of, ws.touches
    for t in range(plan.tree_first.size):
        of[t], awake[t] = t, 0
    for p in range(plan.pair_a.size):
        k = plan.pair_first[p]
        a, b = plan.row_tree_a[k], plan.row_tree_b[k]
        if ws.apart[k] == 0.0 and a >= 0 and b >= 0:
            a, b = first_of(of, a), first_of(of, b)
            of[max(a, b)] = min(a, b)
    for t in range(plan.tree_first.size):
        of[t] = first_of(of, t)
        if ws.asleep[t] == 0:
            awake[of[t]] = 1
    for t in range(plan.tree_first.size):
        if awake[of[t]] == 1:
            ws.asleep[t] = 0


@kernel
def first_of(of, t):
    """The tree by which all that is joined to tree t goes."""
    while of[t] != t:
        t = of[t]
    return t


@kernel
def wake_both(plan, ws, k):
    """Wake the tree of candidate k that sleeps where the other is awake; True where one was woken."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    if a < 0 or b < 0 or ws.asleep[a] == ws.asleep[b]:
        return False
    ws.asleep[a] = ws.asleep[b] = 0
    ws.sleepers[0] -= 1
    return True


@kernel
def sleeps(plan, ws, k):
    """Whether candidate k is about trees that sleep, or one of these and the world."""
    a, b = plan.row_tree_a[k], plan.row_tree_b[k]
    return (a < 0 or ws.asleep[a] == 1) and (b < 0 or ws.asleep[b] == 1)


def hold_still(plan, ws, udot):
    """What sleeps is not accelerated: udot (nu,) becomes 0 there, whatever a stage found."""
    if ws.sleepers[0] > 0:
        for r in range(udot.size):
            if ws.asleep[plan.tree_of_speed[r]] == 1:
                udot[r] = 0.0


def wake_touched(plan, state, ws, within):
    """Wake what sleeps and is no farther from what is awake than ``within`` [m], at the frames in ws, or is
    held by it, and so on.  Returns how many trees woke."""
    before, now = ws.sleepers[0], -1
    while ws.sleepers[0] > 0 and now != ws.sleepers[0]:
        now = ws.sleepers[0]
        for p in range(plan.pair_a.size):
            begin, end = plan.pair_first[p], plan.pair_first[p + 1]
            apart = ws.apart[begin]
            for k in range(begin, end):
                if state.mode[k] == ASLEEP_HELD or (
                    state.mode[k] == FREE and is_within(plan, state, ws, k, apart, within)
                ):
                    wake_both(plan, ws, k)
        for k in range(plan.contacts):
            if state.mode[k] < FREE and not sleeps(plan, ws, k):
                state.mode[k] = HELD if state.mode[k] == ASLEEP_HELD else FREE
    return before - ws.sleepers[0]


@kernel
def is_within(plan, state, ws, k, apart, within):
    """Whether candidate k is about a place, and open by no more than ``within`` [m]; ``apart`` as in
    ws.apart."""
    if takes_edges(plan, k) and state.face[k] == 0:
        return False
    return (apart if apart > 0.0 else gap(plan, state, k, ws.X)) <= within


def count_rest(plan, state, out, ws):
    """End a tick: note for how long each tree has rested, and let contacts be free or held again."""
    for t in range(plan.tree_first.size):
        ws.touches[t] = 0
    for k in range(plan.contacts):
        if state.mode[k] == HELD:
            if plan.row_tree_a[k] >= 0:
                ws.touches[plan.row_tree_a[k]] = 1
            if plan.row_tree_b[k] >= 0:
                ws.touches[plan.row_tree_b[k]] = 1
            if plan.steps != EVERY_TICK:
                state.impulse[k] = plan.tick_s * max(out.force[k], 0.0)
    if ws.sleepers[0] == plan.tree_first.size:
        ws.slept[0] = state.tick[0]
    for t in range(plan.tree_first.size):
        if ws.asleep[t] == 1 and ws.sleepers[0] > 0:
            state.still[t] = plan.rest_ticks + 1
        elif state.still[t] > plan.rest_ticks:  # it was woken
            state.still[t] = 0
        elif ws.touches[t] == 1 and is_slow(plan, state, t):
            state.still[t] = min(state.still[t] + 1, plan.rest_ticks)
        else:
            state.still[t] = 0
    put_modes_back(plan, state)


@kernel
def is_slow(plan, state, t):
    """Whether all speeds of tree t are small; those of one that may not sleep never are."""
    for r in range(plan.tree_first[t], plan.tree_end[t]):
        if not abs(state.u[r]) < plan.rest_speed[r]:
            return False
    return True
