"""Mass distributions must be ones that matter can have, and must determine how every joint accelerates.

Used for robots from YAML and from URDF alike (``order`` checks how the bodies hang together).  All functions
raise ``ConfigError`` with the file and the key they were given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.model.multibody.joint import Body, Joint, Placement
from hapticsim.model.multibody.order import named

# Moments printed with 4 digits are off by up to 1e-4 of themselves; smaller violations are rounding.
ROUNDING = 1e-4
# [kg m^2] A grain of 1 mg at 0.03 mm; what files hold below this is the residue of a frame change.
NEGLIGIBLE = 1e-15
CHECK_SIGNS = (
    "check the signs of the moments, and of the off-diagonal elements (xy is minus the integral of x y dm)."
)


def check_finite_mass(file: object, key: str, mass: float, com: np.ndarray, inertia_com: np.ndarray) -> None:
    """Refuse a negative mass and anything that is not finite (arguments as in ``check_inertial``)."""
    if not (np.isfinite(mass) and np.isfinite(com).all() and np.isfinite(inertia_com).all()):
        raise ConfigError(
            file,
            key,
            "is not finite: mass, centre of mass and inertia must be finite numbers, not that large.",
        )
    if mass < 0.0:
        raise ConfigError(file, key, f"has a mass of {mass:g} kg: it must be 0 or above; correct the sign.")


def triangle_excess(inertia_com: np.ndarray) -> float:
    """By how much the largest principal moment exceeds the sum of the others, as a part of itself.

    ``I1 = m <y^2 + z^2>`` and so on give ``I1 + I2 >= I3`` for every body, and with it ``I1 >= 0``; so a
    positive result (beyond ``ROUNDING``) means that no body has this inertia.  Zero for a point mass.
    """
    moments = np.linalg.eigvalsh(inertia_com)
    if np.abs(moments).max() < NEGLIGIBLE:
        return 0.0
    return float((moments[2] - moments[0] - moments[1]) / np.abs(moments).max())


def check_inertial(file: object, key: str, mass: float, com: np.ndarray, inertia_com: np.ndarray) -> None:
    """Refuse a mass distribution that no rigid body has.

    Parameters
    ----------
    mass : [kg]; a body without mass, or a point mass (inertia exactly zero), is accepted.
    com : (3,) [m]
    inertia_com : (3, 3) [kg m^2], symmetric, about the centre of mass.
    """
    check_finite_mass(file, key, mass, com, inertia_com)
    excess = triangle_excess(inertia_com)
    if excess <= ROUNDING:
        return
    moments = np.linalg.eigvalsh(inertia_com)
    found = f"has the principal moments {', '.join(f'{m:.4g}' for m in moments)} kg m^2"
    if moments[0] <= 0.0:
        raise ConfigError(
            file,
            key,
            f"{found}, which are not positive definite: all must be above 0; {CHECK_SIGNS}",
        )
    raise ConfigError(
        file,
        key,
        f"{found}, which no body can have: the largest exceeds the sum of the others by {excess:.2%} "
        f"({ROUNDING:.2%} passes as rounding); check the moments and their axes.",
    )


def check_moving_bodies(
    file: object, bodies: Sequence[Body], joints: Sequence[Joint], body_key: Callable[[str], str]
) -> None:
    """Refuse a moving joint whose acceleration the masses do not determine.

    Bodies behind fixed joints count as part of the body they are fixed to.  No part that moves may have a
    negative moment of inertia, and the last one of every branch must resist its own joint by inertia or
    armature.  ``bodies`` and ``joints`` are in the order of ``order_tree``.
    """
    part_of: dict[str, tuple[str, Placement]] = {}  # body -> the body R it is rigid with, and X_RB
    inertia: dict[str, np.ndarray] = {}  # (6, 6) of the part, about the origin of R
    mover: dict[str, Joint] = {}
    carries_more: set[str] = set()
    for body, joint in zip(bodies, joints, strict=True):
        below = part_of.get(joint.parent)
        if joint.kind != "fixed":
            if below is not None:
                carries_more.add(below[0])
            part_of[body.name] = (body.name, Placement())
            mover[body.name], inertia[body.name] = joint, np.zeros((6, 6))
        elif below is not None:
            part_of[body.name] = (below[0], below[1] @ joint.X_PJ)
        else:
            continue  # fixed to the world
        part, X_RB = part_of[body.name]
        inertia[part] += _spatial_inertia(body, X_RB)
    for part, joint in mover.items():
        lowest, rounding = _lowest_moment(inertia[part])
        if lowest + rounding < -NEGLIGIBLE:
            raise ConfigError(
                file,
                body_key(part),
                f"{named(body_key, part)}has, with what is fixed to it, the moment of inertia {lowest:.4g} "
                f"kg m^2, which is negative: {CHECK_SIGNS}",
            )
        if part in carries_more or joint.armature > 0.0:
            continue
        directions = _free_directions(joint)
        if np.linalg.eigvalsh(directions.T @ inertia[part] @ directions)[0] <= 0.0:
            lacking = "no mass" if inertia[part][5, 5] <= 0.0 else "no moment of inertia about it"
            remedy = "give it an inertial" + (
                "" if joint.kind in ("ball", "free") else ", give the joint an armature,"
            )
            raise ConfigError(
                file,
                body_key(part),
                f"{named(body_key, part)}is moved by joint {joint.name!r} but has {lacking}: {remedy} "
                "or make the joint fixed.",
            )


def _lowest_moment(inertia: np.ndarray) -> tuple[float, float]:
    """Smallest principal moment of a (6, 6) inertia about its centre of mass, and its error [kg m^2]."""
    mass = inertia[5, 5]
    about_com = inertia[:3, :3]
    if mass > 0.0:
        about_com = about_com - inertia[:3, 3:] @ inertia[3:, :3] / mass
    return float(np.linalg.eigvalsh(about_com)[0]), ROUNDING * float(np.abs(about_com).max())


def _free_directions(joint: Joint) -> np.ndarray:
    """(6, nu) directions in which the joint lets its body move at zero displacement, angular part first."""
    zero, a = np.zeros(3), joint.axis_J
    turn, slide = np.concatenate([a, zero]), np.concatenate([zero, a])
    every = np.eye(6)
    table: dict[str, list[np.ndarray]] = {
        "prismatic": [slide],
        "helical": [turn + joint.pitch * slide],
        "universal": [turn, np.concatenate([joint.axis2_J, zero])],
        "cylindrical": [turn, slide],
        "planar": [turn, *every[3:]],  # sliding is in a plane; a body with mass resists in all directions
        "ball": list(every[:3]),
        "free": list(every),
    }
    return np.column_stack(table.get(joint.kind, [turn]))


def _spatial_inertia(body: Body, X_RB: Placement) -> np.ndarray:
    """(6, 6) inertia of a body about the origin of R, axes of R: ``[[I + m cx cx', m cx], [m cx', m 1]]``."""
    c = X_RB.rotation @ body.com_B + X_RB.translation
    cx = np.array([[0.0, -c[2], c[1]], [c[2], 0.0, -c[0]], [-c[1], c[0], 0.0]])
    rotated = X_RB.rotation @ body.inertia_com_B @ X_RB.rotation.T
    return np.block(
        [
            [rotated + body.mass * cx @ cx.T, body.mass * cx],
            [body.mass * cx.T, body.mass * np.eye(3)],
        ]
    )
