"""The task of the closed-loop study: the arm, the plane, the path of its fingertip and the control law.

The paper leaves gains, pose and path open.  Here the arm reaches along y, the plane is at z = 0.30 m, and
the fingertip goes out and back on a sine from 0.5 s on: it starts with a step of its velocity, as in the
paper, and then keeps moving for as long as one looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

import hapticsim as hs
from hapticsim.control.hybrid import HybridController, HybridSettings
from hapticsim.control.tip import Tip, damped_step
from hapticsim.equations.base import Equations
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.scene import Scene, Shape

ARM = Path(__file__).parents[1] / "configs" / "wam_table.yaml"
BODY, BALL = "forearm", "fingertip"
PLANE_m = 0.30  # height of the plane
NORMAL = np.array([0.0, 0.0, 1.0])
PRESS_N = 10.0  # (33)
START_s = 0.5  # the position controller acts from then on
SPEED = 0.015  # [m/s] largest of the path; the paper: below 0.02
STROKE_m = 0.1  # of the path, to each side
OUT_m = 0.55  # y of the fingertip at the start
# p and d of (33), chosen: the fingertip stays within 0.06 mm of its path, also at the start.
STIFFNESS = np.array([1200.0, 1200.0, 300.0, 600.0])  # [N m/rad]
DAMPING = np.array([60.0, 60.0, 6.0, 15.0])  # [N m s/rad]


@cache
def scene(rate_Hz: float = 1000.0, above_m: float = 0.0) -> Scene:
    """The arm without joint friction and torque laws, its fingertip on or above the plane."""
    base = hs.load(ARM)
    model = replace(base.model, joints=tuple(replace(j, damping=0.0) for j in base.model.joints))
    ball = next(s for s in base.shapes if s.name == BALL)
    at = Placement(translation=np.array([0.0, OUT_m, PLANE_m]))
    plane = Shape("table", WORLD, "plane", (0.4, 0.4), at)
    shapes = tuple(plane if s.name == "table" else s for s in base.shapes)
    q0 = pose(hs.compile_equations(model, (BODY,)), ball, above_m)
    return replace(
        base, model=model, shapes=shapes, torque_laws=(), q0=q0, u0=np.zeros(model.nu), rate_Hz=rate_Hz
    )


def ball_of(a_scene: Scene) -> Shape:
    """The sphere at the fingertip."""
    return next(s for s in a_scene.shapes if s.name == BALL)


def pose(equations: Equations, ball: Shape, above_m: float) -> np.ndarray:
    """(nu,) coordinates that put the ball over (0, OUT_m) and so far above the plane."""
    tip = Tip(equations, BODY, ball.X_BS.translation, "closed-loop study")
    q = np.array([0.5 * np.pi, 0.6305, 0.0, 2.0724])  # as in the config, turned to reach along y
    goal = np.array([0.0, OUT_m, PLANE_m + ball.size[0] + above_m])
    for _ in range(30):
        r, J = tip.at_rest(q)
        q = q + damped_step(J, goal - r, 1e-6)
    return q


def sine_path(a_scene: Scene, speed: float = SPEED) -> Callable[[float], np.ndarray]:
    """Path of the ball's centre along y; its velocity steps from 0 to speed at START_s."""
    height = PLANE_m + ball_of(a_scene).size[0]
    omega = speed / STROKE_m

    def path(time: float) -> np.ndarray:
        return np.array([0.0, OUT_m + STROKE_m * np.sin(omega * max(time - START_s, 0.0)), height])

    return path


def controller(
    equations: Equations,
    a_scene: Scene,
    path: Callable[[float], np.ndarray],
    start_s: float = START_s,
    force_gain_per_s: float = 0.0,
) -> HybridController:
    """The law (33) with q_des = q at the start; it does not press yet."""
    settings = HybridSettings(
        body=BODY,
        point_B=ball_of(a_scene).X_BS.translation,
        stiffness=STIFFNESS,
        damping=DAMPING,
        period_s=a_scene.tick_s,
        start_s=start_s,
        force_gain_per_s=force_gain_per_s,
    )
    made = HybridController(equations, settings, path)
    made.reset(a_scene.q0)
    return made
