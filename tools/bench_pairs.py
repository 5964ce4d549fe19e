"""Time the contact geometry of each pair of shapes beside coal, MuJoCo and Drake, at the same poses.

    python tools/bench_pairs.py                             300 poses of each pair, 4 random sizes
    python tools/bench_pairs.py --pairs box-box sphere-mesh some pairs
    python tools/bench_pairs.py --json -                    the numbers; --save and --compare as well

Poses are those of check_shapes.py that touch, within 1e-6 m.  At each both bodies are placed, and then

    distance   ours: the least gap of all candidates, with nothing kept from the pose before; coal.distance;
               mj_geomDistance, with mj_kinematics; Drake's ComputeSignedDistancePairClosestPoints
    manifold   ours: the row of each candidate nearer than 1 mm, as well; coal.collide with at most four
               contacts; mj_collision, with mj_kinematics and mj_comPos; Drake's ComputePointPairPenetration

Ours runs in compiled code; the others are called from Python, and ``call`` is about what the call alone
takes: that of two spheres.  Told are us of the processor, ``-`` for what a library lacks: cones, in MuJoCo
and Drake, meshes that are not convex, and in Drake distances of most shapes from a plane.  Drake is asked
where it is installed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import coal
import mujoco
import numpy as np
from check_shapes import CHECKED, named
from drake_pair import DrakePair
from numba import float64
from reporting import Found, machine, machine_line, parser_of, report
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from shape_candidates import MATRIX, OUTPUT, PLAN, STATE, VECTOR, WORKSPACE, Candidates
from shape_errors import coal_hull
from shape_poses import GROUPS, Poses, random_pair, random_poses

from hapticsim.kernels import units
from hapticsim.kernels.entry import compile_cached
from hapticsim.kernels.events.inside import GAP_DEEP
from hapticsim.kernels.motion.frames import place_frames
from hapticsim.model.multibody.rotation import quaternion_of
from hapticsim.model.scene import Shape

POSES, SIZES, ROUNDS = 300, 4, 5
REACH = 1e-3  # [m] nearer than this a candidate has a row
CONTACTS = 4  # of coal
GEOMS = {
    "sphere": mujoco.mjtGeom.mjGEOM_SPHERE,
    "capsule": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "cylinder": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "ellipsoid": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "box": mujoco.mjtGeom.mjGEOM_BOX,
    "plane": mujoco.mjtGeom.mjGEOM_PLANE,
    "mesh": mujoco.mjtGeom.mjGEOM_MESH,
}
COLUMNS = ("ours", "coal", "mujoco", "drake")


# ---- ours


def _go_through(plan, state, ws, out, Q, reach, gaps):
    """Write the least gap [m] at each of the coordinates Q (n, nq) to gaps (n,); the rows of what is nearer
    than ``reach`` are written as well."""
    for i in range(gaps.size):
        for k in range(plan.contacts):
            state.face[k], state.depth[k] = 0, 0.0
        place_frames(plan, ws, Q[i], ws.u0, ws.qs)
        units.put_edges_in_places(plan, state, ws, out, 0, GAP_DEEP)
        gaps[i] = 1e3
        for k in range(plan.contacts):
            gap = units.gap(plan, state, k, ws.X) + state.depth[k]
            gaps[i] = min(gaps[i], gap)
            if gap <= reach:
                units.write_contact_row(plan, state, k, 0, ws)


@cache
def go_through() -> Callable[..., Any]:
    return compile_cached(_go_through, (PLAN, STATE, WORKSPACE, OUTPUT, MATRIX, float64, VECTOR))


def time_ours(a: Shape, b: Shape, poses: Poses) -> dict[str, float]:
    """Times [us] of a pose."""
    own, gaps, run = Candidates(a, b), np.empty(len(poses.q)), go_through()
    own.ws.u0[:] = 0.0
    own.ws.u0[3] = REACH / own.plan.tick_s  # features are looked for as far as bodies go in a tick

    def through(reach: float) -> Callable[[], object]:
        return lambda: run(own.plan, own.state, own.ws, own.out, poses.q, reach, gaps)

    return {
        "distance": least_us(through(-1e3), len(gaps)),
        "manifold": least_us(through(REACH), len(gaps)),
    }


# ---- theirs


def time_coal(a: Shape, b: Shape, poses: Poses) -> dict[str, float]:
    """Times [us] of a pose."""
    first, second, origin = coal_hull(a), coal_hull(b), coal.Transform3s()
    at = [coal.Transform3s(R, c) for R, c in zip(poses.R, poses.c, strict=True)]
    apart, touch = coal.DistanceRequest(), coal.CollisionRequest()
    touch.num_max_contacts, touch.enable_contact, touch.security_margin = CONTACTS, True, REACH
    distance, contacts = coal.DistanceResult(), coal.CollisionResult()

    def distances() -> None:
        for X in at:
            distance.clear()
            coal.distance(first, X, second, origin, apart, distance)

    def collisions() -> None:
        for X in at:
            contacts.clear()
            coal.collide(first, X, second, origin, touch, contacts)

    return {"distance": least_us(distances, len(at)), "manifold": least_us(collisions, len(at))}


def time_mujoco(a: Shape, b: Shape, poses: Poses) -> dict[str, float] | None:
    """Times [us] of a pose; None where MuJoCo lacks a shape, or has only its hull."""
    if any(s.kind not in GEOMS or (s.mesh is not None and not s.mesh.is_convex) for s in (a, b)):
        return None
    spec = mujoco.MjSpec()
    for shape in (a, b):
        body = spec.worldbody.add_body(name=shape.body)
        if b.kind != "plane" or shape is a:
            body.add_freejoint()
        add_geom(spec, body if shape.kind != "plane" else spec.worldbody, shape)
    mj = spec.compile()
    mj.geom_margin[:] = REACH
    data, line = mujoco.MjData(mj), np.zeros(6)
    # of a plane, which MuJoCo has on the world alone, the other shape moves
    where = poses.q if b.kind != "plane" else by_second(a, b, poses)

    def distances() -> None:
        for q in where:
            data.qpos[:] = q
            mujoco.mj_kinematics(mj, data)
            mujoco.mj_geomDistance(mj, data, 0, 1, 1e3, line)

    def collisions() -> None:
        for q in where:
            data.qpos[:] = q
            mujoco.mj_kinematics(mj, data)
            mujoco.mj_comPos(mj, data)
            mujoco.mj_collision(mj, data)

    return {"distance": least_us(distances, len(where)), "manifold": least_us(collisions, len(where))}


def time_drake(a: Shape, b: Shape, poses: Poses) -> dict[str, float]:
    """Times [us] of a pose, of what Drake has."""
    try:
        pair = DrakePair(a, b)
    except ValueError:
        return {}
    found, at = {}, pair.coordinates(poses.q)
    for of, ask in (("distance", pair.distance), ("manifold", pair.contacts)):

        def through(ask: Callable[[np.ndarray], object] = ask) -> None:
            for q in at:
                ask(q)

        try:
            found[of] = least_us(through, len(at))
        except RuntimeError:  # not offered for these shapes
            continue
    return found


def by_second(a: Shape, b: Shape, poses: Poses) -> np.ndarray:
    """Coordinates (n, 7) of the first body in the axes of the second shape."""
    found = np.empty((len(poses.q), 7))
    for i, (R, c) in enumerate(zip(poses.R, poses.c, strict=True)):
        turned = R @ a.X_BS.rotation.T
        found[i, :3], found[i, 3:] = c - turned @ a.X_BS.translation, quaternion_of(turned)
    return found


def add_geom(spec: mujoco.MjSpec, body: Any, shape: Shape) -> None:
    """Add a shape to a body of MuJoCo's; a mesh as its hull."""
    geom = body.add_geom(type=GEOMS[shape.kind], name=shape.name, mass=0.0)
    size = np.zeros(3)
    size[: len(shape.size)] = shape.size
    if shape.kind in ("capsule", "cylinder"):
        size[1] *= 0.5  # MuJoCo has half of the length
    if shape.mesh is not None:
        mesh = spec.add_mesh(name=shape.name)
        mesh.uservert = shape.mesh.vertices.ravel()
        mesh.userface = shape.mesh.triangles.ravel()
        geom.meshname = shape.name
    else:
        geom.size = size if shape.kind != "plane" else [0.0, 0.0, 1.0]
    if shape.kind != "plane":
        geom.pos, geom.quat = shape.X_BS.translation, quaternion_of(shape.X_BS.rotation)
        body.mass, body.inertia, body.explicitinertial = 1.0, [0.01, 0.01, 0.01], True


