"""The arrays of a run: shape, unit, frame, meaning and writer, one line each.

``Plan`` never changes during a run.  ``State`` is what you would save to a file and fork.  ``Input`` is
written from outside once per tick, ``Output`` by the tick, ``Workspace`` is scratch and may hold anything
between ticks, but for the zeros of M and V between trees and of A beside what a row is about.

Sizes: nq coordinates, nu speeds, nf frames (bodies that carry a shape in contact, the handle or a
constraint), nt kinematic trees, nk contact candidates, nc constraints, nb blocks and nw rows in all, ne
equations of the mechanism, nr at most this many rows imposed at once, nF numbers that impulse responses
share, places for the events of a tick; ns trees of a scene where bodies sleep, ni contacts that keep an
impulse; nd contacts of a scene where surfaces yield; in the time-stepping regime nz contacts that are near at
once, nj twice the speeds of the largest tree; in a scene with friction ng contacts, ny of them near at once,
nn speeds of an island that is solved by Newton's method, at most.  W world axes, D device axes, B body axes;
A and B the two bodies of a row.

A block is what one owner imposes: a contact candidate, a loop, a guide, a lock.  Blocks and rows are numbered
once: block b has the rows block_start[b] to block_start[b + 1].  The first nk blocks are the contact
candidates, with one row each; the constraints follow, in the order of the scene.
"""

from __future__ import annotations

from hapticsim.kernels.memory.block import Block, Cube, Float, Int, IntMatrix, IntVector, Matrix, Vector
from hapticsim.kernels.memory.shape import of

MAX_CHOICES = 4  # choices of independent speeds reported per tick
CHOICE = 6  # numbers of each, before those per speed
MOST_NEAR = 8192  # contacts that a time step looks at
MOST_IN_NEWTON = 96  # speeds of an island whose friction is found by Newton's method
# Output.counts: of this tick events, pieces integrated; ever: selections of speeds, overflows (chatters
# ended, ticks with too many events or too few rows); of this tick choices of speeds, trial steps; 1: this is
# a rehearsal, whose tick is one piece (realtime/loop.py)
EVENTS, PIECES, SELECTIONS, OVERFLOWS, CHOICES, TRIALS, REHEARSAL = range(7)
# Workspace.counts: rows of constraints imposed (the first rows), constraints that slip, whether the O(n)
# route may be taken, whether it was; in a scene where contacts rub the first rows are of those that stick,
# and what slips are contacts; 1: the piece begins here
HELD_ROWS, SLIPPING, MAY_RESPOND, RESPONDED, BEGINS = range(5)
# State.safety: codes.Safety, codes.Fault, most arm and most disarm requests seen
MODE, FAULTS, ARMS, DISARMS = range(4)
AROUND = 96  # triangles near a sphere that are listed, at most
HULL = 1024  # features of a kind that a hull may have, at most
PORT = 15  # numbers that each port of the coupler remembers of its swing (oscillation.py)
SWING = 2 * PORT + 1  # of both, and a mark
YIELDING = 19  # numbers that each compliant contact says at a stage (motion/deformation.py)


