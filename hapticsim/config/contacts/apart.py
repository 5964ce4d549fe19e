"""Shapes that the files of a robot keep apart: a pattern of ``contacts`` does not pair them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hapticsim.model.scene import Shape


@dataclass(frozen=True)
class Apart:
    """A rule of a file."""

    said_by: str  # as a sentence names it: ``disable_collisions of panda.srdf``
    keeps: Callable[[Shape, Shape], bool]  # whether two shapes are not to touch
