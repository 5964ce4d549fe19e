"""The inertia about the centre of mass says the same as about the origin, and keeps what that rounds away."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest

from hapticsim.equations.algorithms import PARTS
from hapticsim.equations.operations import operations_of
from hapticsim.equations.scalars.spatial import constant_type, sin_cos
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.articulated import Elimination, articulated_body
from hapticsim.equations.tree.central_inertia import CentralInertia
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Body, Joint
from hapticsim.model.multibody.tree import Model
from tests import models
from tests.models import X, Y, at, body, turn


@sin_cos.register
def _(x: mp.mpf):
    return mp.sin(x), mp.cos(x)


@constant_type.register
def _(x: mp.mpf):
    return mp.mpf


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def random_inertia(rng):
    m, c, A = rng.uniform(0.1, 5.0), rng.normal(size=3), rng.normal(size=(3, 3))
    I = A @ A.T
    matrix = np.block([[I - m * skew(c) @ skew(c), m * skew(c)], [-m * skew(c), m * np.eye(3)]])
    return CentralInertia(m, c.tolist(), I.tolist()), matrix


@pytest.fixture(params=range(5))
def rng(request):
    return np.random.default_rng(request.param)


def test_products_and_blocks_are_those_of_the_matrix_about_the_origin(rng):
    inertia, matrix = random_inertia(rng)
    v = rng.normal(size=6)
    np.testing.assert_allclose(inertia * v.tolist(), matrix @ v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(inertia.about_origin().articulated().matrix(), matrix, rtol=0, atol=1e-13)


@pytest.mark.parametrize("armature", [0.0, 0.3])
def test_what_a_free_joint_leaves_is_the_schur_complement(rng, armature):
    inertia, matrix = random_inertia(rng)
    s = rng.normal(size=6)
    U = matrix @ s
    left = matrix - np.outer(U, U) / (s @ U + armature)
    np.testing.assert_allclose(inertia.freed_along(s.tolist(), armature), left, rtol=0, atol=1e-12)


def test_of_a_mass_point_nothing_is_left_along_the_path_it_is_free_on():
    """About y a point of the x-y plane moves along z: what is left has no z and no rounding in its place."""
    rounding = []
    for x, y in np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2)).tolist():
        point = CentralInertia(1.3, [x, y, 0.0], [[0.0] * 3] * 3)
        left = point.freed_along([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 0.0)
        assert left is not None
        assert [left[0][0], left[1][1], left[5][5]] == [0.0, 0.0, 0.0]
        I = point.about_origin().I
        rounding.append(I[0][0] - I[0][1] * I[0][1] / I[1][1])
    assert any(rounding)  # what the subtraction of rounded numbers leaves


@pytest.mark.parametrize("mass", [0.0, float("inf"), float("nan")])
def test_a_body_that_cannot_be_freed_is_left_to_the_recursion(mass):
    nothing = CentralInertia(mass, [0.1, 0.2, 0.3], [[0.0] * 3] * 3)
    assert nothing.freed_along([0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 0.0) is None


def test_bodies_in_one_piece_have_the_central_inertia_of_the_whole():
    """Two halves of a rod, one fixed to the other and turned, are the rod."""
    R, half = turn(np.array([1.0, 2.0, 3.0]), 0.7), (0.0, 0.03, 0.03)
    parts = (
        body("near", 1.0, (0.3, 0.0, 0.0), half),
        Body("far", 1.0, R.T @ [0.9, 0.0, 0.0], R.T @ np.diag(half) @ R),
    )
    joints = (
        Joint("hinge", "revolute", WORLD, "near", axis_J=Y),
        Joint("weld", "fixed", "near", "far", at(rotation=R)),
    )
    (rod,) = moving_tree(Model("rod", parts, joints)).bodies
    assert rod.mass == 2.0
    np.testing.assert_allclose(rod.com, [0.6, 0.0, 0.0], rtol=0, atol=1e-15)
    np.testing.assert_allclose(rod.central_inertia, np.diag([0.0, 0.24, 0.24]), rtol=0, atol=1e-15)


def neck() -> Model:
    """A mass point on three axes: yaw and roll meet, pitch passes 9.5 mm beside; yaw is almost at zero."""
    massless = (Body("pitching", 0.0), Body("rolling", 0.0))
    bodies = (*massless, body("head", 1.33687, (0.0185, -0.1108, 0.0), (0.0, 0.0, 0.0)))
    axes = (np.array([0.0, 0.0, 1.0]), X, Y)
    joints = tuple(
        Joint(
            f"j{k}", "revolute", WORLD if k == 0 else bodies[k - 1].name, b.name, at(0.0095 * (k == 1)), axis
        )
        for k, (b, axis) in enumerate(zip(bodies, axes, strict=True))
    )
    return Model("neck", bodies, joints)


def relative(a, b) -> float:
    return float(np.abs(np.array(a, float) - np.array(b, float)).max() / np.abs(np.array(b, float)).max())


@pytest.mark.parametrize("way", ["abm_exact", "abm_refined"])
def test_a_mass_point_on_three_axes_keeps_its_digits_beside_a_singularity(way):
    """cond(M) = 1e10: from moments of inertia about the joint at most seven digits are left."""
    tree = moving_tree(neck())
    q, u, tau = [0.33, -0.73, -0.00426], [0.6, -0.4, -0.2], [0.3, -0.8, 0.5]
    with mp.workdps(50):
        link = Linkage(tree, [mp.mpf(x) for x in q])
        exact = recursions.forward_dynamics(link, [mp.mpf(x) for x in u], [mp.mpf(x) for x in tau])
        M = mp.matrix(recursions.mass_matrix(link))  # another way to the truth
        h = recursions.inverse_dynamics(link, [mp.mpf(x) for x in u], None)
        other = mp.lu_solve(M, mp.matrix([mp.mpf(t) - x for t, x in zip(tau, h, strict=True)]))
    assert relative(list(other), exact) < 1e-30
    assert relative(PARTS[way].build(tree, (), q, u, tau)["udot"], exact) < 1e-11
    without = articulated_body(Linkage(tree, q), u, tau, Elimination(exact_zeros=False))[0]
    assert relative(without, exact) > 1e-9  # the posture is hard, or the line before would mean nothing


def test_the_freed_inertia_is_a_constant_and_costs_nothing():
    tree = moving_tree(models.planar_two_link())
    assert sum(operations_of("abm_exact", tree).values()) <= sum(operations_of("abm", tree).values())


def test_every_entry_is_rounded_once(rng):
    inertia, _ = random_inertia(rng)
    s = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    (m, (x, y, z)), I = (Fraction(inertia.m), map(Fraction, inertia.c)), inertia.I
    about = Fraction(I[2][2]) + m * (x * x + y * y)
    corner = Fraction(I[0][0]) + m * (y * y + z * z) - (Fraction(I[0][2]) - m * x * z) ** 2 / about
    left = inertia.freed_along(s, 0.0)
    assert left is not None and left[0][0] == float(corner)
