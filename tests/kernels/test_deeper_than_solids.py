"""Whether features are farther inside one another than their solids, beside plain geometry of the solids."""

from __future__ import annotations

import numpy as np
import pytest
from plain_hulls import nearest
from shape_candidates import Candidates
from shape_poses import random_pair, random_poses

from hapticsim.codes import ON_EDGES, ON_HULLS
from hapticsim.kernels.geometry.corner import LEVEL
from hapticsim.kernels.time_stepping.near_contacts import JUMPED, is_deeper_than_solids
from hapticsim.model.candidates import hull_of
from tests.kernel_access import FLOAT, INT, PLAN, STATE, WORKSPACE, compiled

is_deeper = compiled(is_deeper_than_solids, PLAN, STATE, WORKSPACE, INT, FLOAT)
SURE = (
    5e-7  # [m] by which the depth of two solids and that of features differ, at least: nearly aligned, it is
)
# off by 1.3e-7


def place_of_features(of: Candidates) -> int:
    """The first candidate that is a place for features of both."""
    kinds = of.plan.surface_kind[: of.plan.contacts]
    return int(np.flatnonzero((kinds == ON_EDGES) | (kinds == ON_HULLS))[0])


@pytest.mark.parametrize("shapes", [("mesh", "box"), ("mesh", "mesh")], ids="-".join)
def test_features_are_deeper_than_their_solids_exactly_where_plain_geometry_says_so(shapes):
    rng, answers = np.random.default_rng(11), []
    for _ in range(8):
        a, b = random_pair(rng, shapes)
        of, poses = Candidates(a, b), random_poses(rng, a, b, 90)
        k = place_of_features(of)
        for i in range(90):
            of.frames(poses.q[i], np.zeros(12))
            before = of.state.face.copy()
            depth = max(-nearest(hull_of(a), hull_of(b), poses.R[i], poses.c[i]).distance, 0.0)
            for phi in (
                *(-(10.0 ** rng.uniform(-5.0, -1.5, 4))),
                -depth - LEVEL - SURE,
                -depth - LEVEL + SURE,
            ):
                if phi >= -JUMPED or abs(-phi - LEVEL - depth) < 0.9 * SURE:
                    continue
                found = is_deeper(of.plan, of.state, of.ws, k, phi)
                assert found == (-phi - LEVEL > depth), (phi, depth)
                answers.append(found)
            assert np.array_equal(of.state.face, before), "to ask puts nothing"
    assert 500 < sum(answers) < len(answers) - 500


@pytest.mark.parametrize("shapes", [("box", "box"), ("capsule", "box"), ("capsule", "mesh")], ids="-".join)
def test_of_boxes_and_capsules_no_features_are_said_to_be_deeper_that_are_not(shapes):
    rng, said, asked = np.random.default_rng(12), 0, 0
    for _ in range(8):
        a, b = random_pair(rng, shapes)
        of, poses = Candidates(a, b), random_poses(rng, a, b, 90)
        k = place_of_features(of)
        for i in range(90):
            of.frames(poses.q[i], np.zeros(12))
            depth = max(-float(poses.plain.distance[i]), 0.0)
            for phi in (-depth - 2.0 * LEVEL, -depth, -0.5 * depth, -depth - 0.01):
                if phi < -JUMPED:
                    found, deeper = is_deeper(of.plan, of.state, of.ws, k, phi), -phi > depth + LEVEL
                    assert deeper or not found, (phi, depth)
                    said, asked = said + found, asked + deeper
    assert said > 0.5 * asked


def test_what_is_hardly_inside_and_what_is_no_place_is_never_asked():
    rng = np.random.default_rng(13)
    of = Candidates(*random_pair(rng, ("box", "box")))
    k = place_of_features(of)
    assert not is_deeper(of.plan, of.state, of.ws, k, -JUMPED)
    assert not is_deeper(of.plan, of.state, of.ws, 0, -0.1), "a corner"
