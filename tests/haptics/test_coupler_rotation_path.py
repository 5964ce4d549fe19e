"""A turning hand from the device through wire, loop and rows to the mechanism, and back."""

from __future__ import annotations

import dataclasses
import math
import time

import msgpack
import numpy as np
import pytest
from hapticsim_devices.base import ZERO
from hapticsim_devices.limits import TURNING_DEFAULT, TurningLimits
from hapticsim_devices.scripted import Scripted
from hapticsim_devices.wrist import EmulatedWrist, Grip

from hapticsim.assemble.assembly import assemble
from hapticsim.codes import Safety
from hapticsim.config.load import load
from hapticsim.haptics.joining import limits_of
from hapticsim.kernels.memory.command import command_of
from hapticsim.kernels.memory.pack import state_size
from hapticsim.kernels.memory.sample import PLACE
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.simulate.simulation import Simulation
from hapticsim.teleop.predictor import Predictor
from hapticsim.wire.messages.codec import decode, encode
from tests.models import Z
from tests.processes import CONFIGS
from tests.rotating_hand import SIGMA, H, about, hold, pack, scene, visit


def test_the_turning_visit_is_felt_and_replays_to_the_bit():
    found = scene(rotation="z")
    rows = visit(found, 4.0)
    torque, turned = rows[:, PLACE["hand_torque_z_Nm"]], rows[:, PLACE["device_qz"]]
    assert rows[-1, PLACE["safety"]] == Safety.ARMED
    assert np.abs(torque).max() > 0.02 and np.ptp(turned) > 0.2
    sim = Simulation(found)
    row = np.empty(rows.shape[1])
    for recorded in rows:
        sim.take_inputs(recorded)
        sim.step()
        sim.read_row(row)
        assert np.array_equal(row, recorded)


def test_the_shopping_cart_is_turned_at_its_grip():
    cart = load(CONFIGS / "shopping_cart.yaml")
    cart = dataclasses.replace(
        cart,
        coupler=dataclasses.replace(cart.coupler, rotation="z"),
        safety=dataclasses.replace(cart.safety, ramp_s=0.0),
    )
    sim = Simulation(cart)
    sim.couple(SIGMA)
    sim.switch("caster sticks", False)
    hold(sim, about(Z, 0.0))
    sim.arm()
    sim.step()
    assert not np.any(sim.state.hand_torque)
    hold(sim, about(Z, 0.4))
    sim.step(600)
    heading = sim.body_pose("basket").rotation
    assert math.atan2(heading[1, 0], heading[0, 0]) > 0.02
    assert sim.state.hand_torque[2] < -0.05 and not np.any(sim.state.hand_torque[:2])


@pytest.mark.clock
def test_the_loop_carries_orientation_in_and_torque_out():
    loop = RealTimeLoop(assemble(scene()))
    loop.write_gains(np.array([100.0, 1.0, 5.0]), (0.3, 0.002, 0.2))
    loop.start(realtime_priority=False)
    until = time.monotonic() + 10.0
    try:
        while time.monotonic() < until:
            armed_now = loop.read_force()[1] == Safety.ARMED
            angle = 0.3 if armed_now else 0.0
            loop.write_device(ZERO, ZERO, time.monotonic_ns(), True, 1, 0, 0.0, about(Z, angle), ZERO)
            if armed_now and loop.torque[2] < -0.01:
                break
            time.sleep(0.001)
        assert loop.torque[2] < -0.01 and not np.any(loop.torque[:2])
    finally:
        loop.stop()


def test_a_prediction_contains_the_turns_of_the_hand():
    found = scene(rotation="z")
    rows = visit(found, 3.0)
    sim = Simulation(found)
    predictor = Predictor(sim.assembly)
    packed = np.zeros(state_size(sim.fork().state))
    pack(sim.fork().state, packed)
    prediction = predictor.predict(0, packed, command_of(rows))
    for row in rows:
        sim.take_inputs(row)
        sim.step()
    assert np.array_equal(prediction.q, sim.state.q) and abs(sim.state.q[0]) > 0.01


def test_a_hello_of_a_device_that_cannot_turn_may_leave_the_rotation_out():
    turning = decode(encode(Scripted({"turning": True}).info.hello()))
    assert limits_of(turning).max_torque_Nm == 0.2 and turning.dof_out == 4
    content = msgpack.unpackb(encode(Scripted().info.hello()))
    assert {"max_torque_Nm", "max_stiffness_Nm_per_rad", "max_damping_Nms_per_rad"} < set(content)
    for key in [k for k in content if k.endswith(("_Nm", "_rad", "_kg_m2"))]:
        del content[key]
    assert limits_of(decode(msgpack.packb(content))).max_torque_Nm == 0.0


def test_the_emulated_wrist_follows_the_closed_form():
    inertia, b, K = 3e-4, 1e-3, 0.9
    limits = TurningLimits(0.2, 1.0, 0.07, 1e-4, 0.0, b, 1e-12)
    wrist = EmulatedWrist(limits, Grip(K, 0.0, 2e-4))
    wrist.read(0.0, 0.0)
    assert wrist.write(5.0) == 0.2
    decay = b / (2 * inertia)
    rate = math.sqrt(K / inertia - decay**2)
    for k in range(1, 400):
        wrist.read(k * H, 0.0)
        t = k * H
        swing = math.cos(rate * t) + decay / rate * math.sin(rate * t)
        exact = 0.2 / K * (1 - math.exp(-decay * t) * swing)
        assert wrist.true_angle_rad == pytest.approx(exact, abs=1e-12)


def test_friction_holds_the_emulated_wrist_still_to_the_last_bit():
    wrist = EmulatedWrist(TURNING_DEFAULT, Grip(0.0, 0.0, 2e-4))
    wrist.read(0.0, 0.1)
    wrist.write(0.9 * TURNING_DEFAULT.coulomb_friction_Nm)
    wrist.read(1.0, 0.1)
    assert wrist.true_angle_rad == 0.1 and wrist.true_rate_rad_per_s == 0.0
    wrist.write(1.1 * TURNING_DEFAULT.coulomb_friction_Nm)
    wrist.read(1.1, 0.1)
    assert wrist.true_angle_rad > 0.1


def test_a_driver_turns_only_if_it_is_asked_to():
    plain, turning = Scripted(), Scripted({"turning": True})
    assert (plain.info.dof_in, plain.info.dof_out, plain.info.limits.turning) == (3, 3, None)
    assert (turning.info.dof_in, turning.info.dof_out) == (4, 4)
    assert turning.info.limits.turning.max_torque_Nm == TURNING_DEFAULT.max_torque_Nm
    assert plain.write_torque((0.0, 0.0, 1.0)) == ZERO
    assert plain.read(0.0).quaternion_wxyz == (1.0, 0.0, 0.0, 0.0)
