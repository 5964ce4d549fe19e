"""What was read of a robot and is not acted on, one line each, so that nobody has to guess."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree import ElementTree

from hapticsim.model.multibody.checks import ROUNDING, triangle_excess
from hapticsim.model.multibody.joint import Body, Joint

NO_FRICTION = "Coulomb friction of joints is shown alone; 'joint_friction: {}' in a scene lets it act"
NO_STOPS = "joint limits are shown alone; 'joint_stops: {}' in a scene makes them stops"


def joint_notes(joints: Sequence[Joint]) -> list[str]:
    """One line for each property that joints carry and nothing acts on yet."""
    notes = []
    limited = [j.name for j in joints if math.isfinite(j.lower) or math.isfinite(j.upper)]
    if limited:
        notes.append(f"{NO_STOPS}: {', '.join(limited)}.")
    rubbing = [j.name for j in joints if j.coulomb > 0.0]
    if rubbing:
        notes.append(f"{NO_FRICTION}: {', '.join(rubbing)}.")
    following = [f"{j.name} (with {j.mimic.joint})" for j in joints if j.mimic]
    if following:
        notes.append(f"joints that follow another: {', '.join(following)}.")
    return notes


def urdf_notes(robot: ElementTree.Element, bodies: Sequence[Body], joints: Sequence[Joint]) -> list[str]:
    """The lines for a URDF: ``robot`` is its root element, ``bodies`` and ``joints`` what was made of it."""
    notes = []
    points = [link.get("name", "") for link in robot.findall("link") if _is_point(link)]
    if points:
        notes.append(f"an inertial without <inertia> is a point mass: {', '.join(points)}.")
    # Published robots often break the triangle inequality; their equations of motion are well posed still.
    excess = {b.name: triangle_excess(b.inertia_com_B) for b in bodies}
    odd = [name for name in excess if excess[name] > ROUNDING]
    if odd:
        worst = max(odd, key=excess.__getitem__)
        notes.append(
            f"moments of inertia that no body can have, used as published: {', '.join(odd)}; "
            f"worst is {worst}, whose largest moment exceeds the sum of the others by {excess[worst]:.2%}."
        )
    notes.extend(joint_notes(joints))
    return notes


def mesh_notes(robot: ElementTree.Element) -> list[str]:
    """A line on the mesh files that a URDF names and a tree does not hold."""
    meshes = sum(1 for link in robot.findall("link") for _ in link.iter("mesh"))
    if not meshes:
        return []
    files = "mesh file is" if meshes == 1 else "mesh files are"
    return [
        f"{meshes} {files} no part of the tree: a scene draws those of visual elements, and touches those of "
        "collision elements with robot.urdf.collision."
    ]


def _is_point(link: ElementTree.Element) -> bool:
    inertial = link.find("inertial")
    return inertial is not None and inertial.find("inertia") is None
