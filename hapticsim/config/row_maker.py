"""What the kinds of constraints make their rows with: the names and directions of an entry, checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hapticsim.errors import ConfigError, Refuse, listed, nearest
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.protocol import SceneModel

BODIES = "bodies"  # the key

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class RowMaker:
    """Reads the keys of one entry for the rows that its kind makes; what cannot be used is refused."""

    entry: object
    model: SceneModel
    place: Place  # of the entry in the file
    refusal: Refuse

    def refuse(self, place: Place, problem: str) -> ConfigError:
        """The refusal of what stands in a place of the entry."""
        return self.refusal((*self.place, *place), problem)

    def bodies(self) -> tuple[str, str]:
        """The two names under ``bodies``, of bodies that can move against each other."""
        names = tuple(getattr(self.entry, BODIES))
        carriers = (WORLD, *self.model.body_names)
        for i, name in enumerate(names):
            if name not in carriers:
                raise self.refuse(
                    (BODIES, i),
                    f"= {name!r} is not a body{nearest(name, carriers)}: the bodies are {listed(carriers)}.",
                )
        a, b = names
        if a == b:
            raise self.refuse(
                (BODIES,),
                f"= [{a}, {b}] names one body twice: name two that can move against each other.",
            )
        anchor = self.model.rigid_groups()
        if anchor[a] == anchor[b]:
            raise self.refuse(
                (BODIES,),
                f"= [{a}, {b}] names two bodies that cannot move against each other: fixed joints hold them "
                "together; name others, or remove the constraint.",
            )
        return a, b

    def vector(self, key: str) -> np.ndarray:
        """The numbers under a key."""
        return np.array(getattr(self.entry, key), dtype=float)

    def direction(self, key: str) -> np.ndarray:
        """(3,) the vector under a key, whose length is not zero."""
        value = self.vector(key)
        if float(np.linalg.norm(value)) < 1e-9:
            raise self.refuse((key,), f"= {value.tolist()} has length zero: give it a direction.")
        return value

    def joint(self, name: str, *place: str | int) -> str:
        """The name in a place of the entry, of a joint with one coordinate."""
        names = [j.name for j in self.model.moving_joints if j.unit]
        if name not in names:
            raise self.refuse(
                place,
                f"= {name!r} is not a joint with one coordinate{nearest(name, names)}: "
                f"they are {listed(names)}.",
            )
        return name
