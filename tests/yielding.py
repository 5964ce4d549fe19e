"""Scenes with compliant contacts, and the energy that these hold."""

from __future__ import annotations

from typing import Any

import numpy as np

import hapticsim as hs

Law = dict[str, Any]
STIFFNESS, EXPONENT, ALONG, COEFFICIENT = 0, 1, 4, 5  # kernels/compliance/law.py


def ball(
    law: Law,
    height: float = 0.0,
    friction: float = 0.0,
    velocity: tuple[float, float, float] = (0.0, 0.0, -1.0),
    mass: float = 1.0,
    gravity: float = 0.0,
    rate: float = 1000.0,
) -> dict[str, Any]:
    """A ball of 50 mm over a plane."""
    inertia = 0.4 * mass * 0.05**2
    return {
        "name": "Ball",
        "rate_Hz": rate,
        "gravity_m_per_s2": [0.0, 0.0, -gravity],
        "robot": {"bodies": [body("ball", mass, [inertia] * 3)], "joints": [free("ball")]},
        "shapes": [
            {"name": "sphere", "kind": "sphere", "radius_m": 0.05, "body": "ball"},
            {"name": "floor", "kind": "plane"},
        ],
        "contacts": [{"between": ["sphere", "floor"], "compliance": law, "friction": friction}],
        "initial": {
            "free": {"of_ball": {"xyz_m": [0.0, 0.0, 0.05 + height], "velocity_m_per_s": list(velocity)}}
        },
    }


def box_on_slope(law: Law, friction: float, slope: float) -> dict[str, Any]:
    """A cube of 1 kg and 100 mm, 1 mm over a plane that is turned by ``slope`` [rad]."""
    above = 0.051 * np.array([-np.sin(slope), 0.0, np.cos(slope)])
    return {
        "name": "Slope",
        "robot": {"bodies": [body("cube", 1.0, [1.0 / 600.0] * 3)], "joints": [free("cube")]},
        "shapes": [
            {"name": "box", "kind": "box", "half_extents_m": [0.05] * 3, "body": "cube"},
            {"name": "floor", "kind": "plane", "origin": {"rpy_rad": [0.0, -slope, 0.0]}},
        ],
        "contacts": [{"between": ["box", "floor"], "compliance": law, "friction": friction}],
        "initial": {"free": {"of_cube": {"xyz_m": above.tolist(), "rpy_rad": [0.0, -slope, 0.0]}}},
    }


def body(name: str, mass: float, moments: list[float]) -> dict[str, Any]:
    inertia = dict(zip(("xx", "yy", "zz"), moments, strict=True))
    return {"name": name, "inertial": {"mass_kg": mass, "inertia_kg_m2": inertia}}


def free(child: str) -> dict[str, Any]:
    return {"name": f"of_{child}", "type": "free", "parent": "world", "child": child}


def any_law(rng: np.random.Generator) -> Law:
    """One of the three laws; damped, or now and then not at all."""
    damped = float(rng.random() < 0.7)
    along = float(rng.choice([0.5, 1.0, 2.0]))
    match int(rng.integers(3)):
        case 0:
            law: Law = {"kind": "kelvin_voigt", "stiffness_N_per_m": 10.0 ** rng.uniform(3, 7)}
            law["damping_Ns_per_m"] = damped * 10.0 ** rng.uniform(0, 3)
        case 1:
            law = {"kind": "hunt_crossley", "stiffness_N_per_m1_5": 10.0 ** rng.uniform(4, 8.5)}
            law["loss_s_per_m"] = damped * 10.0 ** rng.uniform(-2, 0.5)
        case _:
            law = {"kind": "azad_featherstone", "stiffness_N_per_m1_5": 10.0 ** rng.uniform(4, 8.5)}
            law["damping_Ns_per_m1_5"] = damped * 10.0 ** rng.uniform(1, 4.5)
    return {"along_over_normal": along, **law}