class Plan(Block, packed=True):
    """Constant for a run; written by ``assembly``."""

    contact_row: Int  # addresses of the large parts of a tick (units.py)
    constraint_rows: Int  # 0 without constraints
    gap: Int
    where: Int
    put_edges: Int  # 0 without edges that may cross, or hulls
    put_hulls: Int  # 0 without hulls, as the next
    hull_contact: Int
    quadric: Int  # 0 without ellipsoids and cones, as the next
    quadric_row: Int
    find_far: Int  # 0 with few pairs of shapes
    follow_meshes: Int  # 0 without meshes, as the next four
    border_ahead: Int
    first_border: Int
    nearby: Int
    next_feature: Int
    choose: Int
    terms: Int
    solve_redundant: Int
    solve_islands: Int  # 0 with one tree, as the next two
    forces_of_islands: Int
    change_of_islands: Int
    time_step: Int  # 0 where contacts are always located and embedded
    write_tangents: Int  # 0 where no contact rubs, as the next
    solve_cones: Int
    sticking_rows: Int  # 0 where no contact rubs in exact ticks, as the next three, which stand for others
    solve_sliding: Int  # for solve_slipping
    read_rub_guards: Int  # for read_friction_guards
    resolve_rubbing: Int  # for resolve
    yielding_forces: Int  # 0 where no surface yields, as the next three
    yielding_piece: Int
    soften_yielding: Int
    report_yielding: Int
    sleep_through: Int  # 0 where nothing sleeps, as the next six
    put_to_sleep: Int
    hold_still: Int
    sleep_on: Int
    sleep_again: Int
    wake_touched: Int
    count_rest: Int
    solve_slipping: Int  # 0 without constraints, as what says so below
    free_stage: Int
    stage: Int
    feasible_forces: Int
    start_piece: Int
    resolve: Int
    let_go_driver: Int  # 0
    let_bounded_go: Int  # 0
    settle_bounded: Int  # 0
    rest_bounded: Int  # 0
    rest_chattering_contacts: Int
    dispatch_event: Int
    slip_or_stick: Int  # 0
    read_friction_guards: Int  # 0
    switch_as_asked: Int  # 0
    watch_constraints: Int  # 0
    activate_by_touch: Int  # 0
    resolve_after_switch: Int  # 0
    activate: Int  # 0
    kane: Int  # address of qdot, M, h, poses, partial velocities, velocities, remainder accelerations
    kinematics: Int  # address of the same without M and h
    response_factor: Int  # address of what impulse responses share, 0 where the O(n) route is not taken
    response: Int  # address of an impulse response
    forward_dynamics: Int  # address of the articulated-body method
    gravity_force: Int  # address of the bias at zero speed
    energy: Int  # address of kinetic and potential energy, 0 where the balance is not kept (energy.py)
    displace: Int  # address of q moved by W(q) delta
    normalise: Int  # address of quaternions made unit
    quaternions: Int  # 1 when q holds any
    tick_s: Float  # [s]
    max_events: Int
    steps: Int  # codes.NO_TICK ...: which ticks are time steps (crowded_tick.py)
    damping: Vector = of("nu")  # [N m s/rad] or [N s/m] viscous joint damping
    torque_constant: Vector = of("nu")  # [N m] or [N]
    torque_gravity: Vector = of("nu")  # fraction of the gravity force carried
    torque_kp: Vector = of("nu")
    torque_kd: Vector = of("nu")
    torque_reference: Vector = of("nu")
    torque_limit: Vector = of("nu")  # [N m] or [N]
    q_of_u: IntVector = of("nu")  # index in q of the joint of speed r (1-dof joints), -1 otherwise
    law_in_stages: Int  # 1: springs and dampers of the torque laws act in each stage and are not held
    damping_rate: Float  # [1/s] fastest decay that joint damping, and laws in the stages, ask for
    spring_rate: Float  # [rad/s] fastest oscillation that the laws in the stages ask for
    handle_mobility: Float  # [1/kg] largest 1 / mass that a force on the handle may find
    rotation_mobility: Float  # [1/(kg m^2)] largest 1 / inertia that a torque on the handle's body may find
    energy_scale: Float  # [J] what a gain of energy is compared with
    driven: Int  # 1: a constraint prescribes a rate, so that its force may do work
    angular: IntVector = of("nu")  # 1: a component of the angular velocity of a joint with a quaternion
    handle_frame: Int  # index of a frame, -1 without a handle
    handle_point: Vector = of(3)  # [m] in B
    tree_first: IntVector = of("nt")  # speeds of each kinematic tree, from first to end
    tree_end: IntVector = of("nt")
    root_vectors: IntVector = of("nt")  # how many vectors in axes of its root body its first speeds are:
    # 1 of a ball joint, 2 of a free one, 0 of others
    root_quaternion: IntVector = of("nt")  # where the quaternion of that joint begins in q, else -1
    tree_of_speed: IntVector = of("nu")
    tree_of_coordinate: IntVector = of("nq")
    rest_ticks: Int  # after so many ticks at rest a tree may sleep (sleeping.py)
    rest_speed: Vector = of("nu")  # [rad/s] or [m/s] below which it rests, 0: its tree never sleeps
    largest_tree: Int  # speeds of the tree that has most
    frame_first: IntVector = of(
        "nf"
    )  # speeds of the tree of each frame, from first to end; 0, 0: it is fixed
    frame_end: IntVector = of("nf")
    stop_frame: Int  # the first of the frames in which coordinates are places, one for each joint with stops
    stop_q: IntVector = of("stops")  # the coordinate of each
    stop_u: IntVector = of("stops")  # its rate
    frame_size: Vector = of("nf")  # [m] how far the shapes of each frame reach from its origin
    contacts: Int  # nk
    curved: Int  # 1: a contact's row may bend, so that a step of the integrator leaves a gap
    block_start: IntVector = of("nb + 1")  # first row of each block
    block_law: IntVector = of("nb")  # codes.ONE_SIDED ...: how its rows give force
    bounded: Int  # 1: a block sticks by a force with a given bound, which gives no impulse
    block_bounded: IntVector = of("nb")  # 1: this one does
    static_friction: Vector = of("nb")  # coefficient up to which a block that rubs holds, or inf
    kinetic_friction: Vector = of("nb")  # coefficient of its friction once it slips
    friction_load: Vector = of("nb")  # [N] normal force, where no block gives it
    friction_normal: IntVector = of("nb")  # block whose force is the normal force, -1: friction_load
    sphere_inward: Matrix = of("nk, 3")  # in A, unit: from a corner into its box, along a side that crosses,
    # out of the end of a cylinder or a cone that has a rim
    surface_kind: IntVector = of("nk")  # codes.ON_PLANE ...
    surface_pose: Matrix = of("nk, 12")  # rotation row by row, then position, in B
    same_surface: IntVector = of("nk")  # 1: on the same surface as the candidate before
    surface_half: Matrix = of("nk, 3")  # [m] half extents of a box; of a capsule radius, radius, half length;
    # of two that cross radius of the second, half lengths of both; of a rim on a plane its radius first;
    # of an ellipsoid its half axes; of a cone as of a capsule
    edge_pose: Matrix = of(
        "nk, 12"
    )  # of the shape with the first edge, a corner's box, or an ellipsoid on a plane, in A, as surface_pose
    edge_half: Matrix = of(
        "nk, 3"
    )  # [m] its half extents; of a capsule 0, 0, half length; of an ellipsoid its half axes
    edge_places: IntVector = of(
        "nk"
    )  # places for edges, hulls, or on a mesh, of a pair, at the first; else 0
    hull_a: IntVector = of("nk")  # of a place for two hulls the number of that of A, else 0
    hull_b: IntVector = of("nk")
    hull_corners: IntVector = of("hulls + 1")  # first vertex of each hull
    hull_faces: IntVector = of("hulls + 1")
    hull_edges: IntVector = of("hulls + 1")
    hull_ball: Matrix = of("hulls, 4")  # [m] middle and radius of a ball that holds it, in its axes
    hull_vertex: Matrix = of(
        "corners, 3"
    )  # [m] of all hulls, in the axes of each; behind them of joined ones
    hull_neighbour_start: IntVector = of("corners + 1")  # first entry of each vertex in hull_neighbour
    hull_neighbour: IntVector = of(
        "neighbours"
    )  # vertices at the other end of its edges, and of joined hulls
    hull_face: Matrix = of("faces, 4")  # unit, outward; and its product with a point of the face [m]
    hull_border_start: IntVector = of("faces + 1")  # first entry of each face in hull_border
    hull_border: Matrix = of("borders, 4")  # the same of the planes across a face that end it
    hull_edge: Matrix = of(
        "edges, 14"
    )  # middle [m], direction (unit), half length [m], both directions (unit)
    # from it into its faces, half length along which it touches [m]
    mesh_root: IntVector = of("nk")  # node 0 of the tree of boxes of its mesh (mesh/search.py), else 0
    mesh_leaves: IntVector = of("nk")
    mesh_first: IntVector = of("nk")  # its first triangle
    mesh_count: IntVector = of("nk")  # how many it has
    mesh_box: Matrix = of("boxes, 8")  # [m] least x, y, z, then largest, in the axes of the mesh; then the
    # heights between which all is, along the normal of the middle triangle; inf of large boxes
    mesh_vertex: Matrix = of("vertices, 3")  # [m] of all meshes, in the axes of each
    mesh_vertex_normal: Matrix = of("vertices, 3")  # sum of the normals around it, weighted by their angles
    mesh_normal: Matrix = of("triangles, 3")  # unit, outward; triangles in the order of the leaves
    mesh_triangle: IntVector = of("3 * triangles")  # vertices of each, counter-clockwise from outside
    mesh_neighbour: IntVector = of("3 * triangles")  # 3 t + i of the same edge in the triangle beyond it
    mesh_ring_start: IntVector = of("vertices + 1")  # first entry of each vertex in mesh_ring
    mesh_ring: IntVector = of("3 * triangles")  # 3 t + i where the vertex is corner i of triangle t
    volume_frame: IntVector = of("volumes")  # body of each bounding volume (broad_phase.py), -1: the world
    volume_pose: Matrix = of("volumes, 12")  # of its box, in the body, as surface_pose
    volume_half: Matrix = of("volumes, 3")  # [m] half extents of the box
    volume_radius: Vector = of("volumes")  # [m] of the ball about the middle of the box
    pair_a: IntVector = of("pairs")  # volumes of each pair of shapes
    pair_b: IntVector = of("pairs")  # -1: a plane
    pair_first: IntVector = of("pairs + 1")  # its first candidate
    restitution: Vector = of("nk")  # speed after an impact by speed before it, 0 to 1
    plastic_below: Vector = of("nk")  # [m/s] what strikes no faster is not thrown back
    contact_friction: Vector = of("nk")  # coefficient of friction of what slides, 0: none
    contact_static: Vector = of("nk")  # that of what sticks
    compliant: IntVector = of("nk")  # 1: its surface yields, and no row holds it
    compliance: Matrix = of("nk, 8")  # by what law (compliance/law.py)
    touch_activates: IntVector = of("nk")  # block that a touch switches on, -1: none
    row_kind: IntVector = of("nw")  # codes.POINT_ROW ...
    row_block: IntVector = of("nw")  # the block that a row belongs to
    row_a: IntVector = of("nw")  # frame of body A, -1 for the world; of a contact the body with the sphere
    row_b: IntVector = of("nw")  # frame of body B; of a contact the body with the surface
    row_tree_a: IntVector = of("nw")  # trees of its bodies, or of its speeds; -1: the world
    row_tree_b: IntVector = of("nw")
    row_first: IntVector = of("nw")  # speeds among which those of its trees are, from first to end
    row_end: IntVector = of("nw")
    row_point_a: Matrix = of("nw, 3")  # [m] in A; of a contact the centre of the sphere
    row_point_b: Matrix = of("nw, 3")  # [m] in B
    row_direction_a: Matrix = of("nw, 3")  # in A, unit
    row_direction_b: Matrix = of("nw, 3")  # in B, unit; of CURVE_ROW the shares of the two normals
    row_length: Vector = of("nw")  # [m] distance; radius of what rolls, of a sphere in contact, 0: a corner
    row_drive: Matrix = of("nw, 4")  # speed [1/s], amplitude, angular frequency [rad/s], phase [rad]
    row_item: IntVector = of("nw")  # by kind: number of the equation, curve or line of factors, else -1
    row_latch: IntVector = of("nw")  # 1: switching on holds the displacement found there
    factor_q: Matrix = of("factors, nq")  # of the coordinates
    factor_u: Matrix = of("factors, nu")  # of the speeds
    curve_start: IntVector = of("curves + 1")  # first cell of each curve
    curve_closed: IntVector = of("curves")  # 1: its last cell leads to its first
    curve_cell: Matrix = of("cells, 31")  # in B: place [m], 6 coefficients of x, y, z, and a normal,
    # 4 of them, over a parameter [m] that goes from 0 to the last entry
    curve_chord: Matrix = of("cells, 9")  # in B: start, chord [m], 1 / length^2, least and largest fraction
    rows_function: Int  # address of the mechanism's constraint equations, 0: none
    rotation_WD: Matrix = of(3, 3)  # device axes to world axes
    motion_scale: Float
    force_scale: Float
    ramp_s: Float
    cut_off_s: Float  # age from which a sample of the device gives no force
    stall_s: Float  # time since the tick before from which the loop itself stood still
    resume_within_s: Float  # longest silence that is an interruption; 0: none is
    max_power_W: Float  # into the hand; 0: derived from the force limit (safety.py)
    slew_limit_N_per_s: Float
    max_stretch_m: Float
    reseat: Int  # 1: a longer stretch at arming moves the mapping instead of being refused
    max_device_speed_m_per_s: Float
    coupled_rotation: Int  # which rotation is coupled: 0 none, 1 about the device's z, 2 all
    quaternion_WD: Vector = of(4)  # w, x, y, z of rotation_WD
    torque_scale: Float  # torque on the hand per torque in the world: force_scale / motion_scale
    slew_limit_Nm_per_s: Float


