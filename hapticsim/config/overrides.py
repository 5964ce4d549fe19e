"""Values laid over a scene file: dotted keys of the schema, entries of lists by name or by number.

They come after ``extends``, so that a scene with them is the scene of the same file edited by hand.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from hapticsim.config.schema.refusal import dotted, shown, unknown_key, without_none
from hapticsim.config.schema.scene import SceneFile
from hapticsim.config.schema.settings import is_section, keys_of
from hapticsim.config.yaml_text import parse_value
from hapticsim.errors import ConfigError, listed, nearest

Place = tuple[str | int, ...]

LONGEST = 200  # characters of a key in a refusal
_NAMED_BY = ("name", "joint")  # what tells the entries of a list apart; torque laws have no name of their own


def parse_settings(words: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Return the values written as ``KEY=VALUE``, where VALUE is YAML."""
    found: dict[str, Any] = {}
    for word in words:
        key, equals, text = word.partition("=")
        if not equals or not text.strip():
            raise ConfigError(
                option, word, "is not usable: write KEY=VALUE, or KEY=null to take a section away."
            )
        if key in found:
            raise ConfigError(option, key, "is given twice: keep one of the two.")
        found[key] = parse_value(f"{option} {key}", text)
    return found


def refuse_settings(file: object, words: Sequence[str]) -> None:
    """Refuse values for a file that is no scene.

    Raises
    ------
    ConfigError : where there are any.
    """
    if words:
        raise ConfigError(
            "--set",
            words[0],
            f"is for scene files, and {file} is none: write it as one with 'hapticsim model {file} --yaml'.",
        )


def apply_overrides(
    data: dict[str, Any], overrides: Mapping[str, Any], option: str
) -> tuple[dict[str, Any], dict[Place, str]]:
    """Return the data with the values in their places, and the key that was given for each place.

    data : of a scene file, not checked yet; it is not changed.
    overrides : plain values by dotted key, laid over it in their order.
    option : what refusals call them, such as ``--set``.

    Raises
    ------
    ConfigError : a key that leads nowhere.
    """
    result, given = copy.deepcopy(data), {}
    for key, value in overrides.items():
        place = _Way(result, key, option).place()
        _put(result, place, copy.deepcopy(value))
        given[place] = key
    return result, given


def key_of(place: Place, given: Mapping[Place, str]) -> str:
    """Return the override that decides the value at ``place``, as the user wrote it and what lies below it.

    Empty where none does.
    """
    for start, key in reversed(list(given.items())):
        if place[: len(start)] == start:
            rest = dotted(place[len(start) :])
            return key + rest if rest.startswith("[") else f"{key}.{rest}" if rest else key
    return ""


def key_below(section: str, given: Mapping[Place, str]) -> str:
    """Return an override that lies below a section such as ``robot.bodies[0].inertial``, or beside a value.

    Empty where none does.
    """
    for start in (section, section.rpartition(".")[0]):
        below = [key for place, key in given.items() if dotted(place).startswith((f"{start}.", f"{start}["))]
        if start and below:
            return below[-1]
    return ""


def _put(data: Any, place: Place, value: Any) -> None:
    *way, last = place
    for part in way:
        if isinstance(data, dict) and data.get(part) is None:  # a section that the file does not have yet
            data[part] = {}
        data = data[part]
    data[last] = value


