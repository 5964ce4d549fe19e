"""Compiled equations: the bits of the recursion, arrays written whole, kept on disk, refusals at the door."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, config
from numba.extending import intrinsic

from hapticsim.equations.base import Equations
from hapticsim.equations.catalogue import CATALOGUE, shapes_of
from hapticsim.equations.codegen.cache import forget_loaded
from hapticsim.equations.codegen.straightline import straight_line
from hapticsim.equations.compiled import compile_equations, signature
from hapticsim.equations.forest import OF_TICKS
from hapticsim.equations.scalars.sines import cos, sin
from hapticsim.equations.tree.impulse_response import response_factor
from hapticsim.errors import HapticsimError
from tests.models import (
    branching_tree,
    free_box,
    pendulum,
    planar_two_link,
    some_state,
    wam,
    with_zeros_between_trees,
)

FRAMES = ("tool", "flag", "post")


@pytest.fixture(scope="module")
def tree_equations() -> Equations:
    return compile_equations(branching_tree(), FRAMES)


def arrays_for(equations: Equations, name: str, seed: int) -> dict[str, np.ndarray]:
    """Inputs at random and outputs full of NaN, in the order of the call."""
    q, u, tau = some_state(equations.model, seed)
    F = np.array(response_factor(equations.tree, q.tolist()))
    inputs = {"q": q, "u": u, "tau": tau, "udot": tau, "delta": u, "F": F}
    shapes = shapes_of(name, equations.tree, equations.frames)
    arrays = {a: inputs[a] if a in CATALOGUE[name].inputs else np.full(s, np.nan) for a, s in shapes.items()}
    if name in OF_TICKS:
        zeros = {a: with_zeros_between_trees(equations.model, equations.frames, a) for a in ("M", "V")}
        arrays |= {a: zeros[a] for a in zeros if a in arrays}
    return arrays


@pytest.mark.parametrize("name", CATALOGUE)
def test_compiled_code_has_the_bits_of_the_recursion_on_floats(tree_equations, name):
    entry = CATALOGUE[name]
    for seed in range(5):
        arrays = arrays_for(tree_equations, name, seed)
        expected = entry.build(
            tree_equations.tree, tree_equations.frames, *(arrays[a].tolist() for a in entry.inputs)
        )
        getattr(tree_equations.kernels, name)(*arrays.values())
        for output in entry.outputs:
            np.testing.assert_array_equal(arrays[output], expected[output])


def test_a_rotated_body_has_the_same_acceleration_whether_abm_or_mass_matrix_gives_it(tree_equations):
    q, u, tau = some_state(tree_equations.model, 20)
    udot = tree_equations.forward_dynamics(q, u, tau)
    by_matrix = np.linalg.solve(tree_equations.mass_matrix(q), tau - tree_equations.bias(q, u))
    np.testing.assert_allclose(udot, by_matrix, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(tree_equations.inverse_dynamics(q, u, udot), tau, rtol=1e-11, atol=1e-11)


def test_kane_gives_what_the_single_functions_give(tree_equations):
    kane = arrays_for(tree_equations, "kane", 21)
    tree_equations.kernels.kane(*kane.values())
    kinematics = arrays_for(tree_equations, "kinematics", 21)
    tree_equations.kernels.kinematics(*kinematics.values())
    for name in ("qdot", "X", "V", "vel", "acc"):
        np.testing.assert_array_equal(kane[name], kinematics[name])
    np.testing.assert_array_equal(kane["M"], tree_equations.mass_matrix(kane["q"]))
    np.testing.assert_array_equal(kane["h"], tree_equations.bias(kane["q"], kane["u"]))
    velocity = np.einsum("frk,r->fk", kane["V"], kane["u"])
    np.testing.assert_allclose(kane["vel"], velocity, rtol=0, atol=1e-13)


def test_poses_and_partial_velocities_are_given_for_every_body_also_those_on_fixed_joints(tree_equations):
    q, _, _ = some_state(tree_equations.model, 22)
    kane = arrays_for(tree_equations, "kane", 22)
    tree_equations.kernels.kane(*kane.values())
    for k, name in enumerate(FRAMES):
        X = tree_equations.body_pose(name, q)
        np.testing.assert_allclose(kane["X"][k], [*X.rotation.ravel(), *X.translation], rtol=0, atol=1e-15)
        np.testing.assert_allclose(
            tree_equations.partial_velocities(name, q), kane["V"][k].T, rtol=0, atol=1e-15
        )
    np.testing.assert_array_equal(tree_equations.body_pose("post", q).translation, [1.0, 0.5, 0.0])
    assert not tree_equations.partial_velocities("post", q).any()


def test_gravity_force_is_the_bias_at_rest(tree_equations):
    q, _, _ = some_state(tree_equations.model, 23)
    g = np.empty(tree_equations.nu)
    tree_equations.kernels.gravity_force(q, g)
    np.testing.assert_array_equal(g, tree_equations.bias(q, np.zeros(tree_equations.nu)))


def test_displace_moves_by_the_speeds_and_keeps_quaternions_at_unit_length():
    equations = compile_equations(free_box(), ())
    q, u, _ = some_state(equations.model, 24)
    moved = np.empty(7)
    equations.kernels.displace(q, 1e-3 * u, moved)
    length = math.hypot(*moved[3:])  # rounds once; a norm by BLAS does as it likes
    assert length == pytest.approx(1.0, abs=2e-16)
    R = equations.body_pose("box", q).rotation
    np.testing.assert_allclose(moved[:3] - q[:3], R @ (1e-3 * u[3:]), rtol=0, atol=1e-15)
    turned = R.T @ equations.body_pose("box", moved).rotation
    axis = (
        np.array([turned[2, 1] - turned[1, 2], turned[0, 2] - turned[2, 0], turned[1, 0] - turned[0, 1]]) / 2
    )
    np.testing.assert_allclose(axis, 1e-3 * u[:3], rtol=0, atol=1e-8)


def test_normalise_works_in_place_and_leaves_other_coordinates_alone(tree_equations):
    q, _, _ = some_state(tree_equations.model, 25)
    wrong = q.copy()
    wrong[3:7] *= 1.01
    tree_equations.kernels.normalise(wrong)
    np.testing.assert_allclose(wrong, q, rtol=0, atol=1e-15)
    plain = compile_equations(pendulum(), ())
    angle = np.array([0.3])
    plain.kernels.normalise(angle)
    assert angle[0] == 0.3


def test_no_frames_is_a_valid_choice_and_none_means_the_moving_bodies_with_mass():
    model = wam()
    assert compile_equations(model).frames == ("base", "shoulder", "upper", "fore")
    none = compile_equations(planar_two_link(), ())
    arrays = arrays_for(none, "kane", 26)
    none.kernels.kane(*arrays.values())
    np.testing.assert_array_equal(arrays["M"], none.mass_matrix(arrays["q"]))


# ---- addresses


@intrinsic
def function_at(typingctx, address, like):
    """Turn an address (int64) into a first-class function of the type of ``like``."""
    kind = like.instance_type

    def codegen(context, builder, sig, args):
        made = cgutils.create_struct_proxy(kind)(context, builder)
        made.c_addr = builder.inttoptr(args[0], ir.IntType(8).as_pointer())
        return made._getvalue()

    return kind(types.int64, like), codegen


def test_an_address_is_a_function_for_compiled_code(tree_equations):
    kind = types.FunctionType(signature("bias"))

    @njit
    def call(address, q, u, h):
        function_at(address, kind)(q, u, h)

    q, u, _ = some_state(tree_equations.model, 27)
    h = np.empty(tree_equations.nu)
    call(tree_equations.address("bias"), q, u, h)
    np.testing.assert_array_equal(h, tree_equations.bias(q, u))


def test_every_kernel_has_an_address():
    addresses = compile_equations(pendulum(), ()).addresses
    assert set(addresses) == set(CATALOGUE) and all(a > 0 for a in addresses.values())


# ---- cache

USER = """
import sys
from hapticsim.equations.compiled import compile_equations
from tests.models import wam
equations = compile_equations(wam(), ("tip",), progress=sys.stdout.write)
print(equations.forward_dynamics([0.1, 0.2, 0.3, 0.4], [1, 1, 1, 1], [0, 0, 0, 0]).tolist())
print("hits", sum(equations.kernels.forward_dynamics.stats.cache_hits.values()),
equations.address("forward_dynamics") > 0)
"""


def test_a_second_process_loads_from_disk_and_two_at_once_do_not_disturb_each_other(tmp_path):
    environment = {**os.environ, "HAPTICSIM_CACHE_DIR": str(tmp_path)}
    root = Path(__file__).parents[2]

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", USER], cwd=root, env=environment, stdout=subprocess.PIPE, text=True
        )

    first = [start(), start()]
    outputs = [p.communicate(timeout=120)[0] for p in first]
    assert [p.returncode for p in first] == [0, 0]
    again = start()
    outputs.append(again.communicate(timeout=120)[0])
    results = [next(line for line in o.splitlines() if line.startswith("[") or "[" in line) for o in outputs]
    numbers = {r[r.index("[") :] for r in results}
    assert len(numbers) == 1
    assert any(re.search(r"compiling wam: forward_dynamics \.\.\. \d+\.\d s", o) for o in outputs[:2])
    assert "compiling" not in outputs[2] and "hits 1 True" in outputs[2]
    assert not list(tmp_path.rglob("*.draft"))


def test_machine_code_survives_that_its_source_is_written_again(tmp_path, monkeypatch):
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path))
    compile_equations(pendulum(), ()).bias([0.0], [0.0])
    (source,) = tmp_path.glob("*/bias.py")
    source.unlink()
    forget_loaded()
    again = compile_equations(pendulum(), ())
    again.bias([0.0], [0.0])
    assert sum(again.kernels.bias.stats.cache_hits.values()) == 1


def test_a_process_loads_a_function_once():
    """A thousand simulations of one robot would hold a thousand copies of its machine code."""
    first, second = (compile_equations(pendulum(), ()).kernels for _ in range(2))
    assert first.bias is second.bias


def test_another_mass_is_another_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path))
    state = ([0.3], [0.0], [1.0])
    light, heavy = (compile_equations(pendulum(mass=m), ()).forward_dynamics(*state)[0] for m in (1.0, 2.0))
    fall = -9.81 / 0.5 * np.sin(0.3)
    assert light == pytest.approx(fall + 1.0 / 0.25) and heavy == pytest.approx(fall + 1.0 / 0.5)
    assert len(list(tmp_path.glob("equations-*"))) == 2


def test_a_cache_that_cannot_be_written_is_refused_with_a_way_out(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(blocked))
    with pytest.raises(HapticsimError, match="set HAPTICSIM_CACHE_DIR to a folder that can be written"):
        compile_equations(pendulum(), ()).bias([0.0], [0.0])


def test_without_the_jit_the_same_functions_run_in_python(tree_equations, monkeypatch):
    q, u, tau = some_state(tree_equations.model, 28)
    compiled = tree_equations.forward_dynamics(q, u, tau)
    monkeypatch.setattr(config, "DISABLE_JIT", True)
    interpreted = compile_equations(branching_tree(), FRAMES)
    np.testing.assert_array_equal(interpreted.forward_dynamics(q, u, tau), compiled)
    with pytest.raises(HapticsimError, match="unset it to get addresses"):
        interpreted.address("bias")


# ---- refusals


@pytest.mark.parametrize(
    ("q", "sentence"),
    [
        (
            [0.0],
            "q of planar_two_link must have shape (2,), got (1,): "
            "one entry per coordinate of shoulder, elbow.",
        ),
        ([0.0, np.nan], "q[1] of planar_two_link is not finite: give a number."),
        ("up", "q of planar_two_link must be 2 numbers, got 'up'."),
    ],
)
def test_a_wrong_argument_is_refused_in_one_sentence(q, sentence):
    equations = compile_equations(planar_two_link(), ())
    with pytest.raises(HapticsimError, match=f"^{re.escape(sentence)}$"):
        equations.mass_matrix(q)


def test_an_unknown_frame_is_refused_before_anything_is_compiled():
    with pytest.raises(HapticsimError, match=r"has no body 'fro' \(did you mean 'fore'\?\)"):
        compile_equations(planar_two_link(), ["fro"])


def test_an_unknown_kernel_is_refused_with_the_nearest_name():
    with pytest.raises(AttributeError, match=r"no kernel 'mass' \(did you mean 'mass_matrix'\?\)"):
        _ = compile_equations(planar_two_link(), ()).kernels.mass


# ---- straight lines


@straight_line(a=(3,), b=(2, 2))
def lines(a, b):
    x = a[0]
    t = sqrt(x)  # noqa: F821
    s = -t + a[1] / 3.0
    b[0, 0] = s
    b[1, 0] = sin(s) - cos(t)
    b[1, 1] = -x


@straight_line(a=(1,))
def not_lines(a):
    if a[0] > 0.0:
        a[0] = 1.0


def test_straight_lines_have_the_bits_of_python_and_touch_nothing_else():
    @njit("void(float64[::1], float64[:, ::1])")
    def run(a, b):
        lines(a, b)

    a, b = np.array([2.0, 0.7, 0.0]), np.full((2, 2), 7.0)
    run(a, b)
    s = -np.sqrt(2.0) + 0.7 / 3.0
    np.testing.assert_array_equal(b, [[s, 7.0], [sin(s) - cos(np.sqrt(2.0)), -2.0]])


def test_a_branch_is_not_a_straight_line():
    with pytest.raises(Exception, match=r"line \d+ is not straight-line code: if a\[0\]"):

        @njit("void(float64[::1])")
        def run(a):
            not_lines(a)
