"""The state machine of the force output against its rules in plain Python, over 1200 random runs.

`Rules` keeps absolute times and says each rule once, as docs/equations.md does; it shares nothing with
kernels/haptics/safety.py and hand.py.  What must never happen is asserted beside it, whatever the rules say.
"""

from __future__ import annotations

import dataclasses
import math
import random

import pytest

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import DeviceFlag, Fault, Safety
from tests.safety_kernels import bound_power, command_hand, unmapped_assembly, update_safety

TICKS, TICK_S = 100, 1e-3
SETTLE_S, RESUME_RAMP_S, SLACK_S = 0.005, 0.2, 0.004  # docs/equations.md, section 8
READY, WATCHDOG, STOPPED = int(DeviceFlag.READY), int(DeviceFlag.WATCHDOG), int(DeviceFlag.STOPPED)
Vector = tuple[float, float, float]
ZERO = (0.0, 0.0, 0.0)
ON = (Safety.ARMING, Safety.ARMED)
SILENT_ON = (*ON, Safety.INTERRUPTED)


def added(a: Vector, b: Vector, factor: float = 1.0) -> Vector:
    """a + factor b."""
    return a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]


@dataclasses.dataclass
class Terms:
    """What a scene says."""

    ramp_s: float
    resume_within_s: float
    slew_N_per_s: float
    limit_N: float
    max_stretch_m: float
    max_speed: float
    power_W: float
    timeout_s: float
    stall_s: float
    reseat: bool


@dataclasses.dataclass
class Sample:
    """What a tick is told."""

    position: Vector
    velocity: Vector
    age: float
    present: bool
    flags: int
    gap: float
    suspended: float
    arms: int
    disarms: int
    handle: Vector
    pull: Vector  # of a coupler at full gain


