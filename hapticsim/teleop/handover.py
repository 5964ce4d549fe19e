"""Which part of a state is the mechanism's, and which belongs to the hand that holds it."""

from __future__ import annotations

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.memory.pack import pack_state, state_size, unpack_state

MECHANISM = frozenset(
    (
        "q", "u", "tick", "mode", "rank", "order", "combine", "volume", "offset", "switched", "friction",
        "face", "depth", "impulse", "friction_impulse_W", "grip", "slide_W", "deformation",
        "yields", "still", "energy",
    )
)  # fmt: skip
HAND = frozenset(
    (
        "safety", "last_sample", "interruption", "gain", "hand_force_D", "origin_W", "hand_torque_D",
        "turn_offset", "swing",
    )
)  # fmt: skip


def without_hand(assembly: Assembly, packed: np.ndarray) -> np.ndarray:
    """The packed state of the same mechanism that no hand has held yet: no force, nothing asked for."""
    state, now = assembly.new_state(), assembly.new_state()
    unpack_state(packed, now)
    for name, array in state.items():
        if name in MECHANISM:
            array[...] = getattr(now, name)
    row = np.zeros(state_size(state))
    pack_state(state, row)
    return row
