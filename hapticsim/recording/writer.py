"""Writing a recording while a simulation runs."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
from mcap.writer import CompressionType, Writer

from hapticsim.errors import ConfigError
from hapticsim.files.new_file import EXISTS, check_new_file
from hapticsim.process.interruption import uninterrupted
from hapticsim.recording.drawing import Drawing, Message
from hapticsim.recording.log_time import nanoseconds
from hapticsim.recording.packed_index import pack_index
from hapticsim.recording.quantities import Quantity, Table

PROFILE = "hapticsim"
ROWS, EVENTS = "rows", "events"
ROW_ENCODING = "float64-little-endian"
CONFIG_NAME = "config.yaml"
RUN_METADATA, TABLE_METADATA = "run", "quantities"
_BATCH_s = 0.5  # of wall time: what a killed process loses, with a margin on one second
_BATCH_BYTES = 1 << 20


class RecordingWriter:
    """Writes rows and events to a new MCAP file.

    After construction nothing is raised for trouble with the file: a full disk sets ``failure``, and all that
    comes later is dropped and counted, because the simulation must go on.  What reached the file stays
    readable, also when the process is killed; waiting in memory are at most the rows and events of the last
    half second before the newest, or 1 MiB of rows.  They go into the file as one chunk, because an
    entry of the index is kept for each chunk until the file is closed.

    Parameters
    ----------
    path : the file to make.
    columns : name of each column, unit included; column 0 is the time [s].
    config_text : the configuration, stored as it is.
    metadata : anything else worth knowing about the run, text by name.
    quantities : what the columns say; without it their names have to tell.
    drawing : makes messages for other programs from the rows, or None (drawing.py).
    overwrite : replace a file that exists; otherwise it is refused.

    Public attributes: ``failure`` (one sentence, empty while all is well), ``written_rows`` (in the file),
    ``dropped_rows``, ``dropped_events``, ``note`` (one sentence where the drawing ended by a defect of its
    own, and rows go on without it).

    Raises
    ------
    ConfigError : the file cannot be made, exists already, or a column name is missing or given twice.
    """

    def __init__(
        self,
        path: Path | str,
        columns: Sequence[str],
        config_text: str = "",
        metadata: Mapping[str, str] | None = None,
        *,
        quantities: Sequence[Quantity] = (),
        drawing: Drawing | None = None,
        overwrite: bool = False,
    ) -> None:
        self.path, self.columns = Path(path), tuple(columns)
        self.failure = self.note = ""
        self.written_rows = self.dropped_rows = self.dropped_events = 0
        if not self.columns or len(set(self.columns)) != len(self.columns):
            raise ConfigError(
                path, "columns", f"= {list(self.columns)} is not usable: name each column once."
            )
        self._waiting: list[np.ndarray] = []
        self._waiting_bytes = 0
        self._chunk_rows = self._chunk_events = 0  # in the chunk that is not in the file yet
        self._written_at_s = time.monotonic()
        self._time_ns = 0  # log time of the newest row
        self._sequence = 0
        self._drawing = drawing
        self._file = _create(self.path, overwrite)
        # Chunks end where this class flushes, so that a batch is whole in the file or not there.
        self._writer = Writer(self._file, chunk_size=1 << 30, compression=CompressionType.ZSTD)
        try:
            self._begin(config_text, dict(metadata or {}), quantities)
        except OSError as error:
            self._fail(error)

    @uninterrupted()
    def append(self, rows: np.ndarray) -> None:
        """Record a batch of rows, float64 (n, columns), oldest first; the array may be reused afterwards.

        Raises
        ------
        ConfigError : the array has another shape, a defect of the caller.
        """
        rows = np.array(rows, dtype="<f8")
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            shape = f"(n, {len(self.columns)})"
            raise ConfigError(self.path, "rows", f"have shape {rows.shape}: give an array of shape {shape}.")
        if self.failure:
            self.dropped_rows += len(rows)
        elif len(rows):
            self._waiting.append(rows)
            self._waiting_bytes += rows.nbytes
            if self._waiting_bytes >= _BATCH_BYTES or self._is_due():
                self._write_all()

    @uninterrupted()
    def append_event(self, event: Mapping[str, object]) -> None:
        """Record one event, a map of plain values; a key ``time_s`` places it in time."""
        moment = event.get("time_s")
        log_time = self._time_ns
        if isinstance(moment, int | float):
            log_time = nanoseconds(moment, log_time)
        data = json.dumps(dict(event), default=str).encode()
        if self.failure:
            self.dropped_events += 1
            return
        self._add(self._event_channel, log_time, data)
        self._draw(lambda drawing: drawing.event(event))
        self._chunk_events += 1
        if self._is_due():
            self._write_all()

    @uninterrupted()
    def close(self) -> None:
        """Write what waits and the index, and close the file; safe to call twice."""
        if self._file.closed:
            return
        self._write_all()
        if self.failure:
            return
        try:
            self._writer.finish()
            self._file.close()
        except OSError as error:
            self._fail(error)
        except BaseException as error:
            self._break_off(error)
            raise

    def __enter__(self) -> RecordingWriter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------ inside

    def _begin(self, config_text: str, metadata: dict[str, str], quantities: Sequence[Quantity]) -> None:
        names = json.dumps(list(self.columns))
        row_schema = json.dumps({"encoding": ROW_ENCODING, "columns": list(self.columns)})
        writer = self._writer
        writer.start(profile=PROFILE, library=PROFILE)
        rows = writer.register_schema(name=ROWS, encoding="json", data=row_schema.encode())
        events = writer.register_schema(name=EVENTS, encoding="jsonschema", data=b'{"type": "object"}')
        self._row_channel = writer.register_channel(ROWS, ROW_ENCODING, rows, {"columns": names})
        self._event_channel = writer.register_channel(EVENTS, "json", events)
        self._drawn_channels = {
            channel.topic: writer.register_channel(
                channel.topic,
                "json",
                writer.register_schema(channel.schema_name, "jsonschema", channel.schema.encode()),
            )
            for channel in (self._drawing.channels if self._drawing else ())
        }
        pack_index(writer, (self._row_channel, self._event_channel, *self._drawn_channels.values()))
        writer.add_attachment(0, 0, CONFIG_NAME, "application/yaml", config_text.encode())
        writer.add_metadata(RUN_METADATA, metadata)
        # the library writes a channel only with its first message; a file cut before that shall still be ours
        writer.add_metadata(ROWS, {"encoding": ROW_ENCODING, "columns": names})
        if quantities:
            table = Table(self.columns, quantities).to_text()
            writer.add_metadata(TABLE_METADATA, {"table": table})
        self._draw(lambda drawing: drawing.begin())
        self._file.flush()

    def _is_due(self) -> bool:
        return time.monotonic() - self._written_at_s >= _BATCH_s

    def _write_all(self) -> None:
        """Write the rows and events that wait, in chunks of at most 1 MiB of rows."""
        self._written_at_s = time.monotonic()
        rows = np.concatenate(self._waiting) if self._waiting else np.empty((0, len(self.columns)))
        self._waiting, self._waiting_bytes = [], 0
        at_once = max(1, _BATCH_BYTES // (8 * len(self.columns)))
        for first in range(0, max(1, len(rows)), at_once):
            self._write_chunk(rows[first : first + at_once])

    def _write_chunk(self, rows: np.ndarray) -> None:
        """End the chunk, which holds the events that wait, with a batch of rows."""
        if self.failure:
            self.dropped_rows += len(rows)
            return
        if len(rows):
            log_time = nanoseconds(float(rows[0, 0]), self._time_ns)
            self._time_ns = nanoseconds(float(rows[-1, 0]), log_time)
            self._add(self._row_channel, log_time, rows.tobytes())
            self._chunk_rows += len(rows)
            self._draw(lambda drawing: drawing.rows(rows))
        try:
            self._writer.flush()
        except OSError as error:
            self._fail(error)
            return
        except BaseException as error:  # the library has forgotten the chunk
            self._break_off(error)
            raise
        self.written_rows += self._chunk_rows
        self._chunk_rows = self._chunk_events = 0

    def _draw(self, made: Callable[[Drawing], Iterable[Message]]) -> None:
        """Put messages for other programs into the chunk."""
        if self._drawing is None:
            return
        try:
            for topic, log_time, data in made(self._drawing):
                self._add(self._drawn_channels[topic], log_time, data)
        except Exception as error:  # a defect: the exact rows are worth more than their picture
            self._drawing = None
            self.note = (
                f"{self.path}: is not drawn any further ({type(error).__name__}: {error}); rows go on."
            )

    def _add(self, channel: int, log_time: int, data: bytes) -> None:
        """Put a message into the chunk, in memory."""
        self._sequence += 1
        self._writer.add_message(channel, log_time, data, log_time, self._sequence)

    def _fail(self, error: OSError) -> None:
        self._stop(f"{error.strerror}", ": free some space and record again.")

    def _break_off(self, error: BaseException) -> None:
        interrupted = isinstance(error, KeyboardInterrupt)
        self._stop("interrupted" if interrupted else f"{type(error).__name__}: {error}")

    def _stop(self, why: str, remedy: str = ".") -> None:
        """Keep the reason, count what the chunk held, and let go of the file."""
        self.dropped_rows += self._chunk_rows
        self.dropped_events += self._chunk_events
        self._chunk_rows = self._chunk_events = 0
        self.failure = f"{self.path}: recording stopped at {self._time_ns * 1e-9:.3f} s ({why}){remedy}"
        with contextlib.suppress(OSError):  # what could not be written cannot be flushed either
            self._file.close()


def check_can_record(path: Path) -> None:
    """Refuse now what `RecordingWriter` would refuse later, after its caller has compiled for a minute.

    Raises
    ------
    ConfigError : the file exists already, cannot be made, or is not called ``.mcap``.
    """
    check_new_file(path, (".mcap",), "a recording")
    _create(path, overwrite=False).close()
    path.unlink()


def _create(path: Path, overwrite: bool) -> BinaryIO:
    try:
        return path.open("wb" if overwrite else "xb")
    except FileExistsError as error:
        raise ConfigError(path, "", EXISTS) from error
    except OSError as error:
        why = f"cannot be written ({error.strerror}): record to a file in a folder you can write."
        raise ConfigError(path, "", why) from error
