"""Mechanisms by Kane's method against SymPy's own, against differences, and against themselves on floats."""

from __future__ import annotations

import functools

import mpmath as mp
import numpy as np
import pytest
import sympy as sp

from hapticsim import HapticsimError, compile_mechanism
from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.equations.kane.compiled import ARGUMENTS, mechanism_shapes
from hapticsim.equations.kane.functions import BUILDERS
from hapticsim.equations.kane.symbolic import Evaluation
from hapticsim.equations.scalars.spatial import sin_cos
from tests.mechanisms import kanes_method, pendulum, ready, satellite


@sin_cos.register
def _(x: mp.mpf):
    return mp.sin(x), mp.cos(x)


MAKERS = {
    "rolling_disk": lambda: ready("rolling_disk"),
    "wrist": lambda: ready("wrist"),
    "wrist_rates": lambda: ready("wrist", speeds="rates"),
    "shopping_cart": lambda: ready("shopping_cart"),
    "pendulum": pendulum,
    "satellite": satellite,
}


@functools.cache
def compiled(name):
    mechanism = MAKERS[name]()
    return mechanism, compile_mechanism(mechanism, frames=None)


def states(equations, count=5, seed=0):
    """Random q and u, away from the singular angles of the wrist."""
    dice = np.random.default_rng(seed)
    for _ in range(count):
        yield dice.uniform(0.2, 1.3, equations.nq), dice.uniform(-2.0, 2.0, equations.nu)


def along(equations, q, u, eps):
    """q after a short time eps at the speeds u: Heun, whose error is of third order."""
    rate = rates(equations, q, u)
    return q + 0.5 * eps * (rate + rates(equations, q + eps * rate, u))


def rates(equations, q, u):
    return kinematics(equations, q, u)["qdot"]


def kinematics(equations, q, u):
    shapes = mechanism_shapes("kinematics", equations.model, equations.frames)
    arrays = {name: np.full(shape, np.nan) for name, shape in shapes.items()}
    arrays["q"][:], arrays["u"][:] = q, u
    equations.kernels.kinematics(*arrays.values())
    return arrays


