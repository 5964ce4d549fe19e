"""Compare the equations of motion of every robot of example-robot-data with Pinocchio's.

    python tools/check_robots.py                20 random states of each, fixed and floating
    python tools/check_robots.py --states 2 --json -

Forward dynamics, inverse dynamics, mass matrix, energies and the pose of every link by our recursions on
floats (compiled code has the same bits, says test_compiled.py).  An error is relative to the largest
entry.
Where forward dynamics differ by more than 1e-9, the same recursion at 50 digits says who is right: then ours
is compared with that, and Pinocchio's error and cond(M) are shown beside it.  ``share`` is our error by the
larger of 1e-9 and 2.2e-16 cond(M), what an ulp of the mass matrix M moves the exact answer by.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor

import mpmath
import numpy as np
import pinocchio as pin
from pinocchio_peer import Peer
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from hapticsim.equations.catalogue import CATALOGUE
from hapticsim.equations.scalars import spatial
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import MovingTree, moving_tree
from hapticsim.model.robot_file.library import library_models

LIMIT = 1e-9
DIGITS = 50
QUANTITIES = ("forward dynamics", "inverse dynamics", "mass matrix", "energies", "poses")


@spatial.sin_cos.register
def _(x: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    return mpmath.sin(x), mpmath.cos(x)


@spatial.constant_type.register
def _(x: mpmath.mpf) -> Callable[[float], mpmath.mpf]:
    return mpmath.mpf


def check(name: str, fixed_base: bool, states: int) -> Found | None:
    """Return the largest relative error of every quantity, or None where there is nothing to compare."""
    try:
        peer = Peer(name, fixed_base)
    except (HapticsimError, ValueError) as error:
        return {"refused": str(error).split(": ", 1)[-1]}
    if peer.ours.nu == 0:
        return None
    tree = moving_tree(peer.ours)
    worst = dict.fromkeys(QUANTITIES, 0.0)
    yardstick = theirs_worst = condition = share = 0.0
    for seed in range(states):
        q, u, x = peer.state(seed)
        ours, theirs = our_values(tree, q, u, x), their_values(peer, q, u, x)
        for what in QUANTITIES:
            worst[what] = max(worst[what], relative(ours[what], theirs[what]))
        if relative(ours["forward dynamics"], theirs["forward dynamics"]) > LIMIT:
            exact = exact_forward_dynamics(tree, q, u, x)
            missed = relative(ours["forward dynamics"], exact)
            yardstick = max(yardstick, missed)
            theirs_worst = max(theirs_worst, relative(theirs["forward dynamics"], exact))
            cond = float(np.linalg.cond(ours["mass matrix"]))
            condition = max(condition, cond)
            share = max(share, missed / max(LIMIT, np.finfo(float).eps * cond))
    found: Found = {"nu": peer.ours.nu, "errors": worst}
    if yardstick:
        digits = {"ours": yardstick, "pinocchio": theirs_worst, "condition": condition, "share": share}
        found["against_50_digits"] = digits
    return found


def our_values(tree: MovingTree, q: np.ndarray, u: np.ndarray, x: np.ndarray) -> dict[str, np.ndarray]:
    """Return our quantities; x is the force of the forward and the acceleration of the inverse dynamics."""
    link, us, xs = Linkage(tree, q.tolist()), u.tolist(), x.tolist()
    return {
        "forward dynamics": np.array(recursions.forward_dynamics(link, us, xs)),
        "inverse dynamics": np.array(recursions.inverse_dynamics(link, us, xs)),
        "mass matrix": np.array(recursions.mass_matrix(link)),
        "energies": np.array(recursions.energy(link, us)),
        "poses": np.array(CATALOGUE["poses"].build(tree, (), q.tolist())["X"]),
    }


def their_values(peer: Peer, q: np.ndarray, u: np.ndarray, x: np.ndarray) -> dict[str, np.ndarray]:
    """Return Pinocchio's, in our order."""
    model, data = peer.model, peer.data
    pq, pv, px = peer.q(q), peer.v(u), peer.v(x)
    pin.framesForwardKinematics(model, data, pq)
    poses = []
    for name in peer.ours.body_names:
        X = data.oMf[model.getFrameId(name, pin.FrameType.BODY)]
        poses.append([*X.rotation.ravel(), *X.translation])
    energies = [pin.computeKineticEnergy(model, data, pq, pv), pin.computePotentialEnergy(model, data, pq)]
    return {
        "forward dynamics": pin.aba(model, data, pq, pv, px)[peer.v_index].copy(),
        "inverse dynamics": pin.rnea(model, data, pq, pv, px)[peer.v_index].copy(),
        "mass matrix": peer.mass_matrix(pq),
        "energies": np.array(energies),
        "poses": np.array(poses),
    }


