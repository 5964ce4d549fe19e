"""The recursions on floats against Kane's equations from scratch in 60 digits, and against invariants."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.equations.scalars.spatial import constant_type, sin_cos
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Joint
from hapticsim.model.multibody.tree import Model
from tests import models
from tests.models import ALL, at, body, some_state, turn


@sin_cos.register
def _(x: mp.mpf):
    return mp.sin(x), mp.cos(x)


@constant_type.register
def _(x: mp.mpf):
    return mp.mpf


# ---- a naive twin: no spatial vectors, no lumping, no recursion shared with what it tests


def naive_poses(model: Model, q) -> dict[str, tuple[mp.matrix, mp.matrix]]:
    """Pose of every body of the model as it stands in the file, by plain composition in mpmath."""
    found = {WORLD: (mp.eye(3), mp.zeros(3, 1))}
    for joint in model.joints:
        R, p = found[joint.parent]
        p = p + R * mp.matrix(joint.X_PJ.translation.tolist())
        R = R * mp.matrix(joint.X_PJ.rotation.tolist())
        x = q[model.q_slice(joint.name)]
        axis = mp.matrix(joint.axis_J.tolist())
        if joint.kind in ("revolute", "continuous"):
            K = naive_skew(axis)
            R = R * (mp.eye(3) + mp.sin(x[0]) * K + (1 - mp.cos(x[0])) * (K * K))
        elif joint.kind == "prismatic":
            p = p + R * axis * x[0]
        elif joint.kind == "free":
            p = p + R * mp.matrix(x[:3])
            w, v = x[3], mp.matrix(x[4:])
            norm = mp.sqrt(w * w + sum(e * e for e in v))
            K = naive_skew(v / norm)
            R = R * (mp.eye(3) + 2 * (w / norm) * K + 2 * (K * K))
        found[joint.child] = (R, p)
    return found


def naive_skew(a) -> mp.matrix:
    return mp.matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def naive_path(model: Model, q, u, udot, t) -> list:
    """Coordinates at time t on a path that has q, u and udot at time zero (right to second order in t)."""
    path = []
    for joint in model.joints:
        mine = model.u_slice(joint.name)
        x, v, a = list(q[model.q_slice(joint.name)]), list(u[mine]), list(udot[mine])
        if joint.kind == "free":
            quat, omega = x[3:], v[:3]
            rate = naive_quaternion_product(quat, [0, *(e / 2 for e in omega)])
            second = [
                i + j
                for i, j in zip(
                    naive_quaternion_product(rate, [0, *(e / 2 for e in omega)]),
                    naive_quaternion_product(quat, [0, *(e / 2 for e in a[:3])]),
                    strict=True,
                )
            ]
            K = naive_skew(quat[1:])
            R = mp.eye(3) + 2 * quat[0] * K + 2 * (K * K)
            velocity, linear = mp.matrix(v[3:]), mp.matrix(a[3:])
            p_rate, p_second = R * velocity, R * (naive_skew(omega) * velocity + linear)
            path += [x[k] + p_rate[k] * t + p_second[k] * t * t / 2 for k in range(3)]
            path += [quat[k] + rate[k] * t + second[k] * t * t / 2 for k in range(4)]
        else:
            path += [xk + vk * t + ak * t * t / 2 for xk, vk, ak in zip(x, v, a, strict=True)]
    return path


def naive_quaternion_product(a, b) -> list:
    u, v = mp.matrix(a[1:]), mp.matrix(b[1:])
    w = a[0] * b[0] - sum(x * y for x, y in zip(u, v, strict=True))
    return [w, *(a[0] * v + b[0] * u + naive_skew(u) * v)]


def naive_motion(model: Model, q, u, udot) -> dict[str, tuple]:
    """For every body p, R, omega, v, alpha, a of its origin, by differences of poses in 60 digits."""
    h = mp.mpf("1e-13")
    before, now, after = (naive_poses(model, naive_path(model, q, u, udot, t)) for t in (-h, mp.mpf(0), h))
    motion = {}
    for name, (R, p) in now.items():
        (R0, p0), (R1, p1) = before[name], after[name]
        W = (R1 - R0) / (2 * h) * R.T
        A = (R1 - 2 * R + R0) / h**2 * R.T
        omega, alpha = (
            mp.matrix([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]]) / 2 for B in (W, A)
        )
        motion[name] = p, R, omega, (p1 - p0) / (2 * h), alpha, (p1 - 2 * p + p0) / h**2
    return motion


def naive_partials(model: Model, q) -> list[dict[str, tuple]]:
    """For every speed the (omega_r, v_r) of every body."""
    zero = [mp.mpf(0)] * model.nu
    partials = []
    for r in range(model.nu):
        u = list(zero)
        u[r] = mp.mpf(1)
        motion = naive_motion(model, q, u, zero)
        partials.append({name: (m[2], m[3]) for name, m in motion.items()})
    return partials


def naive_forces(model: Model, q, u, udot) -> np.ndarray:
    """Kane's equations: inertia force and weight of every body, dotted with its partial velocities."""
    with mp.workdps(60):
        q, u, udot = ([mp.mpf(float(x)) for x in v] for v in (q, u, udot))
        motion, partials = naive_motion(model, q, u, udot), naive_partials(model, q)
        g = mp.matrix(model.gravity_W.tolist())
        tau = [mp.mpf(0)] * model.nu
        for b in model.bodies:
            _, R, omega, _, alpha, a = motion[b.name]
            I = R * mp.matrix(b.inertia_com_B.tolist()) * R.T
            c = R * mp.matrix(b.com_B.tolist())
            W, A = naive_skew(omega), naive_skew(alpha)
            force = b.mass * (a + A * c + W * (W * c) - g)
            moment = I * alpha + W * (I * omega)
            for r in range(model.nu):
                omega_r, v_r = partials[r][b.name]
                v_c = v_r + naive_skew(omega_r) * c
                tau[r] += (omega_r.T * moment)[0] + (v_c.T * force)[0]
        for joint in model.joints:
            for r in range(model.nu)[model.u_slice(joint.name)]:
                tau[r] += joint.armature * udot[r]
        return np.array([float(x) for x in tau])


