"""What a run is between two ticks, copied: given back, it goes on to the same bits."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.errors import ConfigError
from hapticsim.kernels.memory.arrays import Input, Output, State
from hapticsim.kernels.memory.block import Block

LEAST_ADDRESS = 4096  # integers of a plan are addresses from here on: where code lies, not what it does


@dataclass(frozen=True, eq=False)
class Fork:
    """A copy of a run between two ticks, of ``Simulation.fork``.

    Its arrays (``kernels/memory/arrays.py`` has their meanings, units, frames and shapes) are read-only;
    those of ``state.copy()`` can.  A fork can be pickled and copied, and be restored in another process.
    """

    arrays: dict[str, np.ndarray]  # by name, such as state.q, in the order of memory/arrays.py
    scene: str  # name of its scene
    tick_function: str  # hash of all that decides what a tick does; a fork goes where it is the same

    def __post_init__(self) -> None:
        for array in self.arrays.values():
            array.setflags(write=False)

    @cached_property
    def state(self) -> State:
        """What a tick leaves to the next: coordinates, speeds, contacts, constraints, safety."""
        return State(**self._part("state."))

    @cached_property
    def input(self) -> Input:
        """What was asked for: torques and force applied, device, gains, arming, switch requests."""
        return Input(**self._part("input."))

    @cached_property
    def output(self) -> Output:
        """What the last tick said: forces, events, choices of speeds."""
        return Output(**self._part("output."))

    def items(self) -> Iterable[tuple[str, np.ndarray]]:
        """Names, such as ``state.q``, and arrays, in the order of ``kernels/memory/arrays.py``."""
        return self.arrays.items()

    def _part(self, prefix: str) -> dict[str, np.ndarray]:
        return {n.removeprefix(prefix): a for n, a in self.arrays.items() if n.startswith(prefix)}

    def __reduce__(self) -> tuple[Any, ...]:
        return Fork, (self.arrays, self.scene, self.tick_function)


def copied(blocks: Sequence[tuple[str, Block]]) -> dict[str, np.ndarray]:
    """Return copies of the arrays of blocks, each name behind that of its block."""
    return {f"{part}.{name}": array.copy() for part, block in blocks for name, array in block.items()}


def put_back(fork: Fork, blocks: Sequence[tuple[str, Block]]) -> None:
    """Write what ``copied`` returned into the blocks."""
    for part, block in blocks:
        for name, array in block.items():
            array[...] = fork.arrays[f"{part}.{name}"]


def check_fork(fork: object, scene: str, tick_function: str) -> Fork:
    """Return what can be restored in a scene.

    Raises
    ------
    ConfigError : it is no fork, or one of another scene.
    """
    if not isinstance(fork, Fork):
        raise ConfigError(
            "restore", "fork", f"is a {type(fork).__name__}: give what fork() of a simulation returned."
        )
    if fork.tick_function != tick_function:
        other = f"of the scene {fork.scene!r}" if fork.scene != scene else "of this scene with other values"
        raise ConfigError(
            "restore",
            "fork",
            f"is {other}, and this is {scene!r}: restore it in a simulation of its own scene.",
        )
    return fork


def tick_function_of(assembly: Assembly) -> str:
    """Return a hash of all that decides what a tick does with a state and an input.

    Two simulations of one scene have the same one.  Its start is among what decides: what a fast tick is, and
    a large energy, is measured there (stiff_parts.py).
    """
    digest = hashlib.sha256(assembly.equations.folder.name.encode())
    digest.update(repr(sorted(assembly.sizes.items())).encode())
    for name, value in assembly.plan.items():
        if isinstance(value, np.ndarray):
            digest.update(f"{name}{value.shape}".encode() + value.tobytes())
        elif not (isinstance(value, int) and value >= LEAST_ADDRESS):
            digest.update(f"{name}{value!r}".encode())
    return digest.hexdigest()
