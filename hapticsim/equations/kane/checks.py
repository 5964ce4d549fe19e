"""What a mechanism must be before and after its expressions are formed; refusals in one sentence each."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable
from typing import Any

import numpy as np
import sympy

from hapticsim.equations.kane.mechanism import System, name_of
from hapticsim.equations.kane.motion import Motion
from hapticsim.equations.kane.parts import Mass, Place
from hapticsim.equations.kane.sensors import check_sensor_names
from hapticsim.equations.kane.symbolic import Evaluation
from hapticsim.equations.scalars.trace import Trace
from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.mechanism import Friction, Mechanism, Switchable
from hapticsim.model.constraints import NAME_LENGTH, is_constraint_name

# Positions are differenced over 2e-6: truncation 1e-12, rounding 1e-10 at unit size.
STEP, SAME = 1e-6, 1e-6
SINGULAR = 1e-12  # smallest eigenvalue of M scaled to unit diagonal
ROUNDING = 1e-12  # of a principal moment, by the largest entry
TRIES = 3  # states, so that one that happens to be singular does not speak for all


def check_words(mechanism: Mechanism, where: str) -> None:
    """Refuse a mechanism whose lists do not fit together."""

    def refuse(key: str, problem: str) -> ConfigError:
        return ConfigError(where, key, problem)

    for key in ("coordinates", "speeds"):
        symbols = list(getattr(mechanism, key))
        if not symbols:
            raise refuse(key, "is empty: a mechanism needs at least one.")
        for s in symbols:
            if not isinstance(s, sympy.core.function.AppliedUndef):
                raise refuse(key, f"contains {s}: write dynamicsymbols of SymPy.")
    names = [name_of(s) for s in (*mechanism.coordinates, *mechanism.speeds)]
    _check_unique(names, "coordinates and speeds", refuse)
    if len(mechanism.speeds) > len(mechanism.coordinates):
        raise refuse(
            "speeds",
            f"has {len(mechanism.speeds)} for {len(mechanism.coordinates)} coordinates: "
            "give at most as many.",
        )
    if not mechanism.bodies:
        raise refuse("bodies", "is empty: a mechanism needs at least one RigidBody or Particle.")
    for symbol, value in mechanism.parameters.items():
        _check_number(f"parameters[{symbol}]", value, refuse)
    for symbol, value in mechanism.initial.items():
        if name_of(symbol) not in names:
            hint = nearest(name_of(symbol), names)
            raise refuse(
                f"initial[{name_of(symbol)}]", f"is no coordinate or speed{hint}: they are {listed(names)}."
            )
        _check_number(f"initial[{name_of(symbol)}]", value, refuse)
    for symbol, unit in mechanism.units.items():
        if name_of(symbol) not in names or unit not in ("rad", "m"):
            raise refuse(
                f"units[{name_of(symbol)}]",
                f"= {unit!r} is not usable: write 'rad' or 'm' for one of {listed(names)}.",
            )
    for i, c in enumerate(mechanism.constraints):
        if not is_constraint_name(c.name):
            raise refuse(
                f"constraints[{i}].name",
                f"= {c.name!r} is not usable: write a word of 1 to {NAME_LENGTH} printable characters.",
            )
        if not isinstance(c.held, bool):
            raise refuse(f"constraints[{c.name!r}].held", f"= {c.held!r} is not usable: write True or False.")
    _check_unique([c.name for c in mechanism.constraints], "constraints", refuse)
    for c in mechanism.constraints:
        if not (c.configuration or c.motion):
            raise refuse(f"constraints[{c.name!r}]", "has no rows: give configuration or motion expressions.")
        if c.friction is not None:
            _check_friction(c, c.friction, mechanism.constraints, refuse)
    check_sensor_names(mechanism.sensors, names, refuse)


def check_system(system: System) -> None:
    """Refuse a mechanism whose quantities contradict one another: tried at random states."""
    for body in system.masses:
        _check_mass(system, body)
    handle = system.mechanism.handle
    if handle is not None and handle[0] not in system.places:
        names = list(system.places)
        raise system.refuse(
            "handle", f"= {handle[0]!r} is no place{nearest(handle[0], names)}: they are {listed(names)}."
        )
    dice = random.Random(4)
    states = [
        (
            [dice.uniform(0.3, 1.2) for _ in range(system.nq)],
            [dice.uniform(0.3, 1.2) for _ in range(system.nu)],
        )
        for _ in range(TRIES)
    ]
    for place in system.places.values():
        if not any(_agrees(system, place, q, u) for q, u in states):
            raise system.refuse(
                f"{place.name!r}",
                "moves with another velocity than its pose says: make set_vel, set_ang_vel and the "
                "kinematical equations agree.",
            )
    faults = [_unfelt(system, q) for q, _ in states]
    if all(faults):
        raise system.refuse(
            "speeds",
            f"{faults[0]} is felt by no body (the mass matrix is singular): give what it moves mass or "
            "inertia, or remove it.",
        )
    if handle is not None and system.places[handle[0]].is_fixed:
        raise system.refuse("handle", f"= {handle[0]!r} is fixed to the world: hold a place that moves.")
    _check_sensors(system)


def _check_mass(system: System, body: Mass) -> None:
    key, numbers = f"bodies[{body.place.name!r}]", Evaluation({}, system.parameters)
    if body.mass.free_symbols - system.parameters.keys():
        raise system.refuse(f"{key}.mass", f"= {body.mass} moves: it must be constant.")
    m = float(numbers(body.mass))
    if not (math.isfinite(m) and m >= 0.0):
        raise system.refuse(f"{key}.mass", f"= {m:g} is not usable: it must be finite and at least 0.")
    if body.inertia is None:
        return
    I = np.array([numbers.each(row) for row in body.inertia], float)
    if not np.all(np.isfinite(I)) or np.min(np.linalg.eigvalsh(0.5 * (I + I.T))) < -ROUNDING * np.max(
        np.abs(I)
    ):
        raise system.refuse(f"{key}.inertia", "has a negative principal moment: check signs and values.")


def _check_sensors(system: System) -> None:
    """Refuse a sensor whose parameters alone divide by zero, or ask for the root of a negative number."""
    trace = Trace()
    motion = Motion(system, trace.inputs("q", system.nq), trace.inputs("u", system.nu))
    for (name, given), expression in zip(system.mechanism.sensors.items(), system.sensors, strict=True):
        first = len(trace.operations)
        try:
            motion.sensors([expression])
            is_bad = any(
                op == "/" and trace.operations[b] == ("constant", 0.0, 0)
                for op, _, b in trace.operations[first:]
            )
        except (ZeroDivisionError, ValueError, OverflowError):
            is_bad = True
        if is_bad:
            raise system.refuse(
                f"sensors[{name!r}]",
                f"= {given} has no value with these parameters: check what it divides by and the roots.",
            )


def _check_number(key: str, value: Any, refuse: Any) -> None:
    try:
        finite = math.isfinite(float(value))
    except (TypeError, ValueError):
        finite = False
    if not finite:
        raise refuse(key, f"= {value} is not usable: it must be a finite number.")


def _check_unique(names: Iterable[str], key: str, refuse: Any) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise refuse(key, f"has {name!r} twice: names must be unique.")
        seen.add(name)


def _check_friction(c: Switchable, f: Friction, others: Iterable[Switchable], refuse: Any) -> None:
    key = f"constraints[{c.name!r}].friction"
    if len(c.configuration) + len(c.motion) != 1:
        raise refuse(key, "is for constraints of one row: split the constraint.")
    for name in ("static", "kinetic"):
        _check_number(f"{key}.{name}", getattr(f, name), refuse)
    if not 0.0 <= float(f.kinetic) <= float(f.static):
        raise refuse(key, f"= {f.static:g}, {f.kinetic:g} is not usable: static >= kinetic >= 0.")
    if not isinstance(f.normal, str):
        _check_number(f"{key}.normal", f.normal, refuse)
        if float(f.normal) < 0.0:
            raise refuse(f"{key}.normal", f"= {f.normal:g} is not usable: it must be at least 0.")
        return
    single = [o.name for o in others if o.name != c.name and len(o.configuration) + len(o.motion) == 1]
    if f.normal not in single:
        raise refuse(
            f"{key}.normal",
            f"= {f.normal!r} is no other constraint of one row{nearest(f.normal, single)}: "
            f"they are {listed(single)}.",
        )


def _agrees(system: System, place: Place, q: list[float], u: list[float]) -> bool:
    """Say whether position and orientation, differenced along the motion, change as velocities say."""
    motion = Motion(system, q, u)
    try:
        ahead, behind = (
            np.array(
                Motion(system, [a + k * STEP * b for a, b in zip(q, motion.qdot, strict=True)]).pose(place)
            )
            for k in (1.0, -1.0)
        )
        here = motion.frame_outputs([place.name])
    except (ZeroDivisionError, ValueError):
        return False
    rate, velocity = (ahead - behind).astype(float) / (2.0 * STEP), np.array(here["vel"][0], float)
    R = np.array(here["X"][0][:9], float).reshape(3, 3)
    spin = rate[:9].reshape(3, 3) @ R.T
    omega = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
    found = np.concatenate([omega, rate[9:]])
    return bool(np.max(np.abs(found - velocity)) <= SAME * max(1.0, float(np.max(np.abs(velocity)))))


def _unfelt(system: System, q: list[float]) -> str:
    """Return the speeds along which there is no inertia, in words; empty where M is regular."""
    try:
        M = np.array(Motion(system, q).mass_matrix(), float)
    except (ZeroDivisionError, ValueError):
        return ""
    names = [name_of(u) for u in system.mechanism.speeds]
    size = np.sqrt(np.diag(M).clip(0.0))
    if not np.all(size > 0.0):
        return " and ".join(name for name, s in zip(names, size, strict=True) if s == 0.0)
    values, vectors = np.linalg.eigh(M / np.outer(size, size))
    if values[0] > SINGULAR:
        return ""
    share = np.abs(vectors[:, 0])
    return "the combination of " + " and ".join(
        n for n, s in zip(names, share, strict=True) if s > 1e-3 * share.max()
    )
