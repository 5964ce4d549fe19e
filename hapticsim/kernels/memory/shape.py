"""Shapes of arrays, declared in names of sizes, worked out, and compared with what was given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import CodeType
from typing import Any

import numpy as np


class Shape:
    """The extents of an array.

    Parameters
    ----------
    extents : numbers, or one text of names and sums, as in ``"nb + nk, 4"``.
    """

    def __init__(self, *extents: int | str) -> None:
        self.extents = tuple(part.strip() for extent in extents for part in str(extent).split(","))

    def __str__(self) -> str:
        return f"({', '.join(self.extents)})"

    def worked_out(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """The shape for these sizes; KeyError or NameError where one is not among them."""
        return tuple(_worked_out(extent, sizes) for extent in self.extents)


def of(*extents: int | str) -> Any:
    """Declare the shape of a field of a block (block.py): its extents, as ``Shape``."""
    return Shape(*extents)


def check_shapes(
    owner: str, shapes: Mapping[str, Shape], arrays: Mapping[str, np.ndarray], constants: Mapping[str, Any]
) -> None:
    """Raise ValueError for the first array that is not of its shape.

    A size is what the first array says in whose shape it stands alone.

    constants : named in the shapes, and no sizes.
    """
    sizes: dict[str, int] = {}
    for name, shape in shapes.items():
        for extent, found in zip(shape.extents, arrays[name].shape, strict=False):
            if extent.isidentifier():
                sizes.setdefault(extent, constants.get(extent, found))
    for name, shape in shapes.items():
        wanted, found = shape.worked_out({**constants, **sizes}), arrays[name].shape
        if wanted != found:
            raise ValueError(f"{owner}.{name} has the shape {found}, and {shape} is {wanted}")


def _worked_out(extent: str, sizes: Mapping[str, int]) -> int:
    if extent.isdigit():
        return int(extent)
    if extent.isidentifier():
        return sizes[extent]
    return int(eval(_compiled(extent), {"__builtins__": {}}, dict(sizes)))  # a sum, from our own sources


@cache
def _compiled(extent: str) -> CodeType:
    return compile(extent, "<shape>", "eval")
