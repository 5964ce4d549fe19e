"""Bodies of different islands are solved one by one, and move as where all are solved as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assemble import assembly
from hapticsim.assemble.features import features_of
from hapticsim.assemble.tree_table import tree_table
from hapticsim.codes import Fault
from hapticsim.config.load import loads
from hapticsim.kernels.entry import Feature
from hapticsim.model.constraints import Row
from hapticsim.simulate.simulation import Simulation

HALF, TICKS = 0.03, 250


def many_bodies(rng: np.random.Generator, cubes: int, arms: int) -> hs.Scene:
    """Cubes that fall on a floor and on one another, and double pendulums; rods between some of them, gears
    between some of the pendulums."""
    inertial = "inertial: {mass_kg: 0.4, inertia_kg_m2: {xx: 2.0e-4, yy: 3.0e-4, zz: 2.5e-4}}"
    bodies, joints, shapes, places = [], [], ["  - {name: floor, kind: plane}"], {}
    for i in range(cubes):
        x, y, z = 0.05 * rng.uniform(-1, 1) + 0.15 * (i % 3), 0.15 * (i // 3), 0.05 + 0.08 * rng.random()
        places[f"c{i}"] = (x, y, z)
        bodies.append(f"    - {{name: c{i}, {inertial}}}")
        at = f"origin: {{xyz_m: [{x}, {y}, {z}]}}"
        joints.append(f"    - {{name: c{i}, type: free, parent: world, child: c{i}, {at}}}")
        shapes.append(
            f"  - {{name: c{i}, body: c{i}, kind: box, half_extents_m: [{HALF}, {HALF}, {HALF * 0.8}]}}"
        )
    for i in range(arms):
        places[f"l{i}"] = (0.2 * i, -0.4, 0.4)
        for part, parent, x, y, z in (("u", "world", 0.2 * i, -0.4, 0.6), ("l", f"u{i}", 0.0, 0.0, -0.2)):
            origin = f"origin: {{xyz_m: [{x}, {y}, {z}]}}"
            bodies.append(
                f"    - {{name: {part}{i}, inertial: {{mass_kg: 0.3, com_m: [0, 0, -0.1], "
                "inertia_kg_m2: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-4}}}"
            )
            joints.append(
                f"    - {{name: {part}{i}, type: revolute, parent: {parent}, child: {part}{i}, "
                f"axis: [1, 0, 0], {origin}}}"
            )
    constraints = []
    for k in range(int(rng.integers(0, 3))):
        a, b = rng.choice(cubes), rng.choice(list(places))  # a rod square to two arms would tell no direction
        a, b = f"c{a}", str(b) if b != f"c{a}" else "world"
        length = float(np.linalg.norm(np.subtract(places[a], places.get(b, np.zeros(3)))))
        constraints.append(
            f"  - {{name: rod{k}, kind: distance, bodies: [{a}, {b}], distance_m: {length!r}}}"
        )
    for i in range(1, arms):
        if rng.random() < 0.4:
            constraints.append(f"  - {{name: gear{i}, kind: gear, factors: {{u{i - 1}: 1.0, u{i}: 2.0}}}}")
    pairs = [f"  - {{between: [c{i}, floor]}}" for i in range(cubes)]
    pairs += [f"  - {{between: [c{i}, c{j}]}}" for j in range(cubes) for i in range(j) if rng.random() < 0.5]
    lines = ["name: many", "max_rows: 200", "robot:", "  bodies:", *bodies, "  joints:", *joints]
    lines += ["shapes:", *shapes, "contacts:", *pairs]
    return loads("\n".join(lines + (["constraints:", *constraints] if constraints else [])) + "\n")


def as_one_tree(model: object, frames: Sequence[str], rows: Sequence[Row]) -> dict[str, object]:
    """The table of trees of a scene as if anything might be joined with anything."""
    nu, several = model.nu, tree_table(model, frames, rows)
    return {
        "tree_first": np.array([0]),
        "tree_end": np.array([nu]),
        "root_vectors": np.array([0]),
        "root_quaternion": np.array([-1]),
        "largest_tree": nu,
        "tree_of_speed": np.zeros(nu, np.int64),
        "tree_of_coordinate": np.zeros(model.nq, np.int64),
        "frame_first": np.zeros(len(frames), np.int64),
        "frame_end": np.full(len(frames), nu),
        "row_first": np.zeros(len(rows), np.int64),
        "row_end": np.full(len(rows), nu),
        "row_tree_a": np.minimum(several["row_tree_a"], 0),
        "row_tree_b": np.minimum(several["row_tree_b"], 0),
    }


def motion(
    scene: hs.Scene, u0: np.ndarray, monkeypatch: pytest.MonkeyPatch, as_one: bool
) -> tuple[np.ndarray, np.ndarray, Simulation]:
    """Coordinates and speeds after each tick."""
    with monkeypatch.context() as patch:
        if as_one:
            patch.setattr(assembly, "features_of", lambda scene: features_of(scene) & ~Feature.TREES)
            patch.setattr(assembly, "tree_table", as_one_tree)
        sim = Simulation(scene)
    assert (sim.plan.solve_islands == 0) == as_one
    sim.set_state(sim.state.q, u0)
    q, u = [], []
    for _ in range(TICKS):
        sim.step()
        q.append(sim.state.q.copy())
        u.append(sim.state.u.copy())
    assert sim.state.fault == Fault.NONE
    return np.array(q), np.array(u), sim


@pytest.mark.parametrize("seed", range(10))
def test_bodies_move_as_where_all_are_solved_as_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    scene = many_bodies(rng, cubes=int(rng.integers(2, 6)), arms=int(rng.integers(0, 4)))
    u0 = rng.normal(size=scene.model.nu) * 0.3
    q, u, sim = motion(scene, u0, monkeypatch, as_one=False)
    q_one, u_one, one = motion(scene, u0, monkeypatch, as_one=True)
    assert np.abs(q - q_one).max() < 1e-9
    assert np.abs(u - u_one).max() < 1e-7
    assert sim.rank == one.rank
    touching = [[(c.a, c.b) for c in s.state.contacts] for s in (sim, one)]
    assert touching[0] == touching[1] and touching[0]


def trees_of(text: str) -> dict[str, np.ndarray]:
    plan = Simulation(loads(text)).plan
    names = "tree_first tree_end tree_of_speed frame_first frame_end row_tree_a row_tree_b row_first row_end"
    return {name: getattr(plan, name) for name in names.split()}


HINGES = """
name: hinges
robot:
  bodies:
    - {name: base, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}
    - {name: a, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}
    - {name: b, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}
    - {name: c, inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}}
  joints:
    - {name: stand, type: fixed, parent: world, child: base}
    - {name: a, type: revolute, parent: base, child: a, axis: [0, 1, 0]}
    - {name: b, type: revolute, parent: base, child: b, axis: [0, 1, 0]}
    - {name: c, type: free, parent: world, child: c}
