"""The functions that every robot's equations offer, written once over any scalar.

Run on floats they are the reference, run on traced scalars they become code.  Each takes the tree, the frames
asked for and its input arrays, and returns its output arrays as nested lists.  ``CATALOGUE`` is the list of
them.

Arrays (SI units; W world axes, B a body's frame, its origin the point meant):

    q      (nq,)          generalized coordinates       u      (nu,)   generalized speeds
    udot   (nu,)          their rates                   tau    (nu,)   generalized forces
    M      (nu, nu)       mass matrix, symmetric        h      (nu,)   bias: M udot + h = tau
    X      (n, 12)        R_WB by rows, then p_WB       qdot   (nq,)   W(q) u
    V      (nf, nu, 6)    partial angular velocity and partial velocity per speed, world axes
    vel    (nf, 6)        omega_WB and v_WB, world axes
    acc    (nf, 6)        the part of their rates without udot (ordinary acceleration of the origin), without
    gravity
    F      (size,)        what one q leaves for all its responses (``impulse_response.py``)
    x      (nu,)          M^-1 tau

What M and V hold between trees is 0; for ``kane`` and ``kinematics`` it has to be before (``forest.py``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hapticsim.equations.scalars.precision import precision_of
from hapticsim.equations.scalars.spatial import Vector, square_root, zeros
from hapticsim.equations.scalars.trace import Trace
from hapticsim.equations.tree import impulse_response as response
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.frames import frame_motion, frame_pose, partial_velocities
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.model.moving import MovingTree

Outputs = dict[str, Any]


@dataclass(frozen=True)
class Entry:
    """One function: its arguments in order, inputs first, and what it computes."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    build: Callable[..., Outputs]  # build(tree, frames, *inputs) -> {output name: nested lists}

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names in the order of the call; an array changed in place is named once."""
        return tuple(dict.fromkeys(self.inputs + self.outputs))


def shapes_of(
    name: str, tree: MovingTree, frames: Sequence[str], entries: Mapping[str, Entry] | None = None
) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a function's arguments, in the order of the call.

    entries : where the name stands, the catalogue if not given.
    """
    nf = len(tree.where) if name == "poses" else len(frames)
    known: dict[str, tuple[int, ...]] = {
        **dict.fromkeys(("q", "qdot", "qnew"), (tree.nq,)),
        **dict.fromkeys(("u", "tau", "udot", "h", "g", "delta", "b", "x", "y"), (tree.nu,)),
        "M": (tree.nu, tree.nu),
        "X": (nf, 12),
        "V": (nf, tree.nu, 6),
        "vel": (nf, 6),
        "acc": (nf, 6),
        "out": (2,),
    }
    arguments = (entries or CATALOGUE)[name].arguments
    if "F" in arguments:
        known["F"] = (response.factor_size(tree),)
    return {argument: known[argument] for argument in arguments}


def traced(
    name: str,
    tree: MovingTree,
    frames: Sequence[str],
    precision: str = "float64",
    entries: Mapping[str, Entry] | None = None,
) -> tuple[Trace, Outputs]:
    """Return the operations of a function for one robot, and its outputs as traced values."""
    trace = Trace(precision_of(precision))
    shapes, entry = shapes_of(name, tree, frames, entries), (entries or CATALOGUE)[name]
    inputs = [trace.inputs(array, shapes[array][0]) for array in entry.inputs]
    return trace, entry.build(tree, frames, *inputs)


# Dimensions of the arrays, which are all the signature of a function depends on.
DIMENSIONS = {**dict.fromkeys(("M", "X", "vel", "acc"), 2), "V": 3}


def forward_dynamics(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector, tau: Vector) -> Outputs:
    """udot by ABM, joint damping not included."""
    return {"udot": recursions.forward_dynamics(Linkage(tree, q), u, tau)}


def inverse_dynamics(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector, udot: Vector) -> Outputs:
    """tau by RNEA."""
    return {"tau": recursions.inverse_dynamics(Linkage(tree, q), u, udot)}


def mass_matrix(tree: MovingTree, frames: Sequence[str], q: Vector) -> Outputs:
    """M by CRBM."""
    return {"M": recursions.mass_matrix(Linkage(tree, q))}


