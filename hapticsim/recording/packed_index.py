"""The index of a recording's chunks while it is written: 72 bytes for a chunk, where the library keeps 600.

Two chunks a second for days: kept as objects they are 5 MiB an hour of a server that shall not grow.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from mcap.records import ChunkIndex
from mcap.writer import Writer

NUMBERS = (
    "message_start_time",
    "message_end_time",
    "chunk_start_offset",
    "chunk_length",
    "message_index_length",
    "compressed_size",
    "uncompressed_size",
)
_LIST = "_Writer__chunk_indices"


class PackedIndex:
    """Stands in for the list of ``ChunkIndex`` that an mcap ``Writer`` appends to and iterates over.

    channels : whose first offset in a chunk is kept; 0 stands for none.
    """

    def __init__(self, channels: tuple[int, ...]) -> None:
        self._channels, self._compression = channels, ""
        self._numbers = array("Q")

    def append(self, index: ChunkIndex) -> None:
        """Keep the numbers of a chunk."""
        self._compression = index.compression  # one for all
        self._numbers.extend(getattr(index, name) for name in NUMBERS)
        self._numbers.extend(index.message_index_offsets.get(channel, 0) for channel in self._channels)

    def __len__(self) -> int:
        return len(self._numbers) // (len(NUMBERS) + len(self._channels))

    def __iter__(self) -> Iterator[ChunkIndex]:
        size, known = len(NUMBERS) + len(self._channels), len(NUMBERS)
        for at in range(0, len(self._numbers), size):
            numbers = self._numbers[at : at + size]
            offsets = sorted(zip(numbers[known:], self._channels, strict=True))  # as they were written
            yield ChunkIndex(
                compression=self._compression,
                message_index_offsets={channel: offset for offset, channel in offsets if offset},
                **dict(zip(NUMBERS, numbers[:known], strict=True)),
            )


def pack_index(writer: Writer, channels: tuple[int, ...]) -> bool:
    """Have a writer without a chunk keep its index packed; False where its library keeps it elsewhere."""
    if getattr(writer, _LIST, None) != []:
        return False
    setattr(writer, _LIST, PackedIndex(channels))
    return True
