"""Fourth stage of a tick: pieces of motion, from one event to the next."""

from __future__ import annotations

from hapticsim.codes import CROWDED_TICKS, ON_PLANE, ONE_SIDED
from hapticsim.kernels.events.approach import longest_piece, piece_on_rims
from hapticsim.kernels.events.crossing import OVERLOOKED, advance_to_event
from hapticsim.kernels.events.guards import (
    block_of_guard,
    is_gap,
    is_of_block,
    read_guards,
    read_reported_guards,
)
from hapticsim.kernels.events.inside import overlook_unheld, sort_inside
from hapticsim.kernels.events.observe import copy
from hapticsim.kernels.geometry.contact import is_corner_on_box
from hapticsim.kernels.geometry.mesh.search import is_on_mesh
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, OVERFLOWS, PIECES, REHEARSAL
from hapticsim.kernels.motion.deformation import accept_deformation
from hapticsim.kernels.motion.energy import END, START, begin_balance, begin_piece, divide_piece
from hapticsim.kernels.motion.sliding import turns_too_fast
from hapticsim.kernels.motion.stiffness import RUNGE_KUTTA
from hapticsim.kernels.quiet import find_quiet
from hapticsim.kernels.rows.row_table import FREE, HELD, list_rows
from hapticsim.kernels.solve.speed_selection import HALTED, OVERFLOW, record
from hapticsim.kernels.tick.piece_start import LOOKING, RESOLVED
from hapticsim.kernels.units import (
    activate_by_touch,
    dispatch_event,
    find_far_pairs,
    gap,
    piece_to_border,
    put_edges_in_places,
    resolve,
    rest_chattering_contacts,
    start_piece,
    yielding_piece,
)

CHATTER_SHARE = 2e-3  # of a tick: events nearer than this to the one before are chatter when there are
CHATTERS = 4  # so many in a row, as of a body that rocks to rest between two corners
UNSEEN_DEPTH = 1e-5  # [m] by which a tick without events left may drive a shape in
UNSEEN_IN_STEP = 1e-9  # [m] the same where the tick may become a time step instead
UNSEEN_ON_MESH = 1e-9  # [m] the same on a mesh, where many ticks in a row may have none left
RATE_BACK = 1e-6  # [m/s] or [rad/s] at which a slip may end that was not looked at
VERY_OFTEN = 16  # events of one contact on a mesh in a tick
MOST_PASSED = 64  # events on meshes, and looks ahead of fast spheres, in a tick: each triangle passed is one
LEAST_SHARE = 0.01  # of a tick, and half of it has to be over before it is halted: time must not stand still


@kernel
def advance(plan, state, inp, out, ws, m):
    """Integrate to the end of the tick, with m rows imposed at its start; events are located and handled.

    False where a row is lacking, or events that what comes in still needs, and the tick may become a time
    step (crowded_tick.py).
    """
    begin_balance(plan, state, ws, ws.moved[0] == 1)
    t, handled, passed, quick = 0.0, 0, 0, 0
    reported = True
    while True:
        if ws.left_out[0] == 1 and may_step(plan, out):
            return False
        if reported:
            read_reported_guards(plan, state, out, ws, m, ws.guard0)
        else:
            read_guards(plan, state, ws.q0, ws.u0, t, ws, m, ws.guard0)
        reported = False
        sort_inside(plan, state, ws, out, t)
        remaining = plan.tick_s - t
        watching = handled < plan.max_events and passed < MOST_PASSED and out.counts[REHEARSAL] == 0
        reach = longest_piece(plan, state, ws, remaining) if watching else unwatched_piece(plan, out, t)
        reach = piece_on_rims(plan, ws, m, reach) if watching else reach
        reach = piece_to_border(plan, state, ws, reach) if watching else reach
        reach = min(reach, ws.foreseen[0]) if watching else reach
        reach = yielding_piece(plan, state, ws, reach, watching)
        if ws.method[0] == RUNGE_KUTTA:
            find_quiet(plan, ws, m)
        taken, fired = advance_to_event(plan, state, inp, out, ws, t, reach, m, watching)
        ws.quiets[0] = 0
        if plan.sticking_rows != 0 and may_step(plan, out):
            if ws.left_out[0] == 1 or turns_too_fast(plan, state, ws, taken):  # friction jams, or is stiff
                return False
        allowed = UNSEEN_IN_STEP if may_step(plan, out) else UNSEEN_DEPTH
        unseen = not watching and (pushes_in(plan, state, ws, allowed) or slips_back(plan, state, ws))
        if unseen and may_step(plan, out):
            return False
        if unseen and plan.driven == 0 and t >= 0.5 * LEAST_SHARE * plan.tick_s:  # what is driven cannot wait
            start_piece(plan, state, inp, out, ws, t, m, RESOLVED)
            ws.work[END] = ws.work[START]
            record(out, HALTED, -1, remaining, t)
            break
        if fired == OVERLOOKED or divide_piece(plan, state, ws, work_to_close(plan, state, ws, m)):
            handled += int(fired == OVERLOOKED)
            start_piece(plan, state, inp, out, ws, t, m, RESOLVED)
            continue
        out.counts[PIECES] += 1
        copy(ws.q1, ws.q0)
        copy(ws.u1, ws.u0)
        accept_deformation(ws)
        if fired < 0 and reach == remaining:
            break
        t += taken
        if fired < 0:  # something fast may touch later in the tick, or the border was a little farther
            passed += 1
            m = start_next_piece(plan, state, inp, out, ws, t, m)
            continue
        if is_on_mesh(plan, block_of_guard(state, fired)):
            passed += 1
        else:
            handled += 1
        again = fires_again(plan, state, ws, fired)
        chatter = again and (taken < CHATTER_SHARE * plan.tick_s or is_hollow(plan, state, ws, fired))
        quick = quick + 1 if chatter else 0
        chatters = handled == plan.max_events or quick == CHATTERS
        quick = 0 if chatters else quick
        m = end_piece(plan, state, inp, out, ws, fired, t, handled, chatters)
    return True


