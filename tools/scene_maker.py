"""Random scenes for tools/fuzz_scenes.py: robots, shapes, contacts, constraints, hands and rates from a seed.

The robot comes from a pool, because equations are compiled per robot; everything else is new in every scene.
A trial has an active part, in which torques act, constraints are switched and a hand moves the device, and
then a passive part, in which nothing may bring energy in.
"""

from __future__ import annotations

import math
import random
from dataclasses import asdict, dataclass, field
from typing import Any

Act = dict[str, Any]
Meshes = dict[str, list[list[float]]]
RATES_Hz = (500.0, 1000.0, 1000.0, 1000.0, 2000.0)
ROWS = (32, 32, 64, 6)  # few, so that they run out; many, so that they do not
ONE_DEGREE = ("revolute", "prismatic")


@dataclass
class Trial:
    """A scene and what is done to it.

    scene     as in a scene file
    acts      sorted by tick: ``{tick, do: switch | arm | disarm | torque, ...}``
    hand      amplitude [m], frequency [Hz] and phase of the device along its three axes; None: no device
    ticks     how long it runs; from ``passive_from`` on nothing brings energy in
    conserving  whether energy may only fall in the passive part (sampled torque laws may bring some in)
    meshes    points [m] of the hulls that the scene reads, by the names of their files
    deepest_m  how deep shapes may be in one another; None: as deep as the exact regime lets them be
    """

    seed: int
    kind: str
    scene: dict[str, Any]
    acts: list[Act] = field(default_factory=list)
    hand: list[list[float]] | None = None
    ticks: int = 600
    passive_from: int = 0
    conserving: bool = True
    meshes: dict[str, list[list[float]]] = field(default_factory=dict)
    deepest_m: float | None = None

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def make(
    seed: int,
    attempt: int,
    pool: int,
    hulls: bool = False,
    cylinders: bool = False,
    stepping: bool = False,
    stops: bool = False,
    friction: bool = False,
) -> Trial:
    """Return trial number ``seed``; a start that was refused is drawn again as the next ``attempt``.

    hulls, cylinders : free bodies that are mostly convex meshes, or cylinders, cones and ellipsoids.
    stepping : in the time-stepping regime, without the constraints that it has not.
    stops : joints of trees have ranges about their start, whose ends are stops; in half of the scenes they
        rub.
    friction : contacts rub, without the constraints that are not there beside that.
    """
    robot_number = seed % pool
    robot_draw = random.Random(f"robot {robot_number}")
    draw = random.Random(f"scene {seed} attempt {attempt}")
    kind = ("boxes", "tree", "boxes", "held tree")[robot_number % 4]
    if hulls or cylinders:
        trial = _boxes(seed, robot_draw, draw, {} if hulls else None, cylinders)
    elif kind == "boxes":
        trial = _boxes(seed, robot_draw, draw)
    else:
        trial = _tree(seed, kind, robot_draw, draw)
    trial.scene["name"] = f"robot {robot_number}"  # equations are compiled once for a name and a robot
    trial.scene["rate_Hz"] = draw.choice(RATES_Hz)
    trial.ticks = round(draw.uniform(0.4, 1.0) * trial.scene["rate_Hz"])
    if stepping:
        trial.scene.pop("constraints", None)
        trial.scene["contact_regime"] = "time_stepping"
    if stops:
        _add_stops(trial.scene, draw)
        if not stepping and draw.random() < 0.5:
            _let_rub(trial.scene, draw)
    if friction:
        trial.scene.pop("constraints", None)
        trial.scene.pop("joint_friction", None)
        for pair in trial.scene["contacts"]:
            pair["friction"] = draw.choice([0.0, draw.uniform(0.02, 0.3), draw.uniform(0.3, 1.0), 2.0])
            if pair["friction"] > 0.0:
                pair["static_over_kinetic"] = draw.choice([1.0, 1.0, 1.3])
    _add_acts(trial, draw)
    trial.scene["max_rows"] = draw.choice(ROWS)
    return trial


# ---------------------------------------------------------------------------------------------------- robots


def inertial(mass: float, half: list[float]) -> dict[str, Any]:
    """Mass distribution of a solid cuboid with these half extents [m]."""
    a, b, c = half
    moments = {"xx": b * b + c * c, "yy": a * a + c * c, "zz": a * a + b * b}
    return {"mass_kg": mass, "inertia_kg_m2": {k: mass / 3.0 * v for k, v in moments.items()}}


