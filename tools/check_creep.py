"""Leave a box for an hour on a ramp of 10 degrees, with friction that holds it five times over.

    python tools/check_creep.py                  an hour of simulated time each, 1 ms ticks
    python tools/check_creep.py --seconds 10     shorter

Contacts of hapticsim, rigid in both regimes and compliant by two laws, beside those of MuJoCo with elliptic
and pyramidal cones, as it comes and with two settings against creep.  Each box first settles for two
seconds; then it is measured how far it creeps.  Ends with status 1 where one of ours does, by more than
1e-12 m.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Callable

import mujoco
import numpy as np
from reporting import Found, machine, machine_line, parser_of, report, show_targets, target
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import track
from rich.table import Table

import hapticsim as hs

SLOPE, FRICTION, HALF, TICK_s, SETTLES_s = math.radians(10.0), 1.0, 0.05, 1e-3, 2.0
AT_MOST_m = 1e-12
HERTZ = {"stiffness_N_per_m1_5": 1e6}
OURS = {
    "rigid, exact": {"contact_regime": "exact"},
    "rigid, time stepping": {"contact_regime": "time_stepping"},
    "Kelvin-Voigt, 1e6 N/m": {
        "compliance": {"kind": "kelvin_voigt", "stiffness_N_per_m": 1e6, "damping_Ns_per_m": 300.0}
    },
    "Azad-Featherstone, 1e6": {
        "compliance": {"kind": "azad_featherstone", "damping_Ns_per_m1_5": 1e3, **HERTZ}
    },
    "Azad-Featherstone, 1e7": {
        "compliance": {
            "kind": "azad_featherstone", "stiffness_N_per_m1_5": 1e7, "damping_Ns_per_m1_5": 1e4,
        }
    },
}  # fmt: skip
THEIRS = {
    "MuJoCo, elliptic": 'cone="elliptic"',
    "MuJoCo, pyramidal": 'cone="pyramidal"',
    "MuJoCo, elliptic, impratio 10": 'cone="elliptic" impratio="10"',
    "MuJoCo, elliptic, 10 noslip iterations": 'cone="elliptic" noslip_iterations="10"',
}
Box = tuple[
    Callable[[int], None], Callable[[], np.ndarray]
]  # takes so many ticks; place of its middle (3,) [m]


def our_box(keys: Found) -> Box:
    """A box of 1 kg on the ramp, where it touches."""
    inertia = dict.fromkeys(("xx", "yy", "zz"), 2.0 / 3.0 * HALF**2)
    above = HALF * np.array([-math.sin(SLOPE), 0.0, math.cos(SLOPE)])
    compliance = {"compliance": keys["compliance"]} if "compliance" in keys else {}
    scene = {
        "name": "Ramp",
        "contact_regime": keys.get("contact_regime", "exact"),
        "robot": {
            "bodies": [
                {
                    "name": "part",
                    "inertial": {"mass_kg": 1.0, "inertia_kg_m2": inertia},
                }
            ],
            "joints": [{"name": "free", "type": "free", "parent": "world", "child": "part"}],
        },
        "shapes": [
            {"name": "box", "kind": "box", "half_extents_m": [HALF] * 3, "body": "part"},
            {"name": "ramp", "kind": "plane", "origin": {"rpy_rad": [0.0, -SLOPE, 0.0]}},
        ],
        "contacts": [{"between": ["box", "ramp"], "friction": FRICTION, **compliance}],
        "initial": {"free": {"free": {"xyz_m": above.tolist(), "rpy_rad": [0.0, -SLOPE, 0.0]}}},
    }
    sim = hs.Simulation(hs.load(scene))
    return sim.step, lambda: sim.state.q[:3]


def their_box(options: str) -> Box:
    """The same in MuJoCo, on a level floor under a gravity that is turned."""
    x, z = -9.81 * math.sin(SLOPE), -9.81 * math.cos(SLOPE)
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{TICK_s}" gravity="{x} 0 {z}" {options}/>'
        f'<worldbody><geom type="plane" size="0 0 1" friction="{FRICTION} 0 0"/>'
        f'<body pos="0 0 {HALF}"><freejoint/>'
        f'<geom type="box" size="{HALF} {HALF} {HALF}" mass="1" friction="{FRICTION} 0 0"/></body>'
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    return lambda ticks: mujoco.mj_step(model, data, ticks), lambda: data.qpos[:3].copy()


def crept(box: Box, seconds: float) -> Found:
    """Settle, leave alone, and say how far the box went."""
    step, place = box
    step(round(SETTLES_s / TICK_s))
    before, began = place(), time.perf_counter()
    ticks = round(seconds / TICK_s)
    step(ticks)
    way = float(np.linalg.norm(place() - before))
    return {
        "way_m": way,
        "um_per_s": 1e6 * way / seconds,
        "tick_us": 1e6 * (time.perf_counter() - began) / ticks,
    }


def measure(seconds: float) -> Found:
    """All boxes, one after the other."""
    boxes: dict[str, Callable[[], Box]] = {name: lambda k=keys: our_box(k) for name, keys in OURS.items()}
    boxes |= {name: lambda o=options: their_box(o) for name, options in THEIRS.items()}
    told = track(boxes.items(), description="boxes", console=Console(stderr=True))
    found = {name: crept(make(), seconds) for name, make in told}
    return {
        "machine": machine("mujoco"),
        "seconds": seconds,
        "boxes": found,
        "targets": {"way of ours [m]": target(max(found[name]["way_m"] for name in OURS), AT_MOST_m)},
    }


def show(console: Console, found: Found, before: Found | None) -> None:
    """Print the way of each box."""
    table = Table(box=SIMPLE, title=f"{found['seconds']:g} s on a ramp of 10 degrees", title_justify="left")
    for column in ("", "way, m", "creep, um/s", "tick, us"):
        table.add_column(column, justify="right" if column else "left", no_wrap=True)
    for name, box in found["boxes"].items():
        table.add_row(name, f"{box['way_m']:.3g}", f"{box['um_per_s']:.3g}", f"{box['tick_us']:.1f}")
    console.print(table)
    show_targets(console, found)
    console.print(machine_line(found))


def positive(text: str) -> float:
    """A number of seconds above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds: give one above 0, as 10")
    return number


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--seconds", type=positive, default=3600.0, help="of simulated time (3600)")
    options = parser.parse_args()
    kept: list[Found] = []

    def measure_once() -> Found:
        kept.append(measure(options.seconds))
        return kept[0]

    report(options, measure_once, show)
    sys.exit(int(not all(t["met"] for t in kept[0]["targets"].values())))


if __name__ == "__main__":
    main()
