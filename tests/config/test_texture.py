"""``texture``: a mesh raised by a map of heights is closed, raised as the map says, or refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import hapticsim as hs
from hapticsim.config.fine_surface.smoothing import MOST_TRIANGLES
from hapticsim.config.fine_surface.texture import averaged, repeated, roughened
from hapticsim.errors import ConfigError
from hapticsim.model.triangle_mesh import TriangleMesh
from tools.mesh_scenes import mesh_of

PATH = Path("mesh")
RADIUS = 0.05

SCENE = """
name: a rough ball
robot:
  bodies: [{{name: tip, inertial: {{mass_kg: 0.1, inertia_kg_m2: {{xx: 1e-5, yy: 1e-5, zz: 1e-5}}}}}}]
  joints: [{{name: tip, type: free, parent: world, child: tip}}]
shapes:
  - {{name: tip, kind: sphere, body: tip, radius_m: 0.002}}
  - {{name: ball, kind: mesh, file: ball.stl, {keys}}}
contacts: [{{between: [tip, ball]}}]
initial: {{free: {{tip: {{xyz_m: [0, 0, 0.0535]}}}}}}
"""


def ball(finer: int = 3) -> trimesh.Trimesh:
    return trimesh.creation.icosphere(finer, RADIUS)


def scene(folder: Path, heights: np.ndarray, keys: str) -> hs.Scene:
    """A tip over a ball with this map."""
    np.save(folder / "map.npy", heights)
    ball().export(folder / "ball.stl")
    path = folder / "scene.yaml"
    path.write_text(SCENE.format(keys=keys))
    return hs.load(path)


def surface(made: TriangleMesh) -> trimesh.Trimesh:
    return trimesh.Trimesh(made.vertices, made.triangles, process=False)


def test_a_map_is_linear_between_its_heights_and_repeats():
    heights = np.array([[0.0, 1.0], [2.0, 5.0]])
    x, y = np.array([0.0, 0.5, 0.25, 1.0, -0.5, 0.75]), np.array([0.0, 0.0, 0.25, 3.0, 0.5, 0.0])
    np.testing.assert_allclose(repeated(heights, x, y), [0.0, 1.0, 2.0, 0.0, 5.0, 0.5])


def test_a_mean_is_that_of_the_neighbours_around():
    heights = np.random.default_rng(0).normal(size=(4, 9))
    for over, at in ((1, [0]), (2, [-1, 0]), (3, [-1, 0, 1]), (20, range(-4, 5))):
        expected = np.mean([np.roll(heights, -k, axis=1) for k in at], axis=0)
        np.testing.assert_allclose(averaged(heights, over, 1), expected, atol=1e-14)
    np.testing.assert_allclose(averaged(heights.T, 3, 0), averaged(heights, 3, 1).T, atol=1e-14)


@pytest.mark.parametrize("height", [1e-3, -1e-3])
def test_a_ball_is_raised_by_a_constant_map(height: float):
    made = roughened(PATH, "", mesh_of(ball()), np.full((4, 4), height), (RADIUS, RADIUS), [])
    assert surface(made).is_watertight and surface(made).is_winding_consistent
    smooth = roughened(PATH, "", mesh_of(ball()), np.zeros((4, 4)), (RADIUS, RADIUS), [])
    rise = np.linalg.norm(made.vertices, axis=1) - np.linalg.norm(smooth.vertices, axis=1)
    np.testing.assert_allclose(rise, height, rtol=1e-2)


def test_waves_are_where_the_map_has_them():
    x = np.arange(64) / 64.0
    heights = np.tile(2e-4 * np.sin(2.0 * np.pi * x), (64, 1))
    notes: list[str] = []
    box = mesh_of(trimesh.creation.box((0.1, 0.1, 0.02)))
    made = roughened(PATH, "", box, heights, (0.05, 0.05), notes)
    top = made.vertices[(made.vertices[:, 2] > 0.009) & (np.abs(made.vertices[:, :2]).max(axis=1) < 0.04)]
    assert len(top) > 1000
    np.testing.assert_allclose(top[:, 2], 0.01 + 2e-4 * np.sin(2.0 * np.pi * top[:, 0] / 0.05), atol=2e-6)
    assert "12 triangles became" in notes[0] and "of which means" not in notes[0]
    assert surface(made).is_watertight


def test_a_map_finer_than_the_mesh_can_be_is_averaged():
    heights = 1e-4 * np.random.default_rng(0).choice([-1.0, 1.0], size=(1000, 1000))
    notes: list[str] = []
    made = roughened(PATH, "", mesh_of(ball()), heights, (RADIUS, RADIUS), notes)
    assert len(made.triangles) <= MOST_TRIANGLES
    assert "of which means are taken" in notes[0]
    assert np.abs(np.linalg.norm(made.vertices, axis=1) - RADIUS).max() < 6e-4


PIPE = trimesh.creation.annulus(0.02, 0.05, 0.1)


@pytest.mark.parametrize(
    ("made", "height", "size", "said"),
    [
        (
            ball(),
            -0.03,
            RADIUS,
            "raises the mesh by up to 30 mm, and it is 100 mm thin: give it a smaller scale.",
        ),
        (
            PIPE,
            0.022,
            RADIUS,
            "folds the mesh over: give it lower heights (scale), or a larger size_m, or remove",
        ),
        (ball(), 0.0, 1e-4, "repeats every 0.1 mm, and 500000 triangles leave edges of"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(
    made: trimesh.Trimesh, height: float, size: float, said: str
):
    with pytest.raises(ConfigError, match=r"mesh: shapes\[1\]\.texture") as refused:
        roughened(PATH, "shapes[1].texture", mesh_of(made), np.full((4, 4), height), (size, size), [])
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        (
            "texture: {file: none.npy, size_m: [0.05, 0.05]}",
            "check the path of the map of heights.",
        ),
        ("texture: {file: map.npy, size_m: [0.05, -1]}", "shapes[1].texture.size_m"),
        (
            "texture: {file: map.npy, size_m: [0.05, 0.05]}, convex: true",
            "stands beside convex: true: a rough mesh",
        ),
        (
            "texture: {file: map.npy, size_m: [0.05, 0.05]}, decompose: {}",
            "stands beside decompose: a rough mesh",
        ),
    ],
)
def test_keys_that_do_not_fit_are_refused_in_a_sentence(tmp_path: Path, keys: str, said: str):
    with pytest.raises(ConfigError) as refused:
        scene(tmp_path, np.zeros((4, 4)), keys)
    assert said in str(refused.value)


@pytest.mark.parametrize("heights", [np.full((2, 2), np.nan), np.full((2, 2), np.inf), np.zeros((0, 3))])
def test_heights_that_are_no_numbers_are_refused(tmp_path: Path, heights: np.ndarray):
    with pytest.raises(ConfigError, match=r"map\.npy: has no heights, or some that are no numbers"):
        scene(tmp_path, heights, "texture: {file: map.npy, size_m: [0.05, 0.05]}")


def test_a_tip_rests_on_what_the_map_raised(tmp_path: Path):
    rough = scene(
        tmp_path, np.full((4, 4), 1.0), "texture: {file: map.npy, size_m: [0.05, 0.05], scale: 0.001}"
    )
    plain = scene(tmp_path, np.zeros((4, 4)), "texture: {file: map.npy, size_m: [0.05, 0.05]}")
    assert any("triangles became" in note for note in rough.notes)
    rests = []
    for made in (rough, plain):
        sim = hs.Simulation(made)
        sim.step(60)
        assert len(sim.state.contacts) > 0
        rests.append(sim.state.q[2])
    assert rests[0] - rests[1] == pytest.approx(1e-3, rel=0.05)
