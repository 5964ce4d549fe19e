"""A point beside a cylinder along z: how far it is, which way, and how the surface bends there.

With rho the distance from the axis, e = rho - radius and f = |z| - half, a point is nearest to the side where
f <= 0, to an end where e <= 0, and to a rim where both are above 0; inside, to the one that is less deep. Of
the distance d with the gradient n, for a velocity v of the point with the part w around the axis:

    side   v H v = w^2 / rho
    end    v H v = 0
    rim    v H v = (v^2 - w^2 - (n . v)^2) / d + w^2 (e / d) / rho
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
