"""Off-line runs: order, what is counted, one precision throughout, the papers' rows, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import config, njit
from scipy.special import ellipj

from hapticsim.equations.base import Equations
from hapticsim.equations.compiled import compile_equations
from hapticsim.errors import ConfigError, HapticsimError
from hapticsim.offline import cash_karp, fixed
from hapticsim.offline.cash_karp import TABLEAU
from hapticsim.offline.chains import planar_chain
from hapticsim.offline.compiled_parts import signature_in
from hapticsim.offline.ending import Ending
from hapticsim.offline.run import INTEGRATORS, OfflineRun, simulate_offline
from hapticsim.offline.sweeps.static_sweep import sweep
from tests.models import free_box, pendulum, planar_two_link

SLOW_WITHOUT_JIT = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="thousands of steps in plain Python")
LENGTH, SWING = 0.5, 1.5  # [m], [rad] of the pendulum, released at rest


@pytest.fixture(scope="module")
def swinging() -> Equations:
    return compile_equations(pendulum(LENGTH), ())


@pytest.fixture(scope="module")
def two_links() -> Equations:
    return compile_equations(planar_two_link(), ())


def angle(t: float) -> float:
    """Angle of the pendulum: sin(q/2) = k cd(w t, k), k = sin(SWING/2)."""
    k = math.sin(SWING / 2.0)
    _, cn, dn, _ = ellipj(math.sqrt(9.81 / LENGTH) * t, k * k)
    return 2.0 * math.asin(k * cn / dn)


def slope(x: list[float], y: list[float]) -> float:
    """Of log y over log x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


# ---- order


def test_rk4_is_of_fourth_order(swinging):
    steps = [0.02, 0.01, 0.005, 0.0025]
    errors = []
    for h in steps:
        run = simulate_offline(swinging, [SWING], [0.0], 1.0, integrator="rk4", step_s=h)
        assert run.time[-1] == 1.0 and run.ending is Ending.DONE
        errors.append(abs(run.q[-1, 0] - angle(1.0)))
    assert slope(steps, errors) == pytest.approx(4.0, abs=0.15)


def test_one_step_of_cash_karp_is_of_fifth_order(swinging):
    start = simulate_offline(swinging, [SWING], [0.0], 0.35, accuracy=1e-14)
    steps, errors = [0.08, 0.04, 0.02], []
    for h in steps:
        run = simulate_offline(swinging, start.q[-1], start.u[-1], h, accuracy=10.0, step_s=h)
        assert (run.accepted, run.rejected) == (1, 0)
        errors.append(abs(run.q[-1, 0] - angle(0.35 + h)))
    assert slope(steps, errors) == pytest.approx(6.0, abs=0.3)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_all_integrators_find_the_same_trajectory(two_links, integrator):
    run = simulate_offline(
        two_links, [0.3, -0.4], [0.5, 1.0], 0.5, integrator=integrator, accuracy=1e-8, step_s=5e-4
    )
    exact = simulate_offline(two_links, [0.3, -0.4], [0.5, 1.0], 0.5, integrator="DOP853", accuracy=1e-13)
    assert run.ending is Ending.DONE and run.time[-1] == 0.5
    np.testing.assert_allclose(run.q[-1], exact.q[-1], rtol=0, atol=2e-6)
    np.testing.assert_allclose(run.u[-1], exact.u[-1], rtol=0, atol=2e-5)
    np.testing.assert_allclose(run.udot[-1], two_links.forward_dynamics(run.q[-1], run.u[-1], [0.0, 0.0]))
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=0, atol=1e-5)


# ---- what is counted, and when a step is rejected


