"""The state machine of the force output with a scene, a device and a handle, for tests tick by tick."""

from __future__ import annotations

import dataclasses

import numpy as np

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.codes import DeviceFlag, Fault, Safety
from tests.models import Z, turn
from tests.places import WAM
from tests.safety_kernels import command_hand, update_safety

ORIGIN = np.array([0.5, 0.1, 0.4])
MAX_STRETCH_m = 0.05
RAMP_TICKS, SLEW = 8, 100.0  # 1/8 is a binary fraction, so the ramp ends in exactly that many ticks
DISARMED, ARMING, ARMED, FAULT, INTERRUPTED = Safety
STOPPED = DeviceFlag.READY | DeviceFlag.STOPPED


class Machine:
    """Plan, state and input of a run; the handle sits at the device's centre.

    resume_within_s is 0 where not said: every silence is a fault.
    """

    def __init__(
        self,
        fixed_mapping: bool = True,
        ramp_ticks: int = RAMP_TICKS,
        resume_within_s: float = 0.0,
        max_power_W: float | None = None,
    ) -> None:
        scene = hs.load(WAM)
        scene = dataclasses.replace(
            scene,
            mapping=dataclasses.replace(
                scene.mapping,
                origin_W=ORIGIN if fixed_mapping else None,
                rotation_WD=turn(Z, 0.5),
                force_scale=0.5,
            ),
            safety=dataclasses.replace(
                scene.safety,
                ramp_s=ramp_ticks * 1e-3,
                slew_limit_N_per_s=SLEW,
                max_stretch_m=MAX_STRETCH_m,
                resume_within_s=resume_within_s,
                max_power_W=max_power_W,
            ),
        )
        assembly = assemble(scene)
        self.plan, self.state, self.input = assembly.plan, assembly.new_state(), assembly.new_input()
        self.state.origin_W[:] = ORIGIN
        self.input.coupler[:] = 1000.0, 1.0, 2.0
        self.fresh()

    def fresh(self) -> None:
        self.input.device[:] = 0.0
        self.input.device[7] = 1.0
        self.input.flags[0] = DeviceFlag.READY

    def request(self, arm: int = 0, disarm: int = 0) -> None:
        self.input.requests[0] += arm
        self.input.requests[1] += disarm

    def tick(self, handle: np.ndarray = ORIGIN) -> Safety:
        update_safety(self.plan, self.state, self.input, *handle)
        return self.now

    def armed(self) -> Machine:
        self.request(arm=1)
        for _ in range(RAMP_TICKS):
            self.tick()
        assert self.now is ARMED
        return self

    def faulted(self) -> Machine:
        self.armed().input.device[7] = 0.0
        assert self.tick() is FAULT
        self.fresh()
        return self

    @property
    def now(self) -> Safety:
        return Safety(int(self.state.safety[0]))

    @property
    def fault(self) -> Fault:
        return Fault(int(self.state.safety[1]))

    @property
    def gain(self) -> float:
        return float(self.state.gain[0])

    def hand(self, *force: float) -> np.ndarray:
        """Command for the hand when the coupler pulls the handle with this force; device axes."""
        command_hand(self.plan, self.state, self.input, *force)
        return self.state.hand_force_D.copy()
