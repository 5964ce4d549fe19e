"""The wire is at fault: late, lost, doubled, disordered, damaged; or somebody else speaks."""

from __future__ import annotations

import math
import random
from dataclasses import replace

from hapticsim_devices.base import ENGAGE

from campaign.rig import Rig
from campaign.sockets import Carry, Road, at_once
from campaign.strikes import After, Undo, virtual
from hapticsim.wire.messages.codec import decode, encode
from hapticsim.wire.messages.device import Arm, Bye, Disarm


def misbehave(road: Road, carry: Carry) -> Undo:
    """Let a road carry otherwise."""
    road.carry = carry
    return lambda: setattr(road, "carry", at_once)


@virtual("states 100 ms late", "each state comes 100 ms after it was measured", lasts_ms=140, sides="server")
def _old_states(rig: Rig, rng: random.Random) -> Undo:
    return misbehave(rig.up, lambda frame: [(0.1, frame)])


@virtual("forces 100 ms late", "each force comes 100 ms after it was sent", lasts_ms=140, sides="device")
def _old_forces(rig: Rig, rng: random.Random) -> Undo:
    return misbehave(rig.down, lambda frame: [(0.1, frame)])


@virtual("states out of order", "each state comes 0 to 4 ms late", sides="", after=After.STAYS)
def _disorder_up(rig: Rig, rng: random.Random) -> Undo:
    return misbehave(rig.up, lambda frame: [(rng.uniform(0.0, 0.004), frame)])


@virtual("forces out of order", "each force comes 0 to 4 ms late", sides="", after=After.STAYS)
def _disorder_down(rig: Rig, rng: random.Random) -> Undo:
    return misbehave(rig.down, lambda frame: [(rng.uniform(0.0, 0.004), frame)])


@virtual("everything twice", "each message comes twice, the second 5 ms later", sides="", after=After.STAYS)
def _twice(rig: Rig, rng: random.Random) -> Undo:
    undo = misbehave(rig.up, lambda frame: [(0.0, frame), (0.005, frame)])
    rig.down.carry = lambda frame: [(0.0, frame), (0.005, frame)]

    def both() -> None:
        undo()
        rig.down.carry = at_once

    return both


@virtual("one message in five lost", "each is lost with a chance of 0.2", sides="", after=After.RESUMES)
def _loss(rig: Rig, rng: random.Random) -> Undo:
    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        return [] if rng.random() < 0.2 else [(0.0, frame)]

    rig.up.carry = rig.down.carry = carry

    def undo() -> None:
        rig.up.carry = rig.down.carry = at_once

    return undo


def damage(frame: bytes, rng: random.Random) -> bytes:
    """Flip a bit, or cut."""
    out = bytearray(frame)
    if rng.random() < 0.2:
        return bytes(out[: rng.randrange(len(out))])
    out[rng.randrange(len(out))] ^= 1 << rng.randrange(8)
    return bytes(out)


@virtual("damaged forces", "one bit of each force is flipped, or it is cut", sides="", after=After.ANYTHING)
def _damaged_down(rig: Rig, rng: random.Random) -> Undo:
    return misbehave(rig.down, lambda frame: [(0.0, damage(frame, rng))])


@virtual("damaged states", "one bit of each state is flipped, or it is cut", sides="", after=After.ANYTHING)
def _damaged_up(rig: Rig, rng: random.Random) -> Undo:
    return misbehave(rig.up, lambda frame: [(0.0, damage(frame, rng))])


@virtual("forces of another session", "each force is of a session that is over", sides="device", lasts_ms=200)
def _other_session(rig: Rig, rng: random.Random) -> Undo:
    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        message.session ^= 5
        return [(0.0, encode(message))]

    return misbehave(rig.down, carry)


@virtual("answers to old states", "each force answers the same old state", sides="device", lasts_ms=120)
def _old_echo(rig: Rig, rng: random.Random) -> Undo:
    old = rig.clock.now_ns

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        message.echo_ns = old
        return [(0.0, encode(message))]

    undo = misbehave(rig.down, carry)
    rig.step(20)  # so long such an answer is a slow one: it counts from the time-out of answers on
    rig.watch()
    return undo


