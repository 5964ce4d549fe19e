"""MJCF files: what is made of bodies, joints, equalities and springs, beside MuJoCo; what is refused."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.model.mjcf.read import MjcfRobot, read_mjcf
from tests.mjcf_files import EVERY_JOINT, FOUR_BAR, written
from tools.mjcf_peer import MjcfPeer, relative

TIED = """
<mujoco>
  <option gravity="0 0 -3"/>
  <worldbody>
    <body name="one"><joint name="a" axis="0 1 0" ref="0.3"/>
      <geom type="box" size="0.1 0.1 0.1" pos="0.1 0 0"/></body>
    <body name="two" pos="1 0 0"><joint name="b" axis="0 1 0"/>
      <geom type="box" size="0.1 0.1 0.1" pos="0.1 0 0"/>
      <body name="tip" pos="0.3 0 0"><joint name="s" type="slide" axis="1 0 0"/><geom size="0.05"/>
        <site name="grip" pos="0.1 0.02 0" euler="10 20 30"/></body></body>
    <body name="free" pos="1.5 0 0" euler="5 6 7"><freejoint/>
      <site name="hand" pos="0 0.01 0.02" euler="15 20 40"/>
      <geom type="box" size="0.05 0.06 0.07"/></body>
  </worldbody>
  <tendon>
    <fixed name="v"><joint joint="b" coef="1.5"/></fixed>
    <fixed name="t"><joint joint="a" coef="2"/><joint joint="s" coef="-0.5"/></fixed></tendon>
  <equality>{}</equality>
