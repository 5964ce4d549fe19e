"""Entries of ``contacts`` to pairs of shapes: patterns are resolved, and what cannot touch is refused.

A pattern leaves out what can hardly be meant: shapes that cannot move against each other, pairs named before,
and shapes of two links that a joint joins, which overlap where it is, and what the files of the robot
keep apart.  The world itself is no link.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from hapticsim.config.contacts.apart import Apart
from hapticsim.config.contacts.compliance import check_entry, check_pair, law_of
from hapticsim.config.schema.scene import MOST_CORNERS, ContactEntry
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.candidates import FACETED, HULLS, PAIRS, touching_as
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import ContactPair, Shape

MOST_PAIRS = 4096  # each has a candidate or more, looked at in every tick
AS_SOLID = {
    "cylinder": (24, "a prism"),
    "cone": (24, "a pyramid"),
    "ellipsoid": (12, "a solid with flat faces"),
}
MOST_LOOKED_AT = 250_000  # pairs that the two names of an entry may make; some are left out
Place = tuple[str | int, ...]
Pairs = list[tuple[Shape, Shape]]


def contact_pairs(
    entries: list[ContactEntry],
    shapes: tuple[Shape, ...],
    model: SceneModel,
    apart: Sequence[Apart],
    refuse: Refuse,
    notes: list[str],
) -> tuple[ContactPair, ...]:
    """Resolve the pairs; in each, the plane, or the solid that is touched, stands second.

    apart : what patterns do not pair.
    """
    anchor, are_neighbours = model.rigid_groups(), neighbours_of(model)
    pairs: list[ContactPair] = []
    seen: set[frozenset[str]] = set()
    count = 0
    for index, entry in enumerate(entries):
        place = ("contacts", index, "between")
        named = _pairs_of(entry.between, shapes, place, refuse)
        if any("*" in name for name in entry.between):
            kept = _without_left_out(entry, index, named, shapes, refuse)
            movable = [(a, b) for a, b in kept if anchor[a.body] != anchor[b.body]]
            new = [(a, b) for a, b in movable if _key(a, b) not in seen]
            distant = _without_neighbours(index, new, are_neighbours, notes)
            left = _without_apart(index, distant, apart, notes)
            if not left:
                by_files = f", files of the robot keep {len(distant)} apart" if distant else ""
                raise refuse(
                    place,
                    f"= {list(entry.between)} leaves no pair: leave_out takes {len(named) - len(kept)}, "
                    f"{len(kept) - len(movable)} cannot move, {len(movable) - len(new)} are there already, a "
                    f"joint joins {len(new) - len(distant)}{by_files}. Remove the entry, or name neighbours "
                    "without a *.",
                )
            _check_kinds(left, entry.between, place, refuse)
            named = left
        elif entry.leave_out:
            raise refuse(("contacts", index, "leave_out"), "goes with a * in 'between': remove it.")
        if entry.static_over_kinetic != 1.0 and entry.friction == 0.0:
            raise refuse(
                ("contacts", index, "static_over_kinetic"),
                f"= {entry.static_over_kinetic:g} is there without friction: give 'friction' as well.",
            )
        check_entry(entry, index, refuse)
        for a, b in named:
            a, b = (a, b) if _kinds(a, b) in PAIRS else (b, a)
            _check_pair(a, b, place, refuse)
            check_pair(entry, index, a, b, refuse)
            if anchor[a.body] == anchor[b.body]:
                raise refuse(
                    place,
                    f"= [{a.name}, {b.name}] pairs two shapes that cannot move against each other "
                    f"(on {a.body!r} and {b.body!r}): remove the pair.",
                )
            if _key(a, b) in seen:
                raise refuse(place, f"= [{a.name}, {b.name}] is there twice: keep one.")
            count += len(a.solids_for(b)) * len(b.solids_for(a))
            if count > MOST_PAIRS:
                of_solids = "" if count == len(pairs) + 1 else ", each hull of a decomposed mesh counted"
                raise refuse(place, f"makes more than {MOST_PAIRS} pairs of shapes{of_solids}: name fewer.")
            seen.add(_key(a, b))
            pairs.append(_pair(entry, a.name, b.name))
    return tuple(pairs)


def _pair(entry: ContactEntry, a: str, b: str) -> ContactPair:
    return ContactPair(
        a,
        b,
        restitution=float(entry.restitution),
        friction=float(entry.friction),
        static_over_kinetic=float(entry.static_over_kinetic),
        plastic_below=float(entry.plastic_below_m_per_s),
        compliance=law_of(entry.compliance) if entry.compliance else None,
    )


def _key(a: Shape, b: Shape) -> frozenset[str]:
    return frozenset((a.name, b.name))


def _pairs_of(names: list[str], shapes: tuple[Shape, ...], place: Place, refuse: Refuse) -> Pairs:
    """All pairs of a shape that the first name fits with one that the second fits, each once."""
    firsts, seconds = (_named(name, shapes, (*place, i), refuse) for i, name in enumerate(names))
    if len(firsts) * len(seconds) > MOST_LOOKED_AT:
        raise refuse(
            place,
            f"= {list(names)} makes {len(firsts)} x {len(seconds)} pairs of shapes, and at most "
            f"{MOST_LOOKED_AT} are looked at: name fewer.",
        )
    pairs: dict[frozenset[str], tuple[Shape, Shape]] = {}
    for a, b in itertools.product(firsts, seconds):
        if a is not b or names[0] == names[1] == a.name:  # a shape with itself only where it is named twice
            pairs.setdefault(_key(a, b), (a, b))
    return list(pairs.values())


def _without_left_out(
    entry: ContactEntry, index: int, named: Pairs, shapes: tuple[Shape, ...], refuse: Refuse
) -> Pairs:
    """The pairs that the entry does not leave out; each of ``leave_out`` must name one of them."""
    all_named = {_key(a, b) for a, b in named}
    left_out: set[frozenset[str]] = set()
    for number, names in enumerate(entry.leave_out):
        place = ("contacts", index, "leave_out", number)
        found = {_key(a, b) for a, b in _pairs_of(names, shapes, place, refuse) if a is not b}
        if not found & all_named:
            raise refuse(place, f"= {list(names)} is no pair of those that 'between' names: remove it.")
        left_out |= found
    return [(a, b) for a, b in named if _key(a, b) not in left_out]


def _without_neighbours(
    index: int, named: Pairs, are_neighbours: Callable[[str, str], bool], notes: list[str]
) -> Pairs:
    """The pairs of shapes whose bodies no joint joins; the others are noted."""
    joined = {_key(a, b) for a, b in named if are_neighbours(a.body, b.body)}
    if joined:
        pairs = f"{len(joined)} pairs" if len(joined) > 1 else "a pair"
        notes.append(
            f"contacts[{index}] leaves out {pairs} of shapes whose bodies a joint joins, as "
            f"{listed(min(joined, key=sorted))}: to have one touch, name both without a *."
        )
    return [(a, b) for a, b in named if _key(a, b) not in joined]


def _without_apart(index: int, named: Pairs, apart: Sequence[Apart], notes: list[str]) -> Pairs:
    """The pairs of shapes that no file of the robot keeps apart; the others are noted, rule by rule."""
    for rule in apart:
        kept_apart = {_key(a, b) for a, b in named if rule.keeps(a, b)}
        if kept_apart:
            pairs = f"{len(kept_apart)} pairs" if len(kept_apart) > 1 else "a pair"
            notes.append(
                f"contacts[{index}] leaves out {pairs} of shapes by {rule.said_by}, as "
                f"{listed(min(kept_apart, key=sorted))}: to have one touch, name both without a *."
            )
        named = [(a, b) for a, b in named if _key(a, b) not in kept_apart]
    return named


def neighbours_of(model: SceneModel) -> Callable[[str, str], bool]:
    """Return what tells whether a joint joins two bodies, or joints with massless bodies between.

    Bodies that are fixed to each other count as one, those that are fixed to the world as well; the world
    itself, to which a floor belongs, is nobody's neighbour.
    """
    group = model.rigid_groups()
    for link in model.links:  # parents first
        if group[link.child] == WORLD:
            group[link.child] = link.child if link.parent == WORLD else group[link.parent]
    links = [(group[link.child], group[link.parent]) for link in model.links]
    carrier = {child: parent for child, parent in links if child != parent}
    heavy = {group[body.name] for body in model.bodies if body.mass > 0.0}

    def carriers(child: str) -> set[str]:
        """What carries a group, up to the first that has mass."""
        found: set[str] = set()
        while (child := carrier[child]) != WORLD:
            found.add(child)
            if child in heavy:
                break
        return found

    carried_by = {child: carriers(child) for child in carrier} | {WORLD: set[str]()}

    def are_neighbours(a: str, b: str) -> bool:
        return group[b] in carried_by[group[a]] or group[a] in carried_by[group[b]]

    return are_neighbours


def _check_kinds(named: Pairs, between: list[str], place: Place, refuse: Refuse) -> None:
    """Refuse a pattern with pairs of kinds that cannot touch."""
    wrong = [(a, b) for a, b in named if _kinds(a, b) not in PAIRS and _kinds(b, a) not in PAIRS]
    if wrong:
        a, b = wrong[0]
        others = f" and {len(wrong) - 1} more" if len(wrong) > 1 else ""
        raise refuse(
            place,
            f"= {list(between)} makes [{a.name}, {b.name}], {_not_supported(a, b)}; leave out this pair"
            f"{others} by leave_out, or name fewer.",
        )


def _kinds(a: Shape, b: Shape) -> tuple[str, str]:
    """The kinds of two shapes as they touch one another."""
    a, b = touching_as(a, b)
    return a.kind, b.kind


def _not_supported(a: Shape, b: Shape) -> str:
    """That two kinds cannot touch, and what each may touch; of one that may have sides that it lacks them."""
    pair = f"{_one(a.kind)} with {_one(b.kind)}"
    bare = [k for k in _kinds(a, b) if k in FACETED]
    if bare:
        sides, solid = AS_SOLID[bare[0]]
        of_robot = "" if bare[0] == "cone" else " (of a robot: corners: 48 at robot.urdf or robot.mjcf)"
        return (
            f"{pair}, and {_one(bare[0])} without sides touches spheres and planes alone: "
            f"write sides: {sides} at the {bare[0]}, and others touch it as {solid}{of_robot}"
        )
    may = "; ".join(f"{_one(k)} may touch {_partners(k)}" for k in dict.fromkeys((a.kind, b.kind)))
    return f"{pair}, which is not supported: {may}"


def _one(kind: str) -> str:
    """A kind of shape with its article."""
    return f"an {kind}" if kind == "ellipsoid" else f"a {kind}"


def _check_pair(a: Shape, b: Shape, place: Place, refuse: Refuse) -> None:
    """Refuse two kinds of shape that cannot touch."""
    if _kinds(a, b) not in PAIRS:
        raise refuse(place, f"= [{b.name}, {a.name}] pairs {_not_supported(b, a)}.")
    for hull, other in ((a, b), (b, a)):
        if hull.kind == "mesh" and other.kind in ("plane", "capsule", *FACETED, *HULLS):
            _check_hull(hull, other, place, refuse)


def _partners(kind: str) -> str:
    """What a kind of shape may touch."""
    kinds = sorted({a if b == kind else b for a, b in PAIRS if kind in (a, b)})
    words = {(k, "mesh"): "a convex mesh" for k in ("plane", "capsule", *HULLS)}
    words |= {("mesh", k): f"a {k} if it is convex" for k in ("plane", "capsule", "box")}
    return ", ".join(words.get((kind, k), _one(k)) for k in kinds)


def _check_hull(hull: Shape, other: Shape, place: Place, refuse: Refuse) -> None:
    """Refuse a mesh that is not convex, or has too many corners, where its corners are to touch."""
    assert hull.mesh is not None
    if hull.solids:
        return
    found = "" if len(hull.mesh.vertices) <= MOST_CORNERS else f"has {len(hull.mesh.vertices)} corners"
    if found or not hull.mesh.is_convex:
        raise refuse(
            place,
            f"= [{hull.name}, {other.name}] has the mesh {hull.name!r} touch {_one(other.kind)}, and it "
            f"{found or 'is not convex'}: give it convex: true and corners: a number up to {MOST_CORNERS}, "
            "or decompose: {} (of a robot: robot.urdf or robot.mjcf).",
        )


def _named(name: str, shapes: tuple[Shape, ...], place: Place, refuse: Refuse) -> list[Shape]:
    """The shape of a name, or all that it fits where it has a ``*``."""
    found = [s for s in shapes if s.name == name] or [
        s for s in shapes if "*" in name and fnmatchcase(s.name, name.replace("[", "[[]").replace("?", "[?]"))
    ]
    if not shapes:
        raise refuse(place, f"= {name!r} is not a shape: the scene has none; add it under 'shapes'.")
    if not found:
        valid = [s.name for s in shapes]
        raise refuse(
            place, f"= {name!r} is not a shape{nearest(name, valid)}: the shapes are {listed(valid)}."
        )
    return found
