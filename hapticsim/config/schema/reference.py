"""The page of all config keys, printed from the schema: ``python -m hapticsim.config.schema.reference``.

``docs/config.md`` ends with this text; a test compares the two.
"""

from __future__ import annotations

from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hapticsim.config.schema.compliance import AnyLaw, LawEntry
from hapticsim.config.schema.constraint_entry import ConstraintEntry
from hapticsim.config.schema.constraints import AnyConstraint
from hapticsim.config.schema.refusal import allowance, without_none
from hapticsim.config.schema.robot import Origin
from hapticsim.config.schema.scene import AnyShape, SceneFile, ShapeEntry
from hapticsim.config.schema.settings import SectionClass, is_section, keys_of
from hapticsim.model.settings import Settings

_UNIONS: tuple[tuple[Any, SectionClass], ...] = (
    (AnyShape, ShapeEntry),
    (AnyConstraint, ConstraintEntry),
    (AnyLaw, LawEntry),
)


def reference() -> str:
    """Return one Markdown table per section, in the order of the file, each section once."""
    tables: list[str] = []
    printed: set[SectionClass] = set()
    waiting: list[tuple[str, SectionClass]] = [("The file", SceneFile)]
    while waiting:
        title, section = waiting.pop(0)
        if section in printed:
            continue
        printed.add(section)
        tables.append(_table(title, section))
        nested: list[tuple[str, SectionClass]] = []
        for key, field in _own_fields(section).items():
            path = key if section is SceneFile else f"{title.strip('`')}.{key}"
            nested.extend(_nested(path, field))
        waiting[:0] = nested
    return "\n".join(tables)


def _own_fields(section: SectionClass) -> dict[str, FieldInfo]:
    """The keys of a section without those that its kinds share, which have their own table."""
    inherited: dict[str, FieldInfo] = {}
    for union, shared in _UNIONS:
        if section in get_args(get_args(union)[0]):
            inherited = keys_of(shared)
    return {key: field for key, field in keys_of(section).items() if key not in inherited}


def _nested(path: str, field: FieldInfo) -> list[tuple[str, SectionClass]]:
    """The sections that a key holds, with the title of each."""
    inner = without_none(field.annotation)
    if get_origin(inner) in (list, dict):
        path += "[]" if get_origin(inner) is list else ".<joint>"
        inner = without_none(get_args(inner)[-1])
    if inner is Origin:
        return [("`origin`, everywhere", Origin)]
    if is_section(inner):
        return [(f"`{path}`", inner)]
    kinds = [kind for kind in get_args(inner) if is_section(kind)]
    shared: list[tuple[str, SectionClass]] = [
        (f"`{path}`, every kind", base)
        for union, base in _UNIONS
        if kinds and kinds[0] in get_args(get_args(union)[0])
    ]
    return shared + [
        (f"`{path}`, {get_args(kind.model_fields['kind'].annotation)[0]}", kind) for kind in kinds
    ]


def _table(title: str, section: SectionClass) -> str:
    meaning = " ".join((section.__doc__ or "").split()).replace("``", "`")
    lines = [f"### {title}", "", meaning, ""]
    lines += ["| key | what it may be | default | meaning |", "|---|---|---|---|"]
    for key, field in _own_fields(section).items():
        words = allowance(field.annotation, field.metadata)
        lines.append(f"| `{key}` | {words} | {_default(field)} | {field.description} |")
    return "\n".join([*lines, ""])


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    value: Any = field.default
    if value is None or isinstance(value, BaseModel | Settings) or value in ([], {}):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    print(reference())
