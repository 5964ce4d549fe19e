"""Impulse responses: M^-1 tau without M, and rows solved by them as embedding solves them."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import mpmath as mp
import numpy as np
import pytest
from numba.core import config

from hapticsim.equations.base import Equations
from hapticsim.equations.compiled import compile_equations, generate
from hapticsim.equations.scalars.spatial import constant_type, sin_cos
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.impulse_response import factor_size, is_articulated, response, response_factor
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.kernels.memory.allocate import sizes_of_run
from hapticsim.kernels.memory.arrays import Workspace
from hapticsim.kernels.solve import embedding
from hapticsim.kernels.solve import response as kernels
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Mimic
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf
from hapticsim.offline.chains import planar_chain
from tests import naive
from tests.choices import choose
from tests.kernel_access import INT, INTS, MATRIX, VECTOR, WORKSPACE, compiled
from tests.models import ALL, at, branching_tree, floating, planar_two_link, some_state, turn, wam
from tests.tools.test_tools import numbers_of

response_acceleration = compiled(
    kernels.response_acceleration, INT, VECTOR, MATRIX, VECTOR, INT, VECTOR, *[MATRIX] * 3, *[VECTOR] * 3
)
embedded_acceleration = compiled(
    embedding.embedded_acceleration, MATRIX, VECTOR, INT, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR
)
constraint_forces = compiled(
    embedding.constraint_forces, MATRIX, INT, INT, INTS, MATRIX, VECTOR, WORKSPACE, VECTOR, VECTOR
)


@sin_cos.register
def _(x: mp.mpf):
    return mp.sin(x), mp.cos(x)


@constant_type.register
def _(x: mp.mpf):
    return mp.mpf


def every_kind() -> Model:
    """One joint of every kind in a row, skew, with armature; the last two hang on the third body."""
    kinds = ("universal", "ball", "cylindrical", "helical", "planar", "revolute", "free", "prismatic")
    skew = np.array([2.0, -1.0, 2.0]) / 3.0
    bodies, joints = [], []
    for k, kind in enumerate(kinds):
        inertia = np.diag([0.02 + 0.003 * k, 0.03, 0.025])
        bodies.append(Body(f"b{k}", 1.0 + 0.3 * k, np.array([0.1, -0.05, 0.02 * k]), inertia))
        parent = WORLD if k == 0 else f"b{k - 1}" if k < 6 else "b2"
        placed = at(0.2, 0.1 * k, -0.1, turn(skew, 0.4 * k))
        made = Joint(f"j{k}", kind, parent, f"b{k}", placed, skew, armature=0.0 if kind == "free" else 0.05)
        joints.append(replace(made, pitch=0.07) if kind == "helical" else made)
    return Model("every_kind", tuple(bodies), tuple(joints))


def followed() -> Model:
    """The second of three joints follows the first."""
    arm = wam()
    led = replace(arm.joints[1], mimic=Mimic("j1", -0.5, 0.2))
    return replace(arm, name="followed", joints=(arm.joints[0], led, *arm.joints[2:]))


def floating_limb() -> Model:
    """Two links, nothing of them fixed."""
    return floating(planar_two_link())


def chain_of_40() -> Model:
    """Long and regular: cond(M) = 4e6."""
    return planar_chain([0.3] * 40, [1.0] * 40, [0.1] * 40)


def steep_chain() -> Model:
    """Twelve links, every one ten times lighter than the one before: cond(M) = 3e11."""
    return planar_chain([1.0] * 12, [10.0**-k for k in range(12)], [0.1] * 12, name="steep_chain")


MODELS = (*ALL, every_kind, followed, floating_limb)


# ---- the equations


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("make", MODELS)
def test_a_response_is_what_the_mass_matrix_gives(make, aligned):
    model = make()
    tree = moving_tree(model, aligned)
    for seed in range(5):
        q, _, tau = unit_state(model, seed)
        F = response_factor(tree, q.tolist())
        assert len(F) == factor_size(tree)
        M = np.array(recursions.mass_matrix(Linkage(tree, q.tolist())), float)
        x = np.array(response(tree, F, tau.tolist()))
        expected = np.linalg.solve(M, tau)
        np.testing.assert_allclose(x, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("make", [branching_tree, followed, every_kind])
def test_compiled_responses_have_the_bits_of_the_recursion_on_floats(make):
    equations = compile_equations(make(), ())
    for seed in range(3):
        q, _, tau = unit_state(equations.model, seed)
        F, x = np.full(factor_size(equations.tree), np.nan), np.full(equations.nu, np.nan)
        equations.kernels.response_factor(q, F)
        equations.kernels.response(F, tau, x)
        expected = response_factor(equations.tree, q.tolist())
        np.testing.assert_array_equal(F, expected)
        np.testing.assert_array_equal(x, response(equations.tree, expected, tau.tolist()))


def test_a_response_takes_no_sine_and_divides_by_nothing():
    tree = moving_tree(every_kind())
    source = generate("response", tree, ())
    assert "sin(" not in source and "cos(" not in source and " / " not in source
    assert generate("response_factor", tree, ()).count("F[") == factor_size(tree)


def test_links_beyond_a_heavy_one_keep_their_digits():
    tree = moving_tree(steep_chain())
    q, _, tau = some_state(steep_chain(), 5)
    tau *= [10.0**-k for k in range(12)]
    with mp.workdps(50):
        exact = [mp.mpf(float(x)) for x in q], [mp.mpf(float(x)) for x in tau]
        M = mp.matrix(recursions.mass_matrix(Linkage(tree, exact[0])))
        expected = np.array([float(x) for x in mp.lu_solve(M, mp.matrix(exact[1]))])
    x = np.array(response(tree, response_factor(tree, q.tolist()), tau.tolist()))
    np.testing.assert_allclose(x, expected, rtol=1e-11)


def test_joints_that_follow_others_are_told_apart():
    assert is_articulated(moving_tree(wam())) and not is_articulated(moving_tree(followed()))


def test_without_the_jit_responses_run_in_python(monkeypatch):
    monkeypatch.setattr(config, "DISABLE_JIT", True)
    equations = compile_equations(wam(), ())
    q, _, tau = some_state(wam(), 2)
    F, x = np.zeros(factor_size(equations.tree)), np.zeros(4)
    equations.kernels.response_factor(q, F)
    equations.kernels.response(F, tau, x)
    np.testing.assert_allclose(equations.mass_matrix(q) @ x, tau, rtol=0, atol=1e-13)


# ---- rows


def unit_state(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, u and tau; all quaternions of unit length."""
    q, u, tau = some_state(model, seed)
    for k in model.quaternions:
        q[k : k + 4] /= np.linalg.norm(q[k : k + 4])
    return q, u, tau


