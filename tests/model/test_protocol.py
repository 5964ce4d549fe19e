"""A tree and a mechanism by Kane's method are siblings: whoever has one asks it, and tests no type."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from hapticsim import HapticsimError, load_mechanism
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.multibody.tree import Model
from hapticsim.model.protocol import MovingJoint, SceneModel, is_model
from tests.mechanisms import FOLDER
from tests.models import planar_two_link

ROOT = Path(__file__).parents[2] / "hapticsim"
ASKING = {
    "equations/making.py", "equations/kane/compiled.py", "equations/kane/source.py",  # make equations
    "model/protocol.py",  # knows what a user may give
}  # fmt: skip


def members(protocol: type) -> list[str]:
    return [name for name in vars(protocol) if not name.startswith("_")]


@pytest.mark.parametrize("make", [planar_two_link, lambda: load_mechanism(FOLDER / "shopping_cart.py")])
def test_each_sibling_answers_all_that_a_scene_asks(make):
    model = make()
    assert is_model(model)
    for name in members(SceneModel):
        getattr(model, name)
    for joint in model.moving_joints:
        for name in members(MovingJoint):
            getattr(joint, name)
    q, u = model.start()
    assert (q.shape, u.shape) == ((model.nq,), (model.nu,))
    assert len(model.coordinate_columns) == model.nq
    assert len(model.speed_columns) == len(model.speed_names) == model.nu
    assert model.random_q(q, np.random.default_rng(0)).shape == q.shape
    assert [link.child for link in model.links] == list(model.body_names)
    assert set(model.rigid_groups()) == {"world", *model.body_names}


def test_neither_sibling_is_the_other():
    assert not issubclass(MechanismModel, Model)
    tree, mechanism = planar_two_link(), load_mechanism(FOLDER / "wrist.py")
    assert tree.as_tree("no remedy is needed.") is tree
    with pytest.raises(HapticsimError) as refused:
        mechanism.as_tree("take another.")
    assert str(refused.value) == (
        "wrist (careful speeds) is a mechanism by Kane's method and no tree of joints: take another."
    )


def test_only_the_factories_of_equations_ask_which_of_the_two_it_is():
    asking = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if re.search(r"isinstance\([^)]*Mechanism", path.read_text())
    }
    assert asking == ASKING
