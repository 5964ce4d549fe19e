"""How a published topic is declared: each key with its type, its unit and its meaning.

``published.py`` and ``between_sites.py`` hold the declarations.  ``docs/protocol.md`` prints them as tables;
tests hold what is published, and what is read of it, against them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _list_of(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: type(value) is list and all(check(one) for one in value)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "integer": lambda value: type(value) is int,
    "number": _is_number,
    "text": lambda value: type(value) is str,
    "boolean": lambda value: type(value) is bool,
    "bytes": lambda value: type(value) is bytes,
    "map": lambda value: type(value) is dict,
    "maps": _list_of(lambda one: type(one) is dict),
    "texts": _list_of(lambda one: type(one) is str),
    "integers": _list_of(lambda one: type(one) is int),
    "numbers": _list_of(_is_number),
    "lists of integers": _list_of(_list_of(lambda one: type(one) is int)),
    "lists of numbers": _list_of(_list_of(_is_number)),
}


@dataclass(frozen=True)
class Field:
    """One key of a map."""

    key: str
    type: str  # a key of _TYPES
    meaning: str
    unit: str = ""
    count: int | str = ""  # of the members of a list: a number, or words such as "7 per body"
    nil: bool = False  # it may be nil
    absent: bool = False  # it may be left out
    inside: tuple[Field, ...] = ()  # the keys of the map, or of each of the maps; none: any

    @property
    def type_words(self) -> str:
        """The type as a table has it: ``3 numbers or nil``."""
        words = f"{self.count} {self.type}" if isinstance(self.count, int) else self.type
        words += f", {self.count}" if self.count and isinstance(self.count, str) else ""
        return words + (" or nil" if self.nil else "") + ("; may be absent" if self.absent else "")

    def fits(self, value: Any) -> bool:
        """Say whether a value is of the type, whatever its inside."""
        if value is None:
            return self.nil
        right = _TYPES[self.type](value)
        return right and (not isinstance(self.count, int) or len(value) == self.count)


@dataclass(frozen=True)
class Topic:
    """What the payload of a topic holds."""

    name: str
    fields: tuple[Field, ...]

    def paths(self) -> Iterator[tuple[str, Field]]:
        """Yield each key with those of the maps around it, ``device.force_N``, and its field."""
        yield from _paths("", self.fields)

    def problems(self, payload: dict[str, Any]) -> list[str]:
        """Return a sentence for each key that is not declared, has another type, or is left out wrongly."""
        return list(_problems("", self.fields, payload))

    def table(self) -> str:
        """Return the table of the page."""
        rows = [
            f"| `{path}` | {field.type_words} | {field.unit} | {field.meaning} |"
            for path, field in self.paths()
        ]
        return "\n".join(["| key | type | unit | meaning |", "|---|---|---|---|", *rows])


def keys_of(payload: Any, fields: tuple[Field, ...], above: str = "") -> set[str]:
    """Return the paths of all keys of a payload; where any key may be, of none."""
    by_key = {field.key: field for field in fields}
    found: set[str] = set()
    for key, value in payload.items():
        found.add(above + key)
        inside = by_key[key].inside if key in by_key else ()
        for one in value if type(value) is list else [value]:
            if inside and type(one) is dict:
                found |= keys_of(one, inside, f"{above}{key}.")
    return found


def _paths(above: str, fields: tuple[Field, ...]) -> Iterator[tuple[str, Field]]:
    for field in fields:
        yield above + field.key, field
        yield from _paths(f"{above}{field.key}.", field.inside)


def _problems(above: str, fields: tuple[Field, ...], payload: dict[str, Any]) -> Iterator[str]:
    by_key = {field.key: field for field in fields}
    for key in payload:
        if key not in by_key:
            yield f"{above}{key} is not declared"
    for key, field in by_key.items():
        if key not in payload:
            if not field.absent:
                yield f"{above}{key} is missing"
            continue
        value = payload[key]
        if not field.fits(value):
            yield f"{above}{key} = {value!r} is not {field.type_words}"
        elif field.inside and value is not None:
            for one in value if type(value) is list else [value]:
                yield from _problems(f"{above}{key}.", field.inside, one)
