"""What the bits of ``fault`` say, in words: what happened, and where somebody can do something, what to do.

The terminal says both; the window says what happened, and has advice of its own.
"""

from __future__ import annotations

from hapticsim.codes import Fault

FAULTS = {
    Fault.DEVICE_SILENT: ("the device fell silent", ""),
    Fault.NOT_FINITE: ("the simulation became NaN, infinite, or left all bounds", ""),
    Fault.DEVICE_SPEED: ("the device moved faster than allowed", ""),
    Fault.STOPPED: ("the device reports an emergency stop, or that it is not ready", ""),
    Fault.STRETCH: ("the coupler is stretched too far", "move the device to the handle"),
    Fault.TWIST: ("the coupler was twisted too far", "turn the device back towards the handle"),
    Fault.INCONSISTENT: ("constraints contradict one another", "one was refused, or let go"),
    Fault.STALLED: ("the loop stood still", ""),
    Fault.JUMP: ("the device's position jumped", ""),
    Fault.OSCILLATION: ("the coupled device swung by itself", "hold it, or lower the coupler's stiffness"),
    Fault.ENERGY: ("a tick would have gained energy", ""),
    Fault.LINK: ("the remote site was not heard", ""),
    Fault.OVERLOAD: ("more power, speed or continuous force than allowed", ""),
    Fault.SUSPENDED: ("the computer was suspended", ""),
    Fault.ROWS_FULL: ("more contacts than rows", "some are left out"),
}


def fault_words(fault: Fault, advice: bool = True) -> str:
    """Return why there is no force, every reason that holds; ``no fault`` for none.

    advice : with what there is to add.
    """
    found = [what for bit, what in FAULTS.items() if bit in fault]
    return ", ".join(f"{what}: {more}" if more and advice else what for what, more in found) or "no fault"
