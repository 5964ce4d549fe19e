"""A rehearsal of the tick leaves no trace, and looks for no event."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.kernels.memory.arrays import PIECES, REHEARSAL, TRIALS
from tests.places import CONFIGS
from tests.scenes import block

SCENES = {
    "tumbling block": lambda: block((0.1, 0.07, 0.05), 1.0, (0.0, 0.0, 0.3), (0.4, 0.5, 0.6)),
    "puck": lambda: hs.load(CONFIGS / "puck_and_wall.yaml"),
    "knob": lambda: hs.load(CONFIGS / "explore_part.yaml"),
    "boxes that rub": lambda: hs.load(CONFIGS / "push_boxes.yaml"),
    "disk": lambda: hs.load(CONFIGS / "rolling_disk.yaml"),
}


@pytest.mark.parametrize("name", SCENES)
def test_a_tick_after_a_rehearsal_is_the_same_to_the_bit(name):
    scene = SCENES[name]()
    plain, rehearsing = hs.Simulation(scene), hs.Simulation(scene)
    unseen, rehearsed = rehearsing.assembly.new_output(), rehearsing.assembly.new_state()
    unseen.counts[REHEARSAL] = 1
    busiest = 0
    for tick in range(500):
        force = np.array([0.5 * np.sin(0.02 * tick), 0.3 * np.cos(0.03 * tick), -0.5])
        if rehearsing.plan.handle_frame >= 0:
            plain.apply(force=force)
            rehearsing.apply(force=force)
        rehearsed.words[:] = rehearsing._state.words
        blocks = rehearsing.plan, rehearsed, rehearsing._input, unseen, rehearsing._workspace
        rehearsing._run(rehearsing._step, *(block.address for block in blocks), 1)
        assert unseen.counts[PIECES] <= 1
        busiest = max(busiest, int(rehearsing._output.counts[TRIALS]))
        plain.step()
        rehearsing.step()
        assert np.array_equal(plain._state.words, rehearsing._state.words), tick
        assert plain.events == rehearsing.events
    stepping = name in ("disk", "puck", "boxes that rub")
    assert stepping or busiest > 1, "some ticks look for events"
