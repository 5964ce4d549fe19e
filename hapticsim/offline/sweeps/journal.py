"""Results of a sweep on disk, one line of JSON each, so that nothing is computed twice.

The first line names the function; a line more for every set that is done: the hash of its parameters and what
came of it.  A line is complete or, after a crash, the last one is not: then that set is run again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene

_HEAD = b'{"sweep": '  # how a journal begins


class Journal:
    """A file of results; a context manager that keeps it open for adding."""

    def __init__(self, path: str | Path, function: Callable) -> None:
        """Read what is there; refuse a file of another function, or one that is no journal."""
        self._path, self._name = Path(path), _name_of(function)
        self._results: dict[str, Any] = {}
        try:
            end = self._read()
            self._file = open(self._path, "ab")
            self._file.truncate(end)
        except OSError as error:
            raise ConfigError(
                path, "", f"cannot be used as a journal ({error.strerror}): give another file."
            ) from None
        if end == 0:
            self._write({"sweep": self._name})

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def has(self, parameters: Any) -> bool:
        """Say whether a set has been run."""
        return self._key(parameters) in self._results

    def result(self, parameters: Any) -> Any:
        """Return what came of a set that has been run."""
        return self._results[self._key(parameters)]

    def add(self, parameters: Any, value: Any) -> Any:
        """Keep what came of a set, and return it as it will be read again."""
        try:
            text = json.dumps(value, default=_plain)
        except (TypeError, ValueError) as error:
            raise self._refusal(f"results ({error})") from None
        key, read_again = self._key(parameters), json.loads(text)
        self._write({"set": key, "result": read_again})
        self._results[key] = read_again
        return read_again

    def _read(self) -> int:
        """Read all complete lines; return where they end."""
        if not self._path.exists():
            return 0
        data = self._path.read_bytes()
        end = data.rfind(b"\n") + 1
        if end == 0 and not data.startswith(_HEAD[: len(data)]):
            raise self._stranger(1)
        for number, line in enumerate(data[:end].splitlines(), start=1):
            try:
                found = json.loads(line)
                if number > 1:
                    self._results[found["set"]] = found["result"]
                    continue
                name = found["sweep"]
            except (ValueError, TypeError, KeyError):
                raise self._stranger(number) from None
            if name != self._name:
                raise ConfigError(
                    self._path, "line 1", f"is of {name}, not of {self._name}: give every sweep its own file."
                )
        return end

    def _stranger(self, number: int) -> ConfigError:
        return ConfigError(
            self._path,
            f"line {number}",
            "is not one of a journal: take the line out, or give another file.",
        )

    def _write(self, entry: dict[str, Any]) -> None:
        self._file.write(json.dumps(entry).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def _key(self, parameters: Any) -> str:
        try:
            text = json.dumps(parameters, sort_keys=True, default=_plain)
        except (TypeError, ValueError) as error:
            raise self._refusal(f"parameters ({error})") from None
        return hashlib.sha256(text.encode()).hexdigest()[:24]

    def _refusal(self, what: str) -> ConfigError:
        return ConfigError(
            self._path,
            "",
            f"cannot hold these {what}: use numbers, text, lists, dicts and arrays, or no journal.",
        )


def _plain(value: Any) -> Any:
    """Return arrays and numbers of numpy, and scenes, as JSON has them."""
    if isinstance(value, Scene):
        meshes = [shape.fingerprint for shape in value.shapes if shape.mesh is not None]
        robot = [value.robot_fingerprint] if value.robot_fingerprint else []
        return [value.path, value.source, *meshes, *robot]
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _name_of(function: Callable) -> str:
    if isinstance(function, functools.partial):
        return f"{_name_of(function.func)} with {function.args!r} {function.keywords!r}"
    module = getattr(function, "__module__", "")
    return f"{module}.{getattr(function, '__qualname__', type(function).__qualname__)}"
