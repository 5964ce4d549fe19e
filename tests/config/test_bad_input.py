"""Every refusal is one sentence with its exact text, and nothing else ever comes out of a bad file."""

# Sentences stand whole on the line of what provokes them, so that they can be read and searched for:
# ruff: noqa: E501

from __future__ import annotations

from pathlib import Path

import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from tests.good_files import GOOD, JOINT, LINK, URDF

ROOT = Path(__file__).parents[2]


# What is changed in GOOD, into what, and the sentence that comes back after "scene.yaml: ".
REFUSALS = [
    # keys
    ("mass_kg: 1.0", "mass_g: 1000", "robot.bodies[0].inertial.mass_g has the wrong unit or none: write mass_kg (SI units throughout)."),
    ("stiffness_N_per_m: 500", "stiffness_N_per_mm: 0.5", "coupler.stiffness_N_per_mm has the wrong unit or none: write stiffness_N_per_m or stiffness_Nm_per_rad (SI units throughout)."),
    ("stiffness_N_per_m: 500", "stiffness: 500", "coupler.stiffness has the wrong unit or none: write stiffness_N_per_m or stiffness_Nm_per_rad (SI units throughout)."),
    ("delay_up_s: 0.5", "delay_up_ms: 500", "link.delay_up_ms has the wrong unit or none: write delay_up_s (SI units throughout)."),
    ("rate_Hz: 1000", "rate_kHz: 1", "rate_kHz has the wrong unit or none: write rate_Hz (SI units throughout)."),
    ("q_rad: {pivot: 0.3}", "q_deg: {pivot: 17}", "initial.q_deg has the wrong unit or none: write q_rad or q_m (SI units throughout)."),
    ("ramp_s: 0.5", "rampe_s: 0.5", "safety.rampe_s is not a key here (did you mean 'ramp_s'?): the keys are 'force_limit_N', 'max_device_speed_m_per_s', 'max_power_W', 'max_stretch_m', 'ramp_s', 'resume_within_s', 'slew_limit_N_per_s', 'timeout_s'."),
    ("delay_up_s: 0.5", "bandwidth: 3", "link.bandwidth is not a key here: the keys are 'delay_down_s', 'delay_up_s', 'jitter_s', 'loss', 'seed', 'silence_s'."),
    ("mass_kg: 1.0, ", "", "robot.bodies[0].inertial.mass_kg is missing (mass): add it as a finite number of at least 0."),
    ("name: cart and pole", "", "name is missing (title): add it as a name of 1 to 120 letters."),
    # values
    ("mass_kg: 1.0", "mass_kg: -1.0", "robot.bodies[0].inertial.mass_kg = -1.0 is not usable: it must be a finite number of at least 0."),
    ("mass_kg: 1.0", "mass_kg: .nan", "robot.bodies[0].inertial.mass_kg = nan is not usable: it must be a finite number of at least 0."),
    ("com_m: [0.0, 0.0, 0.3]", "com_m: [0.0, 0.0, .inf]", "robot.bodies[1].inertial.com_m[2] = inf is not usable: it must be a finite number."),
    ("mass_kg: 1.0", "mass_kg: 1.0 kg", "robot.bodies[0].inertial.mass_kg = '1.0 kg' is not usable: it must be a finite number of at least 0."),
    ("mass_kg: 1.0", "mass_kg: true", "robot.bodies[0].inertial.mass_kg = true is not usable: it must be a finite number of at least 0."),
    ("mass_kg: 1.0", "mass_kg:", "robot.bodies[0].inertial.mass_kg = nothing is not usable: it must be a finite number of at least 0."),
    ("stiffness_N_per_m: 500", "stiffness_N_per_m: -5.0", "coupler.stiffness_N_per_m = -5.0 is not usable: it must be a finite number above 0 (200 to 2000 are typical walls)."),
    ("rate_Hz: 1000\n", "rate_Hz: 50\n", "rate_Hz = 50 is not usable: it must be a finite number from 100 to 10000 (1000 is usual)."),
    ("rate_Hz: 1000\n", "rate_Hz: 20000\n", "rate_Hz = 20000 is not usable: it must be a finite number from 100 to 10000 (1000 is usual)."),
    ("radius_m: 0.02", "radius_m: 0", "shapes[0].radius_m = 0 is not usable: it must be a finite number above 0."),
    ("[0.04, 0.04, 0.01]", "[0.04, 0.04]", "shapes[2].half_extents_m = [0.04, 0.04] is not usable: it must be a list of 3 finite numbers above 0."),
    ("type: prismatic", "type: slider", "robot.joints[0].type = 'slider' is not usable: it must be one of 'ball', 'continuous', 'cylindrical', 'fixed', 'free', 'helical', 'planar', 'prismatic', 'revolute', 'universal'."),
    ("type: prismatic", "type: helical", "robot.joints[0].pitch_m_per_rad is missing: a helical joint slides as it turns: add it."),
    ("type: prismatic", "type: prismatic, pitch_m_per_rad: 0.1", "robot.joints[0].pitch_m_per_rad is for helical joints: leave it out."),
    ("type: prismatic", "type: universal", "robot.joints[0].axis2 is missing: a universal joint has two: add it."),
    ("type: prismatic", "type: universal, axis2: [-2, 0, 0]", "robot.joints[0].axis2 = [-2.0, 0.0, 0.0] is parallel to axis: give another direction."),
    ("type: prismatic", "type: cylindrical", "robot.joints[0].damping_Ns_per_m does not fit the cylindrical joint 'rail': leave it out."),
    ("axis: [0, 1, 0],", "axis: [0, 1, 0], mimic: {joint: pivot},", "robot.joints[1] mimics itself: name the joint that it follows, or remove the mimic."),
    ("axis: [0, 1, 0],", "axis: [0, 1, 0], mimic: {joint: slide},", "robot.joints[1] mimics 'slide', which is no joint with one coordinate: correct it to one of 'rail', or remove the mimic."),
    ("axis: [0, 1, 0],", "axis: [0, 1, 0], mimic: {joint: rail, offset_m: 1.0},", "robot.joints[1].mimic.offset_m does not fit the revolute joint 'pivot': write offset_rad."),
    ("parent: world, child: puck}", "parent: world, child: puck, mimic: {joint: rail}}", "robot.joints[2] is free and cannot follow another: only joints with one coordinate can."),
    ("xyz_m: [0.5, 0, 0.01]", "quaternion_wxyz: [1.0, 0.1, 0, 0]", "initial.free.slide.quaternion_wxyz = [1.0, 0.1, 0.0, 0.0] has the length 1.00499: it must be 1 within 0.001."),
    ("xyz_m: [0.5, 0, 0.01]", "quaternion_wxyz: [1, 0, 0, 0], rpy_rad: [0, 0, 0]", "initial.free.slide has both rpy_rad and quaternion_wxyz: give one of the two."),
    ("free: {slide:", "ball: {slide:", "initial.ball.slide.xyz_m is not a key here: the keys are 'angular_velocity_rad_per_s', 'quaternion_wxyz', 'rpy_rad'."),
    ("law: pd", "law: pid", "torques[0].law = 'pid' is not usable (did you mean 'pd'?): it must be one of 'constant', 'gravity_compensation', 'none', 'pd'."),
    ("kind: sphere", "kind: spere", "shapes[0] has the kind 'spere' (did you mean 'sphere'?): write one of 'box', 'capsule', 'cone', 'cylinder', 'ellipsoid', 'height_field', 'mesh', 'plane', 'sphere'."),
    ("kind: sphere, ", "", "shapes[0] has no kind: add kind as one of 'box', 'capsule', 'cone', 'cylinder', 'ellipsoid', 'height_field', 'mesh', 'plane', 'sphere'."),
    ("name: cart and pole", "name: 2024", 'name = 2024 is not usable: it must be a name of 1 to 120 letters (in quotes: "2024").'),
    ("mapping: {motion_scale: 1.0}", "mapping: [1.0]", "mapping = [1.0] is not usable: it must be a mapping of keys."),
    ("publish: {rate_Hz: 100}", "publish: {endpoint: localhost}", "publish.endpoint = 'localhost' is not usable: it must be an address like ipc:///tmp/name or tcp://127.0.0.1:5555."),
    ("safety: {ramp_s: 0.5}", "safety: {timeout_s: 0.5}", "safety.timeout_s = 0.5 is not usable: it must be a finite number from 0.001 to 0.01."),
    ("{pivot: 0.3}", "{'': 0.3}", 'initial.q_rad."" has an empty name: write the name of a joint.'),
    ("name: tip,", 'name: "t\\nip",', "shapes[0].name = 't\\nip' is not usable: it must be a name of 1 to 120 letters."),
    ("publish: {rate_Hz: 100}", "publish: {rate_Hz: 0}", "publish.rate_Hz = 0 is not usable: it must be a finite number above 0 and at most 1000."),
    # mass distributions
    ("{xx: 0.1, yy: 0.1, zz: 0.1}", "{xx: 0.1, yy: 0.1, zz: -0.1}", "robot.bodies[0].inertial has the principal moments -0.1, 0.1, 0.1 kg m^2, which are not positive definite: all must be above 0; check the signs of the moments, and of the off-diagonal elements (xy is minus the integral of x y dm)."),
    ("{xx: 0.1, yy: 0.1, zz: 0.1}", "{xx: 0.1, yy: 0.1, zz: 0.25}", "robot.bodies[0].inertial has the principal moments 0.1, 0.1, 0.25 kg m^2, which no body can have: the largest exceeds the sum of the others by 20.00% (0.01% passes as rounding); check the moments and their axes."),
    ("inertial: {mass_kg: 0.2, inertia_kg_m2: {xx: 0.001, yy: 0.001, zz: 0.001}}", "inertial: {mass_kg: 0.0}", "robot.bodies[2] ('puck') is moved by joint 'slide' but has no mass: give it an inertial or make the joint fixed."),
    ("{mass_kg: 0.5, com_m: [0.0, 0.0, 0.3], inertia_kg_m2: {xx: 0.02, yy: 0.02, zz: 0.01}}", "{mass_kg: 0.5}", "robot.bodies[1] ('pole') is moved by joint 'pivot' but has no moment of inertia about it: give it an inertial, give the joint an armature, or make the joint fixed."),
    # trees
    ("parent: cart", "parent: card", "robot.joints[1] has the parent 'card', which is not a body (did you mean 'cart'?): the bodies are 'cart', 'pole', 'puck', 'world'."),
    ("child: puck", "child: world", "robot.joints[2] has the child 'world', which is not a body: the bodies are 'cart', 'pole', 'puck'."),
    ("child: puck", "child: pole", "robot.joints[2] gives body 'pole' a second parent joint after 'pivot': a tree allows one; leave the joint that closes the loop out."),
    ("parent: world, child: cart", "parent: pole, child: cart", "robot.joints[0] is part of a cycle that never reaches the world (joints 'pivot', 'rail'): give one of them the parent 'world'."),
    ("    - {name: slide, type: free, parent: world, child: puck}\n", "", "robot.bodies[2] ('puck') has no parent joint: add one whose child it is (type fixed or free, parent 'world', for a base)."),
    ("- name: pole", "- name: cart", "robot.bodies[1] repeats the body name 'cart': names must be unique; rename one."),
    ("{name: pivot,", "{name: rail,", "robot.joints[1] repeats the joint name 'rail': names must be unique; rename one."),
    ("- name: puck", "- name: world", "robot.bodies[2] is named 'world', which is reserved: choose another name."),
    ("axis: [1, 0, 0]", "axis: [0, 0, 0]", "robot.joints[0].axis = [0.0, 0.0, 0.0] has length zero: give it a direction such as [0, 0, 1]."),
    ("damping_Ns_per_m: 2.0", "damping_Nms_per_rad: 2.0", "robot.joints[0].damping_Nms_per_rad does not fit the prismatic joint 'rail': write damping_Ns_per_m."),
    ("child: puck}", "child: puck, armature_kg: 1}", "robot.joints[2].armature_kg does not fit the free joint 'slide': leave it out."),
    ("lower_rad: -2", "lower_rad: 3", "robot.joints[1].limits has lower = 3 above upper = 2: exchange them."),
    ("lower_rad: -2", "lower_m: -2", "robot.joints[1].limits.lower_m does not fit the revolute joint 'pivot': write lower_rad."),
    # shapes, contacts, handle
    ("name: rod", "name: tip", "shapes[1].name = 'tip' is taken: shape names must be unique."),
    ("name: tip, body: pole", "name: tip, body: poles", "shapes[0].body = 'poles' is not a body (did you mean 'pole'?): the bodies are 'cart', 'pole', 'puck', 'world'."),
    ("[tip, floor]", "[tip, flor]", "contacts[0].between[1] = 'flor' is not a shape (did you mean 'floor'?): the shapes are 'disc', 'floor', 'rod', 'tip'."),
    ("[tip, floor]", "[floor, floor]", "contacts[0].between = [floor, floor] pairs a plane with a plane, which is not supported: a plane may touch a box, a capsule, a cone, a cylinder, an ellipsoid, a convex mesh, a sphere."),
    ("name: floor,", "name: floor, body: puck,", "contacts[1].between = [disc, floor] pairs two shapes that cannot move against each other (on 'puck' and 'puck'): remove the pair."),
    ("[disc, floor]", "[floor, tip]", "contacts[1].between = [tip, floor] is there twice: keep one."),
    ("[tip, floor]", "[tip]", "contacts[0].between = ['tip'] is not usable: it must be a list of 2 names of 1 to 120 letters."),
    ("handle: {body: pole", "handle: {body: poll", "handle.body = 'poll' is not a body (did you mean 'pole'?): the bodies are 'cart', 'pole', 'puck'."),
    # coupler
    ("stiffness_N_per_m: 500", "stiffness_Nm_per_rad: 3", "coupler.stiffness_Nm_per_rad = 3 has no meaning with rotation 'none': write rotation: z or full, or remove it."),
    ("stiffness_N_per_m: 500", "rotation: none, slew_limit_Nm_per_s: 20", "coupler.slew_limit_Nm_per_s = 20 has no meaning with rotation 'none': write rotation: z or full, or remove it."),
    # torques
    ("joint: pivot", "joint: pivto", "torques[0].joint = 'pivto' is not a moving joint (did you mean 'pivot'?): write 'all' or one of 'pivot', 'rail', 'slide'."),
    ("joint: pivot", "joint: slide", "torques[0].law = 'pd' needs a joint with one coordinate, 'slide' is free: remove it."),
    ("joint: pivot", "joint: rail", "torques[0].stiffness_Nm_per_rad does not fit the prismatic joint 'rail': write stiffness_N_per_m."),
    (", stiffness_Nm_per_rad: 5.0", "", "torques[0].stiffness_Nm_per_rad is missing: law 'pd' needs it for the revolute joint 'pivot'."),
    ("joint: pivot", "joint: all", "torques[0].stiffness_N_per_m is missing: law 'pd' needs it for the prismatic joint 'rail'."),
    ("law: pd", "law: constant", "torques[0].constant_Nm is missing: law 'constant' needs it for the revolute joint 'pivot'."),
    ("law: pd", "law: gravity_compensation", "torques[0].stiffness_Nm_per_rad has no meaning with law 'gravity_compensation': remove it, or write law 'pd'."),
    ("law: pd, ", "law: constant, constant_Nm: 1, gravity_compensation: true} #", "torques[0].gravity_compensation has no meaning with law 'constant': remove it, or write law 'pd'."),
    ("5.0}\n", "5.0}\n  - {joint: pivot, law: none}\n", "torques[1].joint = 'pivot' has a law already: keep one of the two."),
    # initial
    ("{pivot: 0.3}", "{pivots: 0.3}", "initial.q_rad.pivots names no moving joint (did you mean 'pivot'?): they are 'pivot', 'rail', 'slide'."),
    ("q_rad: {pivot: 0.3}", "q_m: {pivot: 0.3}", "initial.q_m.pivot is a revolute joint: write it under q_rad."),
    ("q_rad: {pivot: 0.3}", "u_m_per_s: {slide: 0.3}", "initial.u_m_per_s.slide is a free joint: write it under free."),
    ("free: {slide:", "free: {rail:", "initial.free.rail is a prismatic joint: write it under q_m."),
    # robots
    ("gravity_m_per_s2", "  mechanism: {path: a.py}\ngravity_m_per_s2", "robot has a mechanism and a tree beside it: give one of the two."),
]  # fmt: skip