# ---- all pairs


def least_us(run: Callable[[], object], poses: int) -> float:
    """Least time of the processor of some rounds [us], by pose."""
    run()
    times = []
    for _ in range(ROUNDS):
        start = time.thread_time()
        run()
        times.append(time.thread_time() - start)
    return 1e6 * min(times) / poses


def time_pair(kinds: tuple[str, str], count: int, seed: int) -> Found:
    """Return the mean time of each library over some sizes, by what is asked."""
    found: dict[str, dict[str, list[float]]] = {
        of: {name: [] for name in COLUMNS} for of in ("distance", "manifold")
    }
    for scene in range(SIZES):
        rng = np.random.default_rng([seed, list(CHECKED).index(kinds), scene])
        a, b = random_pair(rng, kinds)
        poses = touching(random_poses(rng, a, b, len(GROUPS) * count))
        by_name = {"ours": time_ours(a, b, poses), "coal": time_coal(a, b, poses)}
        if (theirs := time_mujoco(a, b, poses)) is not None:
            by_name["mujoco"] = theirs
        by_name["drake"] = time_drake(a, b, poses)
        for name, times in by_name.items():
            for of, us in times.items():
                found[of][name].append(us)
    return {of: {n: float(np.mean(t)) if t else None for n, t in by.items()} for of, by in found.items()}