def by_responses(equations: Equations, q, udot_free, A, s) -> SimpleNamespace:
    """What the kernel makes of the rows."""
    r, n = A.shape
    F = np.zeros(factor_size(equations.tree))
    equations.kernels.response_factor(q, F)
    out = SimpleNamespace(udot=np.full(n, np.nan), lam=np.zeros(r), Q=np.zeros((r, n)), Y=np.zeros((r, n)))
    out.L = np.zeros((r, r))
    scratch = (out.Q, out.Y, out.L, np.zeros(r))
    out.solved = response_acceleration(
        equations.address("response"), F, A, s, r, udot_free, *scratch, out.udot, out.lam
    )
    return out


def by_embedding(equations: Equations, q, u, tau, A, s) -> tuple[np.ndarray, np.ndarray]:
    """udot and forces of the other route, the dependent speeds chosen for these rows."""
    r, n = A.shape
    ws, combine = Workspace.zeros(sizes_of_run(equations.nq, n) | {"nr": r}), np.eye(r)
    M, f = equations.mass_matrix(q), tau - equations.bias(q, u)
    chosen = choose(A, M)
    assert chosen.rank == r
    udot, lam = np.zeros(n), np.zeros(r)
    assert embedded_acceleration(A, s, r, chosen.order, M, f, ws, udot) > 0.0
    constraint_forces(combine, r, r, chosen.order, M, f, ws, udot, lam)
    return udot, lam


def exact_solution(equations: Equations, q, u, tau, A, s) -> tuple[np.ndarray, np.ndarray]:
    """udot and forces of the full system, equations of motion and all, in 40 digits."""
    r, n = A.shape
    with mp.workdps(40):
        q, u, tau = ([mp.mpf(float(x)) for x in v] for v in (q, u, tau))
        link = Linkage(equations.tree, q)
        K, b = mp.zeros(n + r), mp.zeros(n + r, 1)
        K[:n, :n] = mp.matrix(recursions.mass_matrix(link))
        K[:n, n:], K[n:, :n] = -mp.matrix(A.T.tolist()), mp.matrix(A.tolist())
        h = recursions.inverse_dynamics(link, u, None)
        b[:n], b[n:] = mp.matrix([x - y for x, y in zip(tau, h, strict=True)]), -mp.matrix(s.tolist())
        x = np.array([float(value) for value in mp.lu_solve(K, b)])
    return x[:n], x[n:]


