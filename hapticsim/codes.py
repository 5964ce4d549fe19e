"""Numbers that cross a wall: kernels, wire, recorder and window all read them from here."""

from __future__ import annotations

from enum import IntEnum, IntFlag

# Joint kinds (model/tree.py)
REVOLUTE, PRISMATIC, FREE = 0, 1, 2

# Contact witnesses (kernels/contact.py): a sphere of radius >= 0 against a plane or a box
ON_PLANE, ON_BOX = 0, 1


class Safety(IntEnum):
    """State of the force output (haptics/safety.py)."""

    DISARMED = 0  # no force; waits for an explicit arm request
    ARMING = 1  # force ramps from zero
    ARMED = 2  # full coupling
    FAULT = 3  # no force; latched until an explicit arm request


class Fault(IntFlag):
    """Why the force was taken away; several may hold at once."""

    NONE = 0
    DEVICE_SILENT = 1  # no fresh device sample within the time allowed
    NOT_FINITE = 2  # the state or a force became NaN or infinite; last good state kept
    DEVICE_SPEED = 4  # the device moved faster than its limit
    STOPPED = 8  # the device asked for zero force
    STRETCH = 16  # the coupler was stretched beyond reach when arming was asked for


class Event(IntEnum):
    """What happened inside a tick (kernels/step.py), one record each."""

    TOUCH = 1  # a contact closed; value is the kinetic energy lost [J]
    LEAVE = 2  # a contact's force turned tensile and its row was deleted
    SELECT = 3  # independent speeds were chosen again; value is cond(A_D)
    OVERFLOW = 4  # more events in one tick than allowed; the rest was captured as resting
    SAFETY = 5  # the safety state changed; value is the new state
    NOT_FINITE = 6  # the tick was refused; last good state kept
