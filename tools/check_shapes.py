"""Hold the contact geometry of the product against coal, an independent library, at random poses.

    python tools/check_shapes.py                               10 000 poses of each pair of shapes
    python tools/check_shapes.py --poses 1000 --seed 7         others
    python tools/check_shapes.py --pairs box-box sphere-mesh   some pairs
    python tools/check_shapes.py --json -                      the numbers; --save and --compare as well

A third of the poses each: near (apart by up to the smaller width of both shapes), touching (within 1e-6 m),
and deep (up to a third of that width).  A quarter of each is aligned: axes of both shapes are parallel to
within 1e-16 to 1e-2 rad, and every second time edges or sides that are nearly parallel meet.  At each pose
the least gap of all candidates of the pair, out of the kernels of the tick, is compared with coal's signed
distance and with that of plain geometry in NumPy (plain_shapes.py).  Bounds, distances by the smaller width:

    distance      1e-9, from plain geometry.  Of two boxes that overlap, by more than 1e-6 m or aligned, each
                  candidate goes by its own feature: there the gap is below zero and no deeper than the width
    coal          1e-9, from coal at poses that are not aligned
    aligned       1e-4, from coal at poses that are, of hulls with faces that touch, and of spheres on
                  ellipsoids: it is the least accurate of the three there
    parallel      1: what the gap is too large by where the nearest features are edges closer to parallel
                  than the kernels look at (``ACROSS``, 1e-3 rad; sides of two capsules ``PARALLEL``, 1e-4
                  rad), by the angle times the sum of both half diagonals.  Corners and ends alone are seen
                  there, and edges overlap by up to this before one comes in
    overlap       1e-9: the depth by which a start is refused (assemble/overlap.py), of boxes and capsules in
                  boxes.  What they overlap by more than 5 mm, ``GAP_DEEP``, is left to it: candidates for
                  edges that cross are then let go, and often none sees the overlap
    normal        1e-6 rad, where it is unique: shapes, without the radius around them, are 1e-4 m apart, or
                  the axis that separates them most does so by 1e-5 m more than any other; of a mesh no
                  other nearest point is within 1e-5 m of being as near.  Of boxes that touch, of what is
                  aligned, and of spheres on ellipsoids and cones, from plain geometry alone
    rate          1e-6 m/s and 1e-6 of it: A u of the row against central differences of eighth order of the
                  gap of the same feature along a random motion of both bodies, of about 1 m/s and 1 rad/s
    acceleration  1e-6 m/s^2 and 1e-6 of it: A udot + s, likewise.  Left out are motions that leave the part
                  of the surface, or whose differences at half the step are not the same

Two hulls, or a hull and a box, have candidates for features that meet alone: where nearest points lie at ends
of features, or farther apart than a tick goes, the least gap is no less than the distance.  Where they
overlap, features up to ``LEVEL``, 1e-6 m, deeper than both are count as well.  Farther apart than ``REACH``,
2 mm, so do those up to ``NEARER``, 1e-7 m, farther than the nearest: parallel faces have many such.

A cylinder nearly flat on a plane is held by points that stand out of it by 1e-5 of its radius, in plain
geometry as well; coal knows none of them.  Against others it is a prism, which is checked as a mesh.

Past an end of the side of a capsule, or of edges that cross, a gap is no distance; there it is above zero
where the shapes are apart.  Of a sphere deep in a mesh coal tells the depth in one of the triangles, not in
the nearest: its sphere has a tenth of the radius, and the rest is subtracted.  So it is beside an ellipsoid
or a cone, with the variant of GJK that came nearest there (Nesterov's) and less tolerance.

Ends with status 1 where a bound is exceeded; the scene and the pose of the worst are told.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from shape_candidates import Candidates
from shape_errors import (
    DISTANCE,
    coal_distances,
    distance_errors,
    has_sharp_edges,
    normal_errors,
    overlap_errors,
)
from shape_motion import Motion, differences
from shape_poses import Poses, random_pair, random_poses

from hapticsim.kernels.events.inside import GAP_DEEP
from hapticsim.model.candidates import PAIRS
from hapticsim.model.scene import Shape

POSES, SCENES, MOTIONS = 10_000, 20, 200
LEAST_POSES = 6  # of a scene
REACH = 0.5  # [m] farther apart than this no row is compared
ALIGNED, NORMAL, RATE = 1e-4, 1e-6, 1e-6  # at most
BOUNDS = {
    "distance": DISTANCE,
    "coal": DISTANCE,
    "aligned": ALIGNED,
    "parallel": 1.0,
    "overlap": DISTANCE,
    "normal": NORMAL,
    "rate": RATE,
    "acceleration": RATE,
}
SHORT = {"acceleration": "accel."}  # what is told narrow


@dataclass
class Worst:
    """The largest error of a kind, and where it was."""

    error: float = 0.0
    where: str = ""
    count: int = 0

    def see(self, error: float, where: Callable[[], str]) -> None:
        self.count += 1
        if not error <= self.error:  # NaN counts
            self.error, self.where = error, where()


@dataclass
class Result:
    """What the poses of a pair came to."""

    worst: dict[str, Worst] = field(default_factory=lambda: {name: Worst() for name in BOUNDS})
    poses: int = 0
    motions: int = 0
    unseen: int = 0  # poses deeper than GAP_DEEP that no candidate sees
    deeper: int = 0  # of so many

    def numbers(self) -> Found:
        of = {n: {"error": w.error, "where": w.where, "count": w.count} for n, w in self.worst.items()}
        return {
            "poses": self.poses,
            "motions": self.motions,
            "deeper": self.deeper,
            "unseen": self.unseen,
            "worst": of,
        }


# ---- one scene


def described(a: Shape, b: Shape, poses: Poses, i: int) -> str:
    """Sizes and relative pose: all that a reproduction needs."""
    sizes = ", ".join(f"{s.kind} {[float(x) for x in s.size]}" for s in (a, b))
    R, c = poses.R[i].round(12).tolist(), poses.c[i].tolist()
    return f"{sizes}; gap {poses.plain.distance[i]:.9g} m, first in second at {c}, turned {R}"


def check_scene(a: Shape, b: Shape, count: int, rng: np.random.Generator, name: str, result: Result) -> None:
    """Compare at random poses of two shapes."""
    candidates, poses = Candidates(a, b), random_poses(rng, a, b, count)
    others, other_normals = coal_distances(a, b, poses)
    for i in range(count):
        gap = float(poses.plain.distance[i])
        least = candidates.least(poses.q[i], 2.0 * max(gap, 0.0))
        errors = distance_errors(a, b, poses, i, least, float(others[i]))
        errors |= normal_errors(a, b, poses, i, least, other_normals[i])
        errors |= overlap_errors(a, b, poses, i, float(others[i]))
        result.poses += 1
        if has_sharp_edges(a, b) and gap < -GAP_DEEP:
            result.deeper += 1
            result.unseen += least.gap >= 0.0
        for kind, error in errors.items():
            result.worst[kind].see(error, lambda i=i: f"{name}, pose {i}: {described(a, b, poses, i)}")


def check_motions(
    a: Shape, b: Shape, count: int, rng: np.random.Generator, name: str, result: Result
) -> None:
    """Compare rows with differences along motions from random poses of two shapes."""
    candidates, poses = Candidates(a, b), random_poses(rng, a, b, count)
    for i, q in enumerate(poses.q):
        least = candidates.least(q, 2.0 * max(float(poses.plain.distance[i]), 0.0))
        if abs(least.gap) > REACH or candidates.hold(least.k) > 0.0:
            continue
        k, motion = least.k, Motion(rng, q)
        found = differences(lambda at, k=k: candidates.feature_gap(k, at), motion)
        if found is None:
            continue
        result.motions += 1
        A, s = candidates.row(k, q, motion.u)
        rows = {"rate": (A @ motion.u, found[0]), "acceleration": (A @ motion.udot + s, found[1])}
        for kind, (row, by_differences) in rows.items():
            error = abs(row - by_differences) / (1.0 + abs(by_differences))
            result.worst[kind].see(
                float(error),
                lambda i=i: f"{name}, motion {i}: {described(a, b, poses, i)}",
            )


# ---- all pairs


def scenes_of(poses: int) -> list[int]:
    """How many poses each scene of a pair has."""
    scenes = max(1, min(SCENES, poses // LEAST_POSES))
    return [poses // scenes + (i < poses % scenes) for i in range(scenes)]


def check_pair(
    kinds: tuple[str, str], poses: int, seed: int, advance: Callable[[int], object] = lambda _: None
) -> Result:
    """Compare at random poses of a pair of kinds of shapes, in scenes of random sizes."""
    result, number = Result(), list(PAIRS).index(kinds)
    counts = scenes_of(poses)
    for scene, count in enumerate(counts):
        rng = np.random.default_rng([seed, number, scene])
        a, b = random_pair(rng, kinds)
        name = f"seed {seed}, scene {scene}"
        check_scene(a, b, count, rng, name, result)
        check_motions(a, b, min(count, -(-MOTIONS // len(counts))), rng, name, result)
        advance(count)
    return result


# Corners of a convex mesh on a plane make the rows of a box's: tests move both and compare.
CHECKED = [kinds for kinds in PAIRS if kinds != ("mesh", "plane")]


def named(kinds: tuple[str, str]) -> str:
    return "-".join(kinds)


def measure(pairs: Sequence[str], poses: int, seed: int) -> Found:
    """Return the result of each pair, by its name."""
    chosen = [kinds for kinds in CHECKED if not pairs or named(kinds) in pairs]
    if unknown := set(pairs) - {named(kinds) for kinds in CHECKED}:
        sys.exit(f"{sorted(unknown)[0]} is no pair: name some of {', '.join(map(named, CHECKED))}.")
    found: Found = {}
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("poses", total=poses * len(chosen))
        for kinds in chosen:
            progress.update(bar, description=named(kinds))
            found[named(kinds)] = check_pair(kinds, poses, seed, lambda n: progress.advance(bar, n)).numbers()
    targets = {
        f"{kind}, worst of all pairs": target(
            max(pair["worst"][kind]["error"] for pair in found.values()), bound
        )
        for kind, bound in BOUNDS.items()
    }
    return {"machine": machine("coal"), "seed": seed, "pairs": found, "targets": targets}


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table, what deep poses came to, what exceeded its bound and where."""
    table = Table(box=SIMPLE, pad_edge=False, padding=(0, 1, 0, 0), title="largest errors, as --help tells")
    for column in ("pair", "poses", "normals", "motions", *(SHORT.get(kind, kind) for kind in BOUNDS)):
        table.add_column(column, no_wrap=True, justify="left" if column == "pair" else "right")
    for name, pair in found["pairs"].items():
        errors = (f"{w['error']:.0e}" if w["count"] else "-" for w in pair["worst"].values())
        normals = pair["worst"]["normal"]["count"]
        table.add_row(name, str(pair["poses"]), str(normals), str(pair["motions"]), *errors)
    console.print(table)
    for name, pair in found["pairs"].items():
        if pair["deeper"]:
            deeper = f"of {pair['deeper']} poses deeper than {1e3 * GAP_DEEP:g} mm"
            console.print(f"{name}: {deeper} {pair['unseen']} are seen by no candidate")
        for kind, worst in pair["worst"].items():
            if not worst["error"] <= BOUNDS[kind]:
                line = (
                    f"FAILED: {name}, {kind} {worst['error']:.3g}, at most {BOUNDS[kind]:g}: {worst['where']}"
                )
                console.print(line, markup=False, soft_wrap=True)
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--poses", type=int, default=POSES, help=f"of each pair ({POSES})")
    parser.add_argument("--seed", type=int, default=0, help="of the random sizes and poses (0)")
    parser.add_argument("--pairs", nargs="*", default=[], metavar="PAIR", help="as sphere-box (all)")
    options = parser.parse_args()
    status = 0

    def measured() -> Found:
        nonlocal status
        found = measure(options.pairs, options.poses, options.seed)
        status = int(not all(t["met"] for t in found["targets"].values()))
        return found

    report(options, measured, show)
    return status


if __name__ == "__main__":
    sys.exit(main())
