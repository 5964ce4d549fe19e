"""Virtual time, and a wire in it: whoever sleeps lets the others run.

Nothing that computes takes time; each party can be made to stand still, each direction of the wire to be late
or to lose what is sent.
"""

from __future__ import annotations

import random
from collections import Counter, deque
from collections.abc import Callable, Iterator
from operator import attrgetter

import zmq

START_NS, NEVER_NS = 1_000_000_000_000, 1 << 62
WIRE_NS = 100_000  # from one side to the other
LATEST_WAKE_NS = 50_000  # of whoever sleeps
MOST_FRAMES = 64  # that wait in one direction: what comes later is not taken
DUE_NS = attrgetter("due_ns")


class Party:
    """One that runs for itself: its steps yield when it wants to go on [ns]."""

    def __init__(self, steps: Iterator[int]) -> None:
        self.steps = steps
        self.due_ns = self.stopped_until_ns = 0


class World:
    """Virtual time, in place of the module ``time``: whoever sleeps lets the parties run."""

    CLOCK_BOOTTIME = 7

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.now_ns = START_NS + rng.randrange(1_000_000)
        self.parties: list[Party] = []
        self.stopped_until_ns = 0  # of the bridge's loop, which is no party: it lets the others run
        self._stood_ns, self._stands_since_ns = 0, NEVER_NS

    def add(self, steps: Iterator[int]) -> Party:
        """A party, that starts at once."""
        self.parties.append(Party(steps))
        return self.parties[-1]

    def pass_until(self, end_ns: int) -> None:
        """Let everybody else run until then."""
        while (party := min(self.parties, key=DUE_NS)).due_ns <= end_ns:
            self.now_ns = max(self.now_ns, party.due_ns)
            if self.now_ns < party.stopped_until_ns:
                party.due_ns = party.stopped_until_ns
            else:
                party.due_ns = next(party.steps, NEVER_NS)
        self.now_ns = max(self.now_ns, end_ns)

    def stand_still(self) -> None:
        """The bridge's loop goes on no sooner than it may."""
        self._stands_since_ns = self.now_ns
        while self.now_ns < self.stopped_until_ns:
            self.pass_until(self.stopped_until_ns)
        self._stood_ns, self._stands_since_ns = self.stood_ns, NEVER_NS

    @property
    def stood_ns(self) -> int:
        """For how long the bridge's loop has stood still, all in all."""
        return self._stood_ns + max(self.now_ns - self._stands_since_ns, 0)

    def late(self, due_ns: int) -> int:
        """When one that sleeps until then wakes."""
        return due_ns + int(LATEST_WAKE_NS * self.rng.random())

    def monotonic_ns(self) -> int:
        return self.now_ns

    def monotonic(self) -> float:
        return self.now_ns * 1e-9

    def clock_gettime(self, clock: int) -> float:
        return self.now_ns * 1e-9

    def sleep(self, seconds: float) -> None:
        self.pass_until(self.late(self.now_ns + round(seconds * 1e9)))
        self.stand_still()


class Lane:
    """One direction of the wire: in order, and late or never while something is wrong."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._frames: deque[tuple[int, bytes]] = deque()
        self.held_until_ns = self.lost_until_ns = 0
        self.tell: Callable[[int], None] = lambda at_ns: None  # when the next frame arrives

    @property
    def next_ns(self) -> int:
        """When the next frame is there."""
        return self._frames[0][0] if self._frames else NEVER_NS

    def send(self, frame: bytes) -> None:
        now_ns = self._world.now_ns
        if len(self._frames) == MOST_FRAMES:
            raise zmq.Again
        if now_ns < self.lost_until_ns:
            return
        before_ns = self._frames[-1][0] if self._frames else 0
        self._frames.append((max(now_ns + WIRE_NS, self.held_until_ns, before_ns), frame))
        self.tell(self.next_ns)

    def take(self) -> bytes:
        if self.next_ns > self._world.now_ns:
            raise zmq.Again
        return self._frames.popleft()[1]


class DeviceEnd:
    """The socket of the device's link."""

    closed = False

    def __init__(self, up: Lane, down: Lane, heard: Callable[[], None]) -> None:
        self._up, self._down, self._heard = up, down, heard

    def send(self, frame: bytes, flags: int) -> None:
        self._up.send(frame)

    def recv(self, flags: int) -> bytes:
        frame = self._down.take()
        self._heard()
        return frame

    def getsockopt(self, option: int) -> int:
        return 0  # nothing has more than one part


class ServerEnd:
    """The socket of the server's port, and what is bound to it."""

    endpoint, peer = "virtual", b"handle"

    def __init__(self, up: Lane, down: Lane) -> None:
        self._up, self._down = up, down
        self.socket, self.refused = self, Counter[str]()

    def send_multipart(self, frames: list[bytes], flags: int) -> None:
        self._down.send(frames[1])

    def recv_multipart(self, flags: int) -> list[bytes]:
        return [self.peer, self._up.take()]

    def poll(self, timeout_ms: int) -> bool:
        return False  # asked with 0 only, for a count
