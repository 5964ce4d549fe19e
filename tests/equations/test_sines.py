"""Sines and cosines of many angles at once: near the real ones, odd and even, the same bits in Python."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from numba import njit

from hapticsim.equations.codegen.straightline import straight_line
from hapticsim.equations.scalars.sines import LARGEST, cos, sin, sine_and_cosine

QUARTER = math.pi / 2.0


def angles(seed: int, count: int) -> list[float]:
    """Angles of all sizes, also near multiples of an eighth of a turn, where little or most is left."""
    random = np.random.default_rng(seed)
    near = np.rint(random.uniform(-1000.0, 1000.0, count)) * QUARTER / 2.0
    return [
        *random.uniform(-4.0, 4.0, count),
        *random.uniform(-LARGEST, LARGEST, count),
        *near,
        *(near + 10.0 ** random.uniform(-17.0, -1.0, count)),
        *(10.0 ** random.uniform(-300.0, 0.0, count)),
    ]


@pytest.mark.parametrize("seed", range(3))
def test_sine_and_cosine_are_within_a_last_place_of_the_real_ones(seed):
    with mpmath.workprec(200):
        for x in angles(seed, 400):
            for found, function in zip(sine_and_cosine(x), (mpmath.sin, mpmath.cos), strict=True):
                real = function(mpmath.mpf(x))
                off = abs(mpmath.mpf(found) - real) / mpmath.mpf(math.ulp(float(real)))
                assert off < 0.8, (x, found)


def test_the_sine_is_odd_and_the_cosine_even_to_the_bit():
    for x in angles(3, 400):
        s, c = sine_and_cosine(x)
        assert sine_and_cosine(-x) == (-s, c), x
    assert math.copysign(1.0, sine_and_cosine(-0.0)[0]) == -1.0
    assert sine_and_cosine(0.0) == (0.0, 1.0)


def test_beyond_the_largest_angle_they_are_those_of_the_library():
    for x in (math.nextafter(LARGEST, math.inf), -1e6, 1e9, 1e300):
        assert sine_and_cosine(x) == (math.sin(x), math.cos(x))
    assert all(math.isnan(v) for v in sine_and_cosine(math.nan))


@straight_line(q=(3,), out=(3, 2))
def three(q, out):
    a = q[0]
    b = q[1]
    c = q[2]
    out[0, 0] = sin(a)
    out[0, 1] = cos(a)
    out[1, 0] = sin(b)
    out[1, 1] = cos(b)
    out[2, 0] = sin(c)
    out[2, 1] = cos(c)


@straight_line(q=(1,), out=(1, 2))
def sine_of_a_sine(q, out):
    a = q[0]
    s = sin(a)
    out[0, 0] = sin(s)
    out[0, 1] = cos(s)


@pytest.fixture(scope="module")
def run():
    @njit("void(float64[::1], float64[:, ::1])")
    def call(q, out):
        three(q, out)

    return call


def test_machine_code_has_the_bits_of_python_whatever_stands_in_the_other_lanes(run):
    extreme = [math.nan, math.inf, 1e9, -2e6, 0.0, -0.0, 5e-324, math.nextafter(LARGEST, 0.0)]
    random = np.random.default_rng(4)
    pool = np.array([*angles(5, 300), *extreme * 40])
    for _ in range(2000):
        q, out = random.choice(pool, 3), np.zeros((3, 2))
        run(q, out)
        for x, found in zip(q, out, strict=True):
            expected = (math.nan, math.nan) if math.isinf(x) else sine_and_cosine(float(x))
            assert found.tobytes() == np.array(expected).tobytes() or np.isnan(x) or np.isinf(x), x
            assert np.isnan(found).all() == (np.isnan(x) or np.isinf(x))


def test_an_angle_that_is_a_sine_itself_is_written_when_it_is_known():
    @njit("void(float64[::1], float64[:, ::1])")
    def call(q, out):
        sine_of_a_sine(q, out)

    q, out = np.array([2.5]), np.zeros((1, 2))
    call(q, out)
    assert out.tolist() == [list(sine_and_cosine(sine_and_cosine(2.5)[0]))]