def refusal(text: str, path: Path | str = "scene.yaml") -> str:
    with pytest.raises(ConfigError) as caught:
        loads(text, path)
    return str(caught.value)


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new, 1)


def test_the_scene_that_is_spoilt_below_is_good():
    scene = loads(GOOD)
    assert scene.model.nu == 8
    assert scene.duration_s == 3


@pytest.mark.parametrize(("old", "new", "sentence"), REFUSALS, ids=[s.split(" ")[0] for *_, s in REFUSALS])
def test_a_bad_value_is_refused_with_this_sentence(old, new, sentence):
    assert refusal(changed(old, new)) == f"scene.yaml: {sentence}"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty: a scene file is a mapping of keys such as 'name:' and 'robot:'."),
        ("- 1\n- 2\n", "holds a list or a single value: a scene file is a mapping of keys such as 'name:' and 'robot:'."),
        ("name: x\nrobot: [1, 2\n", "line 3, column 1 is not YAML (expected ',' or ']', but got '<stream end>'): correct it there or just above."),
        ("name: x\n\trobot: 1\n", "line 2, column 1 is not YAML (found character '\\t' that cannot start any token): correct it there or just above."),
        ("name: x\nname: y\n", "line 2 gives the key 'name' again: keep one of the two."),
        ("name: x\nrate_Hz: 1e300\n", "line 2 holds a number beyond 1e+15: check its exponent."),
        ("? [a, b]\n: 1\n", "line 1 has a key that is not a word: keys are plain names."),
        ('"a\\nb": 1\n', "line 1 has a key that is too long or not printable: use a plain name."),
        ("a: &x [*x]\n", "line 1 is nested deeper than 40 levels: flatten it."),
        ("a: " + "[" * 2000, "is nested deeper than 40 levels: flatten it."),
        ("a: \0", "is not YAML (unacceptable character #x0000: special characters are not allowed): save it as plain text in UTF-8."),
        ("name: x\nrobot: {}\n", "robot has neither bodies and joints nor a urdf, mjcf or mechanism: give one of them."),
        ("name: x\nrobot: {bodies: []}\n", "robot.bodies is empty: a robot needs at least one body."),
        ("name: x\nrobot: {urdf: {}}\n", "robot.urdf must have either a path or the name of a robot in package: give one of the two."),
        ("name: x\nrobot: {bodies: [{name: b}], joints: [{name: j, type: fixed, parent: world, child: b}]}\n", "robot has no joint that moves: give at least one a type other than fixed."),
        ("name: x\nextends: [a]\n", "extends must be the name of one other scene file."),
    ],
)  # fmt: skip
def test_a_text_that_is_no_scene_is_refused_with_this_sentence(text, sentence):
    assert refusal(text).startswith("scene.yaml: ")
    assert refusal(text) == f"scene.yaml: {sentence}"


