"""Reading payloads that came over the wire: numbers or one sentence about what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

Payload = Mapping[str, Any]


class Unreadable(Exception):
    """A payload lacks a key or holds the wrong kind of value; the text says which."""


class reading:
    """Turn what goes wrong inside a ``with`` block into ``Unreadable`` with the topic's name."""

    def __init__(self, topic: str) -> None:
        self.topic = topic

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type | None, problem: BaseException | None, trace: object) -> None:
        if isinstance(problem, KeyError):
            raise Unreadable(f"{self.topic}: key {problem} is missing") from problem
        if isinstance(problem, (Unreadable, ValueError, TypeError, AttributeError)):
            raise Unreadable(f"{self.topic}: {problem}") from problem


def numbers(values: Any, key: str, count: int | None = None) -> np.ndarray:
    """Return finite numbers (n,), n as given; ``key`` is named where they are not.  Raises Unreadable."""
    array = np.asarray(values, dtype=float).ravel()
    if count is not None and array.size != count:
        raise Unreadable(f"{key} holds {array.size} numbers instead of {count}")
    if not np.isfinite(array).all():
        raise Unreadable(f"{key} is not finite")
    return array


def vector(payload: Payload, key: str, default: np.ndarray | None = None) -> Any:
    """Return three numbers (3,), or the default where there are none."""
    value = payload.get(key)
    return default if value is None else numbers(value, key, 3)
