"""Recordings with what Foxglove draws in them: written without a tick, and their messages read back."""

from __future__ import annotations

import io
import json
import struct
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mcap.exceptions import McapError
from mcap.reader import make_reader
from mcap.records import Channel, Message, Schema
from mcap.stream_reader import StreamReader
from zstandard import ZstdError

from hapticsim.assemble.assembly import Assembly, equations_of, frames_of
from hapticsim.describe.columns import tick_quantities
from hapticsim.describe.drawing import of_ticks
from hapticsim.kernels.memory.arrays import Plan
from hapticsim.kernels.memory.sample import WIDTH
from hapticsim.model.candidates import candidates_of
from hapticsim.model.scene import Scene
from hapticsim.recording.writer import RecordingWriter


def assembled(scene: Scene) -> Assembly:
    """An assembly that no tick is taken with, so that none has to be compiled."""
    equations = equations_of(scene.model, frames_of(scene), None)
    return Assembly(scene, equations, tuple(candidates_of(scene)), Plan.__new__(Plan))


def rows_of(assembly: Assembly, count: int, seed: int = 0) -> np.ndarray:
    """Rows of ticks with any numbers in them, and unit quaternions."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(count, len(assembly.columns)))
    rows[:, 0], rows[:, 1] = np.arange(count) * assembly.scene.tick_s, np.arange(count)
    for start in assembly.scene.model.quaternions:
        at = slice(WIDTH + start, WIDTH + start + 4)
        rows[:, at] /= np.linalg.norm(rows[:, at], axis=1, keepdims=True)
    return rows


def written(path: Path, assembly: Assembly, rows: np.ndarray, events: Sequence[dict[str, Any]] = ()) -> None:
    """A closed recording of these rows, in batches of 100."""
    quantities, drawing = tick_quantities(assembly), of_ticks(assembly)
    with RecordingWriter(path, assembly.columns, "", quantities=quantities, drawing=drawing) as writer:
        for first in range(0, len(rows), 100):
            writer.append(rows[first : first + 100])
        for event in events:
            writer.append_event(event)
    assert writer.failure == writer.note == ""


def messages_of(path: Path) -> dict[str, list[tuple[Schema, int, Any]]]:
    """Schema, log time and decoded JSON of every message by topic, in the order of time."""
    found = defaultdict(list)
    for schema, channel, message in make_reader(io.BytesIO(path.read_bytes())).iter_messages():
        if channel.message_encoding == "json":
            told = json.loads(message.data, parse_constant=lambda name: 1 / 0)
            found[channel.topic].append((schema, message.log_time, told))
    return found


def topics_in(data: bytes) -> dict[str, int]:
    """How many messages of each topic a file holds that was never closed."""
    topics, count = {}, defaultdict(int)
    try:
        for record in StreamReader(io.BytesIO(data)).records:
            if isinstance(record, Channel):
                topics[record.id] = record.topic
            elif isinstance(record, Message):
                count[topics[record.channel_id]] += 1
    except (McapError, struct.error, ZstdError):
        pass
    return count
