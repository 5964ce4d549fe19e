"""The block forms of spatial algebra say the same as 6 x 6 matrices."""

from __future__ import annotations

import numpy as np
import pytest

from hapticsim.equations.scalars.spatial import (
    ArticulatedInertia,
    RigidInertia,
    Transform,
    congruence,
    cross_force,
    cross_motion,
    inertia_from_matrix,
)
from tests.models import turn


def skew(a):
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def random_transform(rng):
    R = turn(rng.normal(size=3), rng.uniform(-3.0, 3.0))
    r = rng.normal(size=3)
    X = np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]]) @ np.block(
        [[np.eye(3), np.zeros((3, 3))], [-skew(r), np.eye(3)]]
    )
    return Transform(R.tolist(), r.tolist()), X


def random_rigid(rng):
    m, c = rng.uniform(0.1, 5.0), rng.normal(size=3)
    A = rng.normal(size=(3, 3))
    I_c = A @ A.T
    matrix = np.block([[I_c - m * skew(c) @ skew(c), m * skew(c)], [-m * skew(c), m * np.eye(3)]])
    return RigidInertia(m, (m * c).tolist(), matrix[:3, :3].tolist()), matrix


@pytest.fixture(params=range(5))
def rng(request):
    return np.random.default_rng(request.param)


def test_a_motion_vector_transforms_like_the_matrix(rng):
    X, matrix = random_transform(rng)
    v = rng.normal(size=6)
    np.testing.assert_allclose(X.motion(v.tolist()), matrix @ v, rtol=0, atol=1e-14)


def test_a_force_vector_goes_back_by_the_transpose(rng):
    X, matrix = random_transform(rng)
    f = rng.normal(size=6)
    np.testing.assert_allclose(X.force_back(f.tolist()), matrix.T @ f, rtol=0, atol=1e-14)


def test_cross_products_are_the_matrices_of_the_book(rng):
    v, m = rng.normal(size=6), rng.normal(size=6)
    crm = np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])
    np.testing.assert_allclose(cross_motion(v.tolist(), m.tolist()), crm @ m, rtol=0, atol=1e-14)
    np.testing.assert_allclose(cross_force(v.tolist(), m.tolist()), -crm.T @ m, rtol=0, atol=1e-14)


def test_a_rigid_inertia_gives_the_momentum_of_its_matrix(rng):
    I, matrix = random_rigid(rng)
    v = rng.normal(size=6)
    np.testing.assert_allclose(I * v.tolist(), matrix @ v, rtol=0, atol=1e-13)
    np.testing.assert_array_equal(I.articulated().matrix(), matrix)


def test_a_rigid_inertia_goes_back_by_congruence(rng):
    X, matrix = random_transform(rng)
    I, I_matrix = random_rigid(rng)
    back = X.rigid_back(I).articulated().matrix()
    np.testing.assert_allclose(back, matrix.T @ I_matrix @ matrix, rtol=1e-13, atol=1e-13)


def test_an_articulated_inertia_goes_back_by_congruence_and_stays_symmetric_to_the_bit(rng):
    X, matrix = random_transform(rng)
    A = rng.normal(size=(6, 6))
    A = A @ A.T
    back = np.array(X.articulated_back(inertia_from_matrix(A.tolist())).matrix())
    np.testing.assert_allclose(back, matrix.T @ A @ matrix, rtol=1e-13, atol=1e-12)
    np.testing.assert_array_equal(back, back.T)


def test_inertias_add_like_their_matrices(rng):
    (I, A), (J, B) = random_rigid(rng), random_rigid(rng)
    np.testing.assert_allclose((I + J).articulated().matrix(), A + B, rtol=1e-14)
    total = I.articulated() + J.articulated()
    assert isinstance(total, ArticulatedInertia)
    np.testing.assert_allclose(total.matrix(), A + B, rtol=1e-14)


def test_congruence_of_a_symmetric_matrix_is_symmetric_to_the_bit(rng):
    E = turn(rng.normal(size=3), 1.0)
    A = rng.normal(size=(3, 3))
    A = A + A.T
    B = np.array(congruence(E.tolist(), A.tolist()))
    np.testing.assert_allclose(B, E.T @ A @ E, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(B, B.T)
