"""The three ready mechanisms, pushed about while their constraints change: by the tick and by the oracle."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import sympy as sp
from mechanism_kane import Equations, Rule
from mechanism_oracle import Motion, Oracle, Wish, empty_motion

import hapticsim as hs
from hapticsim.codes import Event, Mode
from hapticsim.config.load import loads
from hapticsim.mechanism import Mechanism
from hapticsim.model.mechanism_model import MechanismModel

CONFIGS = Path(__file__).parents[1] / "configs"
SECONDS = 5.0
ORDINARY = (Event.SELECT, Event.RANK, Event.IMPULSE)  # beside what is switched


@dataclass
class Run:
    """A scene and what happens to it.

    rules, loads : what the oracle knows of its constraints and inputs (mechanism_kane.py).
    wishes : what is asked for, at multiples of the tick.
    torques : input -> joint; other inputs are fx, fy, fz, the force at the handle.
    """

    scene: hs.Scene
    mechanism: Mechanism
    rules: list[Rule]
    loads: dict[str, tuple[Any, Any]]
    wishes: list[Wish]
    torques: dict[str, str] = field(default_factory=dict)

    def by_tick(self) -> Motion:
        """The motion by the tick of the simulator."""
        scene, sim = self.scene, hs.Simulation(self.scene)
        n = round(SECONDS * scene.rate_Hz)
        motion = empty_motion(np.arange(n + 1) * scene.tick_s, scene.q0, scene.u0)
        due = {round(wish.time * scene.rate_Hz): wish for wish in self.wishes}
        force = np.zeros(3)
        for k in range(n):
            if k in due:
                for name, value in due[k].inputs.items():
                    if name in self.torques:
                        sim.apply(torque={self.torques[name]: value})
                    else:
                        force["xyz".index(name[1])] = value
                sim.apply(force=force)
                for name, held in due[k].switch.items():
                    sim.switch(name, held)
            sim.step()
            now = sim.state
            motion.q[k + 1], motion.u[k + 1] = now.q, now.u
            for e in sim.events:
                if e.kind == Event.SWITCH:
                    name = scene.constraints[e.contact - len(sim.assembly.candidates)].name
                    motion.changes.append((e.time, name, Mode(int(e.value)).name))
                elif e.kind not in ORDINARY:  # the oracle knows no such thing, so that the two differ
                    motion.changes.append((e.time, "", e.kind.name))
        return motion

    def by_oracle(self, t: np.ndarray) -> Motion:
        """The motion by SymPy and SciPy at the times t [s]."""
        equations = Equations(self.mechanism, self.rules, self.loads)
        return Oracle(equations, self.scene.q0, self.scene.u0, t).run(self.wishes)


def scene_of(config: str, text: str = "") -> tuple[hs.Scene, Mechanism]:
    """Return a ready scene, with YAML put over it, and its mechanism."""
    scene = loads(f"extends: {config}.yaml\n{text}", CONFIGS / "run.yaml")
    assert isinstance(scene.model, MechanismModel)
    return scene, scene.model.source.mechanism()


def disk() -> Run:
    """Rolls, is spun until it slides, sticks again, is pushed and pressed; rolling off and on by command."""
    friction = "{static_friction: 0.15, kinetic_friction: 0.1}"
    scene, m = scene_of("rolling_disk", f"robot: {{mechanism: {{parameters: {friction}}}}}")
    u1, u2, u3 = m.speeds
    body, A = m.bodies[0], m.frames["ramp"][1]
    q3, r = m.coordinates[2], sp.Symbol("r")
    touch = body.masscenter.locatenew("touch", -r * A.y)
    touch.v2pt_theory(body.masscenter, m.frame, body.frame)
    rules = [
        Rule("contact", u3, configuration=q3 - r),
        Rule("rolling", u2, u1 + u2, friction=(0.15, 0.1, "contact"), rubs=[(touch, A.x)]),
    ]
    loads = {
        "fx": (body.masscenter, m.frame.x),
        "fz": (body.masscenter, m.frame.z),
        "spin": (body.frame, r * A.z),
    }
    wishes = [
        Wish(0.0, {"fx": 0.4, "fz": -0.5}),
        Wish(0.4, {"spin": 3.0}),  # slides
        Wish(0.9, {"spin": -2.5}),  # comes back to rolling, and slides the other way
        Wish(1.5, {"spin": 0.0, "fx": 1.0}),
        Wish(2.4, {}, {"rolling": False}),
        Wish(2.9, {"fz": -3.0, "spin": 0.5}),
        Wish(3.3, {}, {"rolling": True}),
        Wish(3.8, {"fx": -6.0, "spin": 0.0}),
        Wish(4.1, {"fx": 0.2}),
    ]
    return Run(scene, m, rules, loads, wishes, {"spin": "u2"})


def cart() -> Run:
    """Round a bend: the caster sticks, breaks away, comes to rest, is held and freed by command."""
    friction = "{breakaway_Nm: 0.4, sliding_Nm: 0.25}"
    scene, m = scene_of("shopping_cart", f"robot: {{mechanism: {{parameters: {friction}}}}}")
    _, u2, u3 = m.speeds
    basket, fork, N = m.bodies[0], m.frames["fork"][1], m.frame
    P1, P3 = m.frames["grip"][0], m.bodies[1].point
    rules = [
        Rule("caster rolls", u3, P3.vel(N).dot(fork.y)),
        Rule(
            "caster sticks", u2, u3 - u2, friction=(0.4, 0.25, 1.0), rubs=[(fork, N.z), (basket.frame, -N.z)]
        ),
    ]
    loads = {"fx": (P1, N.x), "fy": (P1, N.y), "moment": (basket.frame, N.z)}
    wishes = [
        Wish(0.0, {"fx": 6.0, "fy": 1.0, "moment": 2.0}),
        Wish(0.7, {"moment": 5.0}),
        Wish(1.3, {"moment": -4.0, "fx": 3.0}),
        Wish(2.1, {}, {"caster sticks": False}),
        Wish(2.6, {"fx": -2.0, "fy": 2.0, "moment": 0.4}),
        Wish(3.0, {}, {"caster sticks": True}),
        Wish(3.9, {"fx": -1.0, "moment": -2.0}),
        Wish(4.5, {"fx": 1.0, "moment": 0.1}),
    ]
    return Run(scene, m, rules, loads, wishes, {"moment": "q3"})


WRIST = """
robot: {mechanism: {parameters: {speeds: SPEEDS, length_m: 0.3, I3_kg_m2: 2.4e-3}}}
constraints:
  - {name: guide, kind: plane, bodies: [tool, world], point_a_m: [0.0, 0.0, 0.12], normal_b: [0.0, 1.0, 0.0]}
  - {name: blade, kind: wheel, bodies: [tool, world], point_a_m: [0.0, 0.0, 0.12], side_a: [1.0, 0.0, 0.0],
     held: false}
  - {name: brush, kind: wheel, bodies: [tool, world], point_a_m: [0.05, 0.0, 0.0], side_a: [0.0, 1.0, 0.0],
     held: false, friction: {static: 0.5, kinetic: 0.2, normal_N: 2.0}}
