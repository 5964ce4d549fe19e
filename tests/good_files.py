"""A scene and a robot that are good, for tests that spoil them."""

from __future__ import annotations

GOOD = """
name: cart and pole
robot:
  bodies:
    - name: cart
      inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.1, yy: 0.1, zz: 0.1}}
    - name: pole
      inertial: {mass_kg: 0.5, com_m: [0.0, 0.0, 0.3], inertia_kg_m2: {xx: 0.02, yy: 0.02, zz: 0.01}}
    - name: puck
      inertial: {mass_kg: 0.2, inertia_kg_m2: {xx: 0.001, yy: 0.001, zz: 0.001}}
  joints:
    - {name: rail, type: prismatic, parent: world, child: cart, axis: [1, 0, 0], damping_Ns_per_m: 2.0}
    - {name: pivot, type: revolute, parent: cart, child: pole, axis: [0, 1, 0],
       limits: {lower_rad: -2, upper_rad: 2}}
    - {name: slide, type: free, parent: world, child: puck}
gravity_m_per_s2: [0, 0, -9.81]
shapes:
  - {name: tip, body: pole, kind: sphere, radius_m: 0.02, origin: {xyz_m: [0, 0, 0.6]}}
  - {name: rod, body: pole, kind: capsule, radius_m: 0.01, length_m: 0.5}
  - {name: disc, body: puck, kind: box, half_extents_m: [0.04, 0.04, 0.01]}
  - {name: floor, kind: plane}
contacts:
  - {between: [tip, floor]}
  - {between: [disc, floor]}
torques:
  - {joint: pivot, law: pd, stiffness_Nm_per_rad: 5.0}
handle: {body: pole, point_m: [0, 0, 0.6]}
initial:
  q_rad: {pivot: 0.3}
  free: {slide: {xyz_m: [0.5, 0, 0.01]}}
rate_Hz: 1000
mapping: {motion_scale: 1.0}
coupler: {stiffness_N_per_m: 500}
safety: {ramp_s: 0.5}
device: {driver: scripted, emulate: omega_3, options: {hand_mass_kg: 0.5}}
link: {delay_up_s: 0.5}
publish: {rate_Hz: 100}
duration_s: 3
"""

LINK = '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
JOINT = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/></joint>'
URDF = f'<robot name="r">{LINK.format("a")}{LINK.format("b")}{JOINT}</robot>'
