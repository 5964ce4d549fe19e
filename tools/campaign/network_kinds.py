"""A link at fault, in virtual time: both sites, their messages and the ticks are what runs (virtual_link.py).

The hand sways and clicks four times a second, which asks for nothing where there is force.  Where nothing is
heard, the time to zero counts from when what the remote site said last is too old (teleop/hearing.py).
"""

from __future__ import annotations

import functools
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from hapticsim_devices.scripted import Scripted
from virtual_link import Host, VirtualLink, stalls

import hapticsim as hs
from campaign.kinds import Trial, kind
from campaign.rig import RAMP_S, SCENE
from hapticsim.codes import DeviceFlag, Safety
from hapticsim.haptics.joining import limits_of, scene_gains
from hapticsim.kernels.memory.pack import place_of
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.scene import Scene
from hapticsim.model.settings import LinkSettings

CLAMP_N, LEAST_FORCE_N = 12.0, 0.5
SWAY_M, SWAY_S, CLICK_S = 0.02, 0.6, 0.25
SHORT = LinkSettings(0.01, 0.01, silence_s=0.05)
MOST_STRIKES = 10  # on one run, whose rows are kept
FORCEFUL = (int(Safety.ARMING), int(Safety.ARMED))
FORCE = slice(PLACE["hand_force_x_N"], PLACE["hand_force_x_N"] + 3)
ODD_NUMBERS = (math.nan, math.inf, -math.inf, 1e300, -1e300, 1e12, -1e12)
ODD_VALUES = (None, -1, 0, 1 << 62, 1 << 70, 1e12, math.nan, "", "x", b"", b"x", True, [], [1, 2, 3], {})


@functools.cache
def scene() -> Scene:
    base = hs.load(SCENE)
    return replace(base, safety=replace(base.safety, ramp_s=RAMP_S))


def hand(seconds: float, clicks_from_s: float = 0.1) -> np.ndarray:
    """Rows (n, columns) with what a hand does."""
    width = len(hs.Simulation(scene()).columns)
    t = scene().tick_s * np.arange(round(seconds / scene().tick_s))
    rows = np.zeros((len(t), width))
    turn = 2.0 * np.pi / SWAY_S
    rows[:, PLACE["device_x_m"]] = SWAY_M * np.sin(turn * t)
    rows[:, PLACE["device_vx_m_per_s"]] = SWAY_M * turn * np.cos(turn * t)
    rows[:, PLACE["device_age_s"]], rows[:, PLACE["device_present"]] = 1e-3, 1.0
    rows[:, PLACE["arm_requests"]] = np.maximum(np.floor((t - clicks_from_s) / CLICK_S) + 1.0, 0.0)
    gains = scene_gains(limits_of(Scripted({}).info.hello()), scene())
    rows[:, PLACE["coupler_stiffness_N_per_m"]] = gains.translation.world_stiffness
    rows[:, PLACE["coupler_damping_Ns_per_m"]] = gains.translation.world_damping
    rows[:, PLACE["force_limit_N"]], rows[:, PLACE["device_qw"]] = CLAMP_N, 1.0
    rows[:, PLACE["device_flags"]], rows[:, PLACE["tick_gap_s"]] = int(DeviceFlag.READY), scene().tick_s
    return rows


def forces(run: VirtualLink, first: int) -> np.ndarray:
    """(n, 3) [N] on the hand, of the ticks from a row on."""
    return np.array([row[FORCE] for row in run.operator_loop.rows[first:]]).reshape(-1, 3)


def is_on(run: VirtualLink) -> bool:
    rows = run.operator_loop.rows
    return bool(rows) and rows[-1][PLACE["safety"]] == Safety.ARMED


def until_pushed(run: VirtualLink, within_s: float = 8.0) -> bool:
    """Go on until the hand is pushed.

    After an outage on the way there the remote site makes up for what it stood still (teleop/playout.py), and
    until then what it says is too old.
    """
    for _ in range(round(within_s / 0.02)):
        run.run(0.02)
        if is_on(run) and np.linalg.norm(run.operator_loop.rows[-1][FORCE]) > LEAST_FORCE_N:
            return True
    return False


def weigh(run: VirtualLink, first: int) -> Trial:
    """What the hand felt from a row on."""
    trial = Trial(limit_N=CLAMP_N)
    force = forces(run, first)
    if not len(force):
        return trial
    size, step = np.linalg.norm(force, axis=1), np.linalg.norm(np.diff(force, axis=0), axis=1)
    trial.largest_N = float(size.max())
    rising = step[size[1:] > 0.0]
    trial.step_N = float(rising.max(initial=0.0))
    trial.step_share = trial.step_N / (scene().safety.slew_limit_N_per_s * scene().tick_s)
    if not np.all(np.isfinite(force)):
        trial.wrong.append("a force that is not finite")
    return trial


