"""Settings that a scene file gives as they are: each key once, with its type, range, default and meaning.

The file's schema (config/schema) reads these classes and adds nothing.  A number that the tick needs has the
same name in ``Plan`` (kernels/memory/arrays.py) and gets there by that name.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from annotated_types import Ge, Gt, Le, Lt, doc

Positive = Annotated[float, Gt(0.0)]
NotNegative = Annotated[float, Ge(0.0)]


@dataclass(frozen=True, eq=False)
class Settings:
    """A mapping in the file whose keys are the fields: none unknown, no silent conversion, finite numbers."""

    __pydantic_config__: ClassVar = {"extra": "forbid", "strict": True, "allow_inf_nan": False}


@dataclass(frozen=True, eq=False)
class CouplerSettings(Settings):
    """Spring and damper between device and handle; a gain left out follows from device and rate."""

    stiffness_N_per_m: Annotated[Positive | None, doc("spring")] = None
    damping_Ns_per_m: Annotated[NotNegative | None, doc("damper")] = None
    device_damping_Ns_per_m: Annotated[
        NotNegative | None, doc("physical damping of the device that the stability condition may count on")
    ] = None
    rotation: Annotated[
        Literal["none", "z", "full"],
        doc("what is coupled of the rotation: nothing, about the device's z, all axes"),
    ] = "none"
    stiffness_Nm_per_rad: Annotated[Positive | None, doc("spring of the rotation")] = None
    damping_Nms_per_rad: Annotated[NotNegative | None, doc("damper of the rotation")] = None
    device_damping_Nms_per_rad: Annotated[
        NotNegative | None, doc("as device_damping_Ns_per_m, of the rotation")
    ] = None
    torque_limit_Nm: Annotated[Positive | None, doc("largest torque; left out: the device's own limit")] = (
        None
    )
    slew_limit_Nm_per_s: Annotated[Positive, doc("fastest change of the torque")] = 50.0
    unsafe: Annotated[bool, doc("take gains with which a device that is let go swings by itself")] = False


@dataclass(frozen=True, eq=False)
class SafetySettings(Settings):
    """Limits of the force output."""

    ramp_s: Annotated[NotNegative, doc("time from zero to full coupling after arming")] = 0.5
    timeout_s: Annotated[
        float, Ge(0.001), Le(0.01), doc("silence of the device after which the force is zero")
    ] = 0.01
    force_limit_N: Annotated[Positive | None, doc("largest force; left out: the device's own limit")] = None
    slew_limit_N_per_s: Annotated[float, Gt(0.0), Le(1e7), doc("fastest change of the force")] = 2000.0
    max_stretch_m: Annotated[
        Positive,
        doc(
            "arming is refused while device and handle are farther apart; four times as far takes the "
            "force away"
        ),
    ] = 0.05
    max_device_speed_m_per_s: Annotated[
        Positive, doc("a device that moves or jumps faster takes the force away")
    ] = 5.0
    max_power_W: Annotated[
        Positive | None,
        doc(
            "more power into the hand takes the force away; left out: half of the largest force at "
            "max_device_speed_m_per_s"
        ),
    ] = None
    resume_within_s: Annotated[
        float,
        Ge(0.0),
        Le(1.0),
        doc("force ramps up again by itself after a silence that ends within this; 0: never"),
    ] = 0.1


@dataclass(frozen=True, eq=False)
class SleepSettings(Settings):
    """When a body that rests on others falls asleep; what comes near wakes it."""

    speed_m_per_s: Annotated[
        float, Gt(0.0), Le(0.01), doc("below which it rests; of its farthest points where it turns")
    ] = 1e-4
    after_s: Annotated[float, Ge(0.05), Le(60.0), doc("for so long it has rested")] = 0.5


@dataclass(frozen=True, eq=False)
class StopSettings(Settings):
    """The ends of the ranges of joints are stops."""

    restitution: Annotated[
        float, Ge(0.0), Le(1.0), doc("speed after a joint met a stop by speed before it")
    ] = 0.0


@dataclass(frozen=True, eq=False)
class JointFrictionSettings(Settings):
    """Coulomb friction of joints acts."""

    static_over_kinetic: Annotated[
        float, Ge(1.0), Le(10.0), doc("force that a joint at rest bears by that of one that moves")
    ] = 1.0


@dataclass(frozen=True, eq=False)
class LinkSettings(Settings):
    """Emulated link between the operator and the remote site."""

    delay_up_s: Annotated[NotNegative, doc("operator to remote")] = 0.0
    delay_down_s: Annotated[NotNegative, doc("remote to operator")] = 0.0
    jitter_s: Annotated[NotNegative, doc("largest additional delay of a message")] = 0.0
    loss: Annotated[float, Ge(0.0), Lt(1.0), doc("probability that a message is lost")] = 0.0
    silence_s: Annotated[
        float,
        Ge(0.02),
        Le(10.0),
        doc(
            "how much older than delays and jitter explain the remote site's word may be, before the force "
            "is taken away; across a real network its own delay comes out of this"
        ),
    ] = 0.25
    seed: Annotated[int, Ge(0), Le(4294967295), doc("of the random numbers")] = 0