def assert_close(a: np.ndarray, b: np.ndarray, digits: float) -> None:
    """Largest difference relative to the largest entry."""
    np.testing.assert_allclose(a, b, rtol=0, atol=digits * np.abs(b).max())


@pytest.mark.parametrize("rows", [1, 3, 6])
@pytest.mark.parametrize(
    "make",
    [branching_tree, every_kind, followed, steep_chain, pytest.param(chain_of_40, marks=pytest.mark.long)],
)
def test_both_routes_agree_to_nine_digits(make, rows):
    equations = compile_equations(make(), ())
    n = equations.nu
    for seed in range(4):
        rng = np.random.default_rng(seed)
        q, u, tau = unit_state(equations.model, seed)
        A, s = rng.normal(size=(min(rows, n - 1), n)), rng.normal(size=min(rows, n - 1))
        ours = by_responses(equations, q, equations.forward_dynamics(q, u, tau), A, s)
        udot, lam = by_embedding(equations, q, u, tau, A, s)
        assert ours.solved
        assert_close(ours.udot, udot, 1e-9)
        assert_close(ours.lam, lam, 1e-9)


@pytest.mark.parametrize(("apart", "digits"), [(1e-3, 1e-11), (1e-5, 1e-9), (1e-7, 1e-7)])
@pytest.mark.parametrize("make", [wam, branching_tree, steep_chain])
def test_rows_close_to_one_another_lose_no_more_digits_than_they_must(make, apart, digits):
    equations = compile_equations(make(), ())
    n = equations.nu
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, u, tau = unit_state(equations.model, seed)
        A, s = rng.normal(size=(3, n)), rng.normal(size=3)
        A[2] = A[0] + apart * A[2]
        ours = by_responses(equations, q, equations.forward_dynamics(q, u, tau), A, s)
        udot, lam = exact_solution(equations, q, u, tau, A, s)
        assert ours.solved
        assert_close(ours.udot, udot, digits)
        assert_close(ours.lam, lam, digits)


def test_rows_are_met_to_the_last_digits_of_an_acceleration_much_smaller_than_the_free_one():
    equations = compile_equations(steep_chain(), ())
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q, u, tau = unit_state(equations.model, seed)
        A, s = rng.normal(size=(6, 12)), rng.normal(size=6)
        free = equations.forward_dynamics(q, u, tau)
        udot = by_responses(equations, q, free, A, s).udot
        assert np.abs(udot).max() < 1e-3 * np.abs(free).max()
        np.testing.assert_array_less(np.abs(A @ udot + s), 1e-14 * (np.abs(A) @ np.abs(udot) + 1.0))


@pytest.mark.parametrize("make", [wam, branching_tree, chain_of_40, steep_chain])
def test_dependent_rows_are_refused_and_nothing_is_written(make):
    equations = compile_equations(make(), ())
    for seed in range(10):
        A = np.random.default_rng(seed).normal(size=(3, equations.nu))
        A[2] = 2.3 * A[0] - 0.37 * A[1]
        q, u, tau = unit_state(equations.model, seed)
        free = equations.forward_dynamics(q, u, tau)
        found = by_responses(equations, q, free, A, np.ones(3))
        assert not found.solved and np.isnan(found.udot).all()
        A[1] = 0.0
        assert not by_responses(equations, q, free, A, np.ones(3)).solved


@pytest.mark.parametrize("make", [branching_tree, every_kind, followed])
def test_the_factor_is_that_of_the_inertia_felt_by_the_rows(make):
    equations = compile_equations(make(), ())
    for seed in range(3):
        q, u, _ = unit_state(equations.model, seed)
        A = np.random.default_rng(seed).normal(size=(3, equations.nu))
        found = by_responses(equations, q, u, A, np.zeros(3))
        assert_close(found.L @ found.L.T, A @ np.linalg.solve(equations.mass_matrix(q), A.T), 1e-11)
        np.testing.assert_allclose(found.Q @ found.Y.T, np.eye(3), rtol=0, atol=1e-11)
        assert not np.triu(found.L, 1).any()


