"""Rows that keep a point of A on a curve fixed in B: the nearest place on it, and two normals there.

In the axes of B, with x the point of A, c(sigma) the curve, e = c' and d = x - c, sigma is where d . e = 0:

    sigma' = e . x' / D,                D = e . e - d . c''
    gap    = n . d,                     n = a_1 n_1 + a_2 n_2, square to e
    n'     = tau p - (n . c'') e / e.e, p = a_1 n_2 - a_2 n_1, tau = n_1' . n_2
    gap'   = w . x',                    w = n + k e,   k = tau (p . d) / D
    gap''  = w . x'' + w' . x'

so A is w . (partial velocities), and s has w' . x' more than a row along a direction fixed in B.  On the
curve k = 0 and w' . x' = -(n . c'') sigma'^2: the curvature.  (12b) to (12e) in docs/equations.md.

sigma comes from x alone: the nearest of the chords, then Newton steps.  Nothing is kept between calls, so a
replay and a fork see the same.  Cells are laid out by model/curves/curve.py.
"""

from __future__ import annotations

import math

from hapticsim.kernels.geometry.point import place, point_row, rotate
from hapticsim.kernels.machine_code.jit import inlined, kernel

SIZE = 30  # entry of a cell
NEWTON = 12  # steps at most; from a chord two or three are taken
STEP_DONE = 1e-13  # [m] of sigma: what is left is its square
ON_CURVE = 2e-4  # [m] from a chord: twice what curve and chord are apart, at most
LEAST_D = 0.05  # of e.e: nearer to a centre of curvature no place is nearest


@inlined
def rotate_back(frame, x, y, z, X):
    """A vector in world axes in those of a body, three scalars; frame -1 is the world."""
    if frame < 0:
        return x, y, z
    B = X[frame]
    return (
        B[0] * x + B[3] * y + B[6] * z,
        B[1] * x + B[4] * y + B[7] * z,
        B[2] * x + B[5] * y + B[8] * z,
    )


@inlined
def place_at(cell, z):
    """c [m] at a parameter of a cell, three scalars."""
    return (
        cell[0] + z * (cell[3] + z * (cell[6] + z * (cell[9] + z * (cell[12] + z * cell[15])))),
        cell[1] + z * (cell[4] + z * (cell[7] + z * (cell[10] + z * (cell[13] + z * cell[16])))),
        cell[2] + z * (cell[5] + z * (cell[8] + z * (cell[11] + z * (cell[14] + z * cell[17])))),
    )


@inlined
def first_at(cell, z):
    """c', three scalars."""
    return (
        cell[3] + z * (2.0 * cell[6] + z * (3.0 * cell[9] + z * (4.0 * cell[12] + z * 5.0 * cell[15]))),
        cell[4] + z * (2.0 * cell[7] + z * (3.0 * cell[10] + z * (4.0 * cell[13] + z * 5.0 * cell[16]))),
        cell[5] + z * (2.0 * cell[8] + z * (3.0 * cell[11] + z * (4.0 * cell[14] + z * 5.0 * cell[17]))),
    )


@inlined
def second_at(cell, z):
    """c'' [1/m], three scalars."""
    return (
        2.0 * cell[6] + z * (6.0 * cell[9] + z * (12.0 * cell[12] + z * 20.0 * cell[15])),
        2.0 * cell[7] + z * (6.0 * cell[10] + z * (12.0 * cell[13] + z * 20.0 * cell[16])),
        2.0 * cell[8] + z * (6.0 * cell[11] + z * (12.0 * cell[14] + z * 20.0 * cell[17])),
    )


@inlined
def third_at(cell, z):
    """c''' [1/m^2], three scalars."""
    return (
        6.0 * cell[9] + z * (24.0 * cell[12] + z * 60.0 * cell[15]),
        6.0 * cell[10] + z * (24.0 * cell[13] + z * 60.0 * cell[16]),
        6.0 * cell[11] + z * (24.0 * cell[14] + z * 60.0 * cell[17]),
    )


