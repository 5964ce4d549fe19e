"""What is refused of an MJCF file, and of a scene that names one: one sentence each, never a traceback."""

from __future__ import annotations

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.mjcf.read import read_mjcf
from tests.mjcf_files import EVERY_JOINT, FOUR_BAR, written


def one(size: str = "0.1", name: str = "", joint: str = "", before: str = "") -> str:
    """A body with a hinge and what is said of it."""
    body = f"<body {name}><joint/>{joint}<geom size='{size}'/></body>"
    return f"<mujoco>{before}<worldbody>{body}</worldbody></mujoco>"


MANY = "<replicate count='2001' offset='1 0 0'><geom size='.1'/></replicate>"
WRONG = {
    "": "is not XML: an MJCF file starts with <mujoco>.",
    "no xml": "is not XML: an MJCF file starts with <mujoco>.",
    "<?xml version='1.0' encoding='shift_jis'?><mujoco/>": "names an encoding that is not read",
    "<?xml version='1.0' encoding='nonsense'?><mujoco/>": "names an encoding that is not read",
    "<robot/>": (
        "has the root element <robot>, and an MJCF file starts with <mujoco>: name it in robot.urdf."
    ),
    one(joint="<jiont/>"): (
        "is refused by MuJoCo: XML Schema violation: unrecognized element Element 'jiont', line 1; "
        "correct it."
    ),
    one(before="<include file='nowhere.xml'/>"): (
        "is refused by MuJoCo: XML Error opening file 'nowhere.xml' Element 'include', line 1; correct it."
    ),
    one("nan"): "is refused by MuJoCo: nan size in geom Element name '', id 0, line 1; correct it.",
    one(before="<asset><hfield name='h' nrow='100000' ncol='100000' size='1 1 1 1'/></asset>"): "MuJoCo",
    one("1e300"): "has a body mass that is no number up to 1e+15: correct it.",
    one(before="<option gravity='nan 0 0'/>"): "has a gravity that is no number up to 1e+15: correct it.",
    one(before="<default><joint damping='-3'/></default>"): (
        "has a joint with a negative damping: it must be 0 or above."
    ),
    one(name="name='two&#10;lines'"): "has the name 'two\\nlines', which cannot be printed: rename it.",
    one(joint="<joint axis='0 0 -1'/>"): (
        "body 'body_1' has joints that move it the same way ('body_1_joint', 'body_1_joint_2'): remove one, "
        "or give them an armature."
    ),
    f"<mujoco><worldbody>{MANY}</worldbody></mujoco>": (
        "is refused by MuJoCo: it has 2001 geoms and may have 2000; correct it."
    ),
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_a_file_that_cannot_be_read_is_refused_in_one_sentence(tmp_path, text):
    with pytest.raises(ConfigError) as caught:
        read_mjcf(written(tmp_path, text), [])
    message = str(caught.value)
    assert WRONG[text] in message
    assert message.startswith(f"{tmp_path / 'robot.xml'}: ")
    assert message.endswith(".") and "\n" not in message
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()


def test_a_name_that_is_no_utf_8_is_refused(tmp_path):
    path = tmp_path / "robot.xml"
    path.write_bytes(one(name="name='caf\xe9'").encode("latin-1"))
    with pytest.raises(ConfigError, match="UTF-8"):
        read_mjcf(path, [])


def test_the_process_that_compiles_reads_no_modules_beside_the_user(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise RuntimeError('not this one')\n")
    monkeypatch.chdir(tmp_path)
    assert read_mjcf(written(tmp_path, FOUR_BAR), []).model.nu == 3


def test_an_old_mujoco_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("hapticsim.model.mjcf.compiled.version", lambda name: "3.2.7")
    with pytest.raises(ConfigError, match=r"needs mujoco 4.0 or newer, 3.2.7 is installed: pip install"):
        read_mjcf(written(tmp_path, FOUR_BAR), [])


def test_a_scene_may_extend_one_of_another_folder(tmp_path):
    (tmp_path / "base").mkdir()
    (tmp_path / "mine").mkdir()
    written(tmp_path / "base", EVERY_JOINT)
    (tmp_path / "base" / "base.yaml").write_text("name: b\nrobot: {mjcf: {path: robot.xml}}\n")
    text = "extends: ../base/base.yaml\nrobot: {mjcf: {keyframe: storm}}\n"
    (tmp_path / "mine" / "m.yaml").write_text(text)
    scene = hs.load(tmp_path / "mine" / "m.yaml")
    assert scene.q0[scene.model.q_slice("flag_joint")] == pytest.approx(0.7)


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    written(tmp_path, FOUR_BAR)
    with pytest.raises(ConfigError, match=r"does not exist \(did you mean 'robot.xml'\?\): check the path"):
        read_mjcf(tmp_path / "robt.xml", [])
    with pytest.raises(ConfigError, match="is a folder: name the MJCF file in it"):
        read_mjcf(tmp_path, [])


@pytest.mark.parametrize(
    ("robot", "problem"),
    [
        (
            "{mjcf: {path: robot.xml}, urdf: {package: panda}}",
            "robot.mjcf stands beside urdf: give one of the two.",
        ),
        ("{mjcf: {path: robot.xml, corners: 8}}", "robot.mjcf.corners is for collision shapes"),
        ("{mjcf: {path: robot.xml, keyframe: strom}}", "'strom' is no keyframe (did you mean 'storm'?)"),
    ],
)
def test_wrong_keys_are_refused(tmp_path, robot, problem):
    written(tmp_path, EVERY_JOINT)
    with pytest.raises(ConfigError) as caught:
        loads(f"name: s\nrobot: {robot}\n", tmp_path / "s.yaml")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("handle", "problem"),
    [
        ("{site: hok}", "= 'hok' is not a site (did you mean 'hook'?): they are 'hook'."),
        (
            "{site: hook, body: crane}",
            "must have either a body or a site of robot.mjcf: give one of the two.",
        ),
        ("{}", "must have either a body or a site of robot.mjcf: give one of the two."),
        ("{site: hook, point_m: [0.0, 0.0, 0.0]}", "stands beside a site, which is a point: remove it."),
    ],
)
def test_a_wrong_handle_is_refused(tmp_path, handle, problem):
    written(tmp_path, EVERY_JOINT)
    with pytest.raises(ConfigError) as caught:
        loads(f"name: s\nrobot: {{mjcf: {{path: robot.xml}}}}\nhandle: {handle}\n", tmp_path / "s.yaml")
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    "seed", [*range(12), *(pytest.param(s, marks=pytest.mark.long) for s in range(12, 200))]
)
def test_a_damaged_file_is_read_or_refused(tmp_path, seed):
    rng = np.random.default_rng(seed)
    text = bytearray(EVERY_JOINT.encode())
    for _ in range(int(rng.integers(1, 6))):
        at = int(rng.integers(len(text)))
        match rng.integers(3):
            case 0:
                text[at] = int(rng.integers(32, 127))
            case 1:
                del text[at : at + int(rng.integers(1, 30))]
            case _:
                text[at:at] = text[int(rng.integers(len(text))) :][: int(rng.integers(1, 60))]
    path = tmp_path / "robot.xml"
    path.write_bytes(bytes(text))
    try:
        robot = read_mjcf(path, [])
    except ConfigError as error:
        assert "\n" not in str(error)
        return
    assert all(np.isfinite(body.inertia_com_B).all() for body in robot.model.bodies)
