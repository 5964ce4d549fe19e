"""What the window understands of the server's published payloads, as arrays.

Payloads are plain maps that came over the wire from a program of another version, perhaps: everything the
window draws is read here once, and a payload that cannot be read becomes one sentence instead of an
exception in the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hapticsim.codes import Fault, Safety
from hapticsim.display.messages.constraints import ConstraintView, Imposed, read_constraints
from hapticsim.display.messages.orientation import SHORTEST, rotations
from hapticsim.display.messages.reading import Payload, Unreadable, numbers, reading, vector
from hapticsim.display.messages.rotation import Turned
from hapticsim.display.messages.sensors import read_sensors
from hapticsim.display.messages.shapes import DrawnShape, read_shape


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of all bodies in the world, in the order of ``SceneView.bodies``."""

    p_WB: np.ndarray  # (nb, 3) [m]
    R_WB: np.ndarray  # (nb, 3, 3)

    @classmethod
    def read(cls, flat: Sequence[float]) -> Poses:
        """From nb times seven numbers: position [m], quaternion w, x, y, z."""
        table = numbers(flat, "bodies").reshape(-1, 7)
        if np.any(np.linalg.norm(table[:, 3:], axis=1) < SHORTEST):
            raise Unreadable("bodies holds a quaternion of length zero")
        return cls(table[:, :3], rotations(table[:, 3:]))


@dataclass(frozen=True, eq=False)
class SceneMessage:
    """Topic ``scene``: what does not change during a run."""

    name: str
    role: str  # "server", "operator", "remote" or "recording"
    bodies: tuple[str, ...]
    links: np.ndarray  # (n, 2) parent and child index, -1 is the world
    shapes: tuple[DrawnShape, ...]
    origin_W: np.ndarray  # (3,) [m] where the device's centre lies in the world
    R_WD: np.ndarray  # (3, 3) device axes in the world
    motion_scale: float  # world metres per device metre
    force_limit_N: float | None  # on the hand
    torque_limit_Nm: float | None  # on the hand
    rotation: str  # what the coupler couples of it: "none", "z" or "full"
    workspace_radius: float  # [m] of the device
    rate_Hz: float
    constraints: tuple[ConstraintView, ...]
    speeds: tuple[str, ...]  # names of the generalized speeds
    sensors: tuple[str, ...]  # their names

    @property
    def turns(self) -> bool:
        """Whether the hand is turned too, and the device's orientation means something."""
        return self.rotation != "none"

    @classmethod
    def read(cls, payload: Payload) -> SceneMessage:
        with reading("scene"):
            mapping, limits = payload["mapping"], payload.get("limits") or {}
            coupler = payload.get("coupler") or {}
            return cls(
                name=str(payload["name"]),
                role=str(payload.get("role", "server")),
                bodies=tuple(str(b) for b in payload["bodies"]),
                links=np.array(payload.get("links") or [], dtype=int).reshape(-1, 2),
                shapes=tuple(read_shape(s, len(payload["bodies"])) for s in payload["shapes"]),
                origin_W=numbers(mapping["origin"], "mapping.origin", 3),
                R_WD=numbers(mapping["rotation"], "mapping.rotation", 9).reshape(3, 3),
                motion_scale=float(mapping["motion_scale"]),
                force_limit_N=float(limits.get("force_N") or 0.0) or None,
                torque_limit_Nm=float(limits.get("torque_Nm") or 0.0) or None,
                rotation=str(coupler.get("rotation", "none")),
                workspace_radius=float(limits.get("workspace_radius_m") or 0.1),
                rate_Hz=float(payload["rate_Hz"]),
                constraints=read_constraints(payload.get("constraints") or (), len(payload["bodies"])),
                speeds=tuple(str(name) for name in payload.get("speeds") or ()),
                sensors=tuple(str(name) for name in payload.get("sensors") or ()),
            )


@dataclass(frozen=True, eq=False)
class Contact:
    """One active contact."""

    a: str
    b: str
    point_W: np.ndarray  # (3,) [m]
    normal_W: np.ndarray  # (3,) unit
    force_N: float  # along the normal
    friction_N: np.ndarray  # (3,) across it, on a, world
    gap_m: float


