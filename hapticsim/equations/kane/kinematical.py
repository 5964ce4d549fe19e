"""The kinematical differential equations, solved for the rates of the coordinates.

Gillespie, Haptics-e 3(2) (2003), Eq. (2): a user gives as many equations in q, qdot and u as there are
coordinates.  Those that name one rate each are solved as they stand; others in the smallest groups that
belong together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sympy

from hapticsim.equations.kane.parts import Variables
from hapticsim.errors import ConfigError

KEY = "kinematics"
SIMPLIFIED_UP_TO = 3  # rates in a group whose inverse is written out and simplified


def solve_for_rates(
    equations: Sequence[Any], x: Variables, names: Sequence[str], refuse: Callable[[str, str], ConfigError]
) -> list[Any]:
    """Return qdot as expressions in q and u, in the order of the coordinates.

    equations : expressions in plain symbols that are zero.
    names : of the coordinates, for refusals.
    """
    n = len(x.q)
    if len(equations) != n:
        raise refuse(
            KEY,
            f"has {len(equations)} equations for {n} coordinates ({', '.join(names)}): give one for each.",
        )
    K = sympy.Matrix(n, n, lambda i, j: sympy.diff(equations[i], x.rates[j]))
    moving = {*x.rates, *x.u}
    for i, e in enumerate(equations):
        partials = [*K.row(i), *(sympy.diff(e, u) for u in x.u)]
        if any(p.free_symbols & moving and sympy.simplify(p).free_symbols & moving for p in partials):
            raise refuse(f"{KEY}[{i}]", "is not affine in rates and speeds: kinematical equations must be.")
    nowhere = [names[j] for j in range(n) if all(entry == 0 for entry in K.col(j))]
    if nowhere:
        raise _undetermined(refuse, nowhere)
    at_rest = dict.fromkeys(x.rates, sympy.S.Zero)
    rest = [e.xreplace(at_rest) for e in equations]
    solved: list[Any] = [None] * n
    for rows, columns in _groups(K):
        group = [names[j] for j in columns]
        if not columns:
            raise refuse(f"{KEY}[{rows[0]}]", "has no rate of a coordinate in it: every equation needs one.")
        if len(rows) != len(columns):
            raise _undetermined(refuse, group)
        if len(rows) == 1:
            i, j = rows[0], columns[0]
            solved[j] = -rest[i] / K[i, j]
            continue
        inverse = _inverse(K.extract(rows, columns))
        if inverse is None:
            raise _undetermined(refuse, group)
        values = -inverse * sympy.Matrix([rest[i] for i in rows])
        for j, value in zip(columns, values, strict=True):
            solved[j] = value
    return solved


def _undetermined(refuse: Callable[[str, str], ConfigError], names: Sequence[str]) -> ConfigError:
    return refuse(KEY, f"does not determine the rate of {', '.join(names)}: every rate must follow from u.")


def _inverse(K: Any) -> Any:
    if K.rows <= SIMPLIFIED_UP_TO:
        determinant = sympy.simplify(K.det())
        return None if determinant == 0 else (K.adjugate() / determinant).applyfunc(sympy.simplify)
    if sympy.simplify(K.det(method="berkowitz")) == 0:
        return None
    return K.LUsolve(sympy.eye(K.rows))


def _groups(K: Any) -> list[tuple[list[int], list[int]]]:
    """Return the equations and the rates that belong together, through entries that are not zero."""
    n = K.rows
    left, groups = set(range(n)), []
    while left:
        rows, columns, open_rows = [], [], [min(left)]
        left.discard(open_rows[0])
        while open_rows:
            i = open_rows.pop()
            rows.append(i)
            for j in range(n):
                if K[i, j] != 0 and j not in columns:
                    columns.append(j)
                    more = [k for k in sorted(left) if K[k, j] != 0]
                    open_rows += more
                    left -= set(more)
        groups.append((sorted(rows), sorted(columns)))
    return groups
