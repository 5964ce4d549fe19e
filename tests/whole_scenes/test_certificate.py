"""The certificate of a tick against what can be seen from outside: energies, gaps and forces."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.describe.topics import Describer
from hapticsim.kernels.memory.sample import CERTIFICATE
from tests.processes import CONFIGS
from tests.whole_scenes.test_friction import BALL, part, thrown


@pytest.mark.parametrize("regime", ["exact", "time_stepping"])
@pytest.mark.parametrize("shape", ["box", "ball"])
def test_gain_is_what_the_energy_changed_where_no_work_is_put_in(regime: str, shape: str):
    """A part thrown onto the floor: ticks in the air, impacts, and rest."""
    sim = part(0.0, regime=regime) if shape == "box" else part(0.0, BALL, regime=regime)
    start = np.array(sim.scene.q0)
    start[2] += 0.02
    sim.set_state(start, np.array([1.0, -2.0, 0.5, 0.1, 0.0, 0.0]))
    before, taken, seen = sum(sim.energy()), 0.0, 0
    for _ in range(600):
        sim.step()
        after, told = sum(sim.energy()), sim.certificate
        assert told.gain == pytest.approx(after - before, abs=1e-12)
        assert told.cone == 0.0 and told.friction == 0.0
        assert told.normal < 1e-6 and told.depth < 1e-6
        if regime == "exact":
            assert told.normal < 1e-8 and told.depth < 1e-9
        lost = sum(e.value for e in sim.events if e.kind in (Event.TOUCH, Event.IMPULSE))
        if regime == "exact" and lost > 0.0:
            assert told.gain == pytest.approx(-lost, abs=1e-9)
            seen += 1
        taken, before = taken + told.gain, after
    assert taken < -0.1
    assert seen > 0 or regime == "time_stepping"


def test_gain_of_what_slides_is_the_work_of_friction():
    sim = thrown(part(0.3), velocity=(1.0, 0.0, 0.0))
    sim.step(20)
    for _ in range(100):
        speed = sim.state.u[3]
        sim.step()
        mean = 0.5 * (speed + sim.state.u[3])
        assert sim.certificate.gain == pytest.approx(-0.3 * 9.81 * mean * 1e-3, rel=1e-6)
        assert sim.certificate.cone < 1e-12
        assert max(sim.certificate.normal, sim.certificate.friction) < 1e-6


def test_the_work_of_a_force_put_in_is_no_gain():
    sim = part(0.0)
    for _ in range(200):
        sim.apply(torque=np.array([0.0, 0.0, 0.0, 3.0, 0.0, 0.0]))
        sim.step()
        assert abs(sim.certificate.gain) < 1e-12
    assert sum(sim.energy()) > 0.1


def test_what_sleeps_has_nothing_to_certify():
    sim = part(0.3, slope_deg=10.0, more="sleep: {after_s: 0.2}\n")
    sim.step(1000)
    told = sim.certificate
    assert told.normal == told.friction == told.gain == told.cone == 0.0


def test_a_mechanism_without_a_balance_says_so():
    sim = hs.Simulation(hs.load(CONFIGS / "wrist.yaml"))
    sim.step(10)
    assert np.isnan(sim.certificate.gain)
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    assert Describer(sim.assembly).state(row)["certificate"]["gain_J"] is None


def test_the_certificate_is_recorded_and_published():
    sim = thrown(part(0.3), velocity=(1.0, 0.0, 0.0))
    sim.step(50)
    row = np.zeros(len(sim.columns))
    sim.read_row(row)
    told = sim.certificate
    values = [told.depth, told.cone, told.normal, told.friction, told.gain]
    assert [row[sim.columns.index(name)] for name in CERTIFICATE] == values
    published = Describer(sim.assembly).state(row)["certificate"]
    assert list(published.values()) == values
    assert told.gain < -1e-3
