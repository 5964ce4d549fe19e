"""A handle that turns, and a hand that turns it: what tests of the coupler's rotation share."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from hapticsim_devices.scripted import Scripted

from hapticsim.codes import Safety
from hapticsim.config.load import loads
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.haptics import coupling
from hapticsim.kernels.memory.pack import pack_state
from hapticsim.model.scene import Mapping, Scene
from hapticsim.simulate.simulation import Simulation
from hapticsim.simulate.virtual import simulate
from tests.kernel_access import FLOAT, INPUT, PLAN, STATE, VECTOR, WORKSPACE, compiled
from tests.models import X, Z, turn

H = 1e-3
SIGMA = DeviceLimits(12.0, 4000.0, 30.0, 0.2, 0.075, 0.5, 0.2, 1.0, 0.07, 1e-4)
INERTIA = (0.002, 0.003, 0.004)
R_WD = turn(Z, 0.7) @ turn(X, -0.4)
MAPPING = Mapping(rotation_WD=R_WD, motion_scale=2.5, force_scale=0.4)
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
    sim._input.rotation_coupler[:] = K, B, limit
    hold(sim, q)
    sim.arm()
    sim.step()
    assert sim.state.safety is Safety.ARMED
    return sim


def visit(found: Scene, seconds: float) -> np.ndarray:
    with Scripted({"emulate": "sigma_7", "turning": True}) as hand:
        return simulate(found, hand, seconds)


class Held:
    """A free handle in some orientation, and a device in another, mapped by a turned frame."""

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
        sim._input.device_rotation[:4], sim._input.device_rotation[4:] = self.device, self.w_D
        sim._input.rotation_coupler[:] = self.K, self.B, 1e9
        ws.X[sim.plan.handle_frame, :9] = R.ravel()
        ws.vel[sim.plan.handle_frame, :3] = self.w_W
        return np.array(coupler_torque(sim.plan, state, sim._input, ws, t))

    def error(self) -> np.ndarray:
        """(3, 3) what the handle has to turn, device axes."""
        wanted = R_WD @ matrix(self.device) @ matrix(self.offset)
        return R_WD.T @ wanted @ matrix(self.handle).T @ R_WD


def logarithm(R: np.ndarray) -> np.ndarray:
    """(3,) rotation vector of a rotation of less than pi, from its skew part."""
    s = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    size = np.linalg.norm(s)
    return math.atan2(size, 0.5 * (np.trace(R) - 1.0)) / size * s