class Rules:
    """docs/equations.md, section 8, sentence by sentence."""

    def __init__(self, terms: Terms, origin: Vector) -> None:
        self.terms, self.origin = terms, origin
        self.mode, self.fault, self.gain, self.force = Safety.DISARMED, Fault.NONE, 0.0, ZERO
        self.now = 0.0
        self.arms = self.disarms = 0
        self.counted_at, self.counted_position = 0.0, ZERO
        self.credit_m = 0.0
        self.heard_since: float | None = None
        self.silence_s = 0.0
        self.resumed = False
        self.interruptions, self.longest_s = 0, 0.0

    def drop(self, mode: Safety, fault: Fault) -> None:
        self.mode, self.fault, self.gain, self.force = mode, fault, 0.0, ZERO
        self.heard_since, self.resumed = None, False

    def tick(self, s: Sample) -> None:
        t = self.terms
        self.now += s.gap
        arm, disarm = s.arms > self.arms, s.disarms > self.disarms
        self.arms, self.disarms = max(self.arms, s.arms), max(self.disarms, s.disarms)
        recent = s.present and s.age <= t.timeout_s
        drivable = bool(s.flags & READY) and not s.flags & STOPPED
        why = Fault.NONE
        if s.gap > t.stall_s:
            why = Fault.STALLED
        elif not recent or s.flags & WATCHDOG:
            why = Fault.DEVICE_SILENT
        no_way = Fault.SUSPENDED if s.suspended > 0.05 else Fault.NONE
        if recent and not drivable:
            no_way |= Fault.STOPPED

        was_on = self.mode in ON
        if disarm and self.mode != Safety.FAULT:
            if self.mode == Safety.INTERRUPTED:
                self.fault = Fault.NONE
            self.mode, self.gain, self.heard_since, self.resumed = Safety.DISARMED, 0.0, None, False
        active = self.mode in SILENT_ON
        if Fault.STOPPED in no_way or (active and no_way):
            self.drop(Safety.FAULT, self.fault | no_way)
        elif active and not s.present:
            self.drop(Safety.FAULT, self.fault | Fault.DEVICE_SILENT)
        elif active and why:
            if self.now - self.counted_at > t.resume_within_s:
                self.drop(Safety.FAULT, self.fault | why)
            else:
                self.drop(Safety.INTERRUPTED, (self.fault if self.mode == Safety.INTERRUPTED else 0) | why)
        elif active:
            self.judge(s)
        elif arm and not disarm:
            self.asked(s, no_way | why)
        if not why and self.mode != Safety.INTERRUPTED:
            credit = self.credit(s) if was_on and self.mode in ON else math.inf
            self.credit_m = min(credit, SLACK_S * t.max_speed)
            self.counted_at, self.counted_position = self.now - s.age, s.position
        if self.mode == Safety.ARMING:
            ramp_s = min(t.ramp_s, RESUME_RAMP_S) if self.resumed else t.ramp_s
            self.gain = min(1.0, self.gain + (TICK_S / ramp_s if ramp_s else 1.0))
            if self.gain == 1.0:
                self.mode, self.resumed = Safety.ARMED, False
        self.push(s)

    def credit(self, s: Sample) -> float:
        """How much further the device could have moved [m]."""
        between = max(self.now - s.age - self.counted_at, 0.0)
        moved = math.dist(s.position, self.counted_position)
        return self.credit_m + self.terms.max_speed * between - moved

    def judge(self, s: Sample) -> None:
        """The device was heard while there is force, or while force is interrupted."""
        if math.hypot(*s.velocity) > self.terms.max_speed:
            self.drop(Safety.FAULT, self.fault | Fault.DEVICE_SPEED)
        elif self.credit(s) < 0.0:
            self.drop(Safety.FAULT, self.fault | Fault.JUMP)
        elif self.mode == Safety.INTERRUPTED:
            if self.heard_since is None:
                self.heard_since = self.now - s.gap
                self.silence_s = max(self.now - s.age - self.counted_at, 0.0)
                if self.silence_s > self.terms.resume_within_s:
                    self.drop(Safety.FAULT, self.fault)
                    return
            if self.now - self.heard_since < SETTLE_S:
                return
            if self.stretch(s) > 4.0 * self.terms.max_stretch_m:
                self.drop(Safety.FAULT, self.fault | Fault.STRETCH)
                return
            self.mode, self.fault, self.gain, self.heard_since = Safety.ARMING, Fault.NONE, 0.0, None
            self.resumed = True
            self.interruptions += 1
            self.longest_s = max(self.longest_s, self.silence_s)

    def asked(self, s: Sample, refused: Fault) -> None:
        """An explicit request to arm."""
        if refused:
            self.fault = refused
        elif self.stretch(s) > self.terms.max_stretch_m and not self.terms.reseat:
            self.fault = Fault.STRETCH
        else:
            if self.stretch(s) > self.terms.max_stretch_m:
                self.origin = added(s.handle, s.position, -1.0)
            self.mode, self.fault, self.gain, self.resumed = Safety.ARMING, Fault.NONE, 0.0, False

    def stretch(self, s: Sample) -> float:
        return math.dist(added(self.origin, s.position), s.handle)

    def push(self, s: Sample) -> None:
        """The force on the hand: opposite to the pull, clamped, slew-limited, bounded in power."""
        if self.mode not in (Safety.FAULT, Safety.INTERRUPTED):
            wanted = added(ZERO, s.pull, -self.gain)
            size = math.hypot(*wanted)
            if size > self.terms.limit_N:
                wanted = added(ZERO, wanted, self.terms.limit_N / size)
            change = added(wanted, self.force, -1.0)
            size, most = math.hypot(*change), self.terms.slew_N_per_s * TICK_S
            self.force = added(self.force, change, most / size if size > most else 1.0)
        power = sum(f * v for f, v in zip(self.force, s.velocity, strict=True))
        if self.mode in ON and power > self.terms.power_W:
            self.drop(Safety.FAULT, self.fault | Fault.OVERLOAD)


