"""Pairs of solids with more features near than a time step has places for: ws.crowded.

The features that are nearest as the tick begins have the places.  A face with many corners that turns within
the tick may meet the other solid with others: where both come into one another and no place says so, those
get the free places that are nearest then, and impulses are found anew.
"""

from __future__ import annotations

from hapticsim.codes import ON_HULLS
from hapticsim.kernels.events.inside import GAP_DEEP
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.kernels.rows.row_table import HELD
from hapticsim.kernels.units import gap, put_features_in_places

COMES_IN = 1e-6  # [m] solids that come deeper in a tick may get other features
UNSEEN = 5e-4  # [m] what comes deeper by its way all the same goes a part of it: nothing moves it out
SEEN = 0.5  # of the depth of both, at least, that of the deepest features has to be


@kernel
def depth_beyond(plan, state, ws, i, more):
    """How deep [m] the solids of the crowded pair i are in one another at the frames in ws, if deeper than as
    the tick began by ``more`` [m]; else 0.  Of boxes and capsules 0."""
    first, least = ws.crowded[i], ws.crowded_depth[i] + more
    if plan.surface_kind[first] != ON_HULLS or plan.row_length[first] > 0.0:
        return 0.0
    depth = put_features_in_places(plan, state, ws, first, -least)
    return depth if depth > least else 0.0


@kernel
def is_deeper(plan, state, ws, i):
    """Whether the solids of the crowded pair i are deep in one another, and deeper than they began."""
    return depth_beyond(plan, state, ws, i, UNSEEN) > 0.0


@kernel
def comes_in_unseen(plan, state, ws, i):
    """Whether the solids of the crowded pair i come deeper in one another, and the features in its places are
    much less deep."""
    first, depth = ws.crowded[i], depth_beyond(plan, state, ws, i, COMES_IN)
    if not 0.0 < depth <= GAP_DEEP:
        return False
    for k in range(first, first + plan.edge_places[first]):
        if gap(plan, state, k, ws.X) < -SEEN * depth:
            return False
    return True


@kernel
def put_what_comes_in(plan, state, out, ws):
    """Give the free places of crowded pairs that come in unseen by the frames in ws the features that are
    nearest there.

    The frames become those of (ws.q0, ws.u0), with the gaps of these places there in out.  Returns whether
    there were any.
    """
    found = False
    for i in range(ws.crowded_pairs[0]):
        first = ws.crowded[i]
        if comes_in_unseen(plan, state, ws, i):
            put_features_in_places(plan, state, ws, first, GAP_DEEP)
            found = True
    if not found:
        return False
    place_frames(plan, ws, ws.q0, ws.u0, ws.qs)
    for i in range(ws.crowded_pairs[0]):
        first = ws.crowded[i]
        for k in range(first, first + plan.edge_places[first]):
            if state.mode[k] != HELD:
                state.depth[k] = 0.0
                out.gap[k] = gap(plan, state, k, ws.X)
    return True
