"""What is said of a model is true of it: masses, numbers of operations, conditioning, the tree."""

from __future__ import annotations

import ast
import json
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from hapticsim.commands.inspection import (
    examine,
    model_tree,
    parse_locks,
    read_model,
    show_model,
    summary,
)
from hapticsim.config.load import load, loads
from hapticsim.equations.compiled import generate
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import Mimic
from hapticsim.model.reduce import lock_joints
from hapticsim.model.write import model_to_yaml
from tests.model.test_urdf import ARM
from tests.models import ALL, branching_tree, free_box, pendulum, planar_two_link, some_state
from tests.places import CONFIGS, PUCK, WAM

URDF = """<robot name="swing">
  <link name="base"/>
  <link name="bob"><inertial><origin xyz="0 0 -1"/><mass value="2"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="bob"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="0.5" effort="3" velocity="4"/></joint>
</robot>"""


def drawn(model) -> str:
    console = Console(width=200, highlight=False)
    with console.capture() as capture:
        console.print(model_tree(examine(model)))
    return capture.get()


@pytest.mark.parametrize("make", ALL)
def test_operations_are_counted_as_the_generated_source_has_them(make):
    model = make()
    nodes = list(ast.walk(ast.parse(generate("forward_dynamics", moving_tree(model), ()))))
    operators = [type(n.op).__name__ for n in nodes if isinstance(n, ast.BinOp)]
    calls = [n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)]
    count = examine(model)["forward_dynamics_operations"]
    assert count["mul"] == operators.count("Mult") > 0
    assert count["add"] == operators.count("Add") + operators.count("Sub")
    assert count["div"] == operators.count("Div")
    assert count["sincos"] == calls.count("sin") + calls.count("cos")
    assert count["sqrt"] == calls.count("sqrt")


def test_mass_and_centre_of_mass_of_two_rods():
    """Rods of 0.4 and 0.3 m; the elbow is turned up by a quarter turn."""
    found = examine(planar_two_link(), np.array([0.0, np.pi / 2]))
    assert found["mass_kg"] == pytest.approx(1.9)
    expected = [(1.2 * 0.2 + 0.7 * 0.4) / 1.9, 0.0, 0.7 * 0.15 / 1.9]
    np.testing.assert_allclose(found["com_W_m"], expected, atol=1e-15)


def test_bodies_fixed_to_the_world_have_mass_and_do_not_move():
    found = examine(branching_tree())
    assert found["mass_kg"] - found["moving_mass_kg"] == pytest.approx(5.0)


def test_the_condition_number_is_that_of_the_mass_matrix():
    q = np.array([0.3, 1.1])
    l1, l2, m1, m2 = 0.4, 0.3, 1.2, 0.7
    fore, both = m2 * l2 * l2 / 3, m1 * l1 * l1 / 3 + m2 * l1 * l1
    coupled = 0.5 * m2 * l1 * l2 * np.cos(q[1])
    M = np.array([[both + fore + 2 * coupled, fore + coupled], [fore + coupled, fore]])
    eigenvalues = np.linalg.eigvalsh(M)
    assert examine(planar_two_link(), q)["mass_matrix_condition"] == pytest.approx(
        eigenvalues[1] / eigenvalues[0], rel=1e-12
    )


def test_a_model_in_which_nothing_moves_has_no_condition_number():
    found = examine(lock_joints(pendulum(), {"hinge": 0.1}))
    assert (found["nu"], found["mass_matrix_condition"]) == (0, None)
    assert "condition number of the mass matrix there: none" in summary(found)


@pytest.mark.parametrize("make", ALL)
def test_what_is_found_is_plain_json(make):
    model = make()
    found = examine(model, some_state(model, 1)[0])
    assert json.loads(json.dumps(found, allow_nan=False)) == found


@pytest.mark.parametrize("make", ALL)
def test_the_tree_shows_every_body_below_its_parent(make):
    model = make()
    lines = drawn(model).splitlines()
    depth = {"world": lines[0].index("world")}
    for joint in model.joints:
        line = next(l for l in lines if f" {joint.child} " in f"{l} " and f"({joint.name}: " in l)
        depth[joint.child] = line.index(joint.child)
        assert depth[joint.child] == depth[joint.parent] + 4
    assert len(lines) == len(model.bodies) + 1


def test_a_line_says_how_the_joint_moves():
    text = drawn(load(WAM).model)
    assert "forearm 1.065 kg  (J4: revolute about z, -0.9 to 3.1 rad, damping 0.5 N m s/rad)" in text
    text = drawn(branching_tree())
    assert "(left_joint: revolute about (0.3333, 0.6667, -0.6667))" in text
    assert "(right_joint: continuous about -x, armature 0.01 kg m^2)" in text
    assert "(slider_joint: prismatic along y, armature 0.2 kg)" in text
    assert "(trunk_joint: free)" in text
    led = replace(planar_two_link().joints[1], mimic=Mimic("shoulder", -0.5, 0.2))
    model = planar_two_link()
    text = drawn(replace(model, joints=(model.joints[0], led)))
    assert "(elbow: revolute about -y, follows -0.5 times shoulder plus 0.2)" in text


