"""Names of what a compiled MJCF file holds: its own, and one for what has none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError, brief
from hapticsim.model.constraints import is_constraint_name
from hapticsim.model.multibody.joint import WORLD

UNNAMED = "MuJoCo Model"  # what MuJoCo calls a model without a name


class Names:
    """Names of bodies, joints, geoms, sites and so on by their numbers; each is there once.

    Raises ConfigError : a name is not UTF-8, or holds what cannot be printed.
    """

    def __init__(self, path: Path, mj: Any, notes: list[str]) -> None:
        self._path, self._text = path, bytes(mj.names)
        model = self._at(0)
        self.model = path.stem if model in ("", UNNAMED) else model
        self.bodies = _filled(self._own(mj.name_bodyadr), lambda i: f"body_{i}")
        self.bodies[0] = WORLD
        self._bodies = set(self.bodies)
        self.joints = _filled(self._own(mj.name_jntadr), lambda i: f"{self.bodies[mj.jnt_bodyid[i]]}_joint")
        self._joints = set(self.joints)
        self.touching = touching_geoms(mj)
        order = np.argsort(~self.touching, kind="stable")  # those that may collide get their body's name
        self.geoms = _filled(self._own(mj.name_geomadr), lambda i: self.bodies[mj.geom_bodyid[i]], order)
        self.keyframes = _filled(self._own(mj.name_keyadr), lambda i: f"keyframe_{i + 1}")
        self.sites = _filled(self._own(mj.name_siteadr), lambda i: f"site_{i + 1}")
        self.meshes = self._own(mj.name_meshadr)
        equalities = self._own(mj.name_eqadr)
        for i, name in enumerate(equalities):
            if name and not is_constraint_name(name):
                notes.append(
                    f"the equality {brief(name)} is called 'equality_{i + 1}': its name is too long."
                )
                equalities[i] = ""
        self.equalities = _filled(equalities, lambda i: f"equality_{i + 1}")

    def between(self, body: str, joint: str) -> str:
        """A name for a body without mass that a joint of a body moves."""
        return _new(f"{body}:{joint}", self._bodies)

    def fixing(self, body: str) -> str:
        """A name for the joint that fixes a body."""
        return _new(f"{body}_fixed", self._joints)

    def _own(self, addresses: Sequence[int]) -> list[str]:
        return [self._at(int(address)) for address in addresses]

    def _at(self, address: int) -> str:
        raw = self._text[address : self._text.index(b"\0", address)]
        try:
            name = raw.decode()
        except UnicodeDecodeError:
            raise ConfigError(
                self._path, "", f"has the name {raw!r}, which is not UTF-8: save it as UTF-8."
            ) from None
        if name and not name.isprintable():
            raise ConfigError(self._path, "", f"has the name {name!r}, which cannot be printed: rename it.")
        return name


def touching_geoms(mj: Any) -> np.ndarray:
    """(ngeom,) whether a geom may touch another: by its masks, or as one of a pair."""
    found = (np.asarray(mj.geom_contype) | np.asarray(mj.geom_conaffinity)) != 0
    found[mj.pair_geom1] = found[mj.pair_geom2] = True
    return found


def _filled(
    names: list[str], missing: Callable[[int], str], order: Sequence[int] | np.ndarray | None = None
) -> list[str]:
    """The names, and new ones where there is none, given in this order."""
    taken, found = {name for name in names if name}, list(names)
    for i in range(len(names)) if order is None else order:
        found[i] = found[i] or _new(missing(int(i)), taken)
    return found


def _new(name: str, taken: set[str]) -> str:
    """The name, or with a number that makes it new; it is taken from then on."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found
