"""Another clock in terms of our own: how old a message is, and not only when it was taken.

The peer stamps what it sends with its own clock.  Our clock at the arrival less the stamp is the difference
of the two clocks plus the delay, so the smallest so far is the best guess of the difference, and whatever is
above it is delay: of a queue, of the network, of a process that stood still.  The delay of the quickest
message is not seen.
"""

from __future__ import annotations

DRIFT = 2e-4  # between two clocks, at most: quartz is good to 1e-4 or better


class PeerClock:
    """The clock of one peer, learned from the stamps of its messages."""

    def __init__(self) -> None:
        self._offset_ns: int | None = None  # ours less the peer's
        self._learned_ns = 0  # when, by our clock

    def sent_ns(self, stamp_ns: int, now_ns: int) -> int:
        """When a message that is here now was sent, by our clock [ns]; never later than now.

        stamp_ns  the peer's clock when it sent the message.
        now_ns    our clock, which does not go back between two calls.
        """
        arrived = now_ns - stamp_ns
        if self._offset_ns is None:
            self._offset_ns = arrived
        else:  # the clocks may drift apart: an old guess may be too small
            self._offset_ns += int(DRIFT * (now_ns - self._learned_ns))
            self._offset_ns = min(self._offset_ns, arrived)
        self._learned_ns = now_ns
        return stamp_ns + self._offset_ns
