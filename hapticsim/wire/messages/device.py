"""Device messages, protocol version 1: one dataclass per kind, one line per field.

The annotation of a field carries its key on the wire and the check of its value (`fields`), so this page is
the protocol; ``docs/protocol.md`` says the same for readers of other languages, with examples in bytes.

Right-handed, SI.  Device base frame D: X right, Y away from the user, Z up.  Positions are of the handle.
**A force on the wire is what the device applies to the hand.**  Vectors in D, quaternions (w, x, y, z).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag
from typing import Annotated, ClassVar

from hapticsim.codes import DeviceFlag as DeviceFlag
from hapticsim.codes import Fault, Safety
from hapticsim.wire.messages.fields import (
    INT63,
    REASON_LENGTH,
    TEXT_LENGTH,
    UINT32,
    Key,
    Quaternion,
    Vector,
    boolean,
    integer,
    number,
    optional,
    text,
    unit_quaternion,
    vector,
    zero_or,
)

PROTOCOL = 1
MAX_BYTES = 4096

# Beyond these a value is a defect of the sender, not a measurement.
POSITION_LIMIT_m = 10.0
VELOCITY_LIMIT_m_per_s = 100.0
ANGULAR_VELOCITY_LIMIT_rad_per_s = 1000.0
FORCE_LIMIT_N = 1000.0
TORQUE_LIMIT_Nm = 100.0
LEAST_MASS_KG, LEAST_INERTIA_KG_M2 = 1e-4, 1e-8  # of a handle; 0: the device does not say
MAX_RESUME_s = 1.0  # a silence longer than this is never ridden through


class Button(IntFlag):
    """Bits of `State.buttons` with a name; the others are free."""

    ENGAGE = 1
    DISENGAGE = 2
    FIRST = 4  # this and the next three mean what the scene says
    SECOND = 8
    THIRD = 16
    FOURTH = 32


# Bits by the names that scenes use.
FREE_BUTTONS = {b.name.lower(): int(b) for b in Button if b.name and b > Button.DISENGAGE}


@dataclass(slots=True, kw_only=True)
class Message:
    """Envelope of every message; whoever sends it fills it in."""

    kind: ClassVar[str]

    session: Annotated[int, Key("s", integer(0, UINT32))] = 0  # given by welcome; 0 in hello and reject
    number: Annotated[int, Key("n", integer(0, INT63))] = 0  # per sender, +1 with every message
    stamp_ns: Annotated[int, Key("t", integer(0, INT63))] = 0  # the sender's monotonic clock
    echo_ns: Annotated[int, Key("e", integer(0, INT63))] = (
        0  # newest stamp received from the peer; 0: none yet
    )


# ------------------------------------------------------------------------------------------- device -> server


@dataclass(slots=True)
class Hello(Message):
    """A device describes itself and asks for a session."""

    kind: ClassVar[str] = "hello"

    name: Annotated[str, Key("name", text(TEXT_LENGTH))]  # of this device, for people
    driver: Annotated[str, Key("driver", text(TEXT_LENGTH))]
    model: Annotated[str, Key("model", text(TEXT_LENGTH))]
    max_force_N: Annotated[float, Key("max_force_N", number(0.0, FORCE_LIMIT_N))]  # 0: cannot push
    max_stiffness_N_per_m: Annotated[float, Key("max_stiffness_N_per_m", number(0.0, 1e7))]
    max_damping_Ns_per_m: Annotated[float, Key("max_damping_Ns_per_m", number(0.0, 1e5))]
    workspace_radius_m: Annotated[float, Key("workspace_radius_m", number(1e-4, POSITION_LIMIT_m))]
    apparent_mass_kg: Annotated[float, Key("apparent_mass_kg", zero_or(LEAST_MASS_KG, 1000.0))]
    position_resolution_m: Annotated[float, Key("position_resolution_m", number(0.0, 0.1))]
    rate_Hz: Annotated[float, Key("rate_Hz", number(1.0, 1e5))]  # what the device would like
    dof_in: Annotated[int, Key("dof_in", integer(1, 7))]  # measured
    dof_out: Annotated[int, Key("dof_out", integer(0, 7))]  # actuated
    emulated: Annotated[bool, Key("emulated", boolean)]
    # Of the rotation; absent from a device that cannot turn the hand.
    max_torque_Nm: Annotated[float, Key("max_torque_Nm", number(0.0, TORQUE_LIMIT_Nm), 0.0)] = 0.0
    max_stiffness_Nm_per_rad: Annotated[float, Key("max_stiffness_Nm_per_rad", number(0.0, 1e5), 0.0)] = 0.0
    max_damping_Nms_per_rad: Annotated[float, Key("max_damping_Nms_per_rad", number(0.0, 1e3), 0.0)] = 0.0
    apparent_inertia_kg_m2: Annotated[
        float, Key("apparent_inertia_kg_m2", zero_or(LEAST_INERTIA_KG_M2, 10.0), 0.0)
    ] = 0.0
    # over which the driver takes the velocity from positions; 0: it is measured
    velocity_window_s: Annotated[float, Key("velocity_window_s", number(0.0, 0.1), 0.01)] = 0.01


@dataclass(slots=True)
class State(Message):
    """What the device measures, once per tick of the bridge."""

    kind: ClassVar[str] = "state"

    position_m: Annotated[Vector, Key("p", vector(POSITION_LIMIT_m))]
    quaternion: Annotated[Quaternion, Key("r", unit_quaternion)]  # X_DH, (1, 0, 0, 0) if not measured
    velocity_m_per_s: Annotated[Vector, Key("d", vector(VELOCITY_LIMIT_m_per_s))]
    angular_velocity_rad_per_s: Annotated[Vector, Key("w", vector(ANGULAR_VELOCITY_LIMIT_rad_per_s))]
    buttons: Annotated[int, Key("b", integer(0, UINT32))]  # Button
    force_N: Annotated[Vector, Key("f", vector(FORCE_LIMIT_N))]  # really applied to the hand
    flags: Annotated[int, Key("x", integer(0, UINT32))]  # DeviceFlag
    target_m: Annotated[
        Vector | None, Key("g", optional(vector(POSITION_LIMIT_m)))
    ]  # where the hand wants to be


@dataclass(slots=True)
class Arm(Message):
    """The hand asks for force."""

    kind: ClassVar[str] = "arm"


@dataclass(slots=True)
class Disarm(Message):
    """The hand asks for zero force."""

    kind: ClassVar[str] = "disarm"


# ------------------------------------------------------------------------------------------- server -> device


@dataclass(slots=True)
class Welcome(Message):
    """Answer to hello; its envelope carries the new session and echoes the stamp of that hello."""

    kind: ClassVar[str] = "welcome"

    rate_Hz: Annotated[float, Key("rate_Hz", number(1.0, 1e5))]  # of the states the server wants
    timeout_s: Annotated[
        float, Key("timeout_s", number(1e-3, 10.0))
    ]  # silence after which either end gives zero
    force_limit_N: Annotated[float, Key("force_limit_N", number(0.0, FORCE_LIMIT_N))]
    slew_limit_N_per_s: Annotated[float, Key("slew_limit_N_per_s", number(0.0, 1e7))]
    protocol: Annotated[int, Key("protocol", integer(1, UINT32))] = PROTOCOL
    # Absent from servers of before: no torque limit is said, and no interruption ends by itself.
    torque_limit_Nm: Annotated[float, Key("torque_limit_Nm", number(0.0, TORQUE_LIMIT_Nm), 0.0)] = 0.0
    resume_within_s: Annotated[float, Key("resume_within_s", number(0.0, MAX_RESUME_s), 0.0)] = 0.0


@dataclass(slots=True)
class Reject(Message):
    """Answer to hello when there will be no session."""

    kind: ClassVar[str] = "reject"

    reason: Annotated[str, Key("reason", text(REASON_LENGTH))]  # one sentence


@dataclass(slots=True)
class Force(Message):
    """What the device shall apply to the hand until the next one, or until the time-out."""

    kind: ClassVar[str] = "force"

    force_N: Annotated[Vector, Key("f", vector(FORCE_LIMIT_N))]
    torque_Nm: Annotated[Vector, Key("m", vector(TORQUE_LIMIT_Nm))]
    mode: Annotated[int, Key("q", integer(min(Safety), max(Safety)))]  # codes.Safety
    fault: Annotated[int, Key("x", integer(Fault.NONE, UINT32))]  # codes.Fault bits


# ------------------------------------------------------------------------------------------------ either way


@dataclass(slots=True)
class Bye(Message):
    """The sender leaves; the session is over."""

    kind: ClassVar[str] = "bye"

    reason: Annotated[str, Key("reason", text(REASON_LENGTH))]  # one sentence


FROM_DEVICE: frozenset[type[Message]] = frozenset({Hello, State, Arm, Disarm, Bye})
FROM_SERVER: frozenset[type[Message]] = frozenset({Welcome, Reject, Force, Bye})
