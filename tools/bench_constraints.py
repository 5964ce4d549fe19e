"""Time constrained accelerations: embedding, impulse responses, Pinocchio, and the choice of speeds.

    python tools/bench_constraints.py                    tables
    python tools/bench_constraints.py --json -           the numbers, to standard output or a file
    python tools/bench_constraints.py --save old.json    the tables, numbers kept
    python tools/bench_constraints.py --compare old.json   the tables with the kept numbers beside the new

Routes: microseconds per evaluation, from q, u and tau to udot, in a compiled loop over 16 random states; rows
and frames included on both sides.  Chains have links of 0.3 m and 1 kg, hinges across one another by turns;
Talos floats, held at wrists and feet.  The O(n) route gives the forces of constraint with it, embedding does
not.  Agreement is that of all states, relative to the largest entry of the state.

Arm: Panda, fingers locked, hand held at a point (3 rows).  Embedding from q, u and tau, and given what
``kane`` says; pinocchio.constraintDynamics with one 3-D contact called from Python, mu = 1e-8, accuracy
1e-12, its arrays prepared.

Choice: select_speeds for 6 random rows of 13 speeds.

Rounds alternate and are shorter than a time slice; the fastest counts, because others on the machine can only
add to it.  Medians of rounds of 2 ms were up to 5 times too long under a load of 4 on two cores.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pinocchio as pin
from bench_dynamics import Batch, repeat
from constraint_routes import STATES, Case, selection_loop
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from hapticsim.equations.compiled import compile_equations
from hapticsim.model.multibody.tree import Model
from hapticsim.model.reduce import lock_joints
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.robot_file.urdf import load_urdf
from hapticsim.offline.chains import planar_chain

CHAINS = (4, 8, 12, 16, 20, 24, 28, 32, 40)  # links
ROWS = (1, 3, 6, 12)
LIMBS = ("leg_left_6_link", "leg_right_6_link", "arm_left_7_link", "arm_right_7_link")
FINGERS = ("panda_finger_joint1", "panda_finger_joint2")
LOOP_s = 0.0003  # a batch takes about so long
AGREEMENT = 1e-9
SOLVE_us, OF_PINOCCHIO, SELECT_us = 2.0, 0.7, 12.0


def crossed_chain(links: int) -> Model:
    """Return a chain whose hinges lie along y and z by turns."""
    flat = planar_chain([0.3] * links, [1.0] * links, [0.1] * links, name=f"chain of {links}")
    axes = np.eye(3)
    joints = (replace(j, axis_J=axes[1 + k % 2]) for k, j in enumerate(flat.joints))
    return replace(flat, joints=tuple(joints))


def routes(rounds: int, chains: tuple[int, ...]) -> list[Found]:
    """Return times and differences of both routes for every robot and number of rows."""
    robots: list[tuple[Model, list[str]]] = []
    for links in chains:
        places = dict.fromkeys(max(1, links * k // 4) for k in (4, 3, 2, 1))  # the tip first
        robots.append((crossed_chain(links), [f"link_{k}" for k in places]))
    talos = load_urdf(library_models()["talos_reduced"], fixed_base=False, mimic=False)
    robots.append((replace(talos, name="Talos, floating"), list(LIMBS)))
    found = []
    for model, frames in robots:
        equations = compile_equations(model, frames)
        for r in ROWS:
            if r > equations.nu // 2:
                continue
            case = Case(equations, r)
            times = fastest({name: batch(getattr(case, name)) for name in ("dense", "responses")}, rounds)
            udot, lam = case.differences()
            found.append(
                {
                    "robot": model.name,
                    "speeds": equations.nu,
                    "rows": r,
                    "dense_us": times["dense"],
                    "responses_us": times["responses"],
                    "ratio": times["responses"] / times["dense"],
                    "difference_udot": udot,
                    "difference_force": lam,
                }
            )
    return found


def fastest(batches: dict[str, Batch], rounds: int) -> dict[str, float]:
    """Return the shortest time per call [us] of every batch, the batches taking turns."""
    found = dict.fromkeys(batches, float("inf"))
    for _ in range(rounds):
        for name, (run, calls) in batches.items():
            start = time.perf_counter()
            run()
            found[name] = min(found[name], (time.perf_counter() - start) / calls * 1e6)
    return found


def batch(run: Any) -> Batch:
    """Return a batch of about LOOP_s."""
    run(STATES)
    us = fastest({"": (lambda: run(4 * STATES), 4 * STATES)}, 3)[""]
    calls = STATES * max(1, round(LOOP_s / (us * 1e-6) / STATES))
    return lambda: run(calls), calls


def begins_to_win(found: list[Found]) -> dict[str, int | None]:
    """Return for every number of rows the chain from which on the O(n) route is faster; None: none."""
    first: dict[str, int | None] = {}
    for r in ROWS:
        first[str(r)] = None
        for f in sorted((f for f in found if f["rows"] == r), key=lambda f: -f["speeds"]):
            if not f["robot"].startswith("chain"):
                continue
            if f["ratio"] >= 1.0:
                break
            first[str(r)] = f["speeds"]
    return first


def arm(rounds: int) -> Found:
    """Return times of an arm with one held point, and how far the two libraries are apart."""
    path = library_models()["panda"]
    whole = pin.buildModelFromUrdf(str(path))
    rest = np.zeros(whole.nq)
    model = pin.buildReducedModel(whole, [whole.getJointId(name) for name in FINGERS], rest)
    model.armature = np.zeros(model.nv)
    ours = lock_joints(load_urdf(path, mimic=False), dict.fromkeys(FINGERS, 0.0))
    case = Case(compile_equations(ours, ["panda_hand"]), 3)
    data, frame = model.createData(), model.frames[model.getFrameId("panda_hand")]
    contacts, contact_data = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    contacts.append(
        pin.RigidConstraintModel(
            pin.ContactType.CONTACT_3D, model, frame.parentJoint, frame.placement, pin.LOCAL_WORLD_ALIGNED
        )
    )
    contact_data.append(contacts[0].createData())
    settings = pin.ProximalSettings(1e-12, 1e-12, 1e-8, 20)
    pin.initConstraintDynamics(model, data, contacts, contact_data)
    prepared = list(zip(case.q, case.u, case.tau, strict=True))

    def theirs() -> None:
        for q, u, tau in prepared:
            pin.constraintDynamics(model, data, q, u, tau, contacts, contact_data, settings)

    case.dense(STATES)  # what solve starts from
    times = fastest(
        {
            "solve": batch(case.solve),
            "dense": batch(case.dense),
            "responses": batch(case.responses),
            "pinocchio": (lambda: repeat(theirs, 5), 5 * STATES),
        },
        rounds,
    )
    case.dense(STATES)
    apart = 0.0
    for (q, u, tau), udot in zip(prepared, case.udot_dense, strict=True):
        peer = pin.constraintDynamics(model, data, q, u, tau, contacts, contact_data, settings)
        apart = max(apart, float(np.abs(udot - peer).max() / np.abs(peer).max()))
    return {**{f"{name}_us": value for name, value in times.items()}, "difference_pinocchio": apart}


def measure(rounds: int, quick: bool) -> Found:
    """Return everything this tool measures."""
    found = routes(rounds, CHAINS[:3] if quick else CHAINS)
    held = arm(rounds)
    select = fastest({"select": batch(selection_loop(6, 13))}, rounds)["select"]
    return {
        "machine": machine("pin"),
        "rounds": rounds,
        "routes": found,
        "begins_to_win": begins_to_win(found),
        "arm": held,
        "select_us": select,
        "targets": {
            "routes: largest relative difference of udot": target(
                max(f["difference_udot"] for f in found), AGREEMENT
            ),
            "routes: largest relative difference of the forces": target(
                max(f["difference_force"] for f in found), AGREEMENT
            ),
            "arm, 3 rows: embedding and solving [us]": target(held["solve_us"], SOLVE_us),
            "arm, 3 rows: from q, u, tau to udot [us]": target(held["dense_us"], SOLVE_us),
            "arm, 3 rows: from q, u, tau to udot / pinocchio.constraintDynamics": target(
                held["dense_us"] / held["pinocchio_us"], OF_PINOCCHIO
            ),
            "choice of speeds, 6 rows of 13 [us]": target(select, SELECT_us),
        },
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the tables."""
    table = Table(box=SIMPLE, title=f"us per evaluation, fastest of {found['rounds']} rounds")
    for column in ("robot", "speeds", "rows", "dense", "O(n)", "ratio", "udot", "forces"):
        table.add_column(column, justify="left" if column == "robot" else "right", no_wrap=True)
    if before:
        for column in ("dense before", "O(n) before"):
            table.add_column(column, justify="right", no_wrap=True)
    old = {(f["robot"], f["rows"]): f for f in before["routes"]} if before else {}
    for f in found["routes"]:
        row = [
            f["robot"],
            str(f["speeds"]),
            str(f["rows"]),
            f"{f['dense_us']:.2f}",
            f"{f['responses_us']:.2f}",
            f"{f['ratio']:.2f}",
            f"{f['difference_udot']:.0e}",
            f"{f['difference_force']:.0e}",
        ]
        kept = old.get((f["robot"], f["rows"]))
        table.add_row(*row, *([f"{kept['dense_us']:.2f}", f"{kept['responses_us']:.2f}"] if kept else []))
    console.print(table)
    for rows, links in found["begins_to_win"].items():
        faster = f"faster from a chain of {links} on" if links else "not faster on the longest chain"
        console.print(f"{rows} rows: the O(n) route is {faster}", markup=False)
    a = found["arm"]
    console.print(
        f"arm with 3 rows: embedding {a['solve_us']:.2f} us given kane, {a['dense_us']:.2f} with it, "
        f"O(n) {a['responses_us']:.2f}, Pinocchio from Python {a['pinocchio_us']:.2f}; "
        f"relative difference {a['difference_pinocchio']:.0e}"
    )
    console.print(f"choice of speeds, 6 rows of 13: {found['select_us']:.2f} us")
    show_targets(console, found)
    console.print(machine_line(found))


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=101, help="alternating rounds (default 101)")
    parser.add_argument("--quick", action="store_true", help="short chains only")
    options = parser.parse_args()
    if not library_models():
        sys.exit("No robots found: pip install example-robot-data.")
    report(options, lambda: measure(options.rounds, options.quick), show)


if __name__ == "__main__":
    main()
