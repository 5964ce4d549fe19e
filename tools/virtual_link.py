"""Both sites of a link in virtual time: real ticks, real messages, and networks and hosts that misbehave.

Everything that happens has a time in nanoseconds and happens in that order, so that a run is the same for the
same seed, and a second costs a fraction of one.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

import hapticsim as hs
from hapticsim.assemble.assembly import Assembly
from hapticsim.kernels.memory.arrays import State
from hapticsim.kernels.memory.command import command_of
from hapticsim.kernels.memory.pack import pack_state, state_size, unpack_state
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.scene import Scene
from hapticsim.model.settings import LinkSettings
from hapticsim.teleop.handover import MECHANISM
from hapticsim.teleop.operator_site import OperatorSite
from hapticsim.teleop.predictor import Predictor
from hapticsim.teleop.remote_site import RemoteSite

MS = 1_000_000  # [ns]
OUTLET_NS, LINK_NS = 5 * MS, 1 * MS


@dataclass
class Host:
    """How a computer runs: its clock, and when it stands still."""

    drift_ppm: float = 0.0
    stalls_ns: list[tuple[int, int]] = field(default_factory=list)  # start, duration

    def awake(self, at_ns: int) -> int:
        """The time, or the end of the stall it falls into."""
        for start, duration in self.stalls_ns:
            if start <= at_ns < start + duration:
                return start + duration
        return at_ns


def stalls(
    rng: np.random.Generator, seconds: float, per_s: float, longest_ms: float
) -> list[tuple[int, int]]:
    """Random stalls, at most as long as told."""
    count = rng.poisson(per_s * seconds)
    starts = np.sort(rng.uniform(0.0, seconds, count))
    return [(int(s * 1e9), int(rng.uniform(0.0, longest_ms) * MS)) for s in starts]


class OperatorLoop:
    """Takes ticks with recorded inputs of a hand; a loop for ``OperatorSite``."""

    def __init__(self, scene: Scene, inputs: np.ndarray) -> None:
        self.sim = hs.Simulation(scene)
        self.inputs = inputs
        self.rows: list[np.ndarray] = []
        self.unsent = 0
        self.states: dict[int, np.ndarray] = {}  # packed, before each tick
        self.until_s = 0.0
        self.taken = 0
        self._again = Predictor(self.sim.assembly)
        self.adopted: list[float] = []  # largest change of a coordinate by each adoption

    def tick(self, now_s: float) -> None:
        """One tick."""
        state = self.sim._state
        packed = np.zeros(state_size(state))
        pack_state(state, packed)
        self.states[int(state.tick[0])] = packed
        command = self.inputs[min(self.taken, len(self.inputs) - 1)]
        self.taken += 1
        self.sim.take_inputs(command)
        self.sim._input.link[0] = max(now_s - self.until_s, 0.0)
        self.sim.step()
        row = np.zeros(len(self.sim.columns))
        self.sim.read_row(row)
        self.rows.append(row)

    def new_rows(self) -> np.ndarray:
        """Rows since the last call."""
        rows = self.rows[self.unsent :]
        self.unsent = len(self.rows)
        return np.array(rows).reshape(-1, len(self.sim.columns))

    def take_whole(self, packed: np.ndarray) -> bool:
        unpack_state(packed, self.sim._state)
        return True

    def catch_up(self, state: State) -> bool:
        own = self.sim._state
        behind = int(own.tick[0] - state.tick[0])
        if behind:
            packed = np.zeros(state_size(state))
            pack_state(state, packed)
            self._again.predict(int(state.tick[0]), packed, command_of(np.array(self.rows[-behind:])))
            state.take(self._again.state)
        self.adopted.append(float(np.max(np.abs(state.q - own.q), initial=0.0)))
        for name, array in own.items():
            if (name in MECHANISM and name not in ("tick", "switched")) or name in (
                "origin_W",
                "turn_offset",
            ):
                array[...] = getattr(state, name)
        return True

    def watch_link(self, until_s: float) -> None:
        self.until_s = until_s


class RemoteLoop:
    """Takes a tick where its command is there; a loop for ``RemoteSite``."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self._runner = Predictor(assembly)
        self.state = assembly.new_state()
        self.packed = np.zeros(state_size(self.state))
        pack_state(self.state, self.packed)
        self.commands: dict[int, np.ndarray] = {}
        self.trim_ns = self._waited = 0
        self.executed: list[tuple[int, int]] = []  # tick, when [ns]
        self.before: dict[int, np.ndarray] = {}  # packed state before each executed tick

    def tick(self, now_ns: int) -> None:
        """A deadline: one tick, or none."""
        tick = int(self.state.tick[0])
        command = self.commands.pop(tick, None)
        if command is None:
            self._waited += 1
            return
        self.before[tick] = self.packed.copy()
        self.executed.append((tick, now_ns))
        self._runner.predict(tick, self.packed, command[None])
        self.state.take(self._runner.state)
        pack_state(self.state, self.packed)

    def read_state(self) -> np.ndarray:
        return self.packed.copy()

    def schedule(self, tick: int, command: np.ndarray) -> None:
        self.commands[tick] = command

    def clear_schedule(self) -> bool:
        self.commands.clear()
        return True

    def take_whole(self, packed: np.ndarray) -> bool:
        unpack_state(packed, self.state)
        self.packed[:] = packed
        return True

    def trim(self, ns: int) -> None:
        self.trim_ns = ns

    def waited(self) -> int:
        return self._waited


