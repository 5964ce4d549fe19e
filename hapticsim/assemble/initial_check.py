"""Whether a scene can start as it is written, and the nearest start at which its loops are closed."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from hapticsim.arguments import number, numbers, shown, unusable, whole
from hapticsim.assemble.assembly import Assembly, angular_speeds, assemble
from hapticsim.assemble.overlap import overlap_of
from hapticsim.assemble.twisted_welds import refuse_twisted
from hapticsim.codes import ON_PLANE
from hapticsim.errors import ConfigError
from hapticsim.kernels.entry import locate_kernel
from hapticsim.kernels.memory.arrays import HELD_ROWS, Output
from hapticsim.kernels.motion.energy import MOST_Q, MOST_ROTATION, MOST_U
from hapticsim.model.candidates import Candidate
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.protocol import SceneModel, is_model
from hapticsim.model.scene import MOST_ROWS, Scene, Shape
from hapticsim.model.stops import range_of

LEAST_RATE_Hz, MOST_RATE_Hz = 1.0, 1e5
DEPTH_m = 1e-3  # what rounding and small mistakes may leave; a contact holds it there
GAP = 1e-4  # [m] or [rad] that a constraint may be open; the first ticks close it
CLOSED = 1e-12  # [m] or [rad]
STEPS = 50
LONGEST = 0.3  # largest change of a coordinate in a step [m] or [rad]


def assemble_start(scene: Scene, progress: Callable[[str], None] | None = None) -> Assembly:
    """Assemble a scene and see that it can start; close its loops first where it asks for that.

    Raises
    ------
    ConfigError : which shape is how deep in which, or which constraint is open by how much.
    """
    assembly = assemble(scene, progress)
    if scene.close_loops and any(c.held for c in scene.constraints):
        assembly = replace(assembly, scene=replace(scene, q0=closed(assembly, scene.q0, progress)))
    check_start(assembly, progress)
    return assembly


def check_start(assembly: Assembly, progress: Callable[[str], None] | None = None) -> None:
    """Refuse a scene whose contacts are penetrated, or whose constraints are open, before anything moved.

    Raises
    ------
    ConfigError : as above.
    """
    out = assembly.new_output()
    locate_kernel(progress)(
        assembly.plan, assembly.new_state(), assembly.new_input(), out, assembly.new_workspace()
    )
    path = assembly.scene.path
    refuse_beyond(assembly, assembly.scene.q0, assembly.scene.u0, path, "initial")
    _refuse_depth(assembly, out, path, "initial")
    _refuse_overlap(assembly, assembly.scene.q0, path, "initial")
    gaps = out.gap[len(assembly.candidates) :]  # of the constraints
    if gaps.size and np.abs(gaps).max() > GAP:
        k = int(np.argmax(np.abs(gaps)))
        raise ConfigError(
            path,
            "initial",
            f"leaves the constraint {assembly.row_names[k]!r} open by {abs(gaps[k]):.3g} (m or rad): "
            f"start with at most {GAP:g}, or write 'close_loops: true' to start at the nearest place "
            "where it is closed.",
        )
    held = {constraint.name for constraint in assembly.scene.constraints if constraint.held}
    refuse_twisted(assembly, assembly.scene.q0, held, path, "initial")


def refuse_beyond(assembly: Assembly, q: np.ndarray, u: np.ndarray, path: str, key: str) -> None:
    """Refuse coordinates (nq,) and speeds (nu,) with which the first tick would be refused as astray.

    Raises
    ------
    ConfigError : which speed or coordinate, and what is allowed.
    """
    tick_s, model = assembly.scene.tick_s, assembly.scene.model
    if np.abs(q).max(initial=0.0) > MOST_Q:
        why = f"has a coordinate of {np.abs(q).max():.3g} m or rad: at most {MOST_Q:g} is allowed."
        raise ConfigError(path, key, why)
    most = np.where(angular_speeds(model) == 1, min(MOST_U, MOST_ROTATION / tick_s), MOST_U)
    if np.any(np.abs(u) > most):
        r = int(np.argmax(np.abs(u) / most))
        why = f"gives {model.speed_names[r]!r} a speed of {u[r]:.3g} (SI): at most {most[r]:g} is allowed"
        raise ConfigError(path, key, why + (f" at {1.0 / tick_s:g} Hz." if most[r] < MOST_U else "."))


def check_scene(scene: object) -> None:
    """Refuse what is no scene, or one put together in Python whose start or rate no tick could use.

    Raises
    ------
    ConfigError : what was given, and what to give.
    """
    if not isinstance(scene, Scene):
        if isinstance(scene, str | os.PathLike | Mapping):
            scene = os.fspath(scene) if isinstance(scene, os.PathLike) else scene
            raise ConfigError(
                "Simulation",
                "scene",
                f"= {shown(scene)} is no scene: give hs.Simulation(hs.load({shown(scene)})).",
            )
        if is_model(scene):
            raise ConfigError(
                "Simulation",
                "scene",
                "is a model, which has no rate, shapes or handle: write hs.model_to_yaml(model) to a "
                "scene file and give hs.Simulation(hs.load(path)).",
            )
        raise ConfigError("Simulation", "scene", f"= {shown(scene)} is no scene: give what hs.load returns.")
    if not is_model(scene.model):
        raise unusable("Simulation", "scene.model", scene.model, "a model")
    model = scene.model
    number("Simulation", "scene.rate_Hz", scene.rate_Hz, LEAST_RATE_Hz, MOST_RATE_Hz)
    whole("Simulation", "scene.max_rows", scene.max_rows, 1, MOST_ROWS)
    numbers("Simulation", "scene.q0", scene.q0, (model.nq,))
    numbers("Simulation", "scene.u0", scene.u0, (model.nu,))
    check_quaternions(model, scene.q0, "Simulation", "scene.q0")


def check_quaternions(model: SceneModel, q: np.ndarray, path: str, key: str) -> None:
    """Refuse coordinates (nq,) with a quaternion that has not the length 1.

    Raises
    ------
    ConfigError : where it stands, and its length.
    """
    for start in model.quaternions:
        length = float(np.linalg.norm(q[start : start + 4]))
        if not abs(length - 1.0) < 1e-3:
            why = f"is a quaternion of the length {length:.3g}: divide it by its length."
            raise ConfigError(path, f"{key}[{start}:{start + 4}]", why)


def check_place(assembly: Assembly, q: np.ndarray, path: str, key: str) -> None:
    """Refuse coordinates (nq,) that put a shape into another, as a start is refused.

    Raises
    ------
    ConfigError : which shape is how deep in which.
    """
    state, out = assembly.new_state(), assembly.new_output()
    state.q[:] = q
    locate_kernel()(assembly.plan, state, assembly.new_input(), out, assembly.new_workspace())
    _refuse_depth(assembly, out, path, key)
    _refuse_overlap(assembly, q, path, key)


def _refuse_depth(assembly: Assembly, out: Output, path: str, key: str) -> None:
    """Refuse what locate found deeper than DEPTH_m."""
    depth = out.gap[: len(assembly.candidates)]
    allowed = np.array(
        [
            _most_in(c) if yields else min(DEPTH_m, 0.5 * c.thickness)
            for c, yields in zip(assembly.candidates, assembly.plan.compliant, strict=True)
        ]
    )
    if np.any(depth < -allowed):
        k = int(np.argmin(depth + allowed))
        c = assembly.candidates[k]
        if c.stop is not None:
            low, high = range_of(assembly.scene.model, c.stop.joint)
            raise ConfigError(
                path,
                key,
                f"puts the joint {c.stop.joint!r} {-depth[k]:.4g} {c.stop.unit} beyond its {c.stop.side} "
                f"stop: start within its range, {low:.6g} to {high:.6g} {c.stop.unit}, or leave out "
                "'joint_stops'.",
            )
        raise ConfigError(
            path,
            key,
            f"puts {c.a!r} {-depth[k] * 1e3:.3g} mm into {c.b!r}: start with at most "
            f"{allowed[k] * 1e3:.3g} mm; move the robot, or the shape.",
        )


def _most_in(c: Candidate) -> float:
    """How deep [m] a compliant contact may start: not so deep that its middle is in another shape."""
    return 0.5 * c.thickness if c.kind == ON_PLANE else min(c.radius, 0.5 * c.thickness)


def _refuse_overlap(assembly: Assembly, q: np.ndarray, path: str, key: str) -> None:
    """Refuse a box, a hull or a capsule inside another at q (nq,), wherever their corners and ends are.

    Raises
    ------
    ConfigError : which shape, in which, and how deep.
    """
    scene = assembly.scene
    shapes = {shape.name: shape for shape in scene.shapes}
    for pair in scene.contacts:
        if pair.compliance is not None:
            continue
        a, b = shapes[pair.a], shapes[pair.b]
        depth = overlap_of(a, place_of(assembly, a, q), b, place_of(assembly, b, q))
        if depth is not None and depth > DEPTH_m:
            raise ConfigError(
                path,
                key,
                f"puts {a.name!r} {depth * 1e3:.3g} mm into {b.name!r}: start with at most "
                f"{DEPTH_m * 1e3:g} mm; move the robot, or the shape.",
            )


def place_of(assembly: Assembly, shape: Shape, q: np.ndarray) -> Placement:
    """X_WS of a shape at q (nq,)."""
    return shape.X_BS if shape.body == WORLD else assembly.equations.body_pose(shape.body, q) @ shape.X_BS


def closed(assembly: Assembly, q: np.ndarray, progress: Callable[[str], None] | None = None) -> np.ndarray:
    """Return the coordinates (nq,) near q at which the constraints that hold at the start have no gap.

    Gauss-Newton steps, least in the metric of the mass matrix, on the constraint manifold.

    Raises
    ------
    ConfigError : they cannot all be closed from there; by how much the worst stays open.
    """
    locate, equations = locate_kernel(progress), assembly.equations
    state, out, ws = assembly.new_state(), assembly.new_output(), assembly.new_workspace()
    state.q[:] = q
    for _ in range(STEPS):
        locate(assembly.plan, state, assembly.new_input(), out, ws)
        m = int(ws.counts[HELD_ROWS])
        A, phi = ws.A[:m], ws.phi[:m]
        if np.abs(phi).max(initial=0.0) <= CLOSED:
            return state.q.copy()
        root = np.linalg.cholesky(equations.mass_matrix(state.q))
        scaled = np.linalg.solve(root, A.T)  # A L^-T, transposed
        step = -np.linalg.solve(root.T, np.linalg.pinv(scaled.T, rcond=1e-9) @ phi)
        step *= min(1.0, LONGEST / max(np.abs(step).max(), 1e-300))
        moved = np.empty_like(state.q)
        equations.kernels.displace(state.q, step, moved)
        state.q[:] = moved
    if np.abs(phi).max() <= 1e3 * CLOSED:
        return state.q.copy()
    k = int(ws.rows[int(np.argmax(np.abs(phi)))]) - len(assembly.candidates)
    raise ConfigError(
        assembly.scene.path,
        "close_loops",
        f"found no place near the start where all constraints are closed ({assembly.row_names[k]!r} stays "
        f"open by {np.abs(phi).max():.3g}): start nearer to one, or correct the constraint.",
    )
