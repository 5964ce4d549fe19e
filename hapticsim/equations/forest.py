"""Equations of many bodies: trees that differ in their numbers and places only are written and compiled once.

A forest of 64 equal cubes has 64 times the lines of one, and compiles that much longer.  So its source has
one straight-line function for each kind of tree, which is called for each tree at its place in the arrays,
with its own numbers.  The bits are those of the lines written out; but where one tree has a follower, it
alone is solved by its mass matrix, and not the whole forest.

What M and V hold between trees is 0.  The functions of a tick, which get the same arrays at every stage, do
not write it again: of 64 cubes that is 98 % of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from hapticsim.equations.catalogue import shapes_of, traced
from hapticsim.equations.codegen.emit import Constants, join_module, kind_lines
from hapticsim.model.moving import MovingTree

COUNT_OF = {  # by which count an array's entries of a tree begin, dimension by dimension
    **dict.fromkeys(("q", "qdot", "qnew"), ("q",)),
    **dict.fromkeys(("u", "tau", "udot", "h", "g", "delta"), ("u",)),
    "M": ("u", "u"),
    "X": ("frame",),
    "vel": ("frame",),
    "acc": ("frame",),
    "V": ("frame", "u"),
}
BETWEEN_TREES = ("M", "V")  # have entries of one tree and the speeds of another, which are 0
OF_TICKS = ("kane", "kinematics")  # get arrays that hold these zeros
WHOLE = ("energy", "response_factor", "response")  # what is no list of numbers, one tree's after another's


@dataclass(frozen=True)
class Part:
    """A tree of a forest, or what is fixed to the world, by itself, and where it begins in the whole."""

    tree: MovingTree
    frames: tuple[str, ...]
    start: dict[str, int]  # q, u, frame


def parts_of(tree: MovingTree, frames: Sequence[str]) -> list[Part]:
    """Return the trees of a forest with their frames; no part where these are mixed, or there is one tree.

    frames : in the order of the arrays; those of a tree must stand side by side.
    """
    root = [0] * len(tree.bodies)  # of each body the first one of its tree
    for i, body in enumerate(tree.bodies):
        root[i] = i if body.parent < 0 else root[body.parent]
    leaders = {(b.q_start, b.u_start): root[i] for i, b in enumerate(tree.bodies) if b.ratio == 1.0}
    if any(leaders.get((b.q_start, b.u_start), root[i]) != root[i] for i, b in enumerate(tree.bodies)):
        return []  # a joint follows one of another tree
    roots = [of_it for of_it, _ in groupby(root)]

    def root_of(frame: str) -> int:
        index, _ = tree.place_of(frame)
        return root[index] if index >= 0 else -1

    runs = [(of_it, tuple(names)) for of_it, names in groupby(frames, root_of)]
    moved = [of_it for of_it, _ in runs if of_it >= 0]
    if len(roots) < 2 or len(set(roots)) < len(roots) or moved != sorted(set(moved)):
        return []
    parts, q, u, frame = [], 0, 0, 0
    for of_it, names in _in_order(roots, runs):
        part = _alone(tree, [i for i, r in enumerate(root) if r == of_it], q, u)
        part = replace(part, where={name: part.where[name] for name in names})
        parts.append(Part(part, names, {"q": q, "u": u, "frame": frame}))
        q, u, frame = q + part.nq, u + part.nu, frame + len(names)
    return parts


def _in_order(
    roots: Sequence[int], runs: Iterable[tuple[int, tuple[str, ...]]]
) -> list[tuple[int, tuple[str, ...]]]:
    """Return trees (-1: what is fixed) with their frames, so that both stand in their order."""
    ordered: list[tuple[int, tuple[str, ...]]] = []
    left = list(roots)
    for of_it, names in runs:
        while of_it >= 0 and left[0] != of_it:
            ordered.append((left.pop(0), ()))
        if of_it >= 0:
            left.pop(0)
        ordered.append((of_it, names))
    return ordered + [(of_it, ()) for of_it in left]


def _alone(tree: MovingTree, indices: Sequence[int], q: int, u: int) -> MovingTree:
    """Return a tree of a forest by itself; without indices what is fixed to the world."""
    place = {-1: -1} | {i: k for k, i in enumerate(indices)}
    bodies = tuple(
        replace(b, parent=place[b.parent], q_start=b.q_start - q, u_start=b.u_start - u)
        for b in (tree.bodies[i] for i in indices)
    )
    own = [b for b in bodies if b.joint.mimic is None]
    nq, nu = sum(b.joint.nq for b in own), sum(b.joint.nu for b in own)
    return replace(
        tree,
        bodies=bodies,
        where={
            name: (place[i], X)
            for name, (i, X) in tree.where.items()
            if i in place and (i >= 0) == bool(bodies)
        },
        nq=nq,
        nu=nu,
        quaternions=tuple(k - q for k in tree.quaternions if q <= k < q + nq),
        has_followers=len(own) < len(bodies),
    )


def generate_forest(name: str, tree: MovingTree, frames: Sequence[str], about: str) -> str | None:
    """Return the source of a function of the catalogue for a forest, or None: it is written out as a whole.

    about : one line for the docstring.
    """
    if name in WHOLE:
        return None
    if name == "poses":
        frames = tuple(tree.where)
    parts = parts_of(tree, frames)
    if not parts:
        return None
    shapes = shapes_of(name, tree, frames)
    numbers = Constants()
    places: dict[tuple[str, ...], list[tuple[int | tuple[int, ...], ...]]] = {}
    cleared = [array for array in BETWEEN_TREES if array in shapes and name not in OF_TICKS]
    for part in parts:
        trace, outputs = traced(name, part.tree, part.frames)
        own = Constants()
        lines = tuple(kind_lines(trace, outputs, cleared, own))
        starts = tuple(tuple(part.start[count] for count in COUNT_OF[array]) for array in shapes)
        places.setdefault(lines, []).append((len(numbers.numbers), *starts))
        numbers.numbers += own.numbers
    arguments = ", ".join(shapes)
    shaped = ", ".join(f"{array}={tuple(shape)}" for array, shape in shapes.items())
    functions, calls = [numbers.lines()] if numbers.numbers else [["numbers = ()"]], []
    if cleared:
        kept = ", ".join(f"{array}={tuple(shapes[array])}" for array in cleared)
        body = [f"    {array}[:] = 0.0" for array in cleared]
        functions.append([f"@straight_line({kept})", f"def clear({', '.join(cleared)}):", *body])
        calls.append(f"    clear({', '.join(cleared)})")
    for k, (lines, where) in enumerate(places.items()):
        functions.append(
            [
                f"@straight_line_at(({', '.join(map(repr, where))},), numbers, {shaped})",
                f"def kind_{k}(numbers, {arguments}):",
                *(f"    {line}" for line in lines or ("pass",)),
            ]
        )
        calls.append(f"    kind_{k}({arguments})")
    functions.append([f"def {name}({arguments}):", *calls])
    imports = ["from hapticsim.equations.codegen.straightline import straight_line_at"]
    return join_module(about, trace.precision, imports, functions)
