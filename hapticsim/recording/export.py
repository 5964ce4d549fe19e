"""Recordings for other programs."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np

from hapticsim.errors import ConfigError, listed
from hapticsim.recording.reader import Recording


def export(recording: Recording, path: Path | str) -> None:
    """Write a recording as ``.csv`` or ``.npz``, by the suffix of ``path``; an existing file is replaced.

    ``.csv``: a line of column names, then the rows, each number with the digits that give back its bits.
    Events and configuration are left out.
    ``.npz``: arrays ``data`` (n, columns) and ``columns``, and as text ``config``, ``metadata``, ``events``
    (the last two JSON).

    Raises
    ------
    ConfigError : another suffix, or the file cannot be written.
    """
    path = Path(path)
    formats = {".csv": _write_csv, ".npz": _write_npz}
    if path.suffix not in formats:
        allowed = listed(formats)
        raise ConfigError(path, "", f"has suffix {path.suffix!r}: end the name with one of {allowed}.")
    try:
        formats[path.suffix](recording, path)
    except OSError as error:
        why = f"cannot be written ({error.strerror}): export to a folder you can write."
        raise ConfigError(path, "", why) from error


def _write_csv(recording: Recording, path: Path) -> None:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(recording.columns)
        writer.writerows(recording.data.tolist())  # repr of a float is its shortest exact decimal


def _write_npz(recording: Recording, path: Path) -> None:
    np.savez_compressed(
        path,
        data=recording.data,
        columns=np.array(recording.columns),
        config=np.array(recording.config_text),
        metadata=np.array(json.dumps(recording.metadata)),
        events=np.array(json.dumps(recording.events)),
    )
