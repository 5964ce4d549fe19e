"""Meshes in the window: read or refused in words, small outward triangles, in front of what they hide."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

os.environ.setdefault("SDL_VIDEODRIVER", "dummy")

import pygame

from hapticsim.describe.shapes import published_shapes
from hapticsim.display.messages.scene import PredictedMessage, SceneMessage, StateMessage, Unreadable
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.draw import Picture, SceneDrawing
from hapticsim.display.scene.mesh import capsule, divided, tessellate
from hapticsim.display.scene.mesh_order import first_in_front, triangle_layers
from hapticsim.display.scene.shadow import caster
from hapticsim.model.scene import Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh
from hapticsim.wire.messages.topics import Published, frame, unframe
from tests import display_fake
from tests.drawn_meshes import ball, cuboid, shape_of, torus
from tests.models import X, at, pendulum, turn

SIZE = (400, 300)
BLUE, RED, GREEN = (0, 0, 200), (200, 0, 0), (0, 200, 0)


def payload_of(*shapes: Shape) -> dict[str, Any]:
    """Topic ``scene`` with these shapes, as it comes over the wire."""
    model = pendulum()
    published = published_shapes(Scene("meshes", model, shapes), {"world": -1, "bob": 0})
    published = published[: len(shapes)]  # without the rods of a pendulum that has no shape
    payload = display_fake.scene(bodies=["bob"], links=[[-1, 0]], shapes=published, role="recording")
    found = unframe(frame(Published("scene", 1, 1, payload)))
    assert found is not None
    return found.payload


def message_of(*shapes: Shape) -> SceneMessage:
    return SceneMessage.read(payload_of(*shapes))


def state_at(*p: float) -> StateMessage:
    bodies = [*(p or (0.0, 0.0, 0.0)), 1.0, 0.0, 0.0, 0.0]
    coupler: dict[str, Any] = {}
    return StateMessage.read(
        display_fake.state(1.0, bodies=bodies, contacts=[], coupler=coupler, device={"connected": False})
    )


def outward_and_corners(points: np.ndarray, triangles: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    corners = points[triangles]
    return np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), corners


def volume(points: np.ndarray, triangles: np.ndarray) -> float:
    outward, corners = outward_and_corners(points, triangles)
    return float((outward * corners[:, 0]).sum()) / 6.0


def test_a_mesh_arrives_as_it_was_published():
    mesh = torus(0.1, 0.03, 40, 16)
    (shape,) = message_of(shape_of("ring", mesh, "bob", at(0.1, 0.2, 0.3, turn(X, 0.4)))).shapes
    assert np.array_equal(shape.vertices_S, mesh.vertices)
    assert np.array_equal(shape.triangles, mesh.triangles)
    assert shape.size == pytest.approx((0.13, 0.13, 0.03)) and shape.body == 0


def without(key: str) -> Any:
    return lambda shape: shape.pop(key)


def put(key: str, k: int, value: Any) -> Any:
    return lambda shape: shape[key].__setitem__(k, value)


@pytest.mark.parametrize(
    "ruin, sentence",
    [
        (without("vertices"), "scene: key 'vertices' is missing"),
        (without("triangles"), "scene: key 'triangles' is missing"),
        (put("vertices", 0, math.nan), "scene: shapes.vertices is not finite"),
        (put("triangles", 4, 8), "mesh 'cube' has triangles between vertices that are none of its own"),
        (put("triangles", 4, -1), "mesh 'cube' has triangles between vertices that are none of its own"),
        (put("triangles", 4, 1.5), "mesh 'cube' has triangles between vertices that are none of its own"),
        (put("triangles", 4, 2**63), "mesh 'cube' has triangles between vertices that are none of its own"),
        (put("triangles", 4, "a"), "mesh 'cube' has triangles between vertices that are none of its own"),
        (put("triangles", 4, [1, 2]), "scene: "),
        (put("vertices", 4, "a"), "scene: "),
        (put("vertices", 4, None), "scene: shapes.vertices is not finite"),
        (lambda s: s["vertices"].pop(), "mesh 'cube' has 23 numbers of vertices and 36 of triangles: "),
        (lambda s: s["triangles"].pop(), "mesh 'cube' has 24 numbers of vertices and 35 of triangles: "),
        (lambda s: s["triangles"].clear(), "mesh 'cube' has 24 numbers of vertices and 0 of triangles: "),
        (lambda s: s["vertices"].clear(), "none of its own"),
        (lambda s: s.update(triangles=5), "and 1 of triangles: three belong to each"),
        (lambda s: s.update(triangles=None), "and 1 of triangles: three belong to each"),
        (lambda s: s.update(vertices={}), "scene: "),
        (lambda s: s.update(size=[0.1, 0.1]), "shape 'cube' of kind 'mesh' with 2 sizes cannot be drawn"),
    ],
)
def test_a_damaged_mesh_is_refused_in_words(ruin, sentence):
    payload = payload_of(shape_of("cube", cuboid((0.1, 0.1, 0.1))))
    SceneMessage.read(payload)
    ruin(payload["shapes"][0])
    with pytest.raises(Unreadable) as refusal:
        SceneMessage.read(payload)
    assert str(refusal.value).startswith("scene: ") and sentence in str(refusal.value)


def test_every_face_of_a_mesh_looks_outwards_and_repeats_its_last_corner():
    mesh = tessellate(message_of(shape_of("ball", ball(0.1))).shapes)
    assert mesh.faces.shape == (1280, 4) and np.array_equal(mesh.faces[:, 2], mesh.faces[:, 3])
    assert ((mesh.normals_S * mesh.points_S[mesh.faces].mean(axis=1)).sum(axis=1) > 0.09).all()
    ring = torus(0.1, 0.03, 40, 16)
    mesh = tessellate(message_of(shape_of("ring", ring)).shapes)
    centres = mesh.points_S[mesh.faces[:, :3]].mean(axis=1)
    middle = 0.1 * centres * [1, 1, 0] / np.hypot(centres[:, 0], centres[:, 1])[:, None]
    assert ((mesh.normals_S * (centres - middle)).sum(axis=1) > 0.02).all()


def test_long_triangles_are_divided_and_the_surface_stays():
    cube = cuboid((0.5, 0.5, 0.01))
    points, triangles = divided(cube.vertices, cube.triangles)
    outward, corners = outward_and_corners(points, triangles)
    edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
    assert 12 < len(triangles) <= 1500 and edges.max() <= 0.125 * np.sqrt(2.0004) + 1e-12
    assert volume(points, triangles) == pytest.approx(0.02)
    assert 0.5 * np.linalg.norm(outward, axis=1).sum() == pytest.approx(2.0 + 4 * 0.02)
    assert np.abs(points).max(axis=0) == pytest.approx([0.5, 0.5, 0.01])
    whole = ball(0.1)
    assert divided(whole.vertices, whole.triangles)[1] is whole.triangles


def test_a_capsule_in_many_rings_is_the_same_capsule():
    points, faces = capsule(0.1, 0.8, along=4)
    nearest = np.clip(points[:, 2], -0.4, 0.4)
    assert np.hypot(np.hypot(points[:, 0], points[:, 1]), points[:, 2] - nearest) == pytest.approx(0.1)
    corners = points[faces]
    outward = np.cross(corners[:, 2] - corners[:, 0], corners[:, 3] - corners[:, 1])
    assert ((outward * (corners.mean(axis=1) * [1, 1, 0.2])).sum(axis=1) > 0.0).all()
    assert len(faces) == len(capsule(0.1, 0.8)[1]) + 3 * 22
    assert np.ptp(corners[:, :, 2], axis=1).max() == pytest.approx(0.2)


EYE = np.array([0.3, -2.0, 1.0])


def towards_eye(mesh: TriangleMesh, p: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Corners (n, 3, 3) and normals (n, 3) of the triangles of a mesh at p that look at the eye."""
    outward, corners = outward_and_corners(mesh.vertices + p, mesh.triangles)
    seen = ((EYE - corners[:, 0]) * outward).sum(axis=1) > 0.0
    return corners[seen], outward[seen] / np.linalg.norm(outward[seen], axis=1, keepdims=True)


