"""The virtual coupler: mapping, spring, clamp, and the generalized force it puts on the mechanism."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from hapticsim.kernels.haptics import coupling
from hapticsim.model.scene import Mapping
from tests.kernel_access import FLOAT, INPUT, PLAN, STATE, WORKSPACE, compiled
from tests.models import X, Z, turn
from tests.places import WAM

anchor = compiled(coupling.anchor, PLAN, STATE, INPUT)
coupler_force = compiled(coupling.coupler_force, PLAN, STATE, INPUT, WORKSPACE, FLOAT)
add_handle_force = compiled(coupling.add_handle_force, PLAN, STATE, INPUT, WORKSPACE, FLOAT)
spring_damper = compiled(coupling.spring_damper, *[FLOAT] * 9)

R_WD = turn(Z, 0.7) @ turn(X, -0.4)
SCENE = dataclasses.replace(
    hs.load(WAM),
    mapping=Mapping(origin_W=np.array([0.5, 0.1, 0.4]), rotation_WD=R_WD, motion_scale=2.5, force_scale=0.4),
)
ASSEMBLY = assemble(SCENE)


class Situation:
    """A random pose of the arm, a moving device, and the frames the kernels read."""

    def __init__(self, seed: int, gain: float = 1.0) -> None:
        rng = np.random.default_rng(seed)
        self.q, self.u = rng.uniform(-1, 1, 4), rng.uniform(-1, 1, 4)
        self.state, self.input, self.ws = (
            ASSEMBLY.new_state(), ASSEMBLY.new_input(), ASSEMBLY.new_workspace(),
        )  # fmt: skip
        self.state.gain[0] = gain
        self.input.coupler[:] = 800.0, 3.0, 1e9
        self.input.device[:] = *rng.uniform(-0.05, 0.05, 3), *rng.uniform(-0.3, 0.3, 3), 0.0, 1.0
        ws = self.ws
        ASSEMBLY.equations.kernels.kinematics(self.q, self.u, np.zeros(4), ws.X, ws.V, ws.vel, ws.acc)

    def handle(self, q: np.ndarray) -> np.ndarray:
        return ASSEMBLY.handle_position(q)

    @property
    def jacobian(self) -> np.ndarray:
        """(3, nu) of the handle, by differences of its position."""
        h = 1e-6
        return np.array(
            [(self.handle(self.q + h * e) - self.handle(self.q - h * e)) / (2 * h) for e in np.eye(4)]
        ).T

    def force(self, t: float = 0.0) -> np.ndarray:
        return np.array(coupler_force(ASSEMBLY.plan, self.state, self.input, self.ws, t))

    def expected(self, t: float = 0.0) -> np.ndarray:
        """K e + B e_dot of the mapped device against the handle, in world axes."""
        K, B, _ = self.input.coupler
        scale, p, v = SCENE.mapping.motion_scale, self.input.device[:3], self.input.device[3:6]
        stretch = SCENE.mapping.origin_W + scale * R_WD @ (p + v * t) - self.handle(self.q)
        return K * stretch + B * (scale * R_WD @ v - self.jacobian @ self.u)


def test_the_device_point_is_scaled_turned_and_shifted_into_the_world():
    s = Situation(0)
    found = np.array(anchor(ASSEMBLY.plan, s.state, s.input))
    np.testing.assert_allclose(
        found[:3], SCENE.mapping.origin_W + 2.5 * R_WD @ s.input.device[:3], atol=1e-15
    )
    np.testing.assert_allclose(found[3:], 2.5 * R_WD @ s.input.device[3:6], atol=1e-15)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("t", [0.0, 7e-4])
def test_the_force_is_a_spring_and_a_damper_to_the_point_that_moves_on(seed, t):
    s = Situation(seed)
    np.testing.assert_allclose(s.force(t), s.expected(t), rtol=0, atol=1e-7)


def test_the_gain_scales_it_and_zero_gain_is_exactly_no_force():
    full, half, none = (Situation(1, g).force() for g in (1.0, 0.5, 0.0))
    np.testing.assert_allclose(half, 0.5 * full, rtol=1e-15)
    assert none.tolist() == [0.0, 0.0, 0.0]


def test_the_clamp_keeps_the_direction_and_counts_at_the_hand():
    """force_limit_N holds on the hand; in the world the limit is that over the force scale."""
    s = Situation(2)
    free = s.force()
    s.input.coupler[2] = 0.3
    clamped = s.force()
    assert np.linalg.norm(clamped) == pytest.approx(0.3 / 0.4, rel=1e-14)
    np.testing.assert_allclose(np.cross(clamped, free), 0.0, atol=1e-12)
    assert clamped @ free > 0.0


@pytest.mark.parametrize("seed", range(5))
def test_the_generalized_force_does_the_work_of_the_force_at_the_handle(seed):
    s = Situation(seed)
    s.input.force_W[:] = 1.0, -2.0, 3.0
    s.ws.f[:] = 0.5
    add_handle_force(ASSEMBLY.plan, s.state, s.input, s.ws, 2e-4)
    expected = 0.5 + s.jacobian.T @ (s.expected(2e-4) + s.input.force_W)
    np.testing.assert_allclose(s.ws.f, expected, rtol=0, atol=1e-6)


def test_a_spring_at_rest_is_exactly_still():
    assert spring_damper(1e4, 5.0, 10.0, *np.zeros(6)) == (0.0, 0.0, 0.0)
