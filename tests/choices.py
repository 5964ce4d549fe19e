"""A choice of dependent speeds for one set of rows, written into an order as the tick does."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from hapticsim.kernels.linalg import selection
from tests.kernel_access import INT, INTS, MATRIX, VECTOR, compiled

select_speeds = compiled(
    selection.select_speeds,
    MATRIX, INT, INT, INT, MATRIX, INTS, INT, MATRIX, MATRIX, MATRIX, VECTOR, VECTOR, INTS,
)  # fmt: skip


def choose(A: np.ndarray, M: np.ndarray, before: int = 0, order: np.ndarray | None = None) -> Any:
    """What select_speeds says of rows A: rank, condition, combine, R, U, sigma, norms; with the order of the
    speeds after it, and whether the dependent ones have changed.

    order : the one before; its first ``before`` speeds were dependent.
    """
    A, (m, n) = np.ascontiguousarray(A, float), A.shape
    order = np.arange(n) if order is None else order.copy()
    it = SimpleNamespace(
        combine=np.eye(m), R=np.zeros((m, n)), U=np.zeros((m, m)), sigma=np.zeros(m), norms=np.zeros(n)
    )
    pivots = np.zeros(n, np.int64)
    it.rank, it.condition = select_speeds(
        A, m, 0, n, M, order, before, it.combine, it.R, it.U, it.sigma, it.norms, pivots
    )
    chosen = pivots[: it.rank].tolist()
    it.changed = it.rank != before or set(chosen) != set(order[:before].tolist())
    if it.changed:
        order = np.array(chosen + [k for k in range(n) if k not in chosen], np.int64)
    it.order = order
    return it
