"""How bodies hang together: the joints must make a tree from the world, and it is ordered parents first.

Used for robots from YAML and from URDF alike.  A ``Key`` turns the name of a body or joint into the key that
a refusal names, e.g. ``robot.joints[2]`` or ``link 'tip'``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.model.multibody.joint import WORLD, Body, Joint

Key = Callable[[str], str]


def named(key: Key, name: str) -> str:
    """The name in brackets for a sentence whose key does not say it."""
    return "" if repr(name) in key(name) else f"({name!r}) "


def check_names(
    file: object,
    bodies: Sequence[Body],
    joints: Sequence[Joint],
    body_key: Key,
    joint_key: Key,
    parents: Iterable[str],
) -> None:
    """Refuse repeated names, joints between bodies that do not exist, and bodies with two parent joints.

    parents : what may carry a joint.
    """
    for what, names, key in (
        ("body", [b.name for b in bodies], body_key),
        ("joint", [j.name for j in joints], joint_key),
    ):
        repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if repeated is not None:
            raise ConfigError(
                file,
                key(repeated),
                f"repeats the {what} name {repeated!r}: names must be unique; rename one.",
            )
    body_names, carriers = [b.name for b in bodies], list(parents)
    parent_joint: dict[str, str] = {}
    for joint in joints:
        for role, name, valid in (("parent", joint.parent, carriers), ("child", joint.child, body_names)):
            if name not in valid:
                raise ConfigError(
                    file,
                    joint_key(joint.name),
                    f"has the {role} {name!r}, which is not a body{nearest(name, valid)}: "
                    f"the bodies are {listed(valid)}.",
                )
        if joint.child in parent_joint:
            raise ConfigError(
                file,
                joint_key(joint.name),
                f"gives body {joint.child!r} a second parent joint after {parent_joint[joint.child]!r}: "
                "a tree allows one; leave the joint that closes the loop out.",
            )
        parent_joint[joint.child] = joint.name


def order_tree(
    file: object, bodies: Sequence[Body], joints: Sequence[Joint], body_key: Key, joint_key: Key
) -> tuple[tuple[Body, ...], tuple[Joint, ...]]:
    """Check that the joints make a tree from the world and order it parents first.

    The order is depth first; the children of a body, and those of the world, keep the order of ``joints``.

    Returns
    -------
    bodies, joints : of equal length, ``joints[i].child == bodies[i].name``.
    """
    by_name = {b.name: b for b in bodies}
    if WORLD in by_name:
        raise ConfigError(file, body_key(WORLD), "is named 'world', which is reserved: choose another name.")
    check_names(file, bodies, joints, body_key, joint_key, (WORLD, *by_name))
    hanging = {j.child for j in joints}
    for name in by_name:
        if name not in hanging:
            raise ConfigError(
                file,
                body_key(name),
                f"{named(body_key, name)}has no parent joint: add one whose child it is (type fixed or free, "
                "parent 'world', for a base).",
            )
    children: dict[str, list[Joint]] = {name: [] for name in (WORLD, *by_name)}
    for joint in joints:
        children[joint.parent].append(joint)
    ordered: list[Joint] = []
    waiting = children[WORLD][::-1]
    while waiting:
        joint = waiting.pop()
        ordered.append(joint)
        waiting.extend(reversed(children[joint.child]))
    if len(ordered) < len(joints):
        reached = {j.name for j in ordered}
        loose = [j.name for j in joints if j.name not in reached]
        raise ConfigError(
            file,
            joint_key(loose[0]),
            f"is part of a cycle that never reaches the world (joints {listed(loose)}): "
            "give one of them the parent 'world'.",
        )
    return tuple(by_name[j.child] for j in ordered), tuple(ordered)
