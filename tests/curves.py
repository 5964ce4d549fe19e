"""Curves of the tests: their points, a twin of each by SciPy, and a bead that slides."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from hapticsim.config.load import loads
from hapticsim.model.scene import Scene

TURN = 2.0 * np.pi * np.arange(16) / 16
WAVY = np.column_stack([0.3 * np.cos(TURN), 0.25 * np.sin(TURN), 0.06 * np.sin(3.0 * TURN)])  # a closed one
ARC = 0.7 * np.arange(10)
SPRING = np.column_stack([0.1 * np.cos(ARC), 0.1 * np.sin(ARC), 0.03 * ARC])  # an open one, a turn of a helix


class Twin:
    """The quintic spline through points by SciPy's collocation; the nearest place on it by brute force."""

    def __init__(self, points: np.ndarray, closed: bool) -> None:
        ring = np.vstack([points, points[:1]]) if closed else points
        knots = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(ring, axis=0), axis=1))])
        flat = [(2, np.zeros(3)), (3, np.zeros(3))]
        self.c: BSpline = make_interp_spline(knots, ring, k=5, bc_type="periodic" if closed else (flat, flat))
        self.rate, self.bend = self.c.derivative(), self.c.derivative(2)
        self.knots, self.length, self.closed = knots, float(knots[-1]), closed
        self._fine = np.linspace(0.0, self.length, 4001)
        self._places = self.c(self._fine)

    def nearest(self, x: np.ndarray) -> float:
        """Parameter of the nearest place between the ends, from 4001 samples refined by Newton steps."""
        sigma = float(self._fine[np.argmin(((self._places - x) ** 2).sum(axis=1))])
        for _ in range(30):
            d, e = x - self.c(sigma), self.rate(sigma)
            sigma += float(d @ e) / float(e @ e - d @ self.bend(sigma))
            sigma = sigma % self.length if self.closed else min(max(sigma, 0.0), self.length)
        return sigma

    def distance(self, x: np.ndarray) -> float:
        """[m] to the nearest place."""
        return float(np.linalg.norm(x - self.c(self.nearest(x))))

    def tangent(self, sigma: float) -> np.ndarray:
        """(3,) unit."""
        e = self.rate(sigma)
        return np.asarray(e / np.linalg.norm(e))


def bead(
    constraints: list[str],
    place: np.ndarray,
    velocity: np.ndarray,
    rate: float = 1000.0,
    gravity: str = "[0, 0, -9.81]",
    axes: str = "xyz",
) -> Scene:
    """A bead of 0.2 kg, at a place [m] with a velocity [m/s], that slides along these axes."""
    directions = {"x": "[1, 0, 0]", "y": "[0, 1, 0]", "z": "[0, 0, 1]"}
    names = [*(f"by_{axis}" for axis in axes[:-1]), "bead"]
    inertial = ", inertial: {mass_kg: 0.2, inertia_kg_m2: {xx: 2.0e-5, yy: 2.0e-5, zz: 2.0e-5}}"
    lines = ["name: bead", "robot:", "  bodies:"]
    lines += [f"    - {{name: {name}{inertial if name == 'bead' else ''}}}" for name in names]
    lines += ["  joints:"]
    for axis, parent, child in zip(axes, ["world", *names], names, strict=False):
        ends = f"parent: {parent}, child: {child}"
        lines.append(f"    - {{name: {axis}, type: prismatic, {ends}, axis: {directions[axis]}}}")
    q = ", ".join(f"{axis}: {float(place['xyz'.index(axis)])!r}" for axis in axes)
    u = ", ".join(f"{axis}: {float(velocity['xyz'.index(axis)])!r}" for axis in axes)
    lines += [f"initial: {{q_m: {{{q}}}, u_m_per_s: {{{u}}}}}"]
    lines += ["constraints:", *(f"  - {{{line}}}" for line in constraints)]
    lines += [f"gravity_m_per_s2: {gravity}", f"rate_Hz: {rate}", "handle: {body: bead}"]
    return loads("\n".join(lines))


def curve(points: np.ndarray, closed: bool, held: bool = True, name: str = "wire") -> str:
    """A curve of the world that keeps the bead."""
    words = f"closed: {str(closed).lower()}, held: {str(held).lower()}"
    return f"name: {name}, kind: curve, bodies: [bead, world], {words}, points_b_m: {points.tolist()}"
