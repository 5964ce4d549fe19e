"""Equality constraints of a compiled MJCF file as constraints: exact here, where MuJoCo's are springs.

Displacements of joints count from where the file draws the robot, in MuJoCo's polynomials as here.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from hapticsim.model.constraints import Constraint, Row, joint_rows, point_rows, weld_rows
from hapticsim.model.mjcf.naming import Names
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import rotation_of

CONNECT, WELD, JOINT, TENDON = range(4)  # mjtEq
BODY, SITE = 1, 6  # mjtObj
JOINT_WRAP = 1  # mjtWrap
TORQUE_SCALE = 10  # where it stands in the data of a weld

Factors = list[tuple[str, float]]


def constraints_of(mj: Any, names: Names, notes: list[str]) -> tuple[Constraint, ...]:
    """Return a constraint for each equality that can be one; notes gets a line on each that cannot."""
    made: list[Constraint] = []
    for e in range(mj.neq):
        name = names.equalities[e]
        rows = _rows(mj, names, e)
        if isinstance(rows, str):
            notes.append(f"the equality {name!r} is left out: {rows}.")
        else:
            made.append(Constraint(name, rows, bool(mj.eq_active0[e])))
    return tuple(made)


def _rows(mj: Any, names: Names, e: int) -> tuple[Row, ...] | str:
    """The rows of an equality, or why it has none here."""
    match int(mj.eq_type[e]):
        case k if k in (CONNECT, WELD):
            return _two_frames(mj, names, e)
        case k if k in (JOINT, TENDON):
            return _sum(mj, names, e)
    return "its kind is not offered"


def _two_frames(mj: Any, names: Names, e: int) -> tuple[Row, ...] | str:
    """Rows of a point or a frame in common, said by bodies or by sites."""
    ids, data = (int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])), mj.eq_data[e]
    weld = mj.eq_type[e] == WELD
    if mj.eq_objtype[e] == SITE:
        bodies = tuple(int(mj.site_bodyid[i]) for i in ids)
        X_A, X_B = (Placement(rotation_of(mj.site_quat[i]), np.array(mj.site_pos[i])) for i in ids)
    else:
        bodies = ids
        points = (data[3:6], data[0:3]) if weld else (data[0:3], data[3:6])
        turned = rotation_of(data[6:10]) if weld else np.eye(3)
        X_A, X_B = Placement(turned, np.array(points[0])), Placement(np.eye(3), np.array(points[1]))
    if mj.body_weldid[bodies[0]] == mj.body_weldid[bodies[1]]:
        return "its bodies cannot move against each other"
    a, b = (names.bodies[i] for i in bodies)
    if weld and data[TORQUE_SCALE] != 0.0:
        return weld_rows(a, X_A, b, X_B)
    return point_rows(a, X_A.translation, b, X_B.translation)  # a weld without torque holds a point


def _sum(mj: Any, names: Names, e: int) -> tuple[Row, ...] | str:
    """A row in which displacements of joints, times factors, keep their sum."""
    constant, slope, *higher = mj.eq_data[e][:5].tolist()
    first, second = int(mj.eq_obj1id[e]), int(mj.eq_obj2id[e])
    if second >= 0 and any(higher):
        return "it is a polynomial of degree 2 or above"
    of_one = _of_joint if mj.eq_type[e] == JOINT else _of_tendon
    terms = [of_one(mj, names, first), [] if second < 0 else of_one(mj, names, second)]
    if any(term is None for term in terms):
        return "its tendon runs along sites"
    total: Counter[str] = Counter()
    for term, factor in zip(terms, (1.0, -slope), strict=True):
        for name, coefficient in term or []:
            total[name] += factor * coefficient
    factors = tuple((name, float(factor)) for name, factor in total.items() if factor != 0.0)
    if not factors:
        return "it couples nothing"
    return joint_rows(factors, float(constant))


def _of_joint(mj: Any, names: Names, j: int) -> Factors | None:
    return [(names.joints[j], 1.0)]


def _of_tendon(mj: Any, names: Names, t: int) -> Factors | None:
    """Joints of a fixed tendon with their coefficients; None of a spatial one."""
    places = range(mj.tendon_adr[t], mj.tendon_adr[t] + mj.tendon_num[t])
    if any(mj.wrap_type[w] != JOINT_WRAP for w in places):
        return None
    return [(names.joints[mj.wrap_objid[w]], float(mj.wrap_prm[w])) for w in places]
