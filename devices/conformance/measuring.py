"""Checks of what a driver says of itself, and of what it measures."""

from __future__ import annotations

import itertools
import math

from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.fields import Refused

from ..base import ENGAGE, READY, STOPPED
from ..plausible import Plausibility, Verdict, is_usable
from .bench import FAILED, OK, RATE_HZ, UNSEEN, Found, Make, opened, samples

MOVED_M = 0.005  # so much motion is needed to judge units
WINDOW = 20  # samples over which velocity and position are compared


def check_info(make: Make) -> Found:
    """It describes itself before it is opened, in numbers that a server takes."""
    driver = make()
    info = driver.info
    if info.name != type(driver).name:
        return FAILED, f"info.name is {info.name!r} and the driver's name {type(driver).name!r}: give one."
    try:
        decode(encode(info.hello()))
    except (Refused, TypeError, ValueError, OverflowError) as error:
        return (
            FAILED,
            f"no server takes what info says ({error}): compare it with 'hello' of docs/protocol.md.",
        )
    if info.limits.max_force_N <= 0.0 < info.dof_out and info.limits.turning is None:
        return FAILED, "info says that it can push (dof_out), and limits.max_force_N is 0: give its force."
    limits = info.limits
    return OK, f"{info.model}, {limits.max_force_N:g} N, {limits.workspace_radius_m:g} m, {info.rate_Hz:g} Hz"


def check_open(make: Make) -> Found:
    """It may be closed twice, and without having been open."""
    make().close()
    driver = make()
    driver.open()
    driver.close()
    driver.close()
    return OK, "opens; closes twice, and unopened"


def check_measurement(make: Make) -> Found:
    """What it measures is finite, in range, and of the right shape: what the wire takes."""
    with opened(make) as driver:
        bad = [sample for _, sample in samples(driver) if not is_usable(sample)]
    if bad:
        return FAILED, f"{len(bad)} measurements are not usable, the first {bad[0]}: keep the last good one."
    return OK, "finite, in range, unit quaternions"


def check_ready(make: Make) -> Found:
    """It says READY, and not STOPPED: else no server ever arms it."""
    with opened(make) as driver:
        flags = [sample.flags for _, sample in samples(driver)]
    if not any(f & READY for f in flags):
        return FAILED, "no measurement has the flag READY: set it while the device is calibrated and powered."
    if all(f & STOPPED for f in flags):
        return FAILED, "every measurement has the flag STOPPED: release the emergency stop, or mend the flag."
    return OK, "says READY"


def check_engage(make: Make) -> Found:
    """The hand presses ENGAGE: else force never comes, and nothing says why."""
    with opened(make) as driver:
        down = [bool(sample.buttons & ENGAGE) for _, sample in samples(driver) if is_usable(sample)]
    if down and all(down):
        return FAILED, "ENGAGE is down in every measurement: force comes at a press, let it go in between."
    if not any(down):
        return UNSEEN, "ENGAGE was never down, without which no force comes: press it while this check runs"
    return OK, "ENGAGE was pressed"


def check_units(make: Make) -> Found:
    """Positions are within reach, in m, and velocities are theirs, in m/s."""
    way = driven = 0.0
    with opened(make) as driver:
        reach = 3.0 * driver.info.limits.workspace_radius_m
        seen = [(t, s) for t, s in samples(driver) if is_usable(s)]
    far = max((math.hypot(*s.position_m) for _, s in seen), default=0.0)
    if far > reach:
        return FAILED, f"the handle is {far:g} m from the centre and reaches {reach / 3.0:g}: give m, not mm."
    for i in range(0, len(seen) - WINDOW, WINDOW):
        part = seen[i : i + WINDOW + 1]
        judge, drift = Plausibility(), [0.0, 0.0, 0.0]
        for (t0, _), (t1, s) in itertools.pairwise(part):
            judge.judge(s, t1 - t0, 1.0 / RATE_HZ)
            drift = [d + v * (t1 - t0) for d, v in zip(drift, s.velocity_m_per_s, strict=True)]
        if judge.jumps == 0:  # they are for the next check
            way += math.dist(part[0][1].position_m, part[-1][1].position_m)
            driven += math.hypot(*drift)
    if way < MOVED_M and driven < MOVED_M:
        return UNSEEN, "the handle did not move: move it while this check runs"
    ratio = driven / way if way > 0.0 else math.inf
    if not 0.2 < ratio < 5.0:
        return FAILED, f"the velocity is {ratio:.3g} times that of the position: give m/s."
    return OK, f"velocity and position agree (ratio {ratio:.2f})"


def check_motion(make: Make) -> Found:
    """The position does not jump further than a hand moves."""
    judge, last_s = Plausibility(), math.nan
    with opened(make) as driver:
        for t, sample in samples(driver):
            elapsed_s = 0.0 if math.isnan(last_s) else t - last_s
            last_s = t
            if judge.judge(sample, elapsed_s, 1.0 / RATE_HZ) is Verdict.JUMP:
                return FAILED, (
                    f"the position jumped by {1e3 * judge.step_m:.1f} mm in a tick, which the bridge takes "
                    "for a lost encoder: leave out readings that are not whole."
                )
    return OK, "no jumps"


def check_time(make: Make) -> Found:
    """The time of a sample is the caller's, and never goes back."""
    last_s = -math.inf
    with opened(make) as driver:
        for t, sample in samples(driver):
            if not abs(sample.time_s - t) < 0.05:
                return FAILED, (
                    f"a measurement asked for at {t:.3f} s is of {sample.time_s:.3f} s: give the time of "
                    "the call, not of a clock of your own."
                )
            if sample.time_s < last_s:
                return FAILED, f"time went back by {last_s - sample.time_s:g} s: give the time of the call."
            last_s = sample.time_s
    return OK, "times are the caller's"
