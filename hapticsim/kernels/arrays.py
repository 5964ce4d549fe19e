"""The arrays of a run: meaning, unit, frame, shape and writer, one line each.

``Plan`` never changes during a run.  ``State`` is what you would save to a file and fork.  ``Input`` is
written from outside once per tick, ``Output`` by the tick, ``Workspace`` is scratch and may hold anything
between ticks.

Sizes: nq coordinates, nu speeds, nf frames (bodies that carry a shape in contact or the handle), nk contact
candidates, nr at most this many rows at once.  W world axes, D device axes, B body axes.
"""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.block import Block, Cube, Float, Int, IntVector, Matrix, Vector

MAX_ROWS = 24  # contact rows imposed at once
MAX_EVENTS = 16  # handled inside one tick; what comes after is captured at the next tick


class Plan(Block):
    """Constant for a run; written by ``assembly``."""

    kane: Int  # address of qdot, M, h, poses, partial velocities, velocities, remainder accelerations
    kinematics: Int  # address of the same without M and h
    forward_dynamics: Int  # address of the articulated-body method
    gravity_force: Int  # address of the bias at zero speed
    displace: Int  # address of q moved by W(q) delta
    normalise: Int  # address of quaternions made unit
    quaternions: Int  # 1 when q holds any
    tick_s: Float  # [s]
    max_events: Int
    damping: Vector  # (nu,) [N m s/rad] or [N s/m] viscous joint damping
    torque_constant: Vector  # (nu,) [N m] or [N]
    torque_gravity: Vector  # (nu,) fraction of the gravity force carried
    torque_kp: Vector  # (nu,)
    torque_kd: Vector  # (nu,)
    torque_reference: Vector  # (nu,)
    torque_limit: Vector  # (nu,) [N m] or [N]
    q_of_u: IntVector  # (nu,) int, index in q of the joint of speed r (1-dof joints), -1 otherwise
    handle_frame: Int  # index of a frame, -1 without a handle
    handle_point: Vector  # (3,) [m] in B
    sphere_frame: IntVector  # (nk,) int, frame of the body with the sphere
    sphere_centre: Matrix  # (nk, 3) [m] in B
    sphere_radius: Vector  # (nk,) [m], 0 for a corner
    sphere_inward: Matrix  # (nk, 3) in B: from a corner into its box, unit; 0 for a sphere
    surface_frame: IntVector  # (nk,) int, frame of the body with the surface, -1 for the world
    surface_kind: IntVector  # (nk,) int, codes.ON_PLANE or codes.ON_BOX
    surface_pose: Matrix  # (nk, 12) rotation row by row, then position, in B
    surface_half: Matrix  # (nk, 3) [m] half extents of a box
    rotation_WD: Matrix  # (3, 3) device axes to world axes
    motion_scale: Float
    force_scale: Float
    ramp_s: Float
    timeout_s: Float
    slew_N_per_s: Float
    max_stretch_m: Float
    reseat: Int  # 1: a longer stretch at arming moves the mapping instead of being refused
    max_device_speed: Float  # [m/s]


class State(Block):
    """What a run is, between two ticks."""

    q: Vector  # (nq,) generalized coordinates
    u: Vector  # (nu,) generalized speeds
    tick: IntVector  # (1,) int, ticks since the start
    active: IntVector  # (nk,) int, 1 while the row of the contact is imposed
    rank: IntVector  # (1,) int, rank of the imposed rows
    order: IntVector  # (nu,) int, the first rank speeds are dependent, the rest independent
    combine: Matrix  # (nr, nr) columns: combinations of rows that span them (identity at full rank)
    volume: Vector  # (1,) |det A_D| when the speeds were chosen, columns scaled
    safety: IntVector  # (4,) int: codes.Safety, codes.Fault, arm requests seen, disarm requests seen
    gain: Vector  # (1,) coupling from 0 to 1
    hand_force_D: Vector  # (3,) [N] last force on the hand, for the slew limit
    origin_W: Vector  # (3,) [m] world point of the device's centre


