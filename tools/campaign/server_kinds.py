"""The server, its loop or what it says is at fault."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

from hapticsim_devices.base import DeviceSample

from campaign.device_kinds import pause
from campaign.rig import Rig
from campaign.strikes import After, Undo, virtual
from hapticsim.codes import Safety
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import Bye, Force, Reject


def rewrite(rig: Rig, **fields: Any) -> Undo:
    """Let each force of the server say something else."""

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        if isinstance(message, Force):
            for name, value in fields.items():
                setattr(message, name, value)
            frame = encode(message)
        return [(0.0, frame)]

    rig.down.carry = carry
    return lambda: setattr(rig.down, "carry", lambda frame: [(0.0, frame)])


@virtual("server silent 15 ms", "no answer for 15 ms", lasts_ms=15, sides="device", after=After.RESUMES)
def _server_short(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "server_runs")


@virtual("server silent 300 ms", "no answer for 300 ms", lasts_ms=300, sides="device")
def _server_long(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "server_runs")


@virtual("server silent 700 ms", "no answer until the session is over", lasts_ms=700, sides="device")
def _server_gone(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "server_runs")


class Wandering:
    """A measurement that is moved along x, at a speed a hand can have, by an offset that stays."""

    def __init__(self, rig: Rig) -> None:
        self._rig, self._x_m = rig, 0.0
        self._since_s, self._velocity_m_per_s, self._lasts_s = -1.0, 0.0, 0.0

    def _gone_s(self) -> float:
        return min(1e-9 * self._rig.clock.now_ns - self._since_s, self._lasts_s)

    def go(self, to_m: float, lasts_s: float) -> None:
        """Move from where it is within a time."""
        self._x_m += self._velocity_m_per_s * self._gone_s()
        self._since_s, self._lasts_s = 1e-9 * self._rig.clock.now_ns, lasts_s
        self._velocity_m_per_s = (to_m - self._x_m) / lasts_s

    def __call__(self, sample: DeviceSample) -> DeviceSample:
        (x, y, z), (vx, vy, vz) = sample.position_m, sample.velocity_m_per_s
        gone_s = self._gone_s()
        if gone_s < self._lasts_s:
            vx += self._velocity_m_per_s
        return replace(
            sample,
            position_m=(x + self._x_m + self._velocity_m_per_s * gone_s, y, z),
            velocity_m_per_s=(vx, vy, vz),
        )


@virtual("server silent while the hand moves on", "no answer for 60 ms, in which the hand moves up to 140 mm",
         lasts_ms=60, sides="device", after=After.RESUMES)  # fmt: skip
def _moves_on(rig: Rig, rng: random.Random) -> Undo:
    wandering = rig.driver.spoil
    if not isinstance(wandering, Wandering):
        rig.driver.spoil = wandering = Wandering(rig)
    wandering.go(rng.uniform(-0.07, 0.07), 0.06)
    return pause(rig, "server_runs")


@virtual("loop stands still 25 ms", "no tick for 25 ms, while the wire thread answers", lasts_ms=25,
         sides="device", after=After.RESUMES)  # fmt: skip
def _loop_short(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "loop_runs")


@virtual("loop stands still 200 ms", "no tick for 200 ms, while the wire thread answers", lasts_ms=200,
         sides="device")  # fmt: skip
def _loop_long(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "loop_runs")


@virtual("both stand still 15 ms", "the whole computer stands still for 15 ms", lasts_ms=15, sides="",
         after=After.RESUMES)  # fmt: skip
def _host_short(rig: Rig, rng: random.Random) -> Undo:
    rig.device_runs = rig.server_runs = rig.loop_runs = False

    def undo() -> None:
        rig.device_runs = rig.server_runs = rig.loop_runs = True

    return undo


@virtual("five silences of 15 ms", "no answer for 15 ms, five times in 200 ms, while the hand goes on",
         lasts_ms=15, sides="device", after=After.EITHER)  # fmt: skip
def _five(rig: Rig, rng: random.Random) -> Undo:
    for _ in range(4):
        rig.server_runs = False
        rig.step(15)
        rig.server_runs = True
        rig.step(rng.randrange(15, 35))
    rig.watch()
    return pause(rig, "server_runs")


@virtual("force is NaN", "each force of the server is NaN", lasts_ms=20, sides="device", after=After.RESUMES)
def _nan_force(rig: Rig, rng: random.Random) -> Undo:
    nan = b"\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00"  # our codec does not say it: another program may

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        key = frame.find(b"\xa1f\x93\xcb")
        return [(0.0, frame if key < 0 else frame[: key + 3] + nan + frame[key + 12 :])]

    rig.down.carry = carry
    return lambda: setattr(rig.down, "carry", lambda frame: [(0.0, frame)])


@virtual("force above the clamp", "the server sends 900 N", lasts_ms=30, sides="", after=After.STAYS)
def _too_strong(rig: Rig, rng: random.Random) -> Undo:
    return rewrite(rig, force_N=(900.0, 0.0, 0.0))


@virtual("force that jumps", "the server sends +-11 N in turns", lasts_ms=30, sides="", after=After.STAYS)
def _jumping(rig: Rig, rng: random.Random) -> Undo:
    sign = [1.0]

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        if isinstance(message, Force):
            sign[0] = -sign[0]
            message.force_N = (11.0 * sign[0], 0.0, 0.0)
            frame = encode(message)
        return [(0.0, frame)]

    rig.down.carry = carry
    return lambda: setattr(rig.down, "carry", lambda frame: [(0.0, frame)])


@virtual("mode without force", "each force says DISARMED or INTERRUPTED", lasts_ms=20, sides="device",
         after=After.RESUMES)  # fmt: skip
def _odd_mode(rig: Rig, rng: random.Random) -> Undo:
    return rewrite(rig, mode=int(rng.choice((Safety.DISARMED, Safety.INTERRUPTED))))


@virtual(
    "terms without bounds", "a server that asked for a time-out of 10 s is silent; the device allows 20 ms",
    lasts_ms=200, sides="device", within_s=0.020,
    terms=lambda terms: replace(terms, timeout_s=10.0, slew_limit_N_per_s=1e7),
)  # fmt: skip
def _terms(rig: Rig, rng: random.Random) -> Undo:
    return pause(rig, "server_runs")


@virtual("server says bye", "the server ends the session and begins another", lasts_ms=30)
def _bye(rig: Rig, rng: random.Random) -> Undo:
    rig.port.end_session("its terminal was closed.")
    return lambda: None


@virtual("server restarts", "a new server, armed by nobody, takes over", lasts_ms=30)
def _restart(rig: Rig, rng: random.Random) -> Undo:
    rig.port.end_session("restarted.")
    rig.down.clear()
    return lambda: None


@virtual("reject after a lost session", "the server rejects the device for 200 ms", lasts_ms=200)
def _reject(rig: Rig, rng: random.Random) -> Undo:
    rig.port.end_session("restarted.")

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        if isinstance(message, Bye):
            return [(0.0, frame)]
        reject = Reject("'omega_3' is connected already: end it first.")
        reject.session, reject.number = 0, message.number
        reject.stamp_ns, reject.echo_ns = message.stamp_ns, message.echo_ns
        return [(0.0, encode(reject))]

    rig.down.carry = carry
    return lambda: setattr(rig.down, "carry", lambda frame: [(0.0, frame)])
