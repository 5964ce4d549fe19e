"""The large parts of a tick, each compiled once and called by address.

numba optimizes a function again inside each of its callers, so that the compile time of a deep tick grows
with the product of depth and size.  What stands here is compiled alone and called through the addresses in
the plan, at a few nanoseconds a call.  What a scene has nothing for, as meshes, is not compiled for it: its
address is 0, and where every tick asks for it nothing is done.
"""

from __future__ import annotations

from numba import boolean, f8, int64, types

from hapticsim.codes import ON_MESH
from hapticsim.kernels.machine_code.foreign import callable_at
from hapticsim.kernels.machine_code.jit import inlined
from hapticsim.kernels.memory.arrays import BEGINS, RESPONDED, SLIPPING, Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.block_array import BlockArray

_vec, _mat = BlockArray(f8, 1), BlockArray(f8, 2)
_PLAN, _STATE, _INPUT, _OUTPUT, _WORKSPACE = (
    block._type for block in (Plan, State, Input, Output, Workspace)
)

FREE_STAGE = types.void(_PLAN, _STATE, _INPUT, _WORKSPACE, _vec, _vec, f8, _vec, _vec)
STAGE = f8(_PLAN, _STATE, _INPUT, _WORKSPACE, _vec, _vec, f8, _vec, _vec, int64)
PIECE = boolean(_PLAN, _STATE, _INPUT, _OUTPUT, _WORKSPACE, f8, int64, int64)
CHANGE = int64(_PLAN, _STATE, _INPUT, _WORKSPACE, _OUTPUT, f8, int64)

CONTACT_ROW = f8(_PLAN, _STATE, int64, int64, _WORKSPACE)
CONSTRAINT_ROWS = types.void(_PLAN, _STATE, _WORKSPACE, _vec, _vec, f8, int64, int64)
GAP = f8(_PLAN, _STATE, int64, _mat)
PLACE = types.Tuple((int64, f8, f8))(_PLAN, _STATE, int64, _mat)
FEATURE = int64(_PLAN, _STATE, int64, _mat, f8)
HULL_CONTACT = types.UniTuple(f8, 17)(_PLAN, _STATE, int64, _mat)
QUADRIC = types.UniTuple(f8, 7)(_PLAN, int64, _mat)
QUADRIC_ROW = f8(_PLAN, int64, int64, _WORKSPACE)
HULLS = f8(_PLAN, _STATE, _WORKSPACE, int64, f8)
AHEAD = f8(_PLAN, _STATE, _WORKSPACE, f8)
NEARBY = types.Tuple((int64, f8))(_PLAN, _STATE, _WORKSPACE, int64)
BORDER = types.Tuple((int64, f8, f8))(_PLAN, _STATE, _WORKSPACE, f8)
FOLLOW = types.void(_PLAN, _STATE, _WORKSPACE)
EDGES = types.void(_PLAN, _STATE, _WORKSPACE, _OUTPUT, int64, f8)
FAR = types.void(_PLAN, _WORKSPACE, int64)
TERMS = types.void(_PLAN, _STATE, _INPUT, _WORKSPACE, _vec, _vec, f8, _vec)
REDUNDANT = f8(_STATE, _WORKSPACE, int64, _vec)
ISLANDS = f8(_PLAN, _STATE, _WORKSPACE, int64, _vec)
FORCES = types.void(_PLAN, _STATE, _WORKSPACE, int64, _vec)
SPREAD = types.void(_PLAN, _STATE, _WORKSPACE, int64, _vec, _vec)
SOLVE_SLIPPING = f8(_PLAN, _STATE, _WORKSPACE, _vec, _vec, f8, _vec, int64)
FEASIBLE = boolean(_PLAN, _WORKSPACE, int64)
FRICTION = types.void(_PLAN, _STATE, _vec, _vec, f8, int64, f8, _WORKSPACE, _vec)
STICKING = types.void(_PLAN, _STATE, _WORKSPACE)
TANGENTS = types.void(_PLAN, _STATE, _WORKSPACE, int64)
CONES = types.void(_PLAN, _WORKSPACE, int64, f8)
TIME_STEP = types.void(_PLAN, _STATE, _INPUT, _OUTPUT, _WORKSPACE)
SLEEP = types.void(_PLAN, _STATE, _INPUT, _WORKSPACE)
THROUGH = boolean(_PLAN, _STATE, _INPUT, _OUTPUT, _WORKSPACE)
YIELDING = f8(_PLAN, _STATE, _WORKSPACE)
YIELDING_PIECE = f8(_PLAN, _STATE, _WORKSPACE, f8, int64)
SOFTEN = types.void(_PLAN, _STATE, _WORKSPACE, _vec, f8)
REPORT = types.void(_PLAN, _STATE, _OUTPUT, _WORKSPACE, int64)
WAKE = int64(_PLAN, _STATE, _WORKSPACE, f8)
HOLD = types.void(_PLAN, _WORKSPACE, _vec)
REST = types.void(_PLAN, _STATE, _OUTPUT, _WORKSPACE)
CHOICE = int64(_PLAN, _STATE, _WORKSPACE, _OUTPUT, int64, f8)

