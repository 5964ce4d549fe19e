"""A command: what a tick takes in from a hand, as the numbers that travel to a remote site and into a re-run.

The numbers are columns of the row that the tick leaves behind, so that what was commanded can be read back
from it.
"""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.sample import FIXED, PLACE

STRETCHES = (
    ("device_x_m", "force_limit_N"),  # position, velocity, age, present, requests, coupler
    ("device_qw", "torque_limit_Nm"),  # orientation, angular velocity, coupler of the rotation
    ("link_late_s", "suspended_s"),  # also flags, gap
)
COLUMNS = np.concatenate([np.arange(PLACE[first], PLACE[last] + 1) for first, last in STRETCHES])
COMMAND = COLUMNS.size
NAMES = tuple(FIXED[i] for i in COLUMNS)
AT = {name: i for i, name in enumerate(NAMES)}  # where a column stands in a command

DEVICE, REQUESTS, COUPLER = AT["device_x_m"], AT["arm_requests"], AT["coupler_stiffness_N_per_m"]
ROTATION, ROTATION_COUPLER = AT["device_qw"], AT["coupler_stiffness_Nm_per_rad"]
LINK_LATE, FLAGS, GAP = AT["link_late_s"], AT["device_flags"], AT["tick_gap_s"]


def command_of(row: np.ndarray) -> np.ndarray:
    """(..., COMMAND) the command inside a tick's row (..., columns)."""
    return row[..., COLUMNS]


@kernel
def read_command(row, command):
    """Write the command inside a tick's row to command (COMMAND,)."""
    for i in range(COLUMNS.size):
        command[i] = row[COLUMNS[i]]


@kernel
def apply_command(command, inp):
    """Write a command (COMMAND,) to the input of the tick.

    Assumes finite numbers, but for the age, and requests below 2^53.
    """
    for j in range(8):
        inp.device[j] = command[DEVICE + j]
    for j in range(2):
        inp.requests[j] = int(command[REQUESTS + j])
    for j in range(3):
        inp.coupler[j] = command[COUPLER + j]
        inp.rotation_coupler[j] = command[ROTATION_COUPLER + j]
    for j in range(7):
        inp.device_rotation[j] = command[ROTATION + j]
    inp.link[0] = command[LINK_LATE]
    inp.flags[0] = int(command[FLAGS])
    inp.gap[0], inp.gap[1] = command[GAP], command[GAP + 1]
