"""What the schema did not accept, as one sentence: key, value found, what is allowed, nearest valid name."""

from __future__ import annotations

import re
import types
from collections.abc import Iterable
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from hapticsim.config.schema.robot import ADDRESS, Words
from hapticsim.config.schema.settings import SectionClass, is_section, keys_of
from hapticsim.errors import listed, nearest

# The words of a key from which on it spells a unit: stiffness_|N_per_m, inertia_|kg_m2.
_UNIT = re.compile(
    r"_(?:[nmukcMG]?(?:N|m|s|g|Hz|J|W)|kg|Nm|Nms|Ns|Nmm|mNm|rad|deg|degrees?|rpm|lb|lbf|inch|min|percent)"
    r"(?:2|3)?(?=_|$)"
)

_UNKNOWN = ("extra_forbidden", "unexpected_keyword_argument")  # a key that a section does not have
_EMPTY_KEY = '""'

# What people choose, for the sentence about a value out of range.
_TYPICAL = {
    "coupler.stiffness_N_per_m": "200 to 2000 are typical walls",
    "rate_Hz": "1000 is usual",
}


def sentence(schema: type[BaseModel], error: ValidationError) -> tuple[tuple[str | int, ...], str]:
    """Return where the first fault of ``error`` is and the rest of the sentence about it.

    An unknown key is reported before a missing one, since the first is usually the second misspelt.
    """
    faults = sorted(error.errors(include_url=False), key=lambda fault: fault["type"] not in _UNKNOWN)
    fault = faults[0]
    place, section, field = _walk(schema, fault["loc"])
    return place, _problem(fault, place, section, field)


def dotted(place: Iterable[str | int]) -> str:
    """``("contacts", 0, "between")`` as ``contacts[0].between``."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}"
    return text.removeprefix(".")


def _problem(
    fault: ErrorDetails,
    place: tuple[str | int, ...],
    section: SectionClass | None,
    field: FieldInfo | None,
) -> str:
    kind = fault["type"]
    if kind in _UNKNOWN and section is not None:
        return unknown_key(str(place[-1]), section)
    if kind == "missing":
        meaning = f" ({field.description})" if field and field.description else ""
        allowed = allowance(field.annotation, field.metadata) if field else "a value"
        return f"is missing{meaning}: add it as {allowed}."
    if kind == "union_tag_not_found":
        return f"has no kind: add kind as one of {listed(_kinds(field))}."
    if kind == "union_tag_invalid":
        word = fault["input"]["kind"]
        kinds = _kinds(field)
        hint = nearest(word, kinds) if isinstance(word, str) else ""
        return f"has the kind {shown(word)}{hint}: write one of {listed(kinds)}."
    if place and place[-1] == _EMPTY_KEY:
        return "has an empty name: write the name of a joint."
    allowed = allowance(field.annotation, field.metadata) if field else "a value of the right form"
    typical = _TYPICAL.get(dotted(place))
    words = _literals(field.annotation) if field else []
    hint = nearest(fault["input"], words) if isinstance(fault["input"], str) else ""
    remark = f" ({typical})" if typical else ""
    if field and without_none(field.annotation) is str and isinstance(fault["input"], bool | int | float):
        remark = f' (in quotes: "{shown(fault["input"])}")'
    return f"= {shown(fault['input'])} is not usable{hint}: it must be {allowed}{remark}."


def unknown_key(key: str, section: SectionClass) -> str:
    """Return the rest of a sentence about a key that a section does not have."""
    valid = list(keys_of(section))
    same_quantity = [name for name in valid if _quantity(name) == _quantity(key)]
    if same_quantity:
        return f"has the wrong unit or none: write {' or '.join(same_quantity)} (SI units throughout)."
    return f"is not a key here{nearest(key, valid)}: the keys are {listed(valid)}."


def _quantity(key: str) -> str:
    """The part of a key in front of its unit."""
    match = _UNIT.search(key)
    return key[: match.start()] if match else key


def _walk(
    schema: type[BaseModel], loc: tuple[str | int, ...]
) -> tuple[tuple[str | int, ...], SectionClass | None, FieldInfo | None]:
    """Follow an error's location through the schema.

    Returns the location as it stands in the file (without the tags of unions), the section that holds its
    last key, and the schema of the value there, as far as they exist.
    """
    place: list[str | int] = []
    here: Any = schema
    field: FieldInfo | None = None
    section: SectionClass | None = schema
    for part in loc:
        here = without_none(here)
        if get_origin(here) in (Union, types.UnionType):  # sections told apart by their kind
            chosen = [c for c in get_args(here) if c.model_fields["kind"].annotation == Literal[part]]
            if chosen:
                here = chosen[0]
                continue
        if part == "[key]":  # the schema's word for a fault in a key itself, which then came before it
            place[-1:] = [_EMPTY_KEY]
            return tuple(place), None, None
        place.append(part)
        if is_section(here):
            section, field = here, keys_of(here).get(str(part))
            here = field.annotation if field else None
        elif get_origin(here) in (list, dict):
            section, here = None, get_args(here)[-1]
            field = FieldInfo.from_annotation(here)
        else:
            section, field, here = None, None, None
    return tuple(place), section, field


def without_none(annotation: Any) -> Any:
    """Strip ``Annotated`` and ``| None``."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
            continue
        if get_origin(annotation) in (Union, types.UnionType):
            some = [a for a in get_args(annotation) if a is not type(None)]
            if len(some) == 1:
                annotation = some[0]
                continue
        return annotation


