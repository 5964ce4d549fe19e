"""A scene or a robot spoilt at random gives what it says, or one sentence."""

from __future__ import annotations

import math
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from tests.good_files import GOOD, URDF


def places(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into nested dicts and lists."""
    found = [here] if here else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in items:
        found.extend(places(below, (*here, key)))
    return found


TREE = yaml.safe_load(GOOD)
PLACES = places(TREE)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["world", "cart", "pole", "puck", "rail", "pivot", "slide", "tip", "floor", "all", "free", "fixed"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
)


def mutated(place: tuple[Any, ...], action: str, value: Any) -> dict[str, Any]:
    tree = yaml.safe_load(GOOD)
    here = tree
    for part in place[:-1]:
        here = here[part]
    if action == "replace":
        here[place[-1]] = value
    elif action == "remove":
        del here[place[-1]]
    elif isinstance(here, list):
        here.append(value)
    else:
        here[str(value)[:20]] = value
    return tree


def check_scene_or_sentence(text: str) -> None:
    try:
        scene = loads(text, "scene.yaml")
    except ConfigError as error:
        sentence = str(error)
        assert "\n" not in sentence
        assert sentence.endswith(".")
        assert "pydantic" not in sentence and "Error" not in sentence
    else:
        assert isinstance(scene, Scene)
        assert all(math.isfinite(x) for x in (*scene.q0, *scene.u0, scene.rate_Hz))


@pytest.mark.long
@settings(derandomize=True, max_examples=400, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(PLACES), st.sampled_from(["replace", "remove", "add"]), VALUES),
        min_size=1,
        max_size=1,
    )
)
def test_a_mutated_scene_gives_a_scene_or_a_sentence(mutations):
    ((place, action, value),) = mutations
    check_scene_or_sentence(yaml.safe_dump(mutated(place, action, value), allow_unicode=True))


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.integers(0, len(GOOD) - 1), st.integers(0, 40), st.text(max_size=5))
def test_a_scene_with_a_piece_overwritten_gives_a_scene_or_a_sentence(start, length, patch):
    check_scene_or_sentence(GOOD[:start] + patch + GOOD[start + length :])


@settings(derandomize=True, max_examples=200, deadline=None)
@given(st.integers(0, len(URDF) - 1), st.integers(0, 40), st.text(max_size=5))
def test_a_urdf_with_a_piece_overwritten_gives_a_model_or_a_sentence(tmp_path_factory, start, length, patch):
    path = tmp_path_factory.getbasetemp() / "spoilt.urdf"
    path.write_bytes((URDF[:start] + patch + URDF[start + length :]).encode("utf-8", "replace"))
    try:
        hs.load_urdf(path)
    except ConfigError as error:
        assert "\n" not in str(error)
        assert str(error).endswith(".")
