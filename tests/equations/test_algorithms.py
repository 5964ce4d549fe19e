"""Every forward dynamics algorithm: the same answer where it is easy, the published one where it is not."""

from __future__ import annotations

import math
import re

import mpmath as mp
import numpy as np
import pytest
from numba import float32, njit
from numba.core import config

from hapticsim.equations import solvers
from hapticsim.equations.algorithms import ALGORITHMS, ELIMINATIONS, SOLVERS, generate_algorithm
from hapticsim.equations.base import Equations
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.operations import count_operations, operations_of
from hapticsim.equations.scalars.precision import PRECISIONS
from hapticsim.equations.scalars.spatial import constant_type, sin_cos
from hapticsim.equations.scalars.trace import Trace
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Placement
from hapticsim.model.multibody.tree import Model
from tests import models
from tests.models import at, body, branching_tree, floating, planar_two_link, some_state, turn, wam
from tests.seeds import with_long

DIGITS = {"float64": 1e-9, "float32": 1e-3}


@sin_cos.register
def _(x: mp.mpf):
    return mp.sin(x), mp.cos(x)


@constant_type.register
def _(x: mp.mpf):
    return mp.mpf


def exact(equations: Equations, q, u, tau) -> np.ndarray:
    """Return udot in 50 digits, rounded at the end."""
    with mp.workdps(50):
        q, u, tau = ([mp.mpf(float(x)) for x in v] for v in (q, u, tau))
        return np.array([float(x) for x in recursions.forward_dynamics(Linkage(equations.tree, q), u, tau)])


@pytest.fixture(scope="module", params=with_long(["wam", "floating_planar_two_link"], ["branching_tree"]))
def robot(request) -> Equations:
    made = {m.name: m for m in (wam(), branching_tree(), floating(planar_two_link()))}
    return compile_equations(made[request.param], ())


# ---- where it is easy


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_every_algorithm_gives_the_acceleration_of_the_default(robot, name, precision):
    algorithm = robot.algorithm(name, precision)
    for seed in range(5):
        q, u, tau = (x.astype(precision) for x in some_state(robot.model, seed))
        udot = algorithm(q, u, tau)
        expected = robot.forward_dynamics(q, u, tau)
        assert udot.dtype == precision
        np.testing.assert_allclose(udot, expected, rtol=0, atol=DIGITS[precision] * np.abs(expected).max())


def test_the_default_is_the_exact_articulated_body_method(robot):
    state = some_state(robot.model, 6)
    np.testing.assert_array_equal(robot.algorithm("abm_exact")(*state), robot.forward_dynamics(*state))


def test_the_pivots_of_elimination_are_the_same_on_paper(robot):
    q, _, _ = some_state(robot.model, 7)
    expected = robot.algorithm("abm_exact").pivots(q)
    assert expected.min() > 0.0
    assert np.prod(expected) == pytest.approx(np.linalg.det(robot.mass_matrix(q)), rel=1e-10)
    for name in ("abm", "abm_modified", "abm_bad"):
        np.testing.assert_allclose(robot.algorithm(name).pivots(q), expected, rtol=1e-11)
    if robot.model.name == "wam":  # with one speed per joint the matrix is eliminated in the same order
        np.testing.assert_allclose(robot.algorithm("crbm_ldl").pivots(q), expected, rtol=1e-11)


# ---- the code is the reference


@njit([float32[:](float32[:], float32[:])])
def library_sines(x, out):
    """Sines and cosines as compiled code computes them in single precision."""
    for k in range(len(x)):
        out[2 * k], out[2 * k + 1] = math.sin(x[k]), math.cos(x[k])
    return out


def sines_agree(q: np.ndarray) -> bool:
    """Say whether the C library rounds the sines of q as the reference does; 1.4 % it does not."""
    if q.dtype == np.float64 or config.DISABLE_JIT:
        return True
    ours = np.array([f for x in q for f in sin_cos(x)])
    return np.array_equal(library_sines(q, np.empty(2 * len(q), np.float32)), ours)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_compiled_code_has_the_bits_of_the_reference(robot, name, precision):
    algorithm = robot.algorithm(name, precision)
    compared = 0
    for seed in range(6):
        state = [x.astype(precision) for x in some_state(robot.model, seed)]
        if sines_agree(state[0]):
            np.testing.assert_array_equal(algorithm(*state), algorithm.reference(*state))
            compared += 1
    assert compared >= 3


