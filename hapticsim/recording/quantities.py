"""What the columns of a recording are: names that people use, units, and what each number says.

The table is written into the file with the rows, so that a recording explains itself.  A file without one
(hapticsim up to 0.1) gets what its column names tell.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from hapticsim.errors import ConfigError, nearest

UNITS = {  # of column names that end in it, in files without a table; the longest first
    "_Nms_per_rad": "N m s/rad", "_Nm_per_rad": "N m/rad", "_rad_per_s": "rad/s", "_Ns_per_m": "N s/m",
    "_N_per_m": "N/m", "_m_per_s": "m/s", "_Nm": "N m",
    "_us": "us", "_N": "N", "_m": "m", "_s": "s", "_J": "J",
}  # fmt: skip
PARTS = re.compile(r"(force_N\[.*)\.\d+\]")  # a candidate of a pair of shapes that has several


@dataclass(frozen=True)
class Quantity:
    """A named number of every row: a column, or the sum of several.

    unit : SI, such as ``N m/rad``; empty where it has none.
    words : meaning, sign and frame.
    columns : its columns in the rows.
    """

    name: str
    unit: str = ""
    words: str = ""
    columns: tuple[str, ...] = ()


class Table:
    """The quantities of a recording, found by their names or by those of single columns.

    Attributes
    ----------
    columns : of the rows.
    quantities : those of the file, in its order; every column is in one of them, and no name is there twice.
    """

    def __init__(self, columns: Sequence[str], quantities: Iterable[Quantity]) -> None:
        self.columns = tuple(columns)
        self.quantities = _without_clashes(self.columns, quantities)
        self._place = {name: i for i, name in enumerate(columns)}
        self._by_name = {c: Quantity(c, q.unit, q.words, (c,)) for q in self.quantities for c in q.columns}
        self._by_name |= {q.name: q for q in self.quantities}

    @classmethod
    def from_names(cls, columns: Sequence[str]) -> Table:
        """Return what the names of the columns tell: units, and the candidates of a pair of shapes."""
        groups: dict[str, list[str]] = {}
        for name in columns:
            match = PARTS.fullmatch(name)
            groups.setdefault(f"{match[1]}]" if match else name, []).append(name)
        return cls(columns, [Quantity(name, _unit_of(name), "", tuple(c)) for name, c in groups.items()])

    def find(self, name: str, where: object) -> Quantity:
        """Return a quantity by its name or that of a column.

        Raises
        ------
        ConfigError : there is none; ``where`` is the file it was looked for in.
        """
        if name not in self._by_name:
            raise ConfigError(
                where,
                "",
                f"has no quantity {name!r}{nearest(str(name), self._by_name)}: "
                "'recording.names' and 'hapticsim export FILE' list what it has.",
            )
        return self._by_name[name]

    def values(self, quantity: Quantity, data: np.ndarray) -> np.ndarray:
        """Return a quantity of the rows ``data`` (n, columns), float64 (n,)."""
        places = [self._place[c] for c in quantity.columns]
        values: np.ndarray = data[:, places[0]] if len(places) == 1 else data[:, places].sum(axis=1)
        return values

    def to_text(self) -> str:
        """Return the table as it stands in a file (JSON)."""
        return json.dumps([[q.name, q.unit, q.words, list(q.columns)] for q in self.quantities])

    @classmethod
    def from_text(cls, columns: Sequence[str], text: str) -> Table:
        """Read what ``to_text`` wrote.

        Raises
        ------
        ValueError : it is something else, or about other columns.
        """
        found = json.loads(text)
        quantities = [Quantity(str(n), str(u), str(w), tuple(map(str, c))) for n, u, w, c in found]
        if any(not q.columns or not set(q.columns) <= set(columns) for q in quantities):
            raise ValueError("a quantity has columns that are not there")
        return cls(columns, quantities)


def _without_clashes(columns: tuple[str, ...], quantities: Iterable[Quantity]) -> tuple[Quantity, ...]:
    """Give each name to the first that has it, a column's name to that column, and add what is missing."""
    kept: dict[str, Quantity] = {}
    left = dict.fromkeys(columns)
    for q in quantities:
        if q.name in kept or (q.name in columns and q.columns != (q.name,)):
            found = [Quantity(c, q.unit, q.words, (c,)) for c in q.columns]
        else:
            found = [q]
        for one in found:
            kept.setdefault(one.name, one)
            for c in one.columns:
                left.pop(c, None)
    for c in left:
        kept.setdefault(c, Quantity(c, _unit_of(c), "", (c,)))
    return tuple(kept.values())


def _unit_of(name: str) -> str:
    """Return the unit that the end of a column's name tells; empty where it tells none."""
    stem = name.partition("[")[0]
    return next((unit for end, unit in UNITS.items() if stem.endswith(end)), "")
