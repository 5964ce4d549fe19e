"""The large parts of a tick, each compiled once and called by address.

numba optimizes a function again inside each of its callers, so that the compile time of a deep tick grows
with the product of depth and size.  What stands here is compiled alone and called through the addresses in
the plan, at a few nanoseconds a call.
"""

from __future__ import annotations

from numba import boolean, f8, int64

from hapticsim.kernels.machine_code.foreign import callable_at
from hapticsim.kernels.machine_code.jit import inlined
from hapticsim.kernels.memory.arrays import Input, Output, Plan, State, Workspace

_vec = f8[::1]
_PLAN, _STATE, _INPUT, _OUTPUT, _WORKSPACE = (
    block._type for block in (Plan, State, Input, Output, Workspace)
)

STAGE = f8(_PLAN, _STATE, _INPUT, _WORKSPACE, _vec, _vec, f8, _vec, _vec, int64)
PIECE = boolean(_PLAN, _STATE, _INPUT, _OUTPUT, _WORKSPACE, f8, int64, int64)
CHANGE = int64(_PLAN, _STATE, _INPUT, _WORKSPACE, _OUTPUT, f8, int64)

ROWS = int64(_PLAN, _STATE, _WORKSPACE, _vec, _vec, f8, int64)
GAP = f8(_PLAN, _STATE, int64, f8[:, ::1])
CHOICE = int64(_STATE, _WORKSPACE, _OUTPUT, int64, f8)

_rows_at = callable_at(ROWS)
_gap_at = callable_at(GAP)
_piece_at = callable_at(PIECE)
_choice_at = callable_at(CHOICE)
_stage_at = callable_at(STAGE)
_change_at = callable_at(CHANGE)


@inlined
def evaluate_rows(plan, state, q, u, t, m, ws):
    """The m rows of ws.rows at the frames in ws: ``rows.row_table.write_rows``."""
    _rows_at(plan.rows)(plan, state, ws, q, u, t, m)


@inlined
def gap(plan, state, k, X):
    """Gap of candidate k [m] at the frames X: ``geometry.contact.gap_of``."""
    return _gap_at(plan.gap)(plan, state, k, X)


@inlined
def choose_speeds(plan, state, ws, out, m, t):
    """Choose independent speeds for the m rows in ws.A: ``solve.speed_selection.choose_independent``."""
    _choice_at(plan.choose)(state, ws, out, m, t)


@inlined
def stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
    """qdot and udot at (q, u) with m rows: ``motion.stage.evaluate_stage``."""
    return _stage_at(plan.stage)(plan, state, inp, ws, q, u, t, qdot, udot, m)


@inlined
def start_piece(plan, state, inp, out, ws, t, m, resolved):
    """First stage of a piece with m rows (``evaluate_piece_start``).  True where one pulls."""
    return _piece_at(plan.start_piece)(plan, state, inp, out, ws, t, m, resolved)


@inlined
def resolve(plan, state, inp, ws, out, t, leaving):
    """Decide which contacts are imposed: ``events.resolve_contacts.resolve_contacts``.  Returns the rows."""
    return _change_at(plan.resolve)(plan, state, inp, ws, out, t, leaving)


@inlined
def rest_chattering_contacts(plan, state, inp, ws, out, t):
    """End a chatter: ``events.chatter.rest_chattering``.  Returns the number of rows."""
    return _change_at(plan.rest_chattering_contacts)(plan, state, inp, ws, out, t, 0)


@inlined
def resolve_after_switch(plan, state, inp, ws, out, t):
    """Impulse, contacts and friction after a change of constraints.  Returns the rows.

    It calls ``events.switching.resolve_switched_constraints``.
    """
    return _change_at(plan.resolve_after_switch)(plan, state, inp, ws, out, t, 0)


@inlined
def activate(plan, state, inp, ws, out, t, count):
    """Impose ``count`` constraints of ws.wanted: ``events.activation.activate_constraints``.  Returns 1."""
    return _change_at(plan.activate)(plan, state, inp, ws, out, t, count)


@inlined
def dispatch_event(plan, state, inp, ws, out, fired, t):
    """Do what a guard asks for: ``events.dispatch_event.dispatch_event``.  Returns the number of rows."""
    return _change_at(plan.dispatch_event)(plan, state, inp, ws, out, t, fired)
