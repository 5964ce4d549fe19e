"""The remote site of a link, without threads or sockets: commands in, ticks executed, telemetry out.

Time there is the sequence of commands: the loop takes tick k when it has command k, and stands still where
that has not come.  So its state before tick k is the operator's before tick k, whatever the network and both
computers do.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.memory.pack import place_of
from hapticsim.model.settings import LinkSettings
from hapticsim.teleop.command_log import history_ticks
from hapticsim.teleop.handover import without_hand
from hapticsim.teleop.link import DelayLine
from hapticsim.teleop.messages import (
    Commands,
    Telemetry,
    only_commands,
    read_commands,
    write_telemetry,
)
from hapticsim.teleop.playout import Playout

TELEMETRY_HZ = 100.0
ROOM = 4096  # ticks ahead of the present one that are given to the loop
# What an operator that sends without end makes the remote site hold: commands that wait for their tick, about
# 0.5 kB each, and messages under way in the emulated link, 2.6 MB for each second of delay in ordinary use.
MOST_AHEAD, UNDERWAY_BYTES = 1 << 15, 1 << 25


class Ticks(Protocol):
    """A loop that executes what is scheduled (``RealTimeLoop``)."""

    def read_state(self) -> np.ndarray: ...
    def schedule(self, tick: int, command: np.ndarray) -> None: ...
    def clear_schedule(self) -> bool: ...
    def take_whole(self, packed: np.ndarray) -> bool: ...
    def trim(self, ns: int) -> None: ...
    def waited(self) -> int: ...


class RemoteSite:
    """Serve one operator.

    Parameters
    ----------
    assembly : what runs.
    link : delays, jitter and losses that are put on top of those of the real network.
    loop : executes.
    say : receives a sentence for the user.

    Public attributes: ``strangers`` (messages of operators that are not served) and ``malformed``.
    """

    def __init__(
        self,
        assembly: Assembly,
        link: LinkSettings,
        loop: Ticks,
        say: Callable[[str], Any] = lambda line: None,
    ) -> None:
        rate_Hz = assembly.scene.rate_Hz
        self._assembly, self._loop, self._say = assembly, loop, say
        self._period_ns = round(1e9 / rate_Hz)
        self._up: DelayLine[dict[str, Any]] = DelayLine(
            link.delay_up_s, link.jitter_s, link.loss, link.seed, UNDERWAY_BYTES
        )
        self._down: DelayLine[Telemetry] = DelayLine(
            link.delay_down_s, link.jitter_s, link.loss, link.seed + 1
        )
        self.playout = Playout(rate_Hz, link.jitter_s, ROOM, min(history_ticks(link, rate_Hz), MOST_AHEAD))
        self._tick_place = place_of(assembly.new_state(), "tick")
        self._site, self._number = secrets.randbelow((1 << 63) - 1) + 1, 0
        self._telemetry_at_s = -np.inf
        self._is_silent = False  # the loop did not answer when it was last asked
        self.strangers = self.malformed = 0

    def receive(self, payload: dict[str, Any], now_s: float) -> None:
        """Take what came over the network; it has the emulated link before it."""
        if read_commands(payload) is None:
            self.malformed += 1
        else:
            self._up.put(now_s, *only_commands(payload))

    def step(self, now_s: float) -> list[dict[str, Any]]:
        """Do what is due; return the payloads to be sent.  Call it once per tick or more often."""
        for payload in self._up.due(now_s):
            if (message := read_commands(payload)) is not None:
                self._take(message, now_s)
        if self.playout.session:
            present = self.present
            for tick, command in self.playout.give(present):
                self._loop.schedule(tick, command)
            pace = self.playout.pace(present, now_s)
            self._loop.trim(round(self._period_ns / pace) - self._period_ns)
        if now_s >= self._telemetry_at_s:
            self._telemetry_at_s = max(self._telemetry_at_s + 1.0 / TELEMETRY_HZ, now_s)
            self._down.put(now_s, self._telemetry())
        return [write_telemetry(message) for message in self._down.due(now_s)]

    @property
    def present(self) -> int:
        """The tick that is executed next."""
        return int(self._loop.read_state()[self._tick_place])

    def _take(self, message: Commands, now_s: float) -> None:
        if self.playout.wants_in(message.session, message.opens, now_s):
            silent = not self._open(message, now_s)
            if silent and not self._is_silent:
                self._say("the loop does not answer: no operator is let in until it does.")
            self._is_silent = silent
        if self.playout.is_known(message.session):
            self.playout.take(message.rows, now_s)
        else:
            self.strangers += 1

    def _open(self, message: Commands, now_s: float) -> bool:
        """A new operator: no force, nothing asked for, the mechanism as it stands.  False: the loop is stuck.

        Where the operator's ticks are further already, time jumps to them.
        """
        if not self._loop.clear_schedule():
            return False
        packed = without_hand(self._assembly, self._loop.read_state())
        first = max(int(packed[self._tick_place]), message.first)
        packed[self._tick_place] = first
        if not self._loop.take_whole(packed):
            return False
        again = "another operator takes over" if self.playout.session else "an operator is there"
        self.playout.open(message.session, first, now_s)
        self._say(f"{again}: no force until it engages.")
        return True

    def _telemetry(self) -> Telemetry:
        packed = self._loop.read_state()
        self._number += 1
        return Telemetry(
            site=self._site,
            number=self._number,
            session=self.playout.session,
            tick=int(packed[self._tick_place]),
            state=packed,
            missing=self.playout.missing(),
            waited=self._loop.waited(),
        )
