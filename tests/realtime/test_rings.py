"""The rings that a loop writes: their pages are in memory before the first tick."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.kernels.memory.sample import row_columns
from hapticsim.realtime.exchange import allocate_exchange
from tests.scenes import block

PAGE = 4096


@pytest.mark.parametrize("contacts", [8, 200])  # numpy asks for pages of 2 MB from 4 MB on
def test_the_loop_is_not_the_first_to_touch_a_page_of_a_ring(contacts):
    resource = pytest.importorskip("resource")
    columns = len(row_columns(6, 6, [str(c) for c in range(contacts)]))
    state = hs.Simulation(block((0.1, 0.1, 0.1), 1.0, (0.0, 0.0, 0.3)))._state
    io = allocate_exchange(1_000_000, False, columns, state)
    rings = [io.ring.reshape(-1), io.event_ring.reshape(-1), io.choice_ring.reshape(-1)]
    step = PAGE // rings[0].itemsize

    def faults() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt)

    before = faults()
    for ring in rings:
        ring[::step] = 1.0
    pages = sum(ring.nbytes for ring in rings) / PAGE
    assert faults() - before < 0.02 * pages, f"of {pages:.0f} pages"
    fresh = np.zeros(8_000_000)  # too many for memory that something else had
    before = faults()
    fresh[::step] = 1.0
    assert faults() > before, "memory that nobody touched is seen so"
