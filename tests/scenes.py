"""Scenes made of text, for tests that need one that no config ships."""

from __future__ import annotations

from hapticsim.config.load import loads
from hapticsim.model.scene import Scene

ARM = """
name: planar arm over a floor
robot:
  bodies:
    - name: upper
      inertial: {mass_kg: 1.2, com_m: [0.2, 0, 0], inertia_kg_m2: {xx: 1.0e-4, yy: 0.016, zz: 0.016}}
    - name: fore
      inertial: {mass_kg: 0.7, com_m: [0.15, 0, 0], inertia_kg_m2: {xx: 1.0e-4, yy: 0.00525, zz: 0.00525}}
  joints:
    - {name: shoulder, type: revolute, parent: world, child: upper, axis: [0, -1, 0]}
    - {name: elbow, type: revolute, parent: upper, child: fore, axis: [0, -1, 0],
       origin: {xyz_m: [0.4, 0, 0]}}
shapes:
  - {name: tip, body: fore, kind: sphere, radius_m: 0.02, origin: {xyz_m: [0.3, 0, 0]}}
  - {name: floor, kind: plane, origin: {xyz_m: [0, 0, -0.35]}}
contacts:
  - {between: [tip, floor]}
handle: {body: fore, point_m: [0.3, 0, 0]}
"""


def arm(q: tuple[float, float], u: tuple[float, float] = (0.0, 0.0), rate: float = 1000.0) -> Scene:
    """Two rods (0.4 m, 1.2 kg; 0.3 m, 0.7 kg) with a ball at the tip; ``naive.PlanarArm`` is its twin."""
    return loads(
        f"{ARM}\ninitial: {{q_rad: {{shoulder: {q[0]}, elbow: {q[1]}}}, "
        f"u_rad_per_s: {{shoulder: {u[0]}, elbow: {u[1]}}}}}\nrate_Hz: {rate}\n"
    )


def block(
    half: tuple[float, float, float] = (0.1, 0.08, 0.05),
    mass: float = 2.0,
    at: tuple[float, float, float] = (0.0, 0.0, 0.05),
    rpy: tuple[float, float, float] = (0.0, 0.0, 0.0),
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0),
    spin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    handle: tuple[float, float, float] = (0.0, 0.0, 0.0),
    shape: str = "",
    others: str = "{name: ground, kind: plane}",
    touching: tuple[str, ...] = ("ground",),
    rate: float = 1000.0,
) -> Scene:
    """A free cuboid, or another shape with its inertia, and what it may touch."""
    a, b, c = half
    xx, yy, zz = (mass / 3 * s for s in (b * b + c * c, a * a + c * c, a * a + b * b))
    shape = shape or f"kind: box, half_extents_m: {list(half)}"
    contacts = "\n".join(f"  - {{between: [block, {name}]}}" for name in touching)
    shapes = "\n".join(f"  - {line}" for line in others.splitlines())
    return loads(
        f"""
name: a block
robot:
  bodies:
    - {{name: block, inertial: {{mass_kg: {mass}, inertia_kg_m2: {{xx: {xx}, yy: {yy}, zz: {zz}}}}}}}
  joints:
    - {{name: float, type: free, parent: world, child: block}}
shapes:
  - {{name: block, body: block, {shape}}}
{shapes}
contacts:
{contacts}
handle: {{body: block, point_m: {list(handle)}}}
rate_Hz: {rate}
initial:
  free:
    float: {{xyz_m: {list(at)}, rpy_rad: {list(rpy)},
      velocity_m_per_s: {list(velocity)}, angular_velocity_rad_per_s: {list(spin)}}}
"""
    )
