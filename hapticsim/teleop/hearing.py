"""What the operator's side has heard of the remote site: in which order, of which session, how old it is."""

from __future__ import annotations

import secrets
from collections import deque

from hapticsim.model.settings import LinkSettings
from hapticsim.teleop.messages import Telemetry
from hapticsim.teleop.playout import MARGIN_S

SESSIONS = 1 << 63


def new_session() -> int:
    """A number that no other operator has, above 0."""
    return secrets.randbelow(SESSIONS - 1) + 1


def allowed_age_s(link: LinkSettings) -> float:
    """How old the newest confirmed command may be [s]: the way there and back, with the jitter of both and of
    the commands that wait for it, the margin in which they wait, and the silence that is allowed."""
    return link.delay_up_s + link.delay_down_s + 3.0 * link.jitter_s + MARGIN_S + link.silence_s


class Hearing:
    """Orders telemetry by site and number, follows the session, and knows until when what was heard counts.

    Parameters
    ----------
    link : the scene's.

    Public attributes: ``session`` (our own), ``confirmed`` (the remote site takes our commands), ``first``
    (tick from which on; -1: the remote site says), ``tick`` (before which the remote site's newest state
    heard of is true), ``until_s`` (until when that counts, monotonic).
    """

    def __init__(self, link: LinkSettings) -> None:
        self.allowed_s = allowed_age_s(link)
        self.session, self.confirmed, self.first, self.tick = new_session(), False, -1, -1
        self.until_s = 0.0
        self._site, self._number = 0, -1
        self._left: deque[int] = deque(maxlen=64)  # sites that were replaced by another

    def take(self, heard: Telemetry) -> str:
        """Say what a message means: ``old`` (out of order), ``other`` (of another session), ``opened`` (ours
        begins), ``news`` (of ours), or ``lost`` (ours is over)."""
        if heard.site in self._left:
            return "old"
        if heard.site != self._site:
            if self._site:
                self._left.append(self._site)
            self._site, self._number = heard.site, -1
        if heard.number <= self._number:
            return "old"
        self._number = heard.number
        if heard.session != self.session:
            return "lost" if self.confirmed else "other"
        if not self.confirmed:
            self.confirmed, self.tick = True, heard.tick
            return "opened"
        if heard.tick < self.tick:
            return "lost"
        self.tick = heard.tick
        return "news"

    def begin_again(self, first: int) -> None:
        """Our session is over: begin another, with the commands from tick ``first`` on."""
        self.session, self.confirmed, self.first, self.tick = new_session(), False, first, -1
        self.until_s = 0.0

    def counts(self, taken_at_s: float) -> float:
        """The remote site was heard of a state whose next command was taken here at this time; return until
        when that counts [s]."""
        self.until_s = max(self.until_s, taken_at_s + self.allowed_s)
        return self.until_s
