"""A ball led against a robot's own collision geometry: it never sinks in, and the robot gives way."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Event
from tests.naive import distance_to_box
from tests.places import CONFIGS
from tools.mesh_scenes import plain_distance

TOUCHED = ("panda_link4", "panda_link6", "panda_hand")


@pytest.mark.parametrize("link", TOUCHED)
def test_a_ball_pushed_against_a_link_stays_outside_of_all_of_them_and_moves_the_arm(link):
    scene = hs.load(CONFIGS / "touch_panda.yaml")
    sim = hs.Simulation(scene)
    (tip,) = (s for s in scene.shapes if s.name == "tip")
    solids = [s for s in scene.shapes if s.body.startswith("panda_") and s.kind in ("mesh", "box")]
    assert len(solids) == 17
    start, held = sim.state.q.copy(), 0
    for tick in range(1500):
        at, target = sim.body_pose("probe").translation, sim.body_pose(link).translation
        u = np.array([sim.state.u[i] for i, n in enumerate(scene.model.speed_names) if n in "xyz"])
        sim.apply(force=np.clip(40.0 * (target - at), -6.0, 6.0) - 6.0 * u)
        sim.step()
        held += bool(sim.state.contacts)
        assert not {e.kind for e in sim.events} & {Event.THROUGH, Event.ENERGY, Event.NOT_FINITE}
        if tick % 10 == 0:
            for shape in solids:
                X = sim.body_pose(shape.body)
                centre = X.rotation.T @ (sim.body_pose("probe").translation - X.translation)
                centre = shape.X_BS.rotation.T @ (centre - shape.X_BS.translation)
                if shape.mesh is not None:
                    distance = plain_distance(shape.mesh, centre)
                else:
                    distance = distance_to_box(centre, np.array(shape.size))
                assert distance - tip.size[0] > -1e-6, (tick, shape.name)
    arm = [i for i, n in enumerate(scene.model.speed_names) if n.startswith("panda_")]
    assert held > 300
    assert np.abs(sim.state.q[arm] - start[arm]).max() > 0.05
