"""What is found inside of what: held where it is, let through, and forgotten once it is outside.

A contact closes where its gap is zero, and stays there.  A candidate that is found deeper (a tick ended
without looking, a start leaves a fraction of a millimetre, a corner came over an edge that nothing sees) is
held at the depth at which it was found, and never thrown out: a surface gives no energy.  Contacts that end
a chatter may be held while they are open, by at most GAP_CAPTURE (chatter.py).  The depth is
forgotten once it is outside, or where an impact loses more than it takes to put it onto its surface and
nothing but gravity acts, and closing takes no more (tick/piece_start.py).

A corner that comes into a box where no face can hold it is let through, and an event says so: it came in
beside the body that it belongs to, over edges that crossed unseen.  So is what all rows are too few for.
Its gap jumps there; within a tick it is overlooked (ws.overlooked), and decided about when the next begins.
"""

from __future__ import annotations

import math

from hapticsim.codes import (
    CROWDED_TICKS,
    EVERY_TICK,
    ON_CAPSULE,
    ON_EDGES,
    ON_HULLS,
    ON_RIM,
    ON_SUPPORT,
    Event,
    Fault,
)
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR
from hapticsim.kernels.geometry.contact import (
    centre_in_box,
    face_of,
    has_ends,
    is_corner_on_box,
    past_side,
    roundness,
    witness,
)
from hapticsim.kernels.geometry.corner import EDGE, FACES, LEVEL, height_over, past_edge
from hapticsim.kernels.geometry.hull_contact import hulls_place
from hapticsim.kernels.geometry.mesh.contact import mesh_witness
from hapticsim.kernels.geometry.mesh.search import MESH_FEATURE, NO_FEATURE, is_on_mesh, is_waiting
from hapticsim.kernels.haptics.safety import take_force_away
from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.rows.row_table import FREE
from hapticsim.kernels.solve.speed_selection import record
from hapticsim.kernels.units import gap, gap_of_free, nearby, where

PASSED, NO_ROOM = int(Event.THROUGH), int(Fault.ROWS_FULL)
THROUGH, LEFT_OUT = (
    FACES + 1,
    FACES + 2,
)  # State.face of what is inside and not held: nothing can, no row is left
GAP_HELD = 1e-9  # [m] what is deeper than this when it is found is held there; crossings are found to 5e-11
GAP_HIT = 1e-10  # [m] what no face can hold is let through from here on
GAP_DEEP = 5e-3  # [m] what is found deeper came in where nothing is seen, and is let through
GAP_CAPTURE = 1e-5  # [m] what is open by no more may be held when contacts chatter: a box rocking to rest was
# 4e-6 off at 16 events
GAP_CLOSE = 1e-4  # [m] what is no deeper may be put onto its surface again by an impact that pays for it


def find_place(plan, state, k, X):
    """The face that holds or would hold a corner, its distance from there [m], how far past the edge it is.

    Of a sphere, and on a plane: 0, the gap and a number below zero; on a side alone how far past its end.
    """
    if plan.surface_kind[k] == ON_HULLS:
        phi, past = hulls_place(plan, state, k, X)
        return state.face[k], phi, past
    if has_ends(plan, k):
        face = state.face[k] if takes_edges(plan, k) else 0
        return face, witness(plan, state, k, X)[0], past_side(plan, state, k, X)
    if is_on_mesh(plan, k):
        phi, _, _, _, _, _, _, feature = mesh_witness(plan, state, k, X)
        return (MESH_FEATURE + feature, phi, -1.0) if feature != NO_FEATURE else (0, phi, 1.0)
    if not is_corner_on_box(plan, k):
        return 0, witness(plan, state, k, X)[0], -1.0
    face = face_of(plan, state, k, X)
    x, y, z = centre_in_box(plan, k, X)
    half = plan.surface_half[k]
    if face == 0:
        return 0, witness(plan, state, k, X)[0], 1.0
    return (
        face,
        height_over(face, x, y, z, half[0], half[1], half[2]),
        past_edge(face, x, y, z, half[0], half[1], half[2]),
    )


