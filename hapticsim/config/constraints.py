"""The ``constraints:`` section: what each kind makes of its entry, and what slips, breaks or engages."""

from __future__ import annotations

from hapticsim.config.row_maker import Place, RowMaker
from hapticsim.config.schema.constraint_entry import ConstraintEntry
from hapticsim.config.schema.constraints import AnyConstraint
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.constraints import Constraint, Friction
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import ContactPair


def build_constraints(
    entries: list[AnyConstraint],
    model: SceneModel,
    of_robot: tuple[Constraint, ...],
    contacts: tuple[ContactPair, ...],
    refuse: Refuse,
) -> tuple[Constraint, ...]:
    """Return the mechanism's own constraints, those of the robot's file, then the scene's, in its order."""
    made = [*model.constraints, *of_robot]
    for index, entry in enumerate(entries):
        place: Place = ("constraints", index)
        if entry.name in {c.name for c in made}:
            raise refuse((*place, "name"), f"= {entry.name!r} is taken: constraint names must be unique.")
        rows = entry.rows(RowMaker(entry, model, place, refuse))
        made.append(
            Constraint(
                entry.name,
                rows,
                entry.held,
                _friction(entry, len(rows), made, place, refuse),
                _touch(entry, contacts, place, refuse),
            )
        )
    return tuple(made)


def _friction(
    entry: ConstraintEntry, rows_taken: int, above: list[Constraint], place: Place, refuse: Refuse
) -> Friction | None:
    if entry.break_N is not None and entry.friction is not None:
        raise refuse((*place, "break_N"), "is there beside friction: give one of the two.")
    key = "friction" if entry.friction is not None else "break_N"
    if (entry.friction is not None or entry.break_N is not None) and rows_taken != 1:
        raise refuse(
            (*place, key), f"needs a constraint of one row, this one has {rows_taken}: leave it out."
        )
    if entry.break_N is not None:
        return Friction(1.0, 0.0, entry.break_N)
    friction = entry.friction
    if friction is None:
        return None
    if (friction.normal_N is None) == (friction.normal is None):
        raise refuse((*place, "friction"), "needs either normal_N or normal: give one of the two.")
    if friction.kinetic > friction.static:
        raise refuse(
            (*place, "friction", "kinetic"),
            f"= {friction.kinetic:g} is above static = {friction.static:g}: it must be at most that.",
        )
    if friction.normal is not None:
        _check_normal(friction.normal, above, (*place, "friction", "normal"), refuse)
    return Friction(friction.static, friction.kinetic, friction.normal_N or 0.0, friction.normal)


def _check_normal(name: str, above: list[Constraint], place: Place, refuse: Refuse) -> None:
    """Refuse a normal force that is not the force of one row: of several, no single number is normal."""
    counts = {c.name: len(c.rows) for c in above}
    if name not in counts:
        raise refuse(
            place,
            f"= {name!r} is not a constraint above this one{nearest(name, counts)}: "
            f"{'they are ' + listed(counts) if counts else 'there are none'}.",
        )
    if counts[name] != 1:
        single = [n for n, count in counts.items() if count == 1]
        raise refuse(
            place,
            f"= {name!r} is a constraint of {counts[name]} rows: name one of one row, "
            f"{'they are ' + listed(single) if single else 'there are none above this one'}.",
        )


def _touch(
    entry: ConstraintEntry, contacts: tuple[ContactPair, ...], place: Place, refuse: Refuse
) -> tuple[str, str] | None:
    if entry.engage_on_touch is None:
        return None
    wanted = set(entry.engage_on_touch)
    for pair in contacts:
        if wanted == {pair.a, pair.b}:
            return pair.a, pair.b
    raise refuse(
        (*place, "engage_on_touch"),
        f"= {entry.engage_on_touch} is not among the contacts: list the two shapes under contacts.",
    )
