"""What a URDF says its links look like, as shapes that are drawn and never touched.

The simulation does not need them: what cannot be read is told and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from hapticsim.config.mesh_file.look import read_look
from hapticsim.config.robot.geometry import geometry_of
from hapticsim.errors import ConfigError
from hapticsim.model.robot_file.urdf_elements import Element, root_of
from hapticsim.model.scene import Shape
from hapticsim.model.triangle_mesh import Surface

MOST = 250  # drawn: with twelve triangles each they are what is published of all meshes together
MOST_TRIANGLES = 2_000_000  # of all files: simplifying them takes a second and a half
CHANNELS = 4  # red, green, blue, alpha
Color = tuple[int, int, int]


def visual_shapes(path: Path, notes: list[str]) -> list[Shape]:
    """Return a shape for each visual element: ``link:visual``, further ones ``link:visual_2`` and so on.

    notes : gets a sentence on those that are not drawn.
    """
    root = root_of(path)
    named = {m.get("name"): color for m in root.findall("material") if (color := _color(m)) is not None}
    shapes: list[Shape] = []
    failed: list[tuple[str, str]] = []
    read: dict[tuple[Path, tuple[float, ...]], Surface] = {}
    of_link: Counter[str] = Counter()
    for body, element in _elements(root):
        of_link[body] += 1
        name = f"{body}:visual" + (f"_{of_link[body]}" if of_link[body] > 1 else "")
        try:
            if len(shapes) == MOST:
                raise ConfigError(path, "", f"has more than {MOST} visual elements, the most that are drawn.")
            shapes.append(_shape(path, name, body, element, named, read))
        except ConfigError as error:
            failed.append((body, str(error)))
    if failed:
        body, reason = failed[0]
        elements = f"{len(failed)} visual elements are" if len(failed) > 1 else "a visual element is"
        notes.append(f"{elements} not drawn, as of link {body!r}: {reason}")
    return shapes


def _elements(root: Element) -> Iterator[tuple[str, Element]]:
    for link in root.findall("link"):
        for element in link.findall("visual"):
            yield link.get("name", ""), element


def _shape(
    path: Path,
    name: str,
    body: str,
    element: Element,
    named: dict[str | None, Color],
    read: dict[tuple[Path, tuple[float, ...]], Surface],
) -> Shape:
    geometry = geometry_of(path, f"link {body!r}", element)
    material, surface, size = element.find("material"), None, geometry.size
    if geometry.kind == "mesh":
        surface = _surface(geometry.file, geometry.scale, read)
        size = tuple(np.abs(surface.vertices).max(axis=0).tolist())
    color = None
    if material is not None:
        color = _color(material) or named.get(material.get("name"))
    return Shape(name, body, geometry.kind, size, geometry.X_BS, color or Shape.color, surface=surface)


def _surface(
    file: Path, scale: tuple[float, ...], read: dict[tuple[Path, tuple[float, ...]], Surface]
) -> Surface:
    if (file, scale) not in read:
        surface = read_look(file, scale)
        count = len(surface.triangles) + sum(len(one.triangles) for one in read.values())
        if count > MOST_TRIANGLES:
            raise ConfigError(
                file,
                "",
                f"brings the triangles of all visual elements to {count}, and {MOST_TRIANGLES} are drawn: "
                "make it coarser.",
            )
        read[file, scale] = surface
    return read[file, scale]


def _color(material: Element) -> Color | None:
    """The colour of a material, or None where it has none that can be read."""
    element = material.find("color")
    words = (element.get("rgba") or "").split() if element is not None else []
    try:
        rgba = [float(word) for word in words]
    except ValueError:
        return None
    if len(rgba) != CHANNELS or not all(0.0 <= value <= 1.0 for value in rgba):
        return None
    red, green, blue, _ = (round(255.0 * value) for value in rgba)
    return red, green, blue