def _shut(silent: list[bool], ways: tuple[str, ...]) -> Callable[[float, str], bool]:
    """What a cut network lets nothing through by: on these ways, as long as ``silent`` holds something."""
    return lambda at_s, way: bool(silent) and way in ways


def cutting(name: str, about: str, ways: tuple[str, ...]) -> None:
    """A kind in which nothing gets through for a while."""

    @kind(name, "link", about)
    def _run(trials: int, rng: random.Random) -> Iterator[Trial]:
        for begun in range(0, trials, MOST_STRIKES):
            silent: list[bool] = []
            run = VirtualLink(scene(), hand(60.0), SHORT, cut=_shut(silent, ways))
            for _ in range(min(MOST_STRIKES, trials - begun)):
                if not until_pushed(run):
                    yield Trial(wrong=["there was no force to begin with"])
                    continue
                run.run(rng.uniform(0.0, 0.1))
                first = len(run.operator_loop.rows)
                silent.append(True)
                run.run(run.operator.hearing.allowed_s + 0.02)
                after = len(run.operator_loop.rows)
                run.run(2.0 * CLICK_S)
                trial = weigh(run, first)
                if np.any(forces(run, after)):
                    trial.wrong.append("there was force again while nothing got through")
                rows = np.array(run.operator_loop.rows[first:])
                gone = np.flatnonzero((rows[:, PLACE["link_late_s"]] > 0.0) & ~rows[:, FORCE].any(axis=1))
                trial.device_s = float(rows[gone[0], PLACE["link_late_s"]]) if len(gone) else math.inf
                silent.clear()
                yield trial
            if run.differing_ticks() or not run.is_gapless():
                trial.wrong.append("the remote site took another sequence of commands")


cutting("telemetry stops", "what the remote site says does not come for a while", ("down",))
cutting("commands stop", "what the operator's side says does not come for a while", ("up",))
cutting("network cut", "nothing gets through for a while", ("up", "down"))


def enduring(
    name: str,
    about: str,
    link: Callable[[random.Random], LinkSettings] = lambda rng: SHORT,
    host: Callable[[np.random.Generator], Host] = lambda rng: Host(),
    spoil: Callable[[VirtualLink, random.Random], Any] = lambda run, rng: None,
    exact: bool = True,
    seconds: float = 1.0,
) -> None:
    """A kind that must not cost the force, and after which both sites have been equal to the bit.

    exact : False where a peer says what is not true: then only the bounds count.
    """

    @kind(name, "link", about)
    def _run(trials: int, rng: random.Random) -> Iterator[Trial]:
        hands = hand(seconds)
        for _ in range(trials):
            chance = np.random.default_rng(rng.randrange(1 << 32))
            run = VirtualLink(scene(), hands, link(rng), host(chance), host(chance))
            spoil(run, rng)
            run.run(seconds)
            trial = weigh(run, 0)
            if exact:
                trial.wrong += [words for words, seen in (
                    (f"{run.operator.corrections} corrections", run.operator.corrections > 0),
                    (f"{run.differing_ticks()} ticks differ", run.differing_ticks() > 0),
                    ("the remote site took another sequence of commands", not run.is_gapless()),
                    (f"the force was taken away {run.faults} times", run.faults > 0),
                    ("there was no force", trial.largest_N < LEAST_FORCE_N),
                    ("the remote site took no command", len(run.remote_loop.executed) < 100),
                ) if seen]  # fmt: skip
            yield trial


def stalling(longest_ms: float) -> Callable[[np.random.Generator], Host]:
    return lambda rng: Host(0.0, stalls(rng, 2.0, 4.0, longest_ms))


enduring("jitter of 100 ms", "each message comes up to 100 ms late, out of order",
         link=lambda rng: LinkSettings(0.01, 0.01, jitter_s=0.1, seed=rng.randrange(1 << 30)))  # fmt: skip
enduring("half of all messages lost", "in both directions",
         link=lambda rng: LinkSettings(0.01, 0.01, loss=0.5, seed=rng.randrange(1 << 30)))  # fmt: skip
enduring("stalls of 10 ms", "of either computer, four a second", host=stalling(10.0))
enduring("stalls of 50 ms", "of either computer, four a second", host=stalling(50.0),
         link=lambda rng: LinkSettings(0.01, 0.01))  # fmt: skip
enduring(
    "clocks drift", "by up to 100 ppm, each its own way", host=lambda rng: Host(rng.uniform(-100.0, 100.0))
)


