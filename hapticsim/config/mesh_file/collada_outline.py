"""What a COLLADA file places, counted before it is read: nodes place others, and those others still.

Sixty lines can so place a geometry 2^60 times.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.parsers import expat

from hapticsim.config.mesh_file.limits import (
    MOST_NODES,
    MOST_PARTS,
    MOST_TRIANGLES,
    too_many,
    too_many_parts,
)
from hapticsim.errors import ConfigError

_BYTES_PER_TRIANGLE = 600  # of a COLLADA file at most, with a normal and a texture of each corner
_Count = tuple[int, int, int]  # nodes, geometries, triangles


class _Outline:
    """What the nodes of a COLLADA file place: each other, and geometries."""

    def __init__(self, path: Path, parser: expat.XMLParserType) -> None:
        self._path, self._parser = path, parser
        self._open: list[list[Any]] = [[]]  # nodes that the parser is in, each a list of what it places
        self._nodes: dict[str, list[Any]] = {}
        self._geometry, self._begun = "", 0
        self._triangles: dict[str, int] = {}
        self._counts: dict[int, _Count] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        match tag.rpartition(":")[2]:
            case "node":
                node: list[Any] = []
                self._open[-1].append(node)
                self._open.append(node)
                self._nodes[f"#{attributes.get('id', '')}"] = node
            case "instance_geometry" | "instance_node" as kind:
                self._open[-1].append((kind, attributes.get("url", "")))
            case "instance_controller":
                raise ConfigError(
                    self._path, "", "bends its mesh with a skin, which is not read: export it without bones."
                )
            case "geometry":
                self._geometry, self._begun = f"#{attributes.get('id', '')}", self._parser.CurrentByteIndex
                self._triangles[self._geometry] = 0
            case "triangles" | "polylist" | "polygons":
                self._triangles[self._geometry] = self._triangles.get(self._geometry, 0) + int(
                    attributes.get("count", "0")
                )

    def end(self, tag: str) -> None:
        match tag.rpartition(":")[2]:
            case "node":
                self._open.pop()
            case "geometry":
                least = (self._parser.CurrentByteIndex - self._begun) // _BYTES_PER_TRIANGLE
                self._triangles[self._geometry] = max(self._triangles[self._geometry], least)

    def doctype(self, *_: Any) -> None:
        raise ConfigError(self._path, "", "has a document type, which is not read: take <!DOCTYPE ...> out.")

    def count(self) -> _Count:
        """Nodes, geometries and triangles of the file, each counted as often as it is placed."""
        return self._below(self._open[0])

    def _below(self, node: list[Any]) -> _Count:
        if id(node) not in self._counts:
            self._counts[id(node)] = (MOST_NODES + 1, 0, 0)  # for one that is placed in itself
            total: _Count = (1, 0, 0)
            for placed in node:
                match placed:
                    case ("instance_geometry", url):
                        more = (0, 1, self._triangles.get(url, 0))
                    case ("instance_node", url):
                        more = self._below(self._nodes.get(url, []))
                    case _:
                        more = self._below(placed)
                total = (total[0] + more[0], total[1] + more[1], total[2] + more[2])
            self._counts[id(node)] = total
        return self._counts[id(node)]


def check_collada(path: Path, data: bytes) -> None:
    """Refuse a file that is no XML, has a document type or a skin, or places too much.

    Raises
    ------
    ConfigError : with the sentence.
    """
    parser = expat.ParserCreate()
    outline = _Outline(path, parser)
    parser.StartElementHandler, parser.EndElementHandler = outline.start, outline.end
    parser.StartDoctypeDeclHandler = outline.doctype
    try:
        parser.Parse(data, True)
        nodes, geometries, triangles = outline.count()
    except expat.ExpatError as error:
        where = f"line {error.lineno}, column {error.offset + 1}"
        raise ConfigError(path, "", f"{where} is not XML: export it again.") from None
    except (ValueError, LookupError):  # a count that is no number; an encoding that Python does not know
        raise ConfigError(path, "", "is no COLLADA file as it must be: export it again.") from None
    except RecursionError:
        nodes, geometries, triangles = MOST_NODES + 1, 0, 0
    if nodes > MOST_NODES or geometries > MOST_PARTS:
        raise too_many_parts(path, "parts")
    if triangles > MOST_TRIANGLES:
        raise too_many(path, triangles)
