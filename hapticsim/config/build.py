"""A ``SceneFile`` to a ``Scene``: names are resolved, and what no key shows alone is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from hapticsim.config.buttons import switch_on_button
from hapticsim.config.constraints import build_constraints
from hapticsim.config.contact_notes import contact_notes
from hapticsim.config.mesh_file.read import read_mesh
from hapticsim.config.motion import torque_laws
from hapticsim.config.robot import build_model
from hapticsim.config.schema.scene import (
    AnyShape,
    Box,
    Capsule,
    ContactEntry,
    MeshEntry,
    Plane,
    SceneFile,
    Sphere,
)
from hapticsim.config.start import initial_state
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.candidates import PAIRS
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.rotation import rotation_from_rpy
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import (
    ContactPair,
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
) -> Scene:
    """Make the scene.

    file_of : tells which file of an ``extends`` chain holds a place.
    refuse : makes the refusal of a value in its place.
    """
    notes: list[str] = []
    model = build_model(entry.robot, entry.name, file_of(("robot", "urdf")), refuse, notes)
    if model.has_own_gravity and "gravity_m_per_s2" in entry.model_fields_set:
        notes.append("gravity_m_per_s2 is not used: the file of a mechanism says its gravity.")
    model = model.with_gravity(np.array(entry.gravity_m_per_s2))
    shapes = _shapes(entry.shapes, model, file_of, refuse, notes)
    q0, u0 = initial_state(entry.initial, model, refuse, notes)
    mapping = entry.mapping
    contacts = _contacts(entry.contacts, shapes, model, refuse)
    constraints = build_constraints(entry.constraints, model, contacts, refuse)
    notes += contact_notes(shapes, contacts, constraints)
    return Scene(
        name=entry.name,
        model=model,
        shapes=shapes,
        contacts=contacts,
        constraints=constraints,
        switch_on_button=switch_on_button(entry, constraints, refuse, notes),
        torque_laws=torque_laws(entry.torques, model, q0, refuse),
        handle=_handle(entry, model, refuse),
        q0=q0,
        u0=u0,
        close_loops=entry.close_loops,
        rate_Hz=float(entry.rate_Hz),
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
        notes=tuple(notes),
        source=source,
        path=str(path),
    )


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
) -> tuple[Shape, ...]:
    carriers = (WORLD, *model.body_names)
    shapes: list[Shape] = []
    read: dict[tuple[Path, tuple[float, ...]], TriangleMesh] = {}
    for index, entry in enumerate(entries):
        if entry.name in {s.name for s in shapes}:
            raise refuse(("shapes", index, "name"), f"= {entry.name!r} is taken: shape names must be unique.")
        if entry.body not in carriers:
            raise refuse(("shapes", index, "body"), _no_body(entry.body, carriers))
        mesh = None
        if isinstance(entry, MeshEntry):
            place = ("shapes", index, "file")
            if "\0" in entry.file:
                raise refuse(place, f"= {entry.file!r} is not a path: remove the NUL character.")
            key = (file_of(place).parent / entry.file, tuple(np.broadcast_to(entry.scale, 3).tolist()))
            mesh = read[key] if key in read else read.setdefault(key, read_mesh(*key, notes))
        shapes.append(
            Shape(
                entry.name,
                entry.body,
                entry.kind,
                _size(entry, mesh),
                entry.origin.placement(),
                _color(entry.color),
                mesh,
            )
        )
    return tuple(shapes)


def _size(entry: AnyShape, mesh: TriangleMesh | None) -> tuple[float, ...]:
    size: Sequence[float]
    match entry:
        case Sphere():
            size = [entry.radius_m]
        case Capsule():
            size = [entry.radius_m, entry.length_m]
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


def _contacts(
    entries: list[ContactEntry], shapes: tuple[Shape, ...], model: SceneModel, refuse: Refuse
) -> tuple[ContactPair, ...]:
    """Resolve the pairs; in each, the plane, box or mesh that is touched stands second."""
    by_name = {s.name: s for s in shapes}
    anchor = model.rigid_groups()
    pairs: list[ContactPair] = []
    seen: set[frozenset[str]] = set()
    for index, entry in enumerate(entries):
        place = ("contacts", index, "between")
        for side, name in enumerate(entry.between):
            if name not in by_name:
                raise refuse(
                    (*place, side),
                    f"= {name!r} is not a shape{nearest(name, by_name)}: the shapes are {listed(by_name)}.",
                )
        a, b = (by_name[name] for name in entry.between)
        if (a.kind, b.kind) not in PAIRS:
            a, b = b, a
        if (a.kind, b.kind) not in PAIRS:
            raise refuse(
                place,
                f"= [{b.name}, {a.name}] pairs a {b.kind} with a {a.kind}, which is not supported: "
                "a sphere, capsule or box may touch a plane or a box, spheres and capsules one another, "
                "and a sphere a mesh.",
            )
        if anchor[a.body] == anchor[b.body]:
            raise refuse(
                place,
                f"= [{a.name}, {b.name}] pairs two shapes that cannot move against each other "
                f"(on {a.body!r} and {b.body!r}): remove the pair.",
            )
        if frozenset((a.name, b.name)) in seen:
            raise refuse(place, f"= [{a.name}, {b.name}] is there twice: keep one.")
        seen.add(frozenset((a.name, b.name)))
        pairs.append(ContactPair(a.name, b.name, float(entry.restitution)))
    return tuple(pairs)


def _handle(entry: SceneFile, model: SceneModel, refuse: Refuse) -> Handle | None:
    if entry.handle is None:
        if model.handle is None:
            return None
        body, point = model.handle
        return Handle(body, np.array(point))
    if entry.handle.body not in model.body_names:
        raise refuse(("handle", "body"), _no_body(entry.handle.body, model.body_names))
    if model.rigid_groups()[entry.handle.body] == WORLD:
        raise refuse(
            ("handle", "body"),
            f"= {entry.handle.body!r} is fixed to the world: hold a body that a joint moves.",
        )
    return Handle(entry.handle.body, np.array(entry.handle.point_m, dtype=float))
