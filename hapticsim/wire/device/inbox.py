"""Session and sequence rules for what comes in: newest wins, the rest is counted, nothing raises."""

from __future__ import annotations

from collections import Counter

from hapticsim.wire.messages.codec import decode
from hapticsim.wire.messages.device import Message
from hapticsim.wire.messages.fields import Reason, Refused


class Inbox:
    """Takes the frames of one peer in one session.

    Parameters
    ----------
    session : what every message must carry.
    accepts : kinds the peer may send (`device.FROM_DEVICE` or `FROM_SERVER`).
    """

    def __init__(self, session: int, accepts: frozenset[type[Message]]) -> None:
        self.session = session
        self.accepts = accepts
        self.taken = 0
        self.missing = 0  # numbers skipped between messages taken: lost, or never sent
        self.newest = -1  # number of the newest message taken
        self.newest_stamp_ns = 0  # its stamp, which our next message echoes
        self.dropped: Counter[str] = Counter()

    def take(self, data: bytes) -> Message | None:
        """Return the message in ``data`` if valid, of this session and newer than all before; else None."""
        try:
            message = decode(data)
        except Refused as refused:
            self.dropped[refused.reason] += 1
            return None
        return self.admit(message)

    def admit(self, message: Message) -> Message | None:
        """Apply the rules to a message that is already decoded."""
        if type(message) not in self.accepts:
            self.dropped[Reason.DIRECTION] += 1
        elif message.session != self.session:
            self.dropped[Reason.SESSION] += 1
        elif message.number <= self.newest:
            self.dropped[Reason.STALE] += 1
        else:
            if self.newest >= 0:
                self.missing += message.number - self.newest - 1
            self.newest, self.newest_stamp_ns = message.number, message.stamp_ns
            self.taken += 1
            return message
        return None