class State(Block, whole=True):
    """What a run is, between two ticks."""

    q: Vector = of("nq")  # generalized coordinates
    u: Vector = of("nu")  # generalized speeds
    tick: IntVector = of(1)  # ticks since the start
    mode: IntVector = of("nb")  # codes.Mode: what each block does
    rank: IntVector = of(2)  # rank of the imposed rows, and their number when the speeds were chosen
    order: IntVector = of("nu")  # the first rank speeds are dependent, the rest independent
    combine: Matrix = of("nr, nr")  # columns: combinations of rows that span them (identity at full rank)
    volume: Vector = of(1)  # |det A_D| when the speeds were chosen, columns scaled
    safety: IntVector = of(4)  # MODE ...
    last_sample: Vector = of(
        5
    )  # last sample that counted: position [m] D, its age [s], and how much further than
    # its speed allows the next may be [m]
    interruption: Vector = of(4)  # silence of the one ridden through now, or ramped up after [s], else 0;
    # time heard again [s]; interruptions that ended by themselves, the longest silence of these [s]
    gain: Vector = of(1)  # coupling from 0 to 1
    hand_force_D: Vector = of(3)  # [N] last force on the hand, for the slew limit
    swing: Vector = of("SWING")  # what tells a device that swings by itself (oscillation.py)
    origin_W: Vector = of(3)  # [m] world point of the device's centre
    offset: Vector = of("nw")  # [m] or [rad] displacement that a latched row keeps
    switched: IntVector = of("nc")  # switch requests seen
    hand_torque_D: Vector = of(3)  # [N m] last torque on the hand, for the slew limit
    turn_offset: Vector = of(4)  # w, x, y, z: the handle's body seen from the device's handle when armed
    friction: Vector = of("nb")  # [N] along the row of what slips, at the last stage: a first guess
    face: IntVector = of("nk")  # 1 to 6: face of the box that holds a corner; edges, a feature of a mesh;
    # 0, or what inside.py says
    depth: Vector = of("nk")  # [m] gap at which a candidate is held: below 0 where it was found inside, above
    # 0 where it is held open (inside.py)
    impulse: Vector = of("ni")  # [N s] of each contact in the last time step (time_stepping), or tick
    # before it slept
    friction_impulse_W: Matrix = of("ng, 3")  # [N s] friction on A of each contact in the last time step
    grip: IntVector = of("ng")  # codes.Grip: what each contact that is held does in exact ticks
    slide_W: Matrix = of("ng, 3")  # unit, in the world: where one that slides went as the last piece began
    still: IntVector = of("ns")  # ticks for which each tree has rested, and one more once it slept
    deformation: Matrix = of("nd, 3")  # [m^n] in B: how the ground under each contact is deformed along it
    yields: IntVector = of("nd")  # 1: each pushed as the last tick began
    energy: Vector = of(3)  # [J] after the last tick; part of the gains allowed that is used; KNOWN