def test_names_in_brackets_are_not_taken_for_colours():
    model = free_box()
    model = replace(
        model,
        bodies=(replace(model.bodies[0], name="[red]box[/red]"),),
        joints=(replace(model.joints[0], child="[red]box[/red]"),),
    )
    assert "[red]box[/red] 2 kg" in drawn(model)


def test_a_scene_is_examined_where_it_starts_and_a_urdf_at_zero(tmp_path):
    _, q = read_model(PUCK)
    np.testing.assert_array_equal(q, load(PUCK).q0)
    assert q[2] != 0.0
    file = tmp_path / "swing.urdf"
    file.write_text(URDF, encoding="utf-8")
    notes: list[str] = []
    model, q = read_model(file, notes)
    assert (model.name, q.tolist()) == ("swing", [0.0])
    assert any("limits" in note for note in notes)


def test_printed_as_yaml_it_is_a_scene_with_the_joint_locked(capsys):
    show_model(WAM, ["J3=0.25"], as_yaml=True)
    read, expected = loads(capsys.readouterr().out).model, lock_joints(load(WAM).model, {"J3": 0.25})
    assert [(j.name, j.kind) for j in read.joints] == [(j.name, j.kind) for j in expected.joints]
    np.testing.assert_allclose(read.joints[2].X_PJ.rotation, expected.joints[2].X_PJ.rotation, atol=1e-15)


def test_printed_as_json_it_is_what_was_found(capsys):
    show_model(WAM, ["J2=0.5"], as_json=True)
    printed = json.loads(capsys.readouterr().out)
    scene = load(WAM)
    assert printed == examine(lock_joints(scene.model, {"J2": 0.5}), np.delete(scene.q0, 1))


def test_printed_for_people_it_is_the_tree_and_the_numbers(capsys):
    show_model(WAM)
    out = capsys.readouterr().out
    found = examine(load(WAM).model, load(WAM).q0)
    assert out.startswith("world\n") and out.endswith(summary(found) + "\n")
    assert all(name in out for name in load(WAM).model.body_names)


def test_a_lock_is_a_name_and_a_number():
    assert parse_locks(["elbow=0.5", "a=b=-1e-3"]) == {"elbow": 0.5, "a=b": -1e-3}


@pytest.mark.parametrize("word", ["elbow", "elbow=", "=0.5", "elbow=half"])
def test_a_lock_that_is_not_is_refused(word):
    with pytest.raises(HapticsimError) as caught:
        parse_locks([word])
    assert str(caught.value) == (
        f"--lock {word} is not usable: write JOINT=VALUE with the displacement in rad or m, "
        "such as --lock elbow=0.5."
    )


def test_a_joint_locked_twice_and_two_outputs_at_once_are_refused():
    with pytest.raises(HapticsimError, match="--lock a=2 locks 'a' a second time: give it once"):
        parse_locks(["a=1", "a=2"])
    with pytest.raises(HapticsimError, match="--yaml and --json are two outputs: choose one of them"):
        show_model(WAM, as_yaml=True, as_json=True)


def test_a_scene_that_will_be_refused_for_published_inertias_is_printed_with_a_note(tmp_path, capsys):
    file, notes = tmp_path / "arm.urdf", []
    file.write_text(ARM.replace('izz="2.5"', 'izz="4.5"'))
    show_model(file, as_yaml=True, notes=notes)
    assert notes[-1] == (
        "this scene will be refused until these inertias are corrected: middle; "
        "a scene with robot.urdf uses them as published."
    )
    with pytest.raises(HapticsimError, match="which no body can have"):
        loads(capsys.readouterr().out)


DISK = CONFIGS / "rolling_disk.yaml"


def test_of_a_mechanism_the_variables_bodies_constraints_and_sensors_are_shown(capsys):
    show_model(DISK)
    words = capsys.readouterr().out
    assert words.startswith("rolling disk: a mechanism by Kane's method, 3 coordinates, 3 speeds\n")
    for line in (
        "  q3 = 0.06 m",
        "  u1 = 0 m/s, the rate of q1",
        "  u2 = 0 m/s",
        "  disk 0.5 kg",
        "  contact: 1 row, holds at the start",
        "  slip_m_per_s",
    ):
        assert line in words.splitlines()
    assert "friction 0.3 static and 0.2 kinetic under the force of contact" in words
    show_model(DISK, as_json=True)
    found, scene = json.loads(capsys.readouterr().out), load(DISK)
    assert found == examine(scene.model, scene.q0)
    assert (found["nq"], found["nu"], found["mass_kg"]) == (3, 3, 0.5)
    assert [s["rate_of"] for s in found["speeds"]] == ["q1", None, "q3"]


@pytest.mark.parametrize(
    ("treat", "remedy"),
    [
        (lambda model: model_to_yaml(model), "write a scene file that names its Python file under robot: "),
        (
            lambda model: lock_joints(model, {"q1": 0.0}),
            "hold a coordinate with a constraint of kind 'lock' ",
        ),
    ],
)
def test_a_mechanism_does_not_pass_for_a_tree_of_free_bodies(treat, remedy):
    with pytest.raises(HapticsimError) as refusal:
        treat(load(DISK).model)
    said = "rolling disk is a mechanism by Kane's method and no tree of joints: "
    assert str(refusal.value).startswith(said + remedy)
