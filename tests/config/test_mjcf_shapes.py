"""Geoms of an MJCF file as shapes: sizes, poses, names; a robot of it that falls and comes to rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.config.robot import mjcf_shapes
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import globe
from tests.mesh_files import CUBE, CUBE_TRIANGLES, written
from tools.mjcf_peer import MjcfPeer

ALL = """
<mujoco>
  <asset><mesh name="stone" file="cube.obj" scale="0.1 0.2 0.3"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" pos="0 0 -1" rgba="0.2 0.4 0.6 1"/>
    <body name="thing" pos="0 0 0.5"><freejoint/>
      <geom type="sphere" size="0.5" contype="0" conaffinity="0"/>
      <geom type="sphere" size="0.1"/>
      <geom type="capsule" size="0.1 0.2" pos="1 0 0" euler="90 0 0"/>
      <geom type="cylinder" size="0.1 0.2" pos="2 0 0"/>
      <geom name="crate" type="box" size="0.1 0.2 0.3" pos="3 0 0"/>
      <geom type="ellipsoid" size="0.1 0.2 0.3" pos="4 0 0"/>
      <geom type="mesh" mesh="stone" pos="5 0 0"/>
      <geom type="sphere" size="0.4" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
</mujoco>
"""


def scene_of(folder: Path, text: str, more: str = "") -> hs.Scene:
    (folder / "robot.xml").write_text(text)
    return loads(
        f"name: s\nrobot: {{mjcf: {{path: robot.xml, collision: true}}}}\n{more}", folder / "scene.yaml"
    )


@pytest.fixture
def shapes(tmp_path):
    written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    scene = scene_of(tmp_path, ALL)
    return {s.name: s for s in scene.shapes}, scene.notes


def test_geoms_that_may_collide_are_shapes(shapes):
    found, notes = shapes
    assert {name: (s.kind, s.body) for name, s in found.items()} == {
        "floor": ("plane", "world"),
        "thing": ("sphere", "thing"),
        "thing_2": ("capsule", "thing"),
        "thing_3": ("cylinder", "thing"),
        "crate": ("box", "thing"),
        "thing_4": ("ellipsoid", "thing"),
        "thing_5": ("mesh", "thing"),
    }
    assert found["thing"].size == (0.1,)
    assert found["thing_2"].size == found["thing_3"].size == (0.1, 0.4)  # MuJoCo has half of the length
    assert found["crate"].size == found["thing_4"].size == (0.1, 0.2, 0.3)
    assert found["floor"].color == (51, 102, 153)
    assert not any("left out" in note for note in notes)


def test_geoms_of_a_kind_that_is_not_offered_are_left_out_and_noted(tmp_path, monkeypatch):
    """As signed distance fields, which need a plugin of MuJoCo."""
    written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    monkeypatch.setattr(mjcf_shapes, "ELLIPSOID", 8)
    scene = scene_of(tmp_path, ALL)
    assert "thing_4" not in {shape.name for shape in scene.shapes}
    assert "geoms that are not offered as shapes are left out: thing_4." in scene.notes


@pytest.mark.parametrize(("corners", "sides"), [(4, 4), (13, 5), (24, 7), (26, 8), (64, 12)])
def test_ellipsoids_have_no_more_corners_than_hulls(tmp_path, corners, sides):
    """But six, which is the least."""
    written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    (tmp_path / "robot.xml").write_text(ALL)
    text = f"name: s\nrobot: {{mjcf: {{path: robot.xml, collision: true, corners: {corners}}}}}\n"
    (found,) = (s for s in loads(text, tmp_path / "scene.yaml").shapes if s.kind == "ellipsoid")
    assert found.sides == sides
    assert len(globe((1.0, 1.0, 1.0), sides).vertices) <= max(corners, 6)


def test_cylinders_have_half_as_many_sides_as_hulls_have_corners(tmp_path):
    written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    (tmp_path / "robot.xml").write_text(ALL)
    text = "name: s\nrobot: {mjcf: {path: robot.xml, collision: true, corners: 24}}\n"
    found = {s.name: s.sides for s in loads(text, tmp_path / "scene.yaml").shapes}
    assert found["thing_3"] == 12
    assert not any(n for name, n in found.items() if name not in ("thing_3", "thing_4"))


def test_a_pose_is_that_of_the_geom(shapes):
    X_BS = shapes[0]["thing_2"].X_BS
    np.testing.assert_allclose(X_BS.translation, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(X_BS.rotation @ [0.0, 0.0, 1.0], [0.0, -1.0, 0.0], atol=1e-15)


def test_a_mesh_is_its_hull_where_the_file_puts_it(shapes):
    stone: Shape = shapes[0]["thing_5"]
    assert stone.mesh is not None
    assert stone.mesh.is_convex
    in_body = stone.mesh.vertices @ stone.X_BS.rotation.T + stone.X_BS.translation
    expected = np.array(CUBE) * [0.1, 0.2, 0.3] + [5.0, 0.0, 0.0]
    np.testing.assert_allclose(np.sort(in_body, axis=0), np.sort(expected, axis=0), atol=1e-6)


def test_shapes_of_a_scene_may_not_have_their_names(tmp_path):
    more = "shapes: [{kind: sphere, name: crate, radius_m: 0.1}]\n"
    written(tmp_path / "cube.obj", CUBE, CUBE_TRIANGLES)
    with pytest.raises(ConfigError, match="= 'crate' is taken by a shape of the robot: write another name"):
        scene_of(tmp_path, ALL, more)


LYING = """
<mujoco>
  <option timestep="0.001"/>
  <default><geom condim="1" solref="0.002 1"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="part" pos="0 0 0.3" euler="{}"><joint type="free"/>{}</body>
  </worldbody>