_contact_row_at = callable_at(CONTACT_ROW)
_constraint_rows_at = callable_at(CONSTRAINT_ROWS)
_gap_at = callable_at(GAP)
_place_at = callable_at(PLACE)
_feature_at = callable_at(FEATURE)
_hull_contact_at = callable_at(HULL_CONTACT)
_quadric_at = callable_at(QUADRIC)
_quadric_row_at = callable_at(QUADRIC_ROW)
_hulls_at = callable_at(HULLS)
_ahead_at = callable_at(AHEAD)
_nearby_at = callable_at(NEARBY)
_border_at = callable_at(BORDER)
_follow_at = callable_at(FOLLOW)
_edges_at = callable_at(EDGES)
_far_at = callable_at(FAR)
_terms_at = callable_at(TERMS)
_redundant_at = callable_at(REDUNDANT)
_islands_at = callable_at(ISLANDS)
_forces_at = callable_at(FORCES)
_spread_at = callable_at(SPREAD)
_slipping_at = callable_at(SOLVE_SLIPPING)
_feasible_at = callable_at(FEASIBLE)
_friction_at = callable_at(FRICTION)
_piece_at = callable_at(PIECE)
_sticking_at = callable_at(STICKING)
_tangents_at = callable_at(TANGENTS)
_cones_at = callable_at(CONES)
_time_step_at = callable_at(TIME_STEP)
_sleep_at = callable_at(SLEEP)
_through_at = callable_at(THROUGH)
_yielding_at = callable_at(YIELDING)
_yielding_piece_at = callable_at(YIELDING_PIECE)
_soften_at = callable_at(SOFTEN)
_report_at = callable_at(REPORT)
_wake_at = callable_at(WAKE)
_rest_at = callable_at(REST)
_hold_at = callable_at(HOLD)
_choice_at = callable_at(CHOICE)
_free_stage_at = callable_at(FREE_STAGE)
_stage_at = callable_at(STAGE)
_change_at = callable_at(CHANGE)


@inlined
def write_contact_row(plan, state, k, i, ws):
    """Row i of ws.A, ws.s and ws.b for contact k: ``geometry.contact.contact_row``.  Returns its gap."""
    return _contact_row_at(plan.contact_row)(plan, state, k, i, ws)


@inlined
def evaluate_held(plan, state, q, u, t, m, ws):
    """The first m rows, of constraints that hold: ``rows.constraint_rows.write_constraint_rows``."""
    _constraint_rows_at(plan.constraint_rows)(plan, state, ws, q, u, t, m, 0)


@inlined
def evaluate_sticking(plan, state, ws):
    """The first rows, of contacts that stick: ``rows.along_surface.write_sticking_rows``."""
    _sticking_at(plan.sticking_rows)(plan, state, ws)


@inlined
def evaluate_slips(plan, state, q, u, t, ws):
    """Rows of the constraints that slip, to ws.slip_A: ``rows.constraint_rows.write_constraint_rows``."""
    _constraint_rows_at(plan.constraint_rows)(plan, state, ws, q, u, t, 0, 1)


@inlined
def gap(plan, state, k, X):
    """Gap of candidate k [m] at the frames X: ``geometry.contact.gap_of``."""
    return _gap_at(plan.gap)(plan, state, k, X)


@inlined
def nearby(plan, state, ws, k):
    """Feature of a mesh that place k holds or touches next, its gap: ``geometry.mesh.nearby.look_nearby``."""
    return _nearby_at(plan.nearby)(plan, state, ws, k)


@inlined
def gap_of_free(plan, state, ws, k):
    """The same of a free candidate at the frames in ws, on a mesh quicker."""
    if plan.nearby != 0 and plan.surface_kind[k] == ON_MESH:
        return nearby(plan, state, ws, k)[1] - state.depth[k]
    return gap(plan, state, k, ws.X)