def _solid(half: list[float], draw: random.Random) -> dict[str, Any]:
    """The shape of a body that fills these half extents [m], or a ball or a capsule along z inside them."""
    which = draw.random()
    if which < 0.2:
        return {"kind": "sphere", "radius_m": min(half)}
    radius = min(half[:2])
    if which < 0.45 and half[2] > radius:
        return {"kind": "capsule", "radius_m": radius, "length_m": 2.0 * (half[2] - radius)}
    return {"kind": "box", "half_extents_m": half}


def hull(name: str, half: list[float], draw: random.Random, meshes: Meshes) -> dict[str, Any]:
    """A convex mesh that fills these half extents [m], often a box, a ball or a capsule instead."""
    which = draw.random()
    if which < 0.25:
        return {"kind": "box", "half_extents_m": half}
    if which < 0.3:
        return {"kind": "sphere", "radius_m": min(half)}
    radius = min(half[:2])
    if which < 0.4 and half[2] > radius:
        return {"kind": "capsule", "radius_m": radius, "length_m": 2.0 * (half[2] - radius)}
    n, turn = draw.randint(3, 12), draw.choice([0.0, draw.uniform(0.0, 6.0)])
    ring = [
        (math.cos(turn + 2.0 * math.pi * i / n), math.sin(turn + 2.0 * math.pi * i / n)) for i in range(n)
    ]
    match draw.choice(["prism", "pyramid", "frustum", "cloud", "cloud", "pins"]):
        case "prism":
            points = [[x, y, z] for x, y in ring for z in (-1.0, 1.0)]
        case "pyramid":
            points = [[x, y, -1.0] for x, y in ring] + [[0.0, 0.0, 1.0]]
        case "frustum":
            shrink = draw.uniform(0.1, 0.9)
            points = [[x * s, y * s, z] for x, y in ring for z, s in ((-1.0, 1.0), (1.0, shrink))]
        case "pins":  # an octahedron
            points = [[s * float(i == j) for j in range(3)] for i in range(3) for s in (-1.0, 1.0)]
        case _:
            cloud = [[draw.gauss(0.0, 1.0) for _ in range(3)] for _ in range(draw.randint(5, 40))]
            points = [[x / math.hypot(*p) for x in p] for p in cloud]
    meshes[f"{name}.obj"] = [[round(x * h, 6) for x, h in zip(p, half, strict=True)] for p in points]
    return {"kind": "mesh", "file": f"{name}.obj", "convex": True}


def _cylinder(half: list[float], draw: random.Random) -> dict[str, Any]:
    """A cylinder, a cone or an ellipsoid along z inside these half extents [m], flat sometimes, or a box, a
    ball or a capsule."""
    if draw.random() < 0.3:
        return _solid(half, draw)
    kind, thick = draw.choice(["cylinder", "cylinder", "cone", "ellipsoid"]), draw.choice([1.0, 1.0, 0.1])
    if kind == "ellipsoid":
        radii = [half[0], half[1], thick * half[2]]
        return {"kind": kind, "radii_m": radii, "sides": draw.choice([4, 5, 8, 12, 12])}
    sides = draw.choice([3, 4, 8, 13, 24, 24, 32])
    return {"kind": kind, "radius_m": min(half[:2]), "length_m": 2.0 * thick * half[2], "sides": sides}