def _kinds(field: FieldInfo | None) -> list[str]:
    """The words that tell the sections of a union apart."""
    sections = get_args(without_none(field.annotation)) if field else ()
    return [word for section in sections for word in _literals(section.model_fields["kind"].annotation)]


def _literals(annotation: Any) -> list[str]:
    annotation = without_none(annotation)
    return [str(a) for a in get_args(annotation)] if get_origin(annotation) is Literal else []


def allowance(annotation: Any, metadata: Iterable[Any] = ()) -> str:
    """What a value of this type may be, in words that follow 'it must be'."""
    marks = list(metadata)
    while True:  # gather the bounds on the way to the bare type
        if get_origin(annotation) is Annotated:
            bare, *more = get_args(annotation)
            for mark in more:
                marks.extend(mark.metadata if isinstance(mark, FieldInfo) else [mark])
            annotation = bare
        elif without_none(annotation) is not annotation:
            some = [a for a in get_args(annotation) if a is not type(None)]
            annotation = some[0]
        else:
            break
    for mark in marks:
        if isinstance(mark, Words):
            return mark.text
    bounds = {
        n: getattr(m, n) for m in marks for n in ("gt", "ge", "lt", "le") if getattr(m, n, None) is not None
    }
    if annotation is float:
        return f"a finite number{_bounds(bounds)}"
    if annotation is int:
        return f"a whole number{_bounds(bounds)}"
    if annotation is bool:
        return "true or false"
    if annotation is str:
        if any(getattr(m, "pattern", None) == ADDRESS for m in marks):
            return "an address like ipc:///tmp/name or tcp://127.0.0.1:5555"
        kind = "printable characters" if any(isinstance(m, AfterValidator) for m in marks) else "letters"
        return f"a name{_length(marks, kind)}"
    if get_origin(annotation) is Literal:
        return f"one of {listed(map(str, get_args(annotation)))}"
    if get_origin(annotation) is list:
        count = _count(marks)
        item = get_args(annotation)[0]
        if get_origin(without_none(item)) is list:
            return allowance(item).replace("a list", "a list of lists", 1)
        if is_section(without_none(item)) or not isinstance(without_none(item), type):
            return "a list of mappings"
        words = allowance(item).removeprefix("a ")
        if count != "at least 1":
            words = words.replace("number", "numbers").replace("name of", "names of")
        return f"a list of {count} {words}" if count else f"a list of {words}"
    return "a mapping of keys"


def _count(marks: list[Any]) -> str:
    """How many items a list has, in words; empty where any number will do."""
    least = next((m.min_length for m in marks if getattr(m, "min_length", None)), None)
    most = next((m.max_length for m in marks if getattr(m, "max_length", None)), None)
    return "" if least is None else f"{least}" if least == most else f"at least {least}"


def _length(marks: Iterable[Any], kind: str) -> str:
    most = next((m.max_length for m in marks if getattr(m, "max_length", None)), None)
    return f" of 1 to {most} {kind}" if most else ""


def _bounds(bounds: dict[str, float]) -> str:
    """``" above 0"``, ``" from 0 to 255"``, or nothing."""
    if {"ge", "le"} <= bounds.keys():
        return f" from {bounds['ge']:.10g} to {bounds['le']:.10g}"
    words = {"gt": "above", "ge": "of at least", "lt": "below", "le": "at most"}
    parts = [f"{words[name]} {value:g}" for name, value in bounds.items()]
    return f" {' and '.join(parts)}" if parts else ""


def shown(value: Any) -> str:
    """The value as a reader of the file would recognise it, never longer than a line."""
    if isinstance(value, dict):
        return "a mapping"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    try:
        text = repr(value)
    except ValueError:  # an integer too long to print
        return "a very long number"
    return text if len(text) <= 60 else text[:57] + "..."
