"""Edges of boxes across edges, and sides of capsules across rims: what stands, bounces and falls."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.assemble.initial_check import place_of
from hapticsim.assemble.overlap import overlap_of
from hapticsim.codes import ON_EDGES, Event
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from tests.watch import Watch

GRAVITY = 9.81
BOX = "kind: box, half_extents_m: [{}, {}, {}]"
LOG = "kind: capsule, radius_m: 0.05, length_m: 0.6, origin: {rpy_rad: [1.5707963267948966, 0, 0]}"


def body(i: int, mass: float, half: Sequence[float]) -> str:
    x, y, z = (
        mass / 3.0 * (a * a + b * b) for a, b in ((half[1], half[2]), (half[0], half[2]), (half[0], half[1]))
    )
    return f"{{name: b{i}, inertial: {{mass_kg: {mass}, inertia_kg_m2: {{xx: {x}, yy: {y}, zz: {z}}}}}}}"


def listed(numbers: Sequence[float]) -> list[float]:
    return np.array(numbers, float).tolist()


def scene(
    shapes: Sequence[str],
    starts: Sequence[tuple[Sequence[float], Sequence[float]]],
    fixed: Sequence[str],
    half: Sequence[Sequence[float]] = ((0.05, 0.05, 0.05),),
    mass: float = 1.0,
    restitution: float = 0.0,
    rate_Hz: float = 1000.0,
) -> hs.Simulation:
    """Free bodies with one shape each, s0, s1, ..., at these places and angles, among fixed shapes."""
    n = len(shapes)
    half = [half[i % len(half)] for i in range(n)]
    names = [f"s{i}" for i in range(n)]
    others = [text.split(",")[0].removeprefix("name: ") for text in fixed]
    pairs = [*itertools.combinations(names, 2), *itertools.product(names, others)]
    text = [
        f"name: edges\nrate_Hz: {rate_Hz}\nrobot:",
        f"  bodies: [{', '.join(body(i, mass, half[i]) for i in range(n))}]",
        "  joints:",
        *(f"    - {{name: j{i}, type: free, parent: world, child: b{i}}}" for i in range(n)),
        "shapes:",
        *(f"  - {{name: s{i}, body: b{i}, {shape}}}" for i, shape in enumerate(shapes)),
        *(f"  - {{{shape}}}" for shape in fixed),
        "contacts:",
        *(f"  - {{between: [{a}, {b}], restitution: {restitution}}}" for a, b in pairs),
        "initial:\n  free:",
        *(f"    j{i}: {{xyz_m: {listed(at)}, rpy_rad: {listed(rpy)}}}" for i, (at, rpy) in enumerate(starts)),
    ]
    return hs.Simulation(loads("\n".join(text)))


def deepest(sim: hs.Simulation) -> float:
    """How deep a box or a capsule is in a box at most, by plain geometry [m]."""
    shapes, q = {s.name: s for s in sim.scene.shapes}, sim.state.q
    found = 0.0
    for pair in sim.scene.contacts:
        a, b = shapes[pair.a], shapes[pair.b]
        depth = overlap_of(a, place_of(sim.assembly, a, q), b, place_of(sim.assembly, b, q))
        found = max(found, depth or 0.0)
    return found


@pytest.mark.parametrize("yaw", [0.0, 1e-3, 0.1, 0.5, 0.25 * np.pi, 1.3])
@pytest.mark.parametrize("drop", [0.0, 0.02])
def test_equal_cubes_stack_at_any_angle(yaw, drop):
    """Turned, no corner of one is over a face of the other: eight edges cross eight edges."""
    cube = BOX.format(0.05, 0.05, 0.05)
    starts = [((0.0, 0.0, 0.05 + i * (0.1 + drop)), (0.0, 0.0, i * yaw)) for i in range(3)]
    sim = scene([cube] * 3, starts, ["name: floor, kind: plane"])
    seen = Watch(sim).take(1000)
    np.testing.assert_allclose(sim.state.q[[2, 9, 16]], [0.05, 0.15, 0.25], atol=1e-9)
    np.testing.assert_allclose(sim.state.u, 0.0, atol=1e-12)
    on = [
        sum(c.force for c in sim.state.contacts if {c.a, c.b} == {a, b})
        for a, b in (("s0", "floor"), ("s1", "s0"))
    ]
    assert [f / GRAVITY for f in on] == pytest.approx([3.0, 2.0], rel=1e-9)
    assert seen.rise < 1e-12 and seen.deepest > -1e-9 and deepest(sim) < 1e-9


def test_a_beam_lies_across_a_beam_on_four_crossings():
    beam = BOX.format(0.3, 0.02, 0.02)
    sim = scene(
        [beam], [((0.05, 0.0, 0.05), (0.0, 0.0, 0.0))],
        ["name: lower, kind: box, half_extents_m: [0.02, 0.3, 0.02]"], half=[(0.3, 0.02, 0.02)],
    )  # fmt: skip
    Watch(sim).take(60)
    assert not sim.state.contacts or abs(sim.state.u[1]) > 0.1, "its middle is past the lower one: it tips"
    sim = scene(
        [beam], [((0.01, 0.0, 0.05), (0.0, 0.0, 0.4))],
        ["name: lower, kind: box, half_extents_m: [0.02, 0.3, 0.02]"], half=[(0.3, 0.02, 0.02)],
    )  # fmt: skip
    seen = Watch(sim).take(500)
    assert len(sim.state.contacts) == 4 and sum(c.force for c in sim.state.contacts) == pytest.approx(GRAVITY)
    assert all(c.normal == pytest.approx([0.0, 0.0, 1.0], abs=1e-9) for c in sim.state.contacts)
    assert sim.state.q[2] == pytest.approx(0.04, abs=1e-9) and seen.rise < 1e-12


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("yaw", [0.5 * np.pi, 0.7])
def test_an_edge_that_falls_on_an_edge_bounces_as_a_ball_does(yaw, restitution):
    """Both stand on their edges, above one another: the impulse goes through the middle and turns nothing."""
    rise, height = 0.05 * np.sqrt(2.0), 0.1
    sim = scene(
        [BOX.format(0.2, 0.05, 0.05)], [((0.0, 0.0, 2.0 * rise + height), (0.25 * np.pi, 0.0, yaw))],
        [f"name: lower, {BOX.format(0.2, 0.05, 0.05)}, origin: {{rpy_rad: [0.7853981633974483, 0, 0]}}"],
        half=[(0.2, 0.05, 0.05)], restitution=restitution,
    )  # fmt: skip
    falls_s, speed = np.sqrt(2.0 * height / GRAVITY), np.sqrt(2.0 * height * GRAVITY)
    seen = Watch(sim).take(200)
    if restitution < 1.0:  # else nothing is lost, and nothing told
        first = next(e for e in seen.events if e.kind in (Event.TOUCH, Event.IMPULSE))
        assert first.time == pytest.approx(falls_s, abs=1e-9)
        assert first.value == pytest.approx(0.5 * speed**2 * (1.0 - restitution**2), rel=1e-8)
    if restitution:
        after_s = 0.2 - falls_s
        expected = restitution * speed * after_s - 0.5 * GRAVITY * after_s**2
        assert sim.state.q[2] - 2.0 * rise == pytest.approx(expected, abs=1e-9)
    else:
        assert sim.state.q[2] == pytest.approx(2.0 * rise, abs=1e-9), "and balances there"
    assert np.abs(sim.state.u[:3]).max() < 1e-8


def test_a_capsule_lies_across_a_table_on_two_rims():
    """Its ends are beyond the table: nothing but its side touches."""
    sim = scene(
        ["kind: capsule, radius_m: 0.02, length_m: 0.5"], [((0.03, 0.0, 0.08), (0.0, 0.5 * np.pi, 0.3))],
        ["name: table, kind: box, half_extents_m: [0.1, 0.4, 0.05]"], half=[(0.02, 0.02, 0.25)],
    )  # fmt: skip
    seen = Watch(sim).take(500)
    held = np.flatnonzero(sim._state.mode)
    assert [sim.assembly.candidates[k].kind for k in held] == [ON_EDGES] * 2
    assert sim.state.q[2] == pytest.approx(0.07, abs=1e-9)
    levers = [c.force * (c.point[0] - sim.state.q[0]) for c in sim.state.contacts]
    assert sum(levers) == pytest.approx(0.0, abs=1e-9) and seen.rise < 1e-12
    assert sum(c.force for c in sim.state.contacts) == pytest.approx(GRAVITY, rel=1e-9)


def test_a_corner_of_a_box_falls_on_the_side_of_a_capsule_and_nothing_goes_through():
    sim = scene(
        [BOX.format(0.05, 0.05, 0.05)], [((0.005, 0.002, 0.3), (0.6, 0.5, 0.2))],
        [f"name: log, {LOG}", "name: floor, kind: plane, origin: {xyz_m: [0, 0, -0.05]}"],
    )  # fmt: skip
    seen = Watch(sim)
    for _ in range(100):
        seen.take(15)
        assert deepest(sim) < 1e-7
    assert seen.rise < 2e-7 and not seen.counts[Event.THROUGH]


def drop(seed: int) -> hs.Simulation:
    """One to three boxes, or capsules, that fall anyhow on a box and a floor."""
    rng = np.random.default_rng(seed)
    shapes, halves, starts = [], [], []
    for i in range(int(rng.integers(1, 4))):
        half = rng.uniform(0.02, 0.1, 3)
        if rng.random() < 0.3:
            half[1] = half[0] = 0.5 * half[0]
            shapes.append(f"kind: capsule, radius_m: {half[0]}, length_m: {2 * half[2]}")
        else:
            shapes.append(BOX.format(*half))
        halves.append(half)
        starts.append(((*rng.uniform(-0.06, 0.06, 2), 0.35 + 0.4 * i), rng.uniform(-3.0, 3.0, 3)))
    base = rng.uniform(0.05, 0.12, 3)
    tilt = rng.uniform(-0.4, 0.4, 3)
    return scene(
        shapes, starts,
        [f"name: base, kind: box, half_extents_m: {base.tolist()}, origin: {{rpy_rad: {tilt.tolist()}}}",
         "name: floor, kind: plane, origin: {xyz_m: [0, 0, -0.3]}"],
        half=halves, restitution=float(rng.choice([0.0, 0.4])),
    )  # fmt: skip


@pytest.mark.parametrize(
    "seed", [*range(8), *(pytest.param(i, marks=pytest.mark.long) for i in range(8, 120))]
)
def test_what_falls_anyhow_goes_through_nothing_and_gains_nothing(seed):
    sim = drop(seed)
    seen, scale = Watch(sim), abs(sum(sim.energy())) + 1.0
    for _ in range(150):
        seen.take(10)
        assert deepest(sim) < 1e-5
    assert seen.rise < 1e-6 * scale and not seen.counts[Event.THROUGH]
    assert not seen.counts[Event.ENERGY] and not seen.counts[Event.NOT_FINITE]


@pytest.mark.parametrize(
    ("shape", "at", "depth"),
    [
        ("kind: capsule, radius_m: 0.01, length_m: 0.8", (0.0, 0.0, 0.0), "60 mm"),  # straight through
        ("kind: capsule, radius_m: 0.01, length_m: 0.8", (0.0, 0.0, 0.055), "5 mm"),
        (BOX.format(0.4, 0.01, 0.01), (0.0, 0.0, 0.055), "5 mm"),
    ],
)
def test_what_goes_straight_through_a_box_does_not_start(shape, at, depth):
    turn = (0.0, 0.5 * np.pi if "capsule" in shape else 0.0, 0.0)
    with pytest.raises(ConfigError, match=rf"initial puts '\w+' {depth} into '\w+': start with at most 1 mm"):
        scene([shape], [(at, turn)], ["name: table, kind: box, half_extents_m: [0.1, 0.3, 0.05]"])
