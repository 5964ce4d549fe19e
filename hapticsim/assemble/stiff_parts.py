"""What of a scene is stiff, by samples of its configurations: damping, torque laws, and the coupler's mass.

The tick compares these with its length and chooses how it integrates (kernels/motion/stiffness.py).
A decay is that of M^-1 C, an oscillation the root of M^-1 K, with all joints free to move: contacts and
constraints only add inertia.  M depends on the configuration: the fastest of the start and of random ones
counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hapticsim.equations.base import Equations
from hapticsim.model.scene import Scene

SAMPLES, SAMPLES_LARGE, LARGE = 96, 24, 16  # configurations; with more speeds than LARGE the second
HELD_DECAY = 0.5  # times the tick: a held damper throws back from 1 on


@dataclass(frozen=True)
class StiffParts:
    """What ``Plan`` says about it (kernels/memory/arrays.py)."""

    law_in_stages: int
    damping_rate: float  # [1/s]
    spring_rate: float  # [rad/s]
    handle_mobility: float  # [1/kg]
    rotation_mobility: float  # [1/(kg m^2)]
    energy_scale: float  # [J]


def find_stiff_parts(
    scene: Scene, equations: Equations, kp: np.ndarray, kd: np.ndarray, damping: np.ndarray
) -> StiffParts:
    """Return what is stiff in a scene with these springs and dampers of its torque laws (nu,).

    A law whose damper is below kp h cannot be held for a tick of h seconds: its hold takes kp h / 2 away.
    """
    h = scene.tick_s
    found = [_at(scene, equations, kp, kd, damping, q) for q in configurations(scene, equations)]
    joints, held, springs, pushed, turned, kinetic, potential = np.array([f for f in found if f]).T
    in_stages = bool(
        np.any((kp > 0.0) & (kd + damping < kp * h))
        or h * held.max() > HELD_DECAY
        or h * h * springs.max() > HELD_DECAY**2
    )
    decay = joints.max() + (held.max() if in_stages else 0.0)
    return StiffParts(
        law_in_stages=int(in_stages),
        damping_rate=float(decay),
        spring_rate=float(np.sqrt(springs.max())) if in_stages else 0.0,
        handle_mobility=float(pushed.max()),
        rotation_mobility=float(turned.max()),
        energy_scale=float(kinetic.mean() + potential.std()),
    )


def configurations(scene: Scene, equations: Equations) -> list[np.ndarray]:
    """The start, and random ones within the limits of the joints."""
    model, rng = scene.model, np.random.default_rng(0)
    many = SAMPLES if model.nu <= LARGE else SAMPLES_LARGE
    return [scene.q0.copy(), *(model.random_q(scene.q0, rng) for _ in range(many))]


def factor_of_mass(
    scene: Scene, equations: Equations, q: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None:
    """M (nu, nu), the inverse of its Cholesky factor, poses (nf, 12) and partial velocities (nf, nu, 6) at q;
    nothing where M is singular."""
    n, nf = equations.nu, len(equations.frames)
    M, h, V = np.zeros((n, n)), np.empty(n), np.zeros((nf, n, 6))
    X, vel, acc = np.empty((nf, 12)), np.empty((nf, 6)), np.empty((nf, 6))
    equations.kernels.kane(q, np.zeros(n), np.empty(equations.nq), M, h, X, V, vel, acc)
    of_speed, _ = scene.model.kinematic_trees()
    starts = np.flatnonzero(np.diff(of_speed, prepend=-1))
    whiten = np.zeros((n, n))
    try:
        for start, end in zip(starts, [*starts[1:], n], strict=True):  # M has nothing between trees
            whiten[start:end, start:end] = np.linalg.inv(np.linalg.cholesky(M[start:end, start:end]))
    except np.linalg.LinAlgError:
        return None
    return M, whiten, X, V


def _at(
    scene: Scene, equations: Equations, kp: np.ndarray, kd: np.ndarray, damping: np.ndarray, q: np.ndarray
) -> tuple[float, ...] | None:
    """What is stiff at one configuration, and its energies; nothing where M is singular."""
    terms = factor_of_mass(scene, equations, q)
    if terms is None:
        return None
    n, (M, whiten, X, V) = equations.nu, terms

    def fastest(diagonal: np.ndarray) -> float:
        if not diagonal.any():
            return 0.0
        return float(np.linalg.eigvalsh(whiten * diagonal @ whiten.T).max())

    pushed = turned = 0.0
    if scene.handle is not None:
        i = equations.frames.index(scene.handle.body)
        r = X[i, :9].reshape(3, 3) @ scene.handle.point_B
        J = (V[i, :, 3:] + np.cross(V[i, :, :3], r)).T
        pushed, turned = (float(np.linalg.norm(whiten @ part.T, 2) ** 2) for part in (J, V[i, :, :3].T))
    energies = np.zeros(2)
    equations.kernels.energy(q, np.zeros(n), energies)
    return (
        fastest(damping),
        fastest(kd),
        fastest(kp),
        pushed,
        turned,
        0.5 * float(np.trace(M)),
        float(energies[1]),
    )
