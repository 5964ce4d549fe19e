"""How a mesh feels under a tip that a hand leads over it, beside the finger proxy of CHAI3D.

    python tools/study_mesh_touch.py             meshes of 1e3, 1e4 and 1e5 triangles, 0.1 and 0.3 m/s
    python tools/study_mesh_touch.py --quick     1e3 and 1e4, 0.3 m/s
    python tools/study_mesh_touch.py --json -    the numbers; --save and --compare as well

A tip of 3 mm is pressed by 1.6 to 3.2 N onto a sphere of 50 mm and onto waves of 40 mm, 3 mm high, and led
round a closed path.  Both have a normal that is known: *ideal* is the spring alone, to the nearest place
where the tip touches the surface without facets.  *sphere* is our tip on a sphere without a mesh; with *ours,
smooth* the mesh has ``smooth: {}``.  The proxy (`finger_proxy.py`) has the same stiffness, and lengths in
millimetres unless it says metres; as CHAI3D comes one of its steps is taken in a tick.

    direction    of the force from the ideal one at the same place of the device [deg]: rms, largest
    normal       of our contact from the true one over the tip's centre [deg]: rms, largest
    step         of the force from a tick to the next [% of the mean force]: 99 % of them, largest
    energy       handed to the hand per metre of its path [mJ/m], which should be that of the ideal; what is
                 below was taken from the hand, by the damper of the coupler or by the proxy
    off          tip from where it touches the true surface [um]: least, most
    passed       ticks with the centre behind the surface, and events that say it is inside
"""

from __future__ import annotations

import numpy as np
from mesh_touch import (
    WAYS,
    Felt,
    Motion,
    Sphere,
    SPHERE_m,
    Surface,
    TIP_m,
    Waves,
    feel_ideal,
    feel_ours,
    gains,
    path,
)
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

SIZES, SPEEDS_m_per_s = (1_000, 10_000, 100_000), (0.1, 0.3)
SURFACES: tuple[Surface, ...] = (Sphere(), Waves())
HEADS = ("direction", "normal", "step", "energy", "off", "passed")
AT_MOST = {10_000: (2.5, 5.0), 100_000: (1.0, 2.0)}  # our normal [deg], steps above the ideal ones [%]
Array = np.ndarray


def angles(a: Array, b: Array) -> Array:
    """Between vectors (n, 3) [deg]."""
    return np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), (a * b).sum(axis=1)))


def rms_and_largest(values: Array) -> list[float]:
    return [float(np.sqrt((values**2).mean())), float(values.max())]


def energy_per_metre(felt: Felt) -> float:
    """Work of the force, held from tick to tick, on the device over its way [J/m]."""
    moves = np.diff(felt.places, axis=0)
    return float((felt.forces[:-1] * moves).sum() / np.linalg.norm(moves, axis=1).sum())


def figures(surface: Surface, felt: Felt, ideal: Felt) -> Found:
    """The figures of one lap."""
    mean = np.linalg.norm(felt.forces, axis=1).mean()
    steps = 100.0 * np.linalg.norm(np.diff(felt.forces, axis=0), axis=1) / mean
    heights = np.array([surface.foot(c)[0] for c in felt.centres])
    found: Found = {
        "direction": rms_and_largest(angles(felt.forces, ideal.forces)),
        "step": [float(np.percentile(steps, 99.0)), float(steps.max())],
        "energy": 1e3 * energy_per_metre(felt),
        "off": [1e6 * float(heights.min() - TIP_m), 1e6 * float(heights.max() - TIP_m)],
        "passed": int((heights < 0.0).sum()) + felt.passed,
        "mean_N": float(mean),
    }
    if felt.normals is not None and felt.ends is not None:
        touching = np.isfinite(felt.normals[:, 0])
        true = np.array([surface.foot(c)[1] for c in felt.ends[touching]])
        found["normal"] = rms_and_largest(angles(felt.normals[touching], true))
    return found


def laps(surface: Surface, way: Motion, sizes: tuple[int, ...], stiffness: float) -> Found:
    """The figures of every way to feel a surface, by the number of triangles."""
    ideal = feel_ideal(surface, way, stiffness)
    found: Found = {"none": {"ideal": figures(surface, ideal, ideal)}}
    if isinstance(surface, Sphere):
        found["none"]["sphere"] = figures(surface, feel_ours(SPHERE_m, way), ideal)
    for size in sizes:
        mesh = surface.mesh(size)
        found[f"{size:.0e}"] = {
            name: figures(surface, feel(mesh, way, stiffness), ideal) for name, feel in WAYS.items()
        }
    return found


def measure(quick: bool) -> Found:
    """Return everything this tool finds."""
    stiffness, damping = gains()
    sizes, speeds = (SIZES[:2], SPEEDS_m_per_s[1:]) if quick else (SIZES, SPEEDS_m_per_s)
    found: Found = {"machine": machine(), "gains": [stiffness, damping], "laps": {}}
    for surface in SURFACES:
        for speed in speeds:
            found["laps"][f"{surface.name}, {speed:g} m/s"] = laps(
                surface, path(surface, speed), sizes, stiffness
            )
    size, ours = sizes[-1], [x["ours"] for lap in found["laps"].values() for x in lap.values() if "ours" in x]
    finest = [(lap[f"{size:.0e}"]["ours"], lap["none"]["ideal"]) for lap in found["laps"].values()]
    at_most = AT_MOST[size]
    found["targets"] = {
        "normal over the finest mesh, rms [deg]": target(max(f["normal"][0] for f, _ in finest), at_most[0]),
        "largest step over it, above that of the ideal [% of the mean]": target(
            max(f["step"][1] - ideal["step"][1] for f, ideal in finest), at_most[1]
        ),
        "energy that ours hands over [mJ/m]": target(max(f["energy"] for f in ours), 0.5),
        "ours passed": target(sum(f["passed"] for f in ours), 0),
    }
    return found


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print a table for each surface and speed."""
    console.print(machine_line(found))
    console.print("coupler: {:.0f} N/m, {:.1f} N s/m".format(*found["gains"]))
    for title, sized in found["laps"].items():
        table = Table(box=SIMPLE, title=title)
        for name in ("triangles", "", *HEADS, *(["direction before"] if before else [])):
            table.add_column(name, justify="left" if name in ("", "triangles") else "right")
        for size, ways in sized.items():
            for name, f in ways.items():
                cells = [word(f.get(head)) for head in HEADS]
                old = before["laps"].get(title, {}).get(size, {}).get(name) if before else None
                table.add_row(size, name, *cells, *([word(old["direction"])] if old else []))
        console.print(table)
    show_targets(console, found)


def word(value: object) -> str:
    if value is None:
        return ""
    return ", ".join(f"{v:.3g}" for v in value) if isinstance(value, list) else f"{value:.3g}"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--quick", action="store_true", help="two meshes, one speed")
    options = parser.parse_args()
    report(options, lambda: measure(options.quick), show)


if __name__ == "__main__":
    main()
