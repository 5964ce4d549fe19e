"""Recordings for other programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.files.new_file import check_new_file
from hapticsim.recording.recorded import Recording

FORMATS = (".csv", ".npz")


def export(recording: Recording, path: Path | str, named: bool = False) -> int:
    """Write a recording as ``.csv`` or ``.npz``, by the suffix of ``path``, to a new file.

    ``.csv``: a line of column names, then the rows, each number with the digits that give back its bits.
    Events and configuration are left out.
    ``.npz``: arrays ``data`` (n, columns) and ``columns``, their ``units`` and ``words``, and as text
    ``config``, ``metadata``, ``events`` (the last two JSON).

    named : write the quantities (``Recording.quantities``) instead of the columns.

    Returns the number of columns written.

    Raises
    ------
    ConfigError : another suffix, the file exists already, or cannot be written.
    """
    path = Path(path)
    formats = dict(zip(FORMATS, (_write_csv, _write_npz), strict=True))
    check_can_export(path)
    names, data = recording.columns, recording.data
    if named:
        names, data = recording.names, np.column_stack(list(recording.to_numpy().values()))
    try:
        formats[path.suffix.lower()](recording, names, data, path)
    except OSError as error:
        why = f"cannot be written ({error.strerror}): export to a folder you can write."
        raise ConfigError(path, "", why) from error
    return len(names)


def check_can_export(path: Path) -> None:
    """Refuse now what ``export`` would refuse after a recording was read."""
    check_new_file(path, FORMATS, "a table")


def listing(recording: Recording) -> str:
    """Return a line for each quantity: name, unit, the columns it is made of, words."""
    lines = []
    for q in recording.quantities:
        columns = (
            ""
            if q.columns == (q.name,)
            else q.columns[0]
            if len(q.columns) == 1
            else f"{len(q.columns)} columns"
        )
        lines.append((q.name, q.unit, columns, q.words))
    widths = [min(40, max((len(line[i]) for line in lines), default=0)) for i in range(3)]
    return "\n".join(
        "  ".join([*(text.ljust(w) for text, w in zip(line, widths, strict=False)), line[3]]).rstrip()
        for line in lines
    )


def _write_csv(recording: Recording, names: Sequence[str], data: np.ndarray, path: Path) -> None:
    with path.open("x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(data.tolist())  # repr of a float is its shortest exact decimal


def _write_npz(recording: Recording, names: Sequence[str], data: np.ndarray, path: Path) -> None:
    with path.open("xb") as file:
        np.savez_compressed(
            file,
            data=data,
            columns=np.array(names),
            units=np.array([recording.unit(name) for name in names]),
            words=np.array([recording.words(name) for name in names]),
            config=np.array(recording.config_text),
            metadata=np.array(json.dumps(recording.metadata)),
            events=np.array(json.dumps(recording.events)),
        )
