"""Mechanisms whose accelerations are hard to compute, the truth about them, and who computes it.

Mechanisms.  Chains: link k is a uniform square rod of length l [m], mass m [kg] and width l/10 along x,
hinged at its near end, the first to the world, about y; in the rows "skew" about (0.4, 1, 0.3) and
(-0.3, 1, 0.4) by turns, so that no axis is parallel to the next.  Arm: shoulder axes z, y, z that meet in a
point, the two bodies between them of 1 g, an upper arm of 10 kg and 1 m along z, an elbow about y, a forearm
of 100 kg and 1 m; held where the first and the third axis are one line.  In the row "skew" all its frames
are turned by one rotation, so that no axis is a coordinate axis.  Gravity 9.81 m/s^2; q in -pi .. pi, u and
tau in -1 .. 1, rounded to single precision, so that one truth serves both tables.

Truth: ABM on many digits, constants of the model exact, rotations the nearest orthogonal ones.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import mpmath
import numpy as np

from hapticsim.equations.algorithms import ALGORITHMS
from hapticsim.equations.base import Equations
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.scalars import spatial
from hapticsim.equations.scalars.precision import PRECISIONS
from hapticsim.equations.scalars.spatial import Transform
from hapticsim.equations.tree import recursions
from hapticsim.equations.tree.articulated import articulated_body
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Placement
from hapticsim.model.multibody.rotation import rotation_of
from hapticsim.model.multibody.tree import Model
from hapticsim.model.scene import Scene

MORE_DIGITS = 120  # what 60 are checked with
WORST = "mass and length 10^k"
PINOCCHIO, MUJOCO = "pinocchio.aba", "MuJoCo"
SKEW = ", skew"

CHAINS = {  # lengths [m], masses [kg]
    "10 equal links": ([1.0] * 10, [1.0] * 10),
    "10 links, tip mass 1e6": ([1.0] * 10, [1.0] * 9 + [1e6]),
    "mass 10^k": ([1.0] * 7, [10.0**k for k in range(7)]),
    WORST: ([10.0**k for k in range(6)], [10.0**k for k in range(6)]),
}
ARM = "arm, shoulder singular"
TURN = np.array([4.0, 1.0, 2.0, 3.0])  # quaternion of a rotation without zeros
MECHANISMS = [name + skew for name in (*CHAINS, ARM) for skew in ("", SKEW)]

Number = mpmath.mpf
Exact = list[Any]  # of 60-digit numbers
State = tuple[np.ndarray, np.ndarray, np.ndarray]  # q, u, tau


@spatial.sin_cos.register
def _(x: mpmath.mpf) -> tuple[mpmath.mpf, mpmath.mpf]:
    return mpmath.sin(x), mpmath.cos(x)


@spatial.constant_type.register
def _(x: mpmath.mpf) -> type[mpmath.mpf]:
    return Number  # constants as floats would be multiplied and divided as floats


# ---- mechanisms


def model_of(name: str) -> Model:
    """Return one of ``MECHANISMS``."""
    skew = name.endswith(SKEW)
    if name.removesuffix(SKEW) == ARM:
        return _arm(rotation_of(TURN / np.linalg.norm(TURN)) if skew else np.eye(3))
    lengths, masses = CHAINS[name.removesuffix(SKEW)]
    axes = np.array([[0.4, 1.0, 0.3], [-0.3, 1.0, 0.4]] if skew else [[0.0, 1.0, 0.0]])
    bodies, joints, parent, place = [], [], WORLD, 0.0
    for k, (l, m) in enumerate(zip(lengths, masses, strict=True)):
        a = axes[k % len(axes)]
        bodies.append(_rod(f"link{k}", l, m, np.array([1.0, 0.0, 0.0])))
        at = Placement(translation=np.array([place, 0.0, 0.0]))
        joints.append(Joint(f"j{k}", "revolute", parent, f"link{k}", at, a / np.linalg.norm(a)))
        parent, place = f"link{k}", l
    return Model(name, tuple(bodies), tuple(joints))


def _arm(R: np.ndarray) -> Model:
    """Return the arm, its axes y and z being the columns of R."""
    _, y, z = R.T
    light = [Body(f"shoulder{k}", 1e-3, np.zeros(3), 1e-7 * np.eye(3)) for k in range(2)]
    bodies = (*light, _rod("upper", 1.0, 10.0, z), _rod("fore", 1.0, 100.0, z))
    parents = (WORLD, *(b.name for b in bodies))
    places = (np.zeros(3), np.zeros(3), np.zeros(3), z)
    joints = tuple(
        Joint(f"j{k}", "revolute", parents[k], bodies[k].name, Placement(translation=places[k]), axis)
        for k, axis in enumerate((z, y, z, y))
    )
    return Model(ARM, bodies, joints)


def _rod(name: str, l: float, m: float, along: np.ndarray) -> Body:
    w = l / 10.0
    across = m * (l * l + w * w) / 12.0
    inertia = across * np.eye(3) + (m * w * w / 6.0 - across) * np.outer(along, along)
    return Body(name, m, 0.5 * l * along, inertia)


def state_of(model: Model, seed: int) -> State:
    """Return a random state that single precision can hold; of the arm, at its singularity."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-np.pi, np.pi, model.nq)
    if model.name == ARM:
        q[1] = 0.0
    u, tau = rng.uniform(-1.0, 1.0, (2, model.nu))
    return tuple(x.astype(np.float32).astype(float) for x in (q, u, tau))  # type: ignore[return-value]


