"""Memory that takes few entries of the table from which a processor knows where a page is.

A tick of a crowded scene reads some megabytes from a thousand places: on pages of 4 KiB each costs a look-up
of its own.  numpy asks for huge pages for what is large (NUMPY_MADVISE_HUGEPAGE), so more than is needed is
reserved; what is not written to takes no memory, unless a server locks all of it.
"""

from __future__ import annotations

import numpy as np

WORD = 8  # bytes
LINE = 8  # words of a cache line
LARGE = 1 << 22  # [bytes] from which on numpy asks for huge pages
PAGE = 1 << 21  # [bytes] of a huge page
SMALL = 1 << 17  # [bytes] below which ordinary pages do


def zeros_on_huge_pages(count: int) -> np.ndarray:
    """Zeros (count,) int64 that begin a cache line, and a huge page where they are many."""
    size = WORD * count
    is_small = size < SMALL
    edge = WORD * LINE if is_small else PAGE
    words = np.empty((size if is_small else max(size, LARGE)) // WORD + edge // WORD, np.int64)
    start = -words.ctypes.data % edge // WORD
    words = words[start : start + count]
    words[:] = 0
    return words
