"""From a scene to the arrays of a run: compile the equations, list the contact candidates, fill the plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np

from hapticsim.arguments import shown, unusable
from hapticsim.assemble.bounding_volumes import frame_sizes, plan_of_volumes
from hapticsim.assemble.compliance import plan_of_compliance
from hapticsim.assemble.features import features_of
from hapticsim.assemble.hull_tables import plan_of_hulls
from hapticsim.assemble.mesh_tables import plan_of_meshes
from hapticsim.assemble.row_table import row_table, rows_of_blocks
from hapticsim.assemble.stiff_parts import find_stiff_parts
from hapticsim.assemble.tree_table import plan_of_sleep, tree_table
from hapticsim.codes import CROWDED_TICKS, EVERY_TICK, NO_TICK
from hapticsim.equations.base import Equations
from hapticsim.equations.making import equations_of
from hapticsim.errors import ConfigError, listed
from hapticsim.haptics.coupler import Gains
from hapticsim.kernels.entry import begin_compiling, unit_addresses
from hapticsim.kernels.memory.allocate import input_at_start, sizes_of_run, state_at_start
from hapticsim.kernels.memory.arrays import Input, Output, Plan, State, Workspace
from hapticsim.kernels.memory.sample import CERTIFICATE, WIDTH, row_columns
from hapticsim.model.candidates import Candidate, candidates_of
from hapticsim.model.constraints import bodies_of, nearest_constraint
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.multibody.rotation import quaternion_of
from hapticsim.model.protocol import SceneModel
from hapticsim.model.scene import TIME_STEPPING, ContactPair, Scene
from hapticsim.model.stops import frame_of, stopped_joints

RESPONSE_FROM = (
    24  # speeds of a tree: with fewer, forming the mass matrix is quicker (tools/bench_constraints.py)
)

COUPLED_ROTATION = {"none": 0, "z": 1, "full": 2}  # Plan.coupled_rotation


@dataclass(frozen=True, eq=False)
class Assembly:
    """Everything a tick needs, built once from one scene."""

    scene: Scene
    equations: Equations
    candidates: tuple[Candidate, ...]
    plan: Plan

    def new_state(self) -> State:
        """The scene's initial state, disarmed, no contact imposed."""
        scene = self.scene
        origin = scene.mapping.origin_W
        if origin is None:
            origin = self.handle_position(scene.q0) if scene.handle else np.zeros(3)
        mode = np.array([0] * len(self.candidates) + [int(c.held) for c in scene.constraints], np.int64)
        offset = np.array([row.offset for row in rows_of_blocks(scene, self.candidates)], float)
        latched = np.flatnonzero(self.plan.row_latch)
        offset[latched] = (self.plan.factor_q @ scene.q0)[self.plan.row_item[latched]]
        return state_at_start(self.sizes, scene.q0, scene.u0, mode, offset, origin)

    def new_input(self) -> Input:
        inp = input_at_start(self.sizes)
        inp.gap[0] = self.scene.tick_s
        return inp

    def new_output(self) -> Output:
        return Output.zeros(self.sizes)

    def new_workspace(self) -> Workspace:
        return Workspace.zeros(self.sizes)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """How many of what the arrays of a run hold (kernels/memory/arrays.py)."""
        eq, scene, nk = self.equations, self.scene, len(self.candidates)
        nc, nw = len(scene.constraints), self.plan.row_kind.size
        ne, nF, nt = scene.model.row_count, eq.factor_size, self.plan.tree_first.size
        steps, sleeps = scene.may_step, scene.sleep is not None
        ni, ns = (nk if steps or sleeps else 0), (nt if sleeps else 0)
        nj = 2 * int(self.plan.largest_tree) if steps else 0
        nv = self.plan.volume_frame.size
        nm = nk if len(self.plan.mesh_normal) else 0
        rows = scene.max_rows
        return sizes_of_run(
            eq.nq,
            eq.nu,
            self.plan.frame_size.size,
            nk,
            nc,
            nw,
            ne,
            nF,
            nt,
            rows,
            volumes=nv,
            ni=ni,
            nj=nj,
            ns=ns,
            nm=nm,
            ng=nk if scene.has_friction else 0,
            nd=nk if scene.yields else 0,
            certified=len(self.certificate),
        )

    @property
    def contact_names(self) -> list[str]:
        """One name per contact candidate: shapes, numbered where a pair has several."""
        pairs = [f"{c.a}-{c.b}" for c in self.candidates]
        many, so_far = Counter(pairs), Counter[str]()
        names = []
        for pair in pairs:
            names.append(pair if many[pair] == 1 else f"{pair}.{so_far[pair]}")
            so_far[pair] += 1
        return names

    @property
    def row_names(self) -> list[str]:
        """One name per row of the constraints."""
        return [
            c.name if len(c.rows) == 1 else f"{c.name}.{i}"
            for c in self.scene.constraints
            for i in range(len(c.rows))
        ]

    @property
    def certificate(self) -> tuple[str, ...]:
        """Names of the numbers of the certificate of a tick; without a balance of energy there is no gain."""
        return CERTIFICATE if self.equations.knows_energy else CERTIFICATE[:-1]

    @property
    def columns(self) -> list[str]:
        """Names of the numbers of one tick (kernels/memory/sample.py)."""
        eq = self.equations
        constraints = [c.name for c in self.scene.constraints]
        rubs, turning = self.scene.has_friction, {k for k, c in enumerate(self.candidates) if c.turns}
        return row_columns(
            eq.nq, eq.nu, self.contact_names, constraints, self.row_names, rubs, turning, self.certificate
        )

    @property
    def first_switch(self) -> int:
        """Column in which the switch requests of the constraints begin."""
        return WIDTH + self.equations.nq + self.equations.nu + 2 * len(self.candidates) + 3

    def constraint_index(self, name: str) -> int:
        """Number of a constraint.

        Raises
        ------
        ConfigError : there is none of this name.
        """
        names = [c.name for c in self.scene.constraints]
        if not isinstance(name, str):
            raise unusable(self.scene.path, "constraint", name, f"one of {listed(names)}")
        if name not in names:
            problem = f"is not there{nearest_constraint(name, names)}"
            raise ConfigError(self.scene.path, f"constraint {shown(name)}", problem)
        return names.index(name)

    def rows_of(self, name: str) -> slice:
        """Where the rows of a constraint stand among all rows."""
        block = len(self.candidates) + self.constraint_index(name)
        return slice(int(self.plan.block_start[block]), int(self.plan.block_start[block + 1]))

    def handle_position(self, q: np.ndarray) -> np.ndarray:
        """(3,) [m] the handle in the world at q."""
        handle = self.scene.handle
        assert handle is not None
        X = self.equations.body_pose(handle.body, q)
        return X.rotation @ handle.point_B + X.translation


