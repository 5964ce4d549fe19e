"""The state machine of the force output by itself: its kernels, and an assembly whose frames are one."""

from __future__ import annotations

import dataclasses

import numpy as np

import hapticsim as hs
from hapticsim.assemble.assembly import Assembly, assemble
from hapticsim.kernels.haptics import hand, oscillation, safety
from tests.kernel_access import FLOAT, INPUT, PLAN, STATE, compiled
from tests.places import WAM

update_safety = compiled(safety.update_safety, PLAN, STATE, INPUT, FLOAT, FLOAT, FLOAT)
command_hand = compiled(hand.command_hand, PLAN, STATE, INPUT, FLOAT, FLOAT, FLOAT)
bound_power = compiled(hand.bound_power, PLAN, STATE, INPUT)
watch_swing = compiled(oscillation.watch_swing, PLAN, STATE, INPUT)


def unmapped_assembly() -> Assembly:
    """A scene whose device axes are the world's."""
    scene = hs.load(WAM)
    mapping = dataclasses.replace(scene.mapping, origin_W=np.zeros(3), rotation_WD=np.eye(3))
    return assemble(dataclasses.replace(scene, mapping=mapping))
