"""What a recording held: rows by the names of joints and shapes, to NumPy and pandas."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from hapticsim.errors import ConfigError, HapticsimError, listed, nearest
from hapticsim.recording.quantities import Quantity, Table

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Recording:
    """What a file held (docs/recordings.md).

    ``recording["q[shoulder]"]`` is a quantity by its name, or by that of its column (``q0``), float64 (n,).
    """

    path: Path
    columns: tuple[str, ...]
    data: np.ndarray  # float64 (n, columns), oldest row first
    config_text: str
    metadata: dict[str, str]
    events: list[dict[str, Any]]  # with "time_s", "kind" and "text", the sentence
    complete: bool  # the writer closed it and nothing is damaged
    note: str  # one sentence if it is not complete, else empty
    table: Table | None = None  # what the columns are; None: what their names tell

    def column(self, name: str) -> np.ndarray:
        """Return one column of ``data``, float64 (n,).

        Raises
        ------
        ConfigError : there is no such column.
        """
        if name not in self.columns:
            near, names = nearest(name, self.columns), listed(self.columns)
            raise ConfigError(self.path, "columns", f"have no {name!r}{near}: use one of {names}.")
        return self.data[:, self.columns.index(name)]

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Name, unit, words and columns of everything that was recorded, in the order of the columns."""
        return self._table.quantities

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the quantities."""
        return tuple(q.name for q in self.quantities)

    def __getitem__(self, name: str) -> np.ndarray:
        """Return a quantity, float64 (n,): a column, or the sum over the points of a pair of shapes.

        Raises
        ------
        ConfigError : there is none of this name, and no such column.
        """
        return self._table.values(self._table.find(name, self.path), self.data)

    def unit(self, name: str) -> str:
        """Return the unit of a quantity, such as ``N m/rad``; empty where it has none.

        Raises
        ------
        ConfigError : there is none of this name, and no such column.
        """
        return self._table.find(name, self.path).unit

    def words(self, name: str) -> str:
        """Return what a quantity says, with sign and frame; empty in a file that does not tell.

        Raises
        ------
        ConfigError : there is none of this name, and no such column.
        """
        return self._table.find(name, self.path).words

    def to_numpy(self) -> dict[str, np.ndarray]:
        """Return all quantities by name, float64 (n,) each."""
        return {q.name: self._table.values(q, self.data) for q in self.quantities}

    def to_pandas(self) -> pandas.DataFrame:
        """Return all quantities as columns of a table with the time [s] as its index.

        ``frame.attrs["units"]`` has their units by name.

        Raises
        ------
        HapticsimError : pandas is not there.
        """
        try:
            import pandas
        except ImportError:
            raise HapticsimError(
                f"{self.path}: a table needs the package 'pandas': pip install 'hapticsim[tables]'."
            ) from None
        values = np.column_stack([self._table.values(q, self.data) for q in self.quantities])
        frame = pandas.DataFrame(values, columns=list(self.names))
        frame = frame.set_index(self.names[0])
        frame.attrs["units"] = {q.name: q.unit for q in self.quantities}
        return frame

    @property
    def _table(self) -> Table:
        return self.table or Table.from_names(self.columns)