def assemble(scene: Scene, progress: Callable[[str], None] | None = None) -> Assembly:
    """Compile what the tick of this scene needs (from the disk cache when it was compiled before).

    Parameters
    ----------
    scene : from ``hapticsim.load``.
    progress : called with one line per function compiled.
    """
    begin_compiling(features_of(scene))
    candidates = tuple(candidates_of(scene))
    equations = equations_of(scene.model, frames_of(scene), progress)
    plan = _plan(scene, equations, candidates, progress)
    return Assembly(scene, equations, candidates, plan)


def frames_of(scene: Scene) -> list[str]:
    """Return the bodies whose motion the tick needs: of shapes in contact, of constraints, of the handle."""
    candidates = candidates_of(scene)
    used = {c.sphere_body for c in candidates} | {c.surface_body for c in candidates}
    used |= bodies_of(scene.constraints)
    if scene.handle is not None:
        used.add(scene.handle.body)
    return [b.name for b in scene.model.bodies if b.name in used]


def takes_responses(equations: Equations) -> bool:
    """Say whether rows are imposed in O(n): on a large tree in which no joint follows another."""
    of_speed, _ = equations.model.kinematic_trees()
    return equations.is_articulated and np.bincount(of_speed, minlength=1).max() >= RESPONSE_FROM


def apply_gains(inp: Input, gains: Gains) -> None:
    """Put the coupler's gains and the force limit into the input of the tick."""
    inp.coupler[:] = gains.translation.as_input
    inp.rotation_coupler[:] = gains.rotation.as_input if gains.rotation else 0.0


def _cut_off_s(scene: Scene) -> float:
    """Age of a device sample from which a tick gives no force [s].

    A force lasts until the next tick: one tick early is zero *within* the time-out.  A loop whose period is
    no small part of the time-out gives up a quarter of it, or every pause would be a silence.
    """
    timeout_s = scene.safety.timeout_s
    return float(timeout_s - min(scene.tick_s, 0.25 * timeout_s))


def _settings(scene: Scene) -> dict[str, float]:
    """Numbers of the scene's settings that the tick needs, which have their name; one left out is 0."""
    settings = vars(scene.mapping) | vars(scene.safety) | vars(scene.coupler)
    return {name: float(settings[name] or 0.0) for name in Plan.numbers_named() if name in settings}


def _which_step(scene: Scene) -> int:
    if scene.contact_regime == TIME_STEPPING:
        return EVERY_TICK
    return CROWDED_TICKS if scene.may_step else NO_TICK


def angular_speeds(model: SceneModel) -> np.ndarray:
    """(nu,) int, 1 for each component of the angular velocity of a joint with a quaternion."""
    angular = np.zeros(model.nu, np.int64)
    for joint in model.moving_joints:
        if joint.quaternion is not None:
            start = model.u_slice(joint.name).start
            angular[start : start + 3] = 1
    return angular


def _poses(placements: Sequence[Placement]) -> np.ndarray:
    """(n, 12): rotation row by row, then position."""
    return np.array([[*X.rotation.ravel(), *X.translation] for X in placements], float).reshape(-1, 12)


