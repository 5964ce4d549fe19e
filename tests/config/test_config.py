"""Config files: what a scene made of one holds, and that the shipped ones are what they say they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.config.schema.reference import reference
from hapticsim.config.yaml_text import merge, parse
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.rotation import quaternion_from_rpy, rotation_from_rpy
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.scene import Scene

ROOT = Path(__file__).parents[2]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))

# Barrett's Denavit-Hartenberg table of the 4-DOF arm: a [m], alpha [rad], d [m]; and the published masses
# [kg] and centres of mass [m] in the DH frames.  Written here a second time, not read from the config.
QUARTER = np.pi / 2
WAM_DH = ((0.0, -QUARTER, 0.0), (0.0, QUARTER, 0.0), (0.045, -QUARTER, 0.55), (-0.045, QUARTER, 0.0))
WAM_MASS = (10.76768767, 3.87493756, 1.80228141, 1.06513649)
WAM_COM = (
    (-0.00443422, 0.12189039, -0.00066489),
    (-0.00236983, 0.03105614, 0.01542114),
    (-0.03825858, 0.2075077, 3.309e-05),
    (0.01095471, -2.567e-05, 0.140539),
)
WAM_TOOL = 0.35  # [m] along z of frame 4

PENDULUM = """
name: pendulum
robot:
  bodies:
    - name: bob
      inertial: {mass_kg: 2.0, com_m: [0.0, 0.0, -0.5], inertia_kg_m2: {xx: 0.1, yy: 0.1, zz: 0.1}}
    - name: cart
      inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.1, yy: 0.1, zz: 0.1}}
  joints:
    - {name: hinge, type: revolute, parent: cart, child: bob, axis: [0, 2, 0], damping_Nms_per_rad: 0.3}
    - {name: rail, type: prismatic, parent: world, child: cart, axis: [1, 0, 0], damping_Ns_per_m: 4}
"""


def need_library() -> None:
    if not library_models():
        pytest.skip("example-robot-data is not installed")


def body_poses(model: Model, q: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Naive forward kinematics: rotation and position of every body in the world, by name."""
    poses = {WORLD: (np.eye(3), np.zeros(3))}
    for joint in model.joints:
        R, p = poses[joint.parent]
        p = p + R @ joint.X_PJ.translation
        R = R @ joint.X_PJ.rotation
        x = q[model.q_slice(joint.name)]
        a = joint.axis_J
        if joint.kind in ("revolute", "continuous"):
            cross = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
            R = R @ (np.eye(3) + np.sin(x[0]) * cross + (1 - np.cos(x[0])) * cross @ cross)
        elif joint.kind == "prismatic":
            p = p + R @ (a * x[0])
        elif joint.kind == "free":
            w, v = x[3], x[4:]
            p = p + R @ x[:3]
            cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
            R = R @ (np.eye(3) + 2 * w * cross + 2 * cross @ cross)
        poses[joint.child] = (R, p)
    return poses


def shape_point(scene: Scene, name: str, q: np.ndarray) -> np.ndarray:
    """World position of a shape's origin."""
    shape = next(s for s in scene.shapes if s.name == name)
    R, p = body_poses(scene.model, q)[shape.body]
    return p + R @ shape.X_BS.translation


def dh(theta: float, a: float, alpha: float, d: float) -> np.ndarray:
    """(4, 4) RotZ(theta) TransZ(d) TransX(a) RotX(alpha)."""
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1]]
    )


