"""SRDF, MoveIt's file beside a URDF: which pairs of links never touch, or may touch as they like.

``disable_collisions`` names pairs.  A link of ``disable_default_collisions`` is in no pair but those that
``enable_collisions`` names.  As in MoveIt a pair that is enabled and disabled is disabled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.model.robot_file.urdf_elements import Element, root_of

Pair = frozenset[str]


@dataclass(frozen=True)
class DisabledPairs:
    """Pairs of links that an SRDF disables."""

    pairs: frozenset[Pair]
    alone: frozenset[str]  # links all pairs of which are disabled but those enabled
    enabled: frozenset[Pair]

    def __bool__(self) -> bool:
        return bool(self.pairs or self.alone)

    def has(self, a: str, b: str) -> bool:
        """Whether the pair of two links is disabled."""
        pair = frozenset((a, b))
        return pair in self.pairs or (bool(pair & self.alone) and pair not in self.enabled)


def read_srdf(path: Path, urdf: Path) -> DisabledPairs:
    """Read the disabled pairs of the robot in ``urdf``, which has been read.

    What a robot is called is not compared, its links are: six SRDFs of example-robot-data have another name
    than their URDF.

    Raises
    ------
    ConfigError : one sentence: the file is missing, no SRDF, or names a link that is none.
    """
    root, robot = root_of(path, "SRDF"), root_of(urdf)
    if root.find("link") is not None:
        raise ConfigError(path, "", "has elements <link> as a URDF, and an SRDF has none: name the SRDF.")
    links = [link.get("name", "") for link in robot.findall("link")]

    def found(tag: str, *attributes: str) -> Iterator[list[str]]:
        for number, element in enumerate(root.findall(tag), start=1):
            yield [_link(path, f"<{tag}> {number}", element, a, urdf, links) for a in attributes]

    return DisabledPairs(
        frozenset(frozenset(ends) for ends in found("disable_collisions", "link1", "link2")),
        frozenset(link for (link,) in found("disable_default_collisions", "link")),
        frozenset(frozenset(ends) for ends in found("enable_collisions", "link1", "link2")),
    )


def _link(path: Path, key: str, element: Element, attribute: str, urdf: Path, links: list[str]) -> str:
    """The link that an attribute of an element names."""
    name = element.get(attribute)
    if not name:
        raise ConfigError(path, key, f'has no {attribute}: add {attribute}="..." to it.')
    if name not in links:
        raise ConfigError(
            path,
            key,
            f"has {attribute}={name!r}, which is no link of {urdf.name}{nearest(name, links)}: "
            f"its links are {listed(links)}.",
        )
    return name
