"""A device that is killed or stopped while it pushes: the server takes the force away, and says so.

Times are the server's own, from its recording: one row per tick, with the age of the newest device sample.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Fault, Safety
from hapticsim.recording.reader import Recording, read_recording
from tests.processes import PATIENT, PUSH, START_S, Place, Program, eventually, is_alive
from tests.runs.test_visit import hand_force, publish_endpoint
from tests.seeds import with_long

TIMEOUT_S, TICK_S, RESUME_S = 0.010, 0.001, 0.1
LOST = "force is off: the device fell silent"  # and the loop stood still, says a host that did


def pushing(place: Place, script: dict[str, object] = PATIENT) -> tuple[Program, Path]:
    """A run whose hand is pushed back by more than 10 N, and its recording.

    Started again where the machine stood still for so long that the server had reason to take the force away.
    """
    for attempt in range(5):
        record = place.folder / f"{attempt}.mcap"
        program = place.start("run", place.pushing(script), "--record", record)
        program.hears("in session", START_S)
        program.hears("force is on.")
        with hs.Subscriber(publish_endpoint(place)) as server:
            time.sleep(2.5)  # until the script leans on the table with all it has
            force = np.linalg.norm(server.latest("state", 2.0)["device"]["force_N"])
        if force > 10.0 and program.said.count("force is ") == 1:
            return program, record
        program.stop()
    raise AssertionError(f"the force never lasted:\n{program.said}")


def check_silence(recording: Recording) -> int:
    """Zero force within the time-out of the newest sample, with its reason, and a fault 0.1 s after it.

    Returns the row from which there was no force.
    """
    age, safety, force = recording.column("device_age_s"), recording.column("safety"), hand_force(recording)
    (faults,) = np.nonzero(safety == Safety.FAULT)
    fault = first = int(faults[0])
    while safety[first - 1] == Safety.INTERRUPTED:
        first -= 1
    assert force[first - 1] > 10.0 and safety[first - 1] == Safety.ARMED
    assert TIMEOUT_S - TICK_S < age[first] <= TIMEOUT_S + late(recording, first)
    assert int(recording.column("fault")[first]) & Fault.DEVICE_SILENT
    gone = age[fault] - age[first]  # the silence counts from the sample, the fault is found by a tick
    assert RESUME_S - TIMEOUT_S < gone <= RESUME_S + TICK_S + late(recording, fault)
    silent = age > TIMEOUT_S
    assert np.all(force[silent] == 0.0)
    assert np.all(force[first:] == 0.0) or np.any(safety[first:] == Safety.ARMING)
    return first


def late(recording: Recording, row: int) -> float:
    """[s] by which the tick of a row, or the one before it, was itself late."""
    return 1e-6 * float(recording.column("lateness_us")[row - 1 : row + 1].max())


def test_a_killed_device_means_zero_force_at_the_time_out_and_is_started_again(place):
    program, record = pushing(place)
    os.kill(program.child("-m hapticsim_devices"), signal.SIGKILL)
    program.hears(LOST)
    program.hears("device 'scripted' died (status -9); starting it again.")
    program.hears("in session", times=2)
    program.hears("force is on.", times=2)  # its script engages again: the explicit step
    assert program.stop() == 0
    recording = read_recording(record)
    first = check_silence(recording)
    safety, arms = recording.column("safety"), recording.column("arm_requests")
    again = first + int(np.flatnonzero(safety[first:] == Safety.ARMING)[0])
    assert np.all(hand_force(recording)[first:again] == 0.0)
    assert arms[again] > arms[again - 1]  # force came back in the very tick it was asked for


def test_a_stopped_device_means_zero_force_and_none_when_it_wakes(place):
    program, record = pushing(place, PUSH)
    device = program.child("-m hapticsim_devices")
    os.kill(device, signal.SIGSTOP)
    program.hears(LOST)
    os.kill(device, signal.SIGCONT)
    with hs.Subscriber(publish_endpoint(place)) as server:
        eventually(lambda: server.latest("state", 2.0)["device"]["connected"])
        woken = server.latest("state", 2.0)["tick"]
        eventually(lambda: server.latest("state", 2.0)["tick"] > woken + 1000)
        assert server.latest("state", 2.0)["mode"] in (Safety.FAULT, Safety.DISARMED)
    assert program.said.count("force is on.") == 1
    assert program.stop() == 0
    recording = read_recording(record)
    first = check_silence(recording)
    assert np.all(hand_force(recording)[first:] == 0.0)
    assert np.any(recording.column("device_age_s")[first + 1 :] < TIMEOUT_S)  # it did talk again


def test_a_device_that_woke_gets_force_by_asking_again(place):
    program, _ = pushing(place)
    device = program.child("-m hapticsim_devices")
    os.kill(device, signal.SIGSTOP)
    program.hears(LOST)
    os.kill(device, signal.SIGCONT)
    program.hears("force is on.", times=2)  # its hand clicks every half second
    assert program.stop() == 0


def test_a_run_whose_device_refuses_at_its_start_ends_with_status_2(place):
    scene = place.scene("puck_and_wall", device={"driver": "mouse"})
    place.environment["DISPLAY"] = ":4242"  # there is none by that name
    program = place.run("run", scene, "--no-window", "--no-record")
    assert program.process.returncode == 2
    assert "mouse: the pad window did not open: check the display" in program.said
    assert "ticks at 1000 Hz" in program.printed


@pytest.mark.parametrize("how", with_long([signal.SIGKILL], [signal.SIGTERM]))
def test_a_server_that_ends_takes_its_device_with_it(place, how):
    program, _ = pushing(place)
    device = program.child("-m hapticsim_devices")
    program.send(how)
    program.process.wait(10.0)
    eventually(lambda: not is_alive(device), 5.0)
