"""Gains of the virtual coupler from the device, the rate and the delay, and what passivity asks of them.

A spring-damper rendered by a sampled device is passive when the device's own physical damping b satisfies

    b > K (T/2 + t_d) + |B|        (Colgate and Schenkel 1997, for the sampled wall; t_d an added delay)

so virtual damping B costs passivity.  Few devices have that much damping; with a hand on them most do.  The
condition is checked for the device alone and with the hand, printed, and never assumed.

A device that is let go has to come to rest all the same, also where a force is later than expected: gains
that are left open are the largest that allow it (let_go.py), and gains that do not are not taken, unless the
scene says ``unsafe``.  A rotation that is coupled too is chosen and checked in the same way, with its own
numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from hapticsim.arguments import number, unusable
from hapticsim.haptics.axis_gains import AxisGains, derive_axis, uncoupled
from hapticsim.haptics.choice import Asked
from hapticsim.haptics.let_go import Axis
from hapticsim.model.scene import Mapping
from hapticsim.model.settings import CouplerSettings

LARGEST = 1e9  # of any number that a device says of itself
HAND_DAMPING = 6.5  # [N s/m], arm holding a HapticMaster (one published trial: 6.45); not a bound
HAND_TURNING_DAMPING = 0.01  # [N m s/rad], the same at the 40 mm of a grip: a choice, not a measurement
# What a device that does not say counts as: the lightest arm and the least damping of the device table, and
# the table's guesses for a handle that turns.
UNKNOWN_MASS_KG, UNKNOWN_DAMPING_NS_PER_M = 0.045, 4.0
UNKNOWN_INERTIA_KG_M2, UNKNOWN_DAMPING_NMS_PER_RAD = 1e-4, 0.07


@dataclass(frozen=True)
class DeviceLimits:
    """What a device says of itself."""

    max_force_N: float
    max_stiffness_N_per_m: float
    max_damping_Ns_per_m: float
    apparent_mass_kg: float
    workspace_radius_m: float = 0.1
    physical_damping_Ns_per_m: float = 0.0
    max_torque_Nm: float = 0.0  # 0: it cannot turn the hand
    max_stiffness_Nm_per_rad: float = 0.0
    max_damping_Nms_per_rad: float = 0.0
    apparent_inertia_kg_m2: float = 0.0
    physical_damping_Nms_per_rad: float = 0.0
    velocity_window_s: float = 0.01  # over which its driver takes the velocity


def check_limits(limits: object) -> None:
    """Refuse what a device cannot say of itself.

    Raises
    ------
    ConfigError : it is no ``DeviceLimits``, or a number of it is not finite or below 0.
    """
    if not isinstance(limits, DeviceLimits):
        raise unusable("couple", "limits", limits, "hapticsim.haptics.coupler.DeviceLimits(...)")
    for field in fields(limits):
        number("couple", f"limits.{field.name}", getattr(limits, field.name), 0.0, LARGEST)


@dataclass(frozen=True)
class Gains:
    """The coupler of a device: of its translation, and where the scene couples it of its rotation."""

    translation: AxisGains
    rotation: AxisGains | None = None
    delay_s: float = 0.0  # from a measurement to its force, as the gains assume it

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why gains that the user asked for were not taken, a sentence each."""
        return tuple(axis.refusal for axis in (self.translation, self.rotation) if axis and axis.refusal)

    def softened(self, share: float) -> Gains:
        """The gains of a coupler that is slower by 1 / share."""
        rotation = self.rotation.softened(share) if self.rotation else None
        return replace(self, translation=self.translation.softened(share), rotation=rotation)

    def sentence(self) -> str:
        """The check, as it is printed."""
        axis = self.translation
        if axis.stiffness <= 0.0:
            return "coupler K = 0 N/m: the hand will feel no spring; the device states what allows no more"
        remedy = "lower the stiffness or the damping of coupler, or raise rate_Hz"
        rotation = f"; {_rotation_sentence(self.rotation)}" if self.rotation else ""
        return (
            f"coupler K = {axis.stiffness:.0f} N/m, B = {axis.damping:.2f} N s/m at the device, "
            f"force limit {axis.limit:.1f} N; {let_go_sentence(axis.stable_until_s, self.delay_s)}; "
            f"passivity b > K (T/2 + delay) + |B| = {axis.needed_damping:.2f} N s/m, "
            f"device has b = {axis.device_damping:g}: {axis.verdict('N s/m', remedy)}{rotation}"
        )


