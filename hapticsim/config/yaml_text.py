"""YAML text to plain data, without YAML's surprises.

Differences from PyYAML's ``safe_load``: numbers like ``1e-3`` are numbers, only ``true`` and ``false`` are
booleans (so a joint may be called ``on`` or ``y``), a key given twice is refused, and no text can make the
reader recurse or grow without bound.
"""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

from hapticsim.errors import ConfigError

MAX_VALUES = 100_000  # a scene has hundreds; anchors that multiply end here
MAX_DEPTH = 40
MAX_KEY = 120
LARGEST = 1e15  # no quantity here comes near, and squares and products of what is below stay finite

_INTEGER = re.compile(r"[-+]?[0-9]{1,4000}")  # int() refuses more digits than 4300
_FLOAT = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
_WORDS: dict[str, Any] = {
    "": None, "~": None, "null": None, "true": True, "false": False,
    ".inf": math.inf, "+.inf": math.inf, "-.inf": -math.inf, ".nan": math.nan,
}  # fmt: skip


def parse(file: object, text: str) -> dict[str, Any]:
    """Return the mapping written in ``text``; ``file`` is named in refusals."""
    node = _compose(file, text)
    if not isinstance(node, yaml.MappingNode):
        found = "is empty" if node is None else "holds a list or a single value"
        raise ConfigError(
            file, "", f"{found}: a scene file is a mapping of keys such as 'name:' and 'robot:'."
        )
    return _Plain(file).value(node, 0)


def parse_value(where: object, text: str) -> Any:
    """Return the value written in ``text``, of any kind; ``where`` is named in refusals."""
    node = _compose(where, text)
    return None if node is None else _Plain(where).value(node, 0)


def to_text(data: dict[str, Any]) -> str:
    """Return a text of which ``parse`` makes the same data."""
    return yaml.dump(data, Dumper=_Dumper, sort_keys=False)


class _Dumper(yaml.SafeDumper):
    """Writes words in quotes where ``parse`` would read something else, and no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _represent_word(dumper: yaml.SafeDumper, word: str) -> yaml.ScalarNode:
    style = None if _scalar(word, quoted=False) == word else "'"
    return dumper.represent_scalar("tag:yaml.org,2002:str", word, style=style)


_Dumper.add_representer(str, _represent_word)


def _compose(file: object, text: str) -> yaml.Node | None:
    """Return the node written in ``text``; None where there is none."""
    try:
        return yaml.compose(text, Loader=yaml.BaseLoader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "its text"
        raise ConfigError(
            file,
            "",
            f"{where} is not YAML ({error.problem or error.context}): correct it there or just above.",
        ) from None
    except yaml.YAMLError as error:
        reason = str(error).splitlines()[0]
        raise ConfigError(file, "", f"is not YAML ({reason}): save it as plain text in UTF-8.") from None
    except RecursionError:
        raise ConfigError(file, "", f"is nested deeper than {MAX_DEPTH} levels: flatten it.") from None


class _Plain:
    """Turns YAML nodes into dicts, lists and scalars, counting as it goes."""

    def __init__(self, file: object) -> None:
        self.file = file
        self.count = 0

    def value(self, node: yaml.Node, depth: int) -> Any:
        self.count += 1
        if self.count > MAX_VALUES:
            raise ConfigError(
                self.file, "", f"holds more than {MAX_VALUES} values: remove the anchors that repeat."
            )
        line = node.start_mark.line + 1
        if depth > MAX_DEPTH:
            raise ConfigError(
                self.file, "", f"line {line} is nested deeper than {MAX_DEPTH} levels: flatten it."
            )
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, depth + 1) for item in node.value]
        if isinstance(node, yaml.MappingNode):
            return self.mapping(node, depth)
        value = _scalar(node.value, quoted=getattr(node, "style", None) is not None)
        if isinstance(value, int | float) and LARGEST < abs(value) < math.inf:
            raise ConfigError(
                self.file,
                "",
                f"line {line} holds a number beyond {LARGEST:g}: check its exponent.",
            )
        return value

    def mapping(self, node: yaml.MappingNode, depth: int) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 1
            if not isinstance(key_node, yaml.ScalarNode):
                raise ConfigError(
                    self.file, "", f"line {line} has a key that is not a word: keys are plain names."
                )
            key = key_node.value
            if len(key) > MAX_KEY or not key.isprintable():
                raise ConfigError(
                    self.file,
                    "",
                    f"line {line} has a key that is too long or not printable: use a plain name.",
                )
            if key in result:
                raise ConfigError(
                    self.file, "", f"line {line} gives the key {key!r} again: keep one of the two."
                )
            result[key] = self.value(value_node, depth + 1)
        return result


def _scalar(text: str, quoted: bool) -> Any:
    """The value of a word; what is quoted, or a block, stays text."""
    if quoted:
        return text
    lowered = text.lower()
    if lowered in _WORDS:
        return _WORDS[lowered]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    return text


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the keys of ``over`` laid over it: mappings merge, anything else is replaced."""
    merged = dict(base)
    for key, value in over.items():
        below = merged.get(key)
        merged[key] = merge(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return merged