@pytest.mark.parametrize("name", ["abm", "crbm_lu", "conjugate_gradient"])
def test_without_the_jit_the_same_code_runs_in_python_in_single_precision(robot, name, monkeypatch):
    state = [x.astype(np.float32) for x in some_state(robot.model, 3)]
    source = generate_algorithm(name, robot.tree, "float32")
    namespace: dict = {}
    with monkeypatch.context() as without_jit:
        without_jit.setattr(config, "DISABLE_JIT", True)
        exec(compile(source, "<generated>", "exec"), namespace)
    udot = np.full(robot.nu, np.nan, np.float32)
    namespace[name](*state, udot)
    np.testing.assert_array_equal(udot, robot.algorithm(name, "float32").reference(*state))


def test_every_constant_of_single_precision_code_is_a_single_precision_number(robot):
    for name in ("abm_exact", "crbm_svd", "conjugate_gradient"):
        source = generate_algorithm(name, robot.tree, "float32")
        numbers = [float(x) for x in re.findall(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?", source)]
        assert len(numbers) > 10 and all(float(np.float32(x)) == x for x in numbers)


def test_the_kernel_is_a_function_for_loops(robot):
    q, u, tau = some_state(robot.model, 8)
    udot = np.full(robot.nu, np.nan)
    robot.algorithm("crbm_gauss_jordan").kernel(q, u, tau, udot)
    np.testing.assert_array_equal(udot, robot.algorithm("crbm_gauss_jordan")(q, u, tau))


# ---- where it is not


def growing_chain(n: int = 6) -> Model:
    """Rods of 1, 10, .. kg and m one after another, all turning about y."""
    bodies, joints, parent, place = [], [], WORLD, 0.0
    for k in range(n):
        size = 10.0**k
        moments = (size**3 / 12, size**3 / 12, size**3 / 100)
        bodies.append(body(f"rod{k}", size, (0.02 * size, 0.01 * size, -size / 2), moments))
        joints.append(Joint(f"j{k}", "revolute", parent, f"rod{k}", at(z=place), models.Y))
        parent, place = f"rod{k}", -size
    return Model("growing_chain", tuple(bodies), tuple(joints))


def test_of_masses_and_lengths_of_six_sizes_only_articulated_bodies_keep_the_digits():
    """The error is of the largest acceleration: one that passes through zero has no digits to keep."""
    equations = compile_equations(growing_chain(), ())
    algorithms = [equations.algorithm(name) for name in ("abm_exact", "abm", "crbm_cholesky", "crbm_lu")]
    rng = np.random.default_rng(0)
    worst = np.zeros(4)
    for _ in range(200):
        q = rng.uniform(-np.pi, np.pi, equations.nu)
        u, tau = rng.uniform(-1.0, 1.0, (2, equations.nu))
        truth = exact(equations, q, u, tau)
        errors = [np.abs(a(q, u, tau) - truth).max() / np.abs(truth).max() for a in algorithms]
        worst = np.maximum(worst, errors)
    assert worst[0] < 1e-11 < worst[1]
    assert worst[2] > 1e-6 and worst[3] > 1e-6


def test_conjugate_gradients_end_also_where_they_cannot_succeed():
    equations = compile_equations(growing_chain(), ())
    udot = equations.algorithm("conjugate_gradient", "float32")(*some_state(equations.model, 9))
    assert np.all(np.isfinite(udot))


def heavy_tip(size: float) -> Model:
    """Two planar links of unit width, the first of 1 kg and 1 m, the second of ``size`` (Cloutier, 5.2.1)."""
    bodies, joints, parent, place = [], [], WORLD, 0.0
    for k, l in enumerate((1.0, size)):
        moments = (0.0, l * (l * l + 1.0) / 12, l * (l * l + 1.0) / 12)
        bodies.append(body(f"link{k}", l, (l / 2, 0.0, 0.0), moments))
        joints.append(Joint(f"j{k}", "revolute", parent, f"link{k}", at(place), -models.Y))
        parent, place = f"link{k}", l
    return Model("heavy_tip", tuple(bodies), tuple(joints))


def test_projecting_late_makes_the_articulated_body_method_as_bad_as_the_mass_matrix():
    """Figures 5.5 and 5.7 of the thesis: joint 1 over a turn of joint 2."""
    equations = compile_equations(heavy_tip(1e5), ())
    rest = [0.0, 0.0]
    worst = {}
    for name in ("abm_exact", "abm", "abm_modified", "abm_bad", "crbm_cholesky"):
        algorithm = equations.algorithm(name)
        errors = []
        for angle in np.linspace(0.1, 6.2, 60):
            q = [0.0, angle]
            truth = exact(equations, q, rest, rest)
            errors.append(abs((algorithm(q, rest, rest)[0] - truth[0]) / truth[0]))
        worst[name] = max(errors)
    good = max(worst[name] for name in ("abm_exact", "abm", "abm_modified"))
    assert worst["abm_bad"] > 100.0 * good and worst["crbm_cholesky"] > 100.0 * good


def collinear_slides(tip_mass: float, axis: np.ndarray) -> Equations:
    """Two bodies that slide along one line, 1 kg before ``tip_mass``, in the axes they are given in."""
    joints = (
        Joint("slide2", "prismatic", WORLD, "base", axis_J=axis),
        Joint("slide1", "prismatic", "base", "tip", axis_J=axis),
    )
    model = Model("slides", (Body("base", 1.0), Body("tip", tip_mass)), joints, np.zeros(3))
    return compile_equations(model, (), aligned=False)


def pivot_and_acceleration(equations: Equations, name: str) -> tuple[float, float]:
    """Return D_2 of the base and the acceleration of the tip under 9.81 N and 981 N, single precision."""
    algorithm = equations.algorithm(name, "float32")
    return float(algorithm.pivots([0.0, 0.0])[0]), float(algorithm([0.0, 0.0], [0.0, 0.0], [9.81, 981.0])[1])


# Ascher, Pai and Cloutier (1997), Table 2: exactly D_2 = 1 and, for a heavy tip, an acceleration of 971.19.
RIGHT = (pytest.approx(1.0, abs=1e-6), pytest.approx(971.19, abs=1e-2))


@pytest.mark.parametrize("tip_mass", [1e7, 1e8, 1e9])
def test_table_2_along_a_coordinate_axis_only_the_mass_matrix_swallows_the_light_body(tip_mass):
    equations = collinear_slides(tip_mass, models.Z)
    for name in ELIMINATIONS.keys() - {"abm_bad"}:
        assert pivot_and_acceleration(equations, name) == RIGHT
    pivot, acceleration = pivot_and_acceleration(equations, "crbm_ldl")
    if tip_mass == 1e7:
        assert (pivot, acceleration) == RIGHT
    else:
        assert pivot == 0.0 and math.isnan(acceleration)


@pytest.mark.parametrize("tip_mass", [1e6, 1e7, 1e8, 1e9])
def test_table_2_along_a_skew_axis_only_the_modified_method_keeps_the_light_body(tip_mass):
    equations = collinear_slides(tip_mass, np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0))
    assert pivot_and_acceleration(equations, "abm_modified") == RIGHT
    for name in ("abm", "crbm_ldl"):
        pivot, acceleration = pivot_and_acceleration(equations, name)
        if tip_mass >= 1e8:
            assert pivot == 0.0 and not math.isfinite(acceleration)
        else:  # printed 1.03 and 1.5; the last bits depend on the order of the sums
            assert abs(pivot - 1.0) > 0.01 and abs(acceleration - 971.19) > 10.0


def test_turning_the_frames_along_the_joints_is_worth_as_much_as_the_modified_method():
    axis = np.array([0.0, 1.0, 1.0]) / np.sqrt(2.0)
    model = collinear_slides(1e9, axis).model
    assert pivot_and_acceleration(compile_equations(model, ()), "abm_exact") == RIGHT


# ---- solvers


def random_system(n: int, precision: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, n))
    return (A @ A.T + np.eye(n)).astype(precision), rng.normal(size=n).astype(precision)


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_solves_and_plain_python_gives_its_bits(name, precision):
    solve = SOLVERS[name]
    for n in (1, 2, 5, 9):
        A, b = random_system(n, precision, n)
        x, plain = np.full(n, np.nan, precision), np.full(n, np.nan, precision)
        solve(A.copy(), b.copy(), x)
        getattr(solve, "py_func", solve)(A.copy(), b.copy(), plain)
        np.testing.assert_array_equal(x, plain)
        np.testing.assert_allclose(
            x, np.linalg.solve(A.astype(float), b), rtol=0, atol=0.1 * DIGITS[precision]
        )


