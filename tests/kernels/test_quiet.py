"""Islands that rest are evaluated once in a piece: what they would say again is what they said."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.config.load import loads
from hapticsim.kernels import quiet
from hapticsim.kernels.motion import stage
from hapticsim.simulate.simulation import Simulation
from tests.kernel_access import FLOAT, INPUT, INT, PLAN, STATE, VECTOR, WORKSPACE, compiled

SIZE, MASS = 0.02, 0.3
SCENE = """
name: balls and a slider
robot:
  bodies:
{bodies}    - {{name: slider, inertial: {{mass_kg: 1}}}}
  joints:
{joints}    - {{name: slide, type: prismatic, parent: world, child: slider, axis: [1, 0, 0]}}
handle: {{body: slider}}
shapes:
  - {{name: floor, kind: plane}}
{shapes}contacts:
{contacts}"""

find_quiet = compiled(quiet.find_quiet, PLAN, WORKSPACE, INT)
evaluate = compiled(
    stage.evaluate_stage, PLAN, STATE, INPUT, WORKSPACE, VECTOR, VECTOR, FLOAT, VECTOR, VECTOR, INT
)


def balls(n: int) -> Simulation:
    """So many balls on a floor, and a slider in the hand."""
    inertia = "{xx: 5.0e-5, yy: 5.0e-5, zz: 5.0e-5}"
    bodies = (
        f"    - {{name: b{i}, inertial: {{mass_kg: {MASS}, inertia_kg_m2: {inertia}}}}}\n" for i in range(n)
    )
    free = "type: free, parent: world"
    joints = (
        f"    - {{name: b{i}, {free}, child: b{i}, origin: {{xyz_m: [{0.1 * i}, 0, {SIZE}]}}}}\n"
        for i in range(n)
    )
    shapes = (f"  - {{name: b{i}, body: b{i}, kind: sphere, radius_m: {SIZE}}}\n" for i in range(n))
    contacts = (f"  - {{between: [b{i}, floor]}}\n" for i in range(n))
    parts = {"bodies": bodies, "joints": joints, "shapes": shapes, "contacts": contacts}
    return Simulation(loads(SCENE.format(**{name: "".join(lines) for name, lines in parts.items()})))


@pytest.fixture(scope="module")
def resting() -> Simulation:
    sim = balls(3)
    sim.step(100)
    return sim


def first_stage(sim: Simulation, pushed: int | None = None) -> tuple[int, np.ndarray]:
    """Evaluate the first stage of a tick at rest, or with one ball that moves; return rows, accelerations."""
    ws, state = sim._workspace, sim._state
    ws.q0[:], ws.u0[:] = state.q, state.u
    if pushed is not None:
        first = sim.plan.tree_first[pushed]
        ws.u0[first : first + 6] = 1e-6
    m = int(state.rank[1])
    ws.rows[:m] = np.flatnonzero(state.mode == 1)[:m]
    ws.counts[:] = ws.quiets[0] = 0
    evaluate(sim.plan, state, sim._input, ws, ws.q0, ws.u0, 0.0, ws.dq[0], ws.du[0], m)
    return m, ws.du[0].copy()


def test_what_rests_is_quiet_and_what_moves_or_is_in_the_hand_is_not(resting: Simulation) -> None:
    ws = resting._workspace
    m, _ = first_stage(resting)
    assert m == 3, "all balls are held"
    find_quiet(resting.plan, ws, m)
    assert ws.quiets[0] == 3 and ws.islands[0] == 4
    assert ws.quiet[ws.island_of[3]] == 0, "the slider rests, too"
    for pushed in range(3):
        m, _ = first_stage(resting, pushed)
        find_quiet(resting.plan, ws, m)
        assert ws.quiets[0] == 2 and ws.quiet[ws.island_of[pushed]] == 0
    ws.quiets[0] = 0


@pytest.mark.parametrize("pushed", [None, 0, 1, 2])
def test_a_stage_with_quiet_islands_says_what_it_says_without(
    resting: Simulation, pushed: int | None
) -> None:
    ws = resting._workspace
    m, first = first_stage(resting, pushed)
    whole_rows, whole_gaps = ws.A[:m].copy(), ws.phi[:m].copy()
    find_quiet(resting.plan, ws, m)
    arguments = (resting.plan, resting._state, resting._input, ws, ws.q0, ws.u0, 0.0, ws.dq[1], ws.du[1], m)
    ws.du[1] = np.nan
    evaluate(*arguments)
    assert np.array_equal(ws.du[1], first)
    assert np.array_equal(ws.A[:m], whole_rows) and np.array_equal(ws.phi[:m], whole_gaps)
    ws.quiets[0] = 0


def test_what_is_pushed_by_next_to_nothing_moves_as_it_should() -> None:
    """Nothing is held still: accelerations that a tick does not feel add up."""
    sim, tiny = balls(2), 1e-10  # [N]
    sim.step(100)
    start, along = sim.state, sim.scene.model.speed_names.index("b0[3]")
    tau = np.zeros(sim.state.u.size)
    tau[along] = tiny
    sim.apply(torque=tau)
    sim.step(10000)
    assert sim.state.u[along] - start.u[along] == pytest.approx(10.0 * tiny / MASS, rel=1e-6)
