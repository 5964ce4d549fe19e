"""A curve through points: the spline, its normals, the search for the nearest place, and what is refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import hapticsim as hs
from hapticsim.errors import ConfigError
from hapticsim.kernels.rows.curve import nearest_on_curve
from hapticsim.model.curves.curve import APART_FROM_CHORD, Curve, smooth_curve
from tests.curves import SPRING, WAVY, Twin, bead, curve
from tests.kernel_access import FLOAT, INT, PLAN, compiled

UNEVEN = np.array([[0, 0, 0], [0.05, 0.01, 0], [0.3, 0.2, -0.1], [0.35, 0.5, 0.1], [0.1, 0.4, 0.3]], float)
CASES = {"wavy": (WAVY, True), "spring": (SPRING, False), "uneven": (UNEVEN, False), "ring": (UNEVEN, True)}


def cells(made: Curve) -> np.ndarray:
    """The cells between the ends."""
    return made.cell if made.closed else made.cell[1:-1]


def polynomial(cell: np.ndarray, z: np.ndarray, first: int = 0, count: int = 6) -> np.ndarray:
    """(n, 3) the place of a cell, or with other entries its normal, at (n,) parameters."""
    return z[:, None] ** np.arange(count) @ cell[first : first + 3 * count].reshape(count, 3)


@pytest.mark.parametrize("case", CASES)
def test_the_cells_are_the_quintic_spline_and_nearly_straight(case):
    points, closed = CASES[case]
    made, twin, sigma = smooth_curve(points, closed), Twin(points, closed), 0.0
    for cell, chord in zip(cells(made), made.chord if closed else made.chord[1:-1], strict=True):
        z = np.linspace(0.0, cell[30], 9)
        at = polynomial(cell, z)
        np.testing.assert_allclose(at, twin.c(sigma + z), rtol=0, atol=1e-13)
        along = np.clip((at - chord[:3]) @ chord[3:6] * chord[6], chord[7], chord[8])
        off = np.linalg.norm(at - chord[:3] - along[:, None] * chord[3:6], axis=1)
        assert off.max() < 1.1 * APART_FROM_CHORD
        sigma += cell[30]
    assert sigma == pytest.approx(twin.length, abs=1e-13)
    for point in points:
        assert np.linalg.norm(made.outline - point, axis=1).min() < 0.02
    np.testing.assert_array_equal(made.outline[0], points[0])
    last, error = (points[0], 0.0) if closed else (points[-1], 1e-14)
    np.testing.assert_allclose(made.outline[-1], last, rtol=0, atol=error)


@pytest.mark.parametrize("case", CASES)
def test_the_normals_are_square_to_the_curve_and_turn_as_little_as_they_can(case):
    points, closed = CASES[case]
    made, twin, sigma = smooth_curve(points, closed), Twin(points, closed), 0.0
    carried, turned = made.cell[0, 18:21], []
    for cell in cells(made):
        t = twin.tangent(sigma)
        m = cell[18:21]
        assert abs(m @ t) < 1e-12 and abs(m @ m - 1.0) < 1e-12
        turned.append(np.arctan2(np.cross(carried, m) @ t, carried @ m))
        fine = np.linspace(sigma, sigma + cell[30], 17)  # parallel transport in many small steps
        carried = m
        for before, after in itertools.pairwise(fine):
            axis = np.cross(twin.tangent(before), twin.tangent(after))
            carried = Rotation.from_rotvec(axis).apply(carried)
        sigma += cell[30]
    twist = np.array(turned[1:]) / cells(made)[:-1, 30]  # [rad/m]
    if closed:
        assert np.ptp(twist) < 0.02 * max(1.0, np.abs(twist).max())  # what a round misses is spread evenly
        np.testing.assert_allclose(carried, made.cell[0, 18:21], rtol=0, atol=0.02)
    else:
        assert np.abs(twist).max() < 0.01


def test_the_first_normal_of_a_flat_curve_is_that_of_its_plane():
    tilt = Rotation.from_rotvec([0.4, -0.2, 0.3])
    made = smooth_curve(tilt.apply(WAVY * [1.0, 1.0, 0.0]), True)
    plane = tilt.apply([0.0, 0.0, 1.0])
    for cell in made.cell:
        normal = polynomial(cell, np.linspace(0.0, cell[30], 5), 18, 4)
        np.testing.assert_allclose(normal @ plane, 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("case", CASES)
def test_the_nearest_place_is_that_of_brute_force(case):
    points, closed = CASES[case]
    twin, made = Twin(points, closed), smooth_curve(points, closed)
    plan = hs.Simulation(bead([curve(points, closed)], points[0], np.zeros(3))).plan
    nearest = compiled(nearest_on_curve, PLAN, INT, FLOAT, FLOAT, FLOAT)
    rng = np.random.default_rng(3)
    begin = np.concatenate([[0.0] if closed else [-1.0, 0.0], np.cumsum(cells(made)[:, 30])])
    for _ in range(400):
        # Inside, so that beyond an open end no tangent is nearer; off by at most a part of the least radius.
        sigma = rng.uniform(0.0, twin.length) if closed else rng.uniform(0.1, 0.9) * twin.length
        e = twin.tangent(sigma)
        d = rng.normal(size=3)
        d -= (d @ e) * e
        x = twin.c(sigma) + 10.0 ** rng.uniform(-6, -2.3) * d / np.linalg.norm(d)
        j, z = nearest(plan, 0, *x)
        assert 0.0 <= z <= made.cell[j, 30]
        at = begin[j] + z
        apart = abs(at - twin.nearest(x))
        assert min(apart, twin.length - apart) < 1e-11


def test_beyond_an_open_end_the_nearest_place_is_on_the_tangent():
    made = smooth_curve(SPRING)
    plan = hs.Simulation(bead([curve(SPRING, False)], SPRING[0], np.zeros(3))).plan
    nearest = compiled(nearest_on_curve, PLAN, INT, FLOAT, FLOAT, FLOAT)
    twin = Twin(SPRING, False)
    for end, cell, way in ((0.0, 0, -1.0), (twin.length, len(made.cell) - 1, 1.0)):
        t = twin.tangent(end)
        side = np.cross(t, [0.0, 0.0, 1.0])
        for far in (1e-9, 1e-5, 0.02, 3.0):
            j, z = nearest(plan, 0, *(twin.c(end) + way * far * t + 1e-3 * side))
            assert j == cell
            place = polynomial(made.cell[j], np.array([z]))[0]
            np.testing.assert_allclose(place, twin.c(end) + way * far * t, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("points", "closed", "sentence"),
    [
        ("[]", "false", " has the length 0: a curve takes 2 to 256 points."),
        ("[[0, 0, 0]]", "false", " has the length 1: a curve takes 2 to 256 points."),
        ("[[0, 0, 0], [1, 0, 0]]", "true", " has the length 2: a closed curve takes 3 to 256 points."),
        (
            "[[0, 0, 0], [1, 0, 0], [1, 0, 0]]",
            "false",
            "[2] = [1.0, 0.0, 0.0] is the point before it: leave one of the two out.",
        ),
        (
            "[[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0]]",
            "true",
            "[3] = [0.0, 0.0, 0.0] is the first point again: leave it out.",
        ),
        ("[[0, 0, 0], [1, .nan, 0]]", "false", "[1][1] = nan is not usable: it must be a finite number."),
        (
            "[[0, 0, 0], [1.0e+9, 0, 0]]",
            "false",
            "[1] = [1000000000.0, 0.0, 0.0] is not within 10 km: write metres.",
        ),
        (
            "[[0, 0, 0], [1, 0]]",
            "false",
            "[1] = [1, 0] is not usable: it must be a list of 3 finite numbers.",
        ),
        ("7", "false", " = 7 is not usable: it must be a list of lists of 3 finite numbers."),
        (
            "[[0, 0, 0], [1, 0, 0], [0, 0, 0]]",
            "false",
            "[0] begins a piece that turns too sharply: put points closer there, or make it rounder.",
        ),
        (
            "[[0, 0, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]]",
            "false",
            " makes a curve that meets itself near [0.317, 0.498, 0]: keep its parts 1 mm apart, or use two "
            "guides.",
        ),
    ],
)
def test_points_that_make_no_curve_are_refused_with_this_sentence(points, closed, sentence):
    line = f"name: w, kind: curve, bodies: [bead, world], points_b_m: {points}, closed: {closed}"
    with pytest.raises(ConfigError) as caught:
        bead([line], np.zeros(3), np.zeros(3))
    assert str(caught.value) == f"<text>: constraints[0].points_b_m{sentence}"


def test_a_curve_that_takes_too_long_to_search_is_refused():
    turn = np.linspace(0.0, 60.0 * np.pi, 256)
    helix = np.column_stack([0.1 * np.cos(turn), 0.1 * np.sin(turn), 0.01 * turn])
    with pytest.raises(ConfigError, match=r"makes a curve of \d+ nearly straight pieces, of which 1024"):
        bead([curve(helix, False)], helix[0], np.zeros(3))
