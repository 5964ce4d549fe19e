"""Forces that come later than the gains allow for make the coupler softer while it runs.

The round trip from a force to the state that knows of it takes up to two periods of the device when all is as
expected.  What it takes longer, a force is late.  Where all delays grow by 1 / r, the same swing of the same
mass, 1 / r times slower, has r^2 K and r B:

    r = (T/2 + t_d + 2 ms) / (T/2 + t_d + 2 ms + late),    K = r^2 K_0,    B = r B_0

so that the device still comes to rest.  From arming until the hand disengages, or a fault, r only falls,
smoothly: a spring that grows stiffer in somebody's hand gives energy.  Before and after that r is what the
round trips of now ask for.

Late is what a quarter of the newest round trips exceeds.  A swing grows with a delay that stays.  A computer
that stops for some milliseconds now and then delays fewer forces; a long stop makes one or two round trips
late, and takes the force away anyway.
"""

from __future__ import annotations

import math

from hapticsim.haptics.coupler import Gains
from hapticsim.haptics.let_go import MARGIN_S

PERIODS = 2.0  # of the device, that a round trip takes at most
QUICKEST_PERIOD_S = 1e-3  # that is asked of a bridge in Python
TOLD_FROM_S = 0.5e-3  # a force may be so late before r falls: a quarter of the margin
PER_S = 0.5  # that r falls in a second at most
PERCENT = 75  # of the round trips, that are quicker than the one that counts
NEWEST_S, FEWEST = 0.4, 40  # round trips of so much time are looked at, and no fewer than these
EVERY_S = 0.02  # between two looks
WARM_UP_S = 0.5  # after joining: the first answers took up to 20 ms, and say nothing of those that follow


class LateForces:
    """How much softer the coupler has become, for one device.

    gains : as the device joined.
    period_s, tick_s : of the device's states, and of the loop.
    """

    def __init__(self, gains: Gains, period_s: float, tick_s: float) -> None:
        self._gains, self._expected_s = gains, PERIODS * max(period_s, tick_s, QUICKEST_PERIOD_S)
        self._allowed_s = 0.5 * tick_s + gains.delay_s + MARGIN_S
        self.newest = max(FEWEST, round(NEWEST_S / max(period_s, tick_s)))  # round trips to look at
        self.share, self.late_s = 1.0, 0.0  # r, and the lateness as it was seen last [s]
        self._looked_s, self._counts_from_s = -math.inf, math.nan

    @property
    def allows_s(self) -> float:
        """How late forces may come [s] with the coupler as it is, or as it is becoming."""
        return max(self.late_s, self._allowed_s / self.share - self._allowed_s)

    def is_due(self, now_s: float) -> bool:
        """Whether it is time for another look."""
        return now_s - self._looked_s >= EVERY_S

    def look(self, round_trip_s: float, now_s: float, is_off: bool = False) -> Gains | None:
        """Gains for a measured round trip (NaN: none yet), or None where they stay as they are.

        is_off : no force is on, and none comes without an arm request, so that r may rise.
        """
        since = min(now_s - self._looked_s, EVERY_S)
        self._looked_s = now_s
        if math.isnan(self._counts_from_s):
            self._counts_from_s = now_s + WARM_UP_S
        if now_s < self._counts_from_s:
            return None
        late = round_trip_s - self._expected_s
        self.late_s = late if late > TOLD_FROM_S else 0.0  # not for NaN
        wanted = self._allowed_s / (self._allowed_s + self.late_s)
        if self.share == wanted or (self.share < wanted and not is_off):
            return None
        self.share = wanted if is_off else max(wanted, self.share - PER_S * since)
        return self._gains.softened(self.share)
