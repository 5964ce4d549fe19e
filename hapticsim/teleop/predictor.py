"""Looking ahead of the delay: from the last telemetry, every command it does not contain yet, through the
same tick.

Telemetry carries the state before a tick; commands are kept by tick.  Re-running the ticks since with the
commands given since reproduces what the remote will do, contacts included: at microseconds per tick, seconds
of delay replay in milliseconds.  With a perfect model the result is the remote's later state to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import int64, types

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.entry import STEP, compile_called, step_address, step_at
from hapticsim.kernels.machine_code.called import Called
from hapticsim.kernels.memory.arrays import State
from hapticsim.kernels.memory.command import COMMAND, apply_command
from hapticsim.kernels.memory.pack import unpack_state

PATH_POINTS = 60


def _rerun(step, plan, state, inp, out, ws, commands, motion):
    """Take one tick per command (n, COMMAND); motion (n, nq + nu + 3) gets q, u and the handle of each."""
    take = step_at(step)
    nq, nu = state.q.size, state.u.size
    for n in range(commands.shape[0]):
        apply_command(commands[n], inp)
        take(plan, state, inp, out, ws)
        for j in range(nq):
            motion[n, j] = out.q[j]
        for j in range(nu):
            motion[n, nq + j] = out.u[j]
        for j in range(3):
            motion[n, nq + nu + j] = out.handle_W[j]


_arrays = types.Array(types.float64, 2, "C")
RERUN = Called(_rerun, types.void(int64, *STEP.args, _arrays, _arrays), __name__)


@dataclass
class Prediction:
    """What the remote will be once it has every command given so far."""

    tick: int  # commands before it are contained
    telemetry_tick: int  # the tick whose state the telemetry carried
    q: np.ndarray  # (nq,)
    u: np.ndarray  # (nu,)
    path: np.ndarray  # (m, 3) [m] the handle from the telemetry to the prediction


class Predictor:
    """Re-run commands from telemetry.

    Parameters
    ----------
    assembly : the same model the remote runs.

    Public attributes: ``state`` (what the last re-run ended with) and ``motion`` (n, nq + nu + 3): q, u and
    the handle [m] at the start of each of its ticks.
    """

    def __init__(self, assembly: Assembly, progress: Callable[[str], Any] | None = None) -> None:
        self.assembly = assembly
        self.state: State = assembly.new_state()
        self._input, self._output = assembly.new_input(), assembly.new_output()
        self._workspace = assembly.new_workspace()
        self._step = step_address(progress)
        self._kernel = compile_called(RERUN, progress)
        self.motion = np.zeros((0, self.state.q.size + self.state.u.size + 3))

    def predict(self, tick: int, packed: np.ndarray, commands: np.ndarray) -> Prediction:
        """From the packed state before ``tick``, take a tick for each command (n, COMMAND)."""
        unpack_state(packed, self.state)
        self._input.switch[:] = self.state.switched  # what was asked is done: nothing is switched on the way
        n = len(commands)
        self.motion = np.zeros((n, self.motion.shape[1]))
        self._kernel(
            self._step, self.assembly.plan, self.state, self._input, self._output, self._workspace,
            np.ascontiguousarray(commands), self.motion,
        )  # fmt: skip
        state = self.state
        return Prediction(tick + n, tick, state.q.copy(), state.u.copy(), path_of(self.motion))

    def hold(self, tick: int, packed: np.ndarray, command: np.ndarray, ticks: int) -> Prediction:
        """From the packed state before ``tick``, hold one command (COMMAND,) for some ticks."""
        return self.predict(tick, packed, np.broadcast_to(command, (ticks, COMMAND)))


def path_of(motion: np.ndarray) -> np.ndarray:
    """(m, 3) at most PATH_POINTS places of the handle in a motion (n, nq + nu + 3), from the first on."""
    stride = max(1, -(-len(motion) // PATH_POINTS))
    return motion[::stride, -3:].copy()
