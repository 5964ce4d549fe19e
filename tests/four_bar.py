"""A four-bar closed by three rows of which two count, with a brake and a rod: to be switched by tests."""

FOUR_BAR = """
name: four-bar
robot:
  bodies:
    - {name: crank, inertial: {mass_kg: 1.0, com_m: [0.1, 0, 0],
       inertia_kg_m2: {xx: 1.0e-4, yy: 0.004, zz: 0.004}}}
    - {name: coupler, inertial: {mass_kg: 1.0, com_m: [0.25, 0, 0],
       inertia_kg_m2: {xx: 1.0e-4, yy: 0.02, zz: 0.02}}}
    - {name: rocker, inertial: {mass_kg: 1.0, com_m: [0.15, 0, 0],
       inertia_kg_m2: {xx: 1.0e-4, yy: 0.01, zz: 0.01}}}
  joints:
    - {name: crank, type: revolute, parent: world, child: crank, axis: [0, -1, 0], damping_Nms_per_rad: 0.3}
    - {name: coupler, type: revolute, parent: crank, child: coupler, axis: [0, -1, 0],
       origin: {xyz_m: [0.2, 0, 0]}}
    - {name: rocker, type: revolute, parent: world, child: rocker, axis: [0, -1, 0],
       origin: {xyz_m: [0.5, 0, 0]}}
constraints:
  - {name: loop, kind: point, bodies: [coupler, rocker], point_a_m: [0.5, 0, 0], point_b_m: [0.2, 0, 0]}
  - {name: brake, kind: lock, joints: [crank], held: false}
  - {name: stop, kind: distance, bodies: [coupler, world], point_a_m: [0.25, 0, 0],
     point_b_m: [0.25, 0, -1.0], distance_m: 0.5, held: false}
handle: {body: coupler, point_m: [0.25, 0, 0]}
initial: {q_rad: {crank: 1.5707963267948966, coupler: -1.5707963267948966, rocker: 1.5707963267948966}}
"""
