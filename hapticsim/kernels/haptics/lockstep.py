"""Hand, emulated device and tick in lockstep: a stretch of virtual time in one compiled call.

Per tick: the device is read, its buttons arm, disarm and switch, the tick is taken, its row is written, and
the force that has arrived by now goes to the motors.  ``virtual.simulate`` does the same in Python with
drivers that know no script.
"""

from __future__ import annotations

import math

from numba import types

from hapticsim.codes import Mode, Safety
from hapticsim.kernels.haptics.held_device import HeldDevice, read_held, write_held
from hapticsim.kernels.machine_code.foreign import callable_at
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import EVENTS, MODE, Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.block import Block, IntVector, Matrix, Vector
from hapticsim.kernels.memory.sample import fill_row

ENGAGE, DISENGAGE = 1, 2  # bits of the buttons (wire/messages/device.py)
DISARMED, FAULT, FREE = int(Safety.DISARMED), int(Safety.FAULT), int(Mode.FREE)
STEP = types.void(Plan._type, State._type, Input._type, Output._type, Workspace._type)
step_at = callable_at(STEP)


class Stretch(Block):
    """What happens in a stretch of ticks: the hand's script, and room for what comes of it."""

    targets: Matrix  # (ticks, 3) [m] where the hand wants to be
    angles: Vector  # (ticks,) [rad]
    buttons: IntVector  # (ticks,) int, bits
    button: IntVector  # (switches,) int, bit of the button that switches
    switched: IntVector  # (switches,) int, the constraint that it switches
    down: IntVector  # (3,) int: bits down before, as arming and as switching see them; codes.Safety before
    under_way: Matrix  # (late, 6) forces and torques on the wire, a ring
    next: IntVector  # (1,) int, place in it
    rows: Matrix  # (ticks, columns)
    events: Matrix  # (room, 5) tick, codes.Event, contact, value, time in tick [s]
    counts: IntVector  # (1,) int, events


@kernel
def press(plan, state, inp, io, buttons):
    """What the buttons of this tick ask for."""
    rising, safety = buttons & ~io.down[0], io.down[2]
    io.down[0] = buttons
    if rising & ENGAGE and (safety == DISARMED or safety == FAULT):
        inp.requests[0] += 1
    if rising & DISENGAGE:
        inp.requests[1] += 1
    rising = buttons & ~io.down[1]
    io.down[1] = buttons
    for i in range(io.button.size):
        if rising & io.button[i]:
            c = io.switched[i]
            held = 1 if state.mode[plan.contacts + c] == FREE else 0
            inp.switch[c] = 2 * (inp.switch[c] // 2 + 1) + held


def run_lockstep(step, plan, state, inp, out, ws, dev, io):
    """Take ticks until the stretch is over, or there may be no room for the events of another one.

    Returns the number of ticks taken.
    """
    take = step_at(step)
    io.counts[0] = 0
    f = out.hand_force_D
    for k in range(io.targets.shape[0]):
        if io.counts[0] + out.events.shape[0] > io.events.shape[0]:
            return k
        tick = state.tick[0]
        read_held(dev, tick * plan.tick_s, io.targets[k], io.angles[k])
        press(plan, state, inp, io, io.buttons[k])
        s = dev.sample
        for j in range(6):
            inp.device[j] = s[j]
        inp.device[6], inp.device[7] = 0.0, 1.0
        inp.flags[0] = dev.flags[0]
        inp.device_rotation[0], inp.device_rotation[3] = math.cos(0.5 * s[6]), math.sin(0.5 * s[6])
        inp.device_rotation[1] = inp.device_rotation[2] = inp.device_rotation[4] = inp.device_rotation[5] = (
            0.0
        )
        inp.device_rotation[6] = s[7]
        take(plan, state, inp, out, ws)
        fill_row(state, inp, out, io.rows[k], tick * plan.tick_s, tick, 0, 0)
        io.down[2] = state.safety[MODE]
        i, m = io.next[0], out.hand_torque_D
        if io.under_way.shape[0] == 0:
            write_held(dev, f[0], f[1], f[2], m[2])
        else:
            w = io.under_way[i]
            write_held(dev, w[0], w[1], w[2], w[5])
            for j in range(3):
                w[j], w[3 + j] = f[j], m[j]
            io.next[0] = (i + 1) % io.under_way.shape[0]
        for e in range(min(out.counts[EVENTS], out.events.shape[0])):
            row = io.events[io.counts[0]]
            row[0] = tick
            for j in range(4):
                row[1 + j] = out.events[e, j]
            io.counts[0] += 1
    return io.targets.shape[0]


LOCKSTEP = types.int64(types.int64, *STEP.args, HeldDevice._type, Stretch._type)
