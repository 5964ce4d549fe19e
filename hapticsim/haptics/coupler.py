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

from dataclasses import dataclass, fields

from hapticsim.arguments import number, unusable
from hapticsim.haptics.choice import Asked, choose
from hapticsim.haptics.let_go import Axis, stable_until_s
from hapticsim.model.scene import CouplerSettings, Mapping

LARGEST = 1e9  # of any number that a device says of itself
HAND_DAMPING = 6.5  # [N s/m], arm holding a HapticMaster (one published trial: 6.45); not a bound
HAND_TURNING_DAMPING = 0.01  # [N m s/rad], the same at the 40 mm of a grip: a choice, not a measurement
SHARE_OF_CONDITION = 0.8  # derived gains use at most this much of the damping available
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
class TurningGains:
    """Coupler of the rotation as felt at the device (K, B), and as it acts in the world."""

    stiffness_Nm_per_rad: float
    damping_Nms_per_rad: float
    world_stiffness_Nm_per_rad: float
    world_damping_Nms_per_rad: float
    torque_limit_Nm: float  # on the hand
    needed_damping_Nms_per_rad: float
    device_damping_Nms_per_rad: float
    hand_damping_Nms_per_rad: float
    stable_until_s: float = 0.0  # longest delay with which the device, let go, comes to rest
    refusal: str = ""  # why the user's gains were not taken, one sentence

    @property
    def as_input(self) -> tuple[float, float, float]:
        """``Input.turn_coupler`` (kernels/memory/arrays.py)."""
        return self.world_stiffness_Nm_per_rad, self.world_damping_Nms_per_rad, self.torque_limit_Nm

    @property
    def passive_alone(self) -> bool:
        return self.device_damping_Nms_per_rad > self.needed_damping_Nms_per_rad

    @property
    def passive_with_hand(self) -> bool:
        own = self.device_damping_Nms_per_rad + self.hand_damping_Nms_per_rad
        return own > self.needed_damping_Nms_per_rad

    def sentence(self) -> str:
        """The check, as it is printed."""
        if self.torque_limit_Nm == 0.0:
            return "rotation is not coupled: the device cannot turn the hand"
        if self.passive_alone:
            verdict = "holds for the device alone"
        elif self.passive_with_hand:
            hand = f"{self.hand_damping_Nms_per_rad:g} N m s/rad"
            verdict = f"holds with a hand ({hand}), not for the device alone"
        else:
            verdict = "does not hold: lower stiffness_Nm_per_rad or damping_Nms_per_rad of coupler"
        return (
            f"rotation K = {self.stiffness_Nm_per_rad:.3g} N m/rad, "
            f"B = {self.damping_Nms_per_rad:.2g} N m s/rad, torque limit {self.torque_limit_Nm:.3g} N m; "
            f"{let_go_sentence(self.stable_until_s)}; "
            f"b > {self.needed_damping_Nms_per_rad:.2g} N m s/rad, "
            f"device has b = {self.device_damping_Nms_per_rad:g}: {verdict}"
        )


