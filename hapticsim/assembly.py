"""From a scene to the arrays of a run: compile the equations, list the contact candidates, fill the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hapticsim.equations.compiled import Equations, compile_equations
from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import Gains
from hapticsim.kernels.arrays import (
    MAX_EVENTS,
    Input,
    Output,
    Plan,
    State,
    Workspace,
    allocate_input,
    allocate_output,
    allocate_state,
    allocate_workspace,
)
from hapticsim.kernels.entry import locate_kernel
from hapticsim.model.candidates import Candidate, candidates_of
from hapticsim.model.scene import Scene
from hapticsim.model.tree import WORLD

START_DEPTH_m = 1e-3  # what rounding and small mistakes may leave; the first tick closes it


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
        return allocate_state(scene.q0, scene.u0, len(self.candidates), origin)

    def new_input(self) -> Input:
        return allocate_input(self.equations.nu)

    def new_output(self) -> Output:
        return allocate_output(self.equations.nq, self.equations.nu, len(self.candidates))

    def new_workspace(self) -> Workspace:
        eq = self.equations
        return allocate_workspace(eq.nq, eq.nu, len(eq.frames), len(self.candidates))

    @property
    def contact_names(self) -> list[str]:
        """One name per contact candidate: shapes, numbered where a pair has several."""
        pairs = [f"{c.a}-{c.b}" for c in self.candidates]
        return [p if pairs.count(p) == 1 else f"{p}.{pairs[:i].count(p)}" for i, p in enumerate(pairs)]

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
    candidates = tuple(candidates_of(scene))
    used = {c.sphere_body for c in candidates} | {c.surface_body for c in candidates}
    if scene.handle is not None:
        used.add(scene.handle.body)
    frames = [b.name for b in scene.model.bodies if b.name in used]
    equations = compile_equations(scene.model, frames=frames, progress=progress)
    return Assembly(scene, equations, candidates, _plan(scene, equations, candidates))


def check_start(assembly: Assembly, progress: Callable[[str], None] | None = None) -> None:
    """Refuse a scene whose contacts are penetrated before anything moved.

    Raises
    ------
    ConfigError : which shape is how deep in which.
    """
    out = assembly.new_output()
    locate_kernel(progress)(
        assembly.plan, assembly.new_state(), assembly.new_input(), out, assembly.new_workspace()
    )
    if out.gap.size and out.gap.min() < -START_DEPTH_m:
        k = int(np.argmin(out.gap))
        c = assembly.candidates[k]
        raise ConfigError(
            assembly.scene.path,
            "initial",
            f"puts {c.a!r} {-out.gap[k] * 1e3:.3g} mm into {c.b!r}: start with at most "
            f"{START_DEPTH_m * 1e3:g} mm; move the robot, or the shape.",
        )


def apply_gains(inp: Input, gains: Gains) -> None:
    """Put the coupler's gains and the force limit into the input of the tick."""
    inp.coupler[:] = (gains.world_stiffness_N_per_m, gains.world_damping_Ns_per_m, gains.force_limit_N)


def _cut_off_s(scene: Scene) -> float:
    """Age of a device sample from which a tick gives no force [s].

    A force lasts until the next tick: one tick early is zero *within* the time-out.  A loop whose period is
    no small part of the time-out gives up a quarter of it, or every pause would be a silence.
    """
    timeout_s = scene.safety.timeout_s
    return float(timeout_s - min(scene.tick_s, 0.25 * timeout_s))


def _plan(scene: Scene, equations: Equations, candidates: tuple[Candidate, ...]) -> Plan:
    model, nk = scene.model, len(candidates)
    place = {name: i for i, name in enumerate(equations.frames)}
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
    handle = scene.handle
    address = equations.address
    safety = scene.safety
    return Plan(
        kane=address("kane"),
        kinematics=address("kinematics"),
        forward_dynamics=address("forward_dynamics"),
        gravity_force=address("gravity_force"),
        displace=address("displace"),
        normalise=address("normalise"),
        quaternions=int(bool(model.quaternions)),
        tick_s=scene.tick_s,
        max_events=MAX_EVENTS,
        damping=model.damping,
        torque_constant=constant,
        torque_gravity=gravity,
        torque_kp=kp,
        torque_kd=kd,
        torque_reference=reference,
        torque_limit=limit,
        q_of_u=q_of_u,
        handle_frame=place[handle.body] if handle else -1,
        handle_point=np.array(handle.point_B, float) if handle else np.zeros(3),
        sphere_frame=np.array([place[c.sphere_body] for c in candidates], np.int64),
        sphere_centre=np.array([c.centre_B for c in candidates], float).reshape(nk, 3),
        sphere_radius=np.array([c.radius for c in candidates], float),
        sphere_inward=np.array([c.inward_B for c in candidates], float).reshape(nk, 3),
        surface_frame=np.array([place[c.surface_body] for c in candidates], np.int64),
        surface_kind=np.array([c.kind for c in candidates], np.int64),
        surface_pose=np.array(
            [[*c.X_BS.rotation.ravel(), *c.X_BS.translation] for c in candidates], float
        ).reshape(nk, 12),
        surface_half=np.array([c.half for c in candidates], float).reshape(nk, 3),
        rotation_WD=np.ascontiguousarray(scene.mapping.rotation_WD, float),
        motion_scale=float(scene.mapping.motion_scale),
        force_scale=float(scene.mapping.force_scale),
        ramp_s=float(safety.ramp_s),
        timeout_s=_cut_off_s(scene),
        slew_N_per_s=float(safety.slew_limit_N_per_s),
        max_stretch_m=float(safety.max_stretch_m),
        reseat=int(scene.mapping.origin_W is None),
        max_device_speed=float(safety.max_device_speed_m_per_s),
    )
