"""The index of a recording's chunks while it is written: 80 bytes for a chunk, where the library keeps 600.

Two chunks a second for days: kept as objects, those of two channels are 5 MiB an hour of a server that shall
not grow.
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

    channels : whose first offset in a chunk is kept, from the start of the chunk; 0 stands for none.
    """

    def __init__(self, channels: tuple[int, ...]) -> None:
        self._channels, self._compression = channels, ""
        self._numbers, self._offsets = array("Q"), array("I")

    def append(self, index: ChunkIndex) -> None:
        """Keep the numbers of a chunk."""
        self._compression = index.compression  # one for all
        self._numbers.extend(getattr(index, name) for name in NUMBERS)
        start, offsets = index.chunk_start_offset, index.message_index_offsets
        self._offsets.extend(offsets[c] - start if c in offsets else 0 for c in self._channels)

    def __len__(self) -> int:
        return len(self._numbers) // len(NUMBERS)

    def __iter__(self) -> Iterator[ChunkIndex]:
        size, count = len(NUMBERS), len(self._channels)
        for k in range(len(self)):
            numbers = dict(zip(NUMBERS, self._numbers[k * size : (k + 1) * size], strict=True))
            kept = zip(self._offsets[k * count : (k + 1) * count], self._channels, strict=True)
            start = numbers["chunk_start_offset"]
            yield ChunkIndex(
                compression=self._compression,
                message_index_offsets={c: start + offset for offset, c in sorted(kept) if offset},
                **numbers,
            )


def pack_index(writer: Writer, channels: tuple[int, ...]) -> bool:
    """Have a writer without a chunk keep its index packed; False where its library keeps it elsewhere."""
    if getattr(writer, _LIST, None) != []:
        return False
    setattr(writer, _LIST, PackedIndex(channels))
    return True