@dataclass(frozen=True)
class Gains:
    """Coupler as felt at the device (K, B) and as it acts in the world (scaled by the mapping)."""

    stiffness_N_per_m: float
    damping_Ns_per_m: float
    world_stiffness_N_per_m: float
    world_damping_Ns_per_m: float
    force_limit_N: float  # on the hand
    needed_damping_Ns_per_m: float
    device_damping_Ns_per_m: float
    hand_damping_Ns_per_m: float
    turning: TurningGains | None = None  # where the scene couples rotation
    delay_s: float = 0.0  # from a measurement to its force, as the gains assume it
    stable_until_s: float = 0.0  # longest delay with which the device, let go, comes to rest
    refusal: str = ""  # why the user's gains were not taken, one sentence

    @property
    def passive_alone(self) -> bool:
        return self.device_damping_Ns_per_m > self.needed_damping_Ns_per_m

    @property
    def passive_with_hand(self) -> bool:
        return self.device_damping_Ns_per_m + self.hand_damping_Ns_per_m > self.needed_damping_Ns_per_m

    def sentence(self) -> str:
        """The check, as it is printed."""
        if self.stiffness_N_per_m <= 0.0:
            return "coupler K = 0 N/m: the hand will feel no spring; the device states what allows no more"
        if self.passive_alone:
            verdict = "holds for the device alone"
        elif self.passive_with_hand:
            verdict = f"holds with a hand ({self.hand_damping_Ns_per_m:g} N s/m), not for the device alone"
        else:
            verdict = "does not hold: lower the stiffness or the damping of coupler, or raise rate_Hz"
        needed, own = self.needed_damping_Ns_per_m, self.device_damping_Ns_per_m
        rotation = f"; {self.turning.sentence()}" if self.turning else ""
        return (
            f"coupler K = {self.stiffness_N_per_m:.0f} N/m, B = {self.damping_Ns_per_m:.2f} N s/m "
            "at the device, "
            f"force limit {self.force_limit_N:.1f} N; {let_go_sentence(self.stable_until_s, self.delay_s)}; "
            f"passivity b > K (T/2 + delay) + |B| = {needed:.2f} N s/m, device has b = {own:g}: "
            f"{verdict}{rotation}"
        )

    @property
    def refusals(self) -> tuple[str, ...]:
        """Why gains that the user asked for were not taken, a sentence each."""
        return tuple(r for r in (self.refusal, self.turning.refusal if self.turning else "") if r)


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
    T = 1.0 / rate_Hz
    b = limits.physical_damping_Ns_per_m if settings.device_damping is None else settings.device_damping
    axis = Axis(
        limits.apparent_mass_kg or UNKNOWN_MASS_KG, T, delay_s, limits.velocity_window_s,
        limits.max_stiffness_N_per_m * min(1.0, rate_Hz / 1000.0),
        limits.max_damping_Ns_per_m or UNKNOWN_DAMPING_NS_PER_M,
    )  # fmt: skip
    asked = Asked(
        settings.stiffness, settings.damping, "stiffness_N_per_m", "damping_Ns_per_m", "N/m", "N s/m"
    )
    K, B, refusal = choose(asked, axis, SHARE_OF_CONDITION * (b + HAND_DAMPING), settings.unsafe)
    force = limits.max_force_N if force_limit_N is None else min(force_limit_N, limits.max_force_N)
    scale = mapping.motion_scale * mapping.force_scale
    return Gains(
        stiffness_N_per_m=K,
        damping_Ns_per_m=B,
        world_stiffness_N_per_m=K / scale,
        world_damping_Ns_per_m=B / scale,
        force_limit_N=force,
        needed_damping_Ns_per_m=K * (0.5 * T + delay_s) + abs(B),
        device_damping_Ns_per_m=b,
        hand_damping_Ns_per_m=HAND_DAMPING,
        turning=derive_turning(limits, settings, mapping, rate_Hz, delay_s),
        delay_s=delay_s,
        stable_until_s=stable_until_s(axis, K, B),
        refusal=refusal,
    )


def derive_turning(
    limits: DeviceLimits, settings: CouplerSettings, mapping: Mapping, rate_Hz: float, delay_s: float = 0.0
) -> TurningGains | None:
    """The same for the rotation; None where the scene couples none, all zero for a device that cannot turn.

    Parameters as of ``derive_gains``.  Angles are not scaled; torques go with force times length.
    """
    if settings.rotation == "none":
        return None
    own, hand = limits.physical_damping_Nms_per_rad, HAND_TURNING_DAMPING
    b = own if settings.turning_device_damping is None else settings.turning_device_damping
    if limits.max_torque_Nm == 0.0:
        return TurningGains(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, b, hand)
    axis = Axis(
        limits.apparent_inertia_kg_m2 or UNKNOWN_INERTIA_KG_M2, 1.0 / rate_Hz, delay_s,
        limits.velocity_window_s, limits.max_stiffness_Nm_per_rad * min(1.0, rate_Hz / 1000.0),
        limits.max_damping_Nms_per_rad or UNKNOWN_DAMPING_NMS_PER_RAD,
    )  # fmt: skip
    asked = Asked(
        settings.turning_stiffness, settings.turning_damping,
        "stiffness_Nm_per_rad", "damping_Nms_per_rad", "N m/rad", "N m s/rad",
    )  # fmt: skip
    K, B, refusal = choose(asked, axis, SHARE_OF_CONDITION * (b + hand), settings.unsafe)
    limit = settings.torque_limit
    scale = mapping.force_scale / mapping.motion_scale
    return TurningGains(
        stiffness_Nm_per_rad=K,
        damping_Nms_per_rad=B,
        world_stiffness_Nm_per_rad=K / scale,
        world_damping_Nms_per_rad=B / scale,
        torque_limit_Nm=limits.max_torque_Nm if limit is None else min(limit, limits.max_torque_Nm),
        needed_damping_Nms_per_rad=K * (0.5 / rate_Hz + delay_s) + abs(B),
        device_damping_Nms_per_rad=b,
        hand_damping_Nms_per_rad=hand,
        stable_until_s=stable_until_s(axis, K, B),
        refusal=refusal,
    )
