"""A point beside a cylinder or a cone along z: how far it is, which way, and how the surface bends there.

With rho the distance from the axis, e = rho - radius and f = |z| - half, a point is nearest to the side where
f <= 0, to an end where e <= 0, and to a rim where both are above 0; inside, to the one that is less deep. Of
the distance d with the gradient n, for a velocity v of the point with the part w around the axis:

    side   v H v = w^2 / rho
    end    v H v = 0
    rim    v H v = (v^2 - w^2 - (n . v)^2) / d + w^2 (e / d) / rho

A cone has its base at z = -half and its apex at z = half.  In the half plane of its axis and the point it is
a triangle: the point is nearest to the base, to the rim, to the side, or to the apex.  The side has the part
n_rho of its normal outwards, and the apex is a point:

    side   v H v = n_rho w^2 / rho
    apex   v H v = (v^2 - (n . v)^2) / d
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.corner import beyond
from hapticsim.kernels.machine_code.jit import inlined

NO_WAY_OUT = 1e-9  # [m] nearer to the axis, or to a rim, than this there is no direction from it


@inlined
def nearest_on_cylinder(x, y, z, radius, half):
    """Signed distance [m] and gradient of a point from a cylinder of twice this half length, four scalars."""
    rho = math.sqrt(x * x + y * y)
    ux, uy = (x / rho, y / rho) if rho > NO_WAY_OUT else (1.0, 0.0)
    e, f = rho - radius, beyond(z, half)
    up = math.copysign(1.0, z)
    if e > 0.0 and f > 0.0:
        distance = math.sqrt(e * e + f * f)
        if distance > NO_WAY_OUT:
            return distance, ux * e / distance, uy * e / distance, up * f / distance
    if e >= f:
        return e, ux, uy, 0.0
    return f, 0.0, 0.0, up


@inlined
def bend_of_cylinder(x, y, z, radius, half, vx, vy, vz):
    """Second derivative of that distance [m/s^2] along a straight way with velocity v."""
    rho = math.sqrt(x * x + y * y)
    if rho <= NO_WAY_OUT:
        return 0.0
    e, f = rho - radius, beyond(z, half)
    w = (x * vy - y * vx) / rho
    if e > 0.0 and f > 0.0:
        distance = math.sqrt(e * e + f * f)
        if distance > NO_WAY_OUT:
            out = (x * vx + y * vy) / rho
            along = (e * out + f * math.copysign(1.0, z) * vz) / distance
            return (out * out + vz * vz - along * along) / distance + w * w * e / (distance * rho)
    return w * w / rho if e >= f else 0.0


BASE, RIM, SIDE, APEX = range(4)  # parts of a cone


@inlined
def beside_cone(x, y, z, radius, half):
    """Of a point and a cone: how far from the axis, over the side and up along the side it is, the length of
    the side, and the normal of the side outwards and upwards, six scalars."""
    rho = math.sqrt(x * x + y * y)
    length = math.sqrt(radius * radius + 4.0 * half * half)
    out, up = 2.0 * half / length, radius / length
    u, v = rho - radius, z + half
    return rho, out * u + up * v, out * v - up * u, length, out, up


@inlined
def part_of_cone(x, y, z, radius, half):
    """The part of a cone that a point outside of it is nearest to."""
    rho, _, along, length, _, _ = beside_cone(x, y, z, radius, half)
    if rho <= radius and z < -half:
        return BASE
    if along < 0.0:
        return RIM
    return APEX if along > length else SIDE


@inlined
def within_part(part, x, y, z, radius, half):
    """How far [m] a point beside a cone is within what is nearest to this part."""
    rho, _, along, length, _, _ = beside_cone(x, y, z, radius, half)
    if part == BASE:
        return radius - rho
    if part == RIM:
        return min(rho - radius, -along)
    return along - length if part == APEX else min(along, length - along)


@inlined
def nearest_on_cone(x, y, z, radius, half):
    """Signed distance [m] and gradient of a point from a cone, four scalars."""
    rho, over, _, _, out, up = beside_cone(x, y, z, radius, half)
    ux, uy = (x / rho, y / rho) if rho > NO_WAY_OUT else (1.0, 0.0)
    part, under = part_of_cone(x, y, z, radius, half), -half - z
    if part == BASE or over <= under <= 0.0:
        return under, 0.0, 0.0, -1.0
    if part == SIDE:
        return over, out * ux, out * uy, up
    e, f = (rho - radius, -under) if part == RIM else (rho, z - half)
    distance = math.sqrt(e * e + f * f)
    if distance > NO_WAY_OUT:
        return distance, ux * e / distance, uy * e / distance, f / distance
    return distance, out * ux, out * uy, up


@inlined
def bend_of_cone(x, y, z, radius, half, vx, vy, vz):
    """Second derivative of that distance [m/s^2] along a straight way with velocity v."""
    rho, over, _, _, out, _ = beside_cone(x, y, z, radius, half)
    part, under = part_of_cone(x, y, z, radius, half), -half - z
    if part == BASE or over <= under <= 0.0:
        return 0.0
    square = vx * vx + vy * vy + vz * vz
    if part == APEX:
        distance, nx, ny, nz = nearest_on_cone(x, y, z, radius, half)
        along = nx * vx + ny * vy + nz * vz
        return (square - along * along) / distance if distance > NO_WAY_OUT else 0.0
    if rho <= NO_WAY_OUT:
        return 0.0
    w = (x * vy - y * vx) / rho
    if part == SIDE:
        return out * w * w / rho
    distance, nx, ny, nz = nearest_on_cone(x, y, z, radius, half)
    if distance <= NO_WAY_OUT:
        return 0.0
    along = nx * vx + ny * vy + nz * vz
    return (square - w * w - along * along) / distance + w * w * (rho - radius) / (distance * rho)