@inlined
def takes_edges(plan, k):
    """True when candidate k is a place for edges that cross (edge_places.py) or hulls (hull_places.py)."""
    return ON_EDGES <= plan.surface_kind[k] <= ON_HULLS


@inlined
def has_no_gap(plan, state, k):
    """True for what is inside and not held, for a place without edges, and one on a mesh that waits."""
    face = state.face[k]
    if is_on_mesh(plan, k) and face == 0:
        return is_waiting(plan, state, k)
    return (FACES < face < EDGE_PAIR) or (face == 0 and takes_edges(plan, k))


@inlined
def is_overlooked(plan, ws, k):
    """True for what is overlooked until the tick ends; where every tick is a time step nothing is."""
    return plan.steps != EVERY_TICK and ws.overlooked[k] == 1


@inlined
def may_jump(plan, k):
    """True where the gap of candidate k may be below zero at once: of corners and edges, from the side."""
    return takes_edges(plan, k) or is_corner_on_box(plan, k)


@inlined
def deepest_held(plan, k):
    """Depth [m] down to which candidate k is held: of round shapes not past the middle of both.

    Edges that come to cross deeper within a tick met elsewhere before: the next tick looks at them anew.
    """
    if takes_edges(plan, k):
        return LEVEL
    if plan.surface_kind[k] < ON_CAPSULE or ON_RIM <= plan.surface_kind[k] <= ON_SUPPORT:
        return GAP_DEEP
    return min(GAP_DEEP, 0.5 * (plan.row_length[k] + roundness(plan, k)))


@kernel
def where_of_free(plan, state, ws, k):
    """``find_place`` of a free candidate at the frames in ws, on a mesh quicker."""
    if not is_on_mesh(plan, k):
        return where(plan, state, k, ws.X)
    feature, phi = nearby(plan, state, ws, k)
    return (MESH_FEATURE + feature, phi, -1.0) if feature != NO_FEATURE else (0, phi, 1.0)


@inlined
def is_gap_height(plan, k):
    """True where the gap of a free candidate that is not past an end is its height over what can hold it: of
    features and on a mesh."""
    return takes_edges(plan, k) or is_on_mesh(plan, k)


@kernel
def is_near(plan, state, ws, k, reach):
    """True when free candidate k is at most reach [m] over what can hold it, and not too deep to be held."""
    if has_no_gap(plan, state, k):
        return False
    if not is_gap_height(plan, k) and gap_of_free(plan, state, ws, k) > reach + LEVEL:
        return False
    _, height, past = where_of_free(plan, state, ws, k)
    return is_place_near(plan, state, k, height, past, reach)


@kernel
def is_place_near(plan, state, k, height, past, reach):
    """The same of one whose gap is no more than ``reach``, so high over what can hold it, and so far past its
    edge [m]."""
    most = 0.0 if takes_edges(plan, k) else EDGE
    return past <= most and -deepest_held(plan, k) <= height - state.depth[k] <= reach


@kernel
def hold_here(plan, state, k, X):
    """Choose the face that holds candidate k from now on, and where: on its surface, or as deep as it is.

    What is found deeper than where it was held before is held there: a tick may have ended without looking.
    """
    face, height, _ = where(plan, state, k, X)
    hold_at(state, k, face, height)


@kernel
def hold_at(state, k, face, height):
    """The same where face and distance from there [m] are known."""
    if height < state.depth[k] - GAP_HELD:
        state.depth[k] = height
    state.face[k] = face


@kernel
def hold_open(plan, state, k, X):
    """Hold contact k where it is, also where it is still open.

    Corners that rest a micrometre apart make rows that are nearly dependent: to close them all would move
    bodies much further than the gaps are wide.
    """
    open_by = gap(plan, state, k, X)
    if open_by > GAP_HIT:
        state.depth[k] += open_by


