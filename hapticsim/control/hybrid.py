"""Hybrid motion/force control: follow a path along a surface and press on it, once per servo cycle.

The law is (33) of Shen & Featherstone, Computer Simulation of Robot Closed-loop Dynamics for Force Control
Study:

    Q = p (q_des - q) + d (qdot_des - qdot) + C(q, qdot) + J_r' n (-f)

p, d (nu) are positive here; the paper prints (q - q_des) with the signs in p and d.  n (3) is the normal of
the surface, out of it and towards the robot; f >= 0 [N] is how hard the tip presses, so the surface pushes
the tip with +f n.  C is the bias h at the sampled state, gravity included, joint damping not.  J_r is the
Jacobian of the tip point, whose transpose (12) of the paper lacks.

q_des follows the tip's path by damped least squares.  While the tip presses, motion along n is left to the
force: there the height of q_des is the measured one, so that no position error builds up against the surface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from hapticsim.arguments import a_function, number, numbers, real_numbers, unusable
from hapticsim.control.tip import Tip, damped_step
from hapticsim.equations.base import Equations
from hapticsim.errors import ConfigError

Path = Callable[[float], np.ndarray]  # time [s] -> (3,) [m] where the tip is to be, world axes

WHERE = "hybrid controller"


@dataclass(frozen=True, eq=False)
class HybridSettings:
    """What never changes during a run."""

    body: str  # carries the tip; must be one of the equations' frames
    point_B: np.ndarray  # (3,) [m] the tip in the body
    stiffness: np.ndarray  # (nu,) p [N m/rad] or [N/m]
    damping: np.ndarray  # (nu,) d [N m s/rad] or [N s/m]
    period_s: float = 1e-3  # servo cycle
    start_s: float = 0.0  # the position controller acts from then on; bias and force from the first cycle
    force_gain_per_s: float = 0.0  # integral action on the measured force; 0: none
    force_reserve_N: float = 5.0  # most that the integral adds or takes away
    effort_limits: np.ndarray | None = None  # (nu,) [N m] or [N]; None: those of the joints
    path_damping: float = 0.01  # [m/rad] of the least squares: singular values far below are given up
    path_speed_m_per_s: float = 0.5  # a path that is elsewhere is approached at most so fast


@dataclass(eq=False)
class HybridState:
    """What the controller remembers from one cycle to the next."""

    q_des: np.ndarray  # (nu,)
    qdot_des: np.ndarray  # (nu,)
    force_des: float = 0.0  # [N] pressed with along -normal_W; 0: motion is controlled in all directions
    normal_W: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))  # (3,) unit
    integral_N: float = 0.0  # what the force loop adds to force_des
    following: bool = False  # the position controller acts
    saturated: bool = False  # a joint was at its effort limit in the last cycle

    def copy(self) -> HybridState:
        """Return what may be given back as ``controller.state`` later."""
        arrays = (self.q_des, self.qdot_des, self.normal_W)
        q_des, qdot_des, normal_W = (a.copy() for a in arrays)
        return replace(self, q_des=q_des, qdot_des=qdot_des, normal_W=normal_W)


class HybridController:
    """Torques of all joints from a path, a force and the sampled state.

    Parameters
    ----------
    equations : of the robot, with the tip's body among its frames; robots without ball and free joints.
    settings : checked here.
    path : where the tip is to be; None holds q_des where it was when the position controller began to act.

    Raises
    ------
    ConfigError : a body without frame, a robot with quaternions, gains of a wrong shape or sign.
    """

    def __init__(self, equations: Equations, settings: HybridSettings, path: Path | None = None) -> None:
        if not isinstance(equations, Equations):
            raise unusable(WHERE, "equations", equations, "what hs.compile_equations returns")
        if not isinstance(settings, HybridSettings):
            raise unusable(WHERE, "settings", settings, "HybridSettings(...)")
        a_function(WHERE, "path", path)
        if equations.nq != equations.nu:
            raise ConfigError(
                WHERE,
                "equations",
                f"have {equations.nq} coordinates and {equations.nu} speeds: only robots with as many of "
                "both can be controlled; leave out ball and free joints.",
            )
        self.settings, self.path = settings, path
        self._tip = Tip(equations, settings.body, settings.point_B, WHERE)
        nu = equations.nu
        self._p = _gains("stiffness", settings.stiffness, nu)
        self._d = _gains("damping", settings.damping, nu)
        limits = settings.effort_limits
        self._limit = _effort_limits(equations) if limits is None else _gains("effort_limits", limits, nu)
        _check_numbers(settings)
        self.state = HybridState(np.zeros(nu), np.zeros(nu))

    def reset(self, q: np.ndarray) -> None:
        """Forget everything: q_des = q (nu,), no force asked for."""
        nu = self._p.size
        self.state = HybridState(_vector("q", q, nu).copy(), np.zeros(nu))

    def press(self, force_N: float, normal_W: np.ndarray | None = None) -> None:
        """Press with a force from the next cycle on; 0 gives the direction back to motion control.

        normal_W : (3,) out of the surface, any length; None keeps the one there is.
        """
        pressed = number(WHERE, "force_N", force_N, 0.0, words="finite and 0 or above")
        if normal_W is not None:
            normal = _vector("normal_W", normal_W, 3)
            length = float(np.linalg.norm(normal))
            if length == 0.0:
                raise ConfigError(WHERE, "normal_W", "has no length: give the direction out of the surface.")
            self.state.normal_W = normal / length
        self.state.force_des = pressed
        self.state.integral_N = 0.0

    def update(self, time: float, q: np.ndarray, u: np.ndarray, force: float = 0.0) -> np.ndarray:
        """Return Q (nu,) [N m, N] to be held until the next cycle.

        time [s]; q, u (nu,) sampled; force [N] measured along the normal, on the tip, 0 when it does not
        touch.  Assumes finite arguments.
        """
        s, settings, tip = self.state, self.settings, self._tip
        r, J, h = tip.at(q, u)
        Q = h  # C of (33); a fresh array
        following = time >= settings.start_s
        if following:
            if not s.following:
                s.q_des[:] = q
            self._follow(time, r)
            Q = Q + self._p * (s.q_des - q) + self._d * (s.qdot_des - u)
        s.following = following
        if s.force_des > 0.0:
            self._integrate(force)
            Q = Q - (s.normal_W @ J) * (s.force_des + s.integral_N)
        limited = np.minimum(np.maximum(Q, -self._limit), self._limit)
        s.saturated = bool((limited != Q).any())
        return limited

    def _follow(self, time: float, r: np.ndarray) -> None:
        """Move q_des towards the path; r (3,) [m] is where the tip was measured."""
        s, settings = self.state, self.settings
        if self.path is None:
            s.qdot_des[:] = 0.0
            return
        r_des, J_des = self._tip.at_rest(s.q_des)
        error = self.path(time) - r_des
        if s.force_des > 0.0:
            n = s.normal_W
            error = error + n * (n @ (r - r_des - error))
        reach, length = settings.path_speed_m_per_s * settings.period_s, float(np.sqrt(error @ error))
        if length > reach:
            error = error * (reach / length)
        step = damped_step(J_des, error, settings.path_damping)
        s.q_des += step
        s.qdot_des[:] = step / settings.period_s

    def _integrate(self, force: float) -> None:
        """Add to the force what is missing; not off the surface, nor while a joint gives all it can."""
        s, settings = self.state, self.settings
        if settings.force_gain_per_s == 0.0 or force <= 0.0 or s.saturated:
            return
        more = settings.force_gain_per_s * settings.period_s * (s.force_des - force)
        # the commanded force never turns into a pull
        low = -min(settings.force_reserve_N, s.force_des)
        s.integral_N = float(min(max(s.integral_N + more, low), settings.force_reserve_N))


def _effort_limits(equations: Equations) -> np.ndarray:
    """(nu,) effort limits of the joints; 0 in a model means none."""
    joints = [j for j in equations.model.moving_joints for _ in range(j.nu)]
    return np.array([j.effort_limit if j.effort_limit > 0.0 else np.inf for j in joints])


def _vector(key: str, value: object, n: int) -> np.ndarray:
    return numbers(WHERE, key, value, (n,))


def _gains(key: str, value: object, n: int) -> np.ndarray:
    try:
        array = real_numbers(value).astype(float)
    except ValueError:
        raise unusable(WHERE, key, value, f"{n} numbers, one for each speed") from None
    if array.shape != (n,):
        raise ConfigError(
            WHERE, key, f"has shape {array.shape}: it must be ({n},), one number for each speed."
        )
    if not np.all(array >= 0.0):
        raise ConfigError(WHERE, key, f"= {array.tolist()} is not usable: every number must be 0 or above.")
    return array


def _check_numbers(settings: HybridSettings) -> None:
    for key in ("period_s", "path_damping", "path_speed_m_per_s"):
        words, value = "finite and above 0", getattr(settings, key)
        if not number(WHERE, key, value, words=words) > 0.0:
            raise unusable(WHERE, key, value, words)
    for key in ("force_gain_per_s", "force_reserve_N", "start_s"):
        number(WHERE, key, getattr(settings, key), 0.0, words="finite and 0 or above")
    if settings.force_gain_per_s * settings.period_s >= 1.0:
        raise ConfigError(
            WHERE,
            "force_gain_per_s",
            f"= {settings.force_gain_per_s:g} is not usable at a cycle of {settings.period_s:g} s: it must "
            f"be below {1.0 / settings.period_s:g}, or the force overshoots in every cycle; lower it.",
        )
