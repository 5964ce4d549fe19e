"""What observers are told of the coupler's rotation explains the torque; old recordings are shown."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hapticsim.describe.runs import live_line
from hapticsim.describe.topics import Describer
from hapticsim.display.messages.scene import SceneMessage, StateMessage
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.model.multibody.rotation import rotation_of
from hapticsim.playback.animation import Animation
from hapticsim.recording.writer import RecordingWriter
from hapticsim.simulate.simulation import Simulation
from tests.models import Z
from tests.rotating_hand import MAPPING, R_WD, Held, about, armed, hold, logarithm, scene, visit

K = 0.6


def told(sim: Simulation) -> dict:
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    return Describer(sim.assembly).state(row)


def coupled(seed: int = 3) -> tuple[Simulation, np.ndarray]:
    """A free handle that turns, armed with the device in some orientation; and where the device goes next."""
    sim = Simulation(scene("free", "full", mapping=MAPPING))
    held = Held(sim, seed)
    q = sim.state.q
    q[3:7] = held.handle
    sim.set_state(q, np.zeros(6))
    return armed(sim, K, q=held.device), held.offset


def test_the_published_orientations_are_alike_when_armed_and_give_the_torque_later():
    sim, goal = coupled()
    first = told(sim)["coupler"]
    np.testing.assert_allclose(first["anchor_quaternion_W"], first["handle_quaternion_W"], atol=1e-12)
    hold(sim, goal)
    sim.step(40)
    told_now = told(sim)
    coupler, device = told_now["coupler"], told_now["device"]
    wanted, there = (rotation_of(coupler[f"{end}_quaternion_W"]) for end in ("anchor", "handle"))
    stretch_W = logarithm(wanted @ there.T)
    assert np.linalg.norm(stretch_W) > 0.1
    np.testing.assert_allclose(coupler["torque_W"], K * stretch_W, atol=1e-12)
    scale = MAPPING.force_scale / MAPPING.motion_scale  # forces, and their arms
    on_hand_D = -scale * R_WD.T @ (K * stretch_W)
    np.testing.assert_allclose(device["torque_Nm"], on_hand_D, atol=1e-12)  # slewed there by now
    np.testing.assert_allclose(device["quaternion"], goal, atol=1e-12)
    assert coupler["handle_quaternion_W"] == told_now["bodies"][3:7]


def test_nothing_is_asked_of_the_handle_before_arming_nor_after():
    sim = Simulation(scene())
    hold(sim, about(Z, 0.3))
    sim.step()
    assert told(sim)["coupler"]["anchor_quaternion_W"] is None
    np.testing.assert_allclose(told(sim)["device"]["quaternion"], about(Z, 0.3))
    armed(sim, K)
    assert told(sim)["coupler"]["anchor_quaternion_W"] is not None
    sim.disarm()
    sim.step()
    assert told(sim)["coupler"]["anchor_quaternion_W"] is None


def test_a_coupler_that_does_not_turn_asks_for_no_orientation_and_gives_no_torque():
    sim = Simulation(scene(rotation="none"))
    armed(sim, K, q=about(Z, 0.3))
    state = told(sim)
    assert state["coupler"]["anchor_quaternion_W"] is None and state["coupler"]["torque_W"] == [0.0] * 3
    assert state["device"]["torque_Nm"] == [0.0] * 3
    np.testing.assert_allclose(state["device"]["quaternion"], about(Z, 0.3))  # measured all the same


@pytest.mark.parametrize("rotation", ["none", "z", "full"])
def test_the_scene_says_what_is_coupled_and_the_window_reads_it(rotation):
    sim = Simulation(scene("free", rotation))
    describer = Describer(sim.assembly)
    payload = describer.scene(12.0, 0.1, 0.2)
    assert payload["coupler"] == {"rotation": rotation}
    assert payload["limits"] == {"force_N": 12.0, "torque_Nm": 0.2, "workspace_radius_m": 0.1}
    assert payload["handle"] == {"body": 0, "point": [0.0, 0.0, 0.0]}
    message = SceneMessage.read(payload)
    assert message.turns == (rotation != "none") and message.torque_limit_Nm == 0.2
    assert SceneMessage.read(describer.scene(0.0, 0.1)).torque_limit_Nm is None  # not known


def test_the_grip_of_the_window_is_off_by_the_stretch_of_the_coupler():
    sim, goal = coupled()
    hold(sim, goal)
    sim.step(40)
    payload = told(sim)
    turned = StateMessage.read(payload).turned
    wanted, there = (rotation_of(payload["coupler"][f"{end}_quaternion_W"]) for end in ("anchor", "handle"))
    between = turned.grip_W(R_WD) @ turned.device_W(R_WD).T
    np.testing.assert_allclose(between, there @ wanted.T, atol=1e-12)


def test_the_origin_that_arming_moved_is_the_one_that_is_published():
    sim = Simulation(scene())
    sim.set_device(np.array([0.3, -0.1, 0.05]), np.zeros(3))
    sim.arm()
    sim.step()
    describer, row = Describer(sim.assembly), np.zeros(len(sim.columns))
    before = describer.scene(1.0, 0.1)["mapping"]["origin"]
    sim.read_row(row)
    describer.state(row)
    after = describer.scene(1.0, 0.1)["mapping"]["origin"]
    np.testing.assert_allclose(after, sim.fork().state.origin_W, atol=1e-12)
    assert np.linalg.norm(np.subtract(after, before)) > 0.05


def test_interruptions_are_shown_once_there_were_any():
    stats = {"lateness_us": {"p99": 1.0}, "execution_us": {"p99": 2.0}, "missed": 0}
    sim, _ = coupled()
    assert "interrupted" not in live_line(stats, told(sim), turns=False)
    counted = stats | {"interruptions": 3, "longest_interruption_ms": 24.2}
    assert live_line(counted, told(sim), turns=False).endswith("force interrupted 3 times, 24 ms at most")


def test_the_live_line_has_a_torque_only_where_the_coupler_turns():
    sim, goal = coupled()
    hold(sim, goal)
    sim.step(40)
    state = told(sim)
    stats = {"lateness_us": {"p99": 1.0}, "execution_us": {"p99": 2.0}, "missed": 0}
    size = np.linalg.norm(state["device"]["torque_Nm"])
    assert f"hand  0.00 N {size:5.3f} N m  no contact" in live_line(stats, state, turns=True)
    assert "N m" not in live_line(stats, state, turns=False)


def test_a_recording_with_other_columns_is_shown_by_their_names(tmp_path: Path):
    found = scene(rotation="z")
    rows = visit(found, 3.0)
    sim = Simulation(found)
    for name, left_out in (("now", "nothing"), ("before", "turn_offset_q")):
        kept = [i for i, column in enumerate(sim.columns) if not column.startswith(left_out)]
        with RecordingWriter(tmp_path / name, [sim.columns[i] for i in kept], found.source) as writer:
            writer.append(np.ascontiguousarray(rows[:, kept]))
    now, before = (Animation(tmp_path / name, lambda text: None).state(2.5) for name in ("now", "before"))
    assert now == Describer(sim.assembly, "recording").state(rows[2500], None, True)
    assert before["q"] == now["q"] and before["device"] == now["device"]
    assert np.linalg.norm(now["device"]["torque_Nm"]) > 1e-3


def test_a_scene_told_again_is_the_same_until_arming_moves_the_device_by_more_than_rounding():
    sim, goal = coupled()
    hold(sim, goal)
    describer, row = Describer(sim.assembly), np.zeros(len(sim.columns))
    sim.read_row(row)
    describer.state(row)
    first = describer.scene(12.0, 0.1)
    for _ in range(200):
        sim.step()
        sim.read_row(row)
        describer.state(row)
        assert describer.scene(12.0, 0.1) == first
    for moved_m, same in ((2e-16, True), (-2e-16, True), (1e-4, False)):
        row[PLACE["anchor_x_m"]] += moved_m
        describer.state(row)
        assert (describer.scene(12.0, 0.1) == first) is same