</mujoco>
"""
PARTS = {
    "box": '<geom type="box" size="0.1 0.07 0.05"/>',
    "capsule": '<geom type="capsule" size="0.05 0.1"/>',
    "dumbbell": '<geom size="0.05" pos="-0.1 0 0"/><geom size="0.08" pos="0.1 0 0"/>',
}


@pytest.mark.parametrize("turned", ["0 0 0", "10 20 30", "80 0 10"])
@pytest.mark.parametrize("part", PARTS)
def test_a_part_comes_to_rest_as_in_mujoco(tmp_path, part, turned):
    """Without friction both must find the same height of the rest; MuJoCo's contact is soft."""
    import mujoco

    text = LYING.format(turned, PARTS[part])
    scene = scene_of(tmp_path, text, 'contacts: [{between: ["part*", floor]}]\n')
    sim = hs.Simulation(scene)
    peer = MjcfPeer(tmp_path / "robot.xml")
    peer.mj.opt.disableflags = 0
    least = sum(sim.energy())
    for _ in range(60):
        sim.step(50)
        total = sum(sim.energy())
        assert total < least + 1e-7
        least = min(least, total)
        assert all(gap > -1e-6 for gap in sim.gaps)
    peer.place(*scene_start(scene))
    for _ in range(6000):
        mujoco.mj_step(peer.mj, peer.data)
    ours, theirs = height_of(peer, sim.state.q, sim.state.u), float(peer.data.xipos[1, 2])
    assert ours == pytest.approx(theirs, abs=2e-3)


def scene_start(scene: hs.Scene) -> tuple[np.ndarray, np.ndarray]:
    return scene.q0, scene.u0


def height_of(peer: MjcfPeer, q: np.ndarray, u: np.ndarray) -> float:
    """[m] of the centre of mass."""
    kept = peer.data.qpos.copy(), peer.data.qvel.copy()
    peer.place(q, u)
    height = float(peer.data.xipos[1, 2])
    peer.data.qpos[:], peer.data.qvel[:] = kept
    return height
