"""A scene: a model with shapes, contacts, torque laws, a hand on it, and how it is to be run.

Built by ``config.load``; everything here is checked, in SI units, and never changes during a run.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace

import numpy as np

from hapticsim.codes import MAX_EVENTS
from hapticsim.model.constraints import Constraint
from hapticsim.model.joined.piece import Piece
from hapticsim.model.multibody.joint import Placement
from hapticsim.model.protocol import SceneModel
from hapticsim.model.settings import (
    CouplerSettings,
    LinkSettings,
    SafetySettings,
    SleepSettings,
    StopSettings,
)
from hapticsim.model.triangle_mesh import Surface, TriangleMesh

MAX_ROWS = 32  # imposed at once: 8 cubes, 0.7 ms in the tick in which they land
MOST_ROWS = 256
EXACT, TIME_STEPPING = "exact", "time_stepping"  # Scene.contact_regime


@dataclass(frozen=True, eq=False)
class Shape:
    """Geometry carried by a body, or by the world.

    kind and size: ``sphere`` (radius), ``capsule`` (radius, length between the two centres, along z of the
    shape), ``cylinder`` (radius, length, along z), ``cone`` (radius of its base, length, along z from the
    base to the apex, the origin in the middle), ``ellipsoid`` (three half axes), ``box`` (three half
    extents), ``plane`` (z = 0 of the shape, solid below; drawn with two half extents), ``mesh`` (half extents
    of the box about the shape's origin that holds it).
    """

    name: str
    body: str  # body name or WORLD
    kind: str
    size: tuple[float, ...]  # [m]
    X_BS: Placement = field(default_factory=Placement)
    color: tuple[int, int, int] = (150, 160, 175)
    mesh: TriangleMesh | None = None  # the surface of kind ``mesh``
    surface: Surface | None = None  # the same of one that is drawn and never touched
    is_drawn: bool = True  # False: what the robot looks like there is drawn instead
    sides: int | None = (
        None  # of a cylinder, cone, ellipsoid: of the solid that others touch; None: they cannot
    )
    solids: tuple[Piece, ...] = ()  # convex ones, by which a concave mesh touches all but spheres

    def solids_for(self, other: Shape) -> tuple[Shape, ...]:
        """The shapes that touch another for this one: itself, or one for each of its solids."""
        if not self.solids or other.kind == "sphere":
            return (self,)
        return tuple(replace(self, mesh=solid, solids=()) for solid in self.solids)

    @property
    def fingerprint(self) -> str:
        """By which a recording knows the surface again, and the solids; empty where it has no mesh."""
        if self.mesh is None or not self.solids:
            return self.mesh.fingerprint if self.mesh else ""
        prints = [mesh.fingerprint for mesh in (self.mesh, *self.solids)]
        return hashlib.sha256(" ".join(prints).encode()).hexdigest()


PLASTIC_BELOW = 5e-3  # [m/s], so that bouncing ends; [rad/s] of stops of joints that turn


@dataclass(frozen=True)
class Compliance:
    """f = K d^n + D d^p d_dot, with d the depth; along the surface the ground has r K d^(n-1) and r D d^p."""

    stiffness: float  # K [N/m^n]
    exponent: float  # n
    damping: float  # D [N s/m^(1+p)]
    damping_exponent: float  # p
    along: float = 1.0  # r

    @property
    def recovers_in(self) -> float:
        """[s] in which ground that bears nothing goes back to where it was: D d^p / (K d^(n-1)) where that is
        one time; else 0."""
        return self.damping / self.stiffness if self.damping_exponent == self.exponent - 1.0 else 0.0

    def fastest(self, mobility: float, speed: float) -> tuple[float, float]:
        """Fastest oscillation [rad/s] and decay [1/s] in an impact.

        mobility : 1 / mass that a force there finds [1/kg].
        speed : at which it strikes [m/s].
        """
        n, p = self.exponent, self.damping_exponent
        depth = (0.5 * (n + 1.0) * speed**2 / (self.stiffness * mobility)) ** (1.0 / (n + 1.0))
        square = n * self.stiffness * depth ** (n - 1.0) * mobility
        return square**0.5, self.damping * depth**p * mobility


@dataclass(frozen=True, eq=False)
class ContactPair:
    """Two shapes that may touch: one-sided, rigid or not, with Coulomb friction or none."""

    a: str  # shape names
    b: str
    restitution: float = 0.0  # speed after an impact by speed before it
    friction: float = 0.0  # coefficient of Coulomb friction, of what slides
    static_over_kinetic: float = 1.0  # that of what sticks by it
    plastic_below: float = PLASTIC_BELOW  # [m/s] what strikes no faster is not thrown back
    compliance: Compliance | None = None  # how their surfaces yield; None: they are rigid


@dataclass(frozen=True, eq=False)
class TorqueLaw:
    """Force of one joint, sampled once per tick: ``tau = c + g gravity(q) + kp (q_ref - q) - kd u``."""

    joint: str
    constant: float = 0.0  # [N m] or [N]
    gravity_compensation: bool = False
    stiffness: float = 0.0  # kp [N m/rad] or [N/m]
    damping: float = 0.0  # kd
    reference: float = 0.0  # [rad] or [m]


@dataclass(frozen=True, eq=False)
class Handle:
    """Point of a body that the coupler holds."""

    body: str
    point_B: np.ndarray  # (3,) [m]


@dataclass(frozen=True, eq=False)
class Mapping:
    """Device to world: ``p_W = origin_W + motion_scale rotation_WD p_D``; forces back with force_scale."""

    origin_W: np.ndarray | None = None  # (3,) [m] world point of the device's centre; None: handle at start
    rotation_WD: np.ndarray = field(default_factory=lambda: np.eye(3))  # (3, 3)
    motion_scale: float = 1.0
    force_scale: float = 1.0  # force on the hand / force in the world


@dataclass(frozen=True, eq=False)
class DeviceSettings:
    """Which driver holds the hand end, and the device it emulates."""

    driver: str = "scripted"  # entry-point name in group hapticsim.devices
    emulate: str = "omega_3"  # row of the device table
    options: dict[str, object] = field(default_factory=dict)  # handed to the driver untouched
    hold_to_run: str | None = None  # button that must stay down for force; None: what the driver says


@dataclass(frozen=True, eq=False)
class Scene:
    """Everything a server needs, from one config file."""

    name: str
    model: SceneModel
    shapes: tuple[Shape, ...] = ()
    visuals: tuple[Shape, ...] = ()  # what its robot looks like: drawn, and in no contact
    contacts: tuple[ContactPair, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    switch_on_button: dict[str, str] = field(default_factory=dict)  # constraint: wire.messages.FREE_BUTTONS
    torque_laws: tuple[TorqueLaw, ...] = ()
    handle: Handle | None = None
    q0: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (nq,)
    u0: np.ndarray = field(default_factory=lambda: np.zeros(0))  # (nu,)
    close_loops: bool = False  # start at the nearest place where the constraints are closed
    rate_Hz: float = 1000.0
    max_rows: int = MAX_ROWS  # imposed at once
    max_events: int = MAX_EVENTS  # located in a tick
    contact_regime: str = EXACT  # how contacts are resolved
    joint_stops: StopSettings | None = None  # None: ranges of joints are shown and do not stop them
    sleep: SleepSettings | None = None  # None: nothing falls asleep
    mapping: Mapping = field(default_factory=Mapping)
    coupler: CouplerSettings = field(default_factory=CouplerSettings)
    safety: SafetySettings = field(default_factory=SafetySettings)
    device: DeviceSettings = field(default_factory=DeviceSettings)
    link: LinkSettings | None = None
    publish_Hz: float = 200.0
    look_ahead_s: float = 0.15  # ghost without a link: how far to look; 0 for none
    device_endpoint: str | None = None  # None: ipc in a private folder
    publish_endpoint: str | None = None
    duration_s: float | None = None  # None: until stopped
    notes: tuple[str, ...] = ()  # what was read but is not acted on, one clear line each
    source: str = ""  # text of the config, kept in recordings
    path: str = ""
    robot_fingerprint: str = ""  # of its URDF or MJCF file; empty where there is none
    overrides: dict[str, object] = field(default_factory=dict)  # laid over the file, by dotted key

    @property
    def tick_s(self) -> float:
        """[s] of one tick."""
        return 1.0 / self.rate_Hz

    @property
    def may_step(self) -> bool:
        """Whether a tick may be a time step: all in that regime, else those without constraints of several
        trees, or of a free body that touches no mesh, of which it may pass a hundred triangles in a tick, or
        where contacts rub.  Where a surface yields none is.
        """
        if self.yields:
            return False
        if self.contact_regime == TIME_STEPPING or (self.rubs_rigidly and not self.constraints):
            return True
        touching = {name for pair in self.contacts for name in (pair.a, pair.b)}
        on_mesh = any(shape.kind == "mesh" for shape in self.shapes if shape.name in touching)
        is_free = any(joint.kind == "free" for joint in self.model.moving_joints)
        is_loose = self.has_several_trees or (is_free and not on_mesh)
        return bool(self.contacts) and not self.constraints and is_loose

    @property
    def has_friction(self) -> bool:
        """Whether a contact rubs."""
        return any(pair.friction > 0.0 for pair in self.contacts)

    @property
    def rubs_rigidly(self) -> bool:
        """Whether a rigid contact rubs."""
        return any(pair.friction > 0.0 and pair.compliance is None for pair in self.contacts)

    @property
    def yields(self) -> bool:
        """Whether a contact is compliant."""
        return any(pair.compliance is not None for pair in self.contacts)

    @property
    def has_several_trees(self) -> bool:
        """Whether there are bodies that no joint connects."""
        return len(set(self.model.kinematic_trees()[0].tolist())) > 1