def _plan(
    scene: Scene,
    equations: Equations,
    candidates: tuple[Candidate, ...],
    progress: Callable[[str], None] | None,
) -> Plan:
    model, nk = scene.model, len(candidates)
    stopped = stopped_joints(scene)
    frames = [*equations.frames, *(frame_of(joint) for joint in stopped)]
    place = {name: i for i, name in enumerate(frames)}
    place[WORLD] = -1
    constant, gravity, kp, kd, reference = (np.zeros(model.nu) for _ in range(5))
    limit = np.full(model.nu, np.inf)
    q_of_u = np.full(model.nu, -1, np.int64)
    laws = {law.joint: law for law in scene.torque_laws}
    for joint in model.moving_joints:
        r, i = model.u_slice(joint.name), model.q_slice(joint.name)
        if joint.nu == 1:
            q_of_u[r] = i.start
            limit[r] = joint.effort_limit if joint.effort_limit > 0.0 else np.inf
        if law := laws.get(joint.name):
            constant[r] = law.constant
            gravity[r] = 1.0 if law.gravity_compensation else 0.0
            kp[r], kd[r], reference[r] = law.stiffness, law.damping, law.reference
    for c in candidates:
        if c.sphere_body == WORLD and c.surface_body == WORLD:
            raise ConfigError(
                scene.path,
                "contacts",
                f"pairs {c.a!r} with {c.b!r}, which are both fixed in the world: remove it.",
            )
    pairs = {frozenset((pair.a, pair.b)): pair for pair in scene.contacts}
    bounce = scene.joint_stops.restitution if scene.joint_stops else 0.0
    pair_of = [ContactPair(c.a, c.b, bounce) if c.stop else pairs[frozenset((c.a, c.b))] for c in candidates]
    handle = scene.handle
    address = equations.address
    responses = takes_responses(equations)
    table = row_table(scene, place, candidates, equations.rows_address)
    trees = tree_table(model, frames, rows_of_blocks(scene, candidates))
    sizes = frame_sizes(scene, frames)
    stiff = find_stiff_parts(scene, equations, kp, kd, model.damping)
    return Plan(
        response_factor=address("response_factor") if responses else 0,
        response=address("response") if responses else 0,
        kane=address("kane"),
        kinematics=address("kinematics"),
        forward_dynamics=address("forward_dynamics"),
        gravity_force=address("gravity_force"),
        energy=address("energy") if equations.knows_energy else 0,
        displace=address("displace"),
        normalise=address("normalise"),
        quaternions=int(bool(model.quaternions)),
        tick_s=scene.tick_s,
        max_events=scene.max_events,
        steps=_which_step(scene),
        damping=model.damping,
        torque_constant=constant,
        torque_gravity=gravity,
        torque_kp=kp,
        torque_kd=kd,
        torque_reference=reference,
        torque_limit=limit,
        q_of_u=q_of_u,
        **asdict(stiff),
        driven=int(np.any(table["row_drive"][:, :2])),
        angular=angular_speeds(model),
        handle_frame=place[handle.body] if handle else -1,
        handle_point=np.array(handle.point_B, float) if handle else np.zeros(3),
        sphere_inward=np.array([c.inward_B for c in candidates], float).reshape(nk, 3),
        curved=int(any(c.is_curved for c in candidates)),
        surface_kind=np.array([c.kind for c in candidates], np.int64),
        surface_pose=_poses([c.X_BS for c in candidates]),
        same_surface=np.array(
            [int(k > 0 and candidates[k - 1].b == c.b) for k, c in enumerate(candidates)], np.int64
        ),
        surface_half=np.array([c.half for c in candidates], float).reshape(nk, 3),
        edge_pose=_poses([c.X_AE or Placement() for c in candidates]),
        edge_half=np.array([c.edge_half for c in candidates], float).reshape(nk, 3),
        edge_places=np.array([c.places for c in candidates], np.int64),
        **plan_of_meshes(candidates),
        **plan_of_hulls(candidates),
        **plan_of_volumes(scene, candidates, place),
        restitution=np.array([pair.restitution for pair in pair_of], float),
        plastic_below=np.array([pair.plastic_below for pair in pair_of], float),
        contact_friction=np.array([0.0 if p.compliance else p.friction for p in pair_of], float),
        contact_static=np.array(
            [0.0 if p.compliance else p.friction * p.static_over_kinetic for p in pair_of], float
        ),
        **plan_of_compliance(scene, equations, candidates, pair_of),
        **table,
        stop_frame=len(equations.frames),
        stop_q=np.array([model.q_slice(joint).start for joint in stopped], np.int64),
        stop_u=np.array([model.u_slice(joint).start for joint in stopped], np.int64),
        frame_size=sizes,
        **trees,
        **plan_of_sleep(scene, frames, sizes, trees, table["touch_activates"]),
        rotation_WD=np.ascontiguousarray(scene.mapping.rotation_WD, float),
        cut_off_s=_cut_off_s(scene),
        stall_s=max(_cut_off_s(scene), 2.0 * scene.tick_s),
        reseat=int(scene.mapping.origin_W is None),
        coupled_rotation=COUPLED_ROTATION[scene.coupler.rotation],
        quaternion_WD=quaternion_of(scene.mapping.rotation_WD),
        torque_scale=float(scene.mapping.force_scale / scene.mapping.motion_scale),
        **_settings(scene),
        **unit_addresses(features_of(scene), progress),  # last: the tick is compiled beside this process
    )