def _boxes(
    seed: int,
    robot: random.Random,
    draw: random.Random,
    meshes: Meshes | None = None,
    cylinders: bool = False,
) -> Trial:
    """One to four free boxes, balls, capsules: on a floor, a table, a log, over an edge, stacked, thrown.

    meshes : where hulls are to be put; with it boxes, balls and capsules are mostly hulls.
    cylinders : whether they are mostly cylinders, cones and ellipsoids, which stand, lie or fall.
    """
    n = robot.randint(1, 4)
    halves = [[robot.uniform(0.02, 0.1) for _ in range(3)] for _ in range(n)]
    masses = [10.0 ** robot.uniform(-1.5, 0.7) for _ in range(n)]
    bodies = [
        {"name": f"b{i}", "inertial": inertial(m, h)}
        for i, (m, h) in enumerate(zip(masses, halves, strict=True))
    ]
    joints = [{"name": f"j{i}", "type": "free", "parent": "world", "child": f"b{i}"} for i in range(n)]
    shapes: list[dict[str, Any]] = [{"name": "floor", "kind": "plane"}]
    contacts: list[dict[str, Any]] = []
    solids = []
    for i, half in enumerate(halves):
        solid = _solid(half, draw) if meshes is None else hull(f"s{i}", half, draw, meshes)
        if cylinders:
            solid = _cylinder(half, draw)
        shapes.append({"name": f"s{i}", "body": f"b{i}", **solid})
        contacts.append({"between": [f"s{i}", "floor"]})
        solids.append(f"s{i}")
    top = 0.0
    if draw.random() < 0.5:  # a table, or a wall
        size = [draw.uniform(0.02, 0.3), draw.uniform(0.05, 0.3), draw.uniform(0.03, 0.15)]
        place = {"xyz_m": [0.0, 0.0, size[2]], "rpy_rad": [0.0, 0.0, draw.choice([0.0, draw.uniform(0, 3)])]}
        table: dict[str, Any] = {"kind": "box", "half_extents_m": size}
        if meshes is not None:
            table = hull("table", size, draw, meshes)
        elif cylinders:
            table = _cylinder(size, draw)
        shapes.append({"name": "table", "origin": place, **table})
        contacts += [{"between": [name, "table"]} for name in solids]
        top = draw.choice([0.0, 2.0 * size[2]])
    elif draw.random() < 0.3 and meshes is None:
        log = {"radius_m": draw.uniform(0.02, 0.2), "length_m": draw.uniform(0.05, 0.6)}
        lies = {"xyz_m": [0.0, 0.0, log["radius_m"]], "rpy_rad": [1.5707963, 0.0, draw.uniform(0, 3)]}
        kind = {"kind": "cylinder", "sides": 24} if cylinders else {"kind": "capsule"}
        shapes.append({"name": "log", "origin": lies, **kind, **log})
        contacts += [{"between": [s["name"], "log"]} for s in shapes[1 : 1 + n] if s["kind"] != "box"]
        top = draw.choice([0.0, 2.0 * log["radius_m"]])
    contacts += [{"between": [f"s{i}", f"s{j}"]} for i in range(n) for j in range(i)]
    for contact in contacts:
        if draw.random() < 0.3:
            contact["restitution"] = round(draw.uniform(0.0, 1.0), 3)
    start: dict[str, Any] = {}
    height, x, y = top, 0.0, 0.0
    for i, half in enumerate(halves):
        flat = draw.random() < 0.6
        yaw = draw.choice([0.0, draw.uniform(-3.0, 3.0)])
        rpy = [0.0, 0.0, yaw] if flat else [draw.uniform(-3.0, 3.0) for _ in range(3)]
        extent = min(half) if shapes[1 + i]["kind"] == "sphere" else half[2] if flat else math.hypot(*half)
        if shapes[1 + i]["kind"] == "ellipsoid" and flat:
            extent = shapes[1 + i]["radii_m"][2]
        if shapes[1 + i]["kind"] in ("cylinder", "cone") and flat:
            extent = 0.5 * shapes[1 + i]["length_m"]
            if draw.random() < 0.4:
                rpy, extent = [math.pi / 2.0, 0.0, yaw], shapes[1 + i]["radius_m"]
        drop = draw.choice([0.0, 0.0, draw.uniform(0.0, 0.1)])
        moves = draw.random() < 0.6
        if draw.random() < 0.5:  # beside what was there
            x, y = draw.uniform(-0.3, 0.3), draw.uniform(-0.3, 0.3)
        x, y = x + draw.gauss(0.0, 0.03), y + draw.gauss(0.0, 0.03)
        start[f"j{i}"] = {
            "xyz_m": [x, y, height + extent + drop],
            "rpy_rad": rpy,
            "velocity_m_per_s": [draw.gauss(0.0, 0.7) * moves for _ in range(3)],
            "angular_velocity_rad_per_s": [draw.gauss(0.0, 3.0) * moves * (not flat) for _ in range(3)],
        }
        if draw.random() < 0.5:  # the next one may come to lie on top
            height += 2.0 * extent + drop
    scene = {
        "robot": {"bodies": bodies, "joints": joints},
        "shapes": shapes,
        "contacts": contacts,
        "handle": {"body": "b0", "point_m": [0.0, 0.0, 0.0]},
        "initial": {"free": start},
    }
    return Trial(seed, "boxes", scene, meshes=meshes or {})


