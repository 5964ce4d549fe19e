"""Values of a Python program as those of a scene file: words, numbers, lists and mappings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from hapticsim.config.yaml_text import LARGEST, MAX_DEPTH, MAX_KEY, MAX_VALUES
from hapticsim.errors import ConfigError


def plain(value: Any, where: str, key: str = "") -> Any:
    """Return a copy in which arrays and tuples are lists, and numbers of numpy those of Python.

    where, key : named in refusals.
    """
    return _Copy(where).value(value, key, 0)


class _Copy:
    def __init__(self, where: str) -> None:
        self._where, self._count = where, 0

    def value(self, value: Any, key: str, depth: int) -> Any:
        self._count += 1
        if self._count > MAX_VALUES:
            raise ConfigError(self._where, key, f"holds more than {MAX_VALUES} values: leave some out.")
        if depth > MAX_DEPTH:
            raise ConfigError(self._where, key, f"is nested deeper than {MAX_DEPTH} levels: flatten it.")
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        if isinstance(value, Mapping):
            return {self._key(k, key): self.value(v, _below(key, k), depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(v, f"{key}[{i}]", depth + 1) for i, v in enumerate(value)]
        if isinstance(value, PurePath):
            return str(value)
        if isinstance(value, int | float) and LARGEST < abs(value) < math.inf:
            raise ConfigError(self._where, key, f"is a number beyond {LARGEST:g}: check its exponent.")
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int | float):  # of a subclass too, which no text could be made of
            return int(value) if isinstance(value, int) else float(value)
        raise ConfigError(
            self._where,
            key,
            f"is of the type {type(value).__name__}: write words, numbers, lists and mappings.",
        )

    def _key(self, key: Any, above: str) -> str:
        if not isinstance(key, str) or len(key) > MAX_KEY or not key.isprintable():
            raise ConfigError(self._where, above, f"has the key {key!r:.60}: keys are plain names.")
        return str(key)


def _below(key: str, part: Any) -> str:
    return f"{key}.{part}".removeprefix(".")
