"""A choice of independent generalized speeds, as a tick reports it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hapticsim.kernels.memory.arrays import CHOICE


@dataclass(frozen=True)
class SpeedChoice:
    """What was chosen when the imposed rows changed, or when the earlier choice had become poor.

    Attributes
    ----------
    time_s : in the tick.
    rank_before, rank : of the rows imposed before, and now.
    rows : how many are imposed.
    condition : bound of |A| |A_D^-1|, columns scaled by inertia (kernels/linalg/selection.py).
    condition_before : what it would be with the speeds that were dependent before, infinite where they cannot
        be; None where their number or the choice did not change.
    dependent : the speeds that follow from the others, by number.
    free : (k, nu) directions of the speeds that rows which became dependent leave free, k at most 2: where
        the rank drops, branches part along them.
    """

    time_s: float
    rank_before: int
    rank: int
    rows: int
    condition: float
    condition_before: float | None
    dependent: tuple[int, ...]
    free: np.ndarray

    @classmethod
    def read(cls, record: np.ndarray) -> SpeedChoice:
        """Read a row of ``Output.choices``."""
        per_speed = record[CHOICE:].reshape(3, -1)
        rank = int(record[2])
        return cls(
            time_s=float(record[0]),
            rank_before=int(record[1]),
            rank=rank,
            rows=int(record[3]),
            condition=float(record[4]),
            condition_before=float(record[5]) or None,
            dependent=tuple(sorted(int(r) for r in per_speed[0, :rank])),
            free=per_speed[1:][np.any(per_speed[1:] != 0.0, axis=1)].copy(),
        )

    def told(self, names: list[str]) -> dict[str, object]:
        """Keys of a published event (docs/protocol.md); ``names`` of the speeds."""
        before = self.condition_before
        return {
            "rank_before": self.rank_before,
            "rank": self.rank,
            "rows": self.rows,
            "condition": self.condition,
            "condition_before": before if before is None or math.isfinite(before) else None,
            "dependent": [names[r] for r in self.dependent],
            "free_directions": self.free.tolist(),
        }

    def words(self, names: list[str]) -> str:
        """What to add to the sentence of its event."""
        parts = []
        if self.condition_before is not None:
            parts.append(f"{self.condition_before:.3g} with the earlier ones")
        if self.dependent:
            parts.append(f"dependent: {', '.join(names[r] for r in self.dependent)}")
        for direction in self.free:
            moves = [f"{name} {x:.2g}" for name, x in zip(names, direction, strict=True) if abs(x) > 1e-6]
            parts.append(f"left free: {', '.join(moves)}")
        return "".join(f", {part}" for part in parts)
