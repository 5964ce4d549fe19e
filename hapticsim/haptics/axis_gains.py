"""Gains of the coupler for one kind of motion, translation or rotation: derived and checked alike.

Numbers of translation are in N, m; of rotation in N m, rad.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from hapticsim.haptics.choice import Asked, choose
from hapticsim.haptics.let_go import Axis, stable_until_s

SHARE_OF_CONDITION = 0.8  # derived gains use at most this much of the damping available


@dataclass(frozen=True)
class AxisGains:
    """Spring and damper as felt at the device, and as they act in the world (scaled by the mapping)."""

    stiffness: float  # K at the device [N/m] or [N m/rad]
    damping: float  # B at the device [N s/m] or [N m s/rad]
    world_stiffness: float
    world_damping: float
    limit: float  # on the hand [N] or [N m]
    needed_damping: float  # of the device, for passivity [N s/m] or [N m s/rad]
    device_damping: float  # it has
    hand_damping: float  # and a hand adds
    stable_until_s: float = 0.0  # longest delay with which the device, let go, comes to rest
    refusal: str = ""  # why the user's gains were not taken, one sentence

    @property
    def as_input(self) -> tuple[float, float, float]:
        """``Input.coupler`` or ``rotation_coupler`` (kernels/memory/arrays.py)."""
        return self.world_stiffness, self.world_damping, self.limit

    @property
    def passive_alone(self) -> bool:
        return self.device_damping > self.needed_damping

    @property
    def passive_with_hand(self) -> bool:
        return self.device_damping + self.hand_damping > self.needed_damping

    def verdict(self, unit: str, remedy: str) -> str:
        """Whether passivity holds, and for whom.  unit : of damping."""
        if self.passive_alone:
            return "holds for the device alone"
        if self.passive_with_hand:
            return f"holds with a hand ({self.hand_damping:g} {unit}), not for the device alone"
        return f"does not hold: {remedy}"

    def softened(self, share: float) -> AxisGains:
        """The gains of a coupler that is slower by 1 / share."""
        k = share * share
        return replace(
            self,
            stiffness=k * self.stiffness,
            damping=share * self.damping,
            world_stiffness=k * self.world_stiffness,
            world_damping=share * self.world_damping,
        )


def derive_axis(
    asked: Asked,
    axis: Axis,
    age_s: float,
    device_damping: float,
    hand_damping: float,
    scale: float,
    limit: float,
    unsafe: bool,
) -> AxisGains:
    """Choose what the user left open along an axis, and check the result.

    age_s : of a measurement, in the middle of the time that its force is held: T / 2 and the delay.
    device_damping, hand_damping : physical damping of the device, and of a hand on it.
    scale : gain at the device by gain in the world.
    limit : on the hand.
    unsafe : the user's gains are taken as they are.
    """
    K, B, refusal = choose(asked, axis, SHARE_OF_CONDITION * (device_damping + hand_damping), unsafe)
    return AxisGains(
        stiffness=K,
        damping=B,
        world_stiffness=K / scale,
        world_damping=B / scale,
        limit=limit,
        needed_damping=K * age_s + abs(B),
        device_damping=device_damping,
        hand_damping=hand_damping,
        stable_until_s=stable_until_s(axis, K, B),
        refusal=refusal,
    )


def uncoupled(device_damping: float, hand_damping: float) -> AxisGains:
    """Return the gains of a device that gives no force along this axis."""
    return AxisGains(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, device_damping, hand_damping)