@pytest.mark.parametrize("seed", range(5))
def test_the_first_triangle_in_front_is_one_that_a_line_of_sight_meets(seed):
    rng = np.random.default_rng(seed)
    corners, normals = towards_eye(torus(0.3, 0.12, 20, 10), (0.0, 0.0, 0.0))
    centres = rng.uniform(-0.6, 0.6, (200, 3))
    facets = centres[:, None] + 1e-5 * rng.normal(size=(200, 4, 3))
    everywhere = np.array([[-np.inf] * 2, [np.inf] * 2])
    first = first_in_front(
        facets,
        np.tile(everywhere, (200, 1, 1)),
        corners,
        np.tile(everywhere, (len(corners), 1, 1)),
        normals,
        EYE,
    )
    for centre, found in zip(centres, first, strict=True):
        met = []
        for a, b, c in corners:  # eye + t (centre - eye) = a + u (b - a) + v (c - a)
            t, u, v = np.linalg.solve(np.column_stack([centre - EYE, a - b, a - c]), a - EYE)
            met.append(0.0 < t < 1.0 - 1e-4 and u >= 0.0 and v >= 0.0 and u + v <= 1.0)
        if any(met):
            assert found <= met.index(True)
        else:
            assert found == len(corners)


def test_a_floor_of_large_triangles_comes_before_the_box_on_it_and_a_wall_in_front_after():
    floor, normals = towards_eye(cuboid((2.0, 2.0, 0.1)), (0.0, 0.0, -0.1))
    p_WS, R_WS, half = np.array([[0.0, 0.5, 0.2]]), np.eye(3)[None], np.full((1, 3), 0.2)
    of_box = p_WS, R_WS, half, np.array([1])
    assert (triangle_layers(floor, normals, *of_box, EYE)[normals[:, 2] > 0.5] == 0).all()
    wall, normals = towards_eye(cuboid((0.3, 0.02, 0.3)), (0.1, -0.3, 0.3))
    assert (triangle_layers(wall, normals, *of_box, EYE) == 2).all()
    behind, normals = towards_eye(cuboid((0.1, 0.02, 0.1)), (0.0, 1.0, 0.1))
    assert (triangle_layers(behind, normals, *of_box, EYE) == 0).all()