@inlined
def normal_at(cell, z):
    """m, m' and m'', nine scalars."""
    return (
        cell[18] + z * (cell[21] + z * (cell[24] + z * cell[27])),
        cell[19] + z * (cell[22] + z * (cell[25] + z * cell[28])),
        cell[20] + z * (cell[23] + z * (cell[26] + z * cell[29])),
        cell[21] + z * (2.0 * cell[24] + z * 3.0 * cell[27]),
        cell[22] + z * (2.0 * cell[25] + z * 3.0 * cell[28]),
        cell[23] + z * (2.0 * cell[26] + z * 3.0 * cell[29]),
        2.0 * cell[24] + z * 6.0 * cell[27],
        2.0 * cell[25] + z * 6.0 * cell[28],
        2.0 * cell[26] + z * 6.0 * cell[29],
    )


@inlined
def from_chord(chord, x, y, z):
    """Square of the distance of a point from a chord [m^2], and where along it, as a fraction."""
    rx, ry, rz = x - chord[0], y - chord[1], z - chord[2]
    f = (rx * chord[3] + ry * chord[4] + rz * chord[5]) * chord[6]
    f = min(max(f, chord[7]), chord[8])
    rx, ry, rz = rx - f * chord[3], ry - f * chord[4], rz - f * chord[5]
    return rx * rx + ry * ry + rz * rz, f


@kernel
def nearest_chord(plan, first, end, closed, x, y, z):
    """Cell from first to end - 1 whose chord is nearest to a point, and where along it, as a fraction.

    The first of several that are equally near.  The first and the last cell of an open curve are the tangents
    beyond its ends: they do not count for what is on the curve itself.
    """
    ray = 0 if closed else 1
    best, cell, along = math.inf, first, 0.0
    for j in range(first + ray, end - ray):
        square, f = from_chord(plan.curve_chord[j], x, y, z)
        if square < best:
            best, cell, along = square, j, f
    if not closed and best > ON_CURVE * ON_CURVE:
        for j in (first, end - 1):
            square, f = from_chord(plan.curve_chord[j], x, y, z)
            if square < best:
                best, cell, along = square, j, f
    return cell, along


@kernel
def nearest_on_curve(plan, curve, x, y, z):
    """Cell and parameter in it of the place on a curve that is nearest to a point, both in B.

    Assumes a finite point.
    """
    first, end = plan.curve_start[curve], plan.curve_start[curve + 1]
    closed = plan.curve_closed[curve] == 1
    j, along = nearest_chord(plan, first, end, closed, x, y, z)
    sigma = along * plan.curve_cell[j, SIZE]
    for _ in range(NEWTON):
        cell = plan.curve_cell[j]
        cx, cy, cz = place_at(cell, sigma)
        ex, ey, ez = first_at(cell, sigma)
        bx, by, bz = second_at(cell, sigma)
        dx, dy, dz = x - cx, y - cy, z - cz
        square = ex * ex + ey * ey + ez * ez
        slope = max(square - (dx * bx + dy * by + dz * bz), LEAST_D * square)
        step = (dx * ex + dy * ey + dz * ez) / slope
        size = cell[SIZE]
        sigma += min(max(step, -size), size)
        while sigma > plan.curve_cell[j, SIZE] and (closed or j < end - 1):
            sigma -= plan.curve_cell[j, SIZE]
            j = j + 1 if j < end - 1 else first
        while sigma < 0.0 and (closed or j > first):
            j = j - 1 if j > first else end - 1
            sigma += plan.curve_cell[j, SIZE]
        if abs(step) <= STEP_DONE:
            break
    return j, sigma