class Input(Block):
    """Sampled once per tick, before it starts."""

    device: Vector  # (8,) position [m] D, velocity [m/s] D, age of the sample [s], 1 when a device is there
    requests: IntVector  # (2,) int: arm, disarm: counts that only grow
    coupler: Vector  # (3,) stiffness [N/m], damping [N s/m], force limit on the hand [N]
    torque: Vector  # (nu,) [N m] or [N] generalized force from outside
    force_W: Vector  # (3,) [N] force from outside at the handle


class Output(Block):
    """Written by every tick: a sample of its start, where all inputs are known, and what happened since."""

    q: Vector  # (nq,) at the start of the tick, on the constraints
    u: Vector  # (nu,) after impulses at the start of the tick
    hand_force_D: Vector  # (3,) [N] what the device is to apply to the hand
    coupler_W: Vector  # (3,) [N] coupler force on the handle
    anchor_W: Vector  # (3,) [m] the device's point in the world
    handle_W: Vector  # (3,) [m] the handle
    contact_force: Vector  # (nk,) [N] normal force, 0 when not in contact
    gap: Vector  # (nk,) [m] of imposed rows before projection
    normal_W: Matrix  # (nk, 3) from the surface to the sphere
    point_W: Matrix  # (nk, 3) [m] on the sphere
    events: Matrix  # (3 * MAX_EVENTS, 4) codes.Event, contact or -1, value, time in the tick [s]
    counts: IntVector  # (4,) int: events of this tick, pieces integrated, selections ever, overflows ever
    residual: Vector  # (1,) [m] largest |gap| of imposed rows before projection: the drift of the tick


class Workspace(Block):
    """Scratch of the tick."""

    q0: Vector  # (nq,) start of the piece
    u0: Vector  # (nu,)
    q1: Vector  # (nq,) end of the piece
    u1: Vector  # (nu,)
    qs: Vector  # (nq,) stage
    us: Vector  # (nu,)
    dq: Matrix  # (4, nq) qdot of the stages
    du: Matrix  # (4, nu) udot of the stages
    M: Matrix  # (nu, nu) mass matrix
    h: Vector  # (nu,) bias
    X: Matrix  # (nf, 12)
    V: Cube  # (nf, nu, 6)
    vel: Matrix  # (nf, 6)
    acc: Matrix  # (nf, 6)
    tau: Vector  # (nu,) torque law, held for the tick
    gravity: Vector  # (nu,)
    f: Vector  # (nu,) generalized active forces
    A: Matrix  # (nr, nu) constraint rows
    s: Vector  # (nr,) remainder of the row's acceleration: A udot + s = 0
    B: Matrix  # (nr, nu) combined rows when the rank is deficient
    t: Vector  # (nr,)
    phi: Vector  # (nr,) gaps of the imposed rows
    rows: IntVector  # (nr,) int, contact of each row
    LU: Matrix  # (nr, nr)
    pivots: IntVector  # (nr,) int
    D: Matrix  # (nr, nu)
    E: Matrix  # (nr, nu)
    g: Vector  # (nr,)
    K: Matrix  # (nu, nu)
    y: Vector  # (nu,)
    lam: Vector  # (nr,) [N] row forces at the stage last evaluated
    push: Vector  # (nr,) [m] force guards of the imposed rows, negative where a row would pull
    part: IntVector  # (nr,) int, part of the box that each imposed row is on since the piece began
    guard0: Vector  # (2 nk,) guards (guards.py) at the lower end of the bracket
    guard1: Vector  # (2 nk,) guards at the time last tried
    guard2: Vector  # (2 nk,) guards at the upper end of the bracket
    L: Matrix  # (nu, nu) L D L' factor of M
    Y: Matrix  # (nr, nu) rows of M^-1 A'
    Wr: Matrix  # (nr, nr) A M^-1 A'
    c: Vector  # (nr,)
    x: Vector  # (nr,)
    z: Vector  # (nr,)
    grad: Vector  # (nr,)
    passive: IntVector  # (nr,) int
    P: Matrix  # (nr, nr)
    R: Matrix  # (nr, nu) selection: rows turned, then the factor of pivoted QR
    U: Matrix  # (nr, nr) selection: left vectors
    sigma: Vector  # (nr,)
    norms: Vector  # (nu,)
    perm: IntVector  # (nu,) int
    good_q: Vector  # (nq,) state at the start of the tick, taken back when something is not finite
    good_u: Vector  # (nu,)


