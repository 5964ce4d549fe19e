"""Gains of the virtual coupler from the device, the rate and the delay, and what passivity asks of them.

A spring-damper rendered by a sampled device is passive when the device's own physical damping b satisfies

    b > K (T/2 + t_d) + |B|        (Colgate and Schenkel 1997, for the sampled wall; t_d an added delay)

so virtual damping B costs passivity.  Few devices have that much damping; with a hand on them most do.  The
condition is checked for the device alone and with the hand, printed, and never assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

from hapticsim.model.scene import CouplerSettings, Mapping

HAND_DAMPING = 6.5  # [N s/m], arm holding a HapticMaster (one published trial: 6.45); not a bound
SHARE_OF_STIFFNESS = 0.5  # of the device's ceiling at 1 kHz: ceilings are tuned walls, not margins
DAMPING_RATIO = 0.1  # of the coupler with the device's apparent mass
SHARE_OF_CONDITION = 0.8  # derived gains use at most this much of the damping available


@dataclass(frozen=True)
class DeviceLimits:
    """What a device says of itself."""

    max_force_N: float
    max_stiffness_N_per_m: float
    max_damping_Ns_per_m: float
    apparent_mass_kg: float
    workspace_radius_m: float = 0.1
    physical_damping_Ns_per_m: float = 0.0


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

    @property
    def passive_alone(self) -> bool:
        return self.device_damping_Ns_per_m > self.needed_damping_Ns_per_m

    @property
    def passive_with_hand(self) -> bool:
        return self.device_damping_Ns_per_m + self.hand_damping_Ns_per_m > self.needed_damping_Ns_per_m

    def sentence(self) -> str:
        """The check, as it is printed."""
        if self.passive_alone:
            verdict = "holds for the device alone"
        elif self.passive_with_hand:
            verdict = f"holds with a hand ({self.hand_damping_Ns_per_m:g} N s/m), not for the device alone"
        else:
            verdict = "does not hold: lower the stiffness or the damping of coupler, or raise rate_Hz"
        needed, own = self.needed_damping_Ns_per_m, self.device_damping_Ns_per_m
        return (
            f"coupler K = {self.stiffness_N_per_m:.0f} N/m, B = {self.damping_Ns_per_m:.2f} N s/m "
            "at the device, "
            f"force limit {self.force_limit_N:.1f} N; passivity b > K (T/2 + delay) + |B| = "
            f"{needed:.2f} N s/m, device has b = {own:g}: {verdict}"
        )


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
    """
    T = 1.0 / rate_Hz
    b = limits.physical_damping_Ns_per_m if settings.device_damping is None else settings.device_damping
    available = SHARE_OF_CONDITION * (b + HAND_DAMPING)
    ceiling = SHARE_OF_STIFFNESS * limits.max_stiffness_N_per_m * min(1.0, rate_Hz / 1000.0)
    B = settings.damping
    if B is None:
        B = 2.0 * DAMPING_RATIO * (ceiling * limits.apparent_mass_kg) ** 0.5
        B = min(B, 0.5 * limits.max_damping_Ns_per_m, 0.5 * available)
    K = settings.stiffness
    if K is None:
        K = max(min(ceiling, (available - B) / (0.5 * T + delay_s)), 0.0)
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
    )
