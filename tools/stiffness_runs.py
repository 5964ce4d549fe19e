"""The runs of the study of formulation stiffness, with the numbers that were printed for them.

Conventions the papers leave open were found by trial: link widths, that the base link is the short one, and
10 m and 10 kg per link in figure 5.9, from the printed energy M g L.
"""

from __future__ import annotations

import math

import numpy as np
from reporting import Found

from hapticsim.equations.base import Equations
from hapticsim.equations.compiled import compile_equations
from hapticsim.model.multibody.joint import WORLD, Body, Joint
from hapticsim.model.multibody.tree import Model
from hapticsim.offline.chains import planar_chain
from hapticsim.offline.run import simulate_offline
from hapticsim.offline.sweeps.static_sweep import Sweep, sweep

ABM, CRBM, BAD = "abm_exact", "crbm_cholesky", "abm_bad"
LDL = "crbm_ldl"  # of the CRBMs the one whose pivots are those of the paper's elimination
MAX_STEPS = 10_000  # of Numerical Recipes; past it the papers print "fail"

# Published evaluations, None where the run failed.
TABLE_1 = {  # base length / total: ABM, CRBM
    0.1: (3169, 3041),
    0.05: (4623, 5109),
    0.01: (8189, 8082),
    0.005: (10534, 10420),
    0.004: (11170, 11835),
    0.0035: (12375, 13792),
    0.003: (11990, 18986),
    0.0025: (12170, 35406),
    0.002: (12779, 44294),
    0.0018: (12418, 86656),
    0.0015: (12860, None),
}
FIGURE_5_6 = {
    1e-1: (6526, 6553),
    1e-3: (31424, 31469),
    1e-5: (23787, 23756),
    1e-6: (23825, 23888),
    1e-7: (23797, 23779),
    1e-8: (23812, 24395),
    4e-9: (23828, 25392),
    2e-9: (23792, 31015),
    1e-9: (23792, 64065),
    1e-10: (23822, None),
}
FIGURE_5_9 = {  # links: ABM, CRBM
    2: (2377, 2324),
    4: (3897, 4362),
    6: (5818, 5912),
    8: (7668, 6916),
    10: (8576, 8892),
    12: (9234, 9746),
    14: (10497, 10039),
}
SWEPT = (1e0, 1e1, 1e2, 1e3, 1e4, 4e4, 5e4, 1e5, 1e6)  # length [m] and mass [kg] of the distal link
QUICK = {"table_1": (0.1, 0.002, 0.0015), "figure_5_6": (1e-1, 1e-5, 1e-9), "figure_5_9": (2, 6)}
QUICK_SWEPT = (1e2, 1e5)

Job = tuple[str, float, str]  # table, row, algorithm


def equations_of(table: str, row: float) -> Equations:
    """Return the robot of a row."""
    if table == "figure_5_9":
        n = int(row)
        return compile_equations(planar_chain([10.0] * n, [10.0] * n, [1.0] * n, 9.8, f"chain_{n}"), ())
    split, g = (row, 1.0 - row), 9.81 if table == "table_1" else 9.8
    return compile_equations(planar_chain(split, split, (0.1, 0.1), g, "two_links"), ())


def run(job: Job) -> Found:
    """Simulate one row with one algorithm from the horizontal, at rest."""
    table, row, algorithm = job
    equations = equations_of(table, row)
    accuracy, seconds = {"table_1": (1e-4, 10.0), "figure_5_6": (1e-6, 10.0), "figure_5_9": (1e-4, 60.0)}[
        table
    ]
    result = simulate_offline(
        equations,
        np.zeros(equations.nu),
        np.zeros(equations.nu),
        seconds,
        algorithm=algorithm,
        accuracy=accuracy,
        precision="float32" if table == "table_1" else "float64",
        max_steps=MAX_STEPS,
        condition_number=True,
    )
    bodies = equations.model.bodies
    hanging = sum(b.mass for b in bodies) * 9.8 * 2.0 * sum(b.com_B[0] for b in bodies)  # E_init = M g L
    assert result.condition is not None
    return {
        "evaluations": result.total_evaluations,
        "ending": result.ending.name,
        "condition": float(result.condition.max()),
        "energy_deviation_percent": 100.0 * float(np.mean(result.energy - result.energy[0])) / hanging,
    }


def pivots(tip_mass: float, case: int) -> Found:
    """Return D_2 and the acceleration of the tip of two collinear slides, by CRBM, ABM and modified ABM."""
    axis = np.array([0.0, 0.0, 1.0]) if case == 1 else np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0)
    joints = (
        Joint("slide_2", "prismatic", WORLD, "base", axis_J=axis),
        Joint("slide_1", "prismatic", "base", "tip", axis_J=axis),
    )
    model = Model("slides", (Body("base", 1.0), Body("tip", tip_mass)), joints, np.zeros(3))
    equations = compile_equations(model, (), aligned=False)
    found = {}
    for name in (LDL, "abm", "abm_modified"):
        algorithm = equations.algorithm(name, "float32")
        tip = float(algorithm([0.0, 0.0], [0.0, 0.0], [9.81, 981.0])[1])
        found[name] = {
            "pivot": float(algorithm.pivots([0.0, 0.0])[0]),
            "tip_acceleration": tip if math.isfinite(tip) else None,
        }
    return found


def swept(distal: float) -> Sweep:
    """Sweep the second joint of a chain with a first link of 1 m and 1 kg and a distal one of ``distal``."""
    chain = planar_chain((1.0, distal), (1.0, distal), (1.0, 1.0), 9.8, "swept")
    return sweep(compile_equations(chain, ()), 1, np.linspace(0.0, 2.0 * np.pi, 721), (ABM, CRBM, BAD))


def sweep_summary(distal: float) -> Found:
    """Return condition, typical relative difference of the base's acceleration, and how ragged it is."""
    found = swept(distal)
    return {
        "condition": float(np.median(found.condition)),
        "difference": float(np.median(found.difference(ABM, CRBM)[:, 0])),
        "raggedness": {name: found.raggedness(name, 0) for name in (ABM, CRBM, BAD)},
    }