def bias(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """h by RNEA."""
    return {"h": recursions.inverse_dynamics(Linkage(tree, q), u, None)}


def gravity_force(tree: MovingTree, frames: Sequence[str], q: Vector) -> Outputs:
    """The generalized forces that hold the robot still against gravity: the bias at u = 0."""
    return {"g": recursions.inverse_dynamics(Linkage(tree, q), zeros(tree.nu), None)}


def energy(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """Kinetic and potential energy [J]."""
    return {"out": list(recursions.energy(Linkage(tree, q), u))}


def poses(tree: MovingTree, frames: Sequence[str], q: Vector) -> Outputs:
    """X of every body of the model, in model order."""
    moving = recursions.poses(Linkage(tree, q))
    return {"X": [_pose_row(*frame_pose(tree, moving, name)) for name in tree.where]}


def kinematics(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """Kane's kinematical quantities of the frames."""
    link = Linkage(tree, q)
    v, c = link.velocities(u)
    return {
        "qdot": recursions.rates(link, u),
        **_frame_outputs(link, frames, v, link.accelerations(c, zeros(6))),
    }


def kane(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector) -> Outputs:
    """Everything a constrained step asks for: kinematics, M and h, sharing what they share."""
    link = Linkage(tree, q)
    v, c = link.velocities(u)
    return {
        "qdot": recursions.rates(link, u),
        "M": recursions.mass_matrix(link),
        "h": recursions.forces_of_motion(link, v, link.accelerations(c, link.upwards)),
        **_frame_outputs(link, frames, v, link.accelerations(c, zeros(6))),
    }


def displace(tree: MovingTree, frames: Sequence[str], q: Vector, delta: Vector) -> Outputs:
    """qnew = q + W(q) delta, quaternions back to unit length."""
    moved = [a + b for a, b in zip(q, recursions.rates(Linkage(tree, q), delta), strict=True)]
    return {"qnew": _normalised(tree, moved)}


def normalise(tree: MovingTree, frames: Sequence[str], q: Vector) -> Outputs:
    """Quaternions to unit length, in place."""
    return {"q": _normalised(tree, list(q))}


def response_factor(tree: MovingTree, frames: Sequence[str], q: Vector) -> Outputs:
    """F: what the responses at q share."""
    return {"F": response.response_factor(tree, q)}


def impulse_response(tree: MovingTree, frames: Sequence[str], F: Vector, tau: Vector) -> Outputs:
    """x = M^-1 tau: speeds after an impulse tau from rest, or accelerations at rest without gravity."""
    return {"x": response.response(tree, F, tau)}


CATALOGUE: dict[str, Entry] = {
    "forward_dynamics": Entry(("q", "u", "tau"), ("udot",), forward_dynamics),
    "inverse_dynamics": Entry(("q", "u", "udot"), ("tau",), inverse_dynamics),
    "mass_matrix": Entry(("q",), ("M",), mass_matrix),
    "bias": Entry(("q", "u"), ("h",), bias),
    "gravity_force": Entry(("q",), ("g",), gravity_force),
    "energy": Entry(("q", "u"), ("out",), energy),
    "poses": Entry(("q",), ("X",), poses),
    "kinematics": Entry(("q", "u"), ("qdot", "X", "V", "vel", "acc"), kinematics),
    "kane": Entry(("q", "u"), ("qdot", "M", "h", "X", "V", "vel", "acc"), kane),
    "displace": Entry(("q", "delta"), ("qnew",), displace),
    "normalise": Entry(("q",), ("q",), normalise),
    "response_factor": Entry(("q",), ("F",), response_factor),
    "response": Entry(("F", "tau"), ("x",), impulse_response),
}


def _frame_outputs(link: Linkage, frames: Sequence[str], v: list[Vector], a: list[Vector]) -> Outputs:
    moving = recursions.poses(link)
    motions = [frame_motion(link.tree, moving, v, a, name) for name in frames]
    return {
        "X": [_pose_row(*frame_pose(link.tree, moving, name)) for name in frames],
        "V": [partial_velocities(link, moving, name) for name in frames],
        "vel": [velocity for velocity, _ in motions],
        "acc": [acceleration for _, acceleration in motions],
    }


def _pose_row(R: list[Vector], p: Vector) -> Vector:
    return [*R[0], *R[1], *R[2], *p]


def _normalised(tree: MovingTree, q: Vector) -> Vector:
    for k in tree.quaternions:
        w, x, y, z = quaternion = q[k : k + 4]
        shrink = 1.0 / square_root(w * w + x * x + y * y + z * z)
        q[k : k + 4] = [shrink * e for e in quaternion]
    return q
