"""Rotation of the coupler: its spring and damper, what the hand gets, and when nobody gets anything."""

from __future__ import annotations

import dataclasses
import math
import time

import msgpack
import numpy as np
import pytest

from devices.base import ZERO
from devices.guard import ForceGuard
from devices.limits import TURNING_DEFAULT, TurningLimits
from devices.scripted import Scripted
from devices.wrist import EmulatedWrist, Grip
from hapticsim.assembly import assemble
from hapticsim.codes import Fault, Safety
from hapticsim.config.load import load, loads
from hapticsim.haptics.coupler import DeviceLimits, derive_turning
from hapticsim.kernels import coupling
from hapticsim.kernels.pack import pack_state, state_size
from hapticsim.kernels.row import PLACE
from hapticsim.model.scene import CouplerSettings, Mapping, Scene
from hapticsim.realtime.loop import RealTimeLoop
from hapticsim.session import limits_of
from hapticsim.simulation import Simulation
from hapticsim.teleop.predictor import Predictor, command_of
from hapticsim.virtual import simulate
from hapticsim.wire.codec import decode, encode
from tests.kernel_access import FLOAT, INPUT, PLAN, STATE, VECTOR, WORKSPACE, compiled
from tests.models import X, Y, Z, turn
from tests.processes import CONFIGS

H = 1e-3
SIGMA = DeviceLimits(12.0, 4000.0, 30.0, 0.2, 0.075, 0.5, 0.2, 1.0, 0.07, 1e-4)
INERTIA = (0.002, 0.003, 0.004)
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
coupler_torque = compiled(coupling.coupler_torque, PLAN, STATE, INPUT, WORKSPACE, FLOAT)
pack = compiled(pack_state, STATE, VECTOR)


def scene(joint: str = "revolute", rotation: str = "z", gravity: float = 0.0, **more: object) -> Scene:
    """One body of 0.4 kg about its mass centre: hinged about z, free, or a pendulum about y (``swing``)."""
    kind = {"revolute": "revolute, axis: [0, 0, 1]", "swing": "revolute, axis: [0, 1, 0]"}.get(joint, joint)
    xx, yy, zz = INERTIA
    found = loads(
        f"""
name: knob
robot:
  bodies:
    - name: knob
      inertial:
        mass_kg: 0.4
        com_m: [0, 0, {-0.1 if joint == "swing" else 0.0}]
        inertia_kg_m2: {{xx: {xx}, yy: {yy}, zz: {zz}}}
  joints:
    - {{name: knob_motion, type: {kind}, parent: world, child: knob}}
gravity_m_per_s2: [0, 0, {gravity}]
handle: {{body: knob}}
coupler: {{rotation: {rotation}}}
safety: {{ramp_s: 0}}
"""
    )
    return dataclasses.replace(found, **more) if more else found


def about(axis: np.ndarray, angle: float) -> np.ndarray:
    """(4,) unit quaternion of a turn."""
    return np.array([math.cos(0.5 * angle), *(math.sin(0.5 * angle) * np.asarray(axis))])


def matrix(q: np.ndarray) -> np.ndarray:
    """(3, 3) of a unit quaternion, from axis and angle."""
    angle = 2.0 * math.atan2(np.linalg.norm(q[1:]), q[0])
    return turn(q[1:] / np.linalg.norm(q[1:]), angle) if angle else np.eye(3)


def hold(sim: Simulation, q: np.ndarray, w=(0.0, 0.0, 0.0)) -> None:
    """The device where the hand holds it, at the centre of its workspace."""
    sim.set_device(np.zeros(3), np.zeros(3), quaternion=q, angular_velocity=np.asarray(w, float))


def armed(
    sim: Simulation, K: float = 0.5, B: float = 0.0, limit: float = 1e9, q: np.ndarray = UPRIGHT
) -> Simulation:
    """Armed with the device in this orientation, and with no spring but the one that turns."""
    sim._input.coupler[:] = 0.0
    sim._input.turn_coupler[:] = K, B, limit
    hold(sim, q)
    sim.arm()
    sim.step()
    assert sim.state.safety is Safety.ARMED
    return sim


# ---------------------------------------------------------------------------------------- spring and damper