class VirtualLink:
    """An operator, a remote site and what lies between.

    Parameters
    ----------
    scene : of the operator; ``there`` is the remote site's, if that is another.
    inputs : rows (n, columns) whose inputs the hand gives, one per tick.
    link : the emulated network.
    here, yonder : the two computers.
    cut : says of a time [s] whether nothing gets through then, and of which direction ("up", "down").
    """

    def __init__(
        self,
        scene: Scene,
        inputs: np.ndarray,
        link: LinkSettings,
        here: Host | None = None,
        yonder: Host | None = None,
        there: Assembly | None = None,
        cut: Callable[[float, str], bool] = lambda at_s, way: False,
    ) -> None:
        self.here, self.yonder, self.cut = here or Host(), yonder or Host(), cut
        self.operator_loop = OperatorLoop(scene, inputs)
        self.remote_loop = RemoteLoop(there or self.operator_loop.sim.assembly)
        self.said: list[str] = []
        self.disarms = 0
        self.link = link
        self.operator = OperatorSite(
            self.operator_loop.sim.assembly, link, self.operator_loop, self._disarm, say=self.said.append
        )
        self.remote = RemoteSite(self.remote_loop.assembly, link, self.remote_loop, self.said.append)
        self.ages_s: list[float] = []
        self.now_ns = 0
        self._period = round(1e9 / scene.rate_Hz)
        self._heap: list[tuple[int, int, str]] = []
        self._order = itertools.count()
        self._running = False
        for what in ("knock", "remote tick", "remote link"):
            self._at(0, what)

    def _disarm(self) -> None:
        self.disarms += 1

    def _at(self, at_ns: int, what: str) -> None:
        host = self.yonder if what.startswith("remote") else self.here
        heapq.heappush(self._heap, (host.awake(at_ns), next(self._order), what))

    def run(self, seconds: float) -> VirtualLink:
        """Let so much time pass."""
        end = self.now_ns + int(seconds * 1e9)
        while self._heap and self._heap[0][0] <= end:
            self.now_ns, _, what = heapq.heappop(self._heap)
            getattr(self, "_" + what.replace(" ", "_"))(self.now_ns)
        self.now_ns = end
        return self

    def _knock(self, now: int) -> None:
        if self.operator.ready:
            self._running = True
            self._at(now, "tick")
            self._at(now, "outlet")
            return
        self._carry(self.operator.knock(), now)
        self._at(now + 20 * MS, "knock")

    def _tick(self, now: int) -> None:
        self.operator_loop.tick(now * 1e-9)
        self._at(now + round(self._period * (1.0 + 1e-6 * self.here.drift_ppm)), "tick")

    def _outlet(self, now: int) -> None:
        rows = self.operator_loop.new_rows()
        if len(rows):
            self._carry(self.operator.send(rows, now * 1e-9), now)
        self._at(now + OUTLET_NS, "outlet")

    def _carry(self, payload: dict, now: int) -> None:
        if not self.cut(now * 1e-9, "up"):
            self.remote.receive(payload, now * 1e-9)

    def _remote_tick(self, now: int) -> None:
        self.remote_loop.tick(now)
        period = self._period * (1.0 + 1e-6 * self.yonder.drift_ppm) + self.remote_loop.trim_ns
        self._at(now + round(period), "remote tick")

    def _remote_link(self, now: int) -> None:
        for payload in self.remote.step(now * 1e-9):
            if not self.cut(now * 1e-9, "down"):
                self.operator.hear(payload, now * 1e-9)
                if self._running:
                    self.ages_s.append(self.operator.age_s)
        self._at(now + LINK_NS, "remote link")

    # -- what came of it -------------------------------------------------------------------------------------

    def differing_ticks(self) -> int:
        """Ticks before which the two sites' states were not equal to the bit, of those that both took."""
        here, there = self.operator_loop.states, self.remote_loop.before
        return sum(here[k].tobytes() != state.tobytes() for k, state in there.items() if k in here)

    def is_gapless(self) -> bool:
        """Whether the remote site took every tick once and in order, with the operator's command."""
        ticks = [k for k, _ in self.remote_loop.executed]
        return ticks == list(range(ticks[0], ticks[0] + len(ticks))) if ticks else True

    @property
    def largest_step(self) -> float:
        """Of a coordinate of the operator's mechanism, by a correction [rad, m]."""
        return max(self.operator_loop.adopted, default=0.0)

    @property
    def faults(self) -> int:
        """How often the force was taken away here."""
        safety = np.array([row[PLACE["safety"]] for row in self.operator_loop.rows])
        return int(np.sum((safety[1:] == 3) & (safety[:-1] != 3)))
