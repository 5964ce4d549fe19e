"""Functions of a forest, written once for each kind of tree, have the bits of the recursions over all."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numba.core import config

from hapticsim.equations.catalogue import CATALOGUE, shapes_of
from hapticsim.equations.compiled import compile_equations, generate
from hapticsim.equations.forest import OF_TICKS, WHOLE, parts_of
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Mimic, Placement
from hapticsim.model.multibody.rotation import rotation_of
from hapticsim.model.multibody.tree import Model
from tests.models import some_state, wam, with_zeros_between_trees

KINDS = ("fixed", "revolute", "prismatic", "planar", "free", "ball", "helical", "universal")


def random_forest(rng: np.random.Generator) -> Model:
    """Trees side by side, some bodies fixed to the world, some joints that follow others."""
    bodies: list[Body] = []
    joints: list[Joint] = []

    def add(kind: str, parent: str, mimic: Mimic | None = None) -> str:
        name, root = f"b{len(bodies)}", rng.normal(size=(3, 3))
        bodies.append(Body(name, rng.uniform(0.1, 2.0), rng.normal(size=3) * 0.1, root @ root.T * 1e-3))
        turn = rng.normal(size=4)
        rotation = np.eye(3) if rng.random() < 0.5 else rotation_of(turn / np.linalg.norm(turn))
        axis = np.eye(3)[int(rng.integers(3))]
        X = Placement(rotation, rng.normal(size=3) * (rng.random(3) < 0.7))
        joints.append(Joint(f"j{len(joints)}", kind, parent, name, X, axis_J=axis, pitch=0.1, mimic=mimic))
        return name

    for _ in range(int(rng.integers(2, 6))):
        last = add(str(rng.choice(KINDS)), WORLD)
        for _ in range(int(rng.integers(0, 3))):
            leaders = [j.name for j in joints if j.nu == 1 and j.kind == "revolute"]
            own = leaders[-1:] if leaders and leaders[-1] == joints[-1].name else []
            mimic = Mimic(own[0], -0.5, 0.2) if own and rng.random() < 0.3 else None
            last = add("revolute" if mimic else str(rng.choice(KINDS)), last, mimic)
    return Model("forest", tuple(bodies), tuple(joints))


def cubes(count: int) -> Model:
    names = [f"c{i}" for i in range(count)]
    bodies = [Body(n, 0.1 + 0.0123 * i, np.zeros(3), np.eye(3) * 1e-4) for i, n in enumerate(names)]
    joints = [
        Joint(f"j{i}", "free", WORLD, n, Placement(translation=np.array([0.1 * i + 0.13, 0.2, 0.3])))
        for i, n in enumerate(names)
    ]
    return Model("cubes", tuple(bodies), tuple(joints))


def arrays_of(name: str, model: Model, frames: tuple[str, ...], seed: int):
    """Arrays as a caller owns them, and what the recursions over the whole forest write."""
    tree, entry = moving_tree(model), CATALOGUE[name]
    q, u, tau = some_state(model, seed)
    for k in model.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    inputs = {"q": q, "u": u, "tau": tau, "udot": tau, "delta": u}
    shapes = shapes_of(name, tree, frames)
    arrays = {a: inputs[a].copy() if a in entry.inputs else np.full(s, np.nan) for a, s in shapes.items()}
    if name in OF_TICKS:
        arrays |= {a: with_zeros_between_trees(model, frames, a) for a in ("M", "V") if a in arrays}
    expected = entry.build(tree, frames, *(inputs[a].tolist() for a in entry.inputs))
    return arrays, {a: np.array(expected[a]).reshape(shapes[a]) for a in entry.outputs}


IN_PARTS = [name for name in CATALOGUE if name not in WHOLE]


@pytest.mark.parametrize("name", IN_PARTS)
def test_the_source_has_the_bits_of_the_recursions(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "DISABLE_JIT", True)
    rng, split = np.random.default_rng(3), 0
    for seed in range(25):
        model = random_forest(rng)
        frames = tuple(b for b in model.body_names if rng.random() < 0.6)
        if not model.nu:
            continue
        try:
            arrays, expected = arrays_of(name, model, frames, seed)
        except ZeroDivisionError:  # a follower whose accelerations the masses do not determine
            continue
        if not all(np.isfinite(values).all() for values in expected.values()):
            continue
        namespace: dict = {}
        exec(compile(generate(name, moving_tree(model), frames), "<generated>", "exec"), namespace)
        namespace[name](*arrays.values())
        # with a follower the whole forest would be solved by its mass matrix, a tree without one is not
        digits = 1e-9 if model.has_followers and name == "forward_dynamics" else 0.0
        for output, values in expected.items():
            scale = np.abs(values).max(initial=1.0)
            np.testing.assert_allclose(arrays[output], values, rtol=0.0, atol=digits * scale)
        split += bool(parts_of(moving_tree(model), frames))
    assert split > 15


@pytest.mark.parametrize("name", ("kane", "forward_dynamics"))
def test_compiled_it_has_the_bits_too(name: str) -> None:
    model = cubes(5)
    frames = model.body_names[1:4]
    arrays, expected = arrays_of(name, model, frames, 1)
    getattr(compile_equations(model, frames).kernels, name)(*arrays.values())
    for output, values in expected.items():
        np.testing.assert_array_equal(arrays[output], values)


def test_equal_trees_are_written_once_whatever_their_numbers_are() -> None:
    lines = {n: generate("kane", moving_tree(cubes(n)), cubes(n).body_names) for n in (2, 20)}
    assert all(source.count("\ndef kind_") == 1 for source in lines.values())
    body = {n: re.sub(r"places?.*", "", source).count("\n    t") for n, source in lines.items()}
    assert body[2] == body[20]


def test_a_single_tree_is_written_as_a_whole() -> None:
    assert parts_of(moving_tree(wam()), ()) == []
    assert "kind_0" not in generate("kane", moving_tree(wam()), ())


def test_frames_that_are_mixed_are_written_as_a_whole_and_right() -> None:
    model = cubes(3)
    tree = moving_tree(model)
    assert len(parts_of(tree, ("c0", "c2"))) == 3
    assert parts_of(tree, ("c2", "c0")) == []
    assert parts_of(tree, ("c0", "c1", "c0")) == []


def test_a_joint_that_follows_one_of_another_tree_keeps_both_in_one() -> None:
    model = cubes(2)
    hinge = Joint("hinge", "revolute", WORLD, "c0")
    other = Joint("other", "revolute", WORLD, "c1", mimic=Mimic("hinge", 2.0, 0.0))
    assert parts_of(moving_tree(Model("pair", model.bodies, (hinge, other))), ()) == []
