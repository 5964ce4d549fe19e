"""Load every robot of example-robot-data with its collision geometry: time new and kept, pairs, hulls.

    python tools/load_robots.py                         all, until the scene is read
    python tools/load_robots.py --robots panda ur5      some of them
    python tools/load_robots.py --ticks --robots panda  until the first tick, which compiles new robots
    python tools/load_robots.py --json -                the numbers; --save and --compare as well

Each robot is over a floor, and may touch it and itself: all links that are no neighbours.  Meshes are convex
hulls with at most 24 corners.  ``new`` is with an empty folder of what is kept, ``kept`` is the same again in
another process.  What is refused is tried again without followers of joints (``mimic: false``), then on a
free joint, with contacts with the floor alone, and without any; how a robot was read at last is told.  A file
that moves links without mass, or holds none, is told, and is not the reader's fault.  Ends with status 1
where another one is refused.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hapticsim.model.robot_file.library import library_models

CORNERS = 24
PROGRAM = """
import json, sys, time
import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import HapticsimError
start = time.perf_counter()
try:
    scene = loads(sys.argv[1], "<load_robots>")
    if sys.argv[2] == "ticks":
        hs.Simulation(scene).step()
except HapticsimError as error:
    print(json.dumps({"refused": str(error)}))
else:
    shapes = [s for s in scene.shapes if s.name != "load_floor"]
    found = {"seconds": time.perf_counter() - start, "shapes": len(shapes), "pairs": len(scene.contacts)}
    print(json.dumps(found | {"hulls": sum(s.mesh is not None for s in shapes), "speeds": scene.model.nu}))
"""


WAYS = [  # to read a robot: what is told, its keys, what touches what
    (", ".join(filter(None, (told, with_what))), keys, contacts)
    for with_what, contacts in (
        ("", '[{between: ["*", "*"]}]'),
        ("floor alone", '[{between: ["*", load_floor]}]'),
        ("no contacts", "[]"),
    )
    for told, keys in (("", ""), ("mimic: false", "mimic: false"), ("free", "fixed_base: false"))
]
ITS_OWN_FAULT = ("has no mass", "holds no <link>")


def text_of(package: str, keys: str, contacts: str) -> str:
    """Return the scene of a robot."""
    more = f", {keys}" if keys else ""
    return (
        f"name: load\nrobot: {{urdf: {{package: {package}, collision: true, corners: {CORNERS}{more}}}}}\n"
        "shapes: [{name: load_floor, kind: plane, origin: {xyz_m: [0, 0, -10]}}]\n"
        f"contacts: {contacts}\n"
    )


def load(text: str, ticks: bool, folder: str) -> Found:
    """Return what loading came to in a process of its own, with what is kept in a folder."""
    environment = os.environ | {"HAPTICSIM_CACHE_DIR": folder}
    command = [sys.executable, "-c", PROGRAM, text, "ticks" if ticks else "scene"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode != 0:
        return {"refused": (done.stderr.strip() or "it was killed").splitlines()[-1]}
    found: Found = json.loads(done.stdout.splitlines()[-1])
    return found


def load_twice(package: str, ticks: bool) -> Found:
    """Return how a robot loads, new and kept, by the first way that is not refused."""
    first = ""
    for told, keys, contacts in WAYS:
        text = text_of(package, keys, contacts)
        with tempfile.TemporaryDirectory(prefix="hapticsim-") as folder:
            new = load(text, ticks, folder)
            if "refused" in new:
                first = first or new["refused"]
                continue
            kept = load(text, ticks, folder)
        return kept | {"new_s": new["seconds"], "kept_s": kept["seconds"], "way": told}
    return {"refused": first}


def is_ours(row: Found) -> bool:
    """Whether a robot is refused for what is no fault of its file."""
    return "refused" in row and not any(fault in row["refused"] for fault in ITS_OWN_FAULT)


def measure(robots: list[str], ticks: bool) -> Found:
    """Return everything this tool finds."""
    start = time.perf_counter()
    console = Console(stderr=True)
    rows = {name: load_twice(name, ticks) for name in track(robots, "robots", console=console)}
    return {
        "machine": machine(),
        "ticks": ticks,
        "rows": rows,
        "minutes": (time.perf_counter() - start) / 60.0,
        "targets": {
            "robots refused, but for faults of their files": target(sum(map(is_ours, rows.values())), 0)
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print a row per robot."""
    until = "the first tick" if found["ticks"] else "the scene is read"
    table = Table(
        box=SIMPLE, title=f"robots of example-robot-data with their collision geometry, until {until}"
    )
    for column in (
        "robot",
        "speeds",
        "shapes",
        "of these hulls",
        "pairs",
        "new [s]",
        "kept [s]",
        "read with",
    ):
        justify = "left" if column in ("robot", "read with") else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    for name, r in found["rows"].items():
        if "refused" in r:
            console.print(f"{name}: {r['refused']}", markup=False)
        elif r["shapes"] == 0:
            console.print(f"{name}: it has no collision element.", markup=False)
        else:
            numbers = (str(r[key]) for key in ("speeds", "shapes", "hulls", "pairs"))
            table.add_row(name, *numbers, f"{r['new_s']:.2f}", f"{r['kept_s']:.2f}", r["way"])
    console.print(table)
    rows = [r for r in found["rows"].values() if r.get("shapes")]
    for key in ("shapes", "hulls", "pairs"):
        console.print(f"{key}: {sum(r[key] for r in rows)} of {len(rows)} robots")
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--robots", nargs="+", metavar="NAME", help="some robots (all)")
    parser.add_argument("--ticks", action="store_true", help="until the first tick")
    options = parser.parse_args()
    known = sorted(library_models())
    if not known:
        sys.exit("load_robots needs the robots of a package: pip install example-robot-data.")
    robots = options.robots or known
    if unknown := [r for r in robots if r not in known]:
        sys.exit(f"{unknown[0]!r} is no robot of example-robot-data: use some of {', '.join(known)}.")
    outcome: list[Found] = []

    def measured() -> Found:
        outcome.append(measure(robots, options.ticks))
        return outcome[0]

    report(options, measured, show)
    return int(any(map(is_ours, outcome[0]["rows"].values())))


if __name__ == "__main__":
    sys.exit(main())
