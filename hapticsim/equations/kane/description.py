"""Names, masses and start of a mechanism in plain numbers, from its expressions."""

from __future__ import annotations

from typing import Any

import sympy

from hapticsim.equations.kane.dimensions import Dimensions
from hapticsim.equations.kane.mechanism import System, name_of
from hapticsim.equations.kane.parts import Mass
from hapticsim.equations.kane.symbolic import Evaluation
from hapticsim.model.multibody.joint import ANGULAR, LINEAR


def describe(system: System) -> dict[str, Any]:
    """Return what ``MechanismModel`` holds, as JSON has it."""
    mechanism, x = system.mechanism, system.x
    numbers = Evaluation({}, system.parameters)
    masses = {m.place.name: m for m in system.masses}
    initial = {name_of(k): float(v) for k, v in mechanism.initial.items()}
    start, rows, dimensions = 0, [], Dimensions(system)
    for c in mechanism.constraints:
        count = len(c.configuration) + len(c.motion)
        parts = system.rows[start : start + count]
        friction = c.friction
        rows.append(
            {
                "name": c.name,
                "start": start,
                "count": count,
                "units": [dimensions.unit(part.expression) or LINEAR for _, part in parts],
                "held": bool(c.held),
                "friction": friction
                and [
                    float(friction.static),
                    float(friction.kinetic),
                    friction.normal if isinstance(friction.normal, str) else float(friction.normal),
                ],
            }
        )
        start += count
    rate_of = [next((i for i, e in enumerate(system.rates) if e.expression == u), -1) for u in x.u]
    units = _units_of_coordinates(system, dimensions)
    return {
        "name": mechanism.name,
        "coordinates": [[name_of(q), unit] for q, unit in zip(mechanism.coordinates, units, strict=True)],
        "speeds": [
            [name_of(u), _unit_of_speed(system, dimensions, r, rate_of[r], units)]
            for r, u in enumerate(mechanism.speeds)
        ],
        "rate_of": rate_of,
        "q0": [initial.get(name_of(q), 0.0) for q in mechanism.coordinates],
        "u0": [initial.get(name_of(u), 0.0) for u in mechanism.speeds],
        "bodies": [
            {
                "name": place.name,
                "mass": float(numbers(masses[place.name].mass)) if place.name in masses else 0.0,
                "inertia": _inertia(masses.get(place.name), numbers),
                "fixed": place.is_fixed,
            }
            for place in system.places.values()
        ],
        "rows": rows,
        "handle": _handle(system, numbers),
        "sensors": list(mechanism.sensors),
    }


def _inertia(mass: Mass | None, numbers: Evaluation) -> list[list[float]]:
    if mass is None or mass.inertia is None:
        return [[0.0] * 3 for _ in range(3)]
    return [[float(numbers(e)) for e in row] for row in mass.inertia]


def _handle(system: System, numbers: Evaluation) -> list[Any] | None:
    handle = system.mechanism.handle
    if handle is None:
        return None
    name, vector = handle
    frame = system.places[name].axes.frame
    point = system.vector(0 if vector is None else vector, frame, "handle")
    if any(e.free_symbols - system.parameters.keys() for e in point):
        raise system.refuse("handle", f"moves in {frame}: give a vector fixed there.")
    return [name, [float(numbers(e)) for e in point]]


def _units_of_coordinates(system: System, dimensions: Dimensions) -> list[str]:
    """By dimensions; where these leave it open, an angle stands in a sine, or its rate turns a frame."""
    angles: set[Any] = set()
    for place in system.places.values():
        for e in (*(e for row in place.axes.R_WF for e in row), *place.p_W):
            for part in e.atoms(sympy.sin, sympy.cos, sympy.tan):
                angles |= part.free_symbols
        for part in place.axes.omega:
            angles |= {q for q, by in zip(system.x.q, part.by_rates, strict=True) if by != 0}
    given = {name_of(k): v for k, v in system.mechanism.units.items()}
    return [
        given.get(name_of(q)) or dimensions.unit(plain) or (ANGULAR if plain in angles else LINEAR)
        for q, plain in zip(system.mechanism.coordinates, system.x.q, strict=True)
    ]


def _unit_of_speed(system: System, dimensions: Dimensions, r: int, coordinate: int, units: list[str]) -> str:
    """By dimensions; where these leave it open, an angle turns a frame and is no rate of a length."""
    given = {name_of(k): v for k, v in system.mechanism.units.items()}
    name = name_of(system.mechanism.speeds[r])
    if name in given:
        return given[name]
    if coordinate >= 0:
        return units[coordinate]
    if known := dimensions.unit(system.x.u[r]):
        return known
    turns = any(part.by_u[r] != 0 for place in system.places.values() for part in place.axes.omega) or any(
        rate.by_u[r] != 0 and unit == ANGULAR for rate, unit in zip(system.rates, units, strict=True)
    )
    moves = any(rate.by_u[r] != 0 and unit == LINEAR for rate, unit in zip(system.rates, units, strict=True))
    return ANGULAR if turns and not moves else LINEAR