def allocate_state(q0: np.ndarray, u0: np.ndarray, nk: int, origin_W: np.ndarray) -> State:
    """A state at rest in contact terms: no row imposed, disarmed."""
    nr = max(1, min(nk, MAX_ROWS))
    return State(
        q=np.array(q0, dtype=float),
        u=np.array(u0, dtype=float),
        tick=np.zeros(1, np.int64),
        active=np.zeros(nk, np.int64),
        rank=np.zeros(1, np.int64),
        order=np.arange(len(u0), dtype=np.int64),
        combine=np.eye(nr),
        volume=np.zeros(1),
        safety=np.zeros(4, np.int64),
        gain=np.zeros(1),
        hand_force_D=np.zeros(3),
        origin_W=np.array(origin_W, dtype=float),
    )


def allocate_input(nu: int) -> Input:
    device = np.zeros(8)
    device[6] = np.inf
    return Input(
        device=device,
        requests=np.zeros(2, np.int64),
        coupler=np.zeros(3),
        torque=np.zeros(nu),
        force_W=np.zeros(3),
    )


def allocate_output(nq: int, nu: int, nk: int) -> Output:
    return Output(
        q=np.zeros(nq),
        u=np.zeros(nu),
        hand_force_D=np.zeros(3),
        coupler_W=np.zeros(3),
        anchor_W=np.zeros(3),
        handle_W=np.zeros(3),
        contact_force=np.zeros(nk),
        gap=np.zeros(nk),
        normal_W=np.zeros((nk, 3)),
        point_W=np.zeros((nk, 3)),
        events=np.zeros((3 * MAX_EVENTS, 4)),
        counts=np.zeros(4, np.int64),
        residual=np.zeros(1),
    )


def allocate_workspace(nq: int, nu: int, nf: int, nk: int) -> Workspace:
    nr = max(1, min(nk, MAX_ROWS))
    shapes = {
        "q0": nq, "u0": nu, "q1": nq, "u1": nu, "qs": nq, "us": nu, "dq": (4, nq), "du": (4, nu),
        "M": (nu, nu), "h": nu, "X": (nf, 12), "V": (nf, nu, 6), "vel": (nf, 6), "acc": (nf, 6),
        "tau": nu, "gravity": nu, "f": nu, "A": (nr, nu), "s": nr, "B": (nr, nu), "t": nr, "phi": nr,
        "rows": nr, "LU": (nr, nr), "pivots": nr, "D": (nr, nu), "E": (nr, nu), "g": nr, "K": (nu, nu),
        "y": nu, "lam": nr, "push": nr, "part": nr, "guard0": 2 * nk, "guard1": 2 * nk, "guard2": 2 * nk,
        "L": (nu, nu), "Y": (nr, nu),
        "Wr": (nr, nr), "c": nr, "x": nr, "z": nr, "grad": nr, "passive": nr, "P": (nr, nr),
        "R": (nr, nu), "U": (nr, nr), "sigma": nr, "norms": nu, "perm": nu, "good_q": nq, "good_u": nu,
    }  # fmt: skip
    integers = {"rows", "pivots", "passive", "perm", "part"}
    return Workspace(
        **{name: np.zeros(shape, np.int64 if name in integers else float) for name, shape in shapes.items()}
    )