# ---- who computes accelerations


@cache
def equations_of(name: str) -> Equations:
    """Return the equations of one of ``MECHANISMS``."""
    return compile_equations(model_of(name), ())


@cache
def true_rotations(name: str) -> list[Transform]:
    """Return X_T of every body, its rotation the nearest orthogonal matrix (polar decomposition)."""
    with mpmath.workdps(MORE_DIGITS):
        found = []
        for body in equations_of(name).tree.bodies:
            R = mpmath.matrix(body.X_PJ.rotation.tolist())
            for _ in range(8):  # Newton: 1e-16, 1e-32, 1e-64 ..
                R = (R + (R**-1).T) / 2
            r = [Number(float(x)) for x in body.X_PJ.translation]
            found.append(Transform([[R[j, i] for j in range(3)] for i in range(3)], r))
        return found


def true_linkage(name: str, q: Exact) -> Linkage:
    """Return the mechanism at q in the digits at work."""
    link = Linkage(equations_of(name).tree, q)
    link.X_T = true_rotations(name)
    return link


def truth(name: str, q: Exact, u: Exact, tau: Exact) -> Exact:
    """Return udot by ABM in the digits at work."""
    return articulated_body(true_linkage(name, q), u, tau)[0]


def solved(name: str, q: Exact, u: Exact, tau: Exact) -> Exact:
    """Return udot from M udot = tau - h in the digits at work."""
    link = true_linkage(name, q)
    h = recursions.inverse_dynamics(link, u, None)
    b = mpmath.matrix([t - x for t, x in zip(tau, h, strict=True)])
    return list(mpmath.lu_solve(mpmath.matrix(recursions.mass_matrix(link)), b))


def exact(x: np.ndarray) -> Exact:
    """Return the same numbers as high-precision ones."""
    return [Number(float(value)) for value in x]


class Pinocchio:
    """The same mechanism in Pinocchio."""

    def __init__(self, model: Model) -> None:
        import pinocchio as pin

        coordinate = {(1.0, 0.0, 0.0): pin.JointModelRX, (0.0, 1.0, 0.0): pin.JointModelRY}
        coordinate[0.0, 0.0, 1.0] = pin.JointModelRZ
        self.aba, self.model, last = pin.aba, pin.Model(), 0
        self.model.gravity.linear = model.gravity_W
        for body, joint in zip(model.bodies, model.joints, strict=True):
            kind = coordinate.get(tuple(joint.axis_J))
            moves = kind() if kind else pin.JointModelRevoluteUnaligned(joint.axis_J)
            place = pin.SE3(joint.X_PJ.rotation, joint.X_PJ.translation)
            last = self.model.addJoint(last, moves, place, joint.name)
            inertia = pin.Inertia(body.mass, body.com_B, body.inertia_com_B)
            self.model.appendBodyToJoint(last, inertia, pin.SE3.Identity())
        self.data = self.model.createData()

    def __call__(self, q: np.ndarray, u: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.array(self.aba(self.model, self.data, q, u, tau))


class Mujoco:
    """The same mechanism in MuJoCo: no armature, nothing that touches."""

    def __init__(self, model: Model) -> None:
        import mujoco
        from mujoco_scene import MujocoScene

        self.forward, self.scene = mujoco.mj_forward, MujocoScene(Scene(model.name, model), "Euler")

    def __call__(self, q: np.ndarray, u: np.ndarray, tau: np.ndarray) -> np.ndarray:
        self.scene.place(q, u)
        self.scene.data.qfrc_applied[:] = tau
        self.forward(self.scene.model, self.scene.data)
        return np.array(self.scene.data.qacc)


PEERS = {PINOCCHIO: Pinocchio, MUJOCO: Mujoco}


def missing_peers() -> dict[str, str]:
    """Return a sentence for every library that is not installed."""
    found = {}
    for name, module, package in ((PINOCCHIO, "pinocchio", "pin"), (MUJOCO, "mujoco", "mujoco")):
        try:
            __import__(module)
        except ImportError:
            found[name] = f"{name} is left out: it is not installed (pip install {package})."
    return found


@cache
def solvers_of(name: str) -> dict[str, dict[str, Any]]:
    """Return for each precision the functions (q, u, tau) -> udot of one mechanism."""
    equations, missing = equations_of(name), missing_peers()
    found: dict[str, dict[str, Any]] = {
        p: {a: equations.algorithm(a, p) for a in ALGORITHMS} for p in PRECISIONS
    }
    found["float64"].update({n: kind(equations.model) for n, kind in PEERS.items() if n not in missing})
    return found
