"""Reading a recording, also one whose writer was killed."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path

import numpy as np
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Attachment, Channel, Chunk, Footer, Header, McapRecord, Message, Metadata, Schema
from mcap.stream_reader import StreamReader, get_chunk_data_stream
from zstandard import ZstdError, frame_content_size

from hapticsim.errors import ConfigError
from hapticsim.files.special_file import SPECIAL, is_special
from hapticsim.recording.quantities import Table
from hapticsim.recording.recorded import Recording
from hapticsim.recording.writer import (
    CONFIG_NAME,
    EVENTS,
    PROFILE,
    ROW_ENCODING,
    ROWS,
    RUN_METADATA,
    TABLE_METADATA,
)

_MAGIC = b"\x89MCAP0\r\n"
_RECORD_BYTES = 1 << 28  # a longer record is a damaged length
_CHUNK_BYTES = 1 << 28  # unpacked; ours hold 1 MiB of rows, and events
MOST_BYTES = 8 << 30  # of rows and events: two hours of a robot with twenty joints at 1 kHz
_RECORD, _MESSAGE = struct.Struct("<BQ"), struct.Struct("<HI")  # opcode and length; channel and sequence
# what the MCAP reader raises on bytes that are not, or no longer, a recording
_DAMAGE = (
    McapError, ZstdError, struct.error, ValueError, TypeError, KeyError, OverflowError, MemoryError,
    RecursionError,
)  # fmt: skip


@dataclass
class _Found:
    """What has been read so far."""

    path: Path
    bytes: int = 0  # of messages
    columns: tuple[str, ...] = ()
    topics: dict[int, str] = field(default_factory=dict)
    batches: list[np.ndarray] = field(default_factory=list)
    config_text: str = ""
    metadata: dict[str, str] = field(default_factory=dict)
    events: list[dict[str, object]] = field(default_factory=list)
    table: str = ""
    sequence: int = 0  # of the newest message; the writer counts them from 1
    closed: bool = False


def read_recording(path: Path | str) -> Recording:
    """Read a recording as far as it is whole.

    A truncated or damaged file gives the rows before the damage, ``complete`` False and a ``note``.

    Raises
    ------
    ConfigError : no such file, not a recording of hapticsim, or damaged before the columns were named.
    """
    path = Path(path)
    found = _Found(path)
    if is_special(path):
        raise ConfigError(path, "", SPECIAL)
    try:
        damaged = _read_into(found, path)
    except OSError as error:
        why = f"cannot be read ({error.strerror}): give the path of a recording."
        raise ConfigError(path, "", why) from error
    if not found.columns:
        raise ConfigError(
            path, "", "ends before its columns are named: give another file, nothing is left here."
        )
    data = np.concatenate(found.batches) if found.batches else np.empty((0, len(found.columns)))
    complete = found.closed and not damaged
    return Recording(
        path=path,
        columns=found.columns,
        data=data,
        config_text=found.config_text,
        metadata=found.metadata,
        events=found.events,
        complete=complete,
        note="" if complete else _note(path, data),
        table=_table(found),
    )


def _read_into(found: _Found, path: Path) -> bool:
    """Read record by record; return whether damage ended it."""
    with path.open("rb") as file:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise ConfigError(path, "", "is not an MCAP recording: give a file that hapticsim recorded.")
        file.seek(0)
        reader = StreamReader(file, emit_chunks=True, validate_crcs=True, record_size_limit=_RECORD_BYTES)
        try:
            for record in _ours(path, reader.records, found):
                _take(record, found)
        except _DAMAGE:
            return True
    return False


def _ours(path: Path, records: Iterator[McapRecord], found: _Found) -> Iterator[McapRecord]:
    """Pass the records on if the first one says that the file is ours."""
    for index, record in enumerate(records):
        if index == 0 and not (isinstance(record, Header) and record.profile == PROFILE):
            raise ConfigError(
                path, "", "is an MCAP file of another program: give one that hapticsim recorded."
            )
        if isinstance(record, Message):  # ours stand in chunks
            _count(found, record.sequence, len(record.data))
        if isinstance(record, Chunk):
            yield from _unpacked(record, found)
        else:
            yield record


def _unpacked(chunk: Chunk, found: _Found) -> Iterator[McapRecord]:
    """The records of a chunk, without the messages that are for other programs.

    A few packed bytes may unpack to gigabytes, or to records without end.
    """
    if chunk.compression not in ("zstd", ""):
        raise ValueError("it is not packed as we do")
    says = frame_content_size(chunk.data) if chunk.compression else len(chunk.data)
    if max(chunk.uncompressed_size, says) > _CHUNK_BYTES:
        raise ValueError("it is longer than ours")
    stream, length = get_chunk_data_stream(chunk, validate_crc=True)
    data, at = stream.read(length), 0
    while at < length:
        opcode, size = _RECORD.unpack_from(data, at)
        at += _RECORD.size + size
        if opcode == Opcode.MESSAGE:
            channel, sequence = _MESSAGE.unpack_from(data, at - size)
            _count(found, sequence, size)
            if found.topics.get(channel) not in (ROWS, EVENTS):
                continue
        if at > length:
            raise ValueError("its last record is cut")
        record = ReadDataStream(BytesIO(data[at - size : at]))
        if opcode == Opcode.MESSAGE:
            yield Message.read(record, size)
        elif opcode == Opcode.CHANNEL:
            yield Channel.read(record)
        elif opcode == Opcode.SCHEMA:
            Schema.read(record)
        else:
            raise ValueError("nothing else stands in a chunk")


def _count(found: _Found, sequence: int, size: int) -> None:
    """Count a message, which has to be the next one."""
    found.sequence += 1
    if sequence != found.sequence:  # damage can turn a chunk into a record that readers skip
        raise ValueError("a message is missing")
    found.bytes += size
    if found.bytes > MOST_BYTES:
        raise ConfigError(
            found.path, "", f"holds more than {MOST_BYTES >> 30} GiB: split it, or read it with mcap."
        )


def _take(record: McapRecord, found: _Found) -> None:
    if isinstance(record, Channel):
        found.topics[record.id] = record.topic
    elif isinstance(record, Message):
        if found.topics.get(record.channel_id) == ROWS:
            found.batches.append(np.frombuffer(record.data, dtype="<f8").reshape(-1, len(found.columns)))
        elif found.topics.get(record.channel_id) == EVENTS:
            found.events.append(dict(json.loads(record.data)))
    elif isinstance(record, Attachment) and record.name == CONFIG_NAME:
        found.config_text = record.data.decode()
    elif isinstance(record, Metadata) and record.name == RUN_METADATA:
        found.metadata = dict(record.metadata)
    elif isinstance(record, Metadata) and record.name == ROWS and record.metadata["encoding"] == ROW_ENCODING:
        found.columns = tuple(str(name) for name in json.loads(record.metadata["columns"]))
    elif isinstance(record, Metadata) and record.name == TABLE_METADATA:
        found.table = record.metadata["table"]
    elif isinstance(record, Footer):
        found.closed = True


def _table(found: _Found) -> Table:
    """What the columns are: by the file, or by their names where it does not say it."""
    try:
        if found.table:
            return Table.from_text(found.columns, found.table)
    except (ValueError, TypeError, RecursionError):  # the rows are whole, and have their names
        pass
    return Table.from_names(found.columns)


def _note(path: Path, data: np.ndarray) -> str:
    until = f", until {data[-1, 0]:.3f} s," if len(data) else ""
    return f"{path}: was not closed or is damaged: the {len(data)} rows before that{until} are used."
