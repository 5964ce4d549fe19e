"""The contact geometry agrees with coal and with plain geometry, and what is planted is found.

The whole comparison is tools/check_shapes.py (10 000 poses of each pair); here a few of its poses run.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest

pytest.importorskip("coal")

import check_shapes
from check_shapes import BOUNDS, CHECKED, POSES, check_pair, named
from plain_shapes import width_of
from shape_candidates import Candidates
from shape_poses import GROUPS, TOUCHING, random_pair, random_poses

from hapticsim.model import candidates
from hapticsim.model.candidates import half_of

FEW = 60


def exceeded(result: check_shapes.Result) -> dict[str, str]:
    """Where each bound that does not hold is exceeded most."""
    return {kind: w.where for kind, w in result.worst.items() if not w.error <= BOUNDS[kind]}


@pytest.mark.parametrize("kinds", CHECKED, ids=named)
def test_gaps_normals_and_rows_agree_with_coal(kinds):
    result = check_pair(kinds, FEW, seed=1)
    assert exceeded(result) == {}
    assert result.poses == FEW and result.motions > FEW // 2
    by_coal = result.worst["coal"].count, result.worst["aligned"].count
    assert by_coal[0] >= FEW // 10 or kinds == ("sphere", "ellipsoid")  # where coal is less accurate
    assert sum(by_coal) > FEW // 4
    assert result.worst["normal"].count > FEW // 4


@pytest.mark.long
@pytest.mark.parametrize("kinds", CHECKED, ids=named)
def test_gaps_normals_and_rows_agree_with_coal_at_many_poses(kinds):
    assert exceeded(check_pair(kinds, POSES, seed=2)) == {}


@pytest.mark.parametrize("kinds", CHECKED, ids=named)
def test_a_third_of_the_poses_is_near_a_third_touches_and_a_third_is_deep(kinds):
    rng = np.random.default_rng(3)
    a, b = random_pair(rng, kinds)
    poses = random_poses(rng, a, b, FEW)
    near, touching, deep = (poses.plain.distance[poses.group == g] for g in range(len(GROUPS)))
    width = min(width_of(a), width_of(b))
    assert len(near) == len(touching) == len(deep) == FEW // 3
    assert near.min() > 0.0 and near.max() < 2.0 * width
    assert abs(touching).max() <= TOUCHING + 1e-15
    assert deep.max() < 0.0 and deep.min() > -0.34 * width


@pytest.mark.parametrize("kinds", [("sphere", "box"), ("box", "box"), ("capsule", "capsule")], ids=named)
def test_a_surface_too_large_by_a_millionth_is_found(kinds, monkeypatch):
    monkeypatch.setattr(
        candidates, "half_of", lambda surface: tuple(x * (1.0 + 1e-6) for x in half_of(surface))
    )
    result = check_pair(kinds, FEW, seed=1)
    assert {"distance", "coal"} <= set(exceeded(result))
    assert 1e-8 < result.worst["distance"].error < 1e-5


def test_a_row_without_its_remainder_is_found(monkeypatch):
    row = Candidates.row
    monkeypatch.setattr(Candidates, "row", lambda self, k, q, u: (row(self, k, q, u)[0], 0.0))
    assert set(exceeded(check_pair(("sphere", "plane"), FEW, seed=1))) == {"acceleration"}


def test_a_normal_of_the_wrong_side_is_found(monkeypatch):
    start = Candidates.__init__

    def turned_round(self: Candidates, *shapes: object) -> None:
        start(self, *shapes)
        self.sign = [-x for x in self.sign]

    monkeypatch.setattr(Candidates, "__init__", turned_round)
    assert set(exceeded(check_pair(("sphere", "mesh"), FEW, seed=1))) == {"normal"}


def test_a_bound_that_is_exceeded_is_told_with_its_pose_and_ends_with_status_1(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["check_shapes.py", "--poses", "12", "--pairs", "sphere-box"])
    assert check_shapes.main() == 0
    monkeypatch.setattr(candidates, "half_of", lambda surface: tuple(x + 1e-6 for x in half_of(surface)))
    assert check_shapes.main() == 1
    said = capsys.readouterr().out
    assert "FAILED: sphere-box, distance" in said and "seed 0, scene" in said and "pose" in said


def test_a_pair_that_there_is_not_is_refused(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["check_shapes.py", "--pairs", "box-sphere"])
    with pytest.raises(SystemExit, match="box-sphere is no pair: name some of sphere-plane, "):
        check_shapes.main()
