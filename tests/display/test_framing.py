"""The first view holds the whole scene, labels keep apart, a plane has lines across it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pygame

from hapticsim.config.load import load, loads
from hapticsim.describe.shapes import drawn_shapes, published_shapes
from hapticsim.display.messages.scene import Poses, SceneMessage, StateMessage
from hapticsim.display.palette import YELLOW, Type
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.draw import FIRST_ELEVATION, Picture, SceneDrawing
from hapticsim.display.scene.framing import points_to_show, surroundings
from hapticsim.display.scene.labels import Label, place_labels, write_labels
from hapticsim.display.scene.mesh import place, tessellate
from hapticsim.equations.tree.frames import frame_pose
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import poses
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.scene import Scene
from tests import display_fake
from tests.processes import CONFIGS

SIZE = (810, 720)


def poses_of(scene: Scene) -> Poses:
    """Where a tree starts; a mechanism, whose motion would have to be compiled, at the origin."""
    model = scene.model
    count = len(model.bodies)
    if isinstance(model, MechanismModel):
        return Poses(np.zeros((count, 3)), np.tile(np.eye(3), (count, 1, 1)))
    tree = moving_tree(model)
    moving = poses(Linkage(tree, scene.q0.tolist()))
    found = [frame_pose(tree, moving, body.name) for body in model.bodies]
    return Poses(np.array([p for _, p in found]), np.array([R for R, _ in found]))


def message_of(scene: Scene) -> SceneMessage:
    bodies = [b.name for b in scene.model.bodies]
    shapes = published_shapes(scene, {name: i for i, name in enumerate(bodies)} | {WORLD: -1})
    return SceneMessage.read(display_fake.scene(bodies=bodies, links=[], shapes=shapes, role="recording"))


def corners(scene: SceneMessage, at: Poses) -> np.ndarray:
    """(n, 3) [m] of all shapes but the surroundings."""
    mesh = tessellate(scene.shapes)
    p_WS, R_WS = place(scene.shapes, at)
    points_W = np.einsum("nij,nj->ni", R_WS[mesh.point_shape], mesh.points_S) + p_WS[mesh.point_shape]
    return points_W[~surroundings(scene, mesh, at)[mesh.point_shape]]


def assert_in_picture(scene: SceneMessage, at: Poses) -> None:
    camera = OrbitCamera(*SIZE, elevation=FIRST_ELEVATION)
    camera.fit(points_to_show(scene, tessellate(scene.shapes), at))
    pixels, depth = camera.project(corners(scene, at))
    assert depth.min() > 0.02
    assert (pixels >= 0.0).all() and (pixels <= SIZE).all()
    assert np.ptp(pixels / SIZE, axis=0).max() > 0.2  # and it is not a speck


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_first_view_holds_every_corner_of_a_shipped_scene(file: Path):
    scene = load(file)
    message, at = message_of(scene), poses_of(scene)
    wide = surroundings(message, tessellate(message.shapes), at)
    assert [s.name for s, is_wide in zip(message.shapes, wide, strict=True) if is_wide] == (
        {"shopping_cart": ["floor"], "curve_guide": ["table"]}.get(file.stem, [])  # it has no wire here
    )
    assert_in_picture(message, at)


LENGTH = st.floats(0.01, 2.0)
PLACE = st.tuples(*[st.floats(-5.0, 5.0)] * 3)


@st.composite
def shapes(draw: Any) -> list[dict[str, Any]]:
    found = []
    for n in range(draw(st.integers(1, 8))):
        kind = draw(st.sampled_from(["sphere", "capsule", "box", "plane"]))
        size = [draw(LENGTH) for _ in range({"sphere": 1, "capsule": 2, "box": 3, "plane": 2}[kind])]
        quaternion = draw(st.tuples(*[st.floats(-1.0, 1.0)] * 3))
        found.append(
            {
                "name": f"s{n}",
                "body": draw(st.integers(-1, 3)),
                "kind": kind,
                "size": size,
                "pose": [list(draw(PLACE)), [1.0, *quaternion]],
                "color": [100, 100, 100],
            }
        )
    return found


@given(shapes())
@settings(max_examples=100)
def test_the_first_view_holds_every_corner_of_any_scene(found: list[dict[str, Any]]):
    scene = SceneMessage.read(display_fake.scene(shapes=found, role="recording"))
    assert_in_picture(scene, StateMessage.read(display_fake.state(1.0)).poses)


def test_a_curve_is_in_the_first_view_and_makes_a_table_part_of_the_scene():
    row = {
        "kind": "curve", "a": 0, "b": -1, "point_a": [0.0] * 3, "point_b": [0.0] * 3,
        "direction_a": [0.0] * 3, "direction_b": [0.0] * 3, "length": 0.0, "joints": [], "unit": "N",
        "curve": [-0.2, 0.0, 0.1, 0.3, 0.0, 0.4, 0.2, 0.0, 0.1],
    }  # fmt: skip
    table = {
        "name": "table", "body": -1, "kind": "plane", "size": [0.2, 0.15],
        "pose": [[0.0] * 3, [1.0, 0.0, 0.0, 0.0]], "color": [176, 140, 104],
    }  # fmt: skip
    bead = {**table, "name": "bead", "body": 0, "kind": "sphere", "size": [0.008]}
    payload = display_fake.scene(
        bodies=["bead"], shapes=[table, bead], constraints=[{"name": "wire", "rows": [row]}], role="recording"
    )
    scene, at = SceneMessage.read(payload), Poses(np.zeros((1, 3)), np.eye(3)[None])
    mesh = tessellate(scene.shapes)
    assert not surroundings(scene, mesh, at).any()
    camera = OrbitCamera(*SIZE, elevation=FIRST_ELEVATION)
    camera.fit(points_to_show(scene, mesh, at))
    pixels, _ = camera.project(np.array(row["curve"]).reshape(-1, 3))
    assert (pixels >= 0.0).all() and (pixels <= SIZE).all()


def test_a_mechanism_without_shapes_of_its_own_gets_rods_beside_the_shapes_of_the_world():
    text = (CONFIGS / "four_bar.yaml").read_text()
    begin, end = text.index("shapes:"), text.index("handle:")
    bare = (
        text[:begin]
        + "shapes:\n  - {name: table, kind: plane, drawn_half_extents_m: [1.0, 1.0]}\n\n"
        + text[end:]
    )
    names = [shape.body for shape in drawn_shapes(loads(bare, "bare.yaml"))]
    assert names[0] == WORLD and {"crank", "coupler", "rocker"} <= set(names)
    assert [s.name for s in drawn_shapes(loads(text, "whole.yaml"))] == ["crank", "coupler", "rocker"]


@given(
    st.lists(st.tuples(st.floats(-50.0, 900.0), st.floats(-50.0, 800.0), st.integers(10, 90)), max_size=40)
)
def test_labels_are_inside_the_picture_and_none_covers_another(given_places):
    labels = [Label("x", (x, y), YELLOW) for x, y, _ in given_places]
    area = pygame.Rect(0, 0, *SIZE)
    placed = place_labels(labels, [(width, 17) for _, _, width in given_places], area)
    shown = [rectangle for rectangle in placed if rectangle is not None]
    assert all(area.contains(r) for r in shown)
    assert all(not a.colliderect(b) for i, a in enumerate(shown) for b in shown[:i])


def test_twelve_forces_at_one_place_are_all_written_with_lines_to_those_that_moved_away():
    pygame.font.init()
    surface = pygame.Surface((400, 300))
    labels = [Label(f"{n}.0 N", (200.0, 150.0), YELLOW) for n in range(12)]
    taken = write_labels(Type(), surface, labels)
    assert len(taken) == 12
    pixels = pygame.surfarray.array3d(surface)
    outside = np.ones((400, 300), dtype=bool)
    for r in taken:
        outside[r.left - 1 : r.right + 1, r.top - 1 : r.bottom + 1] = False
    assert ((pixels == YELLOW).all(axis=2) & outside).sum() > 20


def test_a_plane_has_lines_across_it_and_edges_darker_than_itself():
    plane = {
        "name": "table", "body": -1, "kind": "plane", "size": [0.4, 0.3],
        "pose": [[0.0] * 3, [1.0, 0.0, 0.0, 0.0]], "color": [176, 140, 104],
    }  # fmt: skip
    scene = SceneMessage.read(display_fake.scene(shapes=[plane], role="recording"))
    state = StateMessage.read(display_fake.state(1.0))
    pygame.display.init()
    surface = pygame.display.set_mode(SIZE)
    drawing, camera = SceneDrawing(scene), OrbitCamera(*SIZE, elevation=1.2)
    camera.fit(drawing.points_of_interest(state.poses))
    drawing.draw(surface, camera, Picture(StateMessage.read(display_fake.state(1.0, contacts=[])), None))
    red = pygame.surfarray.array3d(surface)[:, :, 0].astype(int)
    x, y = (int(v) for v in camera.project(np.array([[0.05, 0.035, 0.0]]))[0][0])
    column = red[x - 100 : x + 100, y + 12]
    assert column.max() - column.min() > 8  # a seam crosses it
    pygame.display.quit()