@inlined
def unwatched_piece(plan, out, t):
    """How far [s] a tick goes on from t without looking for events: at first to a hundredth of it, where it
    can be halted."""
    least = LEAST_SHARE * plan.tick_s
    first = t < 0.5 * least and out.counts[REHEARSAL] == 0 and plan.driven == 0
    return least - t if first else plan.tick_s - t


@inlined
def may_step(plan, out):
    """Whether this tick may become a time step."""
    return plan.steps == CROWDED_TICKS and out.counts[REHEARSAL] == 0


@kernel
def work_to_close(plan, state, ws, m):
    """Work [J] that the gaps are worth which a piece of m rows leaves at contacts on curved surfaces.

    Around an edge a step is off by its fifth power.  The force of a contact times its gap is the
    work of the weight that it carries, which the next projection adds to the energy or takes from it.
    Expects the frames and the row forces at the end of the piece in ws.
    """
    work = 0.0
    if plan.curved == 0:
        return work
    for i in range(ws.counts[HELD_ROWS], m):
        k = ws.rows[i]
        if plan.surface_kind[k] != ON_PLANE and not is_corner_on_box(plan, k):
            work += abs(ws.lam[i] * gap(plan, state, k, ws.X))
    return work


@kernel
def end_piece(plan, state, inp, out, ws, fired, t, handled, chatters):
    """Do what guard ``fired`` asks for, or end a chatter; start the next piece at t and return its rows."""
    was_gap = is_gap(plan, state, fired)
    if chatters and plan.sticking_rows != 0:
        ws.left_out[0] = 1  # the tick becomes a time step
        return list_rows(plan, state, ws)
    if chatters:
        m = rest_chattering_contacts(plan, state, inp, ws, out, t)
        m = activate_by_touch(plan, state, inp, ws, out, t, m)
        record(out, OVERFLOW, -1, handled, t)
        out.counts[OVERFLOWS] += 1
    else:
        m = dispatch_event(plan, state, inp, ws, out, fired, t)
    if was_gap:
        overlook_unheld(plan, state, ws, fired)
    if plan.driven == 1:  # impulses of what is driven do work
        ws.moved[0] = 1
    return start_next_piece(plan, state, inp, out, ws, t, m)


@kernel
def start_next_piece(plan, state, inp, out, ws, t, m):
    """First stage of the piece that begins at t; returns its rows."""
    if start_piece(plan, state, inp, out, ws, t, m, LOOKING):
        m = resolve(plan, state, inp, ws, out, t, 0)
        start_piece(plan, state, inp, out, ws, t, m, RESOLVED)
    find_far_pairs(plan, ws, 1)
    put_edges_in_places(plan, state, ws, out, m, 0.0)
    begin_piece(plan, ws)
    return m


@kernel
def fires_again(plan, state, ws, guard):
    """Count a guard that fired; True when one of the same contact did so before in this tick."""
    block = block_of_guard(state, guard)
    if plan.block_law[block] != ONE_SIDED:
        return False
    ws.fires[block] += 1
    return ws.fires[block] > 1


@inlined
def is_hollow(plan, state, ws, guard):
    """True for a guard of a sphere on a mesh: in a hollow it swings to rest in ever shorter times.

    One that is thrown back does not come to rest between two sides, but for what strikes very often: a
    capsule that lies down rocks on its ends, at last too slowly to be thrown back.
    """
    if guard >= plan.contacts or not is_of_block(state, guard):
        return False
    return is_on_mesh(plan, guard) and (plan.restitution[guard] == 0.0 or ws.fires[guard] > VERY_OFTEN)


@kernel
def pushes_in(plan, state, ws, allowed):
    """True when the piece just integrated drives a free candidate deeper into its surface, by ws.guard1, and
    by more than is allowed [m]."""
    for k in range(plan.contacts):
        unseen = UNSEEN_ON_MESH if is_on_mesh(plan, k) else allowed
        if state.mode[k] == FREE and ws.guard1[k] < -unseen and ws.guard1[k] < ws.guard0[k]:
            return True
    return False


@kernel
def slips_back(plan, state, ws):
    """True when the piece just integrated turned a slip round, by ws.guard1: a force with a bound, which acts
    against the slip, would drive it on."""
    if plan.bounded == 1:
        for c in range(plan.contacts, state.mode.size):
            if plan.block_bounded[c] == 1 and state.mode[c] > HELD and ws.guard1[c] < -RATE_BACK:
                return True
    return False
