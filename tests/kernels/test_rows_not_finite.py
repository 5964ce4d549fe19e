"""Rows of a mechanism that leave the numbers: the tick is refused, as it is for a state that does."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event, Fault, Mode, Safety

RAMP = """
import sympy as sp
from sympy.physics.mechanics import Particle, Point, ReferenceFrame, dynamicsymbols
from hapticsim import Mechanism, Switchable


def mechanism(x0=0.1005, vx0=-1.0, held=True):
    m = sp.symbols("m")
    x, z, vx, vz = dynamicsymbols("x z vx vz")
    N, O = ReferenceFrame("N"), Point("O")
    O.set_vel(N, 0)
    P = O.locatenew("P", x * N.x + z * N.z)
    P.set_vel(N, vx * N.x + vz * N.z)
    up = max(x0, 0.0)
    return Mechanism(
        name="bead on a ramp",
        frame=N,
        origin=O,
        coordinates=[x, z],
        speeds=[vx, vz],
        kinematics=[x.diff() - vx, z.diff() - vz],
        bodies=[Particle("bead", P, m)],
        gravity=-9.81 * N.z,
        constraints=[Switchable("rail", configuration=[z - x ** sp.Rational(5, 2)], held=held)],
        parameters={m: 1.0},
        initial={x: x0, z: up**2.5, vx: vx0, vz: vx0 * 2.5 * up**1.5},
        handle=("bead", None),
    )
"""


@pytest.fixture(scope="module")
def scene(tmp_path_factory):
    """A bead that slides along z = x^(5/2), which ends at x = 0, towards its end; or one that starts free."""
    folder = tmp_path_factory.mktemp("ramp")

    def made(name: str, mechanism: str = RAMP):
        (folder / f"{name}.py").write_text(mechanism)
        text = f"name: {name}\nrobot:\n  mechanism: {{path: {name}.py}}\n"
        (folder / f"{name}.yaml").write_text(text)
        return hs.load(folder / f"{name}.yaml")

    return made


def everything(sim: hs.Simulation) -> bytes:
    return b"".join(array.tobytes() for _, array in sim.fork().items())


def before_the_end(scene: hs.Scene) -> tuple[hs.Simulation, np.ndarray]:
    """Step until a tick is refused; return q before it."""
    sim = hs.Simulation(scene)
    for _ in range(110):
        q = sim.state.q
        sim.step()
        if Event.NOT_FINITE in [e.kind for e in sim.events]:
            return sim, q
    raise AssertionError(f"no tick was refused: q = {sim.state.q}, u = {sim.state.u}")


def test_a_tick_in_which_rows_become_nan_is_refused(scene):
    sim, q = before_the_end(scene("ramp"))
    state = sim.state
    assert 0.0 < q[0] < 1.2e-3, "the end of the rail is less than a tick away"
    assert state.fault & Fault.NOT_FINITE and state.safety is Safety.FAULT
    assert state.q.tolist() == q.tolist() and state.u.tolist() == [0.0, 0.0]
    assert not state.hand_force.any()
    assert sim.held == {"rail": Mode.HELD}


def test_after_it_the_bead_is_on_its_rail_again_and_does_not_fall(scene):
    sim, q = before_the_end(scene("ramp"))
    sim.step(50)
    assert sim.state.q[0] == pytest.approx(q[0], abs=1e-6)
    assert sim.state.q[1] == pytest.approx(sim.state.q[0] ** 2.5, abs=1e-15)
    assert np.abs(sim.state.u).max() < 1e-4, "in free fall it would be 0.49 m/s"


def test_such_a_tick_is_the_same_in_a_fresh_simulation(scene):
    """What the ticks before it left in the work arrays is not used."""
    ramp = scene("ramp")
    sim = hs.Simulation(ramp)
    for _ in range(110):
        fork = sim.fork()
        sim.step()
        if Event.NOT_FINITE in [e.kind for e in sim.events] or sim.state.q[0] < 3e-3:
            fresh = hs.Simulation(ramp)
            fresh.restore(fork)
            fresh.step()
            assert everything(fresh) == everything(sim)
            assert fresh.events == sim.events
    assert sim.state.fault & Fault.NOT_FINITE


BEYOND = RAMP.replace("x0=0.1005, vx0=-1.0, held=True", "x0=-0.1, vx0=-0.5, held=False")


def test_a_constraint_switched_on_where_its_row_is_nan_is_not_imposed(scene):
    sim = hs.Simulation(scene("beyond", BEYOND))
    sim.step(10)
    before = sim.state
    sim.switch("rail", True)
    sim.step()
    assert {Event.NOT_FINITE, Event.REFUSED} & {e.kind for e in sim.events}
    assert sim.held == {"rail": Mode.FREE}
    assert np.isfinite(sim.state.q).all() and np.isfinite(sim.state.u).all()
    assert sim.state.q == pytest.approx(before.q, abs=1e-3)
    sim.step(10)
    assert np.isfinite(sim.state.q).all() and sim.held == {"rail": Mode.FREE}


def test_a_state_at_which_held_rows_are_nan_is_refused(scene):
    """No choice of speeds was made before that the rows could spoil."""
    sim = hs.Simulation(scene("ramp"))
    sim.set_state(np.array([-0.1, 0.0]), np.array([0.3, 0.0]))
    for _ in range(3):
        sim.step()
        assert Event.NOT_FINITE in [e.kind for e in sim.events]
        assert sim.state.fault & Fault.NOT_FINITE
        assert sim.state.q.tolist() == [-0.1, 0.0] and sim.state.u.tolist() == [0.0, 0.0]