def _tree(seed: int, kind: str, robot: random.Random, draw: random.Random) -> Trial:
    """A tree of one to six links with balls at its links, over a floor and before a block."""
    n = robot.randint(1, 6)
    bodies, joints, shapes, contacts = [], [], [{"name": "floor", "kind": "plane"}], []
    start: dict[str, dict[str, float]] = {"q_rad": {}, "u_rad_per_s": {}, "q_m": {}, "u_m_per_s": {}}
    for i in range(n):
        half = [robot.uniform(0.02, 0.15) for _ in range(3)]
        massive = inertial(10.0 ** robot.uniform(-1.5, 0.7), half)
        massive["com_m"] = [robot.uniform(-0.1, 0.1) for _ in range(3)]
        bodies.append({"name": f"b{i}", "inertial": massive})
        parent = "world" if i == 0 else f"b{robot.randint(max(0, i - 2), i - 1)}"
        turns = robot.random() < 0.8
        axis = [robot.gauss(0.0, 1.0) for _ in range(3)]
        joint: dict[str, Any] = {
            "name": f"j{i}", "type": ONE_DEGREE[not turns], "parent": parent, "child": f"b{i}", "axis": axis,
            "origin": {"xyz_m": [robot.uniform(-0.3, 0.3) for _ in range(3)]},
        }  # fmt: skip
        if robot.random() < 0.4:
            joint["damping_Nms_per_rad" if turns else "damping_Ns_per_m"] = 10.0 ** robot.uniform(-3.0, 1.0)
        joints.append(joint)
        place, rate = ("q_rad", "u_rad_per_s") if turns else ("q_m", "u_m_per_s")
        start[place][f"j{i}"] = draw.uniform(-1.5, 1.5) * (1.0 if turns else 0.1)
        start[rate][f"j{i}"] = draw.gauss(0.0, 1.0) * (1.0 if turns else 0.2) * (draw.random() < 0.5)
        tip = {"xyz_m": [draw.uniform(-0.2, 0.2) for _ in range(3)]}
        shapes.append(
            {
                "name": f"s{i}",
                "body": f"b{i}",
                "kind": "sphere",
                "radius_m": draw.uniform(0.01, 0.04),
                "origin": tip,
            }
        )
        contacts.append({"between": [f"s{i}", "floor"], "restitution": draw.choice([0.0, 0.0, 0.5])})
    if draw.random() < 0.3:  # links that touch one another
        pairs = [(i, j) for i in range(n) for j in range(i)]
        contacts += [
            {"between": [f"s{i}", f"s{j}"], "restitution": draw.choice([0.0, 0.5])} for i, j in pairs
        ]
    shapes[0]["origin"] = {
        "xyz_m": [0.0, 0.0, -draw.uniform(0.1, 0.8)],
        "rpy_rad": [draw.gauss(0, 0.2), draw.gauss(0, 0.2), 0],
    }
    if draw.random() < 0.4:
        place = {"xyz_m": [draw.choice([-1, 1]) * draw.uniform(0.4, 0.7), 0.0, -0.2]}
        half = [0.15, 0.4, 0.3]
        shapes.append({"name": "block", "kind": "box", "half_extents_m": half, "origin": place})
        contacts += [{"between": [f"s{i}", "block"]} for i in range(n)]
    scene: dict[str, Any] = {
        "robot": {"bodies": bodies, "joints": joints},
        "shapes": shapes,
        "contacts": contacts,
        "handle": {"body": f"b{n - 1}", "point_m": [0.05, 0.0, 0.0]},
        "initial": {key: values for key, values in start.items() if values},
    }
    trial = Trial(seed, kind, scene)
    if kind == "held tree":
        scene["constraints"] = _constraints(joints, draw)
    if draw.random() < 0.25:
        trial.conserving = False
        scene["torques"] = [_torque_law(joint, draw) for joint in joints]
    return trial


def _add_stops(scene: dict[str, Any], draw: random.Random) -> None:
    """Ranges of most joints with one coordinate, from a little to far off where they start."""
    scene["joint_stops"] = {"restitution": draw.choice([0.0, 0.0, 0.3, 0.8, 1.0])}
    for joint in scene["robot"]["joints"]:
        if joint["type"] not in ONE_DEGREE or draw.random() < 0.2:
            continue
        unit = "rad" if joint["type"] == "revolute" else "m"
        at = scene["initial"].get(f"q_{unit}", {}).get(joint["name"], 0.0)
        reach = 10.0 ** draw.uniform(-3.0, 0.3) * (1.0 if unit == "rad" else 0.2)
        ends = {f"lower_{unit}": at - reach * draw.random(), f"upper_{unit}": at + reach * draw.random()}
        joint["limits"] = {key: end for key, end in ends.items() if draw.random() < 0.8}


def _let_rub(scene: dict[str, Any], draw: random.Random) -> None:
    """Coulomb friction of most joints with one coordinate, from next to none to what holds them."""
    scene["joint_friction"] = {"static_over_kinetic": draw.choice([1.0, 1.0, 1.2, 2.0])}
    for joint in scene["robot"]["joints"]:
        if joint["type"] in ONE_DEGREE and draw.random() < 0.8:
            unit = "Nm" if joint["type"] == "revolute" else "N"
            joint[f"coulomb_friction_{unit}"] = 10.0 ** draw.uniform(-3.0, 1.0)