@inlined
def where(plan, state, k, X):
    """Face, distance and how far past its edge of candidate k: ``events.inside.find_place``."""
    return _place_at(plan.where)(plan, state, k, X)


@inlined
def next_feature(plan, state, k, X, beyond):
    """Feature of a mesh that place k is about to touch, or -1: ``geometry.mesh.search.find_feature``."""
    return _feature_at(plan.next_feature)(plan, state, k, X, beyond)


@inlined
def hull_contact(plan, state, k, X):
    """Nearest points of the features of place k: ``geometry.hull_contact.nearest_of_features``."""
    return _hull_contact_at(plan.hull_contact)(plan, state, k, X)


@inlined
def quadric_witness(plan, k, X):
    """Gap, normal and point of candidate k with a quadric: ``geometry.quadric.nearest_on_quadric``."""
    return _quadric_at(plan.quadric)(plan, k, X)


@inlined
def write_quadric_row(plan, k, i, ws):
    """Row i of ws.A and ws.s for such a candidate: ``geometry.quadric.quadric_row``.  Returns its gap."""
    return _quadric_row_at(plan.quadric_row)(plan, k, i, ws)


@inlined
def put_features_in_places(plan, state, ws, first, deepest):
    """Features for the places of a pair of hulls: ``events.hull_places.put_features``."""
    return _hulls_at(plan.put_hulls)(plan, state, ws, first, deepest)


@inlined
def put_edges_in_places(plan, state, ws, out, m, deepest):
    """Edges for the places of all pairs, if any: ``events.edge_places.put_edges``."""
    if plan.put_edges != 0:
        _edges_at(plan.put_edges)(plan, state, ws, out, m, deepest)


@inlined
def find_far_pairs(plan, ws, begins):
    """Which pairs of shapes are far apart, where there are many: ``tick.broad_phase.find_far_pairs``."""
    if plan.find_far != 0:
        _far_at(plan.find_far)(plan, ws, begins)


@inlined
def follow_meshes(plan, state, ws):
    """Places on meshes go over to where they have come: ``events.follow_mesh.follow_all``."""
    if plan.follow_meshes != 0:
        _follow_at(plan.follow_meshes)(plan, state, ws)


@inlined
def piece_to_border(plan, state, ws, seconds):
    """How long a piece may be until a border on a mesh: ``events.follow_mesh.border_ahead``."""
    if plan.border_ahead == 0:
        return seconds
    return _ahead_at(plan.border_ahead)(plan, state, ws, seconds)


@inlined
def first_border(plan, state, ws, h):
    """The border on a mesh that a step passes first: ``events.dense.find_border``.  -1 without meshes."""
    if plan.first_border == 0:
        return -1, h, 0.0
    return _border_at(plan.first_border)(plan, state, ws, h)


@inlined
def choose_speeds(plan, state, ws, out, m, t):
    """Choose independent speeds for the m rows in ws.A: ``solve.speed_selection.choose_independent``."""
    _choice_at(plan.choose)(plan, state, ws, out, m, t)


@inlined
def stage(plan, state, inp, ws, q, u, t, qdot, udot, m):
    """qdot and udot at (q, u) with m rows: ``motion.stage.evaluate_stage``, or ``free_stage`` with none."""
    if m == 0 and ws.counts[SLIPPING] == 0 and ws.substep[0] == 0.0:
        ws.counts[RESPONDED] = 0
        _free_stage_at(plan.free_stage)(plan, state, inp, ws, q, u, t, qdot, udot)
        det = 1.0
    else:
        det = _stage_at(plan.stage)(plan, state, inp, ws, q, u, t, qdot, udot, m)
    if plan.hold_still != 0:
        _hold_at(plan.hold_still)(plan, ws, udot)
    return det


@inlined
def terms(plan, state, inp, ws, q, u, t, qdot):
    """M, h, frames and forces at (q, u): ``motion.stage.evaluate_terms``."""
    _terms_at(plan.terms)(plan, state, inp, ws, q, u, t, qdot)


@inlined
def solve_redundant(plan, state, ws, m, udot):
    """udot with m rows that depend on one another: ``motion.stage.embed_redundant``.  Returns |det A_D|."""
    return _redundant_at(plan.solve_redundant)(state, ws, m, udot)


@inlined
def solve_islands(plan, state, ws, m, udot):
    """udot of several trees with m rows: ``solve.island_solves.solve_islands``.  Returns |det A_D|."""
    return _islands_at(plan.solve_islands)(plan, state, ws, m, udot)


