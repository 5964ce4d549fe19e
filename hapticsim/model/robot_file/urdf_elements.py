"""Elements of a URDF or SRDF: the root, names, numbers, vectors and poses, refused by where they stand."""

from __future__ import annotations

import math
from io import BytesIO
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.files.input_file import input_bytes
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.multibody.rotation import rotation_from_rpy

Element = ElementTree.Element
LARGEST = 1e15
MOST_BYTES = 20_000_000  # the largest of example-robot-data has 0.2 MB
TOO_LARGE = f"is larger than {MOST_BYTES // 1_000_000} MB: this is no robot."
ENCODING = "names an encoding that is not read: save it as UTF-8."
MOST_ELEMENTS = 500_000  # those of so many parts, with all they may hold, are fewer


def root_of(path: str | Path, what: str = "URDF") -> Element:
    """Return the root of a file; ``what`` it is: a URDF, or an SRDF, which starts in the same way."""
    data = input_bytes(path, what, MOST_BYTES, TOO_LARGE)
    try:
        root = _parsed(path, data)
    except ElementTree.ParseError as error:
        line, column = error.position
        raise ConfigError(
            path,
            "",
            f"line {line}, column {column + 1} is not XML ({str(error).split(':')[0]}): correct it there.",
        ) from None
    except (LookupError, ValueError):  # of the codec
        raise ConfigError(path, "", ENCODING) from None
    if str(path).endswith(".xacro") or any("ros.org/wiki/xacro" in e.tag for e in root.iter()):
        suffix = what.lower()
        raise ConfigError(
            path,
            "",
            f"is written in xacro: expand it first, 'xacro robot.{'srdf.' * (suffix == 'srdf')}xacro > "
            f"robot.{suffix}'.",
        )
    if root.tag != "robot":
        article = "an" if what == "SRDF" else "a"
        raise ConfigError(
            path, "", f"has the root element <{root.tag}>: {article} {what} starts with <robot name=...>."
        )
    return root


def _parsed(path: str | Path, text: bytes) -> Element:
    """The root element: element by element, as a file of nothing else takes a minute."""
    begun = ElementTree.iterparse(BytesIO(text), ("start",))
    _, root = next(begun)
    for count, _ in enumerate(begun, start=2):
        if count > MOST_ELEMENTS:
            raise ConfigError(path, "", f"has more than {MOST_ELEMENTS} elements: this is no robot.")
    return root


def name_of(path: str | Path, element: Element) -> str:
    name = element.get("name")
    if not name:
        raise ConfigError(path, f"<{element.tag}>", "has no name: every link and joint needs one.")
    return name


def origin_of(path: str | Path, key: str, element: Element) -> Placement:
    origin = element.find("origin")
    if origin is None:
        return Placement()
    zero = np.zeros(3)
    return Placement(
        rotation_from_rpy(vector_of(path, key, origin, "rpy", zero).tolist()),
        vector_of(path, key, origin, "xyz", zero),
    )


def vector_of(
    path: str | Path, key: str, element: Element, attribute: str, default: np.ndarray
) -> np.ndarray:
    text = element.get(attribute)
    if text is None:
        return default
    words = text.split()
    if len(words) != 3:
        raise ConfigError(
            path, key, f"has {attribute}={text!r} in <{element.tag}>: it must be three numbers."
        )
    return np.array([_float(path, key, element, attribute, word) for word in words])


def number_of(path: str | Path, key: str, element: Element | None, attribute: str, default: float) -> float:
    text = element.get(attribute) if element is not None else None
    if element is None or text is None:
        return default
    return _float(path, key, element, attribute, text)


def _float(path: str | Path, key: str, element: Element, attribute: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    # Files in circulation write inf for 'no limit'; nothing else may be infinite, or have an infinite square.
    if not (abs(value) <= LARGEST or (element.tag == "limit" and not math.isnan(value))):
        raise ConfigError(
            path, key, f"has {attribute}={word!r} in <{element.tag}>: it must be a number up to {LARGEST:g}."
        )
    return value