def _torque_law(joint: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    turns = joint["type"] == "revolute"
    law: dict[str, Any] = {"joint": joint["name"], "law": draw.choice(["pd", "gravity_compensation"])}
    if law["law"] == "pd":
        law["stiffness_Nm_per_rad" if turns else "stiffness_N_per_m"] = 10.0 ** draw.uniform(0.0, 3.0)
    law["damping_Nms_per_rad" if turns else "damping_Ns_per_m"] = 10.0 ** draw.uniform(-1.0, 2.0)
    return law


def _constraints(joints: list[dict[str, Any]], draw: random.Random) -> list[dict[str, Any]]:
    """Up to four constraints, free at the start, that hold where the mechanism happens to be."""
    names = [joint["name"] for joint in joints]
    tip = joints[-1]["child"]
    found: list[dict[str, Any]] = []
    for c in range(draw.randint(1, 4)):
        one: dict[str, Any] = {"name": f"c{c}", "held": False}
        match draw.choice(["lock", "gear", "motion", "plane", "line", "point", "distance"]):
            case "lock":
                one |= {"kind": "lock", "joints": [draw.choice(names)]}
                if draw.random() < 0.5:
                    one["break_N"] = 10.0 ** draw.uniform(-1.0, 2.0)
                elif draw.random() < 0.5:
                    one["friction"] = {
                        "static": 0.8,
                        "kinetic": 0.5,
                        "normal_N": 10.0 ** draw.uniform(-1.0, 1.5),
                    }
            case "gear" if len(names) > 1:
                a, b = draw.sample(names, 2)
                one |= {"kind": "gear", "factors": {a: 1.0, b: draw.choice([-2.0, -1.0, 0.5, 1.0])}}
            case "motion":
                one |= {"kind": "motion", "joint": draw.choice(names), "amplitude": draw.uniform(0.0, 0.3)}
                one["angular_frequency_rad_per_s"] = draw.uniform(0.0, 10.0)
            case "plane" | "gear":
                one |= {"kind": "plane", "bodies": [tip, "world"]}
                one["normal_b"] = [draw.gauss(0.0, 1.0) for _ in range(3)]
            case "line":
                one |= {"kind": "line", "bodies": [tip, "world"]}
                one["direction_b"] = [draw.gauss(0.0, 1.0) for _ in range(3)]
            case "point":
                one |= {"kind": "point", "bodies": [tip, "world"]}
            case "distance":
                one |= {"kind": "distance", "bodies": [tip, "world"], "distance_m": draw.uniform(0.1, 1.0)}
        found.append(one)
    return found


# ------------------------------------------------------------------------------------------------------ acts


def _add_acts(trial: Trial, draw: random.Random) -> None:
    """Torques, switches and a hand in the first half or more; the second part is passive."""
    constraints = trial.scene.get("constraints", [])
    with_hand, with_torque = draw.random() < 0.4, draw.random() < 0.2 and trial.kind != "boxes"
    if not (constraints or with_hand or with_torque):
        return
    half = trial.ticks // 2
    acts = trial.acts
    if with_hand:
        trial.hand = [
            [draw.uniform(0.0, 0.04), draw.uniform(0.2, 3.0), draw.uniform(0.0, 6.0)] for _ in range(3)
        ]
        trial.scene["safety"] = {"ramp_s": draw.choice([0.0, 0.05, 0.2])}
        acts += [
            {"tick": draw.randrange(half), "do": draw.choice(["arm", "arm", "disarm"])} for _ in range(4)
        ]
        acts += [{"tick": 1, "do": "arm"}, {"tick": half, "do": "disarm"}]
    if with_torque:
        n = len(trial.scene["robot"]["joints"])
        acts.append(
            {"tick": draw.randrange(half), "do": "torque", "values": [draw.gauss(0, 1.0) for _ in range(n)]}
        )
        acts.append({"tick": half, "do": "torque", "values": [0.0] * n})
    for _ in range(draw.randint(0, 12) if constraints else 0):
        name = draw.choice(constraints)["name"]
        acts.append({"tick": draw.randrange(half), "do": "switch", "name": name, "held": draw.random() < 0.6})
    for constraint in constraints:
        if constraint["kind"] == "motion":  # it does work while it holds
            acts.append({"tick": half, "do": "switch", "name": constraint["name"], "held": False})
    acts.sort(key=lambda act: act["tick"])
    trial.passive_from = half + 2
