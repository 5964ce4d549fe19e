"""Sections that are classes of ``model.settings``: how pydantic reads them, and what their keys are."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

from pydantic import BaseModel, GetCoreSchemaHandler
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema

from hapticsim.model.settings import Settings

SectionClass = type[BaseModel] | type[Settings]


class FromMapping:
    """Mark of a key that holds ``Settings``: given as a mapping, its values as strictly as all others."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        schema = handler(source)
        handler.resolve_ref_schema(schema)["strict"] = False  # type: ignore[index]  # typed as read-only
        return schema


def is_section(annotation: Any) -> bool:
    """Whether a value of this type is a mapping with keys of its own."""
    return isinstance(annotation, type) and issubclass(annotation, BaseModel | Settings)


def keys_of(section: SectionClass) -> dict[str, FieldInfo]:
    """Return type, range, default and meaning of each key of a section, in its order."""
    if issubclass(section, BaseModel):
        return section.model_fields
    hints, keys = get_type_hints(section, include_extras=True), {}
    for field in fields(section):
        key = FieldInfo.from_annotated_attribute(hints[field.name], field.default)
        key.description = next(m.documentation for m in key.metadata if hasattr(m, "documentation"))
        keys[field.name] = key
    return keys