def wam_by_dh(q: np.ndarray, base: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tool point (3,) and centres of mass (4, 3) of the arm in the world, as a product of DH matrices."""
    T = np.eye(4)
    T[:3, 3] = base
    coms = []
    for angle, (a, alpha, d), com in zip(q, WAM_DH, WAM_COM, strict=True):
        T = T @ dh(angle, a, alpha, d)
        coms.append((T @ [*com, 1.0])[:3])
    return (T @ [0.0, 0.0, WAM_TOOL, 1.0])[:3], np.array(coms)


@pytest.fixture(scope="module")
def wam() -> Scene:
    return hs.load(ROOT / "configs" / "wam_table.yaml")


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_shipped_config_loads(path):
    if "package:" in path.read_text(encoding="utf-8"):
        need_library()
    scene = hs.load(path)
    assert scene.handle is not None
    assert scene.contacts or scene.constraints or scene.joint_stops or scene.name == "Spherical wrist"
    assert scene.q0.shape == (scene.model.nq,)
    assert scene.u0.shape == (scene.model.nu,)
    assert scene.path == str(path)


def test_the_wam_has_the_published_masses(wam):
    assert [b.mass for b in wam.model.bodies] == list(WAM_MASS)
    assert wam.model.nq == wam.model.nu == 4


@pytest.mark.parametrize(
    "q", [np.zeros(4), np.array([0.3, -0.7, 1.1, 2.0]), np.array([-2.0, 1.5, -1.0, 0.5])]
)
def test_the_wam_moves_as_the_denavit_hartenberg_product(wam, q):
    base = wam.model.joints[0].X_PJ.translation
    tool, coms = wam_by_dh(q, base)
    poses = body_poses(wam.model, q)
    ours = [R @ b.com_B + p for b in wam.model.bodies for R, p in [poses[b.name]]]
    np.testing.assert_allclose(shape_point(wam, "fingertip", q), tool, atol=1e-12)
    np.testing.assert_allclose(ours, coms, atol=1e-12)


def test_the_wam_at_zero_stands_straight_up(wam):
    shoulder = wam.model.joints[0].X_PJ.translation
    np.testing.assert_allclose(
        shape_point(wam, "fingertip", np.zeros(4)), shoulder + np.array([0.0, 0.0, 0.55 + 0.35]), atol=1e-12
    )


def test_the_wam_inertias_are_turned_into_the_body_frames(wam):
    """Forearm: frame 4 is the body frame turned by 90 degrees about x, so y and z change places."""
    I = wam.model.bodies[3].inertia_com_B
    expected = [[0.01848576, -0.00160868, -0.00000219], [0, 0.00197517, 0.00000515], [0, 0, 0.01891658]]
    np.testing.assert_allclose(np.triu(I), expected, atol=1e-12)
    np.testing.assert_array_equal(I, I.T)


def test_the_fingertip_starts_50_mm_above_the_table(wam):
    table = next(s for s in wam.shapes if s.name == "table")
    tip = next(s for s in wam.shapes if s.name == "fingertip")
    top = table.X_BS.translation[2] + table.size[2]
    start = shape_point(wam, "fingertip", wam.q0)
    assert start[2] - tip.size[0] - top == pytest.approx(0.05, abs=1e-4)
    assert np.all(np.abs(start - table.X_BS.translation)[:2] < 0.5 * np.array(table.size[:2]))


def test_the_handle_is_the_fingertip(wam):
    tip = next(s for s in wam.shapes if s.name == "fingertip")
    assert wam.handle.body == tip.body
    np.testing.assert_array_equal(wam.handle.point_B, tip.X_BS.translation)


def test_the_panda_starts_with_its_hand_down_over_the_table():
    need_library()
    scene = hs.load(ROOT / "configs" / "panda_table.yaml")
    R, p = body_poses(scene.model, scene.q0)["panda_hand_tcp"]
    np.testing.assert_allclose(R[:, 2], [0, 0, -1], atol=1e-3)
    np.testing.assert_allclose(p, [0.5, 0.0, 0.37], atol=1e-3)
    assert scene.model.nu == 7


def test_the_puck_rests_on_the_table_clear_of_the_wall():
    scene = hs.load(ROOT / "configs" / "puck_and_wall.yaml")
    puck, _, wall = scene.shapes
    start = shape_point(scene, "puck_box", scene.q0)
    assert start[2] == puck.size[2]
    assert wall.X_BS.translation[0] - wall.size[0] - start[0] - puck.size[0] == pytest.approx(0.08)


def test_teleop_is_the_same_scene_with_a_delay(wam):
    far = hs.load(ROOT / "configs" / "teleop_1s.yaml")
    assert (far.link.delay_up_s, far.link.delay_down_s) == (1.0, 1.0)
    assert wam.link is None
    assert far.model.body_names == wam.model.body_names
    np.testing.assert_array_equal(far.q0, wam.q0)


def test_the_source_of_an_extending_config_stands_alone(tmp_path):
    far = hs.load(ROOT / "configs" / "teleop_1s.yaml")
    again = loads(far.source, tmp_path / "copy.yaml")
    assert again.link.delay_up_s == 1.0
    assert again.model.nu == 4


def test_joints_are_ordered_parents_first_whatever_the_file_says():
    model = loads(PENDULUM).model
    assert [j.name for j in model.joints] == ["rail", "hinge"]
    assert [b.name for b in model.bodies] == ["cart", "bob"]


def test_branches_keep_the_order_of_the_joints_in_the_file():
    inertial = "inertial: {mass_kg: 1, inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}"
    names = ("a", "b", "c", "d")
    edges = (("c", "world"), ("a", "c"), ("d", "a"), ("b", "c"))
    bodies = ", ".join(f"{{name: {n}, {inertial}}}" for n in names)
    joints = ", ".join(f"{{name: to_{c}, type: revolute, parent: {p}, child: {c}}}" for c, p in edges)
    model = loads(f"name: tree\nrobot: {{bodies: [{bodies}], joints: [{joints}]}}").model
    assert model.body_names == ("c", "a", "d", "b")


def test_an_axis_is_normalised():
    model = loads(PENDULUM).model
    np.testing.assert_array_equal(model.joints[1].axis_J, [0, 1, 0])


def test_joint_values_are_read_in_the_unit_of_their_motion():
    rail, hinge = loads(PENDULUM).model.joints
    assert (rail.damping, hinge.damping) == (4.0, 0.3)


def test_a_law_for_all_joints_gives_each_the_gain_of_its_unit():
    law = "{joint: all, law: pd, stiffness_Nm_per_rad: 5, stiffness_N_per_m: 70, damping_Ns_per_m: 3}"
    laws = loads(PENDULUM + f"torques: [{law}]\ninitial: {{q_m: {{rail: 0.2}}}}").torque_laws
    assert [(w.joint, w.stiffness, w.damping, w.reference) for w in laws] == [
        ("rail", 70.0, 3.0, 0.2),
        ("hinge", 5.0, 0.0, 0.0),
    ]


def test_an_entry_of_its_own_takes_a_joint_out_of_all():
    text = PENDULUM + "torques: [{joint: hinge, law: none}, {joint: all, law: gravity_compensation}]"
    assert [w.joint for w in loads(text).torque_laws] == ["rail"]


def test_a_constant_law_is_read_in_newtons_for_a_prismatic_joint():
    (law,) = loads(PENDULUM + "torques: [{joint: rail, law: constant, constant_N: -3}]").torque_laws
    assert (law.joint, law.constant, law.gravity_compensation) == ("rail", -3.0, False)


def test_initial_values_go_to_the_joint_they_name():
    text = (
        PENDULUM
        + "initial: {q_rad: {hinge: 0.5}, q_m: {rail: 0.1}, u_rad_per_s: {hinge: -2}, u_m_per_s: {rail: 3}}"
    )
    scene = loads(text)
    np.testing.assert_array_equal(scene.q0, [0.1, 0.5])
    np.testing.assert_array_equal(scene.u0, [3.0, -2.0])


def test_a_free_start_is_turned_into_the_axes_of_the_body():
    """Yaw of 90 degrees: the world's x is the body's -y."""
    text = """
name: free
robot:
  bodies: [{name: b, inertial: {mass_kg: 1, inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}}]
  joints: [{name: f, type: free, parent: world, child: b}]
initial:
  free:
    f:
      xyz_m: [1, 2, 3]
      rpy_rad: [0, 0, 1.5707963267948966]
      velocity_m_per_s: [1, 0, 0]
      angular_velocity_rad_per_s: [0, 0, 2]
"""
    scene = loads(text)
    h = np.sqrt(0.5)
    np.testing.assert_allclose(scene.q0, [1, 2, 3, h, 0, 0, h], atol=1e-15)
    np.testing.assert_allclose(scene.u0, [0, 0, 2, 0, -1, 0], atol=1e-15)


def test_the_touched_plane_or_box_stands_second_in_a_pair():
    shapes = """
shapes:
  - {name: ball, body: bob, kind: sphere, radius_m: 0.1}
  - {name: floor, kind: plane}
contacts: [{between: [floor, ball]}]
"""
    (pair,) = loads(PENDULUM + shapes).contacts
    assert (pair.a, pair.b) == ("ball", "floor")


def test_roll_pitch_yaw_turn_about_fixed_axes_in_this_order():
    def turn(axis: int, angle: float) -> np.ndarray:
        R = np.eye(3)
        i, j = (axis + 1) % 3, (axis + 2) % 3
        R[i, i] = R[j, j] = np.cos(angle)
        R[i, j], R[j, i] = -np.sin(angle), np.sin(angle)
        return R

    roll, pitch, yaw = 0.3, -1.1, 2.5
    R = turn(2, yaw) @ turn(1, pitch) @ turn(0, roll)
    np.testing.assert_allclose(rotation_from_rpy((roll, pitch, yaw)), R, atol=1e-15)
    w, x, y, z = quaternion_from_rpy((roll, pitch, yaw))
    assert w >= 0.0
    np.testing.assert_allclose(np.trace(R), 4 * w * w - 1, atol=1e-14)
    np.testing.assert_allclose(
        [R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]], 4 * w * np.array([x, y, z]), atol=1e-14
    )


def test_yaml_numbers_and_words_mean_what_they_look_like():
    data = parse("t", "{a: 1e-3, b: on, c: 012, d: '5', e: 1:30, f: -.5, g: ~, h: True, i: 2024-01-01}")
    assert data == {
        "a": 1e-3, "b": "on", "c": 12, "d": "5", "e": "1:30",
        "f": -0.5, "g": None, "h": True, "i": "2024-01-01",
    }  # fmt: skip


def test_extending_merges_mappings_and_replaces_the_rest():
    base = {"a": {"x": 1, "y": [1, 2]}, "b": 3}
    assert merge(base, {"a": {"y": [9]}, "b": None}) == {"a": {"x": 1, "y": [9]}, "b": None}
    assert base == {"a": {"x": 1, "y": [1, 2]}, "b": 3}


def test_the_page_of_keys_is_current():
    page = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    assert page.rstrip().endswith(reference().rstrip()), (
        "print it with python -m hapticsim.config.schema.reference"
    )


def test_the_examples_on_the_page_load():
    page = (ROOT / "docs" / "config.md").read_text(encoding="utf-8")
    examples = [part.split("```")[0] for part in page.split("```yaml\n")[1:]]
    assert examples
    need_library()
    for example in examples:
        assert loads(example, ROOT / "configs" / "example.yaml").model.nu > 0
