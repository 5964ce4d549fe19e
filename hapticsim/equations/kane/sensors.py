"""Sensors of a mechanism: named numbers that follow from q, qdot, u and the parameters.

Nobody feels them: a tick does not evaluate them.  They are compiled like the equations, as one function, and
evaluated where somebody looks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sympy.physics.vector import Vector as PhysicsVector

from hapticsim.equations.kane.parts import Expression
from hapticsim.errors import ConfigError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def check_sensor_names(sensors: Any, taken: Iterable[str], refuse: Callable[[str, str], ConfigError]) -> None:
    """Refuse what is no mapping from words to something.

    taken : names of coordinates and speeds, which a sensor may not have.
    """
    if not isinstance(sensors, Mapping):
        raise refuse(
            "sensors", f"is a {type(sensors).__name__}: give a mapping, {{'name_unit': expression}}."
        )
    for name in sensors:
        if not (isinstance(name, str) and _NAME.fullmatch(name)):
            raise refuse(
                f"sensors[{name!r}]",
                "is not usable as a name: write letters, digits and underscores, the unit last, as in "
                "'lean_rad'.",
            )
        if name in taken:
            raise refuse(
                f"sensors[{name!r}]", "has the name of a coordinate or speed: give it one of its own."
            )


def sensor_expressions(
    sensors: Mapping[str, Any],
    scalar: Callable[[Any, str], Expression],
    refuse: Callable[[str, str], ConfigError],
) -> list[Expression]:
    """Return the sensors of a mechanism in plain symbols, in the user's order, or refuse one.

    scalar : makes an expression of what a user gave, or refuses it by its key.
    """
    expressions = []
    for name, given in sensors.items():
        key = f"sensors[{name!r}]"
        if isinstance(given, PhysicsVector):
            raise refuse(key, f"= {given} is a vector: take a component, as with .dot(frame.x).")
        expressions.append(scalar(given, key))
    return expressions
