"""One trial of tools/fuzz_scenes.py: run a random scene and hold it against what must be true of every scene.

crash       an exception that is no refusal, or a dead process (seen by the parent)
nan         a coordinate, a speed or a force that is not finite
gain        energy of the passive part above its least value so far by more than GAIN of the scene's scale, in
            a tick that was not refused
flight      a speed above FLIGHT or a place beyond FAR, where the energy is not what applied torques put in: a
            newton metre turns a link of 2e-4 kg m^2 at 1000 rad/s after 0.2 s
leap        a coordinate that moved from look to look by LEAP more than the speeds explain
sunk        a shape deeper than SUNK in a plane, a sphere or a capsule, or a box, hull or capsule deeper than
            SUNK_IN_BOX in a box or a hull by whatever axes separate them, without a word
cone        a contact that pulls, or rubs with more than its cone allows, by the certificate of a tick
beyond      a joint beyond a stop by BEYOND in an exact tick, BEYOND_IN_STEP in a time step, unless told
force       a force on the hand above its limit, or a change above the slew limit other than to zero
stuck       STUCK ticks in a row that did not get to their end
silent      a tick that was not finite or was refused, and no event says so
slow        a tick above SLOW of processor time in each of RUNS runs of the trial (counted, not a find)
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import trimesh
import yaml
from apart import Pair
from scene_maker import Trial

from hapticsim.assemble.initial_check import place_of
from hapticsim.codes import ON_BOX, ON_EDGES, ON_HULLS, Event, Fault
from hapticsim.config.load import load, loads
from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.model.scene import TIME_STEPPING, Scene, Shape
from hapticsim.simulate.simulation import Simulation, Snapshot

PUCK = Path(__file__).parent.parent / "configs" / "puck_and_wall.yaml"
GAIN = 1e-6  # of the scene's scale of energy
FLIGHT, FAR = 1e3, 1e3  # [m/s or rad/s], [m or rad]
LEAP = 1.5  # [m or rad]; closing a constraint may take 1 (kernels/events/activation.py)
SUNK, SUNK_IN_BOX = 1e-3, 5e-3  # [m]
BEYOND, BEYOND_IN_STEP = 1e-5, 1e-4  # [rad] or [m]; what a tick without events left may do, and a time step
CONE = 1e-9  # of the largest force, and in N
STUCK = 20  # ticks
SLOW_s, RUNS = 1e-3, 3
LOOK_EVERY = 4  # ticks, where no hand is there to be hurt
PART = 0.08  # [m] of the largest part of a pile, half its length twice
LOOK_AT_PILE_EVERY = 5  # ticks: hundreds of pairs
REFUSED = Fault.NOT_FINITE | Fault.ENERGY
HELD_DEVICE = DeviceLimits(
    max_force_N=12.0, max_stiffness_N_per_m=5000.0, max_damping_Ns_per_m=30.0, apparent_mass_kg=0.2
)


@dataclass
class Verdict:
    """What a trial was: ``finds`` by kind with their figures; empty is good."""

    refused_at_load: str = ""
    finds: dict[str, str] = field(default_factory=dict)
    ticks: int = 0
    refused_ticks: int = 0
    halted_ticks: int = 0  # that did not get to their end
    crowded_ticks: int = 0  # that told of a chatter, or became a time step
    slow_ticks: int = 0
    slowest_s: float = 0.0
    worst_gain: float = 0.0  # of the scale
    worst_rate: float = 0.0  # [m/s] of a contact from what it allows
    contacts: int = 0  # most at once

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def compile_tick() -> None:
    """Load the machine code of the tick, or make it: a minute or two, once."""
    Simulation(load(PUCK)).step()


def run(trial: Trial) -> Verdict:
    """Run a trial to its end, or to its first find; again where ticks were slow: caches are cold once."""
    verdict, times = _run_once(trial)
    for _ in range(RUNS - 1 if trial.kind != "pile" else 0):
        if verdict.refused_at_load or times.max(initial=0.0) <= SLOW_s:
            break
        times = np.minimum(times, _run_once(trial)[1])
    verdict.slow_ticks = int(np.count_nonzero(times > SLOW_s))
    verdict.slowest_s = float(times.max(initial=0.0))
    return verdict


def _run_once(trial: Trial) -> tuple[Verdict, np.ndarray]:
    """Return the verdict, and how long each tick kept the processor [s]."""
    verdict, times = Verdict(), np.zeros(trial.ticks)
    try:
        sim = Simulation(loaded(trial))
    except ConfigError as refusal:
        verdict.refused_at_load = str(refusal)
        return verdict, times
    watch = _Watch(sim, trial, verdict)
    with np.errstate(all="ignore"):
        for tick in range(trial.ticks):
            times[tick] = watch.take(tick)
            if verdict.finds:
                break
    times[:3] = 0.0  # the first ticks load code
    return verdict, times


def loaded(trial: Trial) -> Scene:
    """The scene of a trial, with its meshes in files beside it."""
    text = yaml.safe_dump(trial.scene, sort_keys=False)
    if not trial.meshes:
        return loads(text)
    with TemporaryDirectory() as folder:
        for name, points in trial.meshes.items():
            trimesh.convex.convex_hull(np.array(points)).export(Path(folder, name))
        Path(folder, "scene.yaml").write_text(text)
        return load(Path(folder, "scene.yaml"))


def _reach(shape: Shape) -> float:
    """[m] radius of the ball about a box, hull, round solid with sides or capsule; infinite of others: no
    overlap is known."""
    match shape.kind:
        case "box":
            return math.hypot(*shape.size)
        case "mesh":
            return float(np.linalg.norm(shape.mesh.vertices, axis=1).max()) if shape.mesh else math.inf
        case "capsule":
            return shape.size[0] + 0.5 * shape.size[1]
        case "cylinder" | "cone" if shape.sides is not None:
            return math.hypot(shape.size[0], 0.5 * shape.size[1])
        case "ellipsoid" if shape.sides is not None:
            return max(shape.size)
    return math.inf


class _Watch:
    """A simulation that is held against the invariants tick by tick."""

    def __init__(self, sim: Simulation, trial: Trial, verdict: Verdict) -> None:
        self.sim, self.trial, self.verdict = sim, trial, verdict
        self.acts = list(trial.acts)
        if trial.hand is not None:
            self.limit_N = sim.couple(HELD_DEVICE).translation.limit
        safety = sim.scene.safety
        self.step_N = safety.slew_limit_N_per_s * sim.scene.tick_s
        self.last_force = np.zeros(3)
        self.smooth = np.array(
            [c.kind not in (ON_BOX, ON_EDGES, ON_HULLS) for c in sim.assembly.candidates], bool
        )
        self.stops = np.array([c.stop is not None for c in sim.assembly.candidates], bool)
        kinetic, potential = sim.energy()
        self.most_kinetic, self.low, self.high = kinetic, potential, potential
        mass = sum(b["inertial"]["mass_kg"] for b in trial.scene["robot"]["bodies"])
        self.floor = mass * 9.81 * 1e-3  # [J] weight over a millimetre: below it, rounding
        self.least = math.inf  # energy of the passive part so far
        self.start = kinetic + potential
        self.torque: np.ndarray | None = None  # applied now
        self.work = 0.0  # [J] of applied torques, at most
        self.told_full = self.told_through = False  # of contacts that have no row, or pass through
        shapes = {shape.name: shape for shape in sim.scene.shapes}
        pairs = [(shapes[pair.a], shapes[pair.b]) for pair in sim.scene.contacts]
        reached = [(a, b, reach) for a, b in pairs if (reach := _reach(a) + _reach(b)) < math.inf]
        self.solids = list({s.name: s for a, b, _ in reached for s in (a, b)}.values())
        index = {s.name: i for i, s in enumerate(self.solids)}
        self.pairs = [Pair(a, b) for a, b, _ in reached]
        self.ends = np.array([[index[a.name], index[b.name]] for a, b, _ in reached], int).reshape(-1, 2)
        self.reaches = np.array([reach for _, _, reach in reached])
        self.told_refused = False  # since the last look
        self.fault = Fault.NONE  # at the last look
        self.halted = 0  # ticks in a row
        self.before = sim.state  # at the last look
        self.look_every = LOOK_AT_PILE_EVERY if trial.kind == "pile" else LOOK_EVERY
        self.sunk = trial.deepest_m or SUNK
        self.sunk_in_box = trial.deepest_m or SUNK_IN_BOX

    def take(self, tick: int) -> float:
        """Act, step, look; return how long the step took [s]."""
        sim, verdict = self.sim, self.verdict
        while self.acts and self.acts[0]["tick"] <= tick:
            self._act(self.acts.pop(0))
        if self.trial.hand is not None:
            t = tick * sim.scene.tick_s
            place = [a * math.sin(6.283 * f * t + p) - a * math.sin(p) for a, f, p in self.trial.hand]
            rate = [6.283 * f * a * math.cos(6.283 * f * t + p) for a, f, p in self.trial.hand]
            sim.set_device(np.array(place), np.array(rate), 0.0005)
        before = sim.state.q if self.torque is not None else None
        start = time.thread_time()
        sim.step()
        spent = time.thread_time() - start
        if self.torque is not None:
            self.work += float(np.abs(self.torque * (sim.state.q - before)).sum())
        verdict.ticks += 1
        kinds = {event.kind for event in sim.events}
        refused = bool(kinds & {Event.ENERGY, Event.NOT_FINITE})
        verdict.refused_ticks += refused
        verdict.crowded_ticks += Event.STEPPED in kinds or Event.OVERFLOW in kinds
        self._look_whether_halted(tick, Event.HALTED in kinds)
        self.told_full = self.told_full or Event.ROWS_FULL in kinds
        self.told_through = self.told_through or Event.THROUGH in kinds
        self.told_refused = self.told_refused or refused
        if self.trial.hand is not None or refused or tick % self.look_every == 0:
            self._look(tick, refused)
        return spent

    def _act(self, act: dict[str, Any]) -> None:
        match act["do"]:
            case "arm":
                self.sim.arm()
            case "disarm":
                self.sim.disarm()
            case "torque":
                self.torque = np.array(act["values"])
                self.sim.apply(torque=self.torque)
            case "switch":
                self.sim.switch(act["name"], act["held"])

    def _look_whether_halted(self, tick: int, halted: bool) -> None:
        self.halted = self.halted + 1 if halted else 0
        self.verdict.halted_ticks += halted
        if self.halted == STUCK:
            self.verdict.finds["stuck"] = f"{STUCK} ticks in a row did not end, at tick {tick}"

    def _look(self, tick: int, refused: bool) -> None:
        state, verdict, at = self.sim.state, self.verdict, f"at tick {tick}"
        if not (np.all(np.isfinite(state.q)) and np.all(np.isfinite(state.u))):
            verdict.finds["nan"] = at
            return
        if not all(math.isfinite(c.force) for c in state.contacts):
            verdict.finds["nan"] = f"a contact force {at}"
            return
        verdict.contacts = max(verdict.contacts, len(state.contacts))
        if state.fault & REFUSED & ~self.fault and not self.told_refused:
            verdict.finds["silent"] = f"{state.fault!r} without an event {at}"
        self.fault, self.told_refused = state.fault, False
        self.told_full = self.told_full or bool(state.fault & Fault.ROWS_FULL)  # a list of events may be full
        fastest = max(np.abs(state.u).max(), 0.0)
        put_in = 0.0 < self.work and sum(self.sim.energy()) - self.start < 2.0 * self.work
        if (fastest > FLIGHT or np.abs(state.q).max() > FAR) and not put_in:
            verdict.finds["flight"] = f"speed {fastest:.3g} {at}"
        self._look_at_move(state, fastest, at)
        gaps = self.sim.gaps[self.smooth]
        unseen = self._came_unseen(fastest)
        if gaps.size and gaps.min() < -self.sunk - unseen and not self.told_full:
            verdict.finds["sunk"] = f"{-gaps.min() * 1e3:.3g} mm {at}"
        self._look_at_stops(unseen, at)
        told = self.sim.certificate
        largest = max((c.force for c in state.contacts), default=0.0)
        if not told.cone <= CONE * (1.0 + largest):
            verdict.finds["cone"] = f"{told.cone:.3g} N beyond a cone {at}"
        verdict.worst_rate = max(verdict.worst_rate, told.normal)
        self._look_into_boxes(state, unseen, at)
        self._look_at_force(state.hand_force, at)
        self._look_at_energy(tick, refused, at)

    def _look_at_move(self, state: Snapshot, fastest: float, at: str) -> None:
        moved, fastest = np.abs(state.q - self.before.q).max(), max(fastest, np.abs(self.before.u).max())
        if moved > LEAP + 2.0 * fastest * (state.time - self.before.time):
            self.verdict.finds["leap"] = f"{moved:.3g} at a speed of {fastest:.3g} {at}"
        self.before = state

    def _look_at_stops(self, unseen: float, at: str) -> None:
        if not self.stops.any() or self.told_full or self.told_through:
            return
        beyond = -float(self.sim.gaps[self.stops].min())
        allowed = BEYOND_IN_STEP if self.sim.scene.contact_regime == TIME_STEPPING else BEYOND
        allowed = self.sunk if self.sim.plan.driven == 1 else allowed  # what is driven is not halted
        if beyond > allowed + unseen:
            self.verdict.finds["beyond"] = f"{beyond:.3g} rad or m {at}"

    def _came_unseen(self, fastest: float) -> float:
        """[m] by which a shape may have come into another in the last tick: where no row is left for it, that
        is told as the next one begins; a time step is off by the square of the angle by which parts turn."""
        if self.trial.deepest_m is not None:
            return (fastest * self.sim.scene.tick_s) ** 2 * PART
        full = self.sim.rank[1] >= self.sim.scene.max_rows
        return 2.0 * fastest * self.sim.scene.tick_s if full else 0.0

    def _look_into_boxes(self, state: Snapshot, unseen: float, at: str) -> None:
        """What is in a box, by plain geometry: edges and corners in the kernels may all be wrong."""
        if self.told_full or self.told_through:
            return
        X_W = [place_of(self.sim.assembly, shape, state.q) for shape in self.solids]
        middles = np.array([X.translation for X in X_W]).reshape(-1, 3)
        ways = middles[self.ends[:, 0]] - middles[self.ends[:, 1]]
        allowed = self.sunk_in_box + unseen
        for k in np.flatnonzero(np.linalg.norm(ways, axis=1) <= self.reaches):
            i, j = self.ends[k]
            depth = self.pairs[k].depth(X_W[i], X_W[j], allowed)
            if depth is not None:
                a, b = self.solids[i].name, self.solids[j].name
                self.verdict.finds["sunk"] = f"{a} {depth * 1e3:.3g} mm in {b} {at}"

    def _look_at_force(self, force: np.ndarray, at: str) -> None:
        if self.trial.hand is None:
            return
        size, change = float(np.linalg.norm(force)), float(np.linalg.norm(force - self.last_force))
        if not size <= self.limit_N * (1.0 + 1e-9):
            self.verdict.finds["force"] = f"{size:.3g} N, {self.limit_N:.3g} allowed, {at}"
        if not change <= self.step_N * (1.0 + 1e-9) and size > 0.0:
            self.verdict.finds["force"] = f"{change:.3g} N in a tick, {self.step_N:.3g} allowed, {at}"
        self.last_force = force

    def _look_at_energy(self, tick: int, refused: bool, at: str) -> None:
        kinetic, potential = self.sim.energy()
        self.most_kinetic = max(self.most_kinetic, kinetic)
        self.low, self.high = min(self.low, potential), max(self.high, potential)
        if tick < self.trial.passive_from or not self.trial.conserving:
            return
        total = kinetic + potential
        scale = self.most_kinetic + self.high - self.low + self.floor
        gain = (total - self.least) / scale
        if refused:
            self.least = total
        elif gain > self.verdict.worst_gain:
            self.verdict.worst_gain = gain
            if gain > GAIN:
                self.verdict.finds["gain"] = f"{gain * scale:.3g} J, {gain:.3g} of the scale, {at}"
        self.least = min(self.least, total)