class Story:
    """Random but coherent samples: a hand that moves, and now and then something that goes wrong."""

    def __init__(self, rng: random.Random, terms: Terms) -> None:
        self.rng, self.terms = rng, terms
        self.position = self.velocity = self.handle = self.pull = ZERO
        self.age, self.arms, self.disarms = 0.0005, 0, 0
        self.silent = self.watchdog = self.stopped = self.absent = 0  # ticks that are left of it
        self.stop_flags = 0

    def vector(self, size: float) -> Vector:
        u = self.rng.uniform
        return u(-size, size), u(-size, size), u(-size, size)

    def next(self) -> Sample:
        rng, chance = self.rng, self.rng.random
        gap = TICK_S * rng.uniform(0.9, 1.1)
        if chance() < 0.01:
            gap = rng.choice((0.004, 0.015, 0.025, 0.05, 0.15)) * rng.uniform(0.8, 1.2)
        speed = rng.choice((0.05, 0.2, 0.2, 1.0)) if chance() < 0.1 else None
        if speed is not None:
            self.velocity = self.vector(speed)
        self.silent, self.watchdog = max(self.silent - 1, 0), max(self.watchdog - 1, 0)
        self.stopped, self.absent = max(self.stopped - 1, 0), max(self.absent - 1, 0)
        if chance() < 0.01:
            self.silent = rng.choice((3, 9, 12, 25, 60, 130))
        if chance() < 0.005:
            self.watchdog = rng.choice((1, 5, 40, 150))
        if chance() < 0.004:
            self.stopped = rng.choice((1, 3, 20))
            self.stop_flags = rng.choice((0, STOPPED, STOPPED | READY))
        if chance() < 0.002:
            self.absent = 5
        self.pull = added(self.pull, self.vector(1.0)) if chance() < 0.8 else self.vector(30.0)
        real = added(self.position, self.velocity, gap)
        if self.silent:
            self.age += gap
        else:
            self.age = rng.uniform(0.0, 0.0015)
            self.position = real
            if chance() < 0.004:
                self.position = added(self.position, self.vector(rng.choice((0.005, 0.02, 0.1))))
        velocity = self.velocity
        if chance() < 0.002:
            velocity = self.vector(2.0 * self.terms.max_speed)
        self.handle = added(
            self.position, self.vector(0.01 if chance() < 0.95 else rng.choice((0.08, 0.08, 0.3)))
        )
        if chance() < 0.03:
            self.arms += rng.choice((1, 1, 3))
        if chance() < 0.005:
            self.disarms += 1
        lower = rng.choice((1, 5)) if chance() < 0.01 else 0
        flags = (self.stop_flags if self.stopped else READY) | rng.choice((0, 0, 2, 16))
        return Sample(
            position=self.position,
            velocity=velocity,
            age=self.age,
            present=not self.absent,
            flags=flags | (WATCHDOG if self.watchdog else 0),
            gap=gap,
            suspended=rng.choice((0.01, 0.5)) if chance() < 0.003 else 0.0,
            arms=self.arms - lower,
            disarms=self.disarms - lower,
            handle=self.handle,
            pull=self.pull,
        )


@pytest.fixture(scope="module")
def assembly() -> Assembly:
    return unmapped_assembly()