@kernel
def forget_feature(plan, state, k):
    """A place on a mesh that is let go looks for the next feature from now on."""
    if is_on_mesh(plan, k) and state.face[k] >= MESH_FEATURE:
        state.face[k], state.depth[k] = 0, 0.0


@kernel
def work_to_close(plan, state, ws, k, force):
    """Work [J] that puts candidate k onto its surface against the force [N] that holds it; inf from deep."""
    _, height, _ = where_of_free(plan, state, ws, k)
    if height >= 0.0:
        return 0.0
    return -height * force if height >= -GAP_CLOSE else math.inf


@kernel
def sort_one(plan, state, ws, out, k, full, t):
    """Decide about the free candidate k at the frames in ws: outside, inside where it is held, or through."""
    if state.face[k] != 0 or state.depth[k] != 0.0:
        _, height, past = where(plan, state, k, ws.X)
        if state.face[k] > FACES:
            outside = witness(plan, state, k, ws.X)[0] > EDGE
        else:
            outside = height >= -GAP_HELD or past > EDGE
        if not outside:
            return
        state.face[k], state.depth[k] = 0, 0.0
    if gap(plan, state, k, ws.X) < -GAP_HIT:
        if not is_near(plan, state, ws, k, 0.0):
            state.face[k] = LEFT_OUT if full else THROUGH
            record(out, PASSED, k, -witness(plan, state, k, ws.X)[0], t)
        elif gap(plan, state, k, ws.X) < -GAP_HELD:
            hold_here(plan, state, k, ws.X)
            if is_on_mesh(plan, k):  # a place that is free looks for its feature, down to this depth
                state.face[k] = 0


@kernel
def overlook(plan, state, ws, worst):
    """Overlook for the rest of the tick corners that ws.guard1 shows inside, and no face can hold.

    worst   the deepest of all, whose crossing was not found: features of two solids that came over a border
            are overlooked, too, for what touches first may be another pair of them.
    Expects the frames of ws.guard1.  Returns True when there was something.
    """
    found = False
    for k in range(plan.contacts):
        inside = state.mode[k] == FREE and ws.overlooked[k] == 0 and ws.guard1[k] < -GAP_HIT
        jumped = k == worst and plan.surface_kind[k] == ON_HULLS
        inside = inside and (is_corner_on_box(plan, k) or jumped or ws.guard1[k] < -GAP_DEEP)
        if inside and may_jump(plan, k) and not is_near(plan, state, ws, k, 0.0):
            ws.overlooked[k] = 1
            found = True
    return found


@kernel
def overlook_unheld(plan, state, ws, k):
    """Overlook for the rest of the tick a corner that closed, at the frames in ws, where no face holds it."""
    free = state.mode[k] == FREE and (state.face[k] == 0 or takes_edges(plan, k))
    if free and may_jump(plan, k) and not is_near(plan, state, ws, k, GAP_HIT):
        ws.overlooked[k] = 1


@kernel
def look_inside(plan, state, ws, out, m, k):
    """At the start of a tick, m rows imposed: decide about the free candidate k.

    There is no force while one is left out for want of rows.
    """
    if not takes_edges(plan, k):
        sort_one(plan, state, ws, out, k, m == ws.rows.size, 0.0)
    if state.face[k] == LEFT_OUT and plan.steps == CROWDED_TICKS:  # the tick becomes a time step
        ws.left_out[0] = 1
    elif state.face[k] == LEFT_OUT:
        take_force_away(state, NO_ROOM)


@kernel
def sort_inside(plan, state, ws, out, t):
    """Between events: decide about the free candidates that ws.guard0 shows inside, and write theirs anew."""
    for k in range(plan.contacts):
        if takes_edges(plan, k):
            continue
        if state.mode[k] == FREE and (state.face[k] != 0 or ws.guard0[k] < -GAP_HIT):
            sort_one(plan, state, ws, out, k, False, t)
            if state.face[k] <= FACES and ws.guard0[k] != math.inf:
                ws.guard0[k] = gap(plan, state, k, ws.X)
            elif state.face[k] > FACES:
                ws.guard0[k] = math.inf
