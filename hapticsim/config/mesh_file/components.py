"""Things that hang together, by pairs of those that do."""

from __future__ import annotations

import numpy as np


def components(count: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return which set each of ``count`` things is in (count,), where a[k] and b[k] are in the same."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(a), dtype=np.int8), (a, b)), shape=(count, count))
    return connected_components(graph.tocsr(), directed=False)[1]
