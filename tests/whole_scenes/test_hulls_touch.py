"""Convex meshes on boxes and on one another: as boxes, where they are; they tumble, stack, cross, rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import trimesh

import hapticsim as hs
from hapticsim.assemble.initial_check import place_of
from hapticsim.assemble.overlap import overlap_of
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.kernels.events.inside import GAP_CAPTURE
from hapticsim.kernels.tick.advance import UNSEEN_DEPTH
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.scene import ContactPair, Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh
from tests.watch import Push, Watch
from tools.mesh_scenes import box_mesh, mesh_of

Solid = TriangleMesh | tuple[float, ...]
HALF, TABLE, THICK = (0.1, 0.07, 0.05), (0.6, 0.6, 0.05), 0.05
WEIGHT = 9.81
LOOK_EVERY = 5  # ticks


def scene(
    solids: Sequence[Solid],
    starts: Sequence[str],
    table: Solid,
    e: float = 0.0,
    rate_Hz: float = 1000.0,
    below: Placement | None = None,
) -> Scene:
    """Solids of 1 kg on free joints over a table whose top is at z = 0; each may touch each.

    below : where the table is instead.
    """
    names = [f"part{i}" for i in range(len(solids))]
    inertial = "{mass_kg: 1.0, inertia_kg_m2: {xx: 0.003, yy: 0.004, zz: 0.005}}"
    bodies = "".join(f"    - {{name: {name}, inertial: {inertial}}}\n" for name in names)
    joints = "".join(f"    - {{name: f_{n}, type: free, parent: world, child: {n}}}\n" for n in names)
    free = "".join(f"    f_{name}: {start}\n" for name, start in zip(names, starts, strict=True))
    made = loads(
        f"name: solids on a table\nrate_Hz: {rate_Hz}\nrobot:\n  bodies:\n{bodies}  joints:\n{joints}"
        f"initial:\n  free:\n{free}"
    )
    at = below or Placement(np.eye(3), np.array([0.0, 0.0, -THICK]))
    shapes = [shape("table", WORLD, table, at), *(shape(n, n, s) for n, s in zip(names, solids, strict=True))]
    pairs = [(a, b) for i, b in enumerate(shapes) for a in shapes[i + 1 :]]
    ordered = [(b, a) if a.kind == "box" and b.kind == "mesh" else (a, b) for a, b in pairs]
    contacts = tuple(ContactPair(a.name, b.name, e) for a, b in ordered)
    return replace(made, shapes=tuple(shapes), contacts=contacts)


def shape(name: str, body: str, solid: Solid, at: Placement | None = None) -> Shape:
    at = at or Placement()
    if isinstance(solid, TriangleMesh):
        half = np.abs(solid.vertices).max(axis=0)
        return Shape(name, body, "mesh", tuple(half.tolist()), at, mesh=solid)
    return Shape(name, body, "box", solid, at)


def solid_of(points: np.ndarray) -> TriangleMesh:
    return mesh_of(trimesh.convex.convex_hull(points))


def prism(sides: int, radius: float, half: float, turn: float = 0.0) -> TriangleMesh:
    angle = turn + 2.0 * np.pi * np.arange(sides) / sides
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    return solid_of(np.concatenate([np.column_stack([ring, np.full(sides, z)]) for z in (-half, half)]))


def random_hull(rng: np.random.Generator) -> TriangleMesh:
    """The hull of 5 to 40 points, a prism, a pyramid, an octahedron, a dodecahedron."""
    n, turn = int(rng.integers(3, 13)), float(rng.uniform(0.0, 6.0))
    match int(rng.integers(5)):
        case 0:
            return prism(n, 0.08, 0.05, turn)
        case 1:
            ring = prism(n, 0.08, 0.05, turn).vertices
            return solid_of(np.concatenate([ring[ring[:, 2] < 0.0], [[0.0, 0.0, 0.1]]]))
        case 2:
            return solid_of(0.1 * np.concatenate([np.eye(3), -np.eye(3)]))
        case 3:
            golden = 0.5 * (1.0 + 5.0**0.5)
            some = np.array([[0.0, s / golden, t * golden] for s in (-1, 1) for t in (-1, 1)])
            cube = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
            return solid_of(0.05 * np.concatenate([cube, *(np.roll(some, i, axis=1) for i in range(3))]))
    points = rng.normal(size=(int(rng.integers(5, 40)), 3))
    points *= 0.1 * rng.uniform(0.7, 1.0, (len(points), 1)) / np.linalg.norm(points, axis=1, keepdims=True)
    return solid_of(points)


def thrown(rng: np.random.Generator, height: float = 0.15) -> str:
    rpy, w = rng.uniform(-3.0, 3.0, 3).tolist(), (3.0 * rng.normal(size=3)).tolist()
    v = rng.uniform(-0.2, 0.2, 3).tolist()
    return (
        f"{{xyz_m: [0, 0, {height}], rpy_rad: {rpy}, velocity_m_per_s: {v}, angular_velocity_rad_per_s: {w}}}"
    )


def flat(x: float, y: float, z: float, yaw: float = 0.0) -> str:
    return f"{{xyz_m: [{x}, {y}, {z}], rpy_rad: [0, 0, {yaw}]}}"


def deepest(sim: hs.Simulation) -> float:
    """How far [m] any shape of a pair is in the other, by plain geometry."""
    shapes = {s.name: s for s in sim.scene.shapes}
    depth = -np.inf
    for pair in sim.scene.contacts:
        a, b = shapes[pair.a], shapes[pair.b]
        overlap = overlap_of(
            a, place_of(sim.assembly, a, sim.state.q), b, place_of(sim.assembly, b, sim.state.q)
        )
        assert overlap is not None
        depth = max(depth, overlap)
    return depth


class Deep(Watch):
    """The same, with how far any shape was in another [m] at every fifth tick."""

    overlap = 0.0

    def take(self, ticks: int, push: Push | None = None) -> Deep:
        for _ in range(0, ticks, LOOK_EVERY):
            super().take(LOOK_EVERY, push)
            self.overlap = max(self.overlap, deepest(self.sim))
        return self


def check_quiet(seen: Watch) -> None:
    """Energy never rose, nothing passed through anything, nothing was refused."""
    assert seen.rise < 1e-6 and seen.widest <= 1.01 * GAP_CAPTURE
    assert not set(seen.counts) & {Event.THROUGH, Event.ENERGY, Event.NOT_FINITE, Event.ROWS_FULL}


@pytest.mark.parametrize("table", [TABLE, box_mesh(TABLE)], ids=["on a box", "on a hull"])
@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_a_box_of_triangles_moves_as_a_box(seed, e, table):
    ends = []
    for solid, under in ((HALF, TABLE), (box_mesh(HALF), table)):
        start = thrown(np.random.default_rng(seed))
        sim = hs.Simulation(scene([solid], [start], under, e))
        sim.step(600)
        ends.append(np.concatenate([sim.state.q, sim.state.u]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-8)


@pytest.mark.parametrize("table", [TABLE, box_mesh(TABLE)], ids=["on a box", "on a hull"])
def test_a_cube_of_triangles_rests_as_high_as_a_box_and_with_its_force(table):
    sim = hs.Simulation(scene([box_mesh(HALF)], [flat(0.0, 0.0, HALF[2] + 0.01)], table))
    Watch(sim).take(300)
    assert sim.state.q[2] == pytest.approx(HALF[2], abs=1e-9)
    assert [c.force for c in sim.state.contacts] == pytest.approx([WEIGHT / 4] * 4, rel=1e-6)


def tumble(seed: int) -> bool:
    """Whether a hull comes to lie on a table of boxes or of triangles; without friction it may slide on."""
    rng = np.random.default_rng(seed)
    hull, e, rate_Hz = random_hull(rng), float(rng.choice([0.0, 0.4])), float(rng.choice([250.0, 1000.0]))
    table: Solid = TABLE if rng.random() < 0.5 else box_mesh(TABLE)
    sim = hs.Simulation(scene([hull], [thrown(rng)], table, e, rate_Hz))
    seen = Deep(sim).take(round(1.5 * rate_Hz))
    check_quiet(seen)
    assert seen.overlap < (UNSEEN_DEPTH if seen.counts[Event.OVERFLOW] else 1e-6)
    X = sim.body_pose("part0")
    heights = np.sort((hull.vertices @ X.rotation.T + X.translation)[:, 2])
    tilting = np.linalg.norm((X.rotation @ sim.state.u[:3])[:2])
    lies = len(sim.state.contacts) >= 3 and tilting < 1e-6
    if lies:
        assert -1e-6 < heights[0] and heights[2] <= 1.01 * GAP_CAPTURE, "it lies in the air, or in the table"
        assert sum(c.force for c in sim.state.contacts) == pytest.approx(WEIGHT, rel=1e-6)
    return bool(lies)


@pytest.mark.parametrize("first", [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(10, 200, 10))])
def test_hulls_tumble_to_rest_on_a_face_and_nothing_sinks(first):
    assert sum(tumble(seed) for seed in range(first, first + 10)) >= 6


@pytest.mark.parametrize("seed", range(4))
def test_a_hull_falls_on_a_hull_and_slides_off(seed):
    """From a random one that lies on the table another is struck; what is heavy stays below."""
    rng = np.random.default_rng(seed)
    low = prism(int(rng.integers(3, 9)), 0.12, 0.04, float(rng.uniform(0.0, 3.0)))
    sim = hs.Simulation(scene([low, random_hull(rng)], [flat(0.0, 0.0, 0.04), thrown(rng, 0.25)], TABLE))
    seen = Deep(sim).take(600)
    check_quiet(seen)
    assert seen.counts[Event.TOUCH] > 4
    assert seen.overlap < (UNSEEN_DEPTH if seen.counts[Event.OVERFLOW] else 1e-6)


@pytest.mark.parametrize("sides", [3, 5, 8, 12])
def test_prisms_stack(sides):
    """Flush, turned, and set off: each carries what is above."""
    rng = np.random.default_rng(sides)
    solids = [prism(sides, 0.1, 0.05, turn) for turn in (0.0, 0.0, 0.3)]
    starts = [flat(0.0, 0.0, 0.05), flat(0.0, 0.0, 0.15), flat(0.02, 0.01, 0.25, float(rng.uniform(0, 3)))]
    sim = hs.Simulation(replace(scene(solids, starts, TABLE), max_rows=64))  # of twelve sides they take 36
    seen = Deep(sim).take(400)
    check_quiet(seen)
    assert seen.overlap < 1e-8
    forces = {name: 0.0 for name in ("table", "part0", "part1")}
    for contact in sim.state.contacts:
        forces[min(contact.a, contact.b) if "table" not in (contact.a, contact.b) else "table"] += (
            contact.force
        )
    assert forces == pytest.approx({"table": 3 * WEIGHT, "part0": 2 * WEIGHT, "part1": WEIGHT}, rel=1e-6)
    heights = [sim.body_pose(f"part{i}").translation[2] for i in range(3)]
    assert heights == pytest.approx([0.05, 0.15, 0.25], abs=1e-8)


def test_two_roofs_cross_edge_over_edge():
    """Balanced on a ridge the upper one has one contact, along the normal across both edges."""
    ridge = solid_of(
        np.array([[x, y, -0.05] for x in (-0.2, 0.2) for y in (-0.05, 0.05)] + [[-0.2, 0, 0], [0.2, 0, 0]])
    )
    upper = TriangleMesh(-ridge.vertices, ridge.triangles[:, ::-1])  # its ridge below
    below = Placement(np.eye(3), np.zeros(3))
    sim = hs.Simulation(scene([upper], [flat(0.0, 0.0, 1e-4, 1.2)], ridge, below=below))
    seen = Deep(sim).take(20)
    check_quiet(seen)
    (contact,) = sim.state.contacts
    assert contact.force == pytest.approx(WEIGHT, rel=1e-6)
    assert contact.normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-9)
    assert contact.point == pytest.approx([0.0, 0.0, 0.0], abs=1e-8)
    assert seen.overlap < 1e-9


def test_a_prism_slides_over_the_end_of_a_table_without_a_jump():
    """Its vertices leave the face of the table, and edges that cross carry it until it tips."""
    start = "{xyz_m: [0.55, 0, 0.05], rpy_rad: [0, 0, 0.4], velocity_m_per_s: [0.5, 0, 0]}"
    sim = hs.Simulation(scene([prism(5, 0.1, 0.05)], [start], box_mesh(TABLE)))
    seen = Deep(sim)
    before = sim.state.u.copy()
    for _ in range(120):
        Watch.take(seen, 1)
        assert np.abs(sim.state.u - before).max() < 0.5
        before = sim.state.u.copy()
    seen.take(400)
    check_quiet(seen)
    assert seen.overlap < 1e-6 and sim.body_pose("part0").translation[2] < -0.3


@pytest.mark.parametrize("seed", range(5))
def test_a_vertex_that_slides_to_an_edge_on_the_same_table_is_stopped_there(seed):
    """Over the sloped face the gap has a kink at its edge, and the edges cross there at once: the search for
    when that is gave up, and the vertex came in by half a millimetre."""
    rng = np.random.default_rng(seed)
    ring = prism(4, 0.1, 0.05, np.pi / 4).vertices
    pyramid = solid_of(np.concatenate([ring[ring[:, 2] < 0.0], [[0.0, 0.0, 0.05]]]))
    x, y, yaw = 0.2, float(rng.uniform(-0.04, 0.04)), float(rng.uniform(-0.3, 0.3))
    moving = (
        f"{{xyz_m: [{x}, {y}, 0.04], rpy_rad: [0, 0, {np.pi + yaw}], "
        f"velocity_m_per_s: [{-rng.uniform(0.4, 1.2)}, 0, 0]}}"
    )
    solids, starts = [pyramid, prism(3, 0.06, 0.04)], [flat(0.0, 0.0, 0.05), moving]
    sim = hs.Simulation(scene(solids, starts, TABLE, rate_Hz=500.0))
    deep = 0.0
    for _ in range(150):
        sim.step()
        deep = max(deep, deepest(sim))
    assert deep < 1e-6 and np.linalg.norm(sim.state.u[:6]) > 0.01, "the pyramid was not struck"


def test_a_start_inside_is_refused_and_says_how_deep():
    with pytest.raises(ConfigError, match=r"puts 'part0' 10 mm into 'table': start with at most 1 mm"):
        hs.Simulation(scene([box_mesh(HALF)], [flat(0.0, 0.0, 0.04)], box_mesh(TABLE)))


def test_a_turned_cube_rests_on_its_edge_crossings():
    """A cube on a smaller cube, turned by 45 degrees: no vertex is over a face, eight edges cross."""
    small, large = (0.06, 0.06, 0.05), (0.07, 0.07, 0.05)
    below = Placement(rotation_from_rpy((0.0, 0.0, np.pi / 4)), np.array([0.0, 0.0, -0.05]))
    sim = hs.Simulation(scene([box_mesh(large)], [flat(0.0, 0.0, 0.051)], box_mesh(small), below=below))
    check_quiet(Watch(sim).take(200))
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(WEIGHT, rel=1e-6)
    assert len(sim.state.contacts) == 8 and sim.state.q[2] == pytest.approx(0.05, abs=1e-9)


def with_capsule(made: Scene, capsule: Shape) -> Scene:
    """The same with a capsule for ``part0``, alone with the table."""
    shapes = tuple(capsule if s.name == "part0" else s for s in made.shapes)
    return replace(made, shapes=shapes, contacts=(ContactPair("part0", "table"),))


@pytest.mark.parametrize("seed", range(6))
def test_a_capsule_moves_on_a_box_of_triangles_as_on_a_box(seed):
    """Its ends on faces and edges, its side across edges, and corners of the table on its side."""
    rod, narrow, ends = Shape("part0", "part0", "capsule", (0.03, 0.3)), (0.1, 0.06, 0.05), []
    for table in (narrow, box_mesh(narrow)):
        rng = np.random.default_rng(seed)
        sim = hs.Simulation(with_capsule(scene([HALF], [thrown(rng, 0.2)], table), rod))
        seen = Deep(sim).take(350)
        check_quiet(seen)
        assert seen.counts[Event.TOUCH] > 0 and seen.overlap < 1e-6
        ends.append(np.concatenate([sim.state.q, sim.state.u]))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_a_capsule_falls_over_a_hull(seed):
    rng = np.random.default_rng(seed)
    hull, rod = random_hull(rng), Shape("part0", "part0", "capsule", (0.02, 0.2))
    below = Placement(np.eye(3), np.array([0.0, 0.0, -0.05]))
    sim = hs.Simulation(with_capsule(scene([HALF], [thrown(rng, 0.25)], hull, below=below), rod))
    seen = Deep(sim).take(400)
    check_quiet(seen)
    assert seen.counts[Event.TOUCH] > 0
    assert seen.overlap < (UNSEEN_DEPTH if seen.counts[Event.OVERFLOW] else 1e-6)