"""


def test_trees_that_hang_on_a_body_fixed_to_the_world_are_several() -> None:
    trees = trees_of(HINGES)
    assert trees["tree_first"].tolist() == [0, 1, 2]
    assert trees["tree_end"].tolist() == [1, 2, 8]
    assert trees["tree_of_speed"].tolist() == [0, 1] + [2] * 6


def test_trees_whose_speeds_a_row_couples_are_one() -> None:
    gear = "constraints:\n  - {name: gear, kind: gear, factors: {a: 1.0, b: -2.0}, held: false}\n"
    trees = trees_of(HINGES + gear)
    assert trees["tree_first"].tolist() == [0, 2]
    assert trees["tree_of_speed"].tolist() == [0, 0] + [1] * 6
    assert (trees["row_tree_a"].tolist(), trees["row_tree_b"].tolist()) == ([0], [-1])


def test_a_row_is_about_the_trees_of_its_bodies_and_the_world_is_none() -> None:
    rods = [("a", "c"), ("b", "world"), ("base", "c")]
    lines = [
        f"  - {{name: r{i}, kind: distance, bodies: [{a}, {b}], distance_m: 1.0, held: false}}"
        for i, (a, b) in enumerate(rods)
    ]
    trees = trees_of(HINGES + "\n".join(["constraints:", *lines]) + "\n")
    assert trees["row_tree_a"].tolist() == [0, 1, -1]
    assert trees["row_tree_b"].tolist() == [2, -1, 2]
    assert trees["row_first"].tolist() == [0, 1, 2]
    assert trees["row_end"].tolist() == [8, 2, 8]
    assert trees["frame_first"].tolist() == [0, 0, 1, 2]
    assert trees["frame_end"].tolist() == [0, 1, 2, 8]
