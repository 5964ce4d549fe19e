"""No tick allocates: a kernel that would does not compile, and 2000 ticks of compiled code are counted.

The counters exist only in a process that was started with NUMBA_NRT_STATS=1.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.errors import NumbaError

from hapticsim.kernels.machine_code.jit import inlined, kernel

ROOT = Path(__file__).parents[2]

PROGRAM = """
import json, sys
import numpy as np
from numba import njit
from numba.core.runtime import rtsys
import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.haptics.coupler import DeviceLimits
from tests import scenes
from tests.loop_scenes import config
from tests.places import PUCK, WAM


@njit
def wasteful(n):
    total = 0.0
    for i in range(n):
        total += np.ones(3)[i % 3]
    return total


def allocations(work):
    before = rtsys.get_allocation_stats().alloc
    work()
    return rtsys.get_allocation_stats().alloc - before


def wam():
    sim = hs.Simulation(hs.load(WAM))
    sim.couple(DeviceLimits(12.0, 14500.0, 10.0, 0.2))
    sim.set_device(np.zeros(3), np.zeros(3))
    sim.arm()
    return sim, np.array([1.0, 0.5, -5.0])


def fixed(scene, *force):
    sim = hs.Simulation(scene)
    return sim, np.array(force)


CASES = {
    "arm on the table, coupled": wam,
    "block that rocks to rest": lambda: fixed(scenes.block(at=(0, 0, 0.25), rpy=(0.3, 0.2, 0.1)), 0, 0, 0),
    "puck against the wall and past it": lambda: fixed(hs.load(PUCK), 1.0, 0.2, 0.0),
    "bead on a bent wire": lambda: fixed(config("curve_guide"), 0.3, 0.1, 0.2),
    "arm that touches and leaves": lambda: fixed(scenes.arm((0.1, -1.2), (-1.0, -2.0)), 0.0, 0.0, -3.0),
}
wasteful(1)
found = {"wasteful": {"allocations": allocations(lambda: wasteful(100)), "events": []}}
for name, build in CASES.items():
    sim, force = build()
    sim.apply(force=force)
    events = set()
    for _ in range(50):  # a look between runs shows what the runs were made of
        sim.step(1)
        events.update(Event(e.kind).name for e in sim.events)
    start = sim.fork()
    count = allocations(lambda: sim.step(2000))
    sim.restore(start)
    for _ in range(2000):
        sim.step()
        events.update(Event(e.kind).name for e in sim.events)
    found[name] = {"allocations": count, "events": sorted(events)}
json.dump(found, sys.stdout)
"""


@pytest.fixture(scope="module")
def counted() -> dict[str, dict]:
    environment = {**os.environ, "NUMBA_NRT_STATS": "1", "PYTHONPATH": str(ROOT)}
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_the_counter_counts(counted):
    assert counted["wasteful"]["allocations"] >= 100


def test_no_tick_allocates_whatever_happens_in_it(counted):
    counted = {name: case for name, case in counted.items() if name != "wasteful"}
    assert {name: case["allocations"] for name, case in counted.items()} == dict.fromkeys(counted, 0)
    seen = {event for case in counted.values() for event in case["events"]}
    assert {"TOUCH", "LEAVE", "SELECT", "SAFETY"} <= seen, "impacts, deletions and choices must be among them"


@pytest.mark.parametrize("decorate", [kernel, inlined])
def test_a_kernel_that_would_allocate_does_not_compile(decorate):
    @decorate
    def wasteful(a):
        return np.ones(3)[0] + a

    with pytest.raises(NumbaError, match=r"NRT required|returning of array"):
        wasteful(1.0)
