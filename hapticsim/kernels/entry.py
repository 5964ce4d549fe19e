"""The tick compiled once for all robots, kept on disk (cache.py), and handed out as an address.

Loops (virtual time, real time, prediction) call the tick by address, so none of them compiles it
again.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from enum import Flag, auto
from typing import Any

from numba import int64, types
from numba.core.typing.templates import Signature
from numba.experimental.function_type import _get_wrapper_address

from hapticsim.files.cache_folder import refuse_unwritable
from hapticsim.kernels import units
from hapticsim.kernels.compliance.forces import add_yielding_forces, report_yielding
from hapticsim.kernels.compliance.soften import soften_yielding
from hapticsim.kernels.compliance.steps import yielding_piece
from hapticsim.kernels.cones.cone_rounds import solve_cones
from hapticsim.kernels.cones.tangents import write_tangents
from hapticsim.kernels.events.activation import activate_constraints, drop_driver
from hapticsim.kernels.events.chatter import rest_chattering
from hapticsim.kernels.events.dense import find_border
from hapticsim.kernels.events.dispatch_event import dispatch_event, release_or_hold
from hapticsim.kernels.events.edge_places import put_edges
from hapticsim.kernels.events.follow_mesh import border_ahead, follow_all
from hapticsim.kernels.events.hull_places import put_features
from hapticsim.kernels.events.inside import find_place
from hapticsim.kernels.events.observe import locate, observe
from hapticsim.kernels.events.resolve_contacts import resolve_contacts
from hapticsim.kernels.events.switching import (
    activate_touched,
    follow_switches,
    free_bounded,
    resolve_switched_constraints,
    slip_bounded,
    stick_bounded,
)
from hapticsim.kernels.geometry.contact import contact_row, gap_of
from hapticsim.kernels.geometry.hull_contact import nearest_of_features
from hapticsim.kernels.geometry.mesh.nearby import look_nearby
from hapticsim.kernels.geometry.mesh.search import find_feature
from hapticsim.kernels.geometry.quadric import nearest_on_quadric, quadric_row
from hapticsim.kernels.haptics.lockstep import LOCKSTEP, run_lockstep
from hapticsim.kernels.machine_code import foreign
from hapticsim.kernels.machine_code.beside import Beside, processors
from hapticsim.kernels.machine_code.cache import is_kept, keep, kernel_folder
from hapticsim.kernels.machine_code.called import Called
from hapticsim.kernels.machine_code.jit import OPTIONS
from hapticsim.kernels.memory.arrays import Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.block import block_at
from hapticsim.kernels.motion.sliding import embed_sliding
from hapticsim.kernels.motion.stage import (
    embed_redundant,
    embed_slipping,
    evaluate_stage,
    evaluate_terms,
    free_stage,
)
from hapticsim.kernels.rows.along_surface import write_sticking_rows
from hapticsim.kernels.rows.constraint_rows import write_constraint_rows
from hapticsim.kernels.rows.friction import write_friction_guards
from hapticsim.kernels.rows.rub import write_rub_guards
from hapticsim.kernels.rubbing.resolve_rubbing import resolve_rubbing
from hapticsim.kernels.solve.island_solves import change_of_islands, forces_of_islands, solve_islands
from hapticsim.kernels.solve.pushing_forces import find_feasible_forces
from hapticsim.kernels.solve.speed_selection import choose_independent
from hapticsim.kernels.step import step
from hapticsim.kernels.tick.all_asleep import sleep_through
from hapticsim.kernels.tick.begin import check_constraints
from hapticsim.kernels.tick.broad_phase import find_far_pairs
from hapticsim.kernels.tick.piece_start import evaluate_piece_start
from hapticsim.kernels.tick.sleeping import (
    count_rest,
    hold_still,
    put_to_sleep,
    sleep_again,
    sleep_on,
    wake_touched,
)
from hapticsim.kernels.time_stepping.contact_step import take_time_step

Progress = Callable[[str], Any]


class Feature(Flag):
    """What a scene has that others have not; its units are compiled for such scenes alone."""

    CONSTRAINTS = auto()
    EDGES = auto()  # pairs of shapes whose edges may cross
    HULLS = auto()  # pairs of convex solids
    MESHES = auto()
    QUADRICS = auto()  # ellipsoids on planes, spheres on ellipsoids and cones
    PAIRS = auto()  # many pairs of shapes
    TREES = auto()  # more than one kinematic tree
    TIME_STEPPING = auto()  # contacts by impulses over whole ticks, all of them or those that lack rows
    FRICTION = auto()  # contacts that rub
    GRIP = auto()  # contacts that rub in exact ticks
    SLEEP = auto()  # bodies at rest fall asleep
    COMPLIANCE = auto()  # contacts whose surfaces yield


EVERY_FEATURE = ~Feature(0)

STEP = types.void(Plan._type, State._type, Input._type, Output._type, Workspace._type)
step_at = foreign.callable_at(STEP)
_plan_at, _state_at, _input_at, _output_at, _workspace_at = (
    block_at(block) for block in (Plan, State, Input, Output, Workspace)
)


def _run(step, plan, state, inp, out, ws, times):
    take = step_at(step)
    p, s, i = _plan_at(plan), _state_at(state), _input_at(inp)
    o, w = _output_at(out), _workspace_at(ws)
    for _ in range(times):
        take(p, s, i, o, w)


UNITS = {  # the large parts of a tick, by their names in the plan
    "contact_row": Called(contact_row, units.CONTACT_ROW, __name__),
    "gap": Called(gap_of, units.GAP, __name__),
    "where": Called(find_place, units.PLACE, __name__),
    "choose": Called(choose_independent, units.CHOICE, __name__),
    "terms": Called(evaluate_terms, units.TERMS, __name__),
    "solve_redundant": Called(embed_redundant, units.REDUNDANT, __name__),
    "free_stage": Called(free_stage, units.FREE_STAGE, __name__),
    "stage": Called(evaluate_stage, units.STAGE, __name__),
    "feasible_forces": Called(find_feasible_forces, units.FEASIBLE, __name__),
    "start_piece": Called(evaluate_piece_start, units.PIECE, __name__),
    "resolve": Called(resolve_contacts, units.CHANGE, __name__),
    "rest_chattering_contacts": Called(rest_chattering, units.CHANGE, __name__),
    "dispatch_event": Called(dispatch_event, units.CHANGE, __name__),
}
FEATURE_UNITS = {  # the same that only some scenes need
    Feature.CONSTRAINTS: {
        "constraint_rows": Called(write_constraint_rows, units.CONSTRAINT_ROWS, __name__),
        "solve_slipping": Called(embed_slipping, units.SOLVE_SLIPPING, __name__),
        "let_bounded_go": Called(free_bounded, units.CHANGE, __name__),
        "rest_bounded": Called(stick_bounded, units.CHANGE, __name__),
        "settle_bounded": Called(slip_bounded, units.CHANGE, __name__),
        "let_go_driver": Called(drop_driver, units.CHANGE, __name__),
        "slip_or_stick": Called(release_or_hold, units.CHANGE, __name__),
        "read_friction_guards": Called(write_friction_guards, units.FRICTION, __name__),
        "switch_as_asked": Called(follow_switches, units.CHANGE, __name__),
        "watch_constraints": Called(check_constraints, units.CHANGE, __name__),
        "activate_by_touch": Called(activate_touched, units.CHANGE, __name__),
        "resolve_after_switch": Called(resolve_switched_constraints, units.CHANGE, __name__),
        "activate": Called(activate_constraints, units.CHANGE, __name__),
    },
    Feature.TREES: {
        "solve_islands": Called(solve_islands, units.ISLANDS, __name__),
        "forces_of_islands": Called(forces_of_islands, units.FORCES, __name__),
        "change_of_islands": Called(change_of_islands, units.SPREAD, __name__),
    },
    Feature.TIME_STEPPING: {"time_step": Called(take_time_step, units.TIME_STEP, __name__)},
    Feature.FRICTION: {
        "write_tangents": Called(write_tangents, units.TANGENTS, __name__),
        "solve_cones": Called(solve_cones, units.CONES, __name__),
    },
    Feature.GRIP: {
        "sticking_rows": Called(write_sticking_rows, units.STICKING, __name__),
        "solve_sliding": Called(embed_sliding, units.SOLVE_SLIPPING, __name__),
        "read_rub_guards": Called(write_rub_guards, units.FRICTION, __name__),
        "resolve_rubbing": Called(resolve_rubbing, units.CHANGE, __name__),
    },
    Feature.SLEEP: {
        "sleep_through": Called(sleep_through, units.THROUGH, __name__),
        "put_to_sleep": Called(put_to_sleep, units.SLEEP, __name__),
        "sleep_on": Called(sleep_on, units.SLEEP, __name__),
        "sleep_again": Called(sleep_again, units.SLEEP, __name__),
        "hold_still": Called(hold_still, units.HOLD, __name__),
        "wake_touched": Called(wake_touched, units.WAKE, __name__),
        "count_rest": Called(count_rest, units.REST, __name__),
    },
    Feature.COMPLIANCE: {
        "yielding_forces": Called(add_yielding_forces, units.YIELDING, __name__),
        "yielding_piece": Called(yielding_piece, units.YIELDING_PIECE, __name__),
        "soften_yielding": Called(soften_yielding, units.SOFTEN, __name__),
        "report_yielding": Called(report_yielding, units.REPORT, __name__),
    },
    Feature.HULLS: {
        "put_hulls": Called(put_features, units.HULLS, __name__),
        "hull_contact": Called(nearest_of_features, units.HULL_CONTACT, __name__),
    },
    Feature.QUADRICS: {
        "quadric": Called(nearest_on_quadric, units.QUADRIC, __name__),
        "quadric_row": Called(quadric_row, units.QUADRIC_ROW, __name__),
    },
    Feature.EDGES: {"put_edges": Called(put_edges, units.EDGES, __name__)},
    Feature.PAIRS: {"find_far": Called(find_far_pairs, units.FAR, __name__)},
    Feature.MESHES: {
        "follow_meshes": Called(follow_all, units.FOLLOW, __name__),
        "border_ahead": Called(border_ahead, units.AHEAD, __name__),
        "first_border": Called(find_border, units.BORDER, __name__),
        "nearby": Called(look_nearby, units.NEARBY, __name__),
        "next_feature": Called(find_feature, units.FEATURE, __name__),
    },
}
# Compiled after the tick in the same process: they call much of what it calls, and both processes have as
# much to do then.
WITH_TICK = (
    "where",
    "gap",
    "contact_row",
    "dispatch_event",
    "put_edges",
    "put_hulls",
    "find_far",
    "put_to_sleep",
    "hull_contact",
    "quadric",
    "quadric_row",
    "follow_meshes",
    "border_ahead",
    "first_border",
    "nearby",
    "next_feature",
    "constraint_rows",
)
TICK = Called(step, STEP, __name__)
OBSERVE = Called(observe, STEP, __name__)  # contact forces and witnesses at the state
LOCATE = Called(locate, STEP, __name__)
# What has the arguments of a tick, called several times; all are addresses but the last, how often.
RUN = Called(_run, types.void(*[int64] * 7), __name__)
LOCKSTEP_RUN = Called(run_lockstep, LOCKSTEP, __name__)

_compiled: dict[Any, Any] = {}
_beside: list[Beside] = []
_beginning = threading.Lock()


def units_for(features: Feature) -> dict[str, Called]:
    """Which units a scene with these features needs."""
    needed = dict(UNITS)
    for feature in features:
        needed |= FEATURE_UNITS[feature]
    return needed


def begin_compiling(features: Feature, *others: Called) -> None:
    """Start to compile the tick of a scene, and what calls it, in two processes, unless it is kept.

    More than half of the work is the tick itself.
    """
    needed = units_for(features)
    first = [TICK, LOCATE, *(unit for name, unit in needed.items() if name in WITH_TICK)]
    second = [*(unit for name, unit in needed.items() if name not in WITH_TICK), *others]
    with _beginning:
        begun = {path for process in _beside if process.is_running() for path in process.paths}
        parts = [
            [one.path for one in part if one.path not in begun and not _is_here(one)]
            for part in (first, second)
        ]
        if processors() == 1:
            parts = [parts[0] + parts[1]]
        if any(parts):
            refuse_unwritable(kernel_folder())
        _beside.extend(Beside(part) for part in parts if part)


def compile_called(called: Called, progress: Progress | None = None) -> Any:
    """Return a kernel as machine code: loaded, or compiled in a process of its own before.

    progress : called with what is being compiled and how long it took, only when there is something to wait
    for.

    Raises
    ------
    HapticsimError : it is not kept, and the user's cache cannot keep it.
    """
    name = called.path
    if name in _compiled:
        return _compiled[name]
    is_new = not _is_here(called)
    say = progress if progress and is_new else (lambda _line: None)
    say(f"compiling the {called.function.__name__.lstrip('_')} kernel (once for all robots) ... ")
    start = time.perf_counter()
    if is_new:
        refuse_unwritable(kernel_folder())
        _compile_beside(called)
    compiled = keep(called.function, called.signature, **called.options)
    say(f"{time.perf_counter() - start:.1f} s\n")
    _compiled[name] = compiled
    return compiled


def _is_here(called: Called) -> bool:
    """Whether it was compiled before, by this process or by another."""
    return called.path in _compiled or is_kept(called.function, called.signature, **called.options)


def _compile_beside(called: Called) -> None:
    """Wait until another process has compiled it; one that ends before it does has one successor."""
    for _ in range(2):
        with _beginning:
            at_work = [
                process for process in _beside if called.path in process.paths and process.is_running()
            ]
            if not at_work:
                at_work = [Beside([called.path])]
                _beside.extend(at_work)
        for process in at_work:
            process.wait(called.path)
        if is_kept(called.function, called.signature, **called.options):
            return


def compile_cached(function: Callable, signature: Signature) -> Any:
    """Compile any function in this process for a signature, or load what an earlier process compiled."""
    key = function, signature
    if key not in _compiled:
        _compiled[key] = keep(function, signature, **OPTIONS)
    return _compiled[key]


def address_of(compiled: Any, signature: Signature) -> int:
    """C-callable address of a compiled function of exactly this signature."""
    return _get_wrapper_address(compiled, signature)


def unit_addresses(features: Feature, progress: Progress | None = None) -> dict[str, int]:
    """Addresses of the large parts of a tick, by their names in the plan; 0 for what is not needed."""
    begin_compiling(features)
    found = dict.fromkeys(units_for(EVERY_FEATURE), 0)
    for name, unit in units_for(features).items():
        found[name] = address_of(compile_called(unit, progress), unit.signature)
    return found


def step_address(progress: Progress | None = None) -> int:
    """Address of the tick."""
    return address_of(compile_called(TICK, progress), STEP)


def observe_address(progress: Progress | None = None) -> int:
    """Address of ``events.observe.observe``."""
    return address_of(compile_called(OBSERVE, progress), STEP)


def locate_kernel(progress: Progress | None = None) -> Any:
    """``locate(plan, state, input, output, workspace)``: gaps and witnesses at ``state.q``."""
    return compile_called(LOCATE, progress)


def lockstep_kernel(progress: Progress | None = None) -> Any:
    """``run_lockstep(step_address, plan, state, input, output, workspace, device, stretch)``."""
    return compile_called(LOCKSTEP_RUN, progress)
