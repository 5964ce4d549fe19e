"""What a scene asks of its model, be it a tree of joints or a mechanism by Kane's method.

The two are siblings, ``Model`` (multibody/tree.py) and ``MechanismModel`` (mechanism_model.py): whoever needs
to know something of either asks for it here.  Only ``equations/making.py`` tells them apart, to make their
equations.
"""

from __future__ import annotations

from typing import Protocol, TypeGuard

import numpy as np

from hapticsim.model.constraints import Constraint
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.multibody.columns import Column
from hapticsim.model.multibody.joint import Body, Link, Start
from hapticsim.model.multibody.tree import Model


class MovingJoint(Protocol):
    """What has generalized speeds of its own: a joint of a tree, or one speed of a mechanism."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...  # as a refusal says it: "'neck' is ball"
    @property
    def title(self) -> str: ...  # as a refusal calls it: "revolute joint 'elbow'"
    @property
    def child(self) -> str: ...  # the body it moves against its parent; of a mechanism none: the world
    @property
    def nq(self) -> int: ...
    @property
    def nu(self) -> int: ...
    @property
    def unit(self) -> str | None: ...  # "rad" or "m" of its one coordinate; None: it has several, or none
    @property
    def quaternion(self) -> int | None: ...  # where one starts among its coordinates
    @property
    def effort_limit(self) -> float: ...  # [N m] or [N], 0 or infinite: none


class SceneModel(Protocol):
    """Names, sizes and start of what moves in a scene; ``equations_of`` gives its equations."""

    # -- its parts
    @property
    def name(self) -> str: ...
    @property
    def bodies(self) -> tuple[Body, ...]: ...
    @property
    def body_names(self) -> tuple[str, ...]: ...
    @property
    def links(self) -> tuple[Link, ...]: ...  # where each body hangs, in the order of the bodies
    def rigid_groups(self) -> dict[str, str]: ...  # body or world -> the body (or world) its group goes by
    def kinematic_trees(
        self,
    ) -> tuple[np.ndarray, dict[str, int]]: ...  # (nu,) tree of each speed, of each body

    # -- its coordinates q and generalized speeds u
    @property
    def nq(self) -> int: ...
    @property
    def nu(self) -> int: ...
    @property
    def moving_joints(self) -> tuple[MovingJoint, ...]: ...  # in the order of u
    @property
    def speed_names(self) -> list[str]: ...  # (nu,)
    @property
    def coordinate_columns(self) -> list[Column]: ...  # (nq,) name, unit and meaning of each
    @property
    def speed_columns(self) -> list[Column]: ...  # (nu,)
    @property
    def quaternions(self) -> tuple[int, ...]: ...  # where each unit quaternion starts in q
    @property
    def ranges(self) -> dict[str, tuple[float, float]]: ...  # of joints with one coordinate [rad] or [m]
    @property
    def coulomb(self) -> dict[str, float]: ...  # friction of joints that rub [N m] or [N]
    @property
    def damping(self) -> np.ndarray: ...  # (nu,) [N m s/rad or N s/m] viscous damping of each speed
    @property
    def has_followers(self) -> bool: ...  # does a joint follow another?
    def q_slice(self, joint_name: str) -> slice: ...  # refuses unknown names, as u_slice does
    def u_slice(self, joint_name: str) -> slice: ...

    # -- its start
    def start(self) -> tuple[np.ndarray, np.ndarray]: ...  # q (nq,) and u (nu,) where a scene says nothing
    def starts(self, speed: bool) -> tuple[str, list[Start]]: ...  # what they are, and by which names given
    def random_q(self, start: np.ndarray, rng: np.random.Generator) -> np.ndarray: ...  # (nq,)

    # -- what it brings along
    @property
    def constraints(self) -> tuple[Constraint, ...]: ...  # its own, in the words of a scene
    @property
    def row_count(self) -> int: ...  # rows of all of them
    @property
    def handle(self) -> tuple[str, tuple[float, float, float]] | None: ...  # body, point [m] in its frame
    @property
    def has_own_gravity(self) -> bool: ...
    @property
    def program(self) -> str | None: ...  # the Python file it was made by
    def with_gravity(self, gravity_W: np.ndarray) -> SceneModel: ...  # (3,) [m/s^2], unless it has its own
    def as_tree(self, remedy: str) -> Model: ...  # refuses a mechanism; remedy: the end of the sentence


def is_model(thing: object) -> TypeGuard[SceneModel]:
    """Say whether a user gave one of the siblings; a protocol would be asked for each of its values."""
    return isinstance(thing, (Model, MechanismModel))
