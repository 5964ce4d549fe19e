"""The tool that times pairs of shapes asks all libraries about the same poses."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

pytest.importorskip("coal")


@pytest.mark.parametrize(
    "kinds",
    [("sphere", "box"), ("box", "plane"), ("box", "box"), ("capsule", "mesh"), ("sphere", "cylinder")],
)
def test_mujoco_is_asked_about_the_same_poses(tool: Any, kinds: tuple[str, str], monkeypatch: Any) -> None:
    """The distances that it finds are those that were drawn: none, within a micrometre."""
    bench = tool("bench_pairs")
    rng = np.random.default_rng(3)
    a, b = bench.random_pair(rng, kinds)
    poses = bench.touching(bench.random_poses(rng, a, b, 30))
    assert len(poses.q) == 10
    found: list[float] = []
    asked = mujoco.mj_geomDistance
    monkeypatch.setattr(mujoco, "mj_geomDistance", lambda *how: found.append(asked(*how)))
    times = bench.time_mujoco(a, b, poses)
    assert times is not None and times["distance"] > 0.0
    assert np.abs(found).max() < 1e-5


def test_ours_and_coals_times_are_told_and_what_mujoco_lacks_is_not(tool: Any) -> None:
    found = tool("bench_pairs").time_pair(("sphere", "cone"), 6, 0)
    for of in ("distance", "manifold"):
        assert found[of]["ours"] > 0.0 and found[of]["coal"] > 0.0
        assert found[of]["mujoco"] is None
