"""What a simulation says of itself after a tick: values, as copies."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hapticsim.codes import Event, Fault, Safety
from hapticsim.describe.events import event_words


@dataclass(frozen=True)
class Contact:
    """One imposed contact."""

    a: str  # shape with the sphere or corner
    b: str  # shape with the surface
    point: np.ndarray  # (3,) [m] world
    normal: np.ndarray  # (3,) world, from b to a
    force: float  # [N] along the normal, on a
    friction: np.ndarray  # (3,) [N] world, across the normal, on a


@dataclass(frozen=True)
class StopForce:
    """A stop that a joint is held by."""

    joint: str
    side: str  # "lower" or "upper"
    force: float  # [N] or [N m] into the range of the joint


@dataclass(frozen=True)
class Snapshot:
    """State of a simulation after its last tick; arrays are copies."""

    time: float  # [s]
    tick: int
    q: np.ndarray  # (nq,) generalized coordinates [rad, m], of free and ball joints with unit quaternions
    u: np.ndarray  # (nu,) generalized speeds [rad/s, m/s]
    contacts: tuple[Contact, ...]
    safety: Safety
    fault: Fault
    hand_force: np.ndarray  # (3,) [N] device axes, on the hand
    coupler_force: np.ndarray  # (3,) [N] world axes, on the handle
    hand_torque: np.ndarray  # (3,) [N m] device axes, on the hand
    coupler_torque: np.ndarray  # (3,) [N m] world axes, on the handle's body
    stops: tuple[StopForce, ...] = ()


@dataclass(frozen=True)
class Certificate:
    """How far a tick was from the laws of contact: zeros, up to rounding and what a solver leaves.

    Contacts that sleep are left out.
    """

    depth: float  # [m] how deep what pushes is inside as the tick begins
    cone: float  # [N] by how much forces leave their cones; a pull counts
    normal: float  # [m/s] how far rates along normals are from what contacts allow: 0, or parting unpushed
    friction: float  # [m/s] how far friction is from against the slip
    gain: float = math.nan  # [J] energy gained beyond the work put in, below 0 where friction, damping and
    # impacts took some; NaN where no balance is kept


@dataclass(frozen=True)
class TickEvent:
    """Something that happened inside the last tick; ``str`` of it is its sentence."""

    kind: Event
    contact: int  # index into ``Simulation.assembly.candidates``; constraints follow these; -1: neither
    value: float  # what ``codes.Event`` says of the kind
    time: float  # [s]
    subject: str = ""  # the two shapes, or the constraint, that it is about
    chosen: str = ""  # of a choice of independent speeds: what it adds to the sentence

    @property
    def text(self) -> str:
        """The event as a sentence: the words that a server prints of it."""
        return event_words(self.kind, self.subject, self.value) + self.chosen

    def __str__(self) -> str:
        return self.text