def _rotation_sentence(axis: AxisGains) -> str:
    if axis.limit == 0.0:
        return "rotation is not coupled: the device cannot turn the hand"
    remedy = "lower stiffness_Nm_per_rad or damping_Nms_per_rad of coupler"
    return (
        f"rotation K = {axis.stiffness:.3g} N m/rad, B = {axis.damping:.2g} N m s/rad, "
        f"torque limit {axis.limit:.3g} N m; {let_go_sentence(axis.stable_until_s)}; "
        f"b > {axis.needed_damping:.2g} N m s/rad, device has b = {axis.device_damping:g}: "
        f"{axis.verdict('N m s/rad', remedy)}"
    )


def let_go_sentence(stable_until_s: float, delay_s: float | None = None) -> str:
    """What the device does when nobody holds it."""
    expected = f", {1e3 * delay_s:.1f} are expected" if delay_s is not None else ""
    if stable_until_s <= (delay_s or 0.0):
        return f"let go it swings by itself (stable up to {1e3 * stable_until_s:.1f} ms of delay{expected})"
    return f"let go it comes to rest up to {1e3 * stable_until_s:.1f} ms of delay{expected}"


def derive_gains(
    limits: DeviceLimits,
    settings: CouplerSettings,
    mapping: Mapping,
    rate_Hz: float,
    force_limit_N: float | None = None,
    delay_s: float = 0.0,
) -> Gains:
    """Choose what the user left open, and check the result.

    Parameters
    ----------
    limits : of the device (stiffness ceiling at 1 kHz).
    settings : user's gains as felt at the device; None is derived.
    mapping : scales between device and world.
    rate_Hz : of the loop; below 1 kHz the ceiling shrinks in proportion.
    force_limit_N : user's clamp on the hand; the device's own limit always holds too.
    delay_s : measured delay between sampling and force beyond the half period of the hold.

    Gains of the user's that the device cannot render are replaced by the largest it can, and
    ``Gains.refusals`` tells it, unless the settings say ``unsafe``.
    """
    return Gains(
        _translation(limits, settings, mapping, rate_Hz, force_limit_N, delay_s),
        _rotation(limits, settings, mapping, rate_Hz, delay_s),
        delay_s,
    )


def _translation(
    limits: DeviceLimits,
    settings: CouplerSettings,
    mapping: Mapping,
    rate_Hz: float,
    force_limit_N: float | None,
    delay_s: float,
) -> AxisGains:
    own, asked = limits.physical_damping_Ns_per_m, settings.device_damping_Ns_per_m
    axis = Axis(
        limits.apparent_mass_kg or UNKNOWN_MASS_KG, 1.0 / rate_Hz, delay_s, limits.velocity_window_s,
        limits.max_stiffness_N_per_m * min(1.0, rate_Hz / 1000.0),
        limits.max_damping_Ns_per_m or UNKNOWN_DAMPING_NS_PER_M,
    )  # fmt: skip
    return derive_axis(
        Asked(
            settings.stiffness_N_per_m,
            settings.damping_Ns_per_m,
            "stiffness_N_per_m",
            "damping_Ns_per_m",
            "N/m",
            "N s/m",
        ),
        axis,
        0.5 / rate_Hz + delay_s,
        own if asked is None else asked,
        HAND_DAMPING,
        mapping.motion_scale * mapping.force_scale,
        limits.max_force_N if force_limit_N is None else min(force_limit_N, limits.max_force_N),
        settings.unsafe,
    )


def _rotation(
    limits: DeviceLimits, settings: CouplerSettings, mapping: Mapping, rate_Hz: float, delay_s: float
) -> AxisGains | None:
    """None where the scene couples none, all zero for a device that cannot turn.

    Angles are not scaled; torques go with force times length.
    """
    if settings.rotation == "none":
        return None
    own, asked = limits.physical_damping_Nms_per_rad, settings.device_damping_Nms_per_rad
    b, limit = own if asked is None else asked, settings.torque_limit_Nm
    if limits.max_torque_Nm == 0.0:
        return uncoupled(b, HAND_TURNING_DAMPING)
    axis = Axis(
        limits.apparent_inertia_kg_m2 or UNKNOWN_INERTIA_KG_M2, 1.0 / rate_Hz, delay_s,
        limits.velocity_window_s, limits.max_stiffness_Nm_per_rad * min(1.0, rate_Hz / 1000.0),
        limits.max_damping_Nms_per_rad or UNKNOWN_DAMPING_NMS_PER_RAD,
    )  # fmt: skip
    return derive_axis(
        Asked(
            settings.stiffness_Nm_per_rad, settings.damping_Nms_per_rad,
            "stiffness_Nm_per_rad", "damping_Nms_per_rad", "N m/rad", "N m s/rad",
        ),
        axis,
        0.5 / rate_Hz + delay_s,
        b,
        HAND_TURNING_DAMPING,
        mapping.force_scale / mapping.motion_scale,
        limits.max_torque_Nm if limit is None else min(limit, limits.max_torque_Nm),
        settings.unsafe,
    )  # fmt: skip
