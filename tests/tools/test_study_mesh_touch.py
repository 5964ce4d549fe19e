"""What a hand feels of a mesh is bounded: direction, steps, energy, and no tip behind the surface."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.tools.test_tools import numbers_of

SPEED = 0.3


@pytest.fixture(name="study")
def _study(tool: Any) -> Any:
    return tool("study_mesh_touch")


def lap(study: Any, surface: Any, triangles: int) -> tuple[Any, Any, Any]:
    """The figures of our tip over a mesh and of the ideal; what it felt."""
    way = study.path(surface, SPEED)
    ideal = study.feel_ideal(surface, way, study.gains()[0])
    felt = study.feel_ours(surface.mesh(triangles), way)
    return study.figures(surface, felt, ideal), study.figures(surface, ideal, ideal), felt


@pytest.mark.parametrize(
    "kind, triangles, normal_deg, step, off_um",
    [
        ("Sphere", 1_000, 3.0, 7.0, 300.0),  # measured 2.55 deg, 6.4 %, 276 um
        ("Sphere", 10_000, 1.0, 4.0, 32.0),  # 0.85, 3.4, 28.5
        ("Waves", 10_000, 2.6, 8.0, 60.0),  # 2.2, 7.1, 51.6; the ideal steps by 3.0
    ],
)
def test_the_force_over_a_mesh_is_near_that_of_its_original(study, kind, triangles, normal_deg, step, off_um):
    surface = getattr(study, kind)()
    found, ideal, felt = lap(study, surface, triangles)
    assert found["passed"] == 0
    assert found["normal"][0] < normal_deg and 0.2 * normal_deg < found["normal"][1]
    assert ideal["step"][1] < found["step"][1] < step
    assert -100.0 < found["energy"] < 0.0, "a closed path gives the hand nothing"
    assert max(abs(v) for v in found["off"]) < off_um
    assert found["mean_N"] == pytest.approx(2.4, abs=0.2)
    assert len(felt.forces) == study.path(surface, SPEED).lap + 1


def test_finer_meshes_are_nearer_to_the_sphere_and_the_sphere_itself_has_no_facets(study):
    surface = study.Sphere()
    way = study.path(surface, SPEED)
    ideal = study.feel_ideal(surface, way, study.gains()[0])
    normals = []
    for solid in (surface.mesh(300), surface.mesh(3000), surface.mesh(30_000), study.SPHERE_m):
        normals.append(study.figures(surface, study.feel_ours(solid, way), ideal)["normal"][0])
    assert normals[0] > 2.0 * normals[1] > 4.0 * normals[2] and normals[3] < 1e-12, normals


@pytest.mark.parametrize("kind", ["Sphere", "Waves"])
def test_a_mesh_has_its_corners_on_the_surface_and_its_normals_are_those_of_the_foot(study, kind):
    surface = getattr(study, kind)()
    mesh = surface.mesh(2000)
    points, normals = surface.curve(np.linspace(0.0, 1.0, 40))
    for point, normal in zip(points, normals, strict=True):
        height, n = surface.foot(point - 0.001 * normal)
        assert height == pytest.approx(-0.001, abs=1e-12) and n == pytest.approx(normal, abs=1e-9)
    top = mesh.vertices[
        mesh.vertices[:, 2] > -study.SPHERE_m if kind == "Sphere" else mesh.vertices[:, 2] > -0.005
    ]
    assert max(abs(surface.foot(p)[0]) for p in top[::37]) < 1e-9


def test_work_over_a_closed_path_is_that_of_the_friction_that_was_put_in(study):
    """A constant force gives nothing; one against the way, of 1 N, takes 1 J a metre."""
    turn = np.linspace(0.0, 2.0 * np.pi, 1001)
    places = np.column_stack([np.cos(turn), np.sin(turn), np.zeros(1001)])
    forces = np.tile([1.0, 2.0, 3.0], (1001, 1))
    assert study.energy_per_metre(study.Felt(places, forces, places)) == pytest.approx(0.0, abs=1e-12)
    against = -np.column_stack([-np.sin(turn), np.cos(turn), np.zeros(1001)])
    assert study.energy_per_metre(study.Felt(places, against, places)) == pytest.approx(-1.0, abs=1e-4)


@pytest.mark.long
def test_the_study_keeps_its_targets():
    found = numbers_of("study_mesh_touch.py", "--quick")
    assert all(t["met"] for t in found["targets"].values()), found["targets"]