def naive_cash_karp(derivative, y, seconds, accuracy, dtype):
    """Numerical Recipes as it is told, on numpy arrays of one type; returns (y, attempts, steps)."""
    real = dtype
    a = np.array(TABLEAU, dtype)
    y, t, h, end = np.array(y, dtype), real(0), real(0.01), real(seconds)
    attempts = steps = 0
    while t < end:
        k = [derivative(y)]
        scale = np.abs(y) + np.abs(k[0] * h) + real(1e-30)
        h = min(h, end - t)
        while True:
            attempts += 1
            k = k[:1]
            for stage in range(1, 6):
                k.append(
                    derivative(y + h * sum((a[stage, j] * k[j] for j in range(1, stage)), a[stage, 0] * k[0]))
                )
            error = np.max(np.abs(h * sum(w * x for w, x in zip(a[7], k, strict=True)) / scale)) / real(
                accuracy
            )
            if error <= 1:
                break
            h = max(real(0.9) * h * error ** real(-0.25), real(0.1) * h)
        y = y + h * sum(w * x for w, x in zip(a[6], k, strict=True))
        t, steps = t + h, steps + 1
        h = real(0.9) * h * error ** real(-0.2) if error > real(1.89e-4) else real(5.0) * h
        assert y.dtype == t.dtype == h.dtype == dtype
    return y, attempts, steps


@pytest.mark.long
@pytest.mark.parametrize(("precision", "agree"), [("float64", 1e-13), ("float32", 1e-5)])
def test_the_step_control_is_that_of_numerical_recipes(two_links, precision, agree):
    algorithm, still = two_links.algorithm("abm_exact", precision), np.zeros(2)
    run = simulate_offline(two_links, [0.3, -0.4], [0.0, 0.0], 1.0, accuracy=1e-4, precision=precision)
    y, attempts, steps = naive_cash_karp(
        lambda y: np.concatenate([y[2:], algorithm(y[:2], y[2:], still)]),
        [0.3, -0.4, 0.0, 0.0],
        1.0,
        1e-4,
        np.dtype(precision).type,
    )
    assert run.rejected > 5
    assert (run.accepted, run.rejected) == (steps, attempts - steps)
    assert run.total_evaluations == steps + 5 * attempts
    np.testing.assert_allclose([*run.q[-1], *run.u[-1]], y, rtol=agree)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a callback is for compiled code")
@pytest.mark.parametrize("integrator", ["cash_karp", "rk4"])
def test_every_call_of_the_forward_dynamics_is_counted(two_links, integrator):
    calls = []

    def torques(t, q, u):
        calls.append(t)
        return [0.1, -0.2]

    run = simulate_offline(two_links, [0.3, 0.0], [0.0, 0.0], 0.3, integrator=integrator, torques=torques)
    # looked at once at the door, once for the last sample, and once for the work at each sample
    assert len(calls) == run.total_evaluations + 2 + len(run.time)
    held = simulate_offline(
        two_links, [0.3, 0.0], [0.0, 0.0], 0.3, integrator=integrator, torques=[0.1, -0.2]
    )
    np.testing.assert_array_equal(run.q, held.q)
    np.testing.assert_array_equal(run.udot, held.udot)


def test_storing_less_often_changes_no_step(two_links):
    often, seldom = (
        simulate_offline(two_links, [0.3, 0.0], [0.0, 0.0], 2.0, store_every_s=every) for every in (1e-6, 0.2)
    )
    assert len(often.time) == often.accepted + 1  # every step and the end
    assert np.all(np.diff(seldom.time[:-1]) > 0.2) and len(seldom.time) < 12
    assert seldom.total_evaluations == often.total_evaluations
    shared = np.isin(often.time, seldom.time)
    np.testing.assert_array_equal(often.q[shared], seldom.q)
    np.testing.assert_array_equal(often.evaluations[shared], seldom.evaluations)


# ---- precision