@pytest.mark.parametrize("name", MAKERS)
def test_mass_matrix_bias_and_rates_are_those_of_sympys_kanes_method(name):
    mechanism, equations = compiled(name)
    M, forcing, qdot = kanes_method(mechanism)
    for q, u in states(equations):
        assert equations.mass_matrix(q) == pytest.approx(M(q, u), rel=1e-12, abs=1e-14)
        h, f = equations.bias(q, u), forcing(q, u)
        assert h == pytest.approx(-f, abs=1e-12 * max(1.0, np.max(np.abs(f))))
        assert rates(equations, q, u) == pytest.approx(qdot(q, u), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", MAKERS)
def test_forward_and_inverse_dynamics_and_responses_fit_the_mass_matrix(name):
    _, equations = compiled(name)
    F, x = np.empty(equations.factor_size), np.empty(equations.nu)
    for q, u in states(equations):
        tau = np.linspace(-1.0, 2.0, equations.nu)
        M, h = equations.mass_matrix(q), equations.bias(q, u)
        expected = np.linalg.solve(M, tau - h)
        udot = equations.forward_dynamics(q, u, tau)
        tolerance = 1e-12 * np.linalg.cond(M) * np.max(np.abs(expected))
        assert udot == pytest.approx(expected, abs=tolerance)
        assert equations.inverse_dynamics(q, u, udot) == pytest.approx(tau, abs=1e-10)
        equations.kernels.response_factor(q, F)
        equations.kernels.response(F, tau, x)
        assert M @ x == pytest.approx(tau, abs=1e-11)


@pytest.mark.parametrize("name", MAKERS)
def test_compiled_functions_have_the_bits_of_the_reference_on_floats(name):
    _, equations = compiled(name)
    q, u = next(states(equations, 1, seed=3))
    given = {"q": q, "u": u, "tau": u[::-1], "udot": u[::-1], "delta": 0.1 * u}
    for function, (inputs, outputs) in ARGUMENTS.items():
        shapes = mechanism_shapes(function, equations.model, equations.frames)
        arrays = {a: np.full(shape, np.nan) for a, shape in shapes.items()}
        for a in inputs:
            arrays[a][:] = given.get(a, 1.5)
        expected = BUILDERS[function](
            equations.system, equations.frames, *([float(x) for x in arrays[a]] for a in inputs)
        )
        getattr(equations.kernels, function)(*arrays.values())
        for a in outputs:
            assert np.array_equal(arrays[a], np.array(expected[a], float).reshape(shapes[a])), (function, a)


def test_a_mechanism_offers_every_function_of_the_catalogue_with_the_same_arguments():
    for name, entry in CATALOGUE.items():
        assert ARGUMENTS[name] == (entry.inputs, entry.outputs)
        assert name in BUILDERS


@pytest.mark.parametrize("name", MAKERS)
def test_velocities_partial_velocities_and_accelerations_are_those_of_the_poses(name):
    _, equations = compiled(name)
    eps = 1e-5
    for q, u in states(equations, 3):
        here = kinematics(equations, q, u)
        ahead, behind = (kinematics(equations, along(equations, q, u, k * eps), u) for k in (1.0, -1.0))
        for f, frame in enumerate(equations.frames):
            p_rate = (ahead["X"][f, 9:] - behind["X"][f, 9:]) / (2 * eps)
            R_rate = (ahead["X"][f, :9] - behind["X"][f, :9]).reshape(3, 3) / (2 * eps)
            spin = R_rate @ here["X"][f, :9].reshape(3, 3).T
            omega = [spin[2, 1], spin[0, 2], spin[1, 0]]
            assert here["vel"][f] == pytest.approx([*omega, *p_rate], abs=1e-7)
            assert u @ here["V"][f] == pytest.approx(here["vel"][f], abs=1e-12)  # no motion at u = 0
            acceleration = (ahead["vel"][f] - behind["vel"][f]) / (2 * eps)
            assert here["acc"][f] == pytest.approx(acceleration, abs=1e-6)
            assert equations.partial_velocities(frame, q) == pytest.approx(here["V"][f].T, abs=1e-14)
            pose = equations.body_pose(frame, q)
            assert np.array_equal([*pose.rotation.ravel(), *pose.translation], here["X"][f])


@pytest.mark.parametrize("name", ["rolling_disk", "shopping_cart"])
def test_rows_are_the_rates_of_what_they_hold(name):
    mechanism, equations = compiled(name)
    eps = 1e-5
    configuration = [e for c in mechanism.constraints for e in c.configuration]
    for q, u in states(equations):
        _, A, b, s = equations.rows(q, u)
        ahead, behind = (equations.rows(along(equations, q, u, k * eps), u) for k in (1.0, -1.0))
        n = len(configuration)
        assert (ahead[0] - behind[0])[:n] / (2 * eps) == pytest.approx((A @ u - b)[:n], abs=1e-8)
        rate = ((ahead[1] @ u - ahead[2]) - (behind[1] @ u - behind[2])) / (2 * eps)
        assert s == pytest.approx(rate, abs=1e-7)


def test_rows_of_the_cart_are_the_papers():
    _, equations = compiled("shopping_cart")
    L2, L3 = 0.6, 0.08
    for q, u in states(equations):
        _, A, b, _ = equations.rows(q, u)
        expected = [[-np.sin(q[3]), L2 * np.cos(q[3]), -L3], [0.0, -1.0, 1.0]]  # (64)
        assert A == pytest.approx(np.array(expected), abs=1e-15)
        assert not b.any()


def test_the_disk_rolls_down_as_the_paper_says_when_its_rows_are_embedded():
    _, equations = compiled("rolling_disk")
    q, u = np.array([0.0, 0.0, 0.1]), np.zeros(3)
    _, A, _, s = equations.rows(q, u)
    M, h = equations.mass_matrix(q), equations.bias(q, u)
    K = np.block([[M, A.T], [A, np.zeros((2, 2))]])
    solution = np.linalg.solve(K, [*-h, *-s])
    m, J, r = 1.0, 0.5 * 0.1**2, 0.1
    assert solution[0] == pytest.approx(-m * 9.81 * np.sin(0.2) / (m + J / r**2))  # (42)
    assert -solution[3] == pytest.approx(m * 9.81 * np.cos(0.2))  # the normal force on the disk


def test_the_wrists_dynamics_are_the_papers():
    _, equations = compiled("wrist")
    M, L, I1, I2, I3, G = 0.6, 0.12, 1.2e-3, 1.6e-3, 0.5e-3, 9.81
    for q, (u1, u2, u3) in states(equations):
        (s1, s3), (c1, c2, c3) = np.sin(q[[0, 2]]), np.cos(q)
        T, F = np.array([0.3, -0.2, 0.1]), np.array([1.0, 2.0, 3.0])
        expected = [  # (49)
            (T[0] - L * (F[1] + G * M * (s1 * c3 + s3 * c1 * c2)) - (I3 - I2 - M * L**2) * u2 * u3)
            / (I1 + M * L**2),
            (T[1] + L * (F[0] + G * M * (s1 * s3 - c1 * c2 * c3)) + (I3 - I1 - M * L**2) * u1 * u3)
            / (I2 + M * L**2),
            (T[2] + (I1 - I2) * u1 * u2) / I3,
        ]
        tau = T + L * np.array([-F[1], F[0], 0.0])
        assert equations.forward_dynamics(q, [u1, u2, u3], tau) == pytest.approx(
            np.array(expected), rel=1e-12
        )


@pytest.mark.parametrize("name", ["wrist", "satellite", "pendulum"])
def test_power_of_all_forces_is_the_rate_of_energy(name):
    """Along a short motion without input; the satellite's spring has no potential, so its power counts."""
    _, equations = compiled(name)
    eps = 1e-5
    for q, u in states(equations, 3):
        udot = equations.forward_dynamics(q, u, np.zeros(equations.nu))
        ends = [
            sum(equations.energy(along(equations, q, u, k * eps), u + k * eps * udot)) for k in (1.0, -1.0)
        ]
        power = 0.0
        at = Evaluation(
            dict(
                zip(
                    (*equations.system.x.q, *equations.system.x.u, *equations.system.x.rates),
                    (*q, *u, *rates(equations, q, u)),
                    strict=True,
                )
            ),
            equations.system.parameters,
        )
        for load in equations.system.loads:
            power += sum(at(v.expression) * at(f) for v, f in zip(load.motion, load.vector, strict=True))
        if name == "pendulum":
            power += 3.0 * q[0] * u[0]  # its spring is in the potential energy
        assert (ends[0] - ends[1]) / (2 * eps) == pytest.approx(power, abs=2e-6)


def test_the_reference_runs_on_numbers_of_many_digits():
    _, equations = compiled("wrist_rates")
    q, u = next(states(equations, 1))
    with mp.workdps(40):
        exact = BUILDERS["forward_dynamics"](
            equations.system, (), *([mp.mpf(float(x)) for x in a] for a in (q, u, u))
        )["udot"]
        assert all(isinstance(x, mp.mpf) for x in exact)
    found = equations.forward_dynamics(q, u, u)
    assert found == pytest.approx(np.array(exact, float), rel=1e-12)


@pytest.mark.parametrize(
    "text",
    ["x**3", "1/x", "sqrt(x)*y", "x**Rational(-3, 2)", "tan(x)/y**2", "pi*x - y/7 + 2", "(x+y)**2*sin(x)*3"],
)
def test_expressions_have_the_value_that_sympy_gives_them(text):
    x, y = sp.symbols("x y")
    expression = sp.sympify(text)
    for a, b in ((0.7, 1.3), (2.5, -0.4)):
        expected = float(expression.subs({x: a, y: b}))
        assert float(Evaluation({x: a}, {y: b})(expression)) == pytest.approx(expected, rel=1e-15)


def test_batch_and_addresses_work_as_for_a_tree():
    _, equations = compiled("pendulum")
    q, u = (np.array(list(column)) for column in zip(*states(equations, 4), strict=True))
    many = equations.batch("forward_dynamics", q, u, np.zeros((4, 3)))
    for k in range(4):
        assert np.array_equal(many[k], equations.forward_dynamics(q[k], u[k], np.zeros(3)))
    assert set(equations.addresses) == set(ARGUMENTS)
    assert all(equations.addresses.values())
    with pytest.raises(HapticsimError, match=r"has no body 'tipp' .did you mean 'tip'"):
        equations.body_pose("tipp", q[0])
