"""What a run tells its observers about constraints: what there is to draw, and what each does now."""

from __future__ import annotations

from typing import Any

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import ANGLE_ROW, Mode
from hapticsim.kernels.memory.sample import MASK_BITS, WIDTH
from hapticsim.model.constraints import ROW_WORDS, Row
from hapticsim.model.multibody.joint import ANGULAR, WORLD
from hapticsim.model.protocol import SceneModel


def hold_word(hold: float) -> str:
    """``free``, ``held``, ``forward`` or ``backward``."""
    return Mode(int(hold)).name.lower()


class ConstraintDescriber:
    """Reads the last columns of the rows of an assembly (kernels/memory/sample.py)."""

    def __init__(self, assembly: Assembly) -> None:
        scene, eq = assembly.scene, assembly.equations
        self.names = [c.name for c in scene.constraints]
        self.speeds = scene.model.speed_names
        self._model, self._constraints = scene.model, scene.constraints
        first, nk = WIDTH + eq.nq + eq.nu, len(assembly.candidates)
        nc, nb = len(self.names), assembly.plan.row_kind.size - nk
        self._start = assembly.plan.block_start[nk:] - nk  # one row for each contact before
        self._gap, self._force = slice(first, first + nk), slice(first + nk, first + 2 * nk)
        n = first + 2 * nk
        self._rank = n
        self._switch, self._hold = slice(n + 3, n + 3 + nc), slice(n + 3 + nc, n + 3 + 2 * nc)
        n += 3 + 2 * nc
        self._row_gap, self._row_force = slice(n, n + nb), slice(n + nb, n + 2 * nb)

    def scene(self) -> dict[str, Any]:
        """Keys of topic ``scene``: constraints as rows with points and directions in their bodies, and the
        names of the generalized speeds."""
        index = {b.name: i for i, b in enumerate(self._model.bodies)}
        index[WORLD] = -1
        child = {j.name: index[j.child] for j in self._model.moving_joints}
        return {
            "constraints": [
                {"name": c.name, "rows": [_row(row, index, child, self._model) for row in c.rows]}
                for c in self._constraints
            ],
            "speeds": self.speeds,
        }

    def state(self, row: np.ndarray) -> dict[str, Any]:
        """Keys of topic ``state``: what each constraint does, and how the imposed rows are met."""
        gap, force = row[self._row_gap], row[self._row_force]
        contact = np.abs(row[self._gap])[row[self._force] > 0.0]
        residual = np.concatenate([np.abs(gap), contact])
        constraints = []
        for c, (name, hold) in enumerate(zip(self.names, row[self._hold], strict=True)):
            rows = slice(int(self._start[c]), int(self._start[c + 1]))
            constraints.append(
                {
                    "name": name,
                    "hold": hold_word(hold),
                    "force": force[rows].tolist(),
                    "gap": gap[rows].tolist(),
                }
            )
        return {
            "constraints": constraints,
            **self.choice(row),
            "residual": float(residual.max()) if residual.size else 0.0,
        }

    def choice(self, row: np.ndarray) -> dict[str, Any]:
        """Rank and number of the imposed rows, and the names of the dependent speeds (of the first 52)."""
        mask = int(row[self._rank + 2])
        return {
            "rank": int(row[self._rank]),
            "rows": int(row[self._rank + 1]),
            "dependent": [name for r, name in enumerate(self.speeds[:MASK_BITS]) if mask >> r & 1],
        }

    def switched(self, row: np.ndarray, constraint: int) -> tuple[int, Mode]:
        """Number of switch requests that a tick knew of, and what the constraint did after it."""
        return int(row[self._switch][constraint]) // 2, Mode(int(row[self._hold][constraint]))


def is_angular(row: Row, model: SceneModel) -> bool:
    """Say whether a row is about angles: its force is in N m then, otherwise in N."""
    unit = {j.name: j.unit for j in model.moving_joints}
    return row.kind == ANGLE_ROW or row.angular or (bool(row.joints) and unit[row.joints[0][0]] == ANGULAR)


def _row(row: Row, index: dict[str, int], child: dict[str, int], model: SceneModel) -> dict[str, Any]:
    """One row."""
    return {
        "kind": ROW_WORDS[row.kind],
        "a": index[row.a],
        "b": index[row.b],
        "point_a": [float(x) for x in row.point_a],
        "point_b": [float(x) for x in row.point_b],
        "direction_a": [float(x) for x in row.direction_a],
        "direction_b": [float(x) for x in row.direction_b],
        "length": float(row.length),
        "joints": [[child[name], float(factor)] for name, factor in row.joints],
        "curve": [] if row.curve is None else row.curve.outline.ravel().tolist(),
        "unit": "N m" if is_angular(row, model) else "N",
    }
