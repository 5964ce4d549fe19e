"""What recordings in tests hold, a closed one, and refusals."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from hapticsim.errors import ConfigError
from hapticsim.recording import writer as writer_module
from hapticsim.recording.writer import RecordingWriter

COLUMNS = ["time_s", "q_rad", "force_N"]
CONFIG = "name: wam\n# π\n"
METADATA = {"version": "0.1.0", "rate_Hz": "1000"}


def rows_from(start, n=100, seed=0):
    rows = np.random.default_rng(seed).normal(size=(n, len(COLUMNS)))
    rows[:, 0] = start + np.arange(n) * 1e-3
    return rows


def record_ten_batches(path: Path, monkeypatch: pytest.MonkeyPatch) -> np.ndarray:
    """A closed recording of ten batches, with an event in each of the first three; returns its rows."""
    batches = [rows_from(0.1 * i, seed=i) for i in range(10)]
    with RecordingWriter(path, COLUMNS, CONFIG, METADATA) as writer:
        for i, batch in enumerate(batches):
            monkeypatch.setattr(writer_module, "_BATCH_s", math.inf)
            if i < 3:
                writer.append_event({"time_s": 0.1 * i, "kind": "TOUCH", "value": 0.5})
            monkeypatch.setattr(writer_module, "_BATCH_s", 0.0)
            writer.append(batch)
    assert writer.failure == "" and writer.written_rows == 1000
    return np.concatenate(batches)


def refusal(function, *arguments, **options):
    with pytest.raises(ConfigError) as refused:
        function(*arguments, **options)
    return str(refused.value)
