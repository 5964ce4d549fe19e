"""The ``constraints:`` section: names are resolved to bodies, joints and shapes, kinds to rows."""

from __future__ import annotations

import numpy as np

from hapticsim.config.schema.constraints import (
    AnyConstraint,
    CircleGuide,
    ConstraintEntry,
    CurveGuide,
    DistanceConstraint,
    GearConstraint,
    HingeConstraint,
    LineGuide,
    LockConstraint,
    MotionConstraint,
    PlaneGuide,
    PointConstraint,
    RollingConstraint,
    WeldConstraint,
    WheelConstraint,
)
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model import constraints as rows
from hapticsim.model.constraints import Constraint, Friction, Row
from hapticsim.model.curve import smooth_curve
from hapticsim.model.curve_checks import CurveFault
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import ContactPair

SQUARE = 1e-3  # cosine of the angle of two directions that still count as square to each other

Place = tuple[str | int, ...]


def build_constraints(
    entries: list[AnyConstraint],
    model: SceneModel,
    contacts: tuple[ContactPair, ...],
    refuse: Refuse,
) -> tuple[Constraint, ...]:
    """Return the mechanism's own constraints, then those of the file, in its order."""
    made = list(model.constraints)
    for index, entry in enumerate(entries):
        place: Place = ("constraints", index)
        if entry.name in {c.name for c in made}:
            raise refuse((*place, "name"), f"= {entry.name!r} is taken: constraint names must be unique.")
        found = _rows(entry, model, place, refuse)
        made.append(
            Constraint(
                entry.name,
                found,
                entry.held,
                _friction(entry, len(found), made, place, refuse),
                _touch(entry, contacts, place, refuse),
            )
        )
    return tuple(made)


def _rows(entry: AnyConstraint, model: SceneModel, place: Place, refuse: Refuse) -> tuple[Row, ...]:
    match entry:
        case GearConstraint():
            for name, factor in entry.factors.items():
                _joint(name, model, (*place, "factors", name), refuse)
                if factor == 0.0:
                    raise refuse(
                        (*place, "factors", name),
                        "= 0 couples nothing: give a factor, or leave the joint out.",
                    )
            if len(entry.factors) < 2:
                raise refuse((*place, "factors"), "couples fewer than two joints: name two or more.")
            made = rows.joint_rows(tuple(entry.factors.items()), entry.offset or 0.0)
            return made if entry.offset is not None else tuple(_latched(row) for row in made)
        case LockConstraint():
            for i, name in enumerate(entry.joints):
                _joint(name, model, (*place, "joints", i), refuse)
            return rows.lock_rows(tuple(entry.joints))
        case MotionConstraint():
            _joint(entry.joint, model, (*place, "joint"), refuse)
            made = rows.motion_rows(
                entry.joint,
                entry.offset or 0.0,
                entry.speed_per_s,
                entry.amplitude,
                entry.angular_frequency_rad_per_s,
                entry.phase_rad,
            )
            return made if entry.offset is not None else tuple(_latched(row) for row in made)
    a, b = _bodies(entry.bodies, model, (*place, "bodies"), refuse)

    def vector(key: str) -> np.ndarray:
        return np.array(getattr(entry, key), dtype=float)

    def direction(key: str) -> np.ndarray:
        value = vector(key)
        if float(np.linalg.norm(value)) < 1e-9:
            raise refuse((*place, key), f"= {value.tolist()} has length zero: give it a direction.")
        return value

    match entry:
        case HingeConstraint():
            return rows.hinge_rows(
                a, vector("point_a_m"), direction("axis_a"), b, vector("point_b_m"), direction("axis_b")
            )
        case DistanceConstraint():
            return rows.distance_rows(a, vector("point_a_m"), b, vector("point_b_m"), entry.distance_m)
        case PlaneGuide():
            return rows.plane_rows(a, vector("point_a_m"), b, vector("point_b_m"), direction("normal_b"))
        case LineGuide():
            return rows.line_rows(a, vector("point_a_m"), b, vector("point_b_m"), direction("direction_b"))
        case CircleGuide():
            return rows.circle_rows(
                a, vector("point_a_m"), b, vector("point_b_m"), direction("normal_b"), entry.radius_m
            )
        case CurveGuide():
            try:
                curve = smooth_curve(vector("points_b_m").reshape(-1, 3), entry.closed)
            except CurveFault as fault:
                where = () if fault.point is None else (fault.point,)
                raise refuse((*place, "points_b_m", *where), fault.problem) from None
            return rows.curve_rows(a, vector("point_a_m"), b, curve)
        case WeldConstraint():
            return rows.weld_rows(a, entry.origin_a.placement(), b, entry.origin_b.placement())
        case RollingConstraint():
            along = None if entry.along_b is None else direction("along_b")
            normal = direction("normal_b")
            if along is not None and abs(along @ normal) > SQUARE * np.linalg.norm(along) * np.linalg.norm(
                normal
            ):
                raise refuse(
                    (*place, "along_b"),
                    f"= {along.tolist()} is not square to normal_b = {normal.tolist()}: give a direction in "
                    "the plane.",
                )
            return rows.rolling_rows(a, vector("centre_a_m"), entry.radius_m, b, normal, along)
        case WheelConstraint():
            return rows.skate_rows(a, vector("point_a_m"), direction("side_a"), b)
        case PointConstraint():
            return rows.point_rows(a, vector("point_a_m"), b, vector("point_b_m"))


def _latched(row: Row) -> Row:
    """The row, holding the displacement it finds when it is switched on."""
    return Row(row.kind, joints=row.joints, drive=row.drive, latch=True)


def _joint(name: str, model: SceneModel, place: Place, refuse: Refuse) -> None:
    names = [j.name for j in model.moving_joints if j.unit]
    if name not in names:
        raise refuse(
            place,
            f"= {name!r} is not a joint with one coordinate{nearest(name, names)}: they are {listed(names)}.",
        )


def _bodies(names: list[str], model: SceneModel, place: Place, refuse: Refuse) -> tuple[str, str]:
    carriers = (WORLD, *model.body_names)
    for i, name in enumerate(names):
        if name not in carriers:
            raise refuse(
                (*place, i),
                f"= {name!r} is not a body{nearest(name, carriers)}: the bodies are {listed(carriers)}.",
            )
    a, b = names
    if a == b:
        raise refuse(place, f"= [{a}, {b}] names one body twice: name two that can move against each other.")
    anchor = model.rigid_groups()
    if anchor[a] == anchor[b]:
        raise refuse(
            place,
            f"= [{a}, {b}] names two bodies that cannot move against each other: fixed joints hold them "
            "together; name others, or remove the constraint.",
        )
    return a, b


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
