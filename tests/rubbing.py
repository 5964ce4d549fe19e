"""A box or a ball that rubs on a floor, which may lean."""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial.transform import Rotation

import hapticsim as hs
from hapticsim.config.load import loads

G = 9.81
SCENE = """
name: friction
robot:
  bodies:
    - name: part
      inertial: {{mass_kg: {mass}, inertia_kg_m2: {{xx: {inertia}, yy: {inertia}, zz: {inertia}}}}}
  joints: [{{name: free, type: free, parent: world, child: part, origin: {{xyz_m: [0, 0, {height}]}}}}]
shapes:
  - {{name: part, body: part, {shape}}}
  - {{name: floor, kind: plane}}
contacts: [{{between: [part, floor], friction: {friction}}}]
contact_regime: {regime}
gravity_m_per_s2: [{down}, 0, {into}]
"""
HALF = (0.05, 0.04, 0.03)
BOX = "kind: box, half_extents_m: [0.05, 0.04, 0.03]"
INERTIA = 1.5e-3
RADIUS = 0.05
BALL = f"kind: sphere, radius_m: {RADIUS}"


def part(
    friction: float | str,
    shape: str = BOX,
    slope_deg: float = 0.0,
    regime: str = "time_stepping",
    more: str = "",
) -> hs.Simulation:
    """A box, or a ball, of 1 kg on a plane; gravity leans towards x by the slope."""
    slope, is_ball = math.radians(slope_deg), shape == BALL
    return hs.Simulation(
        loads(
            SCENE.format(
                friction=friction,
                shape=shape,
                regime=regime,
                mass=1.0,
                inertia=0.4 * RADIUS**2 if is_ball else INERTIA,
                height=RADIUS if is_ball else HALF[2],
                down=G * math.sin(slope),
                into=-G * math.cos(slope),
            )
            + more,
            "<test>",
        )
    )


def thrown(sim: hs.Simulation, velocity=(0.0, 0.0, 0.0), turning=(0.0, 0.0, 0.0)) -> hs.Simulation:
    sim.set_state(sim.scene.q0, np.array([*turning, *velocity]))
    return sim


def velocity_of(sim: hs.Simulation) -> np.ndarray:
    """Velocity of the part in the world (3,) [m/s]: its speeds are those in its own axes."""
    w, x, y, z = sim.state.q[3:]
    return Rotation.from_quat([x, y, z, w]).apply(sim.state.u[3:])