def test_single_precision_stays_single(two_links):
    single = simulate_offline(two_links, [0.3, 0.0], [0.0, 0.0], 1.0, precision="float32", accuracy=1e-5)
    double = simulate_offline(two_links, [0.3, 0.0], [0.0, 0.0], 1.0, accuracy=1e-5)
    assert {a.dtype for a in (single.q, single.u, single.udot)} == {np.dtype(np.float32)}
    np.testing.assert_array_equal(single.time, single.time.astype(np.float32))  # also the time
    assert not np.array_equal(double.time, double.time.astype(np.float32))
    gap = np.abs(single.q[-1] - double.q[-1]).max()
    assert 1e-8 < gap < 1e-3


@pytest.mark.long
@SLOW_WITHOUT_JIT
@pytest.mark.parametrize("integrator", [cash_karp, fixed])
def test_no_variable_of_a_single_precision_integrator_is_double(integrator):
    def types_in(precision):
        compiled = njit(signature_in(precision))(integrator._advance)
        (overload,) = compiled.overloads.values()
        typed = overload.type_annotation.typemap.items()
        return {
            str(kind) for name, kind in typed if not name.startswith("$")
        }  # $: constants before real(...)

    assert "float64" in types_in("float64") and "float32" in types_in("float32")
    assert not [kind for kind in types_in("float32") if "float64" in kind]


# ---- other robots, other forces


def test_a_tumbling_box_keeps_its_quaternion_and_its_energy():
    equations = compile_equations(free_box(), ())
    run = simulate_offline(
        equations, free_box().zero_q(), [3.0, -5.0, 1.0, 0.0, 2.0, 1.0], 2.0, accuracy=1e-9
    )
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:], axis=1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-7)
    assert np.ptp(run.q[:, 3]) > 0.5


def test_damping_of_the_joints_takes_the_energy_it_must():
    c, m = 0.05, LENGTH**2  # [N m s/rad], [kg m^2]
    damped = compile_equations(pendulum(LENGTH, damping=c), ())
    run = simulate_offline(damped, [0.001], [0.0], 3.0, accuracy=1e-10)
    rate, w = c / (2.0 * m), math.sqrt(9.81 / LENGTH - (c / (2.0 * m)) ** 2)
    expected = 0.001 * np.exp(-rate * run.time) * (np.cos(w * run.time) + rate / w * np.sin(w * run.time))
    np.testing.assert_allclose(run.q[:, 0], expected, rtol=0, atol=1e-9)


def test_condition_and_difference_are_those_of_the_samples(two_links):
    run = simulate_offline(
        two_links, [0.3, 0.0], [0.0, 0.0], 0.2, condition_number=True, compare_with="crbm_lu"
    )
    assert run.condition is not None and run.difference is not None
    values = [np.linalg.svd(two_links.mass_matrix(q), compute_uv=False) for q in run.q]
    np.testing.assert_allclose(run.condition, [s[0] / s[-1] for s in values])
    assert 0.0 < run.difference.max() < 1e-10
    other = two_links.algorithm("crbm_lu")(run.q[3], run.u[3], [0.0, 0.0])
    np.testing.assert_array_equal(run.difference[3], np.abs((run.udot[3] - other) / run.udot[3]))


# ---- how a run ends


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a callback is for compiled code")
def test_what_the_torques_raise_comes_out(two_links):
    def torques(t, q, u):
        if t > 0.1:
            raise ZeroDivisionError("no torque there")
        return [0.0, 0.0]

    with pytest.raises(ZeroDivisionError, match="no torque there"):
        simulate_offline(two_links, [0.3, 0.0], [0.0, 0.0], 0.3, torques=torques)


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="a callback is for compiled code")
@pytest.mark.parametrize(
    ("integrator", "ending"), [("rk4", Ending.NOT_FINITE), ("cash_karp", Ending.STEP_UNDERFLOW)]
)
def test_torques_that_are_not_finite_end_the_run_in_a_stated_way(two_links, integrator, ending):
    run = simulate_offline(
        two_links,
        [0.3, 0.0],
        [0.0, 0.0],
        0.3,
        integrator=integrator,
        torques=lambda t, q, u: [0.0, math.nan if t > 0.1 else 0.0],
    )
    assert run.ending is ending and ending.sentence.endswith(".")
    assert run.time[-1] == pytest.approx(0.1, abs=0.02) and np.all(np.isfinite(run.q))