def test_anchors_that_multiply_are_refused():
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    for i in range(1, 8):
        bomb += f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n"
    assert refusal(bomb) == "scene.yaml: holds more than 100000 values: remove the anchors that repeat."


def test_a_handle_on_a_body_that_cannot_move_is_refused():
    text = GOOD.replace("type: prismatic", "type: fixed").replace(", damping_Ns_per_m: 2.0", "")
    assert refusal(text.replace("handle: {body: pole", "handle: {body: cart")) == (
        "scene.yaml: handle.body = 'cart' is fixed to the world: hold a body that a joint moves."
    )


def test_the_rotation_of_a_coupler_may_be_turned_off_over_another_file(tmp_path):
    (tmp_path / "base.yaml").write_text(
        changed("stiffness_N_per_m: 500", "rotation: z, stiffness_Nm_per_rad: 3")
    )
    (tmp_path / "top.yaml").write_text(
        "extends: base.yaml\ncoupler: {rotation: none, stiffness_Nm_per_rad: null}\n"
    )
    assert hs.load(tmp_path / "base.yaml").coupler.stiffness_Nm_per_rad == 3.0
    assert hs.load(tmp_path / "top.yaml").coupler.rotation == "none"


def test_a_missing_file_is_answered_with_the_nearest_name(tmp_path):
    (tmp_path / "wam_table.yaml").write_text("name: x")
    path = tmp_path / "wam_tabel.yaml"
    with pytest.raises(ConfigError) as caught:
        hs.load(path)
    assert (
        str(caught.value)
        == f"{path}: does not exist (did you mean 'wam_table.yaml'?): check the path of the file."
    )


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ConfigError) as caught:
        hs.load(tmp_path)
    assert str(caught.value) == f"{tmp_path}: is a folder: name the file in it."