@virtual("clock of the device steps", "its stamps jump by up to an hour", sides="", after=After.ANYTHING)
def _clock_steps(rig: Rig, rng: random.Random) -> Undo:
    by_ns = round(3.6e12 * rng.uniform(0.0, 1.0))

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        message.stamp_ns += by_ns
        return [(0.0, encode(message))]

    return misbehave(rig.up, carry)


@virtual("clock of the server steps", "its stamps jump by up to an hour", sides="", after=After.STAYS)
def _server_clock_steps(rig: Rig, rng: random.Random) -> Undo:
    by_ns = round(3.6e12 * rng.uniform(0.0, 1.0))

    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        message = decode(frame)
        message.stamp_ns += by_ns
        return [(0.0, encode(message))]

    return misbehave(rig.down, carry)


@virtual("junk on the road", "ten pieces of junk a millisecond", sides="", after=After.STAYS)
def _junk(rig: Rig, rng: random.Random) -> Undo:
    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        junk = [rng.randbytes(rng.randrange(60)) for _ in range(10)]
        return [*((0.0, j) for j in junk), (0.0, frame)]

    rig.up.carry = rig.down.carry = carry

    def undo() -> None:
        rig.up.carry = rig.down.carry = at_once

    return undo


@virtual("arm and disarm at once", "the device asks for force and for none in one look", lasts_ms=20,
         sides="server", after=After.ENGAGE)  # fmt: skip
def _both(rig: Rig, rng: random.Random) -> Undo:
    rig.link._send(Disarm())
    rig.link._send(Arm())
    rig.link._send(Disarm())
    return lambda: None


@virtual("disarm is lost", "DISENGAGE is pressed and its message is lost", lasts_ms=20, sides="device")
def _lost_disarm(rig: Rig, rng: random.Random) -> Undo:
    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        return [] if isinstance(decode(frame), Disarm) else [(0.0, frame)]

    undo = misbehave(rig.up, carry)
    rig.driver.buttons |= 2

    def both() -> None:
        rig.driver.buttons &= ~2
        undo()

    return both


@virtual("bye and hello at once", "the device leaves and comes back within one look", lasts_ms=60)
def _bye_hello(rig: Rig, rng: random.Random) -> Undo:
    rig.link._send(Bye("its driver was started again."))
    rig.link._end("this end said bye.")
    rig.link._last_hello_s = -math.inf
    rig.link.try_connect()
    return lambda: None


@virtual("a hello in between", "a stranger says hello while the device pushes", lasts_ms=40, sides="",
         after=After.STAYS)  # fmt: skip
def _stranger(rig: Rig, rng: random.Random) -> Undo:
    port_end = rig.port._socket
    real = port_end.recv_multipart
    hello = replace(rig.link.hello)
    hello.session, hello.number, hello.stamp_ns, hello.echo_ns = 0, 1, rig.clock.now_ns, 0
    left = [encode(hello) for _ in range(20)]

    def received(flags: int = 0) -> list[bytes]:
        return [b"stranger", left.pop()] if left else real(flags)

    port_end.recv_multipart = received  # type: ignore[method-assign]
    return lambda: setattr(port_end, "recv_multipart", real)


@virtual("states of the other kind", "the server's own messages come back to it", sides="", after=After.STAYS)
def _echoed(rig: Rig, rng: random.Random) -> Undo:
    def carry(frame: bytes) -> list[tuple[float, bytes]]:
        rig.up.put(frame)
        return [(0.0, frame)]

    return misbehave(rig.down, carry)


@virtual("engage held for ever", "ENGAGE stays down across a silence", lasts_ms=300, sides="device")
def _held_engage(rig: Rig, rng: random.Random) -> Undo:
    rig.driver.buttons |= ENGAGE
    rig.server_runs = False

    def undo() -> None:
        rig.server_runs = True
        rig.step(150)
        rig.driver.buttons &= ~ENGAGE

    return undo