def linkage(model: Model, q) -> Linkage:
    return Linkage(moving_tree(model), np.asarray(q).tolist())


# ---- against the twin


@pytest.mark.parametrize("make", ALL)
def test_inverse_dynamics_is_kanes_equations_written_out(make):
    model = make()
    q, u, udot = some_state(model, 1)
    tau = recursions.inverse_dynamics(linkage(model, q), u.tolist(), udot.tolist())
    np.testing.assert_allclose(tau, naive_forces(model, q, u, udot), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("make", ALL)
def test_kinematics_are_the_derivatives_of_the_poses(make):
    model = make()
    q, u, _ = some_state(model, 2)
    names = list(model.body_names)
    found = CATALOGUE["kinematics"].build(moving_tree(model), names, q.tolist(), u.tolist())
    with mp.workdps(60):
        mp_q, mp_u = ([mp.mpf(float(x)) for x in v] for v in (q, u))
        motion = naive_motion(model, mp_q, mp_u, [mp.mpf(0)] * model.nu)
        partials = naive_partials(model, mp_q)
        step = mp.mpf("1e-25")
        ahead = naive_path(model, mp_q, mp_u, [mp.mpf(0)] * model.nu, step)
        qdot = [float((b - a) / step) for a, b in zip(mp_q, ahead, strict=True)]
    np.testing.assert_allclose(found["qdot"], qdot, rtol=0, atol=1e-13)
    for k, name in enumerate(names):
        p, R, omega, v, alpha, a = (np.array(m.tolist(), float) for m in motion[name])
        np.testing.assert_allclose(found["X"][k], [*R.ravel(), *p.ravel()], rtol=0, atol=1e-13)
        np.testing.assert_allclose(found["vel"][k], [*omega.ravel(), *v.ravel()], rtol=0, atol=1e-13)
        np.testing.assert_allclose(found["acc"][k], [*alpha.ravel(), *a.ravel()], rtol=0, atol=1e-12)
        for r in range(model.nu):
            expected = [float(x) for part in partials[r][name] for x in part]
            np.testing.assert_allclose(found["V"][k][r], expected, rtol=0, atol=1e-13)


# ---- invariants


@pytest.mark.parametrize("make", ALL)
def test_forward_and_inverse_dynamics_undo_each_other(make):
    model = make()
    q, u, tau = some_state(model, 3)
    link = linkage(model, q)
    udot = recursions.forward_dynamics(link, u.tolist(), tau.tolist())
    np.testing.assert_allclose(
        recursions.inverse_dynamics(link, u.tolist(), udot), tau, rtol=1e-11, atol=1e-11
    )


@pytest.mark.parametrize("make", ALL)
def test_mass_matrix_and_bias_make_up_inverse_dynamics(make):
    model = make()
    q, u, udot = some_state(model, 4)
    link = linkage(model, q)
    M = np.array(recursions.mass_matrix(link))
    h = np.array(recursions.inverse_dynamics(link, u.tolist(), None))
    np.testing.assert_array_equal(M, M.T)
    assert np.linalg.eigvalsh(M).min() > 0.0
    np.testing.assert_allclose(
        M @ udot + h, recursions.inverse_dynamics(link, u.tolist(), udot.tolist()), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("make", ALL)
def test_kinetic_energy_is_half_the_mass_matrix_between_the_speeds(make):
    model = make()
    q, u, _ = some_state(model, 5)
    link = linkage(model, q)
    kinetic, _ = recursions.energy(link, u.tolist())
    M = np.array(recursions.mass_matrix(link))
    assert kinetic == pytest.approx(0.5 * u @ M @ u, rel=1e-13)


@pytest.mark.parametrize("make", ALL)
def test_power_of_the_forces_is_the_rate_of_the_energy(make):
    model = make()
    tree = moving_tree(model)
    q, u, tau = some_state(model, 6)
    udot = np.array(recursions.forward_dynamics(linkage(model, q), u.tolist(), tau.tolist()))

    def energy_after(t: float) -> float:
        moved = CATALOGUE["displace"].build(tree, (), q.tolist(), (t * u).tolist())["qnew"]
        return sum(recursions.energy(linkage(model, moved), (u + t * udot).tolist()))

    h = 1e-5
    rate = (energy_after(h) - energy_after(-h)) / (2.0 * h)
    assert rate == pytest.approx(float(tau @ u), rel=1e-6, abs=1e-6)


def test_a_pendulum_falls_as_the_textbook_says():
    length, q = 0.5, 0.7
    (udot,) = recursions.forward_dynamics(linkage(models.pendulum(length), [q]), [3.0], [0.0])
    assert udot == pytest.approx(-9.81 / length * np.sin(q), rel=1e-14)


def test_a_still_scene_has_velocity_and_acceleration_of_exact_zero():
    model = models.branching_tree()
    q, _, _ = some_state(model, 7)
    found = CATALOGUE["kane"].build(moving_tree(model), model.body_names, q.tolist(), [0.0] * model.nu)
    assert not np.any(found["vel"]) and not np.any(found["acc"])


def test_a_free_body_falls_with_gravity_and_keeps_turning():
    model = models.free_box()
    q, u, _ = some_state(model, 8)
    udot = np.array(recursions.forward_dynamics(linkage(model, q), u.tolist(), [0.0] * 6))
    R = turn(q[4:], 2.0 * np.arctan2(np.linalg.norm(q[4:]), q[3]))
    omega, v, c = u[:3], u[3:], model.bodies[0].com_B
    a_com = udot[3:] + np.cross(omega, v) + np.cross(udot[:3], c) + np.cross(omega, np.cross(omega, c))
    I = model.bodies[0].inertia_com_B
    np.testing.assert_allclose(R @ a_com, model.gravity_W, rtol=0, atol=1e-12)
    np.testing.assert_allclose(I @ udot[:3] + np.cross(omega, I @ omega), 0.0, rtol=0, atol=1e-13)


# ---- lumping


def test_fixed_joints_disappear_and_leave_their_mass_where_it_was():
    tree = moving_tree(models.branching_tree())
    assert [b.name for b in tree.bodies] == ["trunk", "left", "right", "slider", "drum", "flag"]
    assert [b.mass for b in tree.bodies] == pytest.approx([4.3, 1.5, 0.9, 0.6, 0.5, 0.2])
    assert tree.where["lamp"][0] == 0 and tree.where["tool"][0] == 1 and tree.where["post"][0] == -1
    assert tree.path(4) == [0, 2, 3, 4] and tree.path(-1) == []


def test_every_joint_moves_along_a_coordinate_axis_of_its_own_frame():
    for make in ALL:
        for b in moving_tree(make()).bodies:
            if b.joint.kind != "free":
                R_BM = moving_tree(make()).where[b.name][1].rotation.T
                np.testing.assert_allclose(R_BM[:, b.axis] * b.sign, b.joint.axis_J, rtol=0, atol=1e-15)


def test_an_unknown_body_is_refused_with_the_nearest_name():
    tree = moving_tree(models.planar_two_link())
    with pytest.raises(HapticsimError, match=r"^planar_two_link has no body 'for' \(did you mean 'fore'\?\)"):
        tree.place_of("for")


# ---- digits


def chain(masses: list[float], lengths: list[float], skew: bool) -> Model:
    """Rods one after another, turning about alternating axes; lengths [m], masses [kg]."""
    bodies, joints, parent, place = [], [], WORLD, 0.0
    for k, (m, l) in enumerate(zip(masses, lengths, strict=True)):
        moments = (m * l * l / 12, m * l * l / 12, m * l * l / 100)
        bodies.append(body(f"rod{k}", m, (0.02 * l, 0.01 * l, -l / 2), moments))
        axis = [models.X, models.Y, np.array([2.0, -1.0, 2.0]) / 3.0][k % 3 if skew else k % 2]
        joints.append(Joint(f"j{k}", "revolute", parent, f"rod{k}", X_PJ=at(z=place), axis_J=axis))
        parent, place = f"rod{k}", -l
    return Model("chain", tuple(bodies), tuple(joints))


@pytest.mark.parametrize("skew", [False, True])
def test_a_light_body_before_a_heavy_one_keeps_its_digits(skew):
    """Masses and lengths 1, 10, .. 1e5: a factorised mass matrix is left with two digits here."""
    sizes = [10.0**k for k in range(6)]
    model = chain(sizes, sizes, skew)
    tree = moving_tree(model)
    worst_abm = worst_crbm = 0.0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q, u, tau = (rng.uniform(-1.0, 1.0, model.nu) for _ in range(3))
        with mp.workdps(60):
            exact = recursions.forward_dynamics(
                Linkage(tree, [mp.mpf(x) for x in q]), [mp.mpf(x) for x in u], [mp.mpf(x) for x in tau]
            )
        exact = np.array([float(x) for x in exact])
        link = Linkage(tree, q.tolist())
        udot = np.array(recursions.forward_dynamics(link, u.tolist(), tau.tolist()))
        M, h = np.array(recursions.mass_matrix(link)), recursions.inverse_dynamics(link, u.tolist(), None)
        other = np.linalg.solve(M, tau - h)
        worst_abm = max(worst_abm, np.abs((udot - exact) / exact).max())
        worst_crbm = max(worst_crbm, np.abs((other - exact) / exact).max())
    assert worst_abm < 1e-11
    assert worst_crbm > 1e3 * worst_abm  # the chain is hard, or the first line would mean nothing


# ---- random trees


@settings(max_examples=25, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 6))
def test_any_tree_agrees_with_itself(seed, n):
    rng = np.random.default_rng(seed)
    bodies, joints = [], []
    for k in range(n):
        kind = rng.choice(["revolute", "prismatic", "fixed", "free"])
        parent = WORLD if k == 0 else rng.choice([WORLD, *(b.name for b in bodies)])
        axis = rng.normal(size=3)
        bodies.append(
            body(
                f"b{k}",
                rng.uniform(0.2, 3.0),
                tuple(rng.normal(size=3) * 0.2),
                tuple(rng.uniform(0.5, 0.9, 3)),
            )
        )
        X = at(*rng.normal(size=3), rotation=turn(rng.normal(size=3), rng.uniform(-3.0, 3.0)))
        joints.append(
            Joint(
                f"j{k}",
                str(kind),
                str(parent),
                f"b{k}",
                X,
                axis / np.linalg.norm(axis),
                armature=rng.choice([0, 0.3]),
            )
        )
    model = Model("random", tuple(bodies), tuple(joints))
    q, u, tau = some_state(model, seed)
    link = linkage(model, q)
    udot = np.array(recursions.forward_dynamics(link, u.tolist(), tau.tolist()))
    np.testing.assert_allclose(
        recursions.inverse_dynamics(link, u.tolist(), udot.tolist()), tau, rtol=1e-9, atol=1e-9
    )
    if model.nu:
        M, h = np.array(recursions.mass_matrix(link)), recursions.inverse_dynamics(link, u.tolist(), None)
        np.testing.assert_allclose(M @ udot + h, tau, rtol=1e-9, atol=1e-9)
