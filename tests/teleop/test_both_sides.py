"""Bridge and server against one another: stalls, a bad wire, stops and clicks at random, in virtual time.

What must hold at the motors holds in every episode, whichever side stands still and whatever gets lost.
"python -m tests.teleop.test_both_sides FIRST LAST" runs more episodes and prints what they met.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest
from hapticsim_devices.base import DISENGAGE, ENGAGE, FIRST, READY, STOPPED, ZERO

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import Safety
from tests.both_sides import BothSides
from tests.force_witness import MS, Witness
from tests.safety_kernels import unmapped_assembly
from tests.seeds import seeds
from tests.virtual_wire import World

TROUBLE_NS, PRESS_NS, SOON_NS = 400 * MS, 10 * MS, 50 * MS
PATIENCE_NS = 150 * MS  # a server that is armed although nothing is let through is asked again after 100 ms
SESSION_NS = 300 * MS  # a device says hello every 250 ms
STOPS = (READY | STOPPED, STOPPED, 0)  # flags of a device that must not be driven
LENGTHS_MS = (3, 8, 12, 20, 60, 150)  # of what goes wrong, times 0 to 1.5
CHUNKS, EPISODES = 5, 40


class Trouble:
    """What goes wrong in an episode, and what the hand does meanwhile."""

    def __init__(self, sides: BothSides, witness: Witness, rng: random.Random) -> None:
        self._sides, self._witness, self._rng, self._world = sides, witness, rng, sides.world
        self._end_ns = sides.world.now_ns + TROUBLE_NS
        self._calm_ns = self._end_ns  # when all that went wrong is over
        world = sides.world
        for steps in (self._faults(), self._clicks(), self._stops(), self._end()):
            world.add(steps)

    def _lasts(self) -> int:
        """Until when what begins now lasts [ns]."""
        length_ms = 600 if self._rng.random() < 0.02 else self._rng.choice(LENGTHS_MS)
        until_ns = self._world.now_ns + round(length_ms * MS * self._rng.uniform(0.0, 1.5))
        self._calm_ns = max(self._calm_ns, until_ns)
        return until_ns

    def _pause(self, mean_ms: float) -> int:
        return self._world.now_ns + round(self._rng.expovariate(1.0 / mean_ms) * MS)

    def _faults(self) -> Iterator[int]:
        kinds = (
            self._bridge_stops, self._reads_hang, self._loop_stops, self._wire_stops, self._server_stops,
            self._host_stops, self._frames_late, self._frames_lost, self._force_runs_away,
        )  # fmt: skip
        while True:
            yield self._pause(25.0)
            if self._world.now_ns > self._end_ns:
                return
            kind, until_ns = self._rng.choice(kinds), self._lasts()
            kind(until_ns)
            if kind not in (self._loop_stops, self._force_runs_away):
                self._witness.wire_fails(until_ns)
            self._witness.met[kind.__name__.strip("_").replace("_", " ")] += 1

    def _bridge_stops(self, until_ns: int) -> None:
        world, watchdog = self._world, self._sides.watchdog
        since_ns = max(world.now_ns, watchdog.stopped_until_ns)
        self._witness.process_ns += max(until_ns - since_ns, 0)
        world.stopped_until_ns = max(world.stopped_until_ns, until_ns)
        watchdog.stopped_until_ns = max(watchdog.stopped_until_ns, until_ns)

    def _reads_hang(self, until_ns: int) -> None:
        self._sides.handle.hangs_until_ns = until_ns

    def _loop_stops(self, until_ns: int) -> None:
        self._sides.ticks.stopped_until_ns = until_ns

    def _wire_stops(self, until_ns: int) -> None:
        self._sides.wire.stopped_until_ns = until_ns

    def _server_stops(self, until_ns: int) -> None:
        self._loop_stops(until_ns)
        self._wire_stops(until_ns)

    def _host_stops(self, until_ns: int) -> None:
        self._bridge_stops(until_ns)
        self._server_stops(until_ns)

    def _frames_late(self, until_ns: int) -> None:
        self._rng.choice((self._sides.up, self._sides.down)).held_until_ns = until_ns

    def _frames_lost(self, until_ns: int) -> None:
        self._rng.choice((self._sides.up, self._sides.down)).lost_until_ns = until_ns

    def _force_runs_away(self, until_ns: int) -> None:
        self._sides.loop.runs_away_until_ns = until_ns

    def _clicks(self) -> Iterator[int]:
        """The hand engages now and then."""
        handle = self._sides.handle
        while True:
            yield self._pause(40.0)
            handle.buttons |= ENGAGE
            yield self._pause(5.0)
            handle.buttons &= ~ENGAGE
            if self._world.now_ns > self._end_ns:
                return

    def _stops(self) -> Iterator[int]:
        """The hand lets go, disengages, or the device says that it must not be driven."""
        handle = self._sides.handle
        while True:
            yield self._pause(120.0)
            if self._world.now_ns > self._end_ns:
                return
            what = self._rng.choice(("flags", "disengage", "let go"))
            if what == "flags":
                handle.flags = self._rng.choice(STOPS)
            elif what == "disengage":
                handle.buttons |= DISENGAGE
            else:
                handle.buttons &= ~FIRST
            yield self._pause(8.0)
            handle.flags, handle.buttons = READY, (handle.buttons | FIRST) & ~DISENGAGE

    def _end(self) -> Iterator[int]:
        """When all is well again the hand engages once, and the episode ends."""
        while self._world.now_ns < self._calm_ns:
            yield self._calm_ns
        handle, bridge = self._sides.handle, self._sides.bridge
        yield self._world.now_ns + PATIENCE_NS
        if bridge.link.welcome is None:
            yield self._world.now_ns + SESSION_NS
        for handle.buttons in (FIRST, FIRST | ENGAGE, FIRST):
            yield self._world.now_ns + PRESS_NS
        yield self._world.now_ns + SOON_NS
        bridge.stop.set()


@cache
def the_assembly() -> Assembly:
    return unmapped_assembly()


def episode(seed: int) -> Witness:
    """One run of both sides, and what was seen of it.

    A server may stay ready to resume for longer than it said: the bridge keeps the time by itself.
    """
    rng = random.Random(seed)
    world = World(rng)
    terms = {"resume_within_s": rng.choice((0.0, 0.05, 0.1, 0.4)), "ramp_s": rng.choice((0.01, 0.1, 0.5))}
    hold_to_run, forgets = rng.choice((0, FIRST)), rng.random() < 0.3
    witness = Witness(world, terms["resume_within_s"], hold_to_run)
    sides = BothSides(world, witness, the_assembly(), terms, hold_to_run, forgets)
    Trouble(sides, witness, rng)
    sides.run(witness)
    live = sides.handle.force_N != ZERO and sides.loop.mode in (Safety.ARMING, Safety.ARMED)
    witness.claim(live, f"engaged when all was well, and no force: {sides.loop.mode.name}")
    witness.met["new sessions"] += sides.bridge.report.sessions - 1
    witness.met["interrupted in the bridge"] += sides.bridge._guard.interruptions
    witness.met["interrupted in the server"] += int(sides.loop.state.interruption[2])
    return witness


@pytest.mark.parametrize("chunk", seeds(1, CHUNKS))
def test_whatever_stands_still_or_gets_lost_the_hand_is_safe_and_force_comes_back(chunk: int) -> None:
    met: Counter[str] = Counter()
    for seed in range(chunk * EPISODES, (chunk + 1) * EPISODES):
        witness = episode(seed)
        assert not witness.broken, f"seed {seed}: {witness.broken[0]} and {len(witness.broken) - 1} more"
        met += witness.met
    for what in ("came back by itself", "emergency stop", "disengage", "hold-to-run button", "engaged"):
        assert met[what] > EPISODES // 10, f"too little of: {what}"


def campaign(first: int, last: int) -> bool:
    """Episodes first to last - 1: what they met and what broke, printed; whether all was well."""
    met, most_ns, bad = Counter[str](), [0, 0, 0], 0
    for seed in range(first, last):
        seen = episode(seed)
        met += seen.met
        most_ns = list(map(max, most_ns, (seen.oldest_ns, seen.stalest_ns, seen.longest_ns)))
        bad += bool(seen.broken)
        for sentence in seen.broken[:1]:
            print(f"seed {seed}: {sentence}", flush=True)
    for what, times in sorted(met.items()):
        print(f"{times:8d} {what}")
    heard_ms, ticked_ms, away_ms = (ns / MS for ns in most_ns)
    print(
        f"force at most {heard_ms:.2f} ms after the last word, {ticked_ms:.2f} ms after the loop's last tick"
    )
    print(f"away for {away_ms:.2f} ms at most before it came back by itself")
    print(f"{last - first} episodes, {bad} broken")
    return bad == 0


if __name__ == "__main__":
    sys.exit(not campaign(int(sys.argv[1]), int(sys.argv[2])))