def test_a_file_that_is_not_text_is_refused(tmp_path):
    path = tmp_path / "scene.yaml"
    path.write_bytes(b"name: \xff\xfe")
    with pytest.raises(ConfigError) as caught:
        hs.load(path)
    assert str(caught.value) == f"{path}: is not UTF-8 text (byte 6): save it as UTF-8."


def test_a_file_that_extends_itself_is_refused(tmp_path):
    (tmp_path / "a.yaml").write_text("extends: b.yaml")
    (tmp_path / "b.yaml").write_text("extends: a.yaml")
    with pytest.raises(ConfigError) as caught:
        hs.load(tmp_path / "a.yaml")
    assert str(caught.value) == (
        f"{tmp_path / 'b.yaml'}: extends leads back to 'a.yaml': a file cannot extend itself."
    )


def test_a_fault_is_reported_in_the_file_it_stands_in(tmp_path):
    (tmp_path / "base.yaml").write_text(changed("mass_kg: 1.0", "mass_kg: -1.0"))
    (tmp_path / "top.yaml").write_text("extends: base.yaml\ncoupler: {stiffness_N_per_m: 800}\n")
    with pytest.raises(ConfigError) as caught:
        hs.load(tmp_path / "top.yaml")
    assert caught.value.file == str(tmp_path / "base.yaml")
    (tmp_path / "base.yaml").write_text(GOOD)
    (tmp_path / "top.yaml").write_text("extends: base.yaml\ncoupler: {stiffness_N_per_m: -800}\n")
    with pytest.raises(ConfigError) as caught:
        hs.load(tmp_path / "top.yaml")
    assert caught.value.file == str(tmp_path / "top.yaml")


