"""Joints in a row with nothing between them that has mass must not move the same way."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import energy
from hapticsim.errors import ConfigError
from hapticsim.model.moving import MovingTree, moving_tree

ARM = """
name: arm
robot:
  bodies:
    - {{name: bare}}
    - name: arm
      inertial: {{mass_kg: 1.0, com_m: [0.1, 0.02, -0.3], inertia_kg_m2: {{xx: 0.01, yy: 0.02, zz: 0.025}}}}
  joints:
    - {{name: a, type: {first}, parent: world, child: bare, axis: {axis_a}, armature_kg_m2: {armature}}}
    - {{name: b, type: {second}, parent: bare, child: arm, axis: {axis_b}, origin: {{xyz_m: {origin}}}}}
"""


def arm(
    axis_a: list[float],
    axis_b: list[float],
    origin: tuple[float, ...] = (0.0, 0.0, 0.0),
    kinds: tuple[str, str] = ("revolute", "revolute"),
    armature: float = 0.0,
) -> str:
    return ARM.format(
        first=kinds[0],
        second=kinds[1],
        axis_a=axis_a,
        axis_b=axis_b,
        origin=list(origin),
        armature=armature,
    )


@pytest.mark.parametrize(
    ("scene"),
    [
        arm([0, 1, 0], [0, 1, 0]),
        arm([0, 1, 0], [0, -1, 0], (0.0, 0.7, 0.0)),
        arm([1, 2, 3], [1, 2, 3]),
    ],
    ids=["same axis", "opposite, further along", "a slanted axis"],
)
def test_two_joints_about_one_axis_are_refused_with_their_names(scene: str) -> None:
    with pytest.raises(ConfigError) as caught:
        hs.Simulation(loads(scene))
    assert str(caught.value) == (
        "arm: joints 'a', 'b' move what has mass in the same way (the mass matrix is singular): remove one, "
        "or give a body between them mass, or one of them an armature."
    )


@pytest.mark.parametrize(
    "scene",
    [
        arm([0, 1, 0], [0, 1, 0], (0.1, 0.0, 0.0)),
        arm([0, 1, 0], [1, 0, 0]),
        arm([0, 1, 0], [0, 1, 0], armature=0.01),
    ],
    ids=["parallel axes", "a universal joint", "an armature"],
)
def test_what_the_masses_determine_is_taken_and_accelerates(scene: str) -> None:
    sim = hs.Simulation(loads(scene))
    sim.step(100)
    assert np.isfinite(sim.state.q).all() and np.abs(sim.state.u).max() > 1e-3


def test_a_joint_that_nothing_resists_is_refused_alone() -> None:
    scene = arm([0, 0, 1], [0, 0, 1], kinds=("revolute", "prismatic"))
    scene = scene.replace("com_m: [0.1, 0.02, -0.3], inertia_kg_m2: {xx: 0.01, yy: 0.02, zz: 0.025}", "")
    with pytest.raises(ConfigError) as caught:
        hs.Simulation(loads(scene))
    assert str(caught.value) == (
        "arm: joint 'a' moves nothing that resists it (the mass matrix is singular): give what it moves an "
        "inertia, or the joint an armature, or make it fixed."
    )


def random_chain(rng: np.random.Generator) -> str:
    """Two to five joints in a row; most bodies between have no mass, many axes and places are equal."""
    count = int(rng.integers(2, 6))
    bodies, joints = "", ""
    for i in range(count):
        last = i == count - 1
        inertia = "{xx: 0.01, yy: 0.02, zz: 0.025}"
        mass = f", inertial: {{mass_kg: 1.0, com_m: [0.1, 0.02, -0.3], inertia_kg_m2: {inertia}}}"
        bodies += f"    - {{name: b{i}{mass if last or rng.random() < 0.2 else ''}}}\n"
        axis, place = np.eye(3)[rng.integers(3)].tolist(), [[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]][rng.integers(2)]
        kind = ("revolute", "revolute", "prismatic")[rng.integers(3)]
        parent = f"b{i - 1}" if i else "world"
        joints += f"    - {{name: j{i}, type: {kind}, parent: {parent}, child: b{i}, axis: {axis}, "
        joints += f"origin: {{xyz_m: {place}}}}}\n"
    return f"name: chain\nrobot:\n  bodies:\n{bodies}  joints:\n{joints}"


def is_regular(tree: MovingTree, rng: np.random.Generator) -> bool:
    """Whether the kinetic energy, by its own recursion, is positive for every motion at some place."""
    for _ in range(4):
        link = Linkage(tree, rng.uniform(-1.5, 1.5, tree.nq).tolist())
        unit = np.eye(tree.nu)
        twice = [
            [energy(link, (a + b).tolist())[0] - energy(link, (a - b).tolist())[0] for a in unit]
            for b in unit
        ]
        if np.linalg.svd(0.5 * np.array(twice), compute_uv=False)[-1] > 1e-9:
            return True
    return False


@pytest.mark.parametrize("seed", range(0, 400, 50))
def test_random_chains_are_refused_where_some_motion_has_no_energy_and_only_there(seed: int) -> None:
    refused = 0
    for one in range(seed, seed + 50):
        rng = np.random.default_rng(one)
        model = loads(random_chain(rng)).model
        try:
            hs.compile_equations(model)
        except ConfigError:
            refused += 1
            assert not is_regular(moving_tree(model), rng), one
        else:
            assert is_regular(moving_tree(model), rng), one
    assert 5 <= refused <= 45