@pytest.mark.parametrize("integrator", ["cash_karp", "rk4", "DOP853"])
def test_a_run_that_takes_too_many_steps_is_given_up(two_links, integrator):
    run = simulate_offline(two_links, [0.3, 0.0], [0.0, 0.0], 5.0, integrator=integrator, max_steps=7)
    assert (run.ending, run.accepted) == (Ending.TOO_MANY_STEPS, 7)
    assert 0.0 < run.time[-1] < 5.0


# ---- the papers


def evaluations(ratio: float, algorithm: str, precision: str, accuracy: float, gravity: float) -> OfflineRun:
    split = (ratio, 1.0 - ratio)
    equations = compile_equations(planar_chain(split, split, (0.1, 0.1), gravity, "two_links"), ())
    return simulate_offline(
        equations, [0.0, 0.0], [0.0, 0.0], 10.0, algorithm=algorithm, precision=precision, accuracy=accuracy
    )


@SLOW_WITHOUT_JIT
@pytest.mark.parametrize(
    ("ratio", "algorithm", "printed"),
    [(1e-1, "abm_exact", 6526), (1e-1, "crbm_cholesky", 6553), (1e-5, "abm_exact", 23787)],
)
def test_figure_5_6_of_the_thesis_in_double_precision(ratio, algorithm, printed):
    run = evaluations(ratio, algorithm, "float64", 1e-6, 9.8)
    assert run.ending is Ending.DONE
    assert run.total_evaluations == pytest.approx(printed, rel=0.05)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=0, atol=1e-3)


@SLOW_WITHOUT_JIT
@pytest.mark.parametrize(("ratio", "printed"), [(0.1, 3169), (0.002, 12779), (0.0015, 12860)])
def test_table_1_of_the_paper_in_single_precision(ratio, printed):
    run = evaluations(ratio, "abm_exact", "float32", 1e-4, 9.81)
    assert run.total_evaluations == pytest.approx(printed, rel=0.15)


@SLOW_WITHOUT_JIT
def test_the_mass_matrix_makes_the_integrator_work_harder_on_the_same_motion():
    by_bodies = evaluations(0.0015, "abm_exact", "float32", 1e-4, 9.81)
    by_matrix = evaluations(0.0015, "crbm_cholesky", "float32", 1e-4, 9.81)
    assert by_matrix.total_evaluations > 2 * by_bodies.total_evaluations


def test_a_heavy_tip_makes_the_accelerations_of_the_mass_matrix_ragged():
    chain = planar_chain((1.0, 1e5), (1.0, 1e5), (1.0, 1.0), 9.8)
    found = sweep(
        compile_equations(chain, ()),
        1,
        np.linspace(0.0, 6.28, 201),
        ("abm_exact", "crbm_cholesky", "abm_bad"),
    )
    smooth = found.raggedness("abm_exact", 0)
    assert found.raggedness("crbm_cholesky", 0) > 1000 * smooth < found.raggedness("abm_bad", 0)
    expected = np.median(found.condition) * 1e-16
    assert 0.1 < np.median(found.difference("abm_exact", "crbm_cholesky")[:, 0]) / expected < 10.0


def test_the_chain_of_the_papers_has_the_mass_matrix_of_two_rectangles():
    l1, m1, l2, m2, w = 0.4, 1.2, 0.3, 0.7, 0.1
    equations = compile_equations(planar_chain((l1, l2), (m1, m2), (w, w)), ())
    I1, I2 = (m * (l * l + w * w) / 12.0 for m, l in ((m1, l1), (m2, l2)))
    q2 = 0.7
    M22 = I2 + m2 * l2**2 / 4
    M12 = M22 + m2 * l1 * l2 / 2 * math.cos(q2)
    M11 = I1 + m1 * l1**2 / 4 + M22 + m2 * (l1**2 + l1 * l2 * math.cos(q2))
    np.testing.assert_allclose(equations.mass_matrix([0.2, q2]), [[M11, M12], [M12, M22]], rtol=1e-14)
    weight = 9.81 * (m1 * l1 / 2 + m2 * (l1 + l2 / 2))
    np.testing.assert_allclose(equations.bias([0.0, 0.0], [0.0, 0.0])[0], weight, rtol=1e-14)


