"""A mechanism in a user's own words: SymPy's frames, points and bodies, and speeds chosen with care.

A file that defines ``mechanism()`` is named by a config::

    robot: {mechanism: {path: rolling_disk.py, parameters: {slope_rad: 0.2}}}

and its keyword arguments are the parameters.  What comes back is a ``Mechanism``; equations, partial
velocities and constraint rows are formed from it by Kane's method (``equations/kane/``).  The words are those
of ``sympy.physics.mechanics``; SI units; the axes of ``frame`` are the world's, z up where that matters.

The file is run as a program.  Compiled equations are kept for its text and parameters, so it may import
installed packages and nothing that stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Friction:
    """Coulomb friction of a constraint: it holds while |force| <= static * normal, then slips.

    normal : the load: a number in newtons, or the name of a constraint of one row whose force it is.
    """

    static: float
    kinetic: float
    normal: float | str


@dataclass(frozen=True, eq=False)
class Switchable:
    """A constraint that may hold or not: expressions that are zero while it does.

    name : 1 to 64 printable characters; it is switched by this name.
    configuration : in the coordinates; holds q itself.
    motion : in coordinates and affine in the speeds (or in rates of coordinates); holds u only.
    held : at the start.
    friction : where it slips instead of holding whatever the force; None: it never slips.
    """

    name: str
    configuration: Sequence[Any] = ()
    motion: Sequence[Any] = ()
    held: bool = False
    friction: Friction | None = None


@dataclass(eq=False)
class Mechanism:
    """What Kane's method needs to know, and the names everything else goes by.

    frame, origin : inertial ReferenceFrame and a Point at rest in it: the world.
    coordinates : dynamicsymbols q.
    speeds : dynamicsymbols u, the generalized speeds; there may be fewer than coordinates.
    kinematics : expressions in q, qdot and u that are zero, one for each coordinate.
    bodies : RigidBody and Particle.
    frames : further places for shapes and handle: name -> (Point, ReferenceFrame).  A RigidBody is there by
        its own name (mass centre and frame), a Particle by its own (point, axes of the world).
    forces : (Point, force Vector) or (ReferenceFrame, torque Vector), functions of q and u.
    gravity : Vector [m/s^2] fixed in ``frame``, acts on every mass and gives its potential energy.
    potential : energy [J] of springs and the like, for the energy only: their forces go into ``forces``.
    constraints : rows that may be switched.
    parameters : symbol -> value.
    initial : coordinate or speed -> value; 0 where left out.
    handle : (name of a place, Vector from its point or None) that the device holds unless a config says
        otherwise.
    units : "rad" or "m" of a coordinate, or of a speed per second, where the dimensions of the expressions
        leave it open (lengths written as numbers) and the rule guesses wrong: what stands in a sine or turns
        a frame is an angle, everything else a length.
    sensors : name with its unit -> expression in coordinates, their rates, speeds and parameters, SI: what
        programs and people are told beside q and u.
    """

    name: str
    frame: Any
    origin: Any
    coordinates: Sequence[Any]
    speeds: Sequence[Any]
    kinematics: Sequence[Any]
    bodies: Sequence[Any]
    frames: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    forces: Sequence[tuple[Any, Any]] = ()
    gravity: Any = None
    potential: Any = None
    constraints: Sequence[Switchable] = ()
    parameters: Mapping[Any, float] = field(default_factory=dict)
    initial: Mapping[Any, float] = field(default_factory=dict)
    handle: tuple[str, Any] | None = None
    units: Mapping[Any, str] = field(default_factory=dict)
    sensors: Mapping[str, Any] = field(default_factory=dict)