"""


def wrist(speeds: str = "careful") -> Run:
    """Led along a plane, then let go; a blade at its tip, twice, and one beside it that slips."""
    scene, m = scene_of("wrist", WRIST.replace("SPEEDS", speeds))
    u1, u2, u3 = m.speeds
    tool, N = m.bodies[0], m.frame
    O, C = m.origin, tool.frame
    tip = tool.masscenter.locatenew("tip", 0.12 * C.z)
    rim = tool.masscenter.locatenew("rim", 0.05 * C.x)
    for point in (tip, rim):
        point.v2pt_theory(O, N, C)
    rules = [
        Rule("guide", u1, configuration=tip.pos_from(O).dot(N.y)),
        Rule("blade", u2, tip.vel(N).dot(C.x), held=False),
        Rule("brush", u3, rim.vel(N).dot(C.y), held=False, friction=(0.5, 0.2, 2.0), rubs=[(rim, C.y)]),
    ]
    loads = {"fx": (tip, N.x), "fy": (tip, N.y), "fz": (tip, N.z)}
    wishes = [
        Wish(0.0, {"fx": 0.5, "fy": 0.3, "fz": -0.5}),
        Wish(0.8, {"fx": -0.5}, {"guide": False}),
        Wish(1.2, {"fy": -0.15}, {"brush": True}),
        Wish(1.7, {"fz": 0.2}, {"blade": True}),
        Wish(2.1, {"fx": 0.4}, {"blade": False}),
        Wish(2.6, {"fx": 0.3, "fy": 0.4}, {"brush": False}),
        Wish(3.1, {"fy": 0.1}, {"blade": True}),
        Wish(4.2, {"fx": -0.4}, {"blade": False, "brush": True}),
    ]
    return Run(scene, m, rules, loads, wishes)


def wrist_rates() -> Run:
    """The same with u = qdot."""
    return wrist("rates")


BRAKE = """
robot: {mechanism: {parameters: {speeds: rates, I3_kg_m2: 2.4e-3}}}
constraints:
  - {name: gear, kind: gear, factors: {q1: 1.0, q3: -2.0}, offset: 0.0}
  - {name: brake, kind: lock, joints: [q2], friction: {static: 1.0, kinetic: 0.7, normal_N: 0.25}}
