"""The index of a recording's chunks while it is written: 12 bytes for a chunk, where the library keeps 600.

Two chunks a second for days: kept as objects, those of two channels are 5 MiB an hour of a server that shall
not grow.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np
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
BLOCK = 256  # chunks that are packed together
_LIST = "_Writer__chunk_indices"


class PackedIndex:
    """Stands in for the list of ``ChunkIndex`` that an mcap ``Writer`` appends to and iterates over.

    channels : whose first offset in a chunk is kept, from the start of the chunk; 0 stands for none.
    """

    def __init__(self, channels: tuple[int, ...]) -> None:
        self._channels, self._compression, self._count = channels, "", 0
        self._packed: list[bytes] = []
        self._newest = np.zeros((BLOCK, len(NUMBERS) + len(channels)), np.int64)

    def append(self, index: ChunkIndex) -> None:
        """Keep the numbers of a chunk."""
        self._compression = index.compression  # one for all
        start, offsets = index.chunk_start_offset, index.message_index_offsets
        place = self._count % BLOCK
        self._newest[place, : len(NUMBERS)] = [getattr(index, name) for name in NUMBERS]
        self._newest[place, len(NUMBERS) :] = [
            offsets[c] - start if c in offsets else 0 for c in self._channels
        ]
        self._count += 1
        if place == BLOCK - 1:
            self._packed.append(_packed(self._newest))

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[ChunkIndex]:
        for block in (*(_unpacked(data, self._newest.shape[1]) for data in self._packed), self._begun()):
            for row in block.tolist():
                numbers = dict(zip(NUMBERS, row, strict=False))
                kept = zip(row[len(NUMBERS) :], self._channels, strict=True)
                start = numbers["chunk_start_offset"]
                yield ChunkIndex(
                    compression=self._compression,
                    message_index_offsets={c: start + offset for offset, c in sorted(kept) if offset},
                    **numbers,
                )

    def _begun(self) -> np.ndarray:
        """The rows of the block that is not full."""
        return self._newest[: self._count % BLOCK]


def _packed(rows: np.ndarray) -> bytes:
    """Differences from row to row are small, and their upper bytes, side by side, are zeros."""
    differences = np.diff(rows, axis=0, prepend=0)
    return zlib.compress(np.ascontiguousarray(differences.T).view(np.uint8).reshape(-1, 8).T.tobytes(), 9)


def _unpacked(data: bytes, columns: int) -> np.ndarray:
    """The rows, int64 (BLOCK, columns)."""
    of_bytes = np.frombuffer(zlib.decompress(data), np.uint8).reshape(8, -1)
    differences = np.ascontiguousarray(of_bytes.T).view(np.int64).reshape(columns, BLOCK)
    return np.cumsum(differences.T, axis=0)


def pack_index(writer: Writer, channels: tuple[int, ...]) -> bool:
    """Have a writer without a chunk keep its index packed; False where its library keeps it elsewhere."""
    if getattr(writer, _LIST, None) != []:
        return False
    setattr(writer, _LIST, PackedIndex(channels))
    return True
