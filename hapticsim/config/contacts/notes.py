"""What contacts, rolling constraints and stops of a scene do not do, one sentence each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hapticsim.codes import ROLL_ROW
from hapticsim.model.candidates import PAIRS, touching_as
from hapticsim.model.constraints import Constraint
from hapticsim.model.scene import ContactPair, Scene, Shape
from hapticsim.model.stops import stopped_joints


def contact_notes(
    shapes: Sequence[Shape],
    contacts: Sequence[ContactPair],
    constraints: Sequence[Constraint],
    max_rows: int | None,
    may_step: bool,
) -> list[str]:
    """Return the notes of a scene in which at most ``max_rows`` rows are imposed at once; None: no limit.

    may_step : a tick that asks for more becomes a time step.
    """
    by_name = {s.name: s for s in shapes}
    pairs = [(by_name[c.a], by_name[c.b]) for c in contacts]
    told = _rows(pairs, constraints, max_rows, may_step) if max_rows is not None else []
    return [*told, *_rolling(pairs, constraints)]


def _rows(
    pairs: Sequence[tuple[Shape, Shape]], constraints: Sequence[Constraint], max_rows: int, may_step: bool
) -> Iterable[str]:
    """More rows than can be imposed at once."""
    most = sum(_rows_of(a, b) for a, b in pairs)
    most += sum(len(c.rows) for c in constraints)
    if most > max_rows and may_step:
        yield (
            f"contacts may ask for {most} rows at once, and {max_rows} can be imposed: a tick with more "
            "becomes a time step, with an event; 'max_rows' allows more, and with 'contact_regime: "
            "time_stepping' every tick is one."
        )
    elif most > max_rows:
        yield (
            f"contacts and constraints may ask for {most} rows at once, and {max_rows} can be imposed: a "
            "contact beyond that is left out, with an event and without force on the hand, and a constraint "
            "is refused; 'max_rows' allows more"
            + ("." if constraints else ", and 'contact_regime: time_stepping' has no such limit.")
        )


def _rows_of(a: Shape, b: Shape) -> int:
    """Rows that a pair may take at once."""
    a, b = touching_as(a, b)
    solids = a.solids_for(b)
    if b.kind == "plane":
        return sum(
            s.mesh.most_in_a_face if s.mesh is not None else PAIRS[a.kind, "plane"].rows for s in solids
        )
    kinds = (a.kind, b.kind)
    return len(solids) * len(b.solids_for(a)) * PAIRS[kinds if kinds in PAIRS else (b.kind, a.kind)].rows


def _rolling(pairs: Sequence[tuple[Shape, Shape]], constraints: Sequence[Constraint]) -> Iterable[str]:
    """What rolls, and is kept on its plane by nothing but joints."""
    kept = [{a.body, b.body} for a, b in pairs]
    kept += [{row.a, row.b} for c in constraints for row in c.rows if row.kind != ROLL_ROW and row.a != row.b]
    for constraint in constraints:
        row = constraint.rows[0]
        if row.kind == ROLL_ROW and {row.a, row.b} not in kept:
            yield (
                f"constraint {constraint.name!r} keeps {row.a!r} from slipping, and not on its plane: unless "
                "joints do that, it sinks or lifts; add a contact, or a constraint of kind 'plane', between "
                f"{row.a!r} and {row.b!r}."
            )


def stop_notes(scene: Scene) -> list[str]:
    """Return the notes of a scene that asks for stops: joints that get none though they have a range."""
    ranges = scene.model.ranges
    empty = [joint for joint, (low, high) in ranges.items() if not low < high]
    notes = [f"joint_stops: the range of {', '.join(empty)} is empty, so no stop holds it."] if empty else []
    if not stopped_joints(scene):
        notes.append("joint_stops: no joint has a range with an end, so nothing stops.")
    return notes
