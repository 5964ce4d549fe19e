"""What the kernels of the tick say of two shapes on two free bodies: the least gap, its normal, its row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numba import float64, int64

from hapticsim.assemble.assembly import Assembly, assemble
from hapticsim.config.load import loads
from hapticsim.kernels import units
from hapticsim.kernels.entry import compile_cached
from hapticsim.kernels.events.edge_places import put_edges
from hapticsim.kernels.events.inside import GAP_DEEP, hold_here
from hapticsim.kernels.geometry.contact import contact_row, has_ends, past_side, witness
from hapticsim.kernels.memory.arrays import Output, Plan, State, Workspace
from hapticsim.model.scene import ContactPair, Scene, Shape

VECTOR, MATRIX, INTS = float64[::1], float64[:, ::1], int64[::1]
PLAN, STATE, OUTPUT, WORKSPACE = Plan._type, State._type, Output._type, Workspace._type

BODIES = """
name: two shapes
robot:
  bodies:
    - {name: one, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.02, zz: 0.025}}}
    - {name: two, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.02, zz: 0.025}}}
  joints:
    - {name: free_one, type: free, parent: world, child: one}
    - {name: free_two, type: free, parent: world, child: two}
"""


@cache
def bodies() -> Scene:
    return loads(BODIES)


def scene_of(a: Shape, b: Shape) -> Scene:
    return replace(bodies(), shapes=(a, b), contacts=(ContactPair(a.name, b.name),))


def _least_gap(plan, state, ws, found):
    """Write the least gap [m], its normal (world), its candidate, and the least gap past an end [m].

    Past an end of a side or of two edges a gap is no distance, and counts for the last alone.  1000 m: none.
    """
    found[0] = found[5] = 1e3
    found[4] = 0
    for k in range(plan.contacts):
        gap = units.gap(plan, state, k, ws.X) + state.depth[k]
        if has_ends(plan, k) and past_side(plan, state, k, ws.X) > 0.0:
            found[5] = min(found[5], gap)
        elif gap < found[0]:
            _, found[1], found[2], found[3], _, _, _, _, _, _ = witness(plan, state, k, ws.X)
            found[0], found[4] = gap, k


def _hold(plan, state, k, X):
    """Hold candidate k at its feature; how far it is past the end of it [m]."""
    _, _, past = units.where(plan, state, k, X)
    hold_here(plan, state, k, X)
    state.depth[k] = 0.0
    return past


def _feature_gap(plan, state, k, X, part):
    """Gap [m] of candidate k to the feature that holds it; ``part`` tells which part of a surface that is."""
    phi, _, _, _, _, _, _, part[0], part[1], part[2] = witness(plan, state, k, X)
    part[3] = int(past_side(plan, state, k, X) > 0.0) if has_ends(plan, k) else 0
    return phi


@cache
def kernels() -> tuple[Callable[..., Any], ...]:
    """least_gap, put_edges, hold, feature_gap and contact_row, as machine code."""
    wanted = (
        (_least_gap, (PLAN, STATE, WORKSPACE, VECTOR)),
        (put_edges, (PLAN, STATE, WORKSPACE, OUTPUT, int64, float64)),
        (_hold, (PLAN, STATE, int64, MATRIX)),
        (_feature_gap, (PLAN, STATE, int64, MATRIX, INTS)),
        (contact_row, (PLAN, STATE, int64, int64, WORKSPACE)),
    )
    return tuple(compile_cached(getattr(kernel, "py_func", kernel), of) for kernel, of in wanted)


@dataclass
class Least:
    """What the candidates of a pair say at a pose."""

    gap: float  # [m] the least
    normal: np.ndarray  # (3,) of it, world axes, from the second shape to the first
    k: int  # its candidate
    past: float  # [m] the least gap of what is past an end, where it is no distance


class Candidates:
    """The candidates of a pair of shapes, as the tick sees them."""

    def __init__(self, a: Shape, b: Shape) -> None:
        self.assembly: Assembly = assemble(scene_of(a, b))
        self.plan, self.state = self.assembly.plan, self.assembly.new_state()
        self.ws, self.out = self.assembly.new_workspace(), self.assembly.new_output()
        self.sign = [1.0 if c.a == a.name else -1.0 for c in self.assembly.candidates]
        self._found, self._part = np.empty(6), np.empty(4, np.int64)

    def frames(self, q: np.ndarray, u: np.ndarray) -> None:
        """Put frames, velocities and remainder accelerations into the workspace."""
        ws = self.ws
        self.assembly.equations.kernels.kinematics(q, u, ws.qs, ws.X, ws.V, ws.vel, ws.acc)

    def least(self, q: np.ndarray, reach: float) -> Least:
        """The least gap at a pose, each held feature forgotten.

        reach   [m] up to which edges that cross are looked for, as at speeds that go so far in a tick.
        """
        least_gap, put_edges, *_ = kernels()
        self.state.face[:], self.state.depth[:] = 0, 0.0
        u = np.zeros(12)
        u[3] = 0.5 * reach / self.plan.tick_s
        self.frames(q, u)
        put_edges(self.plan, self.state, self.ws, self.out, 0, GAP_DEEP)
        least_gap(self.plan, self.state, self.ws, self._found)
        gap, *normal, k, past = self._found.tolist()
        return Least(gap, self.sign[int(k)] * np.array(normal), int(k), past)

    def hold(self, k: int) -> float:
        """Hold a candidate at its feature, at the frames in the workspace; how far it is past its end [m]."""
        return float(kernels()[2](self.plan, self.state, k, self.ws.X))

    def feature_gap(self, k: int, q: np.ndarray) -> tuple[float, list[int]]:
        """Gap [m] to the feature that is held, and which part of the surface it is."""
        self.frames(q, np.zeros(12))
        phi = kernels()[3](self.plan, self.state, k, self.ws.X, self._part)
        return float(phi), self._part.tolist()

    def row(self, k: int, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, float]:
        """The row (12,) of a candidate, and its remainder s [m/s^2]."""
        self.frames(q, u)
        kernels()[4](self.plan, self.state, k, 0, self.ws)
        return self.ws.A[0, :12].copy(), float(self.ws.s[0])
