"""Names of what a compiled MJCF file holds: its own, and one for what has none."""

from __future__ import annotations

from typing import Any

from hapticsim.model.multibody.joint import WORLD


class Names:
    """Names of bodies, joints, geoms, sites and so on by their numbers; each is there once."""

    def __init__(self, mj: Any) -> None:
        import mujoco

        kinds = mujoco.mjtObj

        def own(kind: Any, count: int) -> list[str]:
            return [mujoco.mj_id2name(mj, kind, i) or "" for i in range(count)]

        self.model = bytes(mj.names).split(b"\0", 1)[0].decode(errors="replace")
        self.bodies = _filled(own(kinds.mjOBJ_BODY, mj.nbody), lambda i: f"body_{i}")
        self.bodies[0] = WORLD
        self._bodies = set(self.bodies)
        self.joints = _filled(
            own(kinds.mjOBJ_JOINT, mj.njnt), lambda i: f"{self.bodies[mj.jnt_bodyid[i]]}_joint"
        )
        self._joints = set(self.joints)
        self.geoms = _filled(own(kinds.mjOBJ_GEOM, mj.ngeom), lambda i: self.bodies[mj.geom_bodyid[i]])
        self.keyframes = _filled(own(kinds.mjOBJ_KEY, mj.nkey), lambda i: f"keyframe_{i + 1}")
        self.sites = _filled(own(kinds.mjOBJ_SITE, mj.nsite), lambda i: f"site_{i + 1}")
        self.equalities = _filled(own(kinds.mjOBJ_EQUALITY, mj.neq), lambda i: f"equality_{i + 1}")

    def between(self, body: str, joint: str) -> str:
        """A name for a body without mass that a joint of a body moves."""
        return _new(f"{body}:{joint}", self._bodies)

    def fixing(self, body: str) -> str:
        """A name for the joint that fixes a body."""
        return _new(f"{body}_fixed", self._joints)


def _filled(names: list[str], missing: Any) -> list[str]:
    taken = {name for name in names if name}
    return [name or _new(missing(i), taken) for i, name in enumerate(names)]


def _new(name: str, taken: set[str]) -> str:
    """The name, or with a number that makes it new; it is taken from then on."""
    found, number = name, 2
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    taken.add(found)
    return found
