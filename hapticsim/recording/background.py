"""A recording that nobody waits for: rows and events go to the disk in a thread of their own.

A disk that hangs (a network folder, a stick pulled out) holds whoever writes to it, for minutes.  So the run
hands its rows over and goes on; when more than `MOST_BYTES` wait, the recording stops with a sentence, whole
up to there.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Mapping
from queue import SimpleQueue
from typing import Any
from weakref import WeakSet

import numpy as np

from hapticsim.recording.writer import RecordingWriter

MOST_BYTES = 64 << 20  # of rows that wait: a minute and more of a robot with twenty joints at 1 kHz
EVENT_BYTES = 1000  # what an event counts for
CLOSE_S = 5.0  # that the disk gets at the end
SLOW_S = 2.0  # a write that takes longer is told

_open: WeakSet[BackgroundRecorder] = WeakSet()


class BackgroundRecorder:
    """Feeds a `RecordingWriter` from a thread of its own.

    Public attributes: ``path``, ``failure`` (one sentence, empty while all is well), ``written_rows``,
    ``dropped_rows``, ``dropped_events``.  It is closed at the end of the program at the latest.
    """

    def __init__(self, writer: RecordingWriter, most_bytes: int = MOST_BYTES) -> None:
        self.path = writer.path
        self.dropped_rows = self.dropped_events = 0
        self._writer, self._most_bytes = writer, most_bytes
        self._failure = ""
        self._queue: SimpleQueue[np.ndarray | dict[str, Any] | None] = SimpleQueue()
        self._given_bytes = self._taken_bytes = 0  # each has one writer
        self._since_s = 0.0  # when the present write began; 0 where there is none
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="hapticsim-recorder", daemon=True)
        self._thread.start()
        _open.add(self)

    @property
    def failure(self) -> str:
        return self._failure or self._writer.failure

    @property
    def note(self) -> str:
        """Where the drawing ended by a defect: one sentence, otherwise empty."""
        return self._writer.note

    @property
    def written_rows(self) -> int:
        return self._writer.written_rows

    @property
    def waits_s(self) -> float:
        """For how long the disk has held the present write [s]."""
        since_s = self._since_s
        return time.monotonic() - since_s if since_s else 0.0

    def append(self, rows: np.ndarray) -> None:
        """Hand over a batch of rows, float64 (n, columns), which may be reused afterwards; never waits."""
        if self._has_room(rows.nbytes):
            self._queue.put(np.array(rows))
        else:
            self.dropped_rows += len(rows)

    def append_event(self, event: Mapping[str, object]) -> None:
        """Hand over one event, a map of plain values; never waits."""
        if self._has_room(EVENT_BYTES):
            self._queue.put(dict(event))
        else:
            self.dropped_events += 1

    def close(self, within_s: float = CLOSE_S) -> None:
        """Write what waits and close the file; leave it as it is after ``within_s``.  Safe to call twice."""
        if not self._closing:
            self._closing = True
            self._queue.put(None)
        self._thread.join(within_s)
        if self._thread.is_alive():
            self._fail(f"the disk took nothing for {self.waits_s:.0f} s")
        _open.discard(self)

    # ------------------------------------------------------------------------------------------------ inside

    def _has_room(self, size: int) -> bool:
        """Count what is handed over; False where it is dropped."""
        if self.failure or self._closing:
            return False
        if self._given_bytes + size - self._taken_bytes > self._most_bytes:
            self._fail(f"the disk took nothing for {self.waits_s:.0f} s")
            return False
        self._given_bytes += size
        return True

    def _fail(self, why: str) -> None:
        if not self.failure:
            self._failure = (
                f"{self.path}: recording stopped after {self.written_rows} ticks ({why}): "
                "record to another disk."
            )

    def _run(self) -> None:
        for step in (self._write_all, self._close_file):
            try:
                step()
            except Exception as error:  # no memory, or a defect: the run goes on, and hears of it
                self._fail(f"{type(error).__name__}: {error}")

    def _close_file(self) -> None:
        self._since_s = time.monotonic()
        self._writer.close()
        self._since_s = 0.0

    def _write_all(self) -> None:
        while (item := self._queue.get()) is not None:
            if self._failure:
                continue  # it stopped here: what comes later would leave a gap
            self._since_s = time.monotonic()
            if isinstance(item, dict):
                self._writer.append_event(item)
                self._taken_bytes += EVENT_BYTES
            else:
                self._writer.append(item)
                self._taken_bytes += item.nbytes
            self._since_s = 0.0


def _close_all() -> None:
    for recorder in list(_open):
        recorder.close()


atexit.register(_close_all)  # however a program ends that ends by itself, its recordings are closed
