"""What a scene gets from a mechanism: its model, its cache, its operation counts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import hapticsim
from hapticsim import HapticsimError, compile_mechanism, load_mechanism
from hapticsim.equations.kane.mechanism import System
from hapticsim.equations.kane.operations import count_dynamical, count_kinematical
from hapticsim.equations.kane.source import DESCRIPTION, mechanism_folder
from tests.mechanisms import FOLDER, pendulum, ready

CONFIGS = Path(__file__).parents[2] / "configs"


def test_the_wrist_with_careful_speeds_needs_no_more_operations_than_table_3():
    system = System(ready("wrist"), "wrist")
    count = count_dynamical(system, "tool")
    assert count["mul"] + count["div"] <= 29
    assert count["add"] <= 16
    assert count["sincos"] <= 10
    count = count_kinematical(system)
    assert count["mul"] + count["div"] <= 10
    assert count["add"] <= 4
    assert count["sincos"] <= 9


def test_rates_as_speeds_cost_the_wrist_more_but_less_than_table_3():
    system = System(ready("wrist", speeds="rates"), "wrist")
    count, careful = count_dynamical(system, "tool"), count_dynamical(System(ready("wrist"), ""), "tool")
    assert careful["mul"] < count["mul"] + count["div"] <= 790
    assert careful["add"] < count["add"] <= 285
    assert count["sincos"] <= 372
    assert not any(count_kinematical(system).values())


def test_a_body_to_count_for_must_exist():
    with pytest.raises(HapticsimError, match=r"has no body 'tol' .did you mean 'tool'"):
        count_dynamical(System(ready("wrist"), ""), "tol")


def test_models_say_what_their_speeds_are_rates_of():
    cart = load_mechanism(FOLDER / "shopping_cart.py")
    assert [(j.name, j.nq, j.nu) for j in cart.moving_joints] == [("u1", 0, 1), ("q3", 1, 1), ("u3", 0, 1)]
    assert (cart.q_slice("q3"), cart.u_slice("q3")) == (slice(2, 3), slice(1, 2))
    assert cart.q_slice("u3").stop == cart.q_slice("u3").start
    assert [v.unit for v in cart.coordinates] == ["m", "m", "rad", "rad"]
    assert [v.unit for v in cart.speeds] == ["m", "rad", "rad"]
    assert [(c.name, c.held, len(c.rows)) for c in cart.constraints] == [
        ("caster rolls", True, 1),
        ("caster sticks", False, 1),
    ]
    assert [row.angular for c in cart.constraints for row in c.rows] == [False, True], "a force, a torque"
    disk = load_mechanism(FOLDER / "rolling_disk.py", {"radius_m": 0.2})
    assert [v.unit for v in disk.coordinates] == ["m", "rad", "m"]
    assert [v.unit for v in disk.speeds] == ["m", "m", "m"], "u2 is the speed of the rim"
    assert disk.q0.tolist() == [0.0, 0.0, 0.2]
    assert disk.bodies[0].mass == 1.0
    assert disk.bodies[0].inertia_com_B == pytest.approx(np.diag([0.01, 0.01, 0.02]))
    assert disk.rigid_groups() == {
        "world": "world",
        "disk": "disk",
        "ramp": "world",
    }  # the ramp does not move
    assert disk.constraints[1].friction.normal == "contact"
    assert [row.equation for c in disk.constraints for row in c.rows] == [0, 1]


def test_parameters_change_the_equations():
    light, heavy = (
        compile_mechanism(load_mechanism(FOLDER / "wrist.py", {"mass_kg": m})) for m in (0.5, 2.0)
    )
    q = [0.1, 1.0, 0.2]
    assert heavy.mass_matrix(q)[0, 0] - light.mass_matrix(q)[0, 0] == pytest.approx(1.5 * 0.12**2)


def test_a_second_start_neither_runs_the_file_nor_loads_sympy(tmp_path):
    marker = tmp_path / "ran"
    path = tmp_path / "wrist.py"
    path.write_text(f"open({str(marker)!r}, 'a').write('x')\n" + (FOLDER / "wrist.py").read_text())
    program = (
        "import sys, hapticsim\n"
        f"eq = hapticsim.compile_mechanism(hapticsim.load_mechanism({str(path)!r}))\n"
        "print(eq.forward_dynamics([0.1, 1.0, 0.2], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0]).tolist())\n"
        "print('sympy' in sys.modules)\n"
    )
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        for _ in range(2)
    ]
    (first, loaded), (second, loaded_again) = (run.stdout.split("\n")[:2] for run in runs)
    assert (loaded, loaded_again) == ("True", "False")
    assert first == second
    assert marker.read_text() == "x"


def test_a_damaged_description_is_made_again():
    model = load_mechanism(FOLDER / "wrist.py")
    kept = mechanism_folder(model.source.digest) / DESCRIPTION
    for text in ("{", "{}", "[]"):
        kept.write_text(text)
        assert load_mechanism(FOLDER / "wrist.py").coordinates == model.coordinates
        assert kept.read_text() != text


def test_equal_mechanisms_made_in_python_share_their_code_and_others_do_not():
    digests = [compile_mechanism(pendulum(n)).model.source.digest for n in (2, 2, 3)]
    assert digests[0] == digests[1] != digests[2]


@pytest.mark.parametrize("name", ["rolling_disk", "wrist", "shopping_cart"])
def test_the_ready_scenes_hold_a_mechanism(name):
    scene = hapticsim.load(CONFIGS / f"{name}.yaml")
    equations = compile_mechanism(scene.model)
    phi, A, _, _ = equations.rows(scene.q0, scene.u0)
    assert len(phi) == sum(len(c.rows) for c in scene.model.constraints)
    assert not phi.any()
    assert A.shape == (len(phi), equations.nu)
    handle = equations.body_pose(scene.handle.body, scene.q0)
    assert np.all(np.isfinite(handle.translation))


def test_a_pendulum_made_in_python_is_known_without_a_file():
    said = []
    equations = compile_mechanism(pendulum(2), frames=["tip"], progress=said.append)
    assert equations.frames == ("tip",)
    assert equations.body_pose("tip", [0.0, 0.0]).translation == pytest.approx([0.0, 0.0, -0.8])
    with pytest.raises(HapticsimError, match="there is no algorithm 'crbm_cholesky': use forward_dynamics"):
        equations.algorithm("crbm_cholesky")