</mujoco>
"""
EQUALITIES = {
    "weld without torque": '<weld body1="tip" body2="free" anchor="0.1 0 0" torquescale="0"/>',
    "weld turned": '<weld body1="tip" body2="free" relpose="0.3 0.1 0 0.8 0.1 0.5 0.2"/>',
    "weld to the world": '<weld body1="free" relpose="-1.4 0.1 0.1 0.9 0.1 0.2 0.3"/>',
    "weld of sites": '<weld site1="grip" site2="hand"/>',
    "connect sites": '<connect site1="grip" site2="hand"/>',
    "tendon to tendon": '<tendon tendon1="t" tendon2="v" polycoef="0.02 0.7 0 0 0"/>',
    "weld of bodies": '<weld body1="tip" body2="free" anchor="0.1 0 0"/>',
    "joint to joint": '<joint joint1="a" joint2="b" polycoef="0.1 -2 0 0 0"/>',
    "joint alone": '<joint joint1="a" polycoef="0.2 0 0 0 0"/>',
    "tendon": '<tendon tendon1="t" polycoef="0.05 0 0 0 0"/>',
}


@pytest.fixture
def read(tmp_path):
    """Write an MJCF file and read it."""

    def load(text: str, notes: list[str] | None = None) -> MjcfRobot:
        return read_mjcf(written(tmp_path, text), [] if notes is None else notes)

    return load


def gymnasium_models() -> list[Path]:
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        return []
    return sorted((Path(spec.origin).parent / "envs" / "mujoco" / "assets").glob("*.xml"))


def check_agrees(path: Path, states: int) -> None:
    peer, rng = MjcfPeer(path), np.random.default_rng(3)
    for _ in range(states):
        q, u = peer.random_state(rng)
        assert relative(*peer.accelerations(q, u)) < 1e-8
        assert relative(*peer.poses(q, u)) < 1e-12
        back = peer.ours()
        np.testing.assert_allclose(np.abs(back[0]), np.abs(q), atol=1e-12)  # a quaternion may change its sign
        np.testing.assert_allclose(back[1], u, atol=1e-12)


# -- the tree ----------------------------------------------------------------------------------------------


def test_every_kind_of_joint_moves_as_in_mujoco(tmp_path):
    check_agrees(written(tmp_path, EVERY_JOINT), states=10)


def test_there_are_models_of_others_to_compare_with():
    assert len(gymnasium_models()) >= 10


@pytest.mark.parametrize("path", gymnasium_models(), ids=lambda path: path.stem)
def test_a_model_of_gymnasium_moves_as_in_mujoco(path):
    check_agrees(path, states=3)


def test_a_tree_has_the_names_of_the_file_and_new_ones_for_what_has_none(read):
    model = read(EVERY_JOINT).model
    assert model.name == "every joint"
    assert model.body_names == (
        "ship", "crane:turn", "crane:luff", "crane", "load:swing", "load", "body_4",
        "flag:flag_joint", "flag",
    )  # fmt: skip
    assert [j.name for j in model.moving_joints] == ["sail", "turn", "luff", "reach", "swing", "flag_joint"]
    np.testing.assert_allclose(model.gravity_W, [0.3, -0.2, -9.7])


def test_what_joints_carry_counts_from_where_the_file_draws_the_robot(read):
    joints = {j.name: j for j in read(EVERY_JOINT).model.joints}
    turn, reach = joints["turn"], joints["reach"]
    assert (turn.lower, turn.upper) == pytest.approx((-1.2, 1.8))
    assert (turn.damping, turn.coulomb, turn.armature, turn.effort_limit) == (0.4, 0.1, 0.02, 7.0)
    assert (reach.lower, reach.upper) == pytest.approx((-0.2, 0.3))
    assert joints["luff"].lower == -math.inf
    assert joints["swing"].armature == 0.01


def test_a_spring_of_a_joint_is_its_law_and_adds_to_one_of_the_scene(read, tmp_path):
    (spring,) = read(EVERY_JOINT).springs
    assert (spring.joint, spring.stiffness) == ("turn", 3.0)
    assert spring.reference == pytest.approx(0.3)
    scene = loads(
        "name: s\nrobot: {mjcf: {path: robot.xml}}\n"
        "torques: [{joint: turn, law: pd, stiffness_Nm_per_rad: 1.0, reference_rad: -0.9}, "
        "{joint: luff, law: constant, constant_Nm: 2.0}]\n",
        tmp_path / "scene.yaml",
    )
    laws = {law.joint: law for law in scene.torque_laws}
    assert laws["turn"].stiffness == 4.0
    assert laws["turn"].reference == pytest.approx(0.0)  # of 1 at -0.9 and 3 at 0.3
    assert laws["luff"].constant == 2.0


def test_a_scene_starts_at_a_keyframe_and_holds_a_site(read, tmp_path):
    peer = MjcfPeer(written(tmp_path, EVERY_JOINT))
    scene = loads(
        "name: s\nrobot: {mjcf: {path: robot.xml, keyframe: storm}}\nhandle: {site: hook}\n",
        tmp_path / "scene.yaml",
    )
    peer.place(scene.q0, scene.u0)
    np.testing.assert_allclose(peer.data.qpos, peer.mj.key_qpos[0], atol=1e-12)
    np.testing.assert_allclose(peer.data.qvel, peer.mj.key_qvel[0], atol=1e-12)
    assert scene.handle is not None
    assert scene.handle.body == "crane"
    np.testing.assert_allclose(scene.handle.point_B, [0.3, 0.0, 0.1])
    np.testing.assert_allclose(scene.model.gravity_W, [0.3, -0.2, -9.7])


def test_the_gravity_of_a_scene_goes_before_that_of_the_file(tmp_path):
    written(tmp_path, EVERY_JOINT)
    text = "name: s\nrobot: {mjcf: {path: robot.xml}}\ngravity_m_per_s2: [0.0, 0.0, -1.6]\n"
    np.testing.assert_allclose(loads(text, tmp_path / "s.yaml").model.gravity_W, [0.0, 0.0, -1.6])


def test_bodies_of_a_scene_hang_on_the_robot(tmp_path):
    written(tmp_path, EVERY_JOINT)
    scene = loads(
        "name: s\nrobot:\n  mjcf: {path: robot.xml, keyframe: storm}\n"
        "  bodies: [{name: tool, inertial: {mass_kg: 0.1, "
        "inertia_kg_m2: {xx: 1.0e-3, yy: 1.0e-3, zz: 1.0e-3}}}]\n"
        "  joints: [{name: wrist, type: revolute, parent: load, child: tool}]\n",
        tmp_path / "s.yaml",
    )
    assert "wrist" in [j.name for j in scene.model.moving_joints]
    np.testing.assert_allclose(scene.model.gravity_W, [0.3, -0.2, -9.7])
    assert scene.q0[scene.model.q_slice("flag_joint")] == pytest.approx(0.7)


# -- random trees ------------------------------------------------------------------------------------------


def random_tree(rng: np.random.Generator) -> str:
    """Two branches of bodies with up to three joints each, anywhere in them, and all that joints have."""

    def numbers(*values: float) -> str:
        return " ".join(f"{v:.6g}" for v in values)

    def joint(kind: str) -> str:
        text = f'<joint type="{kind}" pos="{numbers(*rng.uniform(-0.2, 0.2, 3))}" '
        text += f'damping="{rng.uniform(0, 0.5):.4g}" armature="{rng.uniform(0.001, 0.1):.4g}" '
        if kind == "ball":
            return text + "/>"
        axis, ref = numbers(*rng.normal(size=3)), rng.uniform(-0.5, 0.5)
        spring = f'stiffness="{rng.uniform(0, 5):.4g}" springref="{rng.uniform(-1, 1):.4g}" '
        return text + f'axis="{axis}" ref="{ref:.4g}" {spring if rng.random() < 0.5 else ""}/>'

    def body(depth: int) -> str:
        kinds = [
            str(k)
            for k in rng.choice(
                ["hinge", "slide", "ball"], int(rng.integers(depth == 0, 4)), p=[0.5, 0.3, 0.2]
            )
        ]
        if kinds.count("ball") > 0:  # with another joint that turns it, one way would be there twice
            kinds = ["ball"]
        joints = "<freejoint/>" if depth == 0 and rng.random() < 0.3 else "".join(joint(k) for k in kinds)
        below = "".join(body(depth + 1) for _ in range(int(rng.integers(0, 3)) if depth < 3 else 0))
        name = f'name="b{rng.integers(1 << 40)}" ' if rng.random() < 0.5 else ""
        pose = f'pos="{numbers(*rng.uniform(-0.5, 0.5, 3))}" euler="{numbers(*rng.uniform(-180, 180, 3))}"'
        size, at = numbers(*rng.uniform(0.02, 0.2, 3)), numbers(*rng.uniform(-0.1, 0.1, 3))
        geom = f'<geom type="box" size="{size}" pos="{at}"/>'
        return f"<body {name}{pose}>{joints}{geom}{below}</body>"

    option = f'<option gravity="{numbers(*rng.uniform(-9, 9, 3))}"/>'
    return f"<mujoco>{option}<worldbody>{body(0)}{body(0)}</worldbody></mujoco>"


@pytest.mark.parametrize(
    "seed", [*range(20), *(pytest.param(s, marks=pytest.mark.long) for s in range(20, 300))]
)
def test_a_random_tree_moves_as_in_mujoco(tmp_path, seed):
    check_agrees(written(tmp_path, random_tree(np.random.default_rng(seed))), states=3)


# -- equalities --------------------------------------------------------------------------------------------


def check_keeps_equalities(folder: Path, text: str, seconds: float, close: bool) -> np.ndarray:
    """Run the scene; MuJoCo's own residuals of its equalities stay at zero.  Returns how far it moved."""
    import mujoco

    path = written(folder, text)
    scene = loads(
        f"name: s\nrobot: {{mjcf: {{path: robot.xml}}}}\nclose_loops: {str(close).lower()}\n",
        folder / "scene.yaml",
    )
    peer = MjcfPeer(path)
    peer.mj.opt.disableflags = 0
    sim = hs.Simulation(scene)
    start = sim.state.q.copy()
    for _ in range(20):
        sim.step(int(1000 * seconds / 20))
        peer.place(sim.state.q, sim.state.u)
        equal = peer.data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY
        assert equal.any()
        assert np.abs(peer.data.efc_pos[equal]).max() < 1e-8
        assert np.abs((peer.data.efc_J.reshape(-1, peer.mj.nv) @ peer.data.qvel)[equal]).max() < 1e-8
    return np.abs(sim.state.q - start)


