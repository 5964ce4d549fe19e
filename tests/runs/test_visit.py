"""A whole run: server, device and recording, at every rate, ended in every way."""

from __future__ import annotations

import json
import signal

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Safety
from hapticsim.recording.reader import Recording, read_recording
from hapticsim.recording.writer import RecordingWriter
from hapticsim.wire.sockets.endpoints import ipc_path
from tests.host_judge import RUN_AGAIN
from tests.processes import PATIENT, START_S, Place, Program, is_alive
from tests.seeds import with_long

CLAMP_N = 12.0  # of the emulated omega.3
HAND_N_per_m = 300.0
DEPTH_m = 0.06  # below the top of the table, where the hand wants to be


def hand_force(recording: Recording) -> np.ndarray:
    """(n,) [N] size of the force on the hand."""
    return np.linalg.norm(np.stack([recording.column(f"hand_force_{c}_N") for c in "xyz"]), axis=0)


def expected_force(recording: Recording) -> np.ndarray:
    """(n,) [N] that a hand which keeps still feels: of two springs in a row, up to the clamp.

    The coupler's is softer where forces come late (hapticsim/haptics/late.py).
    """
    coupler_N_per_m = recording.column("coupler_stiffness_N_per_m")
    return np.minimum(CLAMP_N, DEPTH_m * HAND_N_per_m * coupler_N_per_m / (HAND_N_per_m + coupler_N_per_m))


def is_felt(recording: Recording) -> np.ndarray:
    """(n,) whether the hand feels it; it keeps still, but not to the last millimetre."""
    expected = expected_force(recording)
    return hand_force(recording) > np.where(expected == CLAMP_N, 0.999, 0.98) * expected


def publish_endpoint(place: Place) -> str:
    return f"ipc://{place.folder}/hapticsim/publish.sock"


def started(place: Place, *arguments: object) -> Program:
    """A run in which the hand has the force."""
    program = place.start("run", *arguments)
    program.hears("in session", START_S)
    program.hears("force is on.")
    return program


@pytest.fixture(scope="module")
def visit(tmp_path_factory):
    """A run of six seconds that pushes on the table and has ended: the first of four without interruption.

    Tests are run again where the machine stood still, which interrupts the force; what several of them share
    is made again here.
    """
    places = []
    try:
        for _ in range(1 + RUN_AGAIN):
            here = Place(tmp_path_factory.mktemp("v"))
            places.append(here)
            program = here.run("run", here.pushing(), "--seconds", "6", "--record", "visit.mcap")
            recording = read_recording(here.folder / "visit.mcap")
            if np.all(is_felt(recording)[-2000:-200]):
                break
        yield here, program
    finally:
        for here in places:
            here.end_all()


def test_a_run_ends_by_itself_with_a_report_and_the_way_to_play_it_again(visit):
    _, program = visit
    assert program.process.returncode == 0
    report = program.printed
    assert "ticks at 1000 Hz" in report and "missed" in report
    for line in ("lateness  p50", "execution p50", "round trip with the device p50", "passivity b > K"):
        assert line in report
    assert report.endswith("play it again: hapticsim replay visit.mcap\n")


def test_the_live_line_tells_the_contact_and_the_force(visit):
    _, program = visit
    lines = [line for line in program.said.splitlines() if line.startswith("t ")]
    assert 4 <= len(lines) <= 8  # once a second where there is no terminal
    assert "fingertip on table" in lines[-1] and "armed" in lines[-1]


def test_the_force_reaches_the_clamp_stays_there_and_never_passes_it(visit):
    place, program = visit
    recording = read_recording(place.folder / "visit.mcap")
    force = hand_force(recording)
    assert recording.complete
    assert force.max() <= CLAMP_N * (1.0 + 1e-12)
    time_s, safety = recording.column("time_s"), recording.column("safety")
    pressing = (time_s > 4.0) & (safety == Safety.ARMED)
    assert pressing.sum() > 1000
    assert np.all(is_felt(recording)[pressing])
    is_late = "later than expected" in program.said
    assert np.all(expected_force(recording)[pressing] >= (0.5 if is_late else 1.0) * CLAMP_N)
    assert np.all(force[safety == Safety.DISARMED][-5:] == 0.0)  # the device left before the server ended


def test_a_recorded_run_replays_to_the_bit(visit):
    place, _ = visit
    program = place.run("replay", "visit.mcap")
    assert program.process.returncode == 0
    assert "every state and force the same to the bit" in program.printed


