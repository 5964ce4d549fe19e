"""The equations of a mechanism with any set of its constraints, by SymPy's KanesMethod and nothing of ours.

A set's dependent speeds are eliminated by ``KanesMethod`` itself, and the result is lambdified.  Forces of
constraint follow from the equations without any constraint, put the accelerations in.  Friction that depends
on such a force is found from two solutions, since both are affine in it; the tick finds it by substitution.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from sympy.physics.mechanics import KanesMethod, dynamicsymbols

from hapticsim.mechanism import Mechanism

CLOSED_m, STEPS = 1e-13, 20
FREE, HELD, FORWARD, BACKWARD = "FREE", "HELD", "FORWARD", "BACKWARD"
Holds = dict[str, str]
"""What every constraint does, by name."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A constraint of one row.

    dependent : the speed that is eliminated by it.
    motion, configuration : SymPy expression that is zero while it holds; one of the two.
    friction : static, kinetic, and the load [N] or the rule whose force it is.
    rubs : (point or frame, vector) per unit of friction force, so that its generalized forces are the row.
    """

    name: str
    dependent: Any
    motion: Any = None
    configuration: Any = None
    held: bool = True
    friction: tuple[float, float, float | str] | None = None
    rubs: Sequence[tuple[Any, Any]] = ()


class Equations:
    """udot and forces of constraint of one mechanism under any set of its rules.

    loads : input name -> (point or frame, vector per unit of the input).
    """

    def __init__(
        self, mechanism: Mechanism, rules: Sequence[Rule], loads: dict[str, tuple[Any, Any]]
    ) -> None:
        self.mechanism, self.rules = mechanism, {rule.name: rule for rule in rules}
        self.q, self.u = list(mechanism.coordinates), list(mechanism.speeds)
        rubbing = [rule for rule in rules if rule.friction]
        names = [*loads, *(rule.name for rule in rubbing)]
        self.force = {name: sp.Symbol(f"force_{i}") for i, name in enumerate(names)}
        gravity = mechanism.gravity
        weights = [] if gravity is None else [(b.masscenter, b.mass * gravity) for b in mechanism.bodies]
        given = [(to, self.force[name] * vector) for name, (to, vector) in loads.items()]
        rubs = [(to, self.force[rule.name] * vector) for rule in rubbing for to, vector in rule.rubs]
        self.loads = [*mechanism.forces, *weights, *given, *rubs]
        free = self._kane([])
        self._rates = free.kindiffdict()
        qdot = sp.Matrix([self._rates[q.diff()] for q in self.q])
        self._free = self._lambdify(free.mass_matrix, free.forcing)
        self._rows = self._lambdify(sp.Matrix([self._rate(rule) for rule in rules]).jacobian(self.u))
        self._gaps = self._lambdify(sp.Matrix([rule.configuration or 0 for rule in rules]))
        self._kinematics = self._lambdify(qdot, qdot.jacobian(self.u))
        self._embedded: dict[tuple[str, ...], tuple[list[int], Callable[..., Any]]] = {}
        self._no_force = [0.0] * len(names)

    def _kane(self, rules: list[Rule]) -> KanesMethod:
        dependent = [rule.dependent for rule in rules]
        independent = [u for u in self.u if u not in dependent]
        rows = [self._rate(rule) for rule in rules]
        eliminated = {"u_dependent": dependent, "velocity_constraints": rows} if rules else {}
        frame, kinematics = self.mechanism.frame, list(self.mechanism.kinematics)
        method = KanesMethod(frame, self.q, independent, kinematics, **eliminated)
        method.kanes_equations(list(self.mechanism.bodies), self.loads)
        return method

    def _rate(self, rule: Rule) -> Any:
        rate = rule.configuration.diff(dynamicsymbols._t) if rule.motion is None else rule.motion
        return sp.sympify(rate).subs(self._rates)

    def _lambdify(self, *matrices: Any) -> Callable[..., list[np.ndarray]]:
        values = dict(self.mechanism.parameters)
        arguments = (self.q, self.u, list(self.force.values()))
        function = sp.lambdify(arguments, [x.subs(values) for x in matrices], "numpy", cse=True)
        return lambda q, u, f: [np.array(x, float) for x in function(q, u, f)]

    def qdot(self, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        """(nq,) rates of the coordinates."""
        return self._kinematics(q, u, self._no_force)[0].ravel()

    def rows(self, q: np.ndarray, u: np.ndarray, names: Sequence[str]) -> np.ndarray:
        """(len(names), nu) rows A of A u = 0."""
        order = list(self.rules)
        return self._rows(q, u, self._no_force)[0][[order.index(name) for name in names]]

    def solve(
        self, q: np.ndarray, u: np.ndarray, force: dict[str, float], held: tuple[str, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """udot (nu,) and the forces (len(held),) of constraint [N] or [N m], under inputs and friction."""
        if held not in self._embedded:
            method = self._kane([self.rules[name] for name in held])
            place = [self.u.index(v) for v in method.u]
            self._embedded[held] = place, self._lambdify(method.mass_matrix, method.forcing)
        f = [force.get(name, 0.0) for name in self.force]
        place, function = self._embedded[held]
        M, right = function(q, u, f)
        udot = np.empty(len(u))
        udot[place] = np.linalg.solve(M, right.ravel())
        M, right = self._free(q, u, f)
        A = self.rows(q, u, held)
        return udot, np.linalg.solve(A @ A.T, A @ (M @ udot - right.ravel()))  # A' lam = M udot - f

    def accelerate(
        self, q: np.ndarray, u: np.ndarray, given: dict[str, float], now: Holds
    ) -> tuple[np.ndarray, dict[str, float]]:
        """udot and the force of every constraint that holds; what slips rubs with mu_k N against the slip.

        At most one of those that slip may have the force of another as its load.
        """
        held = tuple(name for name, hold in now.items() if hold == HELD)
        force, unknown, share, by = dict(given), "", 0.0, 0
        for name, hold in now.items():
            if hold in (FORWARD, BACKWARD):
                _, kinetic, load = self.rules[name].friction or (0.0, 0.0, 0.0)
                factor = -kinetic if hold == FORWARD else kinetic
                if not isinstance(load, str):
                    force[name] = factor * load
                elif load in held:
                    assert not unknown
                    unknown, share, by = name, factor, held.index(load)
        udot, forces = self.solve(q, u, force, held)
        if unknown:
            udot_1, forces_1 = self.solve(q, u, {**force, unknown: 1.0}, held)
            share *= np.sign(forces[by])
            k = share * forces[by] / (1.0 - share * (forces_1[by] - forces[by]))  # k = share N(k)
            udot, forces = udot + k * (udot_1 - udot), forces + k * (forces_1 - forces)
        return udot, dict(zip(held, forces, strict=True))

    def spare(self, name: str, forces: dict[str, float]) -> float:
        """What friction could bear more before the constraint slips [N]."""
        static, _, load = self.rules[name].friction or (np.inf, 0.0, 1.0)
        normal = abs(forces.get(load, 0.0)) if isinstance(load, str) else load
        return float(static * normal - abs(forces[name]))

    def impose(self, q: np.ndarray, u: np.ndarray, now: Holds) -> tuple[np.ndarray, np.ndarray]:
        """q moved until what holds has no gap, by the least in kinetic energy; u after a plastic impulse."""
        held = tuple(name for name, hold in now.items() if hold == HELD)
        if not held:
            return q, u
        index = [list(self.rules).index(name) for name in held]
        for _ in range(STEPS):
            gap = self._gaps(q, u, self._no_force)[0].ravel()[index]
            if np.max(np.abs(gap)) < CLOSED_m:
                break
            W = self._kinematics(q, u, self._no_force)[1]
            q = q - W @ self._least(q, u, held, gap)
        return q, u - self._least(q, u, held, self.rows(q, u, held) @ u)

    def _least(self, q: np.ndarray, u: np.ndarray, held: tuple[str, ...], right: np.ndarray) -> np.ndarray:
        """M^-1 A' (A M^-1 A')^-1 right."""
        A = self.rows(q, u, held)
        Y = np.linalg.solve(self._free(q, u, self._no_force)[0], A.T)
        return np.asarray(Y @ np.linalg.solve(A @ Y, right))
