"""A scene that runs tick after tick, with what it told, and what a scene says of itself beside the truth."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.load import loads

G = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Quantity:
    """A number of a simulation beside the true one."""

    name: str
    measured: float
    true: float
    unit: str = ""
    is_time: bool = False  # an instant, which is off by so many seconds; else by a part of the true value
    scale: float = 0.0  # what it is a part of, instead of the true value
    allowed: float = 1e-6  # what it may be off by: that part, or a microsecond

    @property
    def off(self) -> float:
        """By how much it is off: [s] of an instant, else a part."""
        difference = abs(self.measured - self.true)
        return difference if self.is_time else difference / (self.scale or abs(self.true))


def instant(name: str, measured: float, true: float, allowed: float = 1e-6) -> Quantity:
    """An instant [s]."""
    return Quantity(name, measured, true, "s", is_time=True, allowed=allowed)


class Bench:
    """A simulation with all events that it told, and the worst of its certificates.

    The scene is a document of YAML; its first body is free unless ``q`` and ``u`` are those of its joints.
    """

    def __init__(self, text: str) -> None:
        self.sim = hs.Simulation(loads(text, "<truth>"))
        self.events: list[tuple[Event, float]] = []
        self.worst = np.zeros(5)  # depth, cone, normal, friction, gain by the energy

    def begin(self, q: dict[int, float] | None = None, u: dict[int, float] | None = None) -> Bench:
        """Start with these coordinates beside those of the scene, and these speeds beside 0, by index."""
        start, speeds = self.sim.scene.q0.copy(), np.zeros(len(self.sim.state.u))
        for index, value in (q or {}).items():
            start[index] = value
        for index, value in (u or {}).items():
            speeds[index] = value
        self.sim.set_state(start, speeds)
        return self

    def run(self, seconds: float, each: Callable[[int], None] = lambda tick: None) -> Bench:
        """Go on for so long; ``each`` is called before every tick with its number."""
        for tick in range(round(1000.0 * seconds)):
            each(tick)
            self.sim.step()
            self.events += [(event.kind, event.time) for event in self.sim.events]
            told = self.sim.certificate
            energy = max(1.0, sum(abs(part) for part in self.sim.energy()))
            numbers = [told.depth, told.cone, told.normal, told.friction, told.gain / energy]
            self.worst = np.maximum(self.worst, numbers)
        return self

    def times(self, kind: Event) -> list[float]:
        """Instants of all events of a kind [s]; those at one instant are one."""
        seen: list[float] = []
        for this, t in self.events:
            if this is kind and (not seen or t > seen[-1]):
                seen.append(t)
        return seen

    @property
    def q(self) -> np.ndarray:
        return self.sim.state.q

    @property
    def u(self) -> np.ndarray:
        return self.sim.state.u

    @property
    def velocity(self) -> np.ndarray:
        """Of a free body in the world (3,) [m/s]: its speeds are those in its own axes."""
        w, x, y, z = self.q[3:7]
        return Rotation.from_quat([x, y, z, w]).apply(self.u[3:6])

    @property
    def stepped(self) -> int:
        """Ticks that were time steps."""
        return sum(kind is Event.STEPPED for kind, _ in self.events)


def falls(rate: float, start: float, end: float) -> float:
    """Time [s] in which x'' = rate sin x goes from rest at ``start`` to ``end`` [rad]: by its energy."""

    def part(s: float) -> float:  # x = start + s^2, because it begins at rest
        return s / math.sqrt(rate * math.sin(start + 0.5 * s * s) * math.sin(0.5 * s * s))

    return float(quad(part, 0.0, math.sqrt(end - start), epsabs=1e-14, epsrel=1e-12)[0])


@dataclass(frozen=True)
class Truth:
    """A scene, where its truth stands, and how it is measured."""

    name: str
    source: str
    measure: Callable[[], tuple[Bench, list[Quantity]]] = field(repr=False)


class Truths(list[Truth]):
    """Scenes with a closed answer."""

    def add(self, name: str, source: str) -> Callable[[Callable[[], tuple[Bench, list[Quantity]]]], None]:
        """Add the function that measures one, which returns the run and its quantities."""

        def take(measure: Callable[[], tuple[Bench, list[Quantity]]]) -> None:
            self.append(Truth(name, source, measure))

        return take


def free_part(
    shape: str,
    inertia: tuple[float, float, float],
    height: float,
    friction: float,
    *,
    slope: float = 0.0,
    restitution: float = 0.0,
    more: str = "",
    shapes: str = "",
) -> str:
    """A free body of 1 kg over a floor; gravity leans towards x by the slope [rad].

    shape   its kind and sizes; inertia  [kg m^2] of its axes; height  [m] of its centre over the floor
    more    further keys of the document; shapes   further entries of the list of shapes
    """
    xx, yy, zz = inertia
    down, into = G * np.sin(slope), -G * np.cos(slope)
    return f"""
name: truth
robot:
  bodies:
    - name: part
      inertial: {{mass_kg: 1.0, inertia_kg_m2: {{xx: {xx!r}, yy: {yy!r}, zz: {zz!r}}}}}
  joints: [{{name: free, type: free, parent: world, child: part, origin: {{xyz_m: [0, 0, {height!r}]}}}}]
shapes:
  - {{name: part, body: part, {shape}}}
  - {{name: floor, kind: plane}}
{shapes}
contacts: [{{between: [part, floor], friction: {friction!r}, restitution: {restitution!r}}}]
contact_regime: exact
gravity_m_per_s2: [{float(down)!r}, 0, {float(into)!r}]
{more}
"""