@kernel
def normals(cell, z):
    """n_1, n_2 (six scalars), tau and its derivative at a place of a cell.

    n_1 is m, cubic in the cell, made square to the curve and unit: tau |q| = y . n_2 with q = m - beta e,
    beta = m . e / e.e and y = m' - beta c''.
    """
    ex, ey, ez = first_at(cell, z)
    bx, by, bz = second_at(cell, z)
    cx, cy, cz = third_at(cell, z)
    mx, my, mz, px, py, pz, qx, qy, qz = normal_at(cell, z)
    scale = 1.0 / (ex * ex + ey * ey + ez * ez)
    eb = ex * bx + ey * by + ez * bz
    beta = (mx * ex + my * ey + mz * ez) * scale
    beta_rate = (px * ex + py * ey + pz * ez + mx * bx + my * by + mz * bz - 2.0 * beta * eb) * scale
    ax, ay, az = mx - beta * ex, my - beta * ey, mz - beta * ez
    size = 1.0 / math.sqrt(ax * ax + ay * ay + az * az)
    ax, ay, az = ax * size, ay * size, az * size
    unit = math.sqrt(scale)
    nx, ny, nz = unit * (ey * az - ez * ay), unit * (ez * ax - ex * az), unit * (ex * ay - ey * ax)
    yx, yy, yz = px - beta * bx, py - beta * by, pz - beta * bz
    tau = (yx * nx + yy * ny + yz * nz) * size
    fx = qx - beta_rate * bx - beta * cx  # y'
    fy = qy - beta_rate * by - beta * cy
    fz = qz - beta_rate * bz - beta * cz
    y_first = yx * ax + yy * ay + yz * az
    y_along = (yx * ex + yy * ey + yz * ez) * (bx * nx + by * ny + bz * nz) * scale
    tau_rate = (fx * nx + fy * ny + fz * nz - 2.0 * tau * y_first - y_along) * size
    return ax, ay, az, nx, ny, nz, tau, tau_rate


@kernel
def curve_row(plan, k, A, s, i, ws):
    """Write row i of A and s for row k of the constraints; return its gap [m]."""
    a, b = plan.row_a[k], plan.row_b[k]
    px, py, pz = place(a, plan.row_point_a[k], ws.X)
    x, y, z = px, py, pz
    if b >= 0:
        x, y, z = rotate_back(b, px - ws.X[b, 9], py - ws.X[b, 10], pz - ws.X[b, 11], ws.X)
    j, sigma = nearest_on_curve(plan, plan.row_item[k], x, y, z)
    cell = plan.curve_cell[j]
    cx, cy, cz = place_at(cell, sigma)
    ex, ey, ez = first_at(cell, sigma)
    bx, by, bz = second_at(cell, sigma)
    ax, ay, az, ox, oy, oz, tau, tau_rate = normals(cell, sigma)
    share = plan.row_direction_b[k]
    nx, ny, nz = share[0] * ax + share[1] * ox, share[0] * ay + share[1] * oy, share[0] * az + share[1] * oz
    tx, ty, tz = share[0] * ox - share[1] * ax, share[0] * oy - share[1] * ay, share[0] * oz - share[1] * az
    dx, dy, dz = x - cx, y - cy, z - cz
    square = ex * ex + ey * ey + ez * ez
    D = max(square - (dx * bx + dy * by + dz * bz), LEAST_D * square)
    gap, beside = nx * dx + ny * dy + nz * dz, tx * dx + ty * dy + tz * dz
    lean = tau * beside / D
    w = (nx + lean * ex, ny + lean * ey, nz + lean * ez)
    wx, wy, wz = rotate(b, w, ws.X)
    vx, vy, vz = point_row(plan, a, b, px, py, pz, wx, wy, wz, A, s, i, ws)
    vx, vy, vz = rotate_back(b, vx, vy, vz, ws.X)  # x'
    along, bend = ex * vx + ey * vy + ez * vz, bx * vx + by * vy + bz * vz
    rate = along / D  # sigma'
    cx, cy, cz = third_at(cell, sigma)
    D_rate = (3.0 * (ex * bx + ey * by + ez * bz) - (dx * cx + dy * cy + dz * cz)) * rate - bend
    across = tx * vx + ty * vy + tz * vz
    beside_rate = across - tau * gap * rate
    lean_rate = (tau_rate * rate * beside + tau * beside_rate - lean * D_rate) / D
    turned = tau * across - (nx * bx + ny * by + nz * bz) * along / square  # n' . x'
    s[i] += rate * turned + lean_rate * along + lean * rate * bend
    return gap