class Input(Block):
    """Sampled once per tick, before it starts."""

    device: Vector = of(8)  # position [m] D, velocity [m/s] D, age of the sample [s], 1: it is there
    flags: IntVector = of(1)  # codes.DeviceFlag bits of the sample
    gap: Vector = of(2)  # [s] since the tick before; and how long the computer was suspended since
    requests: IntVector = of(2)  # int: arm, disarm: counts that only grow
    coupler: Vector = of(3)  # stiffness [N/m], damping [N s/m], force limit on the hand [N]
    torque: Vector = of("nu")  # [N m] or [N] generalized force from outside
    force_W: Vector = of(3)  # [N] force from outside at the handle
    switch: IntVector = of("nc")  # twice the requests made, plus 1 where the last one is to hold
    device_rotation: Vector = of(7)  # the device's orientation w, x, y, z, its angular velocity [rad/s] D
    rotation_coupler: Vector = of(
        3
    )  # stiffness [N m/rad], damping [N m s/rad], torque limit on the hand [N m]
    link: Vector = of(1)  # [s] by which the remote site's last word is older than its link allows, or 0


class Output(Block):
    """Written by every tick: a sample of its start, where all inputs are known, and what happened since."""

    q: Vector = of("nq")  # at the start of the tick, on the constraints
    u: Vector = of("nu")  # after impulses at the start of the tick
    hand_force_D: Vector = of(3)  # [N] what the device is to apply to the hand
    coupler_W: Vector = of(3)  # [N] coupler force on the handle
    anchor_W: Vector = of(3)  # [m] the device's point in the world
    handle_W: Vector = of(3)  # [m] the handle
    force: Vector = of("nw")  # [N] or [N m] of imposed rows, and of the friction of what slips; 0 where free
    gap: Vector = of("nw")  # [m] or [rad] before projection, of contacts and of other imposed rows
    normal_W: Matrix = of("nk, 3")  # from the surface to the sphere
    point_W: Matrix = of("nk, 3")  # [m] on the sphere
    events: Matrix = of("places, 4")  # codes.Event, contact or -1, value, time in the tick [s]
    counts: IntVector = of(7)  # EVENTS ...
    residual: Vector = of(1)  # [m] largest |gap| of imposed rows before projection: the drift of the tick
    choices: Matrix = of("MAX_CHOICES, CHOICE + 3 * nu")  # time [s], rank before, rank, rows, condition of
    # the scaled A_D, that with the speeds chosen before or 0, order (nu), up to two null vectors (2 nu)
    hand_torque_D: Vector = of(3)  # [N m] what the device is to apply to the hand
    coupler_torque_W: Vector = of(3)  # [N m] coupler torque on the handle's body
    friction_W: Matrix = of("ng, 3")  # [N] friction on A at point_W
    certificate: Vector = of("certified")  # how far it was from the laws of contact (tick/certificate.py)


