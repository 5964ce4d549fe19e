"""Forces of the imposed rows, and what the rows miss made good, whether the scene has one tree or several."""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import inlined
from hapticsim.kernels.solve.embedding import constraint_forces, least_change
from hapticsim.kernels.units import change_of_islands, forces_of_islands


@inlined
def write_row_forces(plan, state, ws, m, udot):
    """ws.lam of the m rows at the stage that was evaluated last."""
    if plan.forces_of_islands != 0:
        forces_of_islands(plan, state, ws, m, udot)
    else:
        constraint_forces(state.combine, m, state.rank[0], state.order, ws.M, ws.f, ws, udot, ws.lam)


@inlined
def change_speeds(plan, state, ws, m, missing, change):
    """The least change (n,) of speeds that brings the m rows what is missing, after a stage."""
    if plan.change_of_islands != 0:
        change_of_islands(plan, state, ws, m, missing, change)
    else:
        least_change(state.combine, m, state.rank[0], state.order, ws, missing, change)