def test_the_free_acceleration_may_be_corrected_in_place():
    equations = compile_equations(branching_tree(), ())
    q, u, tau = unit_state(equations.model, 3)
    A, s = np.random.default_rng(3).normal(size=(2, 11)), np.array([0.5, -1.0])
    apart = by_responses(equations, q, equations.forward_dynamics(q, u, tau), A, s)
    F, udot, lam = np.zeros(factor_size(equations.tree)), equations.forward_dynamics(q, u, tau), np.zeros(2)
    equations.kernels.response_factor(q, F)
    scratch = np.zeros((2, 11)), np.zeros((2, 11)), np.zeros((2, 2)), np.zeros(2)
    assert response_acceleration(equations.address("response"), F, A, s, 2, udot, *scratch, udot, lam)
    np.testing.assert_array_equal(udot, apart.udot)
    np.testing.assert_array_equal(lam, apart.lam)


def test_speeds_in_place_of_accelerations_give_the_plastic_impact():
    equations = compile_equations(branching_tree(), ())
    q, u, _ = unit_state(equations.model, 8)
    A = np.random.default_rng(8).normal(size=(3, 11))
    M = equations.mass_matrix(q)
    after = by_responses(equations, q, u, A, np.zeros(3)).udot
    expected, _ = naive.kkt(M, A, np.zeros(3), M @ u)
    assert_close(after, expected, 1e-12)
    lost = 0.5 * u @ M @ u - 0.5 * after @ M @ after
    assert lost == pytest.approx(0.5 * (u - after) @ M @ (u - after), rel=1e-11)


# ---- another library


def test_a_humanoid_on_two_hands_moves_as_in_pinocchio(monkeypatch):
    pin = pytest.importorskip("pinocchio")
    if "talos_reduced" not in library_models():
        pytest.skip("example-robot-data is not installed")
    path = library_models()["talos_reduced"]
    model = load_urdf(path, fixed_base=False, mimic=False)
    points = ("arm_left_7_link", "arm_right_7_link")
    equations = compile_equations(model, points)
    theirs = pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    theirs.armature = np.zeros(theirs.nv)
    data = theirs.createData()
    contacts, contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in points:
        frame = theirs.frames[theirs.getFrameId(name)]
        kind, axes = pin.ContactType.CONTACT_3D, pin.LOCAL_WORLD_ALIGNED
        contacts.append(pin.RigidConstraintModel(kind, theirs, frame.parentJoint, frame.placement, axes))
        contact_data.append(contacts[-1].createData())
    pin.initConstraintDynamics(theirs, data, contacts, contact_data)
    n, order = equations.nu, []
    for joint in model.moving_joints:
        start = theirs.joints[theirs.getJointId(joint.name)].idx_v
        order += [start + k for k in ((3, 4, 5, 0, 1, 2) if joint.kind == "free" else (0,))]
    for seed in range(5):
        q, u, tau = unit_state(model, seed)
        out = (
            np.zeros(equations.nq),
            np.zeros((2, 12)),
            np.zeros((2, n, 6)),
            np.zeros((2, 6)),
            np.zeros((2, 6)),
        )
        equations.kernels.kinematics(q, u, *out)
        A, s = out[2][:, :, 3:].transpose(0, 2, 1).reshape(6, n).copy(), out[4][:, 3:].ravel().copy()
        ours = by_responses(equations, q, equations.forward_dynamics(q, u, tau), A, s)
        pq, pv, ptau = np.zeros(theirs.nq), np.zeros(n), np.zeros(n)
        for joint in model.moving_joints:
            x, start = q[model.q_slice(joint.name)], theirs.joints[theirs.getJointId(joint.name)].idx_q
            pq[start : start + x.size] = [*x[:3], *x[4:], x[3]] if joint.kind == "free" else x
        pv[order], ptau[order] = u, tau
        settings = pin.ProximalSettings(1e-12, 1e-12, 1e-8, 20)
        peer = pin.constraintDynamics(theirs, data, pq, pv, ptau, contacts, contact_data, settings)[order]
        assert ours.solved
        assert_close(ours.udot, peer, 1e-10)
        np.testing.assert_allclose(A @ ours.udot + s, 0.0, rtol=0, atol=1e-10)


@pytest.mark.long
def test_the_benchmark_times_both_routes_and_they_agree():
    pytest.importorskip("pinocchio")
    found = numbers_of("bench_constraints.py", "--rounds", "1", "--quick")
    assert all(f["dense_us"] > 0.0 and f["responses_us"] > 0.0 for f in found["routes"])
    for name in ("udot", "the forces"):
        assert found["targets"][f"routes: largest relative difference of {name}"]["met"]
    assert found["arm"]["difference_pinocchio"] < 1e-7