@inlined
def forces_of_islands(plan, state, ws, m, udot):
    """ws.lam of m rows on several trees: ``solve.island_solves.forces_of_islands``."""
    _forces_at(plan.forces_of_islands)(plan, state, ws, m, udot)


@inlined
def change_of_islands(plan, state, ws, m, missing, change):
    """The least change that m rows on several trees ask for: ``solve.island_solves.change_of_islands``."""
    _spread_at(plan.change_of_islands)(plan, state, ws, m, missing, change)


@inlined
def solve_slipping(plan, state, ws, q, u, t, udot, m):
    """udot with m rows and friction of what slips: ``motion.stage.embed_slipping``, of contacts
    ``motion.sliding.embed_sliding``.  Returns |det A_D|."""
    if plan.solve_sliding != 0:
        return _slipping_at(plan.solve_sliding)(plan, state, ws, q, u, t, udot, m)
    return _slipping_at(plan.solve_slipping)(plan, state, ws, q, u, t, udot, m)


@inlined
def feasible_forces(plan, ws, m):
    """Whether m rows hold with contacts that only push: ``solve.pushing_forces.find_feasible_forces``."""
    return _feasible_at(plan.feasible_forces)(plan, ws, m)


@inlined
def read_friction_guards(plan, state, q, u, t, m, scale, ws, guards):
    """Guards of the constraints: ``rows.friction.write_friction_guards``; or of contacts that rub:
    ``rows.rub.write_rub_guards``."""
    if plan.read_rub_guards != 0:
        _friction_at(plan.read_rub_guards)(plan, state, q, u, t, m, scale, ws, guards)
    elif plan.read_friction_guards != 0:
        _friction_at(plan.read_friction_guards)(plan, state, q, u, t, m, scale, ws, guards)


@inlined
def write_tangents(plan, state, ws, i):
    """Rows of the near contact i along its surface: ``cones.tangents.write_tangents``."""
    _tangents_at(plan.write_tangents)(plan, state, ws, i)


@inlined
def solve_cones(plan, ws, n, met):
    """Impulses of n near contacts, some of which rub: ``cones.cone_rounds.solve_cones``."""
    _cones_at(plan.solve_cones)(plan, ws, n, met)


@inlined
def take_time_step(plan, state, inp, out, ws):
    """A tick as one step with impulses: ``time_stepping.contact_step.take_time_step``."""
    _time_step_at(plan.time_step)(plan, state, inp, out, ws)


@inlined
def sleep_through(plan, state, inp, out, ws):
    """A tick in which everything sleeps, if it is one: ``tick.all_asleep.sleep_through``."""
    if plan.sleep_through == 0:
        return False
    return _through_at(plan.sleep_through)(plan, state, inp, out, ws)


@inlined
def put_to_sleep(plan, state, inp, ws):
    """Which trees sleep in this tick, if any may: ``tick.sleeping.put_to_sleep``."""
    if plan.put_to_sleep != 0:
        _sleep_at(plan.put_to_sleep)(plan, state, inp, ws)


@inlined
def sleep_on(plan, state, inp, ws):
    """What slept in the last tick sleeps while it is looked at: ``tick.sleeping.sleep_on``."""
    if plan.sleep_on != 0:
        _sleep_at(plan.sleep_on)(plan, state, inp, ws)


@inlined
def sleep_again(plan, state, inp, ws):
    """What sleeps in this tick goes on, whose contacts were put back: ``tick.sleeping.sleep_again``."""
    if plan.sleep_again != 0:
        _sleep_at(plan.sleep_again)(plan, state, inp, ws)


@inlined
def wake_touched(plan, state, ws, within):
    """Wake what sleeps where what is awake touches it: ``tick.sleeping.wake_touched``.  Returns how many."""
    if plan.wake_touched == 0:
        return 0
    return _wake_at(plan.wake_touched)(plan, state, ws, within)


@inlined
def add_yielding_forces(plan, state, ws):
    """Forces of compliant contacts to ws.f, and their power: ``compliance.forces.add_yielding_forces``."""
    return _yielding_at(plan.yielding_forces)(plan, state, ws)


@inlined
def yielding_piece(plan, state, ws, seconds, watching):
    """How long a piece may be where surfaces yield: ``compliance.steps.yielding_piece``."""
    if plan.yielding_piece == 0:
        return seconds
    return _yielding_piece_at(plan.yielding_piece)(plan, state, ws, seconds, int(watching))


