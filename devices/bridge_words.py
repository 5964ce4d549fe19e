"""What a bridge says to its user, in sentences and in the status line.

``news`` is asked in every tick, after the motors were served; it mostly has nothing to say.
"""

from __future__ import annotations

import math

from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.messages.device import Welcome

from .base import DeviceInfo, DeviceSample, Vector
from .engagement import Engagement
from .guard import ForceGuard
from .motors import Motors
from .plausible import Plausibility, Verdict
from .report import interrupted


class BridgeWords:
    """Remembers what was said, so that everything is said once."""

    def __init__(
        self,
        link: DeviceLink,
        guard: ForceGuard,
        engagement: Engagement,
        plausible: Plausibility,
        motors: Motors,
        info: DeviceInfo,
        driver: str,
    ) -> None:
        self._link, self._guard, self._engagement = link, guard, engagement
        self._plausible, self._motors, self._info, self._driver = plausible, motors, info, driver
        self._was_silent = self._was_warm = self._was_usable = False
        self._stopped_by, self._said_odd = "", False
        self._not_finite = self._hangs = 0

    def session(self, welcome: Welcome | None) -> str:
        """A session began, or ended (None)."""
        endpoint = self._link.endpoint
        if welcome is None:
            return f"{endpoint}: {self._link.ended} Force is zero; looking for a server."
        limit = min(welcome.force_limit_N, self._info.limits.max_force_N)
        return f"{self._info.model}: in session with {endpoint} at {welcome.rate_Hz:g} Hz, up to {limit:g} N."

    def news(self, verdict: Verdict, stopped_by: str, hangs: int) -> list[str]:
        """Sentences about what changed in this tick."""
        guard, said = self._guard, []
        lost = guard.silent and guard.held
        if lost and not self._was_silent:
            said.append(f"{self._link.endpoint}: silent; force is zero until the server is armed again.")
        if guard.not_finite > self._not_finite == 0:
            said.append(f"{self._link.endpoint}: sent a force that is not finite; zero was applied.")
        if stopped_by and stopped_by != self._stopped_by:
            said.append(f"{self._info.model}: {stopped_by}; force is zero until you engage again.")
        if verdict is Verdict.JUMP:
            said.append(
                f"{self._info.model}: its position jumped by {1e3 * self._plausible.step_m:.0f} mm; "
                "force is zero until you engage again."
            )
        usable = verdict is not Verdict.UNUSABLE
        if not usable and (self._was_usable or self._plausible.unusable == 1):
            said.append(
                f"driver {self._driver!r}: read() {self._plausible.problem}; zero is applied meanwhile."
            )
        if self._motors.odd and not self._said_odd:
            self._said_odd = True
            said.append(f"driver {self._driver!r}: {self._motors.odd}; what was asked for is taken.")
        if hangs > self._hangs == 0:
            said.append(f"{self._info.model}: its driver's read did not return in time; zero was applied.")
        warm = guard.heat.shrunk and guard.saturated
        if warm and not self._was_warm:
            said.append(
                f"{self._info.model}: its motors are warm: force goes down to "
                f"{guard.heat.continuous_N:g} N until they have cooled."
            )
        self._was_silent, self._was_usable, self._stopped_by = lost, usable, stopped_by
        self._was_warm = guard.heat.shrunk and (warm or self._was_warm)
        self._not_finite, self._hangs = guard.not_finite, hangs
        return said

    def status(self, sample: DeviceSample | None, force_N: Vector, missed: int) -> str:
        """The status line; from another thread."""
        if sample is None:
            return f"looking for a server at {self._link.endpoint}"
        x, y, z = (1e3 * c for c in sample.position_m)
        guard = self._guard
        parts = [
            self._engagement.words,
            f"handle {x:+6.1f} {y:+6.1f} {z:+6.1f} mm",
            f"force {math.hypot(*force_N):5.2f} N" + (" (motors warm)" if guard.heat.shrunk else ""),
            f"round trip {self._link.round_trip.percentile_us(50, 200):.0f} us",
            f"missed {missed}",
        ]
        if self._stopped_by:
            parts.insert(1, self._stopped_by)
        if guard.interruptions:
            parts.append(interrupted(guard.interruptions, guard.longest_s))
        return "  ".join(parts)
