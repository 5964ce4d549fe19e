"""Speeds in the axes of a root body that turns within a time step.

The speeds of a free body are those in its own axes.  Impulses are found by rows of the start of the tick, so
that all speeds they act on are put into the axes that bodies have there; afterwards they go into those of the
end.  Of a free body it is the momentum that goes over, linear and about the centre of mass, so that contacts
keep both; an impulse that stayed in its axes while the body turns would be off by the angle of its turn.
"""

from __future__ import annotations

from hapticsim.kernels.machine_code.jit import inlined, kernel
from hapticsim.kernels.time_stepping.balance import ALONE
from hapticsim.kernels.time_stepping.near_contacts import FREE_BODY

BALL, FREE = 1, 2  # vectors of a root body's speeds: angular velocity, and velocity of its origin


@kernel
def put_in_start_axes(plan, ws, q, u):
    """Turn the speeds u of root bodies from their axes at q to those at ws.q0."""
    for t in range(plan.tree_first.size):
        for vector in range(plan.root_vectors[t]):
            r = plan.tree_first[t] + 3 * vector
            u[r], u[r + 1], u[r + 2] = turned(plan, ws, t, q, u[r], u[r + 1], u[r + 2], False)


@kernel
def put_in_end_axes(plan, ws):
    """Speeds ws.u1 of what is in contact: those after impulses, ws.us, in the axes that bodies have at ws.q1.

    Expects the free motion in (ws.free_q, ws.free_end_u), its speeds in start axes in ws.free_u, and M in
    ws.M.
    """
    for t in range(plan.tree_first.size):
        begin, end = plan.tree_first[t], plan.tree_end[t]
        if ws.moves[t] == ALONE:
            continue
        if plan.root_vectors[t] == FREE and end - begin == FREE_BODY:
            keep_momentum(plan, ws, t)
            continue
        for r in range(begin, end):
            ws.u1[r] = ws.us[r]
        for vector in range(plan.root_vectors[t]):
            r = begin + 3 * vector
            x, y, z = turned(plan, ws, t, ws.q1, ws.us[r], ws.us[r + 1], ws.us[r + 2], True)
            ws.u1[r], ws.u1[r + 1], ws.u1[r + 2] = x, y, z


@kernel
def keep_momentum(plan, ws, t):
    """Speeds ws.u1 of the free body t: its momentum is that of the free motion and of the impulses, which act
    at the orientation of the start."""
    r, M, u, us, free = plan.tree_first[t], ws.M, ws.free_end_u, ws.us, ws.free_u
    m = M[r + 3, r + 3]
    cx, cy, cz = M[r + 2, r + 4] / m, M[r, r + 5] / m, M[r + 1, r + 3] / m  # centre of mass
    xx, yy, zz = cx * cx, cy * cy, cz * cz
    Ixx, Ixy = M[r, r] - m * (yy + zz), M[r, r + 1] + m * cx * cy
    Iyy, Iyz = M[r + 1, r + 1] - m * (xx + zz), M[r + 1, r + 2] + m * cy * cz
    Izz, Ixz = M[r + 2, r + 2] - m * (xx + yy), M[r, r + 2] + m * cx * cz

    # what impulses change, in start axes
    wx, wy, wz = us[r] - free[r], us[r + 1] - free[r + 1], us[r + 2] - free[r + 2]
    dVx = us[r + 3] - free[r + 3] + wy * cz - wz * cy
    dVy = us[r + 4] - free[r + 4] + wz * cx - wx * cz
    dVz = us[r + 5] - free[r + 5] + wx * cy - wy * cx
    dLx, dLy, dLz = (
        Ixx * wx + Ixy * wy + Ixz * wz,
        Ixy * wx + Iyy * wy + Iyz * wz,
        Ixz * wx + Iyz * wy + Izz * wz,
    )
    # what the free motion has, in axes of its end, put into those of the start
    wx, wy, wz = u[r], u[r + 1], u[r + 2]
    Vx, Vy, Vz = turned(
        plan,
        ws,
        t,
        ws.free_q,
        u[r + 3] + wy * cz - wz * cy,
        u[r + 4] + wz * cx - wx * cz,
        u[r + 5] + wx * cy - wy * cx,
        False,
    )
    Lx, Ly, Lz = turned(
        plan,
        ws,
        t,
        ws.free_q,
        Ixx * wx + Ixy * wy + Ixz * wz,
        Ixy * wx + Iyy * wy + Iyz * wz,
        Ixz * wx + Iyz * wy + Izz * wz,
        False,
    )
    Vx, Vy, Vz = turned(plan, ws, t, ws.q1, Vx + dVx, Vy + dVy, Vz + dVz, True)
    Lx, Ly, Lz = turned(plan, ws, t, ws.q1, Lx + dLx, Ly + dLy, Lz + dLz, True)
    wx, wy, wz = solved(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, Lx, Ly, Lz)
    ws.u1[r], ws.u1[r + 1], ws.u1[r + 2] = wx, wy, wz
    ws.u1[r + 3] = Vx - (wy * cz - wz * cy)
    ws.u1[r + 4] = Vy - (wz * cx - wx * cz)
    ws.u1[r + 5] = Vz - (wx * cy - wy * cx)


