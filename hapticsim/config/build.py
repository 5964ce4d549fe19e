"""A ``SceneFile`` to a ``Scene``: names are resolved, and what no key shows alone is checked."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hapticsim.config.buttons import switch_on_button
from hapticsim.config.constraints import build_constraints
from hapticsim.config.contacts.notes import contact_notes, stop_notes
from hapticsim.config.contacts.pairs import contact_pairs
from hapticsim.config.decomposition.points import Progress
from hapticsim.config.mesh_shapes import MeshReader
from hapticsim.config.motion import torque_laws, with_springs
from hapticsim.config.robot.read import read_robot
from hapticsim.config.schema.scene import (
    AnyShape,
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    HeightFieldEntry,
    MeshEntry,
    Plane,
    SceneFile,
    Sphere,
)
from hapticsim.config.start import initial_state
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.constraints import Constraint, joint_frictions
from hapticsim.model.joined.piece import Piece
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.notes import NO_FRICTION, NO_STOPS
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import (
    EXACT,
    DeviceSettings,
    Handle,
    Mapping,
    Scene,
    Shape,
)
from hapticsim.model.settings import CouplerSettings
from hapticsim.model.triangle_mesh import TriangleMesh

_OF_ROTATION = (
    "stiffness_Nm_per_rad", "damping_Nms_per_rad", "device_damping_Nms_per_rad", "torque_limit_Nm",
    "slew_limit_Nm_per_s",
)  # fmt: skip


def build(
    entry: SceneFile,
    path: Path,
    source: str,
    file_of: Callable[[tuple[str | int, ...]], Path],
    refuse: Refuse,
    progress: Progress | None = None,
) -> Scene:
    """Make the scene.

    file_of : tells which file of an ``extends`` chain holds a place.
    refuse : makes the refusal of a value in its place.
    progress : called with pieces of a line while a mesh is decomposed.
    """
    notes: list[str] = []
    robot = read_robot(entry.robot, entry.name, file_of, refuse, notes, progress)
    model = robot.model
    if model.has_own_gravity and "gravity_m_per_s2" in entry.model_fields_set:
        notes.append("gravity_m_per_s2 is not used: the file of a mechanism says its gravity.")
    if entry.robot.mjcf is None or "gravity_m_per_s2" in entry.model_fields_set:  # the file says one, too
        model = model.with_gravity(np.array(entry.gravity_m_per_s2))
    shapes = _shapes(entry.shapes, model, file_of, refuse, notes, progress)
    shapes = _with_robot(shapes, robot.shapes, refuse)
    q0, u0 = initial_state(entry.initial, model, robot.start, refuse, notes)
    mapping = entry.mapping
    contacts = contact_pairs(entry.contacts, shapes, model, robot.apart, refuse, notes)
    constraints = build_constraints(entry.constraints, model, robot.constraints, contacts, refuse)
    constraints += _joint_frictions(entry, model, constraints, refuse)
    limit = entry.max_rows if entry.contact_regime == EXACT else None
    scene = Scene(
        name=entry.name,
        model=model,
        shapes=shapes,
        visuals=_apart_from(robot.visuals, {shape.name for shape in shapes}),
        contacts=contacts,
        constraints=constraints,
        switch_on_button=switch_on_button(entry, constraints, refuse, notes),
        torque_laws=with_springs(torque_laws(entry.torques, model, q0, refuse), robot.springs, model),
        handle=_handle(entry, model, robot.sites, refuse),
        q0=q0,
        u0=u0,
        close_loops=entry.close_loops,
        rate_Hz=float(entry.rate_Hz),
        max_rows=entry.max_rows,
        max_events=entry.max_events,
        contact_regime=entry.contact_regime,
        joint_stops=entry.joint_stops,
        sleep=entry.sleep,
        mapping=Mapping(
            None if mapping.origin_m is None else np.array(mapping.origin_m, dtype=float),
            rotation_from_rpy(mapping.rpy_rad),
            float(mapping.motion_scale),
            float(mapping.force_scale),
        ),
        coupler=_checked_coupler(entry.coupler, refuse),
        safety=entry.safety,
        device=DeviceSettings(
            entry.device.driver,
            entry.device.emulate,
            dict(entry.device.options),
            entry.device.hold_to_run,
        ),
        link=entry.link,
        publish_Hz=float(entry.publish.rate_Hz),
        look_ahead_s=float(entry.publish.look_ahead_s),
        device_endpoint=entry.device.endpoint,
        publish_endpoint=entry.publish.endpoint,
        duration_s=entry.duration_s,
        source=source,
        path=str(path),
        robot_fingerprint=robot.fingerprint,
    )
    notes += contact_notes(shapes, contacts, constraints, limit, scene.may_step)
    if entry.joint_friction is not None:
        notes = [note for note in notes if not note.startswith(NO_FRICTION)]
        notes += [] if model.coulomb else ["joint_friction: no joint has Coulomb friction, so nothing rubs."]
    if scene.joint_stops is not None:
        notes = [note for note in notes if not note.startswith(NO_STOPS)] + stop_notes(scene)
    return replace(scene, notes=tuple(notes))


def _joint_frictions(
    entry: SceneFile, model: SceneModel, constraints: tuple[Constraint, ...], refuse: Refuse
) -> tuple[Constraint, ...]:
    """The friction of joints, where the scene asks for it."""
    if entry.joint_friction is None or not model.coulomb:
        return ()
    if entry.contact_regime != EXACT:
        raise refuse(
            ("joint_friction",),
            f"is there, and contact_regime {entry.contact_regime!r} has no friction of joints yet: "
            f"write {EXACT!r}, or leave it out.",
        )
    found = joint_frictions(model.coulomb, entry.joint_friction.static_over_kinetic)
    taken = {c.name for c in constraints} & {c.name for c in found}
    if taken:
        name = min(taken)
        raise refuse(("joint_friction",), f"makes a constraint {name!r}, which is taken: rename that one.")
    return found


def _checked_coupler(coupler: CouplerSettings, refuse: Refuse) -> CouplerSettings:
    for key in _OF_ROTATION:
        value = getattr(coupler, key)
        if coupler.rotation == "none" and value != getattr(CouplerSettings, key):
            raise refuse(
                ("coupler", key),
                f"= {value:g} has no meaning with rotation 'none': write rotation: z or full, or remove it.",
            )
    return coupler


def _shapes(
    entries: list[AnyShape],
    model: SceneModel,
    file_of: Callable[[tuple[str | int, ...]], Path],
    refuse: Refuse,
    notes: list[str],
    progress: Progress | None,
) -> tuple[Shape, ...]:
    carriers = (WORLD, *model.body_names)
    shapes: list[Shape] = []
    no_solids: tuple[Piece, ...] = ()
    read = MeshReader(file_of, refuse, notes, progress)
    for index, entry in enumerate(entries):
        if entry.name in {s.name for s in shapes}:
            raise refuse(("shapes", index, "name"), f"= {entry.name!r} is taken: shape names must be unique.")
        if entry.body not in carriers:
            raise refuse(("shapes", index, "body"), _no_body(entry.body, carriers))
        mesh, solids = None, no_solids
        if isinstance(entry, MeshEntry | HeightFieldEntry):
            mesh, solids = read(index, entry)
        shapes.append(
            Shape(
                entry.name,
                entry.body,
                "mesh" if mesh is not None else entry.kind,
                _size(entry, mesh),
                entry.origin.placement(),
                _color(entry.color),
                mesh,
                sides=entry.sides if isinstance(entry, Cylinder | Cone | Ellipsoid) else None,
                solids=solids,
            )
        )
    return tuple(shapes)


def _with_robot(shapes: tuple[Shape, ...], of_robot: tuple[Shape, ...], refuse: Refuse) -> tuple[Shape, ...]:
    """All shapes, those of a robot's file last."""
    taken = {s.name for s in of_robot}
    for index, shape in enumerate(shapes):
        if shape.name in taken:
            raise refuse(
                ("shapes", index, "name"),
                f"= {shape.name!r} is taken by a shape of the robot: write another name.",
            )
    return (*shapes, *of_robot)