URDF_REFUSALS = [
    (URDF, "<robo", ": line 1, column 1 is not XML (unclosed token): correct it there."),
    (URDF, "<?xml version='1.0' encoding='shift_jis'?>" + URDF.lstrip(), ": names an encoding that is not read: save it as UTF-8."),
    (URDF, "<?xml version='1.0' encoding='nonsense'?>" + URDF.lstrip(), ": names an encoding that is not read: save it as UTF-8."),
    (URDF, '<sdf version="1.6"/>', ": has the root element <sdf>: a URDF starts with <robot name=...>."),
    ('<robot name="r">', '<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include filename="x"/>', ": is written in xacro: expand it first, 'xacro robot.xacro > robot.urdf'."),
    (LINK.format("b"), '<link name="b"/>', ": link 'b' is moved by joint 'j' but has no mass: give it an inertial, give the joint an armature, or make the joint fixed."),
    ('"revolute"', '"screw"', ": joint 'j' has the type 'screw': the types supported are 'continuous', 'fixed', 'floating', 'planar', 'prismatic', 'revolute'."),
    ("<axis", '<mimic joint="j"/><axis', ": joint 'j' mimics itself: name the joint that it follows, or remove the mimic."),
    ("<axis", '<mimic joint="k"/><axis', ": joint 'j' mimics 'k', which is no joint with one coordinate: remove the mimic."),
    ("<axis", "<mimic/><axis", """: joint 'j' has a mimic that names no joint: add joint="..." to it."""),
    ('"0 0 1"', '"0 0 0"', ": joint 'j' has an axis of length zero: give it a direction such as xyz=\"0 0 1\"."),
    ('"0 0 1"', '"0 1"', ": joint 'j' has xyz='0 1' in <axis>: it must be three numbers."),
    ('"0 0 1"', '"0 0 z"', ": joint 'j' has xyz='z' in <axis>: it must be a number up to 1e+15."),
    ('mass value="1"', 'mass value="nan"', ": link 'a' has value='nan' in <mass>: it must be a number up to 1e+15."),
    ('mass value="1"', 'mass value="-1"', ": link 'a' has a mass of -1 kg: it must be 0 or above; correct the sign."),
    ('<child link="b"/>', "", ": joint 'j' names no child link: add <child link=\"...\"/>."),
    ('<child link="b"/>', '<child link="c"/>', ": joint 'j' has the child 'c', which is not a body: the bodies are 'a', 'b'."),
    (JOINT, "", ": has 2 root links ('a', 'b'): connect them by fixed joints."),
    ("</robot>", JOINT.replace('"j"', '"k"') + "</robot>", ": joint 'k' gives body 'b' a second parent joint after 'j': a tree allows one; leave the joint that closes the loop out."),
    ("</robot>", '<joint name="k" type="fixed"><parent link="b"/><child link="a"/></joint></robot>', ": has no root link (every link is a child): remove the joint that closes the loop."),
    (LINK.format("b"), LINK.format("a"), ": link 'a' repeats the body name 'a': names must be unique; rename one."),
    ('joint name="j"', "joint", ": <joint> has no name: every link and joint needs one."),
    ('<axis xyz="0 0 1"/>', '<limit lower="1" upper="-1"/>', ": joint 'j' has its lower limit 1 above its upper limit -1: exchange them."),
    ('<axis xyz="0 0 1"/>', '<dynamics damping="-1"/>', ": joint 'j' has negative damping or friction: both must be 0 or above."),
    ('joint name="j"', 'joint name="root"', ": joint 'root' has the name of the joint that holds the root link: rename it."),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "sentence"), URDF_REFUSALS)
def test_a_bad_urdf_is_refused_with_this_sentence(tmp_path, old, new, sentence):
    assert old in URDF
    path = tmp_path / "robot.urdf"
    path.write_text(URDF.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        hs.load_urdf(path)
    assert str(caught.value) == f"{path}{sentence}"


def test_a_urdf_named_in_a_config_is_looked_for_beside_it(tmp_path):
    (tmp_path / "robot.urdf").write_text(URDF)
    text = "name: x\nrobot: {urdf: {path: robot.urdf}}"
    assert loads(text, tmp_path / "scene.yaml").model.nu == 1
    assert refusal(text.replace("robot.urdf", "robo.urdf"), tmp_path / "scene.yaml") == (
        f"{tmp_path / 'robo.urdf'}: does not exist (did you mean 'robot.urdf'?): check the path of the URDF."
    )
