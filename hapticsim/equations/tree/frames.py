"""Kane's kinematical quantities of a body: pose, partial velocities, velocity, remainder acceleration.

The velocity of body B is linear in the generalized speeds, omega = sum_r omega_r u_r and v = sum_r v_r u_r;
the vectors omega_r and v_r are its partial angular velocities and partial velocities (Kane and Levinson,
Dynamics, 1985, section 2.14).  v belongs to the origin of B; everything is in world axes.
"""

from __future__ import annotations

from hapticsim.equations.scalars.spatial import Matrix, Vector, add, cross, product, subtract, times, zeros
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.model.moving import MovingTree

Poses = list[tuple[Matrix, Vector]]  # R_WM, p_WM of every moving body


def frame_pose(tree: MovingTree, moving: Poses, name: str) -> tuple[Matrix, Vector]:
    """Return R_WB (3 x 3) and p_WB (3) [m]."""
    index, X_MB = tree.place_of(name)
    R_MB = [[float(x) for x in row] for row in X_MB.rotation]
    p_MB = [float(x) for x in X_MB.translation]
    if index < 0:
        return R_MB, p_MB
    R, p = moving[index]
    return product(R, R_MB), add(p, times(R, p_MB))


def partial_velocities(link: Linkage, moving: Poses, name: str) -> list[Vector]:
    """Return the partial angular velocity and partial velocity of B for every speed: nu rows of six."""
    rows = [zeros(6) for _ in range(link.tree.nu)]
    index, _ = link.tree.place_of(name)
    _, p_WB = frame_pose(link.tree, moving, name)
    for j in link.tree.path(index):
        R, p_WM = moving[j]
        arm = subtract(p_WB, p_WM)
        for s, r in zip(link.S[j], link.speeds[j], strict=True):
            omega = times(R, s[:3])
            rows[r] = add(rows[r], omega + add(times(R, s[3:]), cross(omega, arm)))
    return rows


def frame_motion(
    tree: MovingTree, moving: Poses, v: list[Vector], a: list[Vector], name: str
) -> tuple[Vector, Vector]:
    """Return velocity and acceleration of B, six numbers each, from the spatial ones in moving axes.

    The linear part of the acceleration is that of the material point at B's origin, a + omega x v.
    """
    index, X_MB = tree.place_of(name)
    if index < 0:
        return zeros(6), zeros(6)
    R, _ = moving[index]
    arm = [float(x) for x in X_MB.translation]
    omega, alpha = v[index][:3], a[index][:3]
    v_B = add(v[index][3:], cross(omega, arm))
    a_B = add(add(a[index][3:], cross(alpha, arm)), cross(omega, v_B))
    return times(R, omega) + times(R, v_B), times(R, alpha) + times(R, a_B)