def damaged(payload: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """The payload with one value that nobody would send."""
    odd = dict(payload)
    key = rng.choice(sorted(odd))
    value = odd[key]
    if isinstance(value, bytes) and len(value) >= 8 and rng.random() < 0.7:
        numbers = np.frombuffer(value[: len(value) // 8 * 8]).copy()
        numbers[rng.randrange(len(numbers))] = rng.choice(ODD_NUMBERS)
        odd[key] = numbers.tobytes()
    elif isinstance(value, bytes) and value:
        odd[key] = value[: rng.randrange(len(value))]
    else:
        odd[key] = rng.choice(ODD_VALUES)
    return odd


def _spoil_telemetry(run: VirtualLink, rng: random.Random) -> None:
    hear = run.operator.hear

    def heard(payload: dict[str, Any], now_s: float) -> Any:
        hear(damaged(payload, rng), now_s)
        return hear(payload, now_s)

    run.operator.hear = heard


def _spoil_commands(run: VirtualLink, rng: random.Random) -> None:
    receive = run.remote.receive

    def received(payload: dict[str, Any], now_s: float) -> None:
        receive(damaged(payload, rng), now_s)
        receive(payload, now_s)

    run.remote.receive = received


def _keep_commands(run: VirtualLink) -> list[dict[str, Any]]:
    """The payloads that the remote site receives from now on."""
    receive, kept = run.remote.receive, []

    def received(payload: dict[str, Any], now_s: float) -> None:
        kept.append(payload)
        receive(payload, now_s)

    run.remote.receive = received
    return kept


@kind("remote site started again", "link", "another process takes its place, and knows of nothing")
def _remote_again(trials: int, rng: random.Random) -> Iterator[Trial]:
    hands = hand(20.0)
    for _ in range(trials):
        run = VirtualLink(scene(), hands, SHORT)
        if not until_pushed(run):
            yield Trial(wrong=["there was no force to begin with"])
            continue
        run.run(rng.uniform(0.0, 0.1))
        first, struck_s = len(run.operator_loop.rows), run.now_ns * 1e-9
        fresh = VirtualLink(scene(), hands, SHORT)
        run.remote, run.remote_loop = fresh.remote, fresh.remote_loop
        allowed_s = run.operator.hearing.allowed_s
        run.run(allowed_s + 0.02)
        trial = weigh(run, first)
        (gone,) = np.nonzero(~forces(run, first).any(axis=1))
        trial.device_s = max(gone[0] * scene().tick_s - allowed_s, 0.0) if len(gone) else math.inf
        if not until_pushed(run):
            trial.wrong.append(f"no force after engaging again ({run.now_ns * 1e-9 - struck_s:.1f} s)")
        yield trial


@kind(
    "operator started again", "link", "a new one counts its requests anew; the old one's messages still come"
)
def _operator_again(trials: int, rng: random.Random) -> Iterator[Trial]:
    for _ in range(trials):
        run = VirtualLink(scene(), hand(3.0), SHORT)
        if not until_pushed(run):
            yield Trial(wrong=["there was no force to begin with"])
            continue
        receive = run.remote.receive
        late = _keep_commands(run)  # what the old operator sent last, and the network brings much later
        run.run(rng.uniform(0.05, 0.15))
        run.remote.receive = receive
        engages_s = rng.uniform(0.2, 0.4)
        new = VirtualLink(scene(), hand(3.0, engages_s), SHORT)
        new.remote, new.remote_loop, new.now_ns = run.remote, run.remote_loop, run.now_ns
        new._heap = [(run.now_ns, n, what) for n, (_, _, what) in enumerate(new._heap)]
        run.remote_loop.before.clear()
        run.remote_loop.executed.clear()
        while not new.operator.ready and new.now_ns < run.now_ns + 3_000_000_000:
            new.run(0.02)
        for _ in range(30):
            for payload in late[-5:]:
                run.remote.receive(payload, new.now_ns * 1e-9)
            new.run(0.01)
        on = until_pushed(new)
        trial = weigh(new, 0)
        place = place_of(run.remote_loop.state, "safety")
        asked = np.array([row[PLACE["arm_requests"]] for row in new.operator_loop.rows])
        begun = new.operator.hearing.first
        for tick, state in run.remote_loop.before.items():
            if begun <= tick < begun + len(asked) and asked[tick - begun] == 0 and state[place] in FORCEFUL:
                trial.wrong.append("the remote site was armed and nobody had engaged")
                break
        if not on:
            trial.wrong.append("no force after engaging")
        if run.remote.strangers == 0:
            trial.wrong.append("messages of the old operator were not told from the new one's")
        if new.differing_ticks() or not new.is_gapless():
            trial.wrong.append("the remote site took another sequence of commands")
        yield trial


enduring("damaged telemetry", "each message comes twice, the first with a value that nobody would send",
         spoil=_spoil_telemetry, exact=False)  # fmt: skip
enduring("damaged commands", "each message comes twice, the first with a value that nobody would send",
         spoil=_spoil_commands, exact=False)  # fmt: skip
