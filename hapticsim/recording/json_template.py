"""JSON messages that differ only in their numbers: what stays the same is written once."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from pydantic_core import to_json

TIME = object()  # a place that gets the time of the message: {"sec": ..., "nsec": ...}


class JsonTemplate:
    """JSON text with places for numbers.

    structure : maps and lists whose ends are texts, which stay, None for each number, or ``TIME``.
    """

    def __init__(self, structure: Any) -> None:
        self._structure = structure
        tokens = list(_tokens(structure))
        self._stamped = [place is TIME for place in tokens if not isinstance(place, str)]
        texts = (t.replace("%", "%%") if isinstance(t, str) else "%b" for t in tokens)
        self._text = "".join(texts).encode()

    def fill(self, times: Sequence[int], values: np.ndarray) -> Iterator[bytes]:
        """Return a message for each time [ns] and row of values (n, numbers), in the order of the structure.

        A number that is not finite is left out with its name, because JSON has none.
        """
        stamps = [b'{"sec":%d,"nsec":%d}' % divmod(time, 1_000_000_000) for time in times]
        finite = np.isfinite(values).all(axis=1)
        lines = to_json(values.tolist())[2:-2].split(b"],[")
        for stamp, whole, line, row in zip(stamps, finite.tolist(), lines, values, strict=True):
            if whole:
                numbers = iter(line.split(b","))
                yield self._text % tuple([stamp if s else next(numbers) for s in self._stamped])
            else:
                told = _without(self._structure, iter(row.tolist()), json.loads(stamp))
                yield json.dumps(told).encode()


def _tokens(node: Any) -> Iterator[Any]:
    """The text of a structure, and its places where they stand."""
    if isinstance(node, dict):
        for i, (key, value) in enumerate(node.items()):
            yield f"{',' if i else '{'}{json.dumps(key)}:"
            yield from _tokens(value)
        yield "}" if node else "{}"
    elif isinstance(node, list):
        for i, value in enumerate(node):
            yield "," if i else "["
            yield from _tokens(value)
        yield "]" if node else "[]"
    else:
        yield json.dumps(node) if isinstance(node, str) else node


def _without(node: Any, numbers: Iterator[float], stamp: dict[str, int]) -> Any:
    """The same with its numbers, and without those that are not finite."""
    if isinstance(node, dict):
        found = {key: _without(value, numbers, stamp) for key, value in node.items()}
        return {key: value for key, value in found.items() if value is not None}
    if isinstance(node, list):
        found_in = [_without(value, numbers, stamp) for value in node]
        return [value for value in found_in if value is not None]
    if node is None:
        number = next(numbers)
        return number if math.isfinite(number) else None
    return stamp if node is TIME else node