@kernel
def turned(plan, ws, t, q, x, y, z, back):
    """A vector in the axes of the root body of tree t at q, in its axes at ws.q0; ``back``: the other way."""
    i, a = plan.root_quaternion[t], ws.q0
    # conj(a) b: from the axes at q to those at ws.q0
    w = a[i] * q[i] + a[i + 1] * q[i + 1] + a[i + 2] * q[i + 2] + a[i + 3] * q[i + 3]
    e = a[i] * q[i + 1] - a[i + 1] * q[i] - a[i + 2] * q[i + 3] + a[i + 3] * q[i + 2]
    f = a[i] * q[i + 2] - a[i + 2] * q[i] - a[i + 3] * q[i + 1] + a[i + 1] * q[i + 3]
    g = a[i] * q[i + 3] - a[i + 3] * q[i] - a[i + 1] * q[i + 2] + a[i + 2] * q[i + 1]
    if back:
        e, f, g = -e, -f, -g
    tx, ty, tz = 2.0 * (f * z - g * y), 2.0 * (g * x - e * z), 2.0 * (e * y - f * x)
    return (
        x + w * tx + f * tz - g * ty,
        y + w * ty + g * tx - e * tz,
        z + w * tz + e * ty - f * tx,
    )


@inlined
def solved(Ixx, Iyy, Izz, Ixy, Ixz, Iyz, x, y, z):
    """I^-1 (x, y, z) of a symmetric matrix, by its adjugate."""
    a, b, c = Iyy * Izz - Iyz * Iyz, Ixz * Iyz - Ixy * Izz, Ixy * Iyz - Ixz * Iyy
    d, e, f = Ixx * Izz - Ixz * Ixz, Ixy * Ixz - Ixx * Iyz, Ixx * Iyy - Ixy * Ixy
    det = Ixx * a + Ixy * b + Ixz * c
    return (a * x + b * y + c * z) / det, (b * x + d * y + e * z) / det, (c * x + e * y + f * z) / det


@inlined
def bend_of_axes(plan, ws, J, t, u):
    """What the turning axes of the root body of tree t add to the second derivative of a gap whose row is J
    (n,), at constant speeds u in these axes [m/s^2]: J . (omega x v)."""
    if t < 0 or plan.root_vectors[t] != FREE:
        return 0.0
    r = plan.tree_first[t]
    wx, wy, wz, vx, vy, vz = u[r], u[r + 1], u[r + 2], u[r + 3], u[r + 4], u[r + 5]
    return J[3] * (wy * vz - wz * vy) + J[4] * (wz * vx - wx * vz) + J[5] * (wx * vy - wy * vx)
