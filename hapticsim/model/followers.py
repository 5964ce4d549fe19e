"""Joints that follow others: what ``mimic`` names is found, chains are shortened, circles refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.model.multibody.joint import Joint, Mimic
from hapticsim.model.reduce import LOCKABLE, fixed_at


def with_followers(
    file: object, joints: Sequence[Joint], joint_key: Callable[[str], str]
) -> tuple[Joint, ...]:
    """Return the joints, every ``mimic`` naming a joint with a coordinate of its own.

    A joint that follows a follower follows the first of the row; one that follows a fixed joint, or with the
    multiplier 0, is fixed where that puts it.

    Raises
    ------
    ConfigError : a joint follows itself, directly or in a circle, or something that is no joint with one
        coordinate, or has itself more than one.
    """
    by_name = {j.name: j for j in joints}
    valid = [j.name for j in joints if j.kind in (*LOCKABLE, "fixed")]

    def check(joint: Joint, leader: str) -> None:
        key = joint_key(joint.name)
        if joint.kind not in LOCKABLE:
            raise ConfigError(
                file, key, f"is {joint.kind} and cannot follow another: only joints with one coordinate can."
            )
        if leader == joint.name:
            raise ConfigError(
                file, key, "mimics itself: name the joint that it follows, or remove the mimic."
            )
        others = [v for v in valid if v != joint.name]
        if leader not in valid:
            raise ConfigError(
                file,
                key,
                f"mimics {leader!r}, which is no joint with one coordinate{nearest(leader, others)}: "
                + (f"correct it to one of {listed(others)}, or " if others else "")
                + "remove the mimic.",
            )

    def resolved(joint: Joint) -> Joint:
        mimic, row = joint.mimic, [joint.name]
        if mimic is None:
            return joint
        check(joint, mimic.joint)
        while by_name[mimic.joint].mimic is not None:
            leader = by_name[mimic.joint]
            assert leader.mimic is not None
            check(leader, leader.mimic.joint)
            if leader.name in row:
                raise ConfigError(
                    file,
                    joint_key(joint.name),
                    f"is in a circle of joints that follow one another ({listed(row)}): "
                    "remove the mimic of one of them.",
                )
            row.append(leader.name)
            mimic = Mimic(
                leader.mimic.joint,
                mimic.multiplier * leader.mimic.multiplier,
                mimic.multiplier * leader.mimic.offset + mimic.offset,
            )
        if by_name[mimic.joint].kind == "fixed" or mimic.multiplier == 0.0:
            return fixed_at(joint, mimic.offset)
        return replace(joint, mimic=mimic)

    return tuple(resolved(j) for j in joints)