def _apart_from(visuals: tuple[Shape, ...], taken: set[str]) -> tuple[Shape, ...]:
    """The visuals with names that no shape has: what is drawn goes by its name."""
    named: list[Shape] = []
    for visual in visuals:
        name = next(n for n in (visual.name + "'" * k for k in itertools.count()) if n not in taken)
        taken = taken | {name}
        named.append(replace(visual, name=name))
    return tuple(named)


def _size(entry: AnyShape, mesh: TriangleMesh | None) -> tuple[float, ...]:
    size: Sequence[float]
    match entry:
        case Sphere():
            size = [entry.radius_m]
        case Capsule() | Cylinder() | Cone():
            size = [entry.radius_m, entry.length_m]
        case Ellipsoid():
            size = entry.radii_m
        case Box():
            size = entry.half_extents_m
        case Plane():
            size = entry.drawn_half_extents_m
        case _:
            assert mesh is not None
            size = np.abs(mesh.vertices).max(axis=0).tolist()
    return tuple(float(value) for value in size)


def _color(rgb: list[int]) -> tuple[int, int, int]:
    red, green, blue = rgb
    return red, green, blue


def _no_body(name: str, valid: tuple[str, ...]) -> str:
    return f"= {name!r} is not a body{nearest(name, valid)}: the bodies are {listed(valid)}."


def _handle(entry: SceneFile, model: SceneModel, sites: dict[str, Handle], refuse: Refuse) -> Handle | None:
    if entry.handle is None:
        if model.handle is None:
            return None
        body, point = model.handle
        return Handle(body, np.array(point))
    if (entry.handle.body is None) == (entry.handle.site is None):
        raise refuse(("handle",), "must have either a body or a site of robot.mjcf: give one of the two.")
    key = "body" if entry.handle.site is None else "site"
    if entry.handle.site is not None:
        name = entry.handle.site
        if "point_m" in entry.handle.model_fields_set:
            raise refuse(("handle", "point_m"), "stands beside a site, which is a point: remove it.")
        if name not in sites:
            known = f"they are {listed(sites)}" if sites else "the robot has none"
            raise refuse(("handle", "site"), f"= {name!r} is not a site{nearest(name, sites)}: {known}.")
        held = sites[name]
    else:
        held = Handle(str(entry.handle.body), np.array(entry.handle.point_m, dtype=float))
        if held.body not in model.body_names:
            raise refuse(("handle", "body"), _no_body(held.body, model.body_names))
    if held.body == WORLD or model.rigid_groups()[held.body] == WORLD:
        raise refuse(
            ("handle", key),
            f"= {entry.handle.site or held.body!r} is fixed to the world: hold a body that a joint moves.",
        )
    return held
