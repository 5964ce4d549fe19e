"""What is deep in a time step: a light capsule that heavy parts squeeze out, a box too wide for its slot."""

from __future__ import annotations

import numpy as np
import pytest
import yaml

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads

DEEPEST = 5e-4  # [m]: DEEP of shorten_ways.py
BODIES = """
  bodies:
    - {name: box, inertial: {mass_kg: 0.9, inertia_kg_m2: {xx: 7.5e-4, yy: 6.5e-4, zz: 7.7e-4}}}
    - {name: heavy, inertial: {mass_kg: 0.97, inertia_kg_m2: {xx: 5.0e-4, yy: 3.8e-4, zz: 7.2e-4}}}
    - {name: light, inertial: {mass_kg: 0.0416, inertia_kg_m2: {xx: 2.08e-5, yy: 1.76e-5, zz: 9.9e-6}}}
"""
START = {  # place, quaternion, angular velocity, velocity, found in a pile
    "box": (
        [0.143928296, 0.156081673, 0.0322252094, 0.922582294, 0.0, 0.0, 0.38580035],
        [0.0, 0.0, 0.704535114, -0.0945561724, 0.047353894, 0.0],
    ),
    "heavy": (
        [0.175445756, 0.175818394, 0.130316547, 0.345102859, -0.56433978, -0.743093409, 0.101177151],
        [-4.56415996, -4.30059859, 4.6488252, -0.944542311, 1.21728841, 1.67445477],
    ),
    "light": (
        [0.156068031, 0.194494999, 0.0824459422, -0.561823625, 0.4365786, -0.51985069, 0.472766962],
        [-49.8314537, 9.84566747, -6.71850114, 0.162608234, 1.12061106, -0.173921382],
    ),
}


def in_a_line(what: object) -> str:
    return yaml.safe_dump(what, default_flow_style=True, width=4000)


def simulation() -> hs.Simulation:
    joints = [{"name": f"free_{n}", "type": "free", "parent": "world", "child": n} for n in START]
    apart = {f"free_{n}": {"xyz_m": [0.0, 0.0, 0.3 + 0.2 * i]} for i, n in enumerate(START)}
    scene = f"""
name: squeezed out
contact_regime: time_stepping
robot:{BODIES}  joints: {in_a_line(joints)}
shapes:
  - {{name: floor, kind: plane}}
  - {{name: right, kind: plane, origin: {{xyz_m: [0.21, 0.0, 0.0], rpy_rad: [0.0, {-0.5 * np.pi}, 0.0]}}}}
  - {{name: behind, kind: plane, origin: {{xyz_m: [0.0, 0.21, 0.0], rpy_rad: [{0.5 * np.pi}, 0.0, 0.0]}}}}
  - {{name: box, body: box, kind: box, half_extents_m: [0.0333483047, 0.0380023918, 0.0322252094]}}
  - {{name: heavy, body: heavy, kind: capsule, radius_m: 0.0307034518, length_m: 0.01}}
  - {{name: light, body: light, kind: capsule, radius_m: 0.0154811839, length_m: 0.0486237724}}
contacts: [{{between: ["*", "*"], restitution: 0.0}}]
initial: {{free: {in_a_line(apart)}}}
"""
    sim = hs.Simulation(loads(scene))
    sim.set_state(*(np.concatenate(part) for part in zip(*START.values(), strict=True)))
    return sim


def test_what_turns_far_within_a_tick_goes_a_part_of_its_way_and_not_through():
    sim = simulation()
    deepest, fastest, least, halted = 0.0, 0.0, np.inf, 0
    for _ in range(60):
        sim.step()
        energy = sum(sim.energy())
        assert energy <= least + 1e-9
        least = min(least, energy)
        deepest = min(deepest, sim.gaps.min())
        fastest = max(fastest, np.abs(sim.state.u[12:15]).max())
        halted += any(event.kind == Event.HALTED for event in sim.events)
        assert not any(event.kind == Event.THROUGH for event in sim.events)
    assert fastest > 100.0  # a tenth of a radian in a tick
    assert halted > 0
    assert deepest > -DEEPEST


def test_a_box_that_has_no_way_out_of_its_slot_keeps_no_other_part_inside():
    side = 0.05 - 5e-5  # of the slot, half as wide as it is: the box has no room
    turned = 0.5 * np.pi
    inertial = "{mass_kg: 1.0, inertia_kg_m2: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}}"
    sim = hs.Simulation(
        loads(f"""
name: slot
contact_regime: time_stepping
robot:
  bodies: [{{name: box, inertial: {inertial}}}, {{name: ball, inertial: {inertial}}}]
  joints:
    - {{name: box, type: free, parent: world, child: box}}
    - {{name: ball, type: free, parent: world, child: ball}}
shapes:
  - {{name: floor, kind: plane}}
  - {{name: left, kind: plane, origin: {{xyz_m: [{-side}, 0.0, 0.0], rpy_rad: [0.0, {turned}, 0.0]}}}}
  - {{name: right, kind: plane, origin: {{xyz_m: [{side}, 0.0, 0.0], rpy_rad: [0.0, {-turned}, 0.0]}}}}
  - {{name: behind, kind: plane, origin: {{xyz_m: [0.0, 0.43, 0.0], rpy_rad: [{turned}, 0.0, 0.0]}}}}
  - {{name: box, body: box, kind: box, half_extents_m: [0.05, 0.05, 0.05]}}
  - {{name: ball, body: ball, kind: sphere, radius_m: 0.03}}
contacts: [{{between: ["*", "*"], restitution: 0.0}}]
initial:
  free:
    box: {{xyz_m: [0.0, 0.0, 0.05]}}
    ball: {{xyz_m: [0.0, 0.40002, 0.03], velocity_m_per_s: [0.05, 0.0, 0.0]}}
""")
    )
    sim.step(20)
    place = dict(zip(("box", "ball"), sim.state.q.reshape(2, 7)[:, :3], strict=True))
    assert abs(place["box"][0]) < 1e-4
    assert place["ball"][1] == pytest.approx(0.4, abs=1e-8)
