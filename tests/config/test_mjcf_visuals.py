"""What MuJoCo's viewer shows of an MJCF file is drawn, and what is touched where nothing else is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.config.robot import mjcf_visuals
from hapticsim.describe.shapes import drawn_shapes
from tests.mesh_files import CUBE, CUBE_TRIANGLES
from tests.mesh_files import written as written_mesh
from tests.mjcf_files import written

pytest.importorskip("mujoco")

TEXT = """
<mujoco>
  <asset><mesh name="cube" file="cube.obj" scale="0.1 0.2 0.3"/></asset>
  <default><default class="look"><geom contype="0" conaffinity="0" group="2"/></default>
           <default class="touch"><geom group="3"/></default></default>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 1" rgba="0.2 0.4 0.6 1"/>
    <body name="arm" pos="0 0 1">
      <joint axis="0 1 0"/>
      <geom class="look" name="cover" type="mesh" mesh="cube" pos="5 0 0" rgba="1 0 0 1"/>
      <geom class="look" type="sphere" size="0.1"/>
      <geom class="look" name="egg" type="ellipsoid" size="0.1 0.2 0.3"/>
      <geom class="touch" name="core" type="capsule" size="0.1 0.2"/>
      <body name="hand" pos="1 0 0">
        <joint axis="0 1 0"/>
        <geom class="touch" name="palm" type="box" size="0.1 0.1 0.1"/>
        <geom class="look" name="glass" type="sphere" size="0.2" rgba="1 1 1 0"/>
      </body>
      <body name="finger" pos="2 0 0">
        <joint axis="0 1 0"/>
        <geom name="bone" type="capsule" size="0.01 0.02"/>
        <geom class="look" name="nail" type="sphere" size="0.02"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def scene(folder: Path, keys: str, more: str = "") -> hs.Scene:
    written_mesh(folder / "cube.obj", CUBE, CUBE_TRIANGLES)
    file = written(folder, TEXT)
    return loads(f"name: x\nrobot: {{mjcf: {{path: {file.name}, {keys}}}}}\n{more}", folder / "scene.yaml")


def drawn(made: hs.Scene) -> set[str]:
    names = [shape.name for shape in drawn_shapes(made)]
    assert len(set(names)) == len(names)
    return set(names)


def test_what_is_shown_is_drawn_and_what_is_touched_where_nothing_else_is(tmp_path):
    made = scene(tmp_path, "collision: true")
    assert {s.name for s in made.shapes} == {"floor", "core", "palm", "bone"}
    assert drawn(made) == {"floor", "cover:visual", "arm:visual", "egg:visual", "palm", "bone", "nail:visual"}
    assert len(scene(tmp_path, "collision: true", "contacts: [{between: [floor, '*']}]\n").contacts) == 3


def test_without_collision_all_that_is_shown_is_drawn(tmp_path):
    made = scene(tmp_path, "collision: false", "shapes: [{name: floor, kind: plane}]\n")
    assert drawn(made) == {
        "floor", "floor:visual", "cover:visual", "arm:visual", "egg:visual", "bone:visual", "nail:visual",
    }  # fmt: skip


def test_it_is_turned_off_by_a_key(tmp_path):
    assert drawn(scene(tmp_path, "collision: true, visual: false")) == {"floor", "core", "palm", "bone"}
    rods = scene(tmp_path, "visual: false")
    assert rods.visuals == () and len(drawn(rods)) > 1


def test_a_mesh_is_drawn_as_the_file_has_it_where_the_file_puts_it(tmp_path):
    (cover,) = (s for s in scene(tmp_path, "collision: true").visuals if s.name == "cover:visual")
    assert cover.surface is not None and cover.mesh is None and cover.color == (255, 0, 0)
    in_body = cover.surface.vertices @ cover.X_BS.rotation.T + cover.X_BS.translation
    expected = np.array(CUBE) * [0.1, 0.2, 0.3] + [5.0, 0.0, 0.0]
    np.testing.assert_allclose(np.unique(in_body.round(5), axis=0), np.unique(expected, axis=0), atol=1e-5)


def test_there_are_bounds(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(mjcf_visuals, "MOST", 2)
        assert len(scene(tmp_path, "collision: true").visuals) == 2
    monkeypatch.setattr(mjcf_visuals, "MOST_TRIANGLES", 11)
    made = scene(tmp_path, "collision: true")
    assert {"arm:visual", "nail:visual"} <= drawn(made)
    assert "cover:visual" not in drawn(made)
    told = "a geom is not drawn, as 'cover': of a kind that is not offered, or beyond 250 geoms and 11 "
    assert told + "triangles." in made.notes
