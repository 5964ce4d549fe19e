"""Public objects to call with wrong arguments, made once, and what tells whether a call changed one."""

from __future__ import annotations

from functools import cache

import numpy as np

import hapticsim as hs
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.wire.sockets.endpoints import private_folder
from tests import scenes
from tests.places import CONFIGS, WAM

NOWHERE = f"ipc://{private_folder()}/nobody.sock"
BAR = CONFIGS / "four_bar.yaml"
LIMITS = DeviceLimits(12.0, 14500.0, 10.0, 0.2)
HUGE = 10**400


@cache
def arm() -> hs.Simulation:
    return hs.Simulation(hs.load(WAM))


@cache
def bar() -> hs.Simulation:
    return hs.Simulation(hs.load(BAR))


@cache
def puck() -> hs.Simulation:
    return hs.Simulation(hs.load(CONFIGS / "puck_and_wall.yaml"))


@cache
def rods() -> hs.Equations:
    return hs.compile_equations(scenes.arm((0.1, 0.2)).model)


@cache
def observer() -> hs.Subscriber:
    return hs.Subscriber(NOWHERE)


@cache
def switches() -> hs.Switches:
    return hs.Switches(NOWHERE, timeout_s=0.01)


def bits(sim: hs.Simulation) -> bytes:
    return b"".join(array.tobytes() for _, array in sim.fork().items())


class Unprintable:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


Z3, Z4 = np.zeros(3), np.zeros(4)
TURN = np.array([1.0, 0.0, 0.0, 0.0])