def test_a_replay_that_differs_says_so_and_fails(visit):
    place, _ = visit
    source, other = place.folder / "visit.mcap", place.folder / "other.mcap"
    recording = read_recording(source)
    data = recording.data.copy()
    data[3000:, recording.columns.index("device_z_m")] += 1e-6
    with RecordingWriter(other, recording.columns, recording.config_text, recording.metadata) as writer:
        writer.append(data)
    program = place.run("replay", other)
    assert program.process.returncode == 1
    assert "states or forces differ by up to" in program.printed


def test_no_socket_is_left_behind(visit):
    place, _ = visit
    assert not list((place.folder / "hapticsim").glob("*.sock"))


@pytest.mark.parametrize("rate_Hz", with_long([100.0], [4000.0]))
def test_other_rates_run_and_are_kept(place, rate_Hz):
    scene = place.pushing(rate_Hz=rate_Hz)
    program = place.run("run", scene, "--seconds", "3.5", "--record", "r.mcap")
    assert program.process.returncode == 0 and f"ticks at {rate_Hz:g} Hz" in program.printed
    recording = read_recording(place.folder / "r.mcap")
    assert hand_force(recording).max() > 1.0
    taken, seconds = len(recording.data), float(recording.column("time_s")[-1])
    assert taken == pytest.approx(seconds * rate_Hz, abs=1.5)
    assert 3.0 < seconds < 3.7
    assert f"{taken} ticks" in program.printed.splitlines()[-2]


@pytest.mark.parametrize("how", with_long([signal.SIGINT], [signal.SIGTERM]))
def test_a_signal_ends_a_run_with_its_report_and_status_0(place, how):
    program = started(place, place.pushing(), "--record", "r.mcap")
    children = list(program.children())
    assert program.stop(how) == 0
    assert "ticks at 1000 Hz" in program.printed
    assert read_recording(place.folder / "r.mcap").complete
    assert children and not any(is_alive(pid) for pid in children)


def test_a_second_server_is_refused_and_the_first_goes_on(place):
    program = started(place, place.pushing(), "--no-record")
    second = place.run("run", place.pushing(), "--no-record", within_s=20.0)
    assert second.process.returncode == 2
    assert second.said.splitlines()[-1].startswith(f"{publish_endpoint(place)}: is in use by process")
    assert "set XDG_RUNTIME_DIR to another folder of yours" in second.said
    with hs.Subscriber(publish_endpoint(place)) as server:
        assert server.latest("state", 2.0)["mode"] == Safety.ARMED
    assert program.stop() == 0


def test_an_observer_gets_states_at_200_hz_scene_stats_and_events(place):
    program = place.start("run", place.pushing(), "--no-record")
    topics = ("state", "scene", "stats", "events")
    program.hears("in session", START_S)
    with hs.Subscriber(publish_endpoint(place), topics) as server:
        program.hears("force is on.")
        server.latest("state", 5.0)  # what came meanwhile
        first = newest = server.latest("state", 5.0)["tick"]
        states, ages, events = 0, [], []
        while newest < first + 3000:
            message = server.receive(1.0)
            assert message is not None
            if message.topic == "events":
                events.append(message.payload["text"])
            elif message.topic == "state":
                newest, states = message.payload["tick"], states + 1
                ages.append(server.age_s("state"))
        assert states == pytest.approx((newest - first) / 5, rel=0.15)  # 200 of 1000, by its own clock
        assert 0.0 <= np.median(ages) < 0.01
        scene, stats = server.latest("scene", 2.0), server.latest("stats", 2.0)
        while (message := server.receive(0.0)) is not None:
            if message.topic == "events":
                events.append(message.payload["text"])
    assert scene["name"] == "WAM over a table" and scene["limits"]["force_N"] == CLAMP_N
    assert stats["ticks"] > 3000 and stats["round_trip_us"]["p50"] > 0.0
    assert "force output is armed" in events
    assert any(text.startswith("fingertip on table touched") for text in events)
    assert program.stop() == 0


def test_a_script_is_the_automatic_choice_without_a_display(place):
    program = place.run("run", place.scene(), "--device", "auto", "--seconds", "1.5", "--no-record")
    assert program.process.returncode == 0 and "omega_3 (scripted)" in program.said


def test_a_device_that_was_started_alone_meets_a_server_that_was_started_alone(place):
    server = place.start("serve", place.scene(), "--seconds", "60")
    server.hears("publish endpoint", START_S)
    device = place.start("device", "scripted", "--options", json.dumps(PATIENT))
    server.hears("force is on.")
    assert device.stop() == 0
    server.hears("the device left: its driver ended.")
    assert server.stop() == 0


def test_socket_paths_are_private(place):
    program = started(place, place.pushing(), "--no-record")
    path = ipc_path(publish_endpoint(place))
    assert path is not None and path.parent.stat().st_mode & 0o077 == 0
    assert program.stop() == 0