def touching(poses: Poses) -> Poses:
    """Those that touch."""
    kept = poses.group == GROUPS.index("touching")
    return Poses(
        np.ascontiguousarray(poses.q[kept]),
        poses.R[kept],
        poses.c[kept],
        poses.R_WB[kept],
        poses.plain,
        poses.group[kept],
        poses.aligned[kept],
    )


def measure(pairs: Sequence[str], count: int, seed: int) -> Found:
    """Return the times of each pair, by its name."""
    chosen = [kinds for kinds in CHECKED if not pairs or named(kinds) in pairs]
    if unknown := set(pairs) - {named(kinds) for kinds in CHECKED}:
        sys.exit(f"{sorted(unknown)[0]} is no pair: name some of {', '.join(map(named, CHECKED))}.")
    call = time_pair(("sphere", "sphere"), count, seed)
    found: Found = {}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("pairs", total=len(chosen))
        for kinds in chosen:
            progress.update(bar, description=named(kinds))
            found[named(kinds)] = time_pair(kinds, count, seed)
            progress.advance(bar)
    return {"machine": machine("coal", "mujoco"), "seed": seed, "call": call, "pairs": found}


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print a row per pair."""
    title = "us of the processor per pose, placing both bodies included: distance, then manifold"
    table = Table(box=SIMPLE, title=title)
    table.add_column("pair", no_wrap=True)
    for name in COLUMNS * 2:
        table.add_column(name, justify="right", no_wrap=True)
    for name, by in {"(call)": found["call"], **found["pairs"]}.items():
        cells = (by[of][n] for of in ("distance", "manifold") for n in COLUMNS)
        table.add_row(name, *("-" if us is None else f"{us:.2f}" for us in cells))
    console.print(table)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--poses", type=int, default=POSES, help=f"of each size ({POSES})")
    parser.add_argument("--seed", type=int, default=0, help="of the random sizes and poses (0)")
    parser.add_argument("--pairs", nargs="*", default=[], metavar="PAIR", help="as sphere-box (all)")
    options = parser.parse_args()
    if options.poses < 6:
        parser.error("--poses must be 6 or more.")
    report(options, lambda: measure(options.pairs, options.poses, options.seed), show)


if __name__ == "__main__":
    main()
