"""The coupler's K and B along one axis: the user's, or the largest that hold; and why the user's do not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from hapticsim.haptics.let_go import MARGIN_S, SLOWEST, Axis, largest

SHARE_OF_STIFFNESS = 0.5  # of the device's ceiling at 1 kHz: ceilings are tuned walls, not margins
SHARE_OF_DAMPING = 0.5  # the same


@dataclass(frozen=True)
class Asked:
    """Gains of the user's, None where left open, with the words for a refusal."""

    stiffness: float | None
    damping: float | None
    stiffness_key: str
    damping_key: str
    stiffness_unit: str
    damping_unit: str

    def refusal(self, axis: Axis, K: float, B: float) -> str:
        """Why what was asked is not taken, and K and B are."""
        given = [
            f"coupler.{key} = {value:g}"
            for key, value in ((self.stiffness_key, self.stiffness), (self.damping_key, self.damping))
            if value is not None
        ]
        late = 1e3 * (axis.delay_s + MARGIN_S)
        k, b = self.stiffness_unit, self.damping_unit
        return (
            f"{' with '.join(given)} is not what the device can render: it states at most "
            f"{axis.max_stiffness:.4g} {k} and {axis.max_damping:.3g} {b}, and let go it has to come to rest "
            f"with forces {late:.1f} ms late, as with {K:.4g} {k} and {B:.3g} {b}: give these, leave both "
            "out, or give coupler.unsafe: true."
        )


def choose(asked: Asked, axis: Axis, available: float, unsafe: bool) -> tuple[float, float, str]:
    """K and B: the user's where given, else the largest that hold; and why a given one was not taken.

    available : damping that derived gains may use of (17).
    """
    K, B = asked.stiffness, asked.damping
    ceiling, damper = SHARE_OF_STIFFNESS * axis.max_stiffness, SHARE_OF_DAMPING * axis.max_damping
    if K is None and B is None:
        return *largest(axis, ceiling, damper, None, available, SLOWEST), ""
    if K is None:
        assert B is not None
        most = B if unsafe else min(B, axis.max_damping)
        k, b = largest(axis, ceiling, damper, most, math.inf, 0.0)
        return k, b, asked.refusal(axis, k, b) if b < B else ""
    if B is None:
        B, ratio = axis.least_damper(K, axis.max_damping, SLOWEST)
    else:
        ratio = axis.damping_ratio(K, B)
    if unsafe or (ratio >= 0.0 and axis.max_stiffness >= K and axis.max_damping >= B):
        return K, B, ""
    k, _ = largest(axis, min(K, axis.max_stiffness), axis.max_damping, None, math.inf, SLOWEST)
    b, _ = axis.least_damper(k, axis.max_damping, SLOWEST)
    return k, b, asked.refusal(axis, k, b)
