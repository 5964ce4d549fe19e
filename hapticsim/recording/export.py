"""Recordings for other programs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.new_file import check_new_file
from hapticsim.recording.reader import Recording

FORMATS = (".csv", ".npz")


def export(recording: Recording, path: Path | str) -> None:
    """Write a recording as ``.csv`` or ``.npz``, by the suffix of ``path``, to a new file.

    ``.csv``: a line of column names, then the rows, each number with the digits that give back its bits.
    Events and configuration are left out.
    ``.npz``: arrays ``data`` (n, columns) and ``columns``, and as text ``config``, ``metadata``, ``events``
    (the last two JSON).

    Raises
    ------
    ConfigError : another suffix, the file exists already, or cannot be written.
    """
    path = Path(path)
    formats = dict(zip(FORMATS, (_write_csv, _write_npz), strict=True))
    check_can_export(path)
    try:
        formats[path.suffix.lower()](recording, path)
    except OSError as error:
        why = f"cannot be written ({error.strerror}): export to a folder you can write."
        raise ConfigError(path, "", why) from error


def check_can_export(path: Path) -> None:
    """Refuse now what ``export`` would refuse after a recording was read."""
    check_new_file(path, FORMATS, "a table")


def _write_csv(recording: Recording, path: Path) -> None:
    with path.open("x", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(recording.columns)
        writer.writerows(recording.data.tolist())  # repr of a float is its shortest exact decimal


def _write_npz(recording: Recording, path: Path) -> None:
    with path.open("xb") as file:
        np.savez_compressed(
            file,
            data=recording.data,
            columns=np.array(recording.columns),
            config=np.array(recording.config_text),
            metadata=np.array(json.dumps(recording.metadata)),
            events=np.array(json.dumps(recording.events)),
        )