def test_a_hinged_handle_follows_the_closed_form_of_a_spring_and_a_damper():
    K, B, inertia, angle = 0.5, 0.01, INERTIA[2], 0.4
    sim = armed(Simulation(scene()), K, B)
    hold(sim, about(Z, angle))
    t = H * np.arange(1, 1001)
    found = np.empty(1000)
    for k in range(1000):
        sim.step()
        found[k] = sim.state.q[0]
    rate, decay = math.sqrt(K / inertia - (B / (2 * inertia)) ** 2), B / (2 * inertia)
    exact = angle * (1 - np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t)))
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-9)


def logarithm(R: np.ndarray) -> np.ndarray:
    """(3,) rotation vector of a rotation of less than pi, from its skew part."""
    s = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = np.linalg.norm(s)
    return math.atan2(size, 0.5 * (np.trace(R) - 1.0)) / size * s


class Held:
    """A free handle in some orientation, and a device in another, mapped by a turned frame."""

    R_WD = turn(Z, 0.7) @ turn(X, -0.4)
    MAPPING = Mapping(rotation_WD=R_WD, motion_scale=2.5, force_scale=0.4)

    def __init__(self, sim: Simulation, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.device, self.offset, self.handle = (
            about(a / np.linalg.norm(a), angle)
            for a, angle in zip(rng.normal(size=(3, 3)), rng.uniform(-1.2, 1.2, 3), strict=True)
        )
        self.w_D, self.w_W = rng.normal(size=3), rng.normal(size=3)
        self.sim, self.K, self.B = sim, 0.7, 0.03

    def torque(self, t: float = 0.0) -> np.ndarray:
        """(3,) [N m] of the kernel, device axes."""
        sim, R = self.sim, matrix(self.handle)
        state, ws = sim.assembly.new_state(), sim.assembly.new_workspace()
        state.gain[0], state.turn_offset[:] = 1.0, self.offset
        sim._input.turn[:4], sim._input.turn[4:] = self.device, self.w_D
        sim._input.turn_coupler[:] = self.K, self.B, 1e9
        ws.X[sim.plan.handle_frame, :9] = R.ravel()
        ws.vel[sim.plan.handle_frame, :3] = self.w_W
        return np.array(coupler_torque(sim.plan, state, sim._input, ws, t))

    def error(self) -> np.ndarray:
        """(3, 3) what the handle has to turn, device axes."""
        wanted = self.R_WD @ matrix(self.device) @ matrix(self.offset)
        return self.R_WD.T @ wanted @ matrix(self.handle).T @ self.R_WD


@pytest.fixture(scope="module")
def full() -> Simulation:
    return Simulation(scene("free", "full", mapping=Held.MAPPING))


@pytest.fixture(scope="module")
def planar() -> Simulation:
    return Simulation(scene("free", "z", mapping=Held.MAPPING))


@pytest.mark.parametrize("seed", range(8))
def test_the_torque_is_a_spring_along_the_rotation_vector_and_a_damper(full, seed):
    held = Held(full, seed)
    expected = held.K * logarithm(held.error()) + held.B * (held.w_D - held.R_WD.T @ held.w_W)
    np.testing.assert_allclose(held.torque(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_between_two_samples_the_device_turns_on(full, seed):
    held, t = Held(full, seed), 7e-4
    later = Held(full, seed)
    rate = np.linalg.norm(held.w_D)
    R = turn(held.w_D / rate, rate * t) @ matrix(held.device)
    later.device = about(logarithm(R) / np.linalg.norm(logarithm(R)), np.linalg.norm(logarithm(R)))
    np.testing.assert_allclose(held.torque(t), later.torque(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_about_z_the_torque_on_the_handle_is_the_slope_of_the_energy_in_the_angle_about_z(planar, seed):
    held, h = Held(planar, seed), 1e-6
    held.B = 0.0
    found = held.torque()
    # The handle turns by dphi: E becomes E dR', from the right.
    E = held.error()
    assert found[2] == pytest.approx(held.K * angle_z(E), rel=1e-12)
    for i in range(3):
        plus, minus = (E @ turn(np.eye(3)[i], s * h).T for s in (1.0, -1.0))
        slope = (0.5 * held.K) * (angle_z(plus) ** 2 - angle_z(minus) ** 2) / (2 * h)
        assert found[i] == pytest.approx(-slope, abs=1e-8)


def angle_z(R: np.ndarray) -> float:
    """Angle about z: R turned back by it has no z in its quaternion."""
    return 2.0 * math.atan2(R[1, 0] - R[0, 1], 1.0 + np.trace(R))


@pytest.mark.parametrize("rotation", ["full", "z"])
def test_a_spring_without_damper_keeps_the_energy_of_a_tumbling_body(rotation):
    start = scene("free", rotation)
    sim = armed(Simulation(start), K=1.0)
    u = np.zeros(6)
    u[:3] = 7.0, -9.0, 8.0
    q = sim.state.q.copy()
    sim.set_state(q, u)
    place = slice(3, 7)
    energies, tilt = [], 0.0
    for _ in range(1500):
        E = matrix(sim.state.q[place]).T  # the device stays upright
        stretch = angle_z(E) if rotation == "z" else np.linalg.norm(logarithm(E)) if energies else 0.0
        energies.append(sim.energy()[0] + 0.5 * stretch**2)
        tilt = max(tilt, math.acos(np.clip(E[2, 2], -1, 1)))
        if sim.state.safety is not Safety.ARMED or tilt > 2.5:
            break
        sim.step()
    assert tilt > 0.5 and len(energies) > 150
    np.testing.assert_allclose(energies, energies[0], rtol=1e-7)


# ------------------------------------------------------------------------------------------- hand and safety


def test_the_hand_gets_the_opposite_torque_in_device_axes_scaled_as_force_times_length():
    mapping = Held.MAPPING
    sim = armed(Simulation(scene("free", "full", mapping=mapping)), K=0.2)
    hold(sim, about(Y, 0.3))
    for _ in range(5):
        sim.step()
    state = sim.state
    expected = -mapping.force_scale / mapping.motion_scale * mapping.rotation_WD.T @ state.coupler_torque
    np.testing.assert_allclose(state.hand_torque, expected, rtol=0, atol=1e-15)
    assert state.hand_torque @ [0.0, 1.0, 0.0] < -1e-3, "the spring turns the hand back"


def test_nothing_turns_before_arming():
    sim = Simulation(scene())
    sim.couple(SIGMA)
    hold(sim, about(Z, 1.0))
    sim.step(50)
    assert not np.any(sim.state.hand_torque) and sim.state.q[0] == 0.0 and sim.state.u[0] == 0.0


@pytest.mark.parametrize("rotation", ["z", "full"])
def test_arming_with_device_and_handle_turned_apart_makes_no_step_of_torque(rotation):
    sim = Simulation(scene("free", rotation, mapping=Held.MAPPING))
    q = np.array([0.0, 0.0, 0.0, *about(X, 0.5)])
    sim.set_state(q, np.zeros(6))
    armed(sim, q=about(np.array([0.6, 0.0, 0.8]), 2.0))
    for _ in range(100):
        sim.step()
        assert np.abs(sim.state.hand_torque).max() < 1e-14
    np.testing.assert_allclose(sim.state.q, q, atol=1e-14)
    hold(sim, about(np.array([0.6, 0.0, 0.8]), 2.1))
    sim.step()
    assert np.linalg.norm(sim.state.coupler_torque) > 0.01, "from there on it does"


def test_an_arm_request_of_an_armed_run_does_not_let_the_handle_slip():
    sim = armed(Simulation(scene()))
    hold(sim, about(Z, 0.3))
    sim.step(5)
    before = sim.state.hand_torque[2]
    sim.arm()
    sim.step()
    assert sim.state.hand_torque[2] == pytest.approx(before, rel=0.02) and before < -0.1


def test_the_torque_is_clamped_and_slew_limited():
    sim = armed(Simulation(scene()), K=5.0, limit=0.2)
    most = sim.plan.slew_Nm_per_s * H
    hold(sim, about(Z, 0.5))
    last = 0.0
    for k in range(8):
        sim.step()
        now = sim.state.hand_torque[2]
        assert abs(now - last) <= most * (1 + 1e-12)
        assert (now == pytest.approx(-0.05 * (k + 1), rel=1e-12)) if k < 4 else now == pytest.approx(-0.2)
        last = now
    sim.disarm()
    sim.step()
    assert sim.state.hand_torque[2] == pytest.approx(-0.15), "disarming goes along the slew limit"
    sim.step(4)
    assert sim.state.hand_torque[2] == 0.0


@pytest.mark.parametrize("what", ["silent", "too fast", "twisted"])
def test_in_every_fault_the_torque_is_zero_at_once(what):
    sim = armed(Simulation(scene()), limit=0.2)
    hold(sim, about(Z, 0.4))
    sim.step(20)
    assert abs(sim.state.hand_torque[2]) > 0.05
    if what == "silent":
        sim.remove_device()
    elif what == "too fast":
        hold(sim, about(Z, 0.4), (0.0, 0.0, 51.0))
    else:
        hold(sim, about(Z, 3.0 + sim.state.q[0]))
    sim.step()
    state = sim.state
    assert state.safety is Safety.FAULT and not np.any(state.hand_torque) and not np.any(state.hand_force)
    why = {"silent": Fault.DEVICE_SILENT, "too fast": Fault.DEVICE_SPEED, "twisted": Fault.TWIST}
    assert state.fault == why[what]


def test_with_rotation_none_the_device_may_turn_as_it_likes():
    runs = []
    for q in (about(Z, 0.0), about(X, 1.0)):
        sim = Simulation(scene("free", "none"))
        sim.couple(SIGMA)
        hold(sim, q, (0.0, 0.0, 90.0))
        sim.arm()
        sim.step(3)
        sim.set_device([0.01, 0.0, 0.0], np.zeros(3), quaternion=q)
        sim.step(50)
        runs.append(np.concatenate([sim.state.q, sim.state.u, sim.state.hand_force, sim.state.hand_torque]))
    assert np.array_equal(*runs) and np.abs(runs[0]).max() > 1e-3 and not np.any(runs[0][-3:])


# ------------------------------------------------------------------------------------------------- passivity


@pytest.mark.parametrize("K", [0.1, 0.5])
def test_a_held_spring_gives_a_moving_device_what_the_condition_says(K):
    """Against a handle that does not move, a sampled spring feeds K T/2 times the squared rate (Colgate)."""
    heavy = scene()
    sim = armed(Simulation(heavy), K)
    sim.set_state(np.zeros(1), np.zeros(1))
    given = spent = 0.0
    amplitude, w = 0.2, 2 * math.pi * 10.0
    for k in range(1000):  # ten periods
        t = k * H
        sim.set_state(np.zeros(1), np.zeros(1))
        hold(sim, about(Z, amplitude * math.sin(w * t)))
        sim.step()
        given += sim.state.hand_torque[2] * amplitude * (math.sin(w * (t + H)) - math.sin(w * t))
        spent += 0.5 * (amplitude * w) ** 2 * H
    assert given == pytest.approx(0.5 * K * H * spent, rel=0.01)


@pytest.mark.parametrize("mass_of_device", [1e-4, 5e-4])
def test_gains_that_are_derived_keep_a_pendulum_in_the_hand_passive(mass_of_device):
    limits = dataclasses.replace(SIGMA, apparent_inertia_kg_m2=mass_of_device)
    gains = derive_turning(limits, CouplerSettings(rotation="full"), Mapping(), 1000.0)
    assert gains.passive_with_hand and not gains.passive_alone
    start = scene("swing", "full", gravity=-9.81)
    sim = armed(Simulation(start), gains.stiffness_Nm_per_rad, gains.damping_Nms_per_rad, 1e9)
    rng = np.random.default_rng(1)
    a, p = rng.uniform(0.0, 0.1, 6), rng.uniform(0.0, 6.0, 6)
    w = 2.0 * math.pi * np.array([0.7, 2.0, 5.0, 11.0, 40.0, 90.0])

    def angle(t: float) -> float:
        return float(a @ (np.sin(w * t + p) - np.sin(p)))

    def rate(t: float) -> float:
        return float(a @ (w * np.cos(w * t + p)))

    balance, worst, b = 0.0, 0.0, gains.needed_damping_Nms_per_rad
    for k in range(3000):
        t = k * H
        hold(sim, about(Y, angle(t)), (0.0, rate(t), 0.0))
        sim.step()
        balance -= sim.state.hand_torque[1] * (angle(t + H) - angle(t)) - b * H * rate(t + 0.5 * H) ** 2
        worst = min(worst, balance)
    assert worst > -1e-6 and balance > 0.0


def test_a_device_without_torque_is_not_coupled_and_says_so():
    gains = derive_turning(
        dataclasses.replace(SIGMA, max_torque_Nm=0.0), CouplerSettings(rotation="z"), Mapping(), 1000.0
    )
    assert gains.as_input == (0.0, 0.0, 0.0)
    assert gains.sentence() == "rotation is not coupled: the device cannot turn the hand"
    assert derive_turning(SIGMA, CouplerSettings(), Mapping(), 1000.0) is None


def test_a_stiff_coupler_is_named_as_not_passive():
    settings = CouplerSettings(rotation="z", turning_stiffness=50.0, turning_damping=0.05)
    sentence = derive_turning(SIGMA, settings, Mapping(), 1000.0).sentence()
    assert sentence == (
        "rotation K = 50 N m/rad, B = 0.05 N m s/rad, torque limit 0.2 N m; b > 0.075 N m s/rad, "
        "device has b = 0: does not hold: lower stiffness_Nm_per_rad or damping_Nms_per_rad of coupler"
    )


# ---------------------------------------------------------------------------------- rows, loop, wire, devices


def visit(found: Scene, seconds: float) -> np.ndarray:
    with Scripted({"emulate": "sigma_7", "turning": True}) as hand:
        return simulate(found, hand, seconds)


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
    for row in rows:
        predictor.remember(int(row[PLACE["tick"]]), command_of(row))
    packed = np.zeros(state_size(sim.fork()))
    pack(sim.fork(), packed)
    prediction = predictor.predict(0, packed)
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


def session() -> ForceGuard:
    guard = ForceGuard(12.0, 0.2)
    guard.begin(8.0, 600.0, 0.01, H)
    guard.apply(ZERO, Safety.DISARMED, H, H)
    return guard


def test_the_guard_clamps_and_slows_the_torque_by_the_limits_of_the_device():
    guard = session()
    guard.apply(ZERO, Safety.ARMED, H, H, (0.0, 0.0, 3.0))
    assert guard.torque_Nm == pytest.approx((0.0, 0.0, 600.0 * H * 0.2 / 12.0))
    for _ in range(40):
        guard.apply(ZERO, Safety.ARMED, H, H, (0.0, 0.0, 3.0))
    assert guard.torque_Nm == pytest.approx((0.0, 0.0, 0.2))


@pytest.mark.parametrize(
    ("force", "mode", "age", "torque"),
    [
        (ZERO, Safety.ARMED, 0.02, (0.0, 0.0, 0.1)),
        (ZERO, Safety.FAULT, H, (0.0, 0.0, 0.1)),
        (ZERO, Safety.ARMED, H, (0.0, 0.0, math.nan)),
        (None, Safety.ARMED, H, (0.0, 0.0, 0.1)),
    ],
    ids=["silence", "fault", "not finite", "nothing came"],
)
def test_the_guard_takes_the_torque_away_at_once(force, mode, age, torque):
    guard = session()
    for _ in range(40):
        guard.apply((1.0, 0.0, 0.0), Safety.ARMED, H, H, (0.0, 0.0, 0.1))
    assert guard.torque_Nm[2] == pytest.approx(0.1)
    assert guard.apply(force, mode, age, H, torque) == ZERO and guard.torque_Nm == ZERO


def test_a_device_that_cannot_turn_gets_no_torque():
    guard = ForceGuard(12.0)
    guard.begin(8.0, 1e6, 0.01, H)
    guard.apply(ZERO, Safety.DISARMED, H, H)
    guard.apply(ZERO, Safety.ARMED, H, H, (0.0, 0.0, 1.0))
    assert guard.torque_Nm == ZERO


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