@pytest.mark.parametrize("name", ["crbm_lu", "crbm_gauss_jordan", "crbm_svd"])
def test_solvers_that_pivot_do_not_need_a_positive_diagonal(name):
    A, b = np.array([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.0]]), np.array([1.0, 2.0, 3.0])
    x = np.empty(3)
    SOLVERS[name](A.copy(), b.copy(), x)
    np.testing.assert_allclose(A @ x, b, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_matrix_without_a_solution_gives_nan_and_no_exception(name):
    x = np.zeros(2)
    SOLVERS[name](np.zeros((2, 2)), np.ones(2), x)
    assert np.all(np.isnan(x))


@pytest.mark.parametrize("solver", [solvers.cholesky, solvers.ldl])
def test_cholesky_gives_nan_for_a_matrix_that_is_not_positive_definite(solver):
    x = np.zeros(2)
    solver(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2), x)
    assert np.all(np.isnan(x))


def test_singular_values_give_the_shortest_solution_of_a_singular_matrix():
    A, b = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 3.0]]), np.array([4.0, 4.0, 6.0])
    x = np.empty(3)
    solvers.svd(A, b, x)
    np.testing.assert_allclose(x, [1.0, 1.0, 2.0], rtol=0, atol=1e-15)


# ---- operations


def general_chain(n: int) -> Model:
    """n revolute joints at any twist and offsets (Denavit and Hartenberg), bodies with full inertias."""
    rng = np.random.default_rng(n)
    bodies, joints, parent = [], [], WORLD
    for k in range(n):
        root = rng.normal(size=(3, 3))
        bodies.append(Body(f"b{k}", rng.uniform(1.0, 3.0), rng.normal(size=3), root @ root.T + np.eye(3)))
        R = turn(models.X, rng.uniform(0.2, 1.3))
        place = Placement(R, np.array([rng.normal(), 0.0, 0.0]) + R @ np.array([0.0, 0.0, rng.normal()]))
        joints.append(Joint(f"j{k}", "revolute", parent, f"b{k}", place))
        parent = f"b{k}"
    return Model("general_chain", tuple(bodies), tuple(joints))


