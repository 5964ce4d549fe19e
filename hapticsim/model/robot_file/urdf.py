"""URDF to Model: the links and joints of a robot description, checked like a tree written in YAML.

Order: depth first from the root link; the children of a link follow the order of their joints in the file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from hapticsim.arguments import a_path, names, truth, unusable
from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.model.followers import with_followers
from hapticsim.model.multibody.checks import check_finite_mass, check_moving_bodies
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Mimic
from hapticsim.model.multibody.notes import mesh_notes, urdf_notes
from hapticsim.model.multibody.order import check_names, order_tree
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.urdf_elements import (
    Element,
    name_of,
    number_of,
    origin_of,
    root_of,
    vector_of,
)

_KINDS = {"floating": "free"} | {k: k for k in ("revolute", "continuous", "prismatic", "planar", "fixed")}
_LINK, _JOINT = "link {!r}".format, "joint {!r}".format
MOST_PARTS = 2000  # links, and joints: the largest robots have some 200


def load_urdf(
    path: str | Path,
    fixed_base: bool = True,
    notes: list[str] | None = None,
    locked: Sequence[str] = (),
    mimic: bool = True,
) -> Model:
    """Read a robot description.

    Parameters
    ----------
    path : URDF file (already expanded if it was written in xacro).
    fixed_base : True fixes the root link to the world by the joint ``root``; a root link named ``world``
        then is the world.  False lets it float on the free joint ``root_joint``.
    notes : if given, one line is appended for each kind of content that is read but not acted on: mesh files,
        joint limits, friction, moments of inertia that do not fit together.
    locked : names of joints to hold fixed at zero displacement, with those that follow them.
    mimic : True couples joints with a ``mimic`` to the ones they follow; False lets them move on their own.

    Raises
    ------
    ConfigError : one sentence with the file, the link or joint, what was found and what is allowed.
    """
    where = "load_urdf"
    a_path(where, "path", path, "a URDF file")
    truth(where, "fixed_base", fixed_base)
    truth(where, "mimic", mimic)
    locked = names(where, "locked", locked, "names of joints")
    if notes is not None and not isinstance(notes, list):
        raise unusable(where, "notes", notes, "a list, to which notes are appended, or None")
    model = read_urdf(path, fixed_base, notes, locked, mimic)
    if notes is not None:
        notes.extend(mesh_notes(root_of(path)))
    return model


def read_urdf(
    path: str | Path, fixed_base: bool, notes: list[str] | None, locked: Sequence[str], mimic: bool
) -> Model:
    """``load_urdf`` for a scene, which has a place for what else a URDF holds: its meshes are not noted."""
    robot = root_of(path)
    for kind in ("link", "joint"):
        if (found := len(robot.findall(kind))) > MOST_PARTS:
            raise ConfigError(
                path, "", f"has {found} elements <{kind}> and may have {MOST_PARTS}: this is no robot."
            )
    links = [_link(path, element) for element in robot.findall("link")]
    joints = _locked(path, [_joint(path, element, mimic) for element in robot.findall("joint")], locked)
    check_names(path, links, joints, _LINK, _JOINT, [b.name for b in links])
    joints = list(with_followers(path, joints, _JOINT))
    links, joints = _based(path, links, joints, fixed_base)
    bodies, ordered = order_tree(path, links, joints, _LINK, _JOINT)
    check_moving_bodies(path, bodies, ordered, _LINK)
    if notes is not None:
        notes.extend(urdf_notes(robot, bodies, ordered))
    return Model(robot.get("name") or Path(path).stem, bodies, ordered)


def _link(path: str | Path, element: Element) -> Body:
    name = name_of(path, element)
    key = f"link {name!r}"
    inertial = element.find("inertial")
    if inertial is None:
        return Body(name)
    X_BI = origin_of(path, key, inertial)
    weight, matrix = inertial.find("mass"), inertial.find("inertia")
    if weight is None or weight.get("value") is None:
        raise ConfigError(path, key, 'has an inertial without a mass: add <mass value="..."/> [kg] to it.')
    if missing := [n for n in ("ixx", "iyy", "izz") if matrix is not None and matrix.get(n) is None]:
        raise ConfigError(
            path, key, f"has an <inertia> without {listed(missing)}: give all three moments [kg m^2]."
        )
    mass = number_of(path, key, weight, "value", 0.0)
    xx, yy, zz, xy, xz, yz = (
        number_of(path, key, matrix, name, 0.0) for name in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
    )
    R_BI = X_BI.rotation
    inertia = R_BI @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R_BI.T
    inertia = 0.5 * (inertia + inertia.T)
    check_finite_mass(path, key, mass, X_BI.translation, inertia)
    return Body(name, mass, X_BI.translation, inertia)


def _joint(path: str | Path, element: Element, mimic: bool) -> Joint:
    name = name_of(path, element)
    key = f"joint {name!r}"
    kind = element.get("type", "")
    if kind not in _KINDS:
        raise ConfigError(path, key, f"has the type {kind!r}: the types supported are {listed(_KINDS)}.")
    ends = []
    for role in ("parent", "child"):
        end = element.find(role)
        link = end.get("link") if end is not None else None
        if not link:
            raise ConfigError(path, key, f'names no {role} link: add <{role} link="..."/>.')
        ends.append(link)
    axis_element = element.find("axis")
    axis = np.array([1.0, 0.0, 0.0])  # URDF's default
    if axis_element is not None:
        axis = vector_of(path, key, axis_element, "xyz", axis)
    length = math.sqrt(axis @ axis)
    if length < 1e-9 and kind not in ("fixed", "floating"):
        raise ConfigError(path, key, 'has an axis of length zero: give it a direction such as xyz="0 0 1".')
    limit = element.find("limit")
    dynamics = element.find("dynamics")
    bounded = kind in ("revolute", "prismatic")
    lower = number_of(path, key, limit, "lower", -math.inf if limit is None else 0.0)
    upper = number_of(path, key, limit, "upper", math.inf if limit is None else 0.0)
    if bounded and lower > upper:
        raise ConfigError(
            path, key, f"has its lower limit {lower:g} above its upper limit {upper:g}: exchange them."
        )
    damping = number_of(path, key, dynamics, "damping", 0.0)
    friction = number_of(path, key, dynamics, "friction", 0.0)
    if damping < 0.0 or friction < 0.0:
        raise ConfigError(path, key, "has negative damping or friction: both must be 0 or above.")
    return Joint(
        name=name,
        kind=_KINDS[kind],
        parent=ends[0],
        child=ends[1],
        X_PJ=origin_of(path, key, element),
        axis_J=axis / length if length >= 1e-9 else np.array([0.0, 0.0, 1.0]),
        damping=damping,
        coulomb=friction,
        lower=lower if bounded else -math.inf,
        upper=upper if bounded else math.inf,
        effort_limit=number_of(path, key, limit, "effort", math.inf),
        velocity_limit=number_of(path, key, limit, "velocity", math.inf),
        mimic=_mimic(path, key, element.find("mimic")) if mimic and kind != "fixed" else None,
    )


def _mimic(path: str | Path, key: str, element: Element | None) -> Mimic | None:
    if element is None:
        return None
    leader = element.get("joint")
    if not leader:
        raise ConfigError(path, key, 'has a mimic that names no joint: add joint="..." to it.')
    return Mimic(
        leader,
        number_of(path, key, element, "multiplier", 1.0),
        number_of(path, key, element, "offset", 0.0),
    )


def _locked(path: str | Path, joints: list[Joint], names: Sequence[str]) -> list[Joint]:
    valid = [j.name for j in joints]
    for name in names:
        if name not in valid:
            raise ConfigError(
                path,
                "",
                f"has no joint {name!r} to lock{nearest(name, valid)}: its joints are {listed(valid)}.",
            )
    return [
        replace(j, kind="fixed", lower=-math.inf, upper=math.inf, mimic=None) if j.name in names else j
        for j in joints
    ]


def _based(
    path: str | Path, links: list[Body], joints: list[Joint], fixed_base: bool
) -> tuple[list[Body], list[Joint]]:
    """Attach the root link to the world."""
    if not links:
        raise ConfigError(path, "", "holds no <link>: a robot needs at least one.")
    children = {j.child for j in joints}
    roots = [b.name for b in links if b.name not in children]
    if not roots:
        raise ConfigError(
            path, "", "has no root link (every link is a child): remove the joint that closes the loop."
        )
    if len(roots) > 1:
        raise ConfigError(
            path, "", f"has {len(roots)} root links ({listed(roots)}): connect them by fixed joints."
        )
    root = roots[0]
    if root == WORLD:
        if not fixed_base:
            raise ConfigError(
                path, "", "has the root link 'world', which cannot float: load it with a fixed base."
            )
        return [b for b in links if b.name != WORLD], joints
    name = "root" if fixed_base else "root_joint"
    if name in {j.name for j in joints}:
        raise ConfigError(
            path, f"joint {name!r}", "has the name of the joint that holds the root link: rename it."
        )
    return links, [Joint(name, "fixed" if fixed_base else "free", WORLD, root), *joints]