def any_scene(seed: int) -> dict[str, Any]:
    """One to four bodies that are thrown at a slope, at a box on it now and then, and at one another."""
    rng = np.random.default_rng(seed)
    shapes: list[dict[str, Any]] = [
        {"name": "floor", "kind": "plane", "origin": {"rpy_rad": rng.uniform(-0.5, 0.5, 3).tolist()}}
    ]
    if rng.random() < 0.3:
        turned = {"xyz_m": [0.05, 0.0, 0.05], "rpy_rad": rng.uniform(-3.0, 3.0, 3).tolist()}
        shapes.append({"name": "wall", "kind": "box", "half_extents_m": [0.1] * 3, "origin": turned})
    bodies, starts, contacts, kinds = [], {}, [], []
    for i in range(int(rng.integers(1, 5))):
        mass, size = float(10.0 ** rng.uniform(-1, 1)), float(rng.uniform(0.02, 0.08))
        moments = sorted((mass * size**2 * rng.uniform(0.3, 0.6, 3)).tolist())
        bodies.append(body(f"b{i}", mass, [*moments[:2], min(moments[2], moments[0] + moments[1])]))
        kinds.append(str(rng.choice(["sphere", "box", "capsule", "ellipsoid"])))
        extent = {
            "sphere": {"radius_m": size},
            "box": {"half_extents_m": (size * rng.uniform(0.5, 1.0, 3)).tolist()},
            "capsule": {"radius_m": 0.5 * size, "length_m": size},
            "ellipsoid": {"radii_m": (size * rng.uniform(0.6, 1.0, 3)).tolist()},
        }[kinds[i]]
        shapes.append({"name": f"s{i}", "kind": kinds[i], "body": f"b{i}", **extent})
        turn = rng.normal(size=4)
        starts[f"of_b{i}"] = {
            "xyz_m": [*rng.uniform(-0.1, 0.1, 2).tolist(), 0.32 + 0.2 * i],
            "quaternion_wxyz": (turn / np.linalg.norm(turn)).tolist(),
            "velocity_m_per_s": rng.uniform([-1.5, -1.5, -2.5], [1.5, 1.5, 0.0]).tolist(),
            "angular_velocity_rad_per_s": rng.uniform(-10.0, 10.0, 3).tolist(),
        }
        others = ["floor"] + ["wall"] * int(len(shapes) > 2 and shapes[1]["name"] == "wall")
        others = others if kinds[i] == "sphere" else others[:1]
        others += [f"s{j}" for j in range(i) if "sphere" in (kinds[i], kinds[j])]
        friction = float(rng.choice([0.0, 0.2, 0.5, 1.0, 2.0]))
        contacts += [
            {"between": [f"s{i}", other], "compliance": any_law(rng), "friction": friction}
            for other in others
        ]
    joints = [free(b["name"]) for b in bodies]
    if rng.random() < 0.3:  # a stamp that falls on them, with a damper that may make ticks implicit
        bodies.append(body("stamp", 10.0 ** rng.uniform(-1, 1), [1e-3] * 3))
        shapes.append({"name": "foot", "kind": "sphere", "radius_m": 0.04, "body": "stamp"})
        slide = {"name": "slide", "type": "prismatic", "parent": "world", "child": "stamp", "axis": [0, 0, 1]}
        joints.append(
            {**slide, "origin": {"xyz_m": [0.0, 0.0, 1.4]}, "damping_Ns_per_m": 10.0 ** rng.uniform(-1, 3.5)}
        )
        on = ["floor", *(f"s{i}" for i in range(len(kinds)))]
        contacts += [
            {"between": ["foot", other], "compliance": any_law(rng), "friction": 0.5} for other in on
        ]
    return {
        "name": f"Thrown {seed}",
        "rate_Hz": int(rng.choice([500, 1000, 1000, 2000])),
        "robot": {"bodies": bodies, "joints": joints},
        "shapes": shapes,
        "contacts": contacts,
        "initial": {"free": starts},
    }


def energy(sim: hs.Simulation) -> float:
    """[J] of the bodies, and of what yields: K d^(n+1) / (n+1), and r K y^2 / (2 d^(n-1)) along the surface.

    Of what its clutch does not bear nothing is left: y counts as far as mu f says.
    """
    state, gaps, of = sim._state, sim.gaps, sim.assembly.plan.compliance
    kinetic_and_potential = np.empty(2)
    sim.assembly.equations.kernels.energy(state.q, state.u, kinetic_and_potential)
    total = float(kinetic_and_potential.sum())
    for k in np.flatnonzero(sim.assembly.plan.compliant):
        K, n, r, mu = of[k, [STIFFNESS, EXPONENT, ALONG, COEFFICIENT]]
        depth, y = max(-gaps[k], 0.0), float(np.linalg.norm(state.deformation[k]))
        total += K * depth ** (n + 1.0) / (n + 1.0)
        if n > 1.0:
            y = min(y, mu * depth**n / r)
        if y > 0.0:
            total += 0.5 * r * K * y * y / depth ** (n - 1.0)
    return total
