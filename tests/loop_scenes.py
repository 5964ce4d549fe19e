"""Scenes with constraints, made of text: loops of rods, jointed bodies, a slider, a ball over a floor."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads
from hapticsim.model.scene import Scene

CONFIGS = Path(__file__).parent.parent / "configs"


def config(name: str, rate: float = 1000.0) -> Scene:
    """A scene that ships, at another rate."""
    path = CONFIGS / f"{name}.yaml"
    return loads(f"{path.read_text()}\nrate_Hz: {rate}\n", path)


def parallelogram(
    angle: float, rate: float = 1000.0, turn: float = 0.0, gravity: bool = True, more: str = ""
) -> Scene:
    """configs/four_bar.yaml as a parallelogram, its crank at an angle [rad] and turning [rad/s]."""
    text = (CONFIGS / "four_bar.yaml").read_text()
    begin, end = text.index("initial:"), text.index("# A centimetre")
    start = (
        f"initial: {{q_rad: {{ground: {angle!r}, left: {-angle!r}, right: {angle - np.pi!r}}}, "
        f"u_rad_per_s: {{ground: {turn!r}, left: {-turn!r}, right: {turn!r}}}}}\n"
    )
    text = text[:begin] + start + text[end:] + f"\nrate_Hz: {rate}\n"
    if not gravity:
        text += "gravity_m_per_s2: [0, 0, 0]\n"
    return loads(text.replace("\nshapes:", f"{more}\n\nshapes:"))


BODY = "mass_kg: {mass}, com_m: {com}, inertia_kg_m2: {{xx: {xx}, yy: {yy}, zz: {zz}}}"


def bodies(
    joints: list[str],
    constraints: list[str],
    initial: str = "",
    gravity: str = "[0.3, -0.2, -9.81]",
    rate: float = 1000.0,
    more: str = "",
) -> Scene:
    """Bodies b0, b1, ..., one for each joint, with these constraints.

    Their masses, centres and inertias differ from one another and from anything simple.
    """
    text = "name: bodies with constraints\nrobot:\n  bodies:\n"
    for i in range(len(joints)):
        inertial = BODY.format(
            mass=1.0 + 0.3 * i, com=[0.05, -0.03 + 0.01 * i, 0.12], xx=0.02 + 0.005 * i, yy=0.03, zz=0.015
        )
        text += f"    - {{name: b{i}, inertial: {{{inertial}}}}}\n"
    text += "  joints:\n" + "".join(f"    - {{name: j{i}, {line}}}\n" for i, line in enumerate(joints))
    text += "constraints:\n" + "".join(f"  - {{{line}}}\n" for line in constraints)
    return loads(f"{text}gravity_m_per_s2: {gravity}\ninitial: {{{initial}}}\nrate_Hz: {rate}\n{more}\n")


def slider(
    constraints: list[str],
    speed: float = 0.0,
    mass: float = 2.0,
    rate: float = 1000.0,
    gravity: str = "[0, 0, 0]",
    more: str = "",
) -> Scene:
    """One body that slides along x, joint ``along``, and along z, joint ``up``."""
    inertia = "inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}"
    lines = "".join(f"  - {{{line}}}\n" for line in constraints)
    return loads(
        f"""
name: slider
robot:
  bodies:
    - {{name: carriage, inertial: {{mass_kg: 0.5, {inertia}}}}}
    - {{name: body, inertial: {{mass_kg: {mass - 0.5}, {inertia}}}}}
  joints:
    - {{name: along, type: prismatic, parent: world, child: carriage, axis: [1, 0, 0]}}
    - {{name: up, type: prismatic, parent: carriage, child: body, axis: [0, 0, 1]}}
constraints:
{lines}
initial: {{u_m_per_s: {{along: {speed}}}}}
gravity_m_per_s2: {gravity}
rate_Hz: {rate}
handle: {{body: body, point_m: [0, 0, 0]}}
{more}
"""
    )


def dropped(
    restitution: float, height: float = 0.2, velocity: tuple[float, float, float] = (0, 0, 0)
) -> Scene:
    """A ball, 0.05 m, 2 kg, over a floor; its lowest point is at a height [m]."""
    return loads(
        f"""
name: a ball
robot:
  bodies:
    - {{name: ball, inertial: {{mass_kg: 2.0, inertia_kg_m2: {{xx: 0.002, yy: 0.002, zz: 0.002}}}}}}
  joints:
    - {{name: float, type: free, parent: world, child: ball}}
shapes:
  - {{name: ball, body: ball, kind: sphere, radius_m: 0.05}}
  - {{name: floor, kind: plane}}
contacts:
  - {{between: [ball, floor], restitution: {restitution}}}
initial: {{free: {{float: {{xyz_m: [0, 0, {height + 0.05}], velocity_m_per_s: {list(velocity)}}}}}}}
"""
    )


def stepped_to(sim: hs.Simulation, q: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Put a simulation at (q, u) and take a tick; return udot (nu,) at its start, constraints imposed."""
    sim.set_state(q, u)
    sim.step()
    return sim._workspace.du[0].copy()


def largest_energy_change(sim: hs.Simulation, ticks: int) -> float:
    """Step; return by how much kinetic and potential energy differed most from what it was [J]."""
    before, largest = sum(sim.energy()), 0.0
    for _ in range(ticks):
        sim.step()
        largest = max(largest, abs(sum(sim.energy()) - before))
    return largest


def impulse(sim: hs.Simulation) -> float:
    """[J] lost by the impulse of the last tick."""
    (lost,) = [e.value for e in sim.events if e.kind == Event.IMPULSE]
    return lost
