"""A recording that is written while its caller makes the next batch, and never further behind than that."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import numpy as np

from hapticsim.process.interruption import uninterrupted
from hapticsim.recording.writer import RecordingWriter


class AlongsideWriter:
    """Feeds a `RecordingWriter` from a thread; ``wait`` says when all is done.

    A `BackgroundRecorder` drops rows rather than wait; this one loses none, and its caller may be held up.
    """

    def __init__(self, writer: RecordingWriter) -> None:
        self._writer = writer
        self._thread = ThreadPoolExecutor(1, "hapticsim-recorder")
        self._under_way: list[Future[None]] = []

    def append(self, rows: np.ndarray) -> None:
        """Hand over a batch of rows, float64 (n, columns), which must not change any more."""
        self._under_way.append(self._thread.submit(self._writer.append, rows))

    def append_event(self, event: Mapping[str, Any]) -> None:
        """Hand over one event, a map of plain values."""
        self._under_way.append(self._thread.submit(self._writer.append_event, event))

    def wait(self) -> str:
        """Wait for what was handed over; return why it is not all in the file, in a sentence, or nothing."""
        while self._under_way:
            self._under_way[0].result()
            del self._under_way[0]
        return self._writer.failure or self._writer.note

    @uninterrupted()
    def close(self) -> None:
        """Write what waits and close the file; safe to call twice."""
        self._thread.shutdown()
        self._writer.close()