@pytest.fixture
def surface():
    pygame.display.init()
    yield pygame.display.set_mode(SIZE)
    pygame.display.quit()


def pixels_of(
    surface: pygame.Surface, scene: SceneMessage, predicted: PredictedMessage | None = None
) -> tuple[np.ndarray, OrbitCamera]:
    """A picture (width, height, 3) of a scene from above the front, with the camera."""
    drawing, state = SceneDrawing(scene), state_at()
    camera = OrbitCamera(*SIZE, distance=1.6, azimuth=0.3, elevation=0.5)
    drawing.draw(surface, camera, Picture(state, predicted))
    return pygame.surfarray.array3d(surface).astype(int), camera


def is_colored(pixels: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    """Where the brightest channel is that of a colour, and the others are dark beside it."""
    best = int(np.argmax(color))
    rest = np.delete(pixels, best, axis=2).max(axis=2)
    return (pixels[:, :, best] > 25) & (pixels[:, :, best] > rest + 15)


def seen_at(pixels: np.ndarray, camera: OrbitCamera, *p: float) -> int:
    """Index of the strongest channel where a place of the world is in the picture."""
    (pixel,), _ = camera.project(np.array([p]))
    x, y = pixel.round().astype(int)
    return int(np.argmax(pixels[x - 1 : x + 2, y - 1 : y + 2].mean(axis=(0, 1))))


@pytest.mark.parametrize("radius", [0.05, 0.015])  # larger and smaller than the triangles
def test_a_ball_rests_on_large_triangles_of_a_mesh_and_is_hidden_behind_them(surface, radius):
    block = shape_of("block", cuboid((0.3, 0.3, 0.1)), color=BLUE)
    x, y = np.indices(SIZE)
    for p in [(x, y, 0.1 + radius) for x in np.linspace(-0.24, 0.24, 4) for y in np.linspace(-0.24, 0.24, 5)]:
        pixels, camera = pixels_of(
            surface, message_of(block, Shape("ball", "world", "sphere", (radius,), at(*p), RED))
        )
        (middle, side), _ = camera.project(np.array([p, np.array(p) + radius * camera.R_WC[:, 0]]))
        seen = side[0] - middle[0]
        disc = np.hypot(x - middle[0], y - middle[1]) < seen + 2.0
        whole = (is_colored(pixels, RED) & disc).sum()  # down to where it touches
        assert whole == pytest.approx(math.pi * seen**2, rel=0.15)
    behind = Shape("ball", "world", "sphere", (radius,), at(0.0, 0.5, -0.05), RED)
    assert not is_colored(pixels_of(surface, message_of(block, behind))[0], RED).any()


@pytest.mark.parametrize("kind", ["mesh", "sphere"])
def test_what_is_in_the_hole_of_a_mesh_is_seen_and_what_is_behind_its_rim_is_not(surface, kind):
    ring = shape_of("ring", torus(0.3, 0.1), X_BS=at(rotation=turn(X, 0.5 * math.pi)), color=BLUE)

    def with_ball(*p: float) -> tuple[np.ndarray, OrbitCamera]:
        mesh = shape_of("ball", ball(0.06, 2), X_BS=at(*p), color=GREEN)
        sphere = Shape("ball", "world", "sphere", (0.06,), at(*p), GREEN)
        return pixels_of(surface, message_of(ring, mesh if kind == "mesh" else sphere))

    pixels, camera = with_ball(0.0, 0.0, 0.0)
    assert seen_at(pixels, camera, 0.0, 0.0, 0.0) == 1
    rim = np.array([0.0, 0.0, 0.3])
    away = (rim - camera.eye_W) / np.linalg.norm(rim - camera.eye_W)
    pixels, _ = with_ball(*(rim + 0.2 * away))
    assert not is_colored(pixels, GREEN).any()
    pixels, _ = with_ball(*(rim - 0.2 * away))
    assert is_colored(pixels, GREEN).sum() > 300


def test_a_box_and_a_mesh_hide_one_another_by_where_they_stand(surface):
    box = Shape("box", "world", "box", (0.1, 0.1, 0.1), at(0.0, 0.0, 0.1), RED)
    for y, seen in ((-0.4, 1), (0.3, 0)):
        other = shape_of("ball", ball(0.05, 4), X_BS=at(0.0, y, 0.05), color=GREEN)
        pixels, camera = pixels_of(surface, message_of(box, other))
        assert seen_at(pixels, camera, 0.0, y, 0.05) == seen


def test_the_ghost_of_a_moving_mesh_stands_where_the_prediction_is(surface):
    scene = message_of(
        shape_of("ball", ball(0.05, 2), "bob", color=RED),
        Shape("s", "world", "sphere", (0.3,), at(0, 0.5, -0.3)),
    )
    without, camera = pixels_of(surface, scene)
    bodies = [0.2, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
    predicted = PredictedMessage.read({"time_s": 1.0, "age_s": 0.1, "bodies": bodies, "path": []})
    ghost, _ = pixels_of(surface, scene, predicted)
    changed = np.abs(ghost - without).max(axis=2) > 10
    (pixel,), _ = camera.project(np.array([bodies[:3]]))
    x, y = pixel.round().astype(int)
    assert changed[x - 3 : x + 4, y - 3 : y + 4].all() and changed.mean() < 0.1


def test_the_shadow_of_a_mesh_is_as_long_and_wide_as_the_box_around_it(surface):
    (rod,) = message_of(shape_of("rod", cuboid((0.02, 0.2, 0.03)), "bob")).shapes
    (a, b), radius = caster(rod)
    assert radius == pytest.approx(0.03) and np.abs(a - b) == pytest.approx([0.0, 0.34, 0.0])
    cube = cuboid((0.1, 0.1, 0.1))
    moved = TriangleMesh(cube.vertices + np.array([0.5, 0.0, 0.0]), cube.triangles)
    (block,) = message_of(shape_of("block", moved, "bob")).shapes
    ends, radius = caster(block)
    assert radius == pytest.approx(0.1) and ends == pytest.approx(np.array([[0.5, 0.0, 0.0]] * 2))
    plane = Shape("plane", "world", "plane", (0.15, 0.15), at(0.0, 0.0, -0.1), (160, 160, 160))
    carried = shape_of("ball", ball(0.05, 2), "bob", color=RED)
    pixels, camera = pixels_of(surface, message_of(plane, carried))
    (under, beside), _ = camera.project(np.array([[0.0, 0.0, -0.1], [0.1, -0.1, -0.1]]))
    dark, bright = (pixels[round(p[0]), round(p[1])].sum() for p in (under, beside))
    assert dark < 0.95 * bright


def test_the_floor_lies_below_the_lowest_vertex_of_a_mesh():
    cube = cuboid((0.1, 0.1, 0.1))
    low = shape_of("low", TriangleMesh(cube.vertices - np.array([0.0, 0.0, 0.4]), cube.triangles))
    assert SceneDrawing(message_of(low)).floor == pytest.approx(-0.501)
    turned = shape_of("cube", cube, X_BS=at(rotation=turn(X, 0.25 * math.pi)))
    assert SceneDrawing(message_of(turned)).floor == pytest.approx(-0.1 * math.sqrt(2.0) - 0.001)


def test_a_mesh_that_reaches_past_the_eye_is_cut_and_not_left_out(surface):
    scene = message_of(
        shape_of("floor", cuboid((5.0, 5.0, 0.1)), color=BLUE), Shape("s", "bob", "sphere", (0.1,))
    )
    drawing, state = SceneDrawing(scene), state_at(0.0, 0.0, 0.2)
    camera = OrbitCamera(*SIZE, target_W=np.array([0.0, 0.0, 0.1]), distance=1.0, elevation=0.6)
    drawing.draw(surface, camera, Picture(state, None))
    blue = is_colored(pygame.surfarray.array3d(surface).astype(int), BLUE)
    assert blue[:, -20:].mean() > 0.95  # the lower rim of the picture


ROUND = {"cylinder": (0.1, 0.7), "cone": (0.1, 0.7), "ellipsoid": (0.1, 0.2, 0.35)}


@pytest.mark.parametrize("others", [[], [shape_of("ring", torus(0.3, 0.1))]])
@pytest.mark.parametrize("kind", ROUND)
def test_facets_of_a_round_shape_close_it_and_face_outwards(kind, others):
    message = message_of(Shape("drum", "world", kind, ROUND[kind]), *others)
    mesh = tessellate(message.shapes)
    faces, normals = mesh.faces[mesh.face_shape == 0], mesh.normals_S[mesh.face_shape == 0]
    middles = mesh.points_S[faces].mean(axis=1)
    assert np.all(np.sum(normals * middles, axis=1) > 0.0)
    places = np.unique(mesh.points_S.round(9), axis=0, return_inverse=True)[
        1
    ].ravel()  # poles and apices are many
    faces_of_places = places[faces]
    corners = (
        np.stack([faces_of_places, np.roll(faces_of_places, -1, axis=1)], axis=-1).reshape(-1, 2).tolist()
    )
    edges = [(a, b) for a, b in corners if a != b]
    assert {(b, a) for a, b in edges} == set(edges) and len(set(edges)) == len(edges)
    points = mesh.points_S[np.unique(faces)]
    assert np.abs(points[:, 0]).max() == pytest.approx(0.1)
    assert np.abs(points[:, 2]).max() == pytest.approx(0.35)
    if kind == "cone":
        assert np.abs(points[points[:, 2] > 0.34, :2]).max() < 1e-12


def test_an_ellipsoid_casts_the_shadow_of_a_capsule_about_as_large():
    (egg,) = message_of(Shape("egg", "world", "ellipsoid", (0.1, 0.3, 0.2))).shapes
    ends, radius = caster(egg)
    assert radius == pytest.approx(0.2)
    np.testing.assert_allclose(ends, [[0.0, -0.1, 0.0], [0.0, 0.1, 0.0]], atol=1e-12)
