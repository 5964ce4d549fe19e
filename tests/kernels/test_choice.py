"""The choice of independent speeds of many bodies: island by island, with scratch of its own."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.config.load import loads
from hapticsim.kernels.solve import speed_selection
from hapticsim.simulate.simulation import Simulation
from tests.kernel_access import FLOAT, INT, OUTPUT, PLAN, STATE, WORKSPACE, compiled

choose = compiled(speed_selection.choose_independent, PLAN, STATE, WORKSPACE, OUTPUT, INT, FLOAT)

BODIES = 40
KEPT = ("x", "Wr", "P", "c", "z", "grad", "passive", "part_rows", "Y", "Q", "QY", "lam")  # of who asks for it


def many_cubes() -> Simulation:
    bodies, joints, shapes, pairs = [], [], ["  - {name: floor, kind: plane}"], []
    for i in range(BODIES):
        at = f"origin: {{xyz_m: [{0.2 * i + 0.13}, 0.11, 0.5]}}"
        inertia = "inertia_kg_m2: {xx: 1.0e-4, yy: 1.0e-4, zz: 1.0e-4}"
        bodies.append(f"    - {{name: c{i}, inertial: {{mass_kg: 0.3, {inertia}}}}}")
        joints.append(f"    - {{name: c{i}, type: free, parent: world, child: c{i}, {at}}}")
        shapes.append(f"  - {{name: c{i}, body: c{i}, kind: sphere, radius_m: 0.02}}")
        pairs.append(f"  - {{between: [c{i}, floor]}}")
        pairs += [f"  - {{between: [c{i}, c{i - 1}]}}"] if i % 4 else []
    lines = ["name: cubes", f"max_rows: {2 * BODIES}", "robot:", "  bodies:", *bodies, "  joints:", *joints]
    return Simulation(loads("\n".join([*lines, "shapes:", *shapes, "contacts:", *pairs]) + "\n"))


SIM = many_cubes()


@pytest.mark.parametrize("seed", range(20))
def test_each_island_gets_the_rank_of_its_rows_and_columns_that_can_be_solved(seed: int) -> None:
    rng, assembly, plan = np.random.default_rng(seed), SIM.assembly, SIM.plan
    state, ws, out = assembly.new_state(), assembly.new_workspace(), assembly.new_output()
    m = int(rng.integers(1, min(plan.contacts, ws.rows.size) + 1))
    ws.rows[:m] = np.sort(rng.choice(plan.contacts, m, replace=False))
    scale = 10.0 ** rng.uniform(-8, 8)  # of all rows: their product goes beyond all numbers
    for i, k in enumerate(ws.rows[:m]):
        for tree in {int(plan.row_tree_a[k]), int(plan.row_tree_b[k])} - {-1}:
            first, end = plan.tree_first[tree], plan.tree_end[tree]
            ws.A[i, first:end] = scale * rng.normal(size=end - first)
        if i and rng.random() < 0.2 and plan.row_tree_b[k] < 0 and plan.row_tree_b[ws.rows[i - 1]] < 0:
            ws.rows[i], ws.A[i] = ws.rows[i - 1], 2.0 * ws.A[i - 1]  # a row that depends on another
    ws.M[:] = np.diag(10.0 ** rng.uniform(-4, 0, ws.M.shape[0]))
    for name in KEPT:
        getattr(ws, name)[:] = 7
    rank = choose(plan, state, ws, out, m, 0.0)
    A = ws.A[:m]
    assert rank == np.linalg.matrix_rank(A) == state.rank[0]
    assert sorted(state.order.tolist()) == list(range(state.order.size))
    rows = state.combine[:m, :rank].T @ A / np.sqrt(np.diag(ws.M))
    chosen = rows[:, state.order[:rank]]
    assert np.isfinite(np.linalg.inv(chosen)).all()
    assert np.isfinite(state.volume[0]) and state.volume[0] > 0.0
    for name in KEPT:
        assert (getattr(ws, name) == 7).all(), name
