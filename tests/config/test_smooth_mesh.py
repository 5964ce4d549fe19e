"""``smooth``: a mesh curved between its corners is nearer to what was sampled, sharp where it should be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh

import hapticsim as hs
from hapticsim.config.fine_surface.smoothing import around, smoothed
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.mesh_files import written
from tools.mesh_scenes import ball_scene, box_mesh, bumpy, mesh_of, plain_distance

RADIUS, HALF_LENGTH = 0.05, 0.06
PATH = Path("mesh")


def ball(finer: int) -> TriangleMesh:
    return mesh_of(trimesh.creation.icosphere(finer, RADIUS))


def smooth(mesh: TriangleMesh, crease_deg: float = 30.0, facet_deg: float = 1.0) -> tuple[TriangleMesh, str]:
    notes: list[str] = []
    made = smoothed(PATH, "", mesh, np.radians(crease_deg), np.radians(facet_deg), notes)
    (note,) = notes
    return made, note.removeprefix("mesh: ")


def check_closed(mesh: TriangleMesh, original: TriangleMesh) -> None:
    """Closed, of consistent winding, with the vertices of the original as its first."""
    surface = trimesh.Trimesh(mesh.vertices, mesh.triangles, process=False)
    assert surface.is_watertight and surface.is_winding_consistent and surface.volume > 0.0
    assert np.array_equal(mesh.vertices[: len(original.vertices)], original.vertices)
    assert len(np.unique(mesh.triangles)) == len(mesh.vertices), "no vertex is left over"


def scene_of(folder: Path, keys: str, vertices: np.ndarray | None = None) -> Scene:
    cube = trimesh.creation.icosphere(1, RADIUS)
    written(folder / "part.obj", cube.vertices if vertices is None else vertices, cube.faces)
    path = folder / "scene.yaml"
    path.write_text(
        "name: s\nrobot:\n  bodies: [{name: tip, inertial: {mass_kg: 1, "
        "inertia_kg_m2: {xx: 1, yy: 1, zz: 1}}}]\n"
        "  joints: [{name: j, type: free, parent: world, child: tip}]\n"
        f"shapes:\n  - {{name: part, {keys}}}\n  - {{name: ball, kind: sphere, body: tip, radius_m: 0.01}}\n"
        "contacts: [{between: [ball, part]}]\ninitial: {free: {j: {xyz_m: [0, 0, 0.2]}}}\n"
    )
    return hs.load(path)


@pytest.mark.parametrize("finer, nearer", [(1, 11.0), (2, 13.0), (3, 13.0)])
def test_a_ball_of_few_triangles_becomes_nearly_round(finer, nearer):
    """The largest deviation falls by so much at least; the largest turn to what was asked for, or nearly."""
    made, note = smooth(ball(finer), crease_deg=60.0)
    check_closed(made, ball(finer))
    off = [
        abs(np.array([np.linalg.norm(m.vertices[m.triangles].mean(axis=1), axis=1)]) - RADIUS).max()
        for m in (ball(finer), made)
    ]
    assert off[1] < off[0] / nearer, off
    turn = around(made.vertices, made.triangles)[2]
    assert np.degrees(turn.max()) < (2.5 if finer == 1 else 1.1), note


def test_each_pass_that_more_triangles_allow_is_nearer():
    errors = [
        abs(np.linalg.norm(smooth(ball(finer), 60.0)[0].vertices, axis=1) - RADIUS).max()
        for finer in (1, 2, 3)
    ]
    assert errors[0] > 3.5 * errors[1] > 12.0 * errors[2]


def test_the_rims_of_a_cylinder_stay_sharp_and_become_round():
    sections = 24
    coarse = mesh_of(trimesh.creation.cylinder(RADIUS, 2.0 * HALF_LENGTH, sections=sections))
    made, note = smooth(coarse)
    check_closed(made, coarse)
    assert f"{2 * sections} edges stay sharp" in note
    height = abs(made.vertices[:, 2])
    assert height.max() == pytest.approx(HALF_LENGTH, abs=1e-15)
    radius = np.linalg.norm(made.vertices[:, :2], axis=1)
    rim = height > HALF_LENGTH - 1e-12
    on_edge = rim & (radius > 0.99 * RADIUS)
    assert on_edge.sum() >= 2 * sections * 8
    sagitta = RADIUS * (1.0 - np.cos(np.pi / sections))
    assert RADIUS - radius[~rim].min() < 0.02 * sagitta and radius.max() < RADIUS * (1.0 + 1e-12)
    ends = np.flatnonzero(np.all(rim[made.triangles], axis=1))
    normals = around(made.vertices, made.triangles)[1]
    assert abs(abs(normals[ends, 2]) - 1.0).max() < 1e-12, "the ends are flat"


def test_a_box_stays_a_box():
    coarse = box_mesh((0.1, 0.2, 0.3), 1)
    made, note = smooth(coarse)
    assert np.array_equal(made.triangles, coarse.triangles)
    assert note == "its 48 triangles turn by up to 0 deg and stay as they are; 24 edges stay sharp."


def test_a_line_of_sharp_edges_ends_straight_where_it_forks():
    """A cube, divided because a rounded part in the same mesh asks for it."""
    cube = trimesh.creation.box((0.1, 0.1, 0.1))
    round_part = trimesh.creation.icosphere(1, RADIUS)
    round_part.apply_translation([1.0, 0.0, 0.0])
    made, _ = smooth(mesh_of(trimesh.util.concatenate([cube, round_part])))
    corners = made.vertices[made.vertices[:, 0] < 0.5]
    assert len(corners) > 500
    assert abs(abs(corners).max(axis=1) - 0.05).max() < 1e-15, "all on the cube"


@pytest.mark.parametrize("seed", range(20))
def test_whatever_is_smoothed_stays_closed_or_is_refused(seed):
    rng = np.random.default_rng(seed)
    coarse = bumpy(rng, int(rng.integers(0, 3)), rng.uniform(0.0, 1.5))
    try:
        made, _ = smooth(coarse, rng.uniform(0.0, 60.0), rng.uniform(0.25, 10.0))
    except ConfigError as refused:
        assert "folds" in str(refused)
        return
    check_closed(made, coarse)
    assert len(made.triangles) <= 500_000


def test_a_mesh_that_would_fold_is_refused():
    """Two needles side by side at the top: the curve between their feet goes through the next face."""
    surface = trimesh.creation.icosphere(1, RADIUS)
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(60):
        made = surface.copy()
        made.vertices *= 1.0 + 4.0 * rng.random((len(made.vertices), 1)) ** 3
        made.vertices += 0.6 * RADIUS * rng.normal(size=made.vertices.shape)
        try:
            smooth(mesh_of(made), 60.0)
        except ConfigError as sentence:
            refused += 1
            assert str(sentence) == (
                "mesh: folds the mesh over: give it a smaller crease_deg, or a finer mesh, or remove it."
            )
    assert refused > 0


def test_a_scene_says_it_with_a_key_and_a_recording_would_know_the_surface_again(tmp_path):
    plain = scene_of(tmp_path, "kind: mesh, file: part.obj")
    made, again = (
        scene_of(tmp_path, "kind: mesh, file: part.obj, smooth: {crease_deg: 60}") for _ in range(2)
    )
    assert len(plain.shapes[0].mesh.triangles) == 80
    assert len(made.shapes[0].mesh.triangles) == 20480
    assert made.shapes[0].fingerprint == again.shapes[0].fingerprint != plain.shapes[0].fingerprint
    assert any(
        note.endswith(
            "scene.yaml: shapes[0].smooth: 80 triangles that turn by up to 22 deg became 20480, by up to "
            "2 deg; 0 edges stay sharp."
        )
        for note in made.notes
    ), made.notes


def test_a_height_field_may_be_smooth(tmp_path):
    """Of a paraboloid: between the samples it is the nearer."""
    x = np.linspace(-0.5, 0.5, 11)
    rows = (0.5 * (x[None, :] ** 2 + x[:, None] ** 2)).tolist()
    keys = f"kind: height_field, heights_m: {rows}, size_m: [1.0, 1.0]"
    off = []
    for more in ("", ", smooth: {}"):
        mesh = scene_of(tmp_path, keys + more).shapes[0].mesh
        middles = mesh.vertices[mesh.triangles].mean(axis=1)
        middles = middles[(abs(middles[:, :2]) < 0.35).all(axis=1) & (middles[:, 2] > -0.01)]
        off.append(abs(middles[:, 2] - 0.5 * (middles[:, :2] ** 2).sum(axis=1)).max())
    assert off[1] < 0.1 * off[0], off


@pytest.mark.parametrize(
    "keys, sentence",
    [
        (
            "convex: true, smooth: {}",
            "shapes[0].smooth stands beside convex: true: a smooth mesh is touched by spheres alone; "
            "remove one of the two.",
        ),
        (
            "decompose: {}, smooth: {}",
            "shapes[0].smooth stands beside decompose: a smooth mesh is touched by spheres alone; "
            "remove one of the two.",
        ),
        ("smooth: {crease_deg: 90}", "shapes[0].smooth.crease_deg = 90 is not usable"),
        ("smooth: {crease: 30}", "shapes[0].smooth.crease"),
    ],
)
def test_what_does_not_go_with_it_is_refused(tmp_path, keys, sentence):
    with pytest.raises(ConfigError) as refused:
        scene_of(tmp_path, f"kind: mesh, file: part.obj, {keys}")
    assert sentence in str(refused.value)


def test_a_ball_slides_on_a_smooth_mesh_as_on_the_ball_it_was_sampled_from():
    """Without friction from near the top until it leaves; the plain mesh takes another way."""
    solid = smooth(mesh_of(trimesh.creation.icosphere(2, 0.4)), 60.0)[0]
    start = 0.45 * np.array([np.sin(0.2), 0.0, np.cos(0.2)])
    ends = []
    for mesh in (solid, mesh_of(trimesh.creation.icosphere(2, 0.4))):
        above = plain_distance(mesh, start) - 0.05
        sim = hs.Simulation(ball_scene(mesh, start * (1.0 - (above - 1e-6) / 0.45)))
        before = sum(sim.energy())
        sim.step(350)
        assert before - (1e-3 if mesh is solid else 0.05) < sum(sim.energy()) < before + 1e-9
        assert plain_distance(mesh, sim.state.q[:3]) - 0.05 > -1e-7
        ends.append(sim.state.q[:3].copy())
    # on a sphere of 0.45 m the angle from the top obeys a'' = g / 0.45 sin a
    angle, rate = 0.2, 0.0
    for _ in range(35_000):
        rate += 1e-5 * 9.81 / 0.45 * np.sin(angle)
        angle += 1e-5 * rate
    exact = 0.45 * np.array([np.sin(angle), 0.0, np.cos(angle)])
    off = [float(np.linalg.norm(end - exact)) for end in ends]
    assert off[0] < 0.003 and off[0] < 0.2 * off[1], off