"""


def wrist_brake() -> Run:
    """A brake that gives way on one ring; a gear between the others, which closes its gap."""
    scene, m = scene_of("wrist", BRAKE)
    (q1, _, q3), (_, u2, u3) = m.coordinates, m.speeds
    outer, inner = m.frames["outer"][1], m.frames["inner"][1]
    rules = [
        Rule("gear", u3, configuration=q1 - 2.0 * q3),
        Rule("brake", u2, u2, friction=(1.0, 0.7, 0.25), rubs=[(inner, outer.y), (outer, -outer.y)]),
    ]
    wishes = [
        Wish(0.0, {"t1": 0.02, "t2": 0.01}),
        Wish(0.9, {"t2": 0.1}, {"gear": False}),
        Wish(1.0, {}, {"gear": True}),
        Wish(1.5, {"t1": -0.02, "t2": -0.2}),
        Wish(2.0, {"t2": -0.1}, {"brake": False}),
        Wish(2.4, {"t2": 0.0}, {"brake": True}),
        Wish(2.9, {}, {"gear": False}),
        Wish(3.02, {}, {"gear": True}),
        Wish(3.7, {"t2": -0.3}),
        Wish(4.4, {"t1": 0.01}, {"gear": False}),
    ]
    loads = {"t1": (outer, m.frame.x), "t2": (inner, outer.y)}
    return Run(scene, m, rules, loads, wishes, {"t1": "q1", "t2": "q2"})


RUNS = {
    "rolling disk": disk,
    "shopping cart": cart,
    "wrist, careful speeds": wrist,
    "wrist, u = qdot": wrist_rates,
    "wrist, gear and brake": wrist_brake,
}


def compare(name: str) -> tuple[Motion, Motion]:
    """The motion of one of the runs by the tick and by the oracle."""
    run = RUNS[name]()
    ours = run.by_tick()
    return ours, run.by_oracle(ours.t)


def differences(ours: Motion, theirs: Motion) -> tuple[float, float, float]:
    """Largest differences of q, u, and of the times of the changes [s]; infinite where the changes differ."""
    alike = [c[1:] for c in ours.changes] == [c[1:] for c in theirs.changes]
    late = [abs(a[0] - b[0]) for a, b in zip(ours.changes, theirs.changes, strict=False)]
    return (
        float(np.max(np.abs(ours.q - theirs.q))),
        float(np.max(np.abs(ours.u - theirs.u))),
        max(late) if alike else float("inf"),
    )