def terms_for(rng: random.Random, assembly: Assembly) -> Terms:
    """Random terms, written to the plan of the assembly; the rest of it does not matter here."""
    plan = assembly.plan
    terms = Terms(
        ramp_s=rng.choice((0.0, 0.01, 0.03, 0.5)),
        resume_within_s=rng.choice((0.0, 0.02, 0.1, 0.1, 1.0)),
        slew_N_per_s=rng.choice((200.0, 2000.0)),
        limit_N=rng.choice((3.0, 12.0)),
        max_stretch_m=0.05,
        max_speed=rng.choice((1.5, 5.0)),
        power_W=rng.choice((1.0, 1e6)),
        timeout_s=float(plan.cut_off_s),
        stall_s=float(plan.stall_s),
        reseat=rng.random() < 0.5,
    )
    said = {
        "ramp_s": terms.ramp_s, "resume_within_s": terms.resume_within_s,
        "slew_limit_N_per_s": terms.slew_N_per_s,
        "max_stretch_m": terms.max_stretch_m, "max_device_speed_m_per_s": terms.max_speed,
        "max_power_W": terms.power_W, "reseat": int(terms.reseat), "tick_s": TICK_S, "force_scale": 1.0,
        "motion_scale": 1.0, "coupled_rotation": 0,
    }  # fmt: skip
    return terms, type(plan)(**(dict(plan.items()) | said))


@pytest.mark.parametrize("runs", [300, pytest.param(1200, marks=pytest.mark.long)])
def test_random_runs_follow_the_rules_and_force_is_never_where_it_must_not_be(assembly, runs):
    seen_modes, seen_faults, resumed = set(), Fault.NONE, 0
    for seed in range(runs):
        rng = random.Random(seed)
        terms, plan = terms_for(rng, assembly)
        state, inp = assembly.new_state(), assembly.new_input()
        state.origin_W[:] = 0.0
        inp.coupler[2] = terms.limit_N
        rules, story = Rules(terms, ZERO), Story(rng, terms)
        latched, before = False, ZERO
        for n in range(TICKS):
            s, asked = story.next(), int(state.safety[2])
            inp.device[:] = (*s.position, *s.velocity, s.age, s.present)
            inp.flags[0], inp.gap[:], inp.requests[:] = s.flags, (s.gap, s.suspended), (s.arms, s.disarms)
            update_safety(plan, state, inp, *s.handle)
            gain = float(state.gain[0])
            command_hand(plan, state, inp, *added(ZERO, s.pull, gain))
            bound_power(plan, state, inp)
            gain, now = float(state.gain[0]), state.safety.tolist()
            mode, force = now[0], state.hand_force_D.tolist()
            rules.tick(s)

            same = now[:2] == [rules.mode, rules.fault] and abs(gain - rules.gain) < 1e-12
            same = same and math.dist(force, rules.force) < 1e-9
            same = same and math.dist(state.origin_W.tolist(), rules.origin) < 1e-12
            count, longest = state.interruption[2:].tolist()
            same = same and count == rules.interruptions and abs(longest - rules.longest_s) < 1e-9
            assert same, f"seed {seed}, tick {n}: {s} gave {now}, gain {gain}, {force}; wanted {vars(rules)}"

            size, step = math.hypot(*force), math.dist(force, before)
            most = terms.slew_N_per_s * TICK_S * (1.0 + 1e-9)
            held = (
                (mode in ON or gain == 0.0)
                and (mode not in (Safety.FAULT, Safety.INTERRUPTED) or size == 0.0)
                and (mode != Safety.DISARMED or size <= math.hypot(*before) * (1.0 + 1e-12))
                and size <= terms.limit_N * (1.0 + 1e-12)
                and (size == 0.0 or step <= most)
            )
            latched = latched or mode == Safety.FAULT
            if latched and mode in SILENT_ON:
                held, latched = held and s.arms > asked, False  # only an explicit request ends a fault
            assert held, f"seed {seed}, tick {n}: {s} gave {now}, gain {gain}, {force} after {before}"
            before = force
            seen_modes.add(mode)
            seen_faults |= Fault(now[1])
        resumed += rules.interruptions
    assert seen_modes == set(Safety), "the stories reach every state"
    told = (
        Fault.DEVICE_SILENT, Fault.DEVICE_SPEED, Fault.STOPPED, Fault.STRETCH, Fault.STALLED, Fault.JUMP,
        Fault.OVERLOAD, Fault.SUSPENDED,
    )  # fmt: skip
    assert all(fault in seen_faults for fault in told) and resumed > runs / 10
