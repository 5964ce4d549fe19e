"""Compare robots of MJCF files with MuJoCo: accelerations of all joints, poses of all bodies.

    python tools/check_mjcf.py                       the models of gymnasium, 20 random states of each
    python tools/check_mjcf.py FOLDER robot.xml      all MJCF files in a folder, and one more

Actuators, contacts, limits, equalities and the medium are switched off in MuJoCo; springs, damping and
armature of joints act in both.  An error is relative to the largest entry.  Ends with status 1 where one is
above 1e-8.  Files without a joint, and those that MuJoCo refuses itself, are told and not counted.
"""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from mjcf_peer import MjcfPeer, relative
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

from hapticsim.errors import HapticsimError

LIMIT = 1e-8


def gymnasium_models() -> Path:
    """Return the folder of the models that gymnasium installs; its code is not imported."""
    spec = find_spec("gymnasium")
    if spec is None or spec.origin is None:
        raise SystemExit("check_mjcf needs files or folders, or gymnasium: pip install gymnasium.")
    return Path(spec.origin).parent / "envs" / "mujoco" / "assets"


def check(path: Path, states: int) -> Found:
    """Return the largest errors of a file, or why there are none."""
    try:
        peer = MjcfPeer(path)
    except HapticsimError as error:
        return {"refused": str(error).split(": ", 1)[-1]}
    if peer.model.nu == 0:
        return {"refused": "nothing moves."}
    rng = np.random.default_rng(0)
    accelerations = poses = 0.0
    for _ in range(states):
        q, u = peer.random_state(rng)
        accelerations = worst(accelerations, relative(*peer.accelerations(q, u)))
        poses = worst(poses, relative(*peer.poses(q, u)))
    return {"nu": peer.model.nu, "accelerations": accelerations, "poses": poses}


def worst(a: float, b: float) -> float:
    """Return the larger error; one that is no number is infinite."""
    return max(a, b) if b == b else math.inf


def files_in(paths: list[Path]) -> list[Path]:
    """Return the files, and those in the folders."""
    found: list[Path] = []
    for path in paths:
        found += sorted(path.rglob("*.xml")) if path.is_dir() else [path]
    return found


def measure(paths: list[Path], states: int) -> Found:
    """Return everything this tool compares."""
    console = Console(stderr=True)
    robots = {str(p): check(p, states) for p in track(files_in(paths), "models", console=console)}
    compared = [r for r in robots.values() if "nu" in r]
    if not compared:
        raise SystemExit("none of these files holds a robot that moves.")
    targets = {
        f"{what}: largest relative error": target(max(r[what] for r in compared), LIMIT)
        for what in ("accelerations", "poses")
    }
    return {"machine": machine("mujoco"), "states": states, "robots": robots, "targets": targets}


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(box=SIMPLE, title=f"largest relative difference to MuJoCo over {found['states']} states")
    for column in ("robot", "speeds", "accelerations", "poses"):
        table.add_column(column, justify="left" if column == "robot" else "right")
    for name, r in found["robots"].items():
        if "refused" in r:
            console.print(f"{name}: not compared: {r['refused']}", markup=False)
        else:
            table.add_row(name, str(r["nu"]), f"{r['accelerations']:.0e}", f"{r['poses']:.0e}")
    console.print(table)
    console.print(f"{sum('nu' in r for r in found['robots'].values())} models compared")
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> int:
    """Take the options, run, and return the exit status."""
    parser = parser_of(__doc__)
    parser.add_argument("paths", type=Path, nargs="*", metavar="PATH", help="MJCF files, or folders of them")
    parser.add_argument("--states", type=int, default=20, help="random states of each robot (20)")
    options = parser.parse_args()
    if options.states < 1:
        parser.error("--states must be 1 or more.")
    outcome: list[Found] = []

    def measured() -> Found:
        outcome.append(measure(options.paths or [gymnasium_models()], options.states))
        return outcome[0]

    report(options, measured, show)
    return int(any(value > LIMIT for value in _errors(outcome[0])))


def _errors(found: Found) -> list[float]:
    compared = [r for r in found["robots"].values() if "nu" in r]
    return [r[what] for r in compared for what in ("accelerations", "poses")]


if __name__ == "__main__":
    sys.exit(main())