def exact_forward_dynamics(tree: MovingTree, q: np.ndarray, u: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """Return the accelerations of the same recursion at 50 digits."""
    with mpmath.workdps(DIGITS):
        q_mp, u_mp, tau_mp = ([mpmath.mpf(float(x)) for x in v] for v in (q, u, tau))
        udot = recursions.forward_dynamics(Linkage(tree, q_mp), u_mp, tau_mp)
        return np.array([float(x) for x in udot])


def relative(a: np.ndarray, b: np.ndarray) -> float:
    """Return the largest difference by the largest entry."""
    return float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-12))


def measure(states: int) -> Found:
    """Return everything this tool compares."""
    cases = [(name, fixed) for name in sorted(library_models()) for fixed in (True, False)]
    robots: Found = {}
    with ProcessPoolExecutor(os.cpu_count()) as pool, Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("robots", total=len(cases))
        jobs = [(case, pool.submit(check, *case, states)) for case in cases]
        for (name, fixed), job in jobs:
            if (found := job.result()) is not None:
                robots[name if fixed else f"{name}, floating"] = found
            progress.advance(bar)
    compared = [r for r in robots.values() if "errors" in r]
    forward = [r.get("against_50_digits", {}).get("ours", r["errors"]["forward dynamics"]) for r in compared]
    targets = {"forward dynamics: largest relative error": target(max(forward), LIMIT)}
    for what in QUANTITIES[1:]:
        targets[f"{what}: largest relative error"] = target(max(r["errors"][what] for r in compared), LIMIT)
    return {"machine": machine("pin"), "states": states, "robots": robots, "targets": targets}


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the table and the targets."""
    table = Table(box=SIMPLE, title=f"largest relative difference to Pinocchio over {found['states']} states")
    for column in ("robot", "speeds", *QUANTITIES, "50 digits"):
        table.add_column(column, justify="left" if column == "robot" else "right", no_wrap=column == "robot")
    for name, r in found["robots"].items():
        if "refused" in r:
            console.print(f"{name}: refused: {r['refused']}", markup=False)
            continue
        exact = r.get("against_50_digits")
        table.add_row(
            name,
            str(r["nu"]),
            *(f"{r['errors'][what]:.0e}" for what in QUANTITIES),
            f"{exact['ours']:.0e}, {exact['pinocchio']:.0e}, cond {exact['condition']:.0e}" if exact else "",
        )
    console.print(table)
    console.print(
        "50 digits: errors of ours and of Pinocchio where the two differ by more than 1e-9; cond(M)"
    )
    share = max(
        (r["against_50_digits"]["share"] for r in found["robots"].values() if "against_50_digits" in r),
        default=0.0,
    )
    console.print(f"largest of these errors by max(1e-9, 2.2e-16 cond(M)): {share:.1g}")
    console.print(f"{sum('errors' in r for r in found['robots'].values())} models compared")
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--states", type=int, default=20, help="random states of each robot (20)")
    options = parser.parse_args()
    if options.states < 1:
        sys.exit("--states must be 1 or more.")
    report(options, lambda: measure(options.states), show)


if __name__ == "__main__":
    main()