@inlined
def soften_yielding(plan, state, ws, u, h):
    """Compliant contacts in an implicit substep, if any: ``compliance.soften.soften_yielding``."""
    if plan.soften_yielding != 0:
        _soften_at(plan.soften_yielding)(plan, state, ws, u, h)


@inlined
def report_yielding(plan, state, out, ws, told):
    """Forces of compliant contacts to out, if any: ``compliance.forces.report_yielding``."""
    if plan.report_yielding != 0:
        _report_at(plan.report_yielding)(plan, state, out, ws, told)


@inlined
def count_rest(plan, state, out, ws):
    """How long each tree has rested, where any may sleep: ``tick.sleeping.count_rest``."""
    if plan.count_rest != 0:
        _rest_at(plan.count_rest)(plan, state, out, ws)


@inlined
def start_piece(plan, state, inp, out, ws, t, m, resolved):
    """First stage of a piece with m rows (``evaluate_piece_start``).  True where one pulls."""
    ws.counts[BEGINS] = 1
    pulls = _piece_at(plan.start_piece)(plan, state, inp, out, ws, t, m, resolved)
    ws.counts[BEGINS] = 0
    return pulls


@inlined
def resolve(plan, state, inp, ws, out, t, leaving):
    """Decide which contacts are imposed: ``events.resolve_contacts.resolve_contacts``, where they rub
    ``rubbing.resolve_rubbing.resolve_rubbing``.  Returns the rows."""
    if plan.resolve_rubbing != 0:
        return _change_at(plan.resolve_rubbing)(plan, state, inp, ws, out, t, leaving)
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
def let_go_driver(plan, state, inp, ws, out, t, m):
    """Let go what drives a contact in: ``events.activation.drop_driver``.  1 where something went."""
    return _change_at(plan.let_go_driver)(plan, state, inp, ws, out, t, m)


@inlined
def let_bounded_go(plan, state, inp, ws, out, t, m):
    """Before impulses: ``events.switching.free_bounded``.  1 where something went."""
    return _change_at(plan.let_bounded_go)(plan, state, inp, ws, out, t, m)


@inlined
def settle_bounded(plan, state, inp, ws, out, t):
    """After them: ``events.switching.slip_bounded``."""
    _change_at(plan.settle_bounded)(plan, state, inp, ws, out, t, 0)


@inlined
def rest_bounded(plan, state, inp, ws, out, t):
    """As a chatter ends: ``events.switching.stick_bounded``.  Returns how many stick."""
    if plan.bounded == 0:
        return 0
    return _change_at(plan.rest_bounded)(plan, state, inp, ws, out, t, 0)


@inlined
def switch_as_asked(plan, state, inp, ws, out):
    """Follow the switch requests: ``events.switching.follow_switches``.  True when something changed."""
    if plan.switch_as_asked == 0:
        return False
    return _change_at(plan.switch_as_asked)(plan, state, inp, ws, out, 0.0, 0) == 1


@inlined
def watch_constraints(plan, state, inp, ws, out, m):
    """Let go and activate what is due at the start: ``tick.begin.check_constraints``.  Returns the rows."""
    if plan.watch_constraints == 0:
        return m
    return _change_at(plan.watch_constraints)(plan, state, inp, ws, out, 0.0, m)


@inlined
def activate_by_touch(plan, state, inp, ws, out, t, m):
    """Activate what a touch asks for: ``events.switching.activate_touched``.  Returns the rows."""
    if plan.activate_by_touch == 0:
        return m
    return _change_at(plan.activate_by_touch)(plan, state, inp, ws, out, t, m)


@inlined
def slip_or_stick(plan, state, inp, ws, out, t, block):
    """A constraint slips or sticks: ``events.dispatch_event.release_or_hold``.  Returns the rows."""
    return _change_at(plan.slip_or_stick)(plan, state, inp, ws, out, t, block)


@inlined
def activate(plan, state, inp, ws, out, t, count):
    """Impose ``count`` constraints of ws.wanted: ``events.activation.activate_constraints``.  Returns 1."""
    return _change_at(plan.activate)(plan, state, inp, ws, out, t, count)


@inlined
def dispatch_event(plan, state, inp, ws, out, fired, t):
    """Do what a guard asks for: ``events.dispatch_event.dispatch_event``.  Returns the number of rows."""
    return _change_at(plan.dispatch_event)(plan, state, inp, ws, out, t, fired)
