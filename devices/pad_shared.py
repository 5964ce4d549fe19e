"""What the pad window and its driver, two processes, share.

Each number has one writer and is written whole.  A set of numbers may be read half old, half new: that is a
pointer between two frames, and harmless.
"""

from __future__ import annotations

import ctypes
from ctypes import c_double, c_int64
from dataclasses import dataclass


class Shared(ctypes.Structure):
    """What the two processes share."""

    _fields_ = (
        ("goal_m", c_double * 3),  # window: where the pointer wants the hand, device frame
        ("buttons", c_int64),  # window
        ("state", c_int64),  # window: STARTING, OPEN, CLOSED, FAILED
        ("handle_m", c_double * 3),  # driver
        ("target_m", c_double * 3),  # driver: the hand's target, after smoothing
        ("force_N", c_double * 3),  # driver: on the hand
        ("mode", c_int64),  # driver: codes.Safety, -1 without a server
        ("fault", c_int64),  # driver: codes.Fault
        ("leave", c_int64),  # driver: 1 asks the window to close
        ("turn_goal_rad", c_double),  # window: what the hand wants to turn, about Z
        ("turn_rad", c_double),  # driver: how far the handle is turned
        ("looks", c_int64),  # window: how often it has looked at the pointer
    )


STARTING, OPEN, CLOSED, FAILED = 0, 1, 2, 3


@dataclass(frozen=True, slots=True)
class PadTerms:
    """What the window needs to know once."""

    model: str
    workspace_radius_m: float
    reach_m: float  # half the width of the window
    max_force_N: float
    turns: bool = False  # the handle turns about Z