@dataclass(frozen=True)
class Stop:
    """A stop that pushes a joint into its range."""

    joint: str
    side: str  # "lower" or "upper"
    force: float
    unit: str  # "N" or "N m"


@dataclass(frozen=True, eq=False)
class StateMessage:
    """Topic ``state``: the newest tick the server told us about."""

    tick: int
    time_s: float
    mode: Safety
    fault: Fault
    poses: Poses
    contacts: tuple[Contact, ...]
    stops: tuple[Stop, ...]
    device_connected: bool
    device_D: np.ndarray  # (3,) [m] device position, device frame
    target_D: np.ndarray | None  # (3,) [m] where the hand wants to be
    hand_force_D: np.ndarray  # (3,) [N] what the device applies to the hand
    anchor_W: np.ndarray | None  # (3,) [m] device end of the coupler
    handle_W: np.ndarray | None  # (3,) [m] body end of the coupler
    coupler_force_W: np.ndarray  # (3,) [N] on the handle
    turned: Turned
    kinetic_J: float
    potential_J: float
    imposed: Imposed
    sensors: dict[str, float | None]  # None where there is no finite value

    @classmethod
    def read(cls, payload: Payload) -> StateMessage:
        with reading("state"):
            device, coupler = payload.get("device") or {}, payload.get("coupler") or {}
            kinetic, potential = payload.get("energy_J") or (0.0, 0.0)
            return cls(
                tick=int(payload["tick"]),
                time_s=float(payload["time_s"]),
                mode=Safety(payload["mode"]),
                fault=Fault(payload["fault"]),
                poses=Poses.read(payload["bodies"]),
                contacts=tuple(_contact(c) for c in payload.get("contacts") or ()),
                stops=tuple(_stop(s) for s in payload.get("stops") or ()),
                device_connected=bool(device.get("connected")),
                device_D=vector(device, "position", default=np.zeros(3)),
                target_D=vector(device, "target"),
                hand_force_D=vector(device, "force_N", default=np.zeros(3)),
                anchor_W=vector(coupler, "anchor_W"),
                handle_W=vector(coupler, "handle_W"),
                coupler_force_W=vector(coupler, "force_W", default=np.zeros(3)),
                turned=Turned.read(device, coupler),
                kinetic_J=float(kinetic),
                potential_J=float(potential),
                imposed=Imposed.read(payload),
                sensors=read_sensors(payload.get("sensors") or {}),
            )


@dataclass(frozen=True, eq=False)
class PredictedMessage:
    """Topic ``predicted``: where the remote side will be, and what it last confirmed."""

    time_s: float
    age_s: float  # of the telemetry the prediction started from
    error_m: float | None  # measured between an old prediction and its confirmation
    poses: Poses
    path_W: np.ndarray  # (n, 3) [m] of the handle
    confirmed: Poses | None
    confirmed_time_s: float | None

    @classmethod
    def read(cls, payload: Payload) -> PredictedMessage:
        with reading("predicted"):
            confirmed = payload.get("confirmed") or {}
            error = payload.get("error_m")
            return cls(
                time_s=float(payload["time_s"]),
                age_s=float(payload["age_s"]),
                error_m=None if error is None else float(error),
                poses=Poses.read(payload["bodies"]),
                path_W=numbers(payload.get("path") or [], "path").reshape(-1, 3),
                confirmed=Poses.read(confirmed["bodies"]) if confirmed.get("bodies") else None,
                confirmed_time_s=confirmed.get("time_s"),
            )


def _contact(payload: Payload) -> Contact:
    return Contact(
        a=str(payload["a"]),
        b=str(payload["b"]),
        point_W=numbers(payload["point"], "contacts.point", 3),
        normal_W=numbers(payload["normal"], "contacts.normal", 3),
        force_N=float(numbers(payload["force_N"], "contacts.force_N", 1)[0]),
        friction_N=numbers(payload.get("friction_N") or [0.0, 0.0, 0.0], "contacts.friction_N", 3),
        gap_m=float(numbers(payload["gap_m"], "contacts.gap_m", 1)[0]),
    )


def _stop(payload: Payload) -> Stop:
    force = float(numbers(payload["force"], "stops.force", 1)[0])
    return Stop(str(payload["joint"]), str(payload["side"]), force, str(payload["unit"]))