class _Way:
    """The way of one dotted key through the schema and the data side by side."""

    def __init__(self, data: Any, key: str, option: str) -> None:
        self._key, self._option = key, option
        self._here, self._kind = data, SceneFile
        self._place: list[str | int] = []
        self._parts = key.replace("[", ".").replace("]", "").split(".")

    def place(self) -> Place:
        """Return the place that the key names."""
        if not all(self._parts):
            raise self._refusal(
                "has an empty part: write a dotted key such as robot.bodies.puck.inertial.mass_kg."
            )
        if self._parts[0] == "extends":
            raise self._refusal(
                "cannot be set, these values are laid over a whole scene: name the other file."
            )
        while self._parts:
            self._step()
        return tuple(self._place)

    def _step(self) -> None:
        kind = without_none(self._kind)
        if is_section(kind) or _sections(kind):
            self._into_section(kind)
        elif get_origin(kind) is list:
            self._into_list(get_args(kind)[0])
        elif get_origin(kind) is dict:
            self._into_mapping(get_args(kind)[1])
        elif isinstance(self._here, dict):  # what the schema leaves open: the options of a driver
            self._into_mapping(Any)
        else:
            raise self._refusal(f"goes on below {self._where()}, which is one value: end the key there.")

    def _into_section(self, kind: Any) -> None:
        part = self._parts.pop(0)
        if not isinstance(self._here, dict | None):
            raise self._refusal(f"leads into {self._where()}, which is {shown(self._here)} in this scene.")
        if not is_section(kind):  # told apart by their kind
            chosen = [s for s in _sections(kind) if (self._here or {}).get("kind") in _words(s)]
            if part == "kind" or not chosen:
                self._go(part, (self._here or {}).get(part), Any)
                return
            kind = chosen[0]
        if part not in keys_of(kind):
            named = f"has the part {part!r}, which " if self._parts else ""
            raise self._refusal(f"{named}{unknown_key(part, kind)}")
        field = keys_of(kind)[part]
        annotation = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
        self._go(part, (self._here or {}).get(part), annotation)

    def _into_list(self, kind: Any) -> None:
        if not isinstance(self._here, list) or not self._here:
            raise self._refusal(
                f"names an entry of {self._where()}, of which this scene has none: "
                "write them in the file, or give the whole list."
            )
        names = [_name(entry) for entry in self._here]
        for count in range(len(self._parts), 0, -1):  # names may have dots
            name = ".".join(self._parts[:count])
            if names.count(name) == 1:
                del self._parts[:count]
                index = names.index(name)
                self._go(index, self._here[index], kind)
                return
        part = self._parts.pop(0)
        if part.isascii() and part.isdigit() and len(part) < 7 and int(part) < len(self._here):
            self._go(int(part), self._here[int(part)], kind)
            return
        known = [name for name in names if name]
        those = f"there are {listed(known)}" if known else f"its entries are 0 to {len(self._here) - 1}"
        if names.count(part) > 1:
            raise self._refusal(
                f"names {part!r} in {self._where()}, of which there are several: give a number."
            )
        raise self._refusal(
            f"names {part!r}, which is not in {self._where()}{nearest(part, known)}: {those}."
        )

    def _into_mapping(self, kind: Any) -> None:
        here = self._here if isinstance(self._here, dict) else {}
        count = len(self._parts)
        while count > 1 and ".".join(self._parts[:count]) not in here:
            count -= 1
        if ".".join(self._parts[:count]) not in here:  # a new name, which may have dots too
            inside = without_none(kind)
            last = len(self._parts) - 1 if is_section(inside) else len(self._parts)
            count = max(last, 1) if inside is not Any else 1
        name = ".".join(self._parts[:count])
        del self._parts[:count]
        self._go(name, here.get(name), kind)

    def _go(self, part: str | int, here: Any, kind: Any) -> None:
        self._place.append(part)
        self._here, self._kind = here, kind

    def _where(self) -> str:
        return dotted(self._place)

    def _refusal(self, problem: str) -> ConfigError:
        key = self._key if len(self._key) <= LONGEST else f"{self._key[:LONGEST]}..."
        return ConfigError(self._option, key or '""', problem)


def _sections(kind: Any) -> list[Any]:
    """The sections of a union of them; none of anything else."""
    choices = list(get_args(kind)) if get_origin(kind) in (Union, types.UnionType) else []
    return choices if all(is_section(choice) for choice in choices) else []


def _words(section: Any) -> tuple[Any, ...]:
    annotation = section.model_fields["kind"].annotation
    return get_args(annotation) if get_origin(annotation) is Literal else ()


def _name(entry: Any) -> str:
    """What an entry of a list is called; empty where it has no name."""
    if not isinstance(entry, dict):
        return ""
    return next((entry[key] for key in _NAMED_BY if isinstance(entry.get(key), str)), "")
