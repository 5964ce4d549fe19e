"""Numbers that cross a wall: kernels, wire, recorder and window all read them from here."""

from __future__ import annotations

from enum import IntEnum, IntFlag

# Kinds of rows (kernels/rows/bilateral.py, kernels/geometry/contact.py, model/constraints.py)
POINT_ROW, ANGLE_ROW, DISTANCE_ROW, SPEEDS_ROW, ROLL_ROW, SKATE_ROW, EQUATION_ROW, CURVE_ROW, CONTACT_ROW = (
    range(9)
)

# Laws by which the rows of a block give force: only pushing, both ways whatever it takes, or both ways up to
# what friction bears
ONE_SIDED, TWO_SIDED, RUBBING = range(3)

# Contact witnesses (kernels/geometry/contact.py): a sphere of radius >= 0 against a plane, a box or a
# capsule (a sphere, where it has no length), or its side alone; the side of a capsule across that of another;
# edges across edges; features of two convex solids; a sphere against a triangle mesh, or a cylinder; the
# rim of a cylinder or a cone against a plane; an ellipsoid against a plane; a sphere against an ellipsoid,
# or a cone
ON_PLANE, ON_BOX, ON_CAPSULE, ON_SIDE, ON_CROSSING, ON_EDGES, ON_HULLS, ON_MESH = range(8)
ON_CYLINDER, ON_RIM, ON_SUPPORT, ON_ELLIPSOID, ON_CONE = range(8, 13)


class DeviceFlag(IntFlag):
    """What a device says of itself with every sample (wire/messages/device.py, State.flags)."""

    READY = 1  # calibrated, powered, may be driven
    SATURATED = 2  # less force was applied than commanded
    WATCHDOG = 4  # the bridge took the force away because the server was silent
    STOPPED = 8  # emergency stop or dead-man switch released: the server must disarm
    AT_LIMIT = 16  # at the edge of the workspace
    REFUSED = 32  # a commanded force was not usable (not finite); zero was applied


class Safety(IntEnum):
    """State of the force output (kernels/haptics/safety.py)."""

    DISARMED = 0  # no force; waits for an explicit arm request
    ARMING = 1  # force ramps from zero
    ARMED = 2  # full coupling
    FAULT = 3  # no force; latched until an explicit arm request
    INTERRUPTED = 4  # no force after a short silence; ramps again by itself if the peer is back in time


class Mode(IntEnum):
    """What a block does: a contact, a constraint."""

    FREE = 0  # nothing
    HELD = 1  # its rows are imposed
    FORWARD = 2  # it slips at a positive rate: its friction acts against that
    BACKWARD = 3  # it slips at a negative rate


class Grip(IntEnum):
    """What a contact that is held does along its surface, in exact ticks."""

    NONE = 0  # nothing was said yet
    SLIDES = 1  # its friction acts against its slip
    STICKS = 2  # it does not slip


class Fault(IntFlag):
    """Why the force was taken away; several may hold at once."""

    NONE = 0
    DEVICE_SILENT = 1  # no fresh device sample within the time allowed
    NOT_FINITE = 2  # the state or a force became NaN, infinite, or left all bounds; last good state kept
    DEVICE_SPEED = 4  # the device moved faster than its limit
    STOPPED = 8  # the device reports an emergency stop, or that it is not ready
    STRETCH = 16  # the coupler was too long when arming was asked for, or four times as long later
    INCONSISTENT = 32  # constraints contradict one another; last good state kept
    TWIST = 64  # the coupler was twisted beyond reach while it turned the hand
    STALLED = 128  # the loop stood still for longer than a device may be left without a word
    JUMP = 256  # the device's position moved further than its speed allows
    OSCILLATION = 512  # the coupled device swung by itself
    ENERGY = 1024  # a tick would have gained more energy than was put in; last good state kept
    LINK = 2048  # the remote site was not heard for longer than its link allows
    OVERLOAD = 4096  # more power, speed or continuous force than allowed
    SUSPENDED = 8192  # the computer was suspended
    ROWS_FULL = 16384  # more contacts than rows: some are left out


MAX_EVENTS = 16  # located in a tick, at most
NO_TICK, CROWDED_TICKS, EVERY_TICK = range(3)  # which ticks are time steps


class Event(IntEnum):
    """What happened inside a tick (kernels/step.py), one record each."""

    TOUCH = 1  # a contact closed; value is the kinetic energy lost [J]
    LEAVE = 2  # a contact would have had to pull, or is past its edge: its row was deleted
    SELECT = 3  # independent speeds were chosen again; value is cond(A_D)
    OVERFLOW = 4  # chatter, or more events than a tick handles: contacts nearly closed were taken as resting
    SAFETY = 5  # the safety state changed; value is the new state
    NOT_FINITE = 6  # the tick was refused; last good state kept
    SWITCH = 7  # a constraint was switched; value is its new Mode
    REFUSED = 8  # a constraint was not imposed; value is how far off it is, below 0 the depth [m] of a push,
    # -inf: no rows are left
    RANK = 9  # the rank of the imposed rows changed; value is the new rank
    CONFLICT = 10  # a constraint contradicts others; value is its share of the contradiction, 0 to 1
    TWICE = 11  # a constraint was switched more than once within a tick; the last wish counted
    IMPULSE = 12  # constraints, or a contact that parted at once, took energy; value is what was lost [J]
    ENERGY = 13  # the tick was refused: it would have gained this energy [J]; last good state kept
    ROWS_FULL = 14  # a contact was left out: all rows are taken; value is how many were left out
    THROUGH = 15  # a shape is inside another where nothing holds it, and passes; value is how deep [m]
    SLIDES = 18  # a contact that stuck slides; value is the force that friction bore [N]
    STICKS = 19  # the slip of a contact came to rest; value is its last speed [m/s]
    STEPPED = 17  # the tick was one time step: too many contacts or events, or friction that is not exact;
    # value is how many held
    HALTED = 16  # the mechanism, or a part, stood still for the rest of the tick; value is how long [s]