@pytest.mark.parametrize("n", [4, 7, 10, 14])
def test_generated_code_needs_fewer_operations_than_the_published_count(n):
    count = operations_of("abm_exact", moving_tree(general_chain(n)))
    assert count["mul"] < 300 * n - 267 and count["add"] < 279 * n - 259  # Cloutier, section 3.4
    assert count["sincos"] == 2 * n and count["div"] <= n and count["sqrt"] == 0
    assert operations_of("abm_bad", moving_tree(general_chain(n)))["mul"] > count["mul"]


def test_operations_are_counted_once_and_only_if_an_output_needs_them():
    trace = Trace()
    x, y = trace.inputs("q", 2)
    _ = x / y
    count = count_operations(trace, {"out": [x * y - y * x * 2.0, [x * y, sin_cos(-x)[0] - (-y)]]})
    assert count == {"mul": 2, "add": 2, "div": 0, "sincos": 1, "sqrt": 0}


# ---- refusals


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("abm_modfied",),
            "forward dynamics of wam has no algorithm 'abm_modfied' (did you mean 'abm_modified'?); "
            "there are 'abm', 'abm_bad', 'abm_exact', 'abm_modified', 'abm_refined', 'conjugate_gradient', "
            "'crbm_cholesky', 'crbm_gauss_jordan', 'crbm_ldl', 'crbm_lu', 'crbm_svd'.",
        ),
        (
            ("abm", "float16"),
            "equations have no precision 'float16' (did you mean 'float64'?); "
            "there are 'float32', 'float64'.",
        ),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest_one(arguments, sentence):
    with pytest.raises(HapticsimError, match=f"^{re.escape(sentence)}$"):
        compile_equations(wam(), ()).algorithm(*arguments)


def test_arguments_are_checked_in_the_precision_they_are_used_in():
    algorithm = compile_equations(wam(), ()).algorithm("abm", "float32")
    still = [0.0] * 4
    with pytest.raises(HapticsimError, match=r"^u of wam must have shape \(4,\), got \(3,\)"):
        algorithm(still, still[:3], still)
    with pytest.raises(HapticsimError, match=r"^tau\[1\] of wam is not finite: give a number\.$"):
        algorithm(still, still, [0.0, 1e39, 0.0, 0.0])


def test_pivots_are_refused_where_there_are_none():
    sentence = (
        "crbm_svd has no pivots to show: ask 'abm', 'abm_bad', 'abm_exact', 'abm_modified', 'crbm_ldl'."
    )
    with pytest.raises(HapticsimError, match=f"^{re.escape(sentence)}$"):
        compile_equations(wam(), ()).algorithm("crbm_svd").pivots([0.0] * 4)
