"""The window draws what a robot looks like, where the robot is, or what is touched if it is told so."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pygame

from hapticsim.config.load import loads
from hapticsim.describe.shapes import published_shapes
from hapticsim.display.messages.scene import SceneMessage
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.draw import Picture, SceneDrawing
from hapticsim.display.scene.mesh import tessellate
from hapticsim.wire.messages.topics import Published, frame, unframe
from tests import display_fake
from tests.display.test_meshes import GREEN, SIZE, is_colored, message_of, seen_at, state_at, surface
from tests.drawn_meshes import cuboid, shape_of, torus
from tests.mesh_files import binary_stl

__all__ = ["surface"]  # a fixture
URDF = """
<robot name="r"><link name="arm">
  <inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>
  <visual><origin xyz="0 0 0.1" rpy="1.5707963 0 0"/>
    <geometry><mesh filename="ring.stl" scale="0.001 0.001 0.001"/></geometry>
    <material name="green"><color rgba="0 0.8 0 1"/></material></visual>
  <collision><origin xyz="0 0 0.1"/><geometry><sphere radius="0.3"/></geometry></collision>
</link></robot>
"""


def message(folder: Path, visual: bool) -> SceneMessage:
    """A ring that hangs upright, modelled in millimetres, touched as a ball; as it comes over the wire."""
    ring = torus(200.0, 60.0)
    (folder / "ring.stl").write_bytes(binary_stl(ring.vertices, ring.triangles))
    (folder / "robot.urdf").write_text(URDF)
    text = f"""
name: ring
robot: {{urdf: {{path: robot.urdf, fixed_base: false, collision: true, visual: {str(visual).lower()}}}}}
"""
    scene = loads(text, folder / "scene.yaml")
    shapes = published_shapes(scene, {"world": -1, "arm": 0})
    payload = display_fake.scene(bodies=["arm"], links=[[-1, 0]], shapes=shapes, role="recording")
    found = unframe(frame(Published("scene", 1, 1, payload)))
    assert found is not None
    return SceneMessage.read(found.payload)


def picture(canvas: pygame.Surface, scene: SceneMessage) -> tuple[np.ndarray, OrbitCamera]:
    camera = OrbitCamera(*SIZE, distance=1.6)
    SceneDrawing(scene).draw(canvas, camera, Picture(state_at(0.1, 0.0, 0.0), None))
    return pygame.surfarray.array3d(canvas).astype(int), camera


def test_a_ring_is_seen_with_its_hole_where_its_link_is(surface, tmp_path):
    pixels, camera = picture(surface, message(tmp_path, True))
    green = is_colored(pixels, GREEN)
    for x, z, is_seen in ((0.2, 0.0, 1), (-0.2, 0.0, 1), (0.0, 0.2, 1), (0.0, -0.2, 1), (0.0, 0.0, 0)):
        (pixel,), _ = camera.project(np.array([[0.1 + x, 0.0, 0.1 + z]]))
        assert green[tuple(pixel.round().astype(int))] == is_seen
    assert seen_at(pixels, camera, 0.3, 0.0, 0.1) == 1


def test_told_so_the_window_draws_what_is_touched(surface, tmp_path):
    pixels, _ = picture(surface, message(tmp_path, False))
    assert not is_colored(pixels, GREEN).any()
    off, _ = picture(surface, message(tmp_path, True))
    assert (np.abs(pixels - off).sum(axis=2) > 30).mean() > 0.02


@pytest.mark.parametrize("count", [1, 3, 12, 100])
def test_the_faces_of_many_meshes_are_few(count):
    """Their long triangles are divided less, or a frame of a robot would take a tenth of a second."""
    shapes = [shape_of(f"m{k}", cuboid((0.5, 0.01, 0.01))) for k in range(count)]
    assert len(tessellate(message_of(*shapes).shapes).faces) <= 3500