def test_a_loop_closed_by_connect_stays_closed_in_mujocos_eyes(tmp_path):
    text = FOUR_BAR.replace('gravity="0 0 -9.81"', 'gravity="2 0 -9.81"')
    assert check_keeps_equalities(tmp_path, text, 1.0, close=False).max() > 0.3


@pytest.mark.parametrize("kind", EQUALITIES)
def test_an_equality_holds_what_mujocos_holds(tmp_path, kind):
    moved = check_keeps_equalities(tmp_path, TIED.format(EQUALITIES[kind]), 0.4, close=True)
    assert moved.max() > 1e-2


def test_an_equality_that_is_not_active_starts_released(read):
    text = TIED.format('<joint name="tie" joint1="a" joint2="b" active="false"/>')
    (constraint,) = read(text).constraints
    assert (constraint.name, constraint.held) == ("tie", False)


# -- what is left out is said ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "note"),
    [
        ('<actuator><motor joint="a"/></actuator>', "not taken over from the MJCF file: actuators (1)."),
        ("<option density='1.2'/>", "the medium (density, viscosity, wind) is left out: nothing drags."),
        (
            '<equality><joint joint1="a" joint2="b" polycoef="0 1 2 0 0"/></equality>',
            "the equality 'equality_1' is left out: it is a polynomial of degree 2 or above.",
        ),
        (
            '<equality><connect body1="one" body2="world" anchor="0 0 0"/></equality>',
            "equalities are exact here: solref and solimp are not used.",
        ),
        (
            '<worldbody><body name="bob" pos="0 2 0"><joint type="ball" stiffness="1"/>'
            '<geom size="0.1"/></body></worldbody>',
            "springs of ball and free joints are left out: bob_joint.",
        ),
    ],
)
def test_what_is_not_taken_over_is_said(read, more, note):
    notes: list[str] = []
    read(TIED.format("").replace("</mujoco>", more + "</mujoco>"), notes)
    assert note in notes


def test_the_tree_alone_says_what_it_lacks(tmp_path):
    notes: list[str] = []
    hs.load_mjcf(written(tmp_path, FOUR_BAR), notes)
    assert "the tree alone is read, without 1 of kind equality." in notes
