"""Forward dynamics by every algorithm, side by side, in double and single precision.

All solve M udot + h = tau for udot and differ only in what rounding does to them::

    abm_exact          articulated bodies, what projection makes zero written as zero (the one the tick uses)
    abm_refined        abm_exact, then what RNEA says is missing once more through it
    abm                articulated bodies, I_a = I_A - U U' / D as it is computed
    abm_modified       the pivot D = S' M S + S' Mtilde S from two parts that are kept apart
    abm_bad            projection after transformation and addition, so that it has to cancel
    crbm_cholesky      composite rigid bodies, M = L L', from the root
    crbm_ldl           composite rigid bodies, M = L' D L, from the tips, without square roots
    crbm_lu            composite rigid bodies, Gaussian elimination with partial pivoting
    crbm_gauss_jordan  composite rigid bodies, elimination with full pivoting
    crbm_svd           composite rigid bodies, singular values
    conjugate_gradient M only by its products, each one RNEA without gravity and velocity

The ABMs are ``Elimination``s of ``articulated.py``, where their sources stand.  CRBM and the conjugate
gradients are methods 3 and 4 of Walker and Orin, Efficient Dynamic Computer Simulation of Robotic Mechanisms
(1982); the solvers are in ``solvers.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numba import void

from hapticsim.equations import solvers
from hapticsim.equations.catalogue import Entry, Outputs, shapes_of, traced
from hapticsim.equations.codegen.cache import equations_folder, load_compiled
from hapticsim.equations.codegen.emit import emit_lines, emit_module, join_module
from hapticsim.equations.scalars.precision import precision_of
from hapticsim.equations.scalars.spatial import Vector, add, subtract, zeros
from hapticsim.equations.scalars.trace import Trace
from hapticsim.equations.tree.articulated import Elimination, articulated_body
from hapticsim.equations.tree.linkage import Linkage
from hapticsim.equations.tree.recursions import inverse_dynamics, mass_matrix
from hapticsim.errors import HapticsimError, listed, nearest
from hapticsim.model.moving import MovingTree

ELIMINATIONS = {
    "abm_exact": Elimination(),
    "abm": Elimination(exact_zeros=False),
    "abm_modified": Elimination(exact_zeros=False, split_pivot=True),
    "abm_bad": Elimination(exact_zeros=False, project_late=True),
}
SOLVERS = {
    "crbm_cholesky": solvers.cholesky,
    "crbm_ldl": solvers.ldl,
    "crbm_lu": solvers.lu,
    "crbm_gauss_jordan": solvers.gauss_jordan,
    "crbm_svd": solvers.svd,
}
ALGORITHMS = (*ELIMINATIONS, "abm_refined", *SOLVERS, "conjugate_gradient")
RECURSIVE = (*ELIMINATIONS, "abm_refined")  # no system of equations is formed

# Conjugate gradients stop when the residual has come down to the precision's last bit of b, or after this
# many steps per speed; without rounding one step per speed is enough.
STEPS_PER_SPEED = 20


# ---- what is generated, written over any scalar


def _abm(
    how: Elimination, tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector, tau: Vector
) -> Outputs:
    return {"udot": articulated_body(Linkage(tree, q), u, tau, how)[0]}


def _refined(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector, tau: Vector) -> Outputs:
    """udot by ABM, and one step of iterative refinement: the residual is solved for at rest without gravity.

    Traced as one function the two passes share inertias and pivots.
    """
    link = Linkage(tree, q)
    udot, _ = articulated_body(link, u, tau)
    residual = subtract(tau, inverse_dynamics(link, u, udot))
    at_rest = Linkage(tree, q)
    at_rest.gravity_W = zeros(3)
    correction, _ = articulated_body(at_rest, zeros(tree.nu), residual)
    return {"udot": add(udot, correction)}


def _system(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector, tau: Vector) -> Outputs:
    """M and b = tau - h."""
    link = Linkage(tree, q)
    return {"M": mass_matrix(link), "b": subtract(tau, inverse_dynamics(link, u, None))}


def _remainder(tree: MovingTree, frames: Sequence[str], q: Vector, u: Vector, tau: Vector) -> Outputs:
    """b = tau - h."""
    return {"b": subtract(tau, inverse_dynamics(Linkage(tree, q), u, None))}


def _product(tree: MovingTree, frames: Sequence[str], q: Vector, x: Vector) -> Outputs:
    """y = M x: the forces of the accelerations x at rest, without gravity."""
    link = Linkage(tree, q)
    link.gravity_W = zeros(3)
    return {"y": inverse_dynamics(link, zeros(tree.nu), x)}


PARTS: dict[str, Entry] = {
    **{name: Entry(("q", "u", "tau"), ("udot",), partial(_abm, how)) for name, how in ELIMINATIONS.items()},
    "abm_refined": Entry(("q", "u", "tau"), ("udot",), _refined),
    "system": Entry(("q", "u", "tau"), ("M", "b"), _system),
    "remainder": Entry(("q", "u", "tau"), ("b",), _remainder),
    "product": Entry(("q", "x"), ("y",), _product),
}


# ---- from the parts to a function (q, u, tau, udot)

_BY_FACTORS = """\
def {name}(q, u, tau, udot):
    M, b = empty(({n}, {n}), {dtype}), empty({n}, {dtype})
    system(q, u, tau, M, b)
    {solver}(M, b, udot)"""

_BY_GRADIENTS = """\
def {name}(q, u, tau, udot):
    r, y = empty({n}, {dtype}), empty({n}, {dtype})
    remainder(q, u, tau, r)
    p = r.copy()
    goal = gradient_goal(r)
    udot[:] = 0
    for _ in range({limit}):
        product(q, p, y)
        if conjugate_gradient_step(y, p, r, udot, goal):
            break"""


def generate_algorithm(name: str, tree: MovingTree, precision: str) -> str:
    """Return the source of one algorithm for one robot."""
    about = f"{tree.name}: {name} in {precision} ({tree.nq} coordinates, {tree.nu} speeds)."
    if name in RECURSIVE:
        trace, outputs = _traced(name, tree, precision)
        return emit_module(name, shapes_of(name, tree, (), PARTS), trace, outputs, about)
    if name in SOLVERS:
        parts, body, used = ["system"], _BY_FACTORS, [name.removeprefix("crbm_")]
    else:
        parts, body = ["remainder", "product"], _BY_GRADIENTS
        used = ["conjugate_gradient_step", "gradient_goal"]
    text = body.format(name=name, n=tree.nu, dtype=precision, solver=used[0], limit=STEPS_PER_SPEED * tree.nu)
    functions = [_lines_of(part, tree, precision) for part in parts]
    imports = [
        f"from numpy import empty, {precision}",
        f"from hapticsim.equations.solvers import {', '.join(used)}",
    ]
    return join_module(about, precision_of(precision), imports, [*functions, text.split("\n")])


def _traced(part: str, tree: MovingTree, precision: str) -> tuple[Trace, Outputs]:
    with np.errstate(all="ignore"):  # a robot whose constants overflow or cancel is still generated
        return traced(part, tree, (), precision, PARTS)


def _lines_of(part: str, tree: MovingTree, precision: str) -> list[str]:
    trace, outputs = _traced(part, tree, precision)
    return emit_lines(part, shapes_of(part, tree, (), PARTS), trace, outputs)


class Algorithm:
    """One algorithm for one robot in one precision; called with q, u and tau it returns udot.

    name, precision : "abm", "float32".
    kernel : the compiled function (q, u, tau, udot) on C-contiguous arrays of that precision.  It does not
        need the GIL and checks nothing; those with a solver allocate their matrix.
    """

    def __init__(
        self,
        tree: MovingTree,
        name: str,
        precision: str,
        check: Callable[..., np.ndarray],
        progress: Callable[[str], Any] | None = None,
    ) -> None:
        """check(argument name, value, dtype) returns an argument as an array, or refuses it."""
        if name not in ALGORITHMS:
            raise HapticsimError(
                f"forward dynamics of {tree.name} has no algorithm {name!r}{nearest(name, ALGORITHMS)}; "
                f"there are {listed(ALGORITHMS)}."
            )
        if tree.has_followers and name in RECURSIVE:
            raise HapticsimError(
                f"{tree.name} has joints that follow others, which {name} cannot take: "
                f"choose one of {listed(n for n in ALGORITHMS if n not in RECURSIVE)}."
            )
        self._real = precision_of(precision)
        self._tree, self._check = tree, check
        self.name, self.precision = name, precision
        self.kernel = load_compiled(
            equations_folder(tree, (), precision),
            name,
            lambda: generate_algorithm(name, tree, precision),
            void(*[self._real.element[::1]] * 4),
            f"compiling {tree.name}: {name} in {precision}",
            progress,
        )

    def __call__(self, q: Any, u: Any, tau: Any) -> np.ndarray:
        """Return udot (nu) [rad/s^2, m/s^2] in this precision; NaN where the solver found no solution."""
        udot: np.ndarray = np.empty(self._tree.nu, self._real.dtype)
        arguments = self._arguments(q, u, tau)
        with np.errstate(all="ignore"):  # matters without the JIT only
            self.kernel(*arguments, udot)
        return udot

    def reference(self, q: Any, u: Any, tau: Any) -> np.ndarray:
        """Return udot (nu) by the recursion on scalars of this precision and the solver in plain Python."""
        with np.errstate(all="ignore"):
            return self._reference(q, u, tau)

    def _reference(self, q: Any, u: Any, tau: Any) -> np.ndarray:
        arguments = [list(a) for a in self._arguments(q, u, tau)]
        if self.name in RECURSIVE:
            return self._array(PARTS[self.name].build(self._tree, (), *arguments)["udot"])
        udot: np.ndarray = np.zeros(self._tree.nu, self._real.dtype)
        if self.name in SOLVERS:
            system = PARTS["system"].build(self._tree, (), *arguments)
            _plain(SOLVERS[self.name])(self._array(system["M"]), self._array(system["b"]), udot)
            return udot
        r = self._array(PARTS["remainder"].build(self._tree, (), *arguments)["b"])
        p = r.copy()
        goal = _plain(solvers.gradient_goal)(r)
        for _ in range(STEPS_PER_SPEED * self._tree.nu):
            y = self._array(PARTS["product"].build(self._tree, (), arguments[0], list(p))["y"])
            if _plain(solvers.conjugate_gradient_step)(y, p, r, udot, goal):
                break
        return udot

    def pivots(self, q: Any) -> np.ndarray:
        """Return D (nu), what the elimination divides by, in this precision, by the reference.

        Offered by the ABMs and crbm_ldl, which share them on paper.  Behind a pivot that is not positive
        L' D L has no more of them: NaN.
        """
        if self.name not in (*ELIMINATIONS, "crbm_ldl"):
            raise HapticsimError(
                f"{self.name} has no pivots to show: ask {listed([*ELIMINATIONS, 'crbm_ldl'])}."
            )
        link = Linkage(self._tree, list(self._check("q", q, self._real.dtype)))
        still: Vector = list(np.zeros(self._tree.nu, self._real.dtype))
        with np.errstate(all="ignore"):
            if self.name in ELIMINATIONS:
                return self._array(articulated_body(link, still, still, ELIMINATIONS[self.name])[1])
            found: np.ndarray = np.full(self._tree.nu, np.nan, self._real.dtype)
            _plain(solvers.ldl_factor)(self._array(mass_matrix(link)), found)
            return found

    def _arguments(self, q: Any, u: Any, tau: Any) -> list[np.ndarray]:
        dtype = self._real.dtype
        return [self._check("q", q, dtype), self._check("u", u, dtype), self._check("tau", tau, dtype)]

    def _array(self, values: Any) -> np.ndarray:
        return np.array(values, self._real.dtype)


def _plain(function: Any) -> Any:
    """Return the Python function behind a compiled one."""
    return getattr(function, "py_func", function)