class Workspace(Block, packed=True):
    """Scratch of the tick."""

    q0: Vector = of("nq")  # start of the piece
    u0: Vector = of("nu")
    q1: Vector = of("nq")  # end of the piece
    u1: Vector = of("nu")
    qs: Vector = of("nq")  # stage
    qi: Vector = of("nq")  # between the ends of a piece (dense.py)
    rate1: Vector = of("nq")  # rates of the coordinates at its end
    us: Vector = of("nu")
    dq: Matrix = of("5, nq")  # qdot of the stages, and of the first stage of a later division of the piece
    du: Matrix = of("5, nu")  # udot of the same
    M: Matrix = of("nu, nu")  # mass matrix; between trees 0, always, as of V
    h: Vector = of("nu")  # bias
    X: Matrix = of("nf, 12")
    V: Cube = of("nf, nu, 6")
    vel: Matrix = of("nf, 6")
    acc: Matrix = of("nf, 6")
    known_terms: IntVector = of("1")  # 1 where M, h and the frames are those at known_q, known_u (frames.py)
    known_q: Vector = of("nq")
    known_u: Vector = of("nu")
    known_qdot: Vector = of("nq")
    tau: Vector = of("nu")  # torque law, held for the tick
    gravity: Vector = of("nu")
    f: Vector = of("nu")  # generalized active forces
    A: Matrix = of("nr, nu")  # constraint rows; 0 where the next two do not say otherwise, always
    row_low: IntVector = of("nr")  # speeds between which each row of A was written last
    row_high: IntVector = of("nr")
    s: Vector = of("nr")  # remainder of the row's acceleration: A udot + s = 0
    B: Matrix = of("nr, nu")  # combined rows when the rank is deficient
    t: Vector = of("nr")
    phi: Vector = of("nr")  # gaps of the imposed rows
    rows: IntVector = of("nr")  # the rows imposed
    LU: Matrix = of("nr, nr")
    pivots: IntVector = of("nr")
    D: Matrix = of("nr, nu")
    E: Matrix = of("nr, nu")
    g: Vector = of("nr")
    K: Matrix = of("nu, nu")  # as LU, D and E: those of the islands below one another, each from column 0
    y: Vector = of("nu")
    islands: IntVector = of(1)  # how many there are (islands.py)
    island_of: IntVector = of("nt")  # island of each tree
    island_row: IntVector = of("nt + 1")  # first place in ordered_rows of each
    island_dependent: IntVector = of("nt + 1")  # first dependent speed of each, in State.order
    island_free: IntVector = of("nt + 1")  # first independent speed of each, in State.order
    ordered_rows: IntVector = of("nr")  # imposed rows, those of an island side by side
    lam: Vector = of("nr")  # [N] row forces at the stage last evaluated
    push: Vector = of("nr")  # [m] force guards of the imposed rows, negative where a row would pull
    part: IntVector = of("nr")  # part of the box that each imposed row is on since the piece began
    guard0: Vector = of("nb + nk")  # guards (guards.py) at the lower end of the bracket
    guard1: Vector = of("nb + nk")  # guards at the time last tried
    guard2: Vector = of("nb + nk")  # guards at the upper end of the bracket
    L: Matrix = of("nu, nu")  # L D L' factor of M
    Y: Matrix = of("nr, nu")  # rows of M^-1 A'
    Wr: Matrix = of("nr, nr")  # A M^-1 A'
    c: Vector = of("nr")
    x: Vector = of("nr")
    z: Vector = of("nr")
    grad: Vector = of("nr")
    passive: IntVector = of("nr")
    part_rows: IntVector = of("nr")  # rows whose forces depend on one another (unilateral.py)
    P: Matrix = of("nr, nr")
    R: Matrix = of("nr, nu")  # selection: rows turned, then the factor of pivoted QR
    U: Matrix = of("nr, nr")  # selection: left vectors
    sigma: Vector = of("nr")
    norms: Vector = of("nu")
    perm: IntVector = of("nu")
    good_q: Vector = of("nq")  # state at the start of the tick, taken back when something is not finite
    good_u: Vector = of("nu")
    put_q: Vector = of("nq")  # the same put onto the rows that held then
    good_mode: IntVector = of("nb")  # what the blocks did then
    good_face: IntVector = of("nk")  # the same of faces and depths
    good_depth: Vector = of("nk")
    left_out: IntVector = of(1)  # 1: a contact was left out in this tick, for want of rows
    stepped: IntVector = of(1)  # 1: the tick before was exact and became a time step
    sampled: IntVector = of(1)  # 1: the sample of this tick was taken, before it became a time step
    counts: IntVector = of(5)  # HELD_ROWS ...
    F: Vector = of("nF")  # what impulse responses share (equations/tree/impulse_response.py)
    b: Vector = of("nr")  # prescribed rates: A u = b
    equation_phi: Vector = of("ne")  # the mechanism's constraint equations, as in phi, A, b and s
    equation_A: Matrix = of("ne, nu")
    equation_b: Vector = of("ne")
    equation_s: Vector = of("ne")
    slip_A: Matrix = of("nb, nu")  # rows of what slips
    slip_s: Vector = of("nb")
    slip_b: Vector = of("nb")
    slip_force: Vector = of("nb")  # [N] friction along the row
    Q: Matrix = of("nr, nu")  # rows of the constraints, orthonormal in the metric M^-1
    QY: Matrix = of("nr, nu")  # M^-1 Q
    qb: Vector = of("nr")  # their prescribed rates
    qr: Vector = of("nr")  # their remainders
    N: Matrix = of("2, nu")  # null vectors
    share: Vector = of("nr")  # of each row in a contradiction
    earlier: IntVector = of("nu")  # the speeds that were dependent before a choice
    local: IntVector = of("nu")  # those of an island, counted from its first speed
    chosen: IntVector = of("nu")  # the speeds that are dependent after it
    taken: IntVector = of("nu")  # 1: this speed is
    island_U: Matrix = of("nr, nr")  # selection in an island: left vectors
    island_sigma: Vector = of("nr")
    island_combine: Matrix = of("nr, nr")
    island_first: IntVector = of("nt")  # speeds between which those of each island stand
    island_end: IntVector = of("nt")
    quiet: IntVector = of("nt")  # 1: nothing about the island changes in this piece (quiet.py)
    quiets: IntVector = of(1)  # how many are quiet; 0 outside of a piece
    near: IntVector = of("nz")  # contacts that a time step looks at (near_contacts.py)
    near_face: IntVector = of("nz")  # what each would be held by, as State.face
    near_sure: IntVector = of("nz")  # 0: one that closes only if it comes over what holds it in this tick
    near_speeds: IntMatrix = of("nz, 4")  # where those of its two trees begin, and how many they are
    near_J: Matrix = of("nz, nj")  # their rows, for the first tree and from the middle on for the second
    near_Y: Matrix = of("nz, nj")  # M^-1 J'
    near_mobility: Vector = of("nz")  # [1/kg] J M^-1 J'
    near_mass: Vector = of("nz")  # [kg] its inverse, 0 of a row that nothing can move along
    way_u: Vector = of("nu")  # what the way of the rounds changed of the speeds (gauss_seidel.py)
    round_u: Vector = of("nu")  # the speeds as a round begins
    near_gap: Vector = of("nz")  # [m] at the start of the step
    near_end: Vector = of("nz")  # [m] where the way of the step ends
    near_bend: Vector = of("nz")  # [m/s^2] second derivative of the gap at constant speeds
    near_turning: Vector = of("nz")  # [m/s] by which the rate along each grows as its row turns
    near_least: Vector = of("nz")  # [m/s] the least rate that each must have; or displacement [m]
    near_x: Vector = of("nz")  # [N s] impulses; or what moves out [kg m]
    near_change: Vector = of("nz")  # what the last round changed of near_x
    near_way: Vector = of("nz")  # the direction of the rounds before
    near_pushing: IntVector = of("nz")  # those that push
    near_order: IntVector = of("nz")  # those that are solved for, island by island (near_islands.py)
    near_live: IntVector = of("nz")  # those of an island that a round goes over (gauss_seidel.py)
    near_rub: IntVector = of("nz")  # place of each among those that rub, -1: without friction
    rubbing: IntVector = of(1)  # how many near contacts rub
    rub_directions: Matrix = of("ny, 6")  # their two tangents in the world, unit
    rub_J: Matrix = of("2 * ny, nj")  # rows of both, as near_J
    rub_Y: Matrix = of("2 * ny, nj")
    rub_mass: Vector = of("ny")  # [kg] the least along them; 0: nothing moves there
    rub_most: Vector = of("ny")  # their coefficients of friction
    rub_x: Matrix = of("ny, 2")  # [N s] friction along them
    rub_change: Matrix = of("ny, 2")  # as near_change
    rub_way: Matrix = of("ny, 2")
    cone_place: IntVector = of("nt")  # where the speeds of each tree begin among those of its island
    cone_H: Matrix = of("nn, nn")  # second derivative of the cost of speeds (newton.py)
    cone_M: Matrix = of("nn, nn")  # effective mass matrix of the island
    cone_P: Matrix = of("nn, nn")  # the factor of cone_H
    cone_step: Vector = of("nn")
    cone_centre: Matrix = of("ny, 3")  # [N s] impulses from which those of the next step are looked for
    cone_rate: Matrix = of("ny, 3")  # [m/s] rates of each contact at the speeds ws.us
    cone_rate_step: Matrix = of("ny, 3")  # what the step changes of them
    cone_glide: Vector = of("ny")  # [m/s] mu times the slip at the centre
    cone_stiff: Vector = of("ny")  # [kg] impulse per rate
    cone_best: Matrix = of("ny, 3")  # [N s] the impulses nearest to the law so far
    cone_residual: Vector = of(2)  # [m/s] how far normals and tangents are from their laws
    near_start: IntVector = of("nt + 1")  # where those of each island begin there
    tree_order: IntVector = of("nt")  # trees, island by island
    tree_start: IntVector = of("nt + 1")  # where those of each island begin there
    idle: IntVector = of("nk")  # 1 at the first candidate of a pair: none holds, sleeps or has a face
    frame_near: IntVector = of("nf")  # 1: a shape of the frame may touch another soon
    reach: Vector = of(1)  # [m] how near what may touch in a time step is; 0 in the exact regime
    free_gain: Vector = of(1)  # [J] what a time step gained before contacts acted
    free_u: Vector = of("nu")  # speeds without contacts, in axes of the start (turned_axes.py)
    free_end_u: Vector = of("nu")  # the same in axes of their end
    moves: IntVector = of("nt")  # how each tree moves in a time step (contact_step.py)
    carried: Vector = of("nu")  # speeds with which what is in contact moves in the step
    jumps: IntVector = of("nt")  # 1: a contact of the tree strikes
    struck: IntVector = of("nt")  # 1: a contact of the island strikes
    deep: IntVector = of("nt")  # 1: a contact of the island came deep in the step; or no way leads out
    way_part: Vector = of("nt")  # of its way that each island goes
    depth: Vector = of("nt")  # [m] of the deepest near contact of each island
    depth_before: Vector = of("nt")  # [m] the same before a way out
    handle_force: Vector = of("nu")  # [N m] or [N] generalized, at the start of the step
    free_q: Vector = of("nq")  # where the step would end without contacts
    clash: Vector = of(1)  # [m/s] by which redundant constraints contradict one another
    pair_view: Matrix = of(6, 3)  # one shape of a pair as the other sees it (edge_places.py, hull_places.py)
    soon: Vector = of("nk")  # [m] after what way the features of a place may meet, at the soonest
    left_over: Vector = of(1)  # [m] the same of those of a pair that found no place
    foreseen: Vector = of(1)  # [s] how long the next piece may be for what found no place
    crowded: IntVector = of("nk")  # first places of the pairs in which a time step left features over
    crowded_pairs: IntVector = of(1)  # how many these are
    crowded_depth: Vector = of("nk")  # [m] how deep the solids of each are in one another as the tick begins
    deep_by: Vector = of(1)  # [m] the same of the pair that was looked at last
    hull_apart: Vector = of("2 * HULL")  # [m] along each face of two hulls, those of B first
    hull_near: IntVector = of("2 * HULL")  # edges of both that may be near, those of A first
    around: IntMatrix = of("nm, AROUND")  # triangles near the sphere of a pair (mesh/nearby.py)
    around_shape: Cube = of("nm, AROUND, 12")  # their corners and normals, side by side
    around_apart: Matrix = of("nm, AROUND")  # [m] of each from the place for which they were listed
    around_place: Matrix = of("nm, 4")  # [m] this place, in the axes of the mesh, and how far from it all are
    # listed; below 0: there were too many, and how far from it there may be fewer
    around_count: IntVector = of("nm")
    asked: Matrix = of("nm, 4")  # [m] where the nearest feature was asked for last, in the axes of the mesh,
    # and -1 less its number
    around_more: Vector = of("nm")  # [m] by how much the next list is to reach farther
    let_go: IntVector = of("nb")  # 1: it stuck before an impulse (switching.py)
    wanted: IntVector = of("nb")  # 1: the constraint is to be imposed
    sliding: IntVector = of("nr")  # which imposed rows are of contacts that slide (sliding.py)
    slid_A: Matrix = of("nr, nu")  # their rows along the slip
    slid_C: Matrix = of("nr, nr")
    slid_push: Vector = of("nr")  # [N] their normal forces
    slid_udot: Matrix = of("nr, nu")  # accelerations by the friction that a unit of each gives
    slide_now_W: Matrix = of("ng, 3")  # unit: where each contact slides, at the stage last evaluated
    turns_by: Vector = of("ng")  # [1/s] how fast friction turns the slip of each as the piece begins
    good_grip: IntVector = of("ng")  # what each did as the tick began
    parts: IntVector = of("nk")  # 1: let go since contacts were looked at (resolve_rubbing.py)
    touched: IntVector = of("nb")  # what the blocks did when it was last asked what contacts activate
    fires: IntVector = of("nk")  # how often a guard of each contact fired in this tick
    overlooked: IntVector = of("nk")  # 1: closed where nothing holds it; no guard until the tick ends
    apart: Vector = of("nk")  # [m] how far the shapes of a candidate are apart at least, 0: near; in time
    # steps alone that of the first of a pair (broad_phase.py)
    volume_X: Matrix = of("volumes, 12")  # bounding volumes in the world
    volume_speed: Vector = of("volumes")  # [m/s] which no point of each exceeds
    asleep: IntVector = of("nt")  # 1: the tree sleeps in this tick (sleeping.py)
    sleepers: IntVector = of(1)  # how many do
    slept: IntVector = of(1)  # number of the tick that follows one in which everything slept (all_asleep.py)
    touches: IntVector = of("nt")  # 1: a contact holds the tree; 1: what is near to it is awake
    known: IntVector = of("nt")  # 1: the tree is where it was reported last
    method: IntVector = of(2)  # how this tick is integrated (stiffness.py), 1: coupler linear in substeps
    divisions: IntVector = of(1)  # steps of the classical method that a piece is divided into
    substep: Vector = of(1)  # [s] length of the linearly implicit substep that a stage is evaluated for, or 0
    spring: Vector = of("nu")  # stiffness of the laws in the stages
    damper: Vector = of("nu")  # damping of the laws in the stages
    H: Matrix = of("6, nu")  # velocity of the handle's point and the coupled rotation, per speed
    limited: Vector = of("nu")  # [N m] or [N] what a law in the stages asks for beyond its limit, else 0
    qe: Vector = of("nq")  # at the substep
    ue: Vector = of("nu")
    work: Vector = of(11)  # work of the forces from outside (energy.py)
    energies: Vector = of(2)  # [J] kinetic and potential
    yielding: Matrix = of(
        "nd, YIELDING"
    )  # what each says at the stage last evaluated (motion/deformation.py)
    stages_yielding: Cube = of("5, nd, YIELDING")  # the same of the stages, as dq
    deformation: Matrix = of("nd, 3")  # State.deformation at the stage that is evaluated next
    deformation0: Matrix = of("nd, 3")  # at the start of the piece
    deformation1: Matrix = of("nd, 3")  # at its end
    deformation_from: Matrix = of("nd, 3")  # at the start of the step
    deformation_rates: Cube = of("3, nd, 3")  # of its first stages
    moved: IntVector = of(1)  # 1: constraints were switched within the tick, which may put energy in