# ---- refusals


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"integrator": "cash_carp"},
            "integrator = 'cash_carp' is not known (did you mean 'cash_karp'?): use one of "
            "'BDF', 'DOP853', 'LSODA', 'Radau', 'cash_karp', 'rk4'.",
        ),
        (
            {"precision": "float16"},
            "precision = 'float16' is not known (did you mean 'float64'?): use one of 'float32', 'float64'.",
        ),
        (
            {"precision": "float32", "integrator": "Radau"},
            "precision = 'float32' does not go with 'Radau': use 'cash_karp' or 'rk4'.",
        ),
        ({"accuracy": 0.0}, "accuracy = 0.0 is not usable: it must be finite and above 0."),
        (
            {"accuracy": 1e-9, "precision": "float32"},
            "accuracy = 1e-09 is below the rounding of float32: 1e-07 is the least.",
        ),
        ({"step_s": math.inf}, "step_s = inf is not usable: it must be finite and above 0."),
        ({"store_every_s": "x"}, "store_every_s = 'x' is not usable: it must be finite and above 0."),
        ({"max_steps": 0}, "max_steps = 0 is not usable: it must be a whole number from 1 to 2147483648."),
        ({"q0": [0.0]}, "q0 has shape (1,): it must be (2,)."),
        ({"u0": [0.0, math.nan]}, "u0 holds NaN or infinity: every number must be finite."),
        ({"torques": [1.0] * 3}, "torques has shape (3,): it must be (2,)."),
        ({"torques": lambda t, q, u: 1.0}, "torques(0, q0, u0) has shape (): it must be (2,)."),
    ],
)
def test_what_cannot_be_run_is_refused_in_a_sentence(two_links, options, sentence):
    given = {"q0": [0.0, 0.0], "u0": [0.0, 0.0], "seconds": 1.0, **options}
    with pytest.raises(ConfigError) as refused:
        simulate_offline(two_links, **given)
    assert str(refused.value) == f"simulate_offline: {sentence}"


def test_an_unknown_algorithm_is_refused_with_the_nearest(two_links):
    for option in ("algorithm", "compare_with"):
        with pytest.raises(HapticsimError, match="'crbm_lu'"):
            simulate_offline(two_links, [0.0, 0.0], [0.0, 0.0], 0.1, **{option: "crbm_lo"})


def test_single_precision_of_a_free_body_is_refused():
    equations = compile_equations(free_box(), ())
    with pytest.raises(ConfigError, match="free and ball joints: use 'float64'"):
        simulate_offline(equations, free_box().zero_q(), np.zeros(6), 1.0, precision="float32", accuracy=1e-4)


def test_without_scipy_its_methods_are_refused_with_the_extra(two_links, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(HapticsimError, match=r"pip install 'hapticsim\[studies\]'"):
        simulate_offline(two_links, [0.0, 0.0], [0.0, 0.0], 1.0, integrator="BDF")


def test_a_chain_needs_a_number_above_zero_for_every_link():
    with pytest.raises(ConfigError, match=r"masses_kg has 1 entries: it must have one per link\."):
        planar_chain((1.0, 1.0), (1.0,), (0.1, 0.1))
    with pytest.raises(ConfigError, match=r"widths_m = \[0\.1, 0\.0\] is not usable: all must be above 0\."):
        planar_chain((1.0, 1.0), (1.0, 1.0), (0.1, 0.0))
