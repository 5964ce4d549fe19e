"""Rows of a run as messages that Foxglove plots and draws: coordinates, forces, poses, shapes, sentences.

They are made in the thread that writes the recording, from rows that have left the tick.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Any

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import Event
from hapticsim.describe.columns import contact_groups, offline_quantities, tick_quantities
from hapticsim.describe.shapes import looks_of
from hapticsim.describe.simplified_mesh import surfaces_of
from hapticsim.equations.base import Equations
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.multibody.rotation import quaternion_of, quaternions_of
from hapticsim.model.scene import Scene, Shape
from hapticsim.model.skeleton import skeleton
from hapticsim.model.triangle_mesh import Surface
from hapticsim.recording import foxglove
from hapticsim.recording.drawing import Channel, Message, Sampler
from hapticsim.recording.foxglove import NUMBER, Schema, fields
from hapticsim.recording.json_template import TIME, JsonTemplate
from hapticsim.recording.log_time import nanoseconds
from hapticsim.recording.quantities import Quantity, Table

RATE_Hz = 50.0  # of what is drawn; it makes a file of the WAM 15 % longer
STATE, FORCES = "/state", "/forces"
PLANE_m = 1e-3  # thickness with which a plane is drawn
TROUBLE = {
    kind.name.lower()
    for kind in (
        Event.OVERFLOW, Event.NOT_FINITE, Event.REFUSED, Event.CONFLICT, Event.TWICE, Event.ENERGY,
        Event.ROWS_FULL, Event.THROUGH, Event.HALTED,
    )
}  # fmt: skip

Tree = Mapping[str, Any]  # fields of a message, each a Quantity or a tree


def of_ticks(assembly: Assembly) -> RowDrawing:
    """Return what draws the rows of a run of ticks."""
    quantities = tick_quantities(assembly)
    by_name = {q.name: q for q in quantities}
    forces: dict[str, dict[str, Quantity]] = {}
    if assembly.scene.handle:
        for field, column in (
            ("hand_N", "hand_force_{}_N"),
            ("hand_Nm", "hand_torque_{}_Nm"),
            ("coupler_N", "coupler_{}_N"),
            ("coupler_Nm", "coupler_torque_{}_Nm"),
        ):
            forces[field] = {a: by_name[column.format(a)] for a in "xyz"}
    if assembly.candidates:
        for (a, b), ks in contact_groups(assembly).items():
            candidate = assembly.candidates[ks[0]]
            unit, kind = "Nm" if candidate.turns else "N", "stops" if candidate.stop else "contacts"
            forces.setdefault(f"{kind}_{unit}", {})[f"{a} on {b}"] = by_name[f"force_{unit}[{a}-{b}]"]
    if assembly.row_names:
        forces["constraints"] = {name: by_name[f"row_force[{name}]"] for name in assembly.row_names}
    plots = {STATE: _state(quantities), FORCES: forces}
    return RowDrawing(assembly.scene, assembly.equations, Table(assembly.columns, quantities), plots)


def of_offline(scene: Scene, equations: Equations, columns: Sequence[str]) -> RowDrawing:
    """Return what draws the rows of a run of the mechanism alone."""
    quantities = offline_quantities(scene.model)
    energy = {q.name: q for q in quantities if q.name in ("kinetic_J", "potential_J")}
    plots = {STATE: {**_state(quantities), "energy": energy}}
    return RowDrawing(scene, equations, Table(columns, quantities), plots)


def _state(quantities: Iterable[Quantity]) -> dict[str, Any]:
    """The coordinates and speeds by the names of their joints, those of a joint that has several below it."""
    found: dict[str, Any] = {"q": {}, "u": {}}
    for q in quantities:
        letter, _, rest = q.name.partition("[")
        if letter in found:
            joint, _, component = rest.rpartition("]")
            if component:
                found[letter].setdefault(joint, {})[component[1:]] = q
            else:
                found[letter][joint] = q
    return found


class RowDrawing:
    """A ``Drawing`` (recording/drawing.py) of rows with the columns of ``table``.

    equations : of the scene's model; its poses are those drawn.
    plots : what to plot, by topic.
    """

    def __init__(self, scene: Scene, equations: Equations, table: Table, plots: Mapping[str, Tree]) -> None:
        self._table, self._sampler = table, Sampler(RATE_Hz)
        self._plots = {topic: tree for topic, tree in plots.items() if any(_leaves(tree))}
        self._leaves = {topic: list(_leaves(tree)) for topic, tree in self._plots.items()}
        self._templates = {topic: JsonTemplate(_places(tree)) for topic, tree in self._plots.items()}
        model = scene.model
        self._q = [table.columns.index(f"q{i}") for i in range(model.nq)]
        shapes = looks_of(scene) or skeleton(model)
        self._shapes = list(zip(shapes, surfaces_of(shapes), strict=True))
        self._bodies = len(model.bodies)
        self._poses = equations.kernels.poses  # compiled now
        self._transforms = JsonTemplate({"transforms": [_transform(name) for name in model.body_names]})

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Those of Foxglove's schemas, and one for each plot."""
        plots = (
            Channel(topic, f"hapticsim.{topic[1:].capitalize()}", json.dumps(_schema(tree)))
            for topic, tree in self._plots.items()
        )
        return *foxglove.CHANNELS, *plots

    def begin(self) -> Iterator[Message]:
        """The shapes, each in the frame of its body."""
        yield foxglove.SCENE, 0, foxglove.scene_update(starmap(_entity, self._shapes))

    def rows(self, rows: np.ndarray) -> Iterator[Message]:
        """Plots and poses of the rows picked."""
        picked = rows[self._sampler.pick(rows[:, 0])]
        if not len(picked):
            return
        times = [nanoseconds(t, 0) for t in picked[:, 0].tolist()]
        for topic, leaves in self._leaves.items():
            with np.errstate(all="ignore"):
                values = np.column_stack([self._table.values(q, picked) for q in leaves])
            for time, data in zip(times, self._templates[topic].fill(times, values), strict=True):
                yield topic, time, data
        if not self._bodies:
            return
        values = self._placed(picked)
        there = np.flatnonzero(np.isfinite(values).all(axis=1))
        times = [times[k] for k in there]
        for time, data in zip(times, self._transforms.fill(times, values[there]), strict=True):
            yield foxglove.TRANSFORMS, time, data

    def event(self, event: Mapping[str, object]) -> Iterator[Message]:
        """The sentence of an event."""
        kind, at_s = str(event.get("kind", "")), event.get("time_s")
        time = nanoseconds(float(at_s), 0) if isinstance(at_s, int | float) else 0
        level = foxglove.WARNING if kind in TROUBLE else foxglove.INFO
        yield foxglove.LOG, time, foxglove.log(time, str(event.get("text", "")), kind, level)

    def _placed(self, rows: np.ndarray) -> np.ndarray:
        """(n, 7 bodies) position [m] and quaternion x, y, z, w of each body, NaN where there is no pose."""
        q = np.ascontiguousarray(rows[:, self._q])
        poses = np.full((len(rows), self._bodies, 12), np.nan)
        for k in np.flatnonzero(np.isfinite(q).all(axis=1)):
            self._poses(q[k], poses[k])
        flat = poses.reshape(-1, 12)
        with np.errstate(all="ignore"):
            quaternion = quaternions_of(flat[:, :9].reshape(-1, 3, 3))
        return np.column_stack([flat[:, 9:], quaternion[:, [1, 2, 3, 0]]]).reshape(len(rows), -1)


