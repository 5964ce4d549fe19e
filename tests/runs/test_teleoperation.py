"""Both ends of a one-second link in their own processes, against the clock."""

from __future__ import annotations

import os
import re
import signal
import time

import numpy as np
import pytest

from hapticsim.kernels.memory.sample import PLACE
from hapticsim.recording.reader import read_recording
from tests.processes import START_S, Place

RUN = ("--device", "scripted", "--no-window", "--record", "operator.mcap")
CLOCKED = ["lateness_us", "execution_us"]  # what differs between two computers


@pytest.mark.timeout(400)
def test_the_remote_does_what_the_operator_felt_one_delay_later_to_the_bit(place: Place) -> None:
    program = place.run("run", place.scene("teleop_1s"), "--seconds", "9", *RUN, within_s=START_S)
    assert program.process.returncode == 0, program.said
    recorded = read_recording(place.folder / "operator.mcap")
    operator = recorded.data
    remote = read_recording(place.folder / "operator-remote.mcap").data
    assert len(remote) > 5000 and len(operator) - len(remote) > 1000  # a second up the link
    assert np.array_equal(remote[:, 1], np.arange(len(remote)))  # every tick once, none left out
    kept = np.delete(np.arange(operator.shape[1]), [PLACE[name] for name in CLOCKED])
    assert operator[: len(remote), kept].tobytes() == remote[:, kept].tobytes()
    assert recorded.column("force_N[fingertip-table]").max() > 1.0, (
        program.said
    )  # through the contact, not only in free motion
    found = re.search(
        r"prediction (\S+) s ahead of telemetry; error at the handle last (\S+) m, worst (\S+) m; "
        r"(\d+) corrections",
        program.printed,
    )
    assert found, program.printed
    assert 2.0 < float(found[1]) < 2.6
    assert float(found[3]) < 1e-12 and int(found[4]) == 0


@pytest.mark.long
@pytest.mark.timeout(400)
def test_a_remote_site_that_stops_takes_the_force_away_and_may_come_back(place: Place) -> None:
    """The remote site's process stands still for three seconds, as a computer that swaps does."""
    link = {"delay_up_s": 0.1, "delay_down_s": 0.1}
    program = place.start("run", place.pushing(link=link), "--no-window", "--record", "operator.mcap")
    program.hears("fingertip on table", START_S)
    time.sleep(1.0)
    remote = program.child("serve")
    signal_at = time.monotonic()
    os.kill(remote, signal.SIGSTOP)
    program.hears("the remote site was not heard", 3.0)
    assert time.monotonic() - signal_at < 2.5
    time.sleep(2.0)  # the hand clicks every half second
    os.kill(remote, signal.SIGCONT)
    off = len(program.said)
    deadline = time.monotonic() + 20.0
    while "force is on" not in program.said[off:] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert "force is on" in program.said[off:], program.said
    assert program.stop() == 0
    rows = read_recording(place.folder / "operator.mcap").data
    late = rows[:, PLACE["link_late_s"]] > 0.0
    assert late.sum() > 1000
    force = rows[:, PLACE["hand_force_x_N"] : PLACE["hand_force_x_N"] + 3]
    assert not np.any(force[late]) and not np.any(np.isin(rows[late, PLACE["safety"]], (1, 2)))
    assert "0 corrections" in program.printed
