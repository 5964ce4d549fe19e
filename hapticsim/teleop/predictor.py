"""Looking ahead of the delay: from the last telemetry, every command it does not contain yet, through the
same tick.

Telemetry names the tick whose state it carries; commands are kept by tick.  Re-running the ticks since with
the commands given since reproduces what the remote will do, contacts included: at microseconds per tick,
seconds of delay replay in milliseconds.  With a perfect model the result is the remote's later state to the
bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import int64, types

from hapticsim.assembly import Assembly
from hapticsim.kernels.arrays import State
from hapticsim.kernels.entry import STEP, compile_cached, step_address, step_at
from hapticsim.kernels.pack import unpack_state
from hapticsim.kernels.row import PLACE

COMMAND = 23  # position 3, velocity 3, age, present, arm, disarm requests, coupler 3, orientation 4, angular
# velocity 3, coupler of the rotation 3
LINEAR = 13  # of these before the orientation
FIRST, LAST = PLACE["device_x_m"], PLACE["force_limit_N"] + 1
FIRST_TURN, LAST_TURN = PLACE["device_qw"], PLACE["torque_limit_Nm"] + 1
PATH_POINTS = 60

assert LAST - FIRST == LINEAR and LAST_TURN - FIRST_TURN == COMMAND - LINEAR  # two stretches of a row


def command_of(row: np.ndarray) -> np.ndarray:
    """(COMMAND,) the command inside a tick's row."""
    return np.concatenate([row[..., FIRST:LAST], row[..., FIRST_TURN:LAST_TURN]], axis=-1)


def _rerun(step, plan, state, inp, out, ws, commands, stride, path):
    """Take one tick per command; path gets the handle every ``stride`` ticks."""
    take = step_at(step)
    for n in range(commands.shape[0]):
        for j in range(8):
            inp.device[j] = commands[n, j]
        for j in range(2):
            inp.requests[j] = int(commands[n, 8 + j])
        for j in range(3):
            inp.coupler[j] = commands[n, 10 + j]
            inp.turn_coupler[j] = commands[n, 20 + j]
        for j in range(7):
            inp.turn[j] = commands[n, 13 + j]
        take(plan, state, inp, out, ws)
        if n % stride == 0:
            for j in range(3):
                path[n // stride, j] = out.handle_W[j]


_arrays = types.Array(types.float64, 2, "C")
RERUN = types.void(int64, *STEP.args, _arrays, int64, _arrays)


@dataclass
class Prediction:
    """What the remote will be once it has every command given so far."""

    tick: int  # of the operator: commands before it are contained
    telemetry_tick: int  # operator tick whose state the telemetry carried
    q: np.ndarray  # (nq,)
    u: np.ndarray  # (nu,)
    path: np.ndarray  # (m, 3) [m] the handle from the telemetry to the prediction


class Predictor:
    """Re-run commands from telemetry.

    Parameters
    ----------
    assembly : the same model the remote runs.
    history : commands kept; it must cover the longest round trip.
    """

    def __init__(
        self, assembly: Assembly, history: int = 32768, progress: Callable[[str], Any] | None = None
    ) -> None:
        self.assembly = assembly
        self.state: State = assembly.new_state()
        self._input, self._output = assembly.new_input(), assembly.new_output()
        self._workspace = assembly.new_workspace()
        self._commands = np.zeros((history, COMMAND))
        self._ticks = np.full(history, -1, np.int64)
        self._step = step_address(progress)
        self._kernel = compile_cached(_rerun, RERUN, progress)
        self._path = np.zeros((history, 3))
        self.newest = -1  # tick of the newest command

    def remember(self, tick: int, command: np.ndarray) -> None:
        """Keep the command (COMMAND,) that was given at a tick."""
        i = tick % len(self._ticks)
        self._commands[i], self._ticks[i] = command, tick
        self.newest = max(self.newest, tick)

    def predict(self, tick: int, packed: np.ndarray) -> Prediction | None:
        """From the packed state at the start of ``tick``, re-run all commands since.

        Returns None when a command in between is not known (any more).
        """
        wanted = np.arange(tick, self.newest + 1)
        places = wanted % len(self._ticks)
        if not np.array_equal(self._ticks[places], wanted):
            return None
        return self._take(tick, packed, self._commands[places])

    def hold(self, tick: int, packed: np.ndarray, command: np.ndarray, ticks: int) -> Prediction:
        """From the packed state at the start of ``tick``, hold one command (COMMAND,) for some ticks."""
        return self._take(tick, packed, np.tile(command, (ticks, 1)))

    def _take(self, tick: int, packed: np.ndarray, commands: np.ndarray) -> Prediction:
        unpack_state(packed, self.state)
        self._input.switch[:] = self.state.switched  # what was asked is done: nothing is switched on the way
        n = len(commands)
        stride = max(1, -(-n // PATH_POINTS))
        points = -(-n // stride)
        self._kernel(
            self._step, self.assembly.plan, self.state, self._input, self._output, self._workspace,
            np.ascontiguousarray(commands), stride, self._path,
        )  # fmt: skip
        state = self.state
        return Prediction(tick + n, tick, state.q.copy(), state.u.copy(), self._path[:points].copy())
