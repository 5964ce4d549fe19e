"""Third stage of a tick: the force for the hand, and the sample of this instant."""

from __future__ import annotations

import math

from hapticsim.codes import Fault
from hapticsim.kernels.events.observe import copy, report
from hapticsim.kernels.haptics.coupling import anchor, coupler_force, handle_motion
from hapticsim.kernels.haptics.hand import bound_power, command_hand, sample_torque
from hapticsim.kernels.haptics.oscillation import OSCILLATION, watch_swing
from hapticsim.kernels.haptics.safety import ARMED_STRETCH, take_force_away
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.units import report_yielding

STRETCH = int(Fault.STRETCH)


@kernel
def report_sample(plan, state, inp, out, ws, m):
    """Write what holds at the start of the tick, with m rows imposed: forces, gaps, coupler, hand."""
    sample_coupler(plan, state, inp, out, ws)
    report(plan, state, out, ws, m)
    report_yielding(plan, state, out, ws, 1)


@kernel
def sample_coupler(plan, state, inp, out, ws):
    """Coupler at the start of the tick: what is published, and the command for the hand."""
    if plan.handle_frame < 0:
        return
    sample_torque(plan, state, inp, out, ws)
    px, py, pz, _, _, _ = anchor(plan, state, inp)
    _, _, _, hx, hy, hz, _, _, _ = handle_motion(plan, ws)
    fx, fy, fz = coupler_force(plan, state, inp, ws, 0.0)
    stretch = math.sqrt((px - hx) ** 2 + (py - hy) ** 2 + (pz - hz) ** 2)
    if state.gain[0] > 0.0 and stretch > ARMED_STRETCH * plan.max_stretch_m:
        take_force_away(state, STRETCH)
        fx = fy = fz = 0.0
    out.anchor_W[0], out.anchor_W[1], out.anchor_W[2] = px, py, pz
    out.handle_W[0], out.handle_W[1], out.handle_W[2] = hx, hy, hz
    out.coupler_W[0], out.coupler_W[1], out.coupler_W[2] = fx, fy, fz
    command_hand(plan, state, inp, fx, fy, fz)
    bound_power(plan, state, inp)
    if watch_swing(plan, state, inp):
        take_force_away(state, OSCILLATION)
        copy(state.hand_torque_D, out.hand_torque_D)
    copy(state.hand_force_D, out.hand_force_D)
