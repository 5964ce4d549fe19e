"""What a robot file gave, as one hash: by it a recording knows its robot again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

import numpy as np

from hapticsim.model.triangle_mesh import TriangleMesh


def fingerprint_of(parts: object) -> str:
    """Return the sha256 of all numbers and names in dataclasses, mappings, sequences and arrays.

    The order of keys and whatever is zero, empty or None do not count: so a field that is added to a class
    later, and is not used, changes no hash.
    """
    digest = hashlib.sha256()
    for word in _words(parts):
        digest.update(word + b"\0")
    return digest.hexdigest()


def _words(value: object) -> Iterator[bytes]:
    if isinstance(value, TriangleMesh):
        yield value.fingerprint.encode()
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _words({field.name: getattr(value, field.name) for field in fields(value)})
    elif isinstance(value, Mapping):
        for key in sorted(value):
            words = list(_words(value[key]))
            if any(words):
                yield b"{"
                yield str(key).encode()
                yield from words
                yield b"}"
    elif isinstance(value, np.ndarray):
        yield value.astype("<f8").tobytes() if value.any() else b""
    elif isinstance(value, tuple | list):
        items = [list(_words(item)) for item in value]
        if any(any(words) for words in items):
            for words in items:
                yield b"["
                yield from words
                yield b"]"
    elif isinstance(value, float):
        yield value.hex().encode() if value else b""
    elif isinstance(value, str | int):
        yield str(value).encode() if value else b""
    elif value is not None:
        raise TypeError(f"a {type(value).__name__} has no fingerprint")