def _transform(body: str) -> dict[str, Any]:
    """The template of a body's pose in the world."""
    return {
        "timestamp": TIME,
        "parent_frame_id": WORLD,
        "child_frame_id": body,
        "translation": dict.fromkeys("xyz"),
        "rotation": dict.fromkeys("xyzw"),
    }


def _leaves(tree: Tree) -> Iterator[Quantity]:
    """The quantities of a tree, in the order of its text."""
    for part in tree.values():
        if isinstance(part, Quantity):
            yield part
        else:
            yield from _leaves(part)


def _places(tree: Tree) -> dict[str, Any]:
    """The template of a tree."""
    return {key: None if isinstance(part, Quantity) else _places(part) for key, part in tree.items()}


def _schema(tree: Tree) -> Schema:
    """The JSON schema of a tree; a number that is not finite is left out of its messages."""
    properties = {
        key: {**NUMBER, "description": f"[{part.unit}] {part.words}"}
        if isinstance(part, Quantity)
        else _schema(part)
        for key, part in tree.items()
    }
    return fields(properties, optional=True)


def _entity(shape: Shape, surface: Surface | None) -> dict[str, Any]:
    """A shape as an entity in the frame of its body; ``surface`` is what is drawn of a mesh."""
    X, rotation = shape.X_BS, quaternion_of(shape.X_BS.rotation)

    def solid(
        kind: str, size: Sequence[float], z: float = 0.0, top: float = 1.0
    ) -> tuple[str, dict[str, Any]]:
        position = X.translation + z * X.rotation[:, 2]
        return foxglove.solid(kind, foxglove.pose(position, rotation), size, shape.color, top)

    r = 2.0 * shape.size[0]
    if shape.kind == "sphere":
        solids = [solid("spheres", (r, r, r))]
    elif shape.kind == "capsule":
        length = shape.size[1]
        ends = [solid("spheres", (r, r, r), z) for z in (-0.5 * length, 0.5 * length)]
        solids = [solid("cylinders", (r, r, length)), *ends]
    elif shape.kind == "cylinder":
        solids = [solid("cylinders", (r, r, shape.size[1]))]
    elif shape.kind == "cone":
        solids = [solid("cylinders", (r, r, shape.size[1]), top=0.0)]
    elif shape.kind == "ellipsoid":
        solids = [solid("spheres", [2.0 * half for half in shape.size])]
    elif surface:
        at, indices = foxglove.pose(X.translation, rotation), surface.triangles.ravel().tolist()
        solids = [foxglove.surface(at, surface.vertices.tolist(), indices, shape.color)]
    elif shape.kind == "box":
        solids = [solid("cubes", [2.0 * half for half in shape.size])]
    else:
        solids = [solid("cubes", (r, 2.0 * shape.size[1], PLANE_m), -0.5 * PLANE_m)]
    return foxglove.entity(shape.body, shape.name, solids)
