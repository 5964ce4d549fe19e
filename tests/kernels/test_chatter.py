"""The end of a chatter brings the bodies to rest that chatter, and no other."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.codes import Mode
from hapticsim.config.load import loads
from hapticsim.kernels.events import chatter
from hapticsim.simulate.simulation import Simulation
from tests.kernel_access import FLOAT, INPUT, INT, OUTPUT, PLAN, STATE, WORKSPACE, compiled

rest_chattering = compiled(chatter.rest_chattering, PLAN, STATE, INPUT, WORKSPACE, OUTPUT, FLOAT, INT)

SLOW, GAP = 0.02, 2e-6  # [m/s] slower than what is taken as resting, [m] nearer than that


def three_cubes() -> Simulation:
    """Cubes on a floor; the second and the third might touch."""
    bodies, joints, shapes = [], [], ["  - {name: floor, kind: plane}"]
    for i in range(3):
        at = f"origin: {{xyz_m: [{0.2 * i}, 0, {0.02 + GAP}]}}"
        inertia = "inertia_kg_m2: {xx: 1.0e-4, yy: 1.0e-4, zz: 1.0e-4}"
        bodies.append(f"    - {{name: c{i}, inertial: {{mass_kg: 0.3, {inertia}}}}}")
        joints.append(f"    - {{name: c{i}, type: free, parent: world, child: c{i}, {at}}}")
        shapes.append(f"  - {{name: c{i}, body: c{i}, kind: box, half_extents_m: [0.02, 0.02, 0.02]}}")
    pairs = [f"  - {{between: [c{i}, floor]}}" for i in range(3)] + ["  - {between: [c1, c2]}"]
    lines = ["name: cubes", "max_rows: 60", "robot:", "  bodies:", *bodies, "  joints:", *joints]
    return Simulation(loads("\n".join([*lines, "shapes:", *shapes, "contacts:", *pairs]) + "\n"))


@pytest.mark.parametrize("fired", ([0], [1], [0, 2], []))
def test_what_moves_away_slowly_beside_a_chatter_goes_on(fired: list[int]) -> None:
    sim = three_cubes()
    assembly = sim.assembly
    state, inp = assembly.new_state(), assembly.new_input()
    ws, out = assembly.new_workspace(), assembly.new_output()
    u = np.zeros((3, 6))
    u[:, 5] = SLOW
    state.u[:] = ws.u0[:] = u.ravel()
    ws.q0[:] = state.q
    on_floor = [
        [k for k, c in enumerate(assembly.candidates) if (c.a, c.b) == (f"c{i}", "floor")] for i in range(3)
    ]
    for i in fired:
        ws.fires[on_floor[i][0]] = 2
    rest_chattering(assembly.plan, state, inp, ws, out, 0.0, 0)
    rests = fired or [0, 1, 2]  # no contact fired: whatever is nearly closed
    for i in range(3):
        speed = ws.u0[6 * i : 6 * i + 6]
        held = [state.mode[k] == Mode.HELD for k in on_floor[i]]
        if i in rests:
            np.testing.assert_allclose(speed, 0.0, atol=1e-12)
            assert any(held)
        else:
            np.testing.assert_array_equal(speed, u[i])
            assert not any(held)
