"""Trouble from outside while the hand pushes: a full disk, and ten thousand messages a second."""

from __future__ import annotations

import math
import multiprocessing
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import zmq
from hapticsim_devices.base import UPRIGHT, ZERO
from hapticsim_devices.scripted import Scripted

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.recording.reader import read_recording
from hapticsim.wire.device.link import DeviceLink
from hapticsim.wire.messages.codec import encode
from hapticsim.wire.messages.device import State
from tests.processes import START_S, Place, Program, eventually
from tests.runs.test_visit import publish_endpoint

FLOOD_S, PER_S = 2.0, 10_000
JUNK = (b"", b"\x00" * 8, b"\xc1", os.urandom(200), b"\x81\xa1v\x01", b"x" * 4000)


def test_on_a_full_disk_haptics_go_on_and_the_user_is_told(place):
    """A limit on the size of files stands in for the disk: writing fails in the same way."""
    arguments = ("run", place.pushing(), "--seconds", "7", "--record", "r.mcap")
    program = place.start(*arguments, longest_file=300_000)
    program.hears("recording stopped, haptics go on: r.mcap: recording stopped at", START_S)
    stopped = program.said
    assert program.wait() == 0
    after = [line for line in program.said[len(stopped) :].splitlines() if line.startswith("t ")]
    assert after and "armed" in after[-1] and "fingertip on table" in after[-1]
    assert "free some space and record again" in program.printed
    recording = read_recording(place.folder / "r.mcap")
    assert not recording.complete and len(recording.data) > 100
    assert np.array_equal(np.diff(recording.column("tick")), np.ones(len(recording.data) - 1))


def flood_with_junk(endpoint: str, sent) -> None:
    """A stranger sends what is no message, and messages of sessions that do not exist."""
    state = State(ZERO, UPRIGHT, ZERO, ZERO, 0, ZERO, 0, None)
    state.session, state.number, state.stamp_ns = 7, 1, time.monotonic_ns()
    frames = (*JUNK, encode(state))
    with zmq.Context() as context, context.socket(zmq.DEALER) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect(endpoint)
        sent.value = at_pace(lambda n: socket.send(frames[n % len(frames)]))


def flood_as_device(endpoint: str, sent) -> None:
    """A device that talks ten times as often as it was asked to."""
    with DeviceLink(endpoint, Scripted().info.hello()) as link:
        while link.try_connect() is None:
            time.sleep(0.01)
        sent.value = at_pace(lambda n: link.send_state((0.001 * math.sin(1e-3 * n), 0.0, 0.0), ZERO))


def at_pace(send) -> int:
    """Call ``send`` 10 000 times a second, as evenly as sleeping allows; returns how often."""
    start, n = time.monotonic(), 0
    while (elapsed := time.monotonic() - start) < FLOOD_S:
        while n < elapsed * PER_S:
            send(n)
            n += 1
        time.sleep(0.001)
    return n


def flooded(place: Place, program: Program, flood) -> tuple[int, dict, dict]:
    """Frames sent, and the statistics before and after."""
    processes = multiprocessing.get_context("spawn")
    sent = processes.Value("q", 0)
    endpoint = f"ipc://{place.folder}/hapticsim/device.sock"
    attacker = processes.Process(target=flood, args=(endpoint, sent), daemon=True)
    with hs.Subscriber(publish_endpoint(place), ("stats",)) as server:
        before = dict(server.latest("stats", 5.0))
        attacker.start()
        attacker.join(FLOOD_S + 20.0)
        eventually(lambda: server.latest("stats")["ticks"] >= before["ticks"] + 1000 * FLOOD_S)
        return sent.value, before, server.latest("stats")


@pytest.mark.long
def test_ten_thousand_junk_messages_a_second_are_counted_and_the_hand_feels_nothing(place):
    program = place.start("run", place.pushing(), "--record", "r.mcap")
    program.hears("in session", START_S)
    program.hears("force is on.")
    sent, before, after = flooded(place, program, flood_with_junk)
    assert program.stop() == 0
    assert sent > 0.9 * FLOOD_S * PER_S
    counted = sum(after["dropped"].values()) - sum(before["dropped"].values())
    assert counted > 0.5 * sent  # the rest was never taken from the sender
    assert after["missed"] - before["missed"] <= spared(after, before)
    safety = read_recording(place.folder / "r.mcap").column("safety")
    taken_away = np.count_nonzero(np.diff((safety == Safety.FAULT).astype(int)) > 0)
    assert taken_away <= 1 and safety[-1000:].max() >= Safety.ARMING  # one stall of the machine is forgiven


def test_a_device_that_talks_ten_thousand_times_a_second_is_served(place):
    program = place.start("serve", place.scene())
    program.hears("publish endpoint", START_S)
    sent, before, after = flooded(place, program, flood_as_device)
    assert program.stop(signal.SIGTERM) == 0
    assert sent > 0.5 * FLOOD_S * PER_S
    assert after["received"] - before["received"] > 0.2 * sent  # queues are short: what is not taken is lost
    assert after["missed"] - before["missed"] <= spared(after, before)


def spared(after: dict, before: dict) -> float:
    """Ticks that a busy machine may cost on its own: one in a hundred."""
    return 0.01 * (after["ticks"] - before["ticks"])


@pytest.mark.clock(alone=True)
def test_busy_neighbours_do_not_take_the_force_away(place):
    """Ordinary programs on every processor: whatever the device depends on has a priority above theirs."""
    program = place.start("run", place.pushing(), "--no-record")
    program.hears("in session", START_S)
    program.hears("force is on.")
    if "SCHED_FIFO not permitted" in scheduling(place):
        pytest.skip("SCHED_FIFO is not permitted here")
    before = program.said.count(": silent;")
    busy = "import time\nend = time.monotonic() + 5\nwhile time.monotonic() < end: pass"
    neighbours = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(os.cpu_count() or 1)]
    for neighbour in neighbours:
        neighbour.wait(30.0)
    assert program.said.count(": silent;") - before <= 1  # without: some fifteen on two processors
    assert program.stop() == 0


def scheduling(place: Place) -> str:
    """What the loop was given."""
    with hs.Subscriber(publish_endpoint(place), ("stats",)) as server:
        return str(server.latest("stats", 5.0)["scheduling"])
