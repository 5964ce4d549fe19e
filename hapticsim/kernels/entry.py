"""The tick compiled once for all robots, kept on disk (cache.py), and handed out as an address.

Loops (virtual time, real time, prediction) call the tick by address, so none of them compiles it
again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from numba import int64, types
from numba.core.typing.templates import Signature
from numba.experimental.function_type import _get_wrapper_address

from hapticsim.kernels import step as _step
from hapticsim.kernels import units
from hapticsim.kernels.events import activation as imposing
from hapticsim.kernels.events import dispatch_event as handling
from hapticsim.kernels.events import observe as _observe
from hapticsim.kernels.events import resolve_contacts as events
from hapticsim.kernels.events import switching
from hapticsim.kernels.haptics.lockstep import LOCKSTEP, run_lockstep
from hapticsim.kernels.machine_code import foreign
from hapticsim.kernels.machine_code.beside import Beside
from hapticsim.kernels.machine_code.cache import keep, kernel_folder
from hapticsim.kernels.memory.arrays import Input, Output, Plan, State, Workspace
from hapticsim.kernels.motion import stage
from hapticsim.kernels.rows import constraint_rows as rows
from hapticsim.kernels.solve import speed_selection as choice

Progress = Callable[[str], Any]

STEP = types.void(Plan._type, State._type, Input._type, Output._type, Workspace._type)
step_at = foreign.callable_at(STEP)

_compiled: dict[str, Any] = {}
_step_beside = Beside("step_address")  # the largest kernel, and all the others: as much work each


def is_kept(function: Callable) -> bool:
    """Whether an earlier process compiled it, or any other function of its name."""
    folder = kernel_folder()
    return folder.exists() and any(folder.rglob(f"*.{function.__name__}-*.nbi"))


def compile_cached(function: Callable, signature: Signature, progress: Progress | None = None) -> Any:
    """Compile with an explicit signature, or load what an earlier process compiled.

    progress : called with what is being compiled and how long it took, only when there is something to wait
    for.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    if name in _compiled:
        return _compiled[name]
    say = progress if progress and not is_kept(function) else (lambda _line: None)
    say(f"compiling the {function.__name__.lstrip('_')} kernel (once for all robots) ... ")
    start = time.perf_counter()
    if function is _step.step:
        _step_beside.wait()
    compiled = keep(function, signature, error_model="numpy")
    say(f"{time.perf_counter() - start:.1f} s\n")
    _compiled[name] = compiled
    return compiled


def address_of(compiled: Any, signature: Signature) -> int:
    """C-callable address of a compiled function of exactly this signature."""
    return _get_wrapper_address(compiled, signature)


def unit_addresses(progress: Progress | None = None) -> dict[str, int]:
    """Addresses of the large parts of a tick, by their names in the plan."""
    parts: dict[str, tuple[Callable, Signature]] = {
        "rows": (rows.write_rows, units.ROWS),
        "choose": (choice.choose_independent, units.CHOICE),
        "stage": (stage.evaluate_stage, units.STAGE),
        "resolve": (events.resolve_contacts, units.CHANGE),
        "capture": (events.capture_contacts, units.CHANGE),
        "settle": (switching.settle_constraints, units.CHANGE),
        "engage": (imposing.engage_constraints, units.CHANGE),
        "handle": (handling.handle_event, units.CHANGE),
    }
    if not is_kept(_step.step):
        _step_beside.begin()
    return {
        name: address_of(compile_cached(function, signature, progress), signature)
        for name, (function, signature) in parts.items()
    }


def step_address(progress: Progress | None = None) -> int:
    """Address of the tick."""
    return address_of(compile_cached(_step.step, STEP, progress), STEP)


def observe_kernel(progress: Progress | None = None) -> Any:
    """``observe(plan, state, input, output, workspace)``: contact forces and witnesses at the state."""
    return compile_cached(_observe.observe, STEP, progress)


def locate_kernel(progress: Progress | None = None) -> Any:
    """``locate(plan, state, input, output, workspace)``: gaps and witnesses at ``state.q``."""
    return compile_cached(_observe.locate, STEP, progress)


def _run(step, plan, state, inp, out, ws, ticks):
    take = step_at(step)
    for _ in range(ticks):
        take(plan, state, inp, out, ws)


def lockstep_kernel(progress: Progress | None = None) -> Any:
    """``run_lockstep(step_address, plan, state, input, output, workspace, device, stretch)``."""
    return compile_cached(run_lockstep, LOCKSTEP, progress)


def run_kernel(progress: Progress | None = None) -> Any:
    """``run(step_address, plan, state, input, output, workspace, ticks)``: ticks with the same input."""
    signature = types.void(int64, *STEP.args, int64)
    return compile_cached(_run, signature, progress)
