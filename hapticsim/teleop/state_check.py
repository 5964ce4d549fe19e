"""Whether a row of numbers from elsewhere is a state of this scene.

Compiled code indexes its arrays by numbers of the state and checks nothing.  So every field has its rule
here, and a row is refused whole at the first number that breaks one.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hapticsim.assemble.assembly import Assembly
from hapticsim.codes import ON_BOX, ON_EDGES, ON_MESH, Grip, Mode, Safety
from hapticsim.kernels.events.inside import GAP_CAPTURE, LEFT_OUT
from hapticsim.kernels.geometry.box_edges import EDGE_PAIR, EDGES
from hapticsim.kernels.geometry.corner import FACES
from hapticsim.kernels.geometry.hull_contact import ACROSS, VERTEX_OF_A, VERTEX_OF_B
from hapticsim.kernels.geometry.mesh.search import MESH_FEATURE
from hapticsim.kernels.memory.arrays import HULL
from hapticsim.model.hull import Features

LARGEST = 1e12  # of a coordinate, a speed, a force: beyond it no step is finite for long
VOLUME = 1e300  # solve/speed_selection.py, UNCHOSEN
EXACT = 2.0**53
LAST_PAIR = EDGE_PAIR + EDGES * EDGES - 1
UNIT = 1e-3  # by which the length of a quaternion may be off
FARTHEST_YIELD = 1e3  # [m^n] that ground may be deformed

Rule = Callable[[np.ndarray], bool]


def _numbers(values: np.ndarray) -> bool:
    return bool(np.all(np.abs(values) <= LARGEST))  # false for NaN


def _whole(least: float, most: float) -> Rule:
    def rule(values: np.ndarray) -> bool:
        return bool(np.all((values >= least) & (values <= most) & (values == np.floor(values))))

    return rule


def _within(least: float, most: float) -> Rule:
    return lambda values: bool(np.all((values >= least) & (values <= most)))


def _permutation(values: np.ndarray) -> bool:
    return bool(np.array_equal(np.sort(values), np.arange(values.size)))


def _unit(values: np.ndarray) -> bool:
    if not np.all(np.abs(values) <= 1.0 + UNIT):  # the square of a large one is infinite, and warned of
        return False
    return abs(float(np.linalg.norm(values)) - 1.0) <= UNIT


class StateCheck:
    """The rules for the packed states of one scene.

    Parameters
    ----------
    assembly : what runs; its states have this shape.
    """

    def __init__(self, assembly: Assembly) -> None:
        state = assembly.new_state()
        self._quaternions = list(assembly.equations.model.quaternions)
        most = state.combine.shape[0]
        count = _whole(0, EXACT)
        self.rules: dict[str, Rule] = {
            "q": self._coordinates,
            "u": _numbers,
            "tick": count,
            "mode": self._modes(len(assembly.candidates)),
            "rank": self._rank(most, state.u.size),
            "order": _permutation,
            "combine": _numbers,
            "volume": _within(0.0, VOLUME),
            "safety": self._safety,
            "last_sample": _numbers,
            "interruption": _numbers,
            "gain": _within(0.0, 1.0),
            "hand_force_D": _numbers,
            "origin_W": _numbers,
            "offset": _numbers,
            "switched": count,
            "hand_torque_D": _numbers,
            "turn_offset": _unit,
            "friction": _numbers,
            "face": self._faces(assembly),
            "depth": _within(-LARGEST, GAP_CAPTURE),
            "impulse": _within(0.0, LARGEST),
            "friction_impulse_W": _within(-LARGEST, LARGEST),
            "grip": _whole(0, int(max(Grip))),
            "slide_W": _within(-1.0 - UNIT, 1.0 + UNIT),
            "deformation": _within(-FARTHEST_YIELD, FARTHEST_YIELD),
            "yields": _whole(0, 1),
            "still": self._still(assembly),
            "energy": _numbers,
            "swing": _numbers,
        }
        self._fields, start = [], 0
        for name, array in state.items():
            self._fields.append((name, start, start + array.size, self.rules.get(name, _numbers)))
            start += array.size
        self.size = start
        self._on_mesh = np.array([c.kind == ON_MESH for c in assembly.candidates], bool)
        self._mode, self._face = (
            slice(start, start + self._on_mesh.size)
            for name, start, _, _ in self._fields
            if name in ("mode", "face")
        )

    def trouble(self, packed: np.ndarray) -> str:
        """Say in a few words what is wrong with a packed state; empty: it is one of this scene."""
        if packed.ndim != 1 or packed.size != self.size:
            return f"it has {packed.size} numbers and a state of this scene has {self.size}"
        for name, start, end, rule in self._fields:
            if end > start and not rule(packed[start:end]):
                return f"its {name} is out of range"
        if self._holds_nowhere(packed):
            return "a contact on a mesh holds without a feature, or has one without holding"
        return ""

    def _holds_nowhere(self, packed: np.ndarray) -> bool:
        """Whether a place on a mesh holds without a feature, or has one and does not hold."""
        holds, has = packed[self._mode] == Mode.HELD, packed[self._face] >= MESH_FEATURE
        return bool(np.any((holds != has) & self._on_mesh))

    def _coordinates(self, q: np.ndarray) -> bool:
        return _numbers(q) and all(_unit(q[i : i + 4]) for i in self._quaternions)

    @staticmethod
    def _still(assembly: Assembly) -> Rule:
        """Ticks at rest: none of a tree that never sleeps."""
        plan = assembly.plan
        never = np.array(
            [
                not np.all(plan.rest_speed[a:b] > 0.0)
                for a, b in zip(plan.tree_first, plan.tree_end, strict=True)
            ],
            bool,
        )
        counts = _whole(0, int(plan.rest_ticks) + 1)
        return lambda values: counts(values) and not np.any(values[never])

    @staticmethod
    def _features(assembly: Assembly, k: int) -> Rule:
        """The features of the mesh of candidate k as State.face holds them (geometry/mesh/features.py)."""
        plan = assembly.plan
        first, count, faces = int(plan.mesh_first[k]), int(plan.mesh_count[k]), len(plan.mesh_normal)
        vertices = plan.mesh_triangle[3 * first : 3 * (first + count)]
        begin = MESH_FEATURE + first, MESH_FEATURE + faces + 3 * first
        ranges = (
            _whole(begin[0], begin[0] + count - 1),
            _whole(begin[1], begin[1] + 3 * count - 1),
            _whole(MESH_FEATURE + 4 * faces + vertices.min(), MESH_FEATURE + 4 * faces + vertices.max()),
        )
        return lambda values: any(rule(values) for rule in ranges)

    @staticmethod
    def _pairs_of_hulls(a: Features, b: Features) -> Rule:
        """Features of two hulls as State.face holds them (geometry/hull_contact.py)."""
        counts = {
            ACROSS: (len(a.lines), len(b.lines)),
            VERTEX_OF_A: (len(a.rings), len(b.planes)),
            VERTEX_OF_B: (len(b.rings), len(a.planes)),
        }

        def is_one(values: np.ndarray) -> bool:
            if not _whole(EDGE_PAIR, EDGE_PAIR + len(counts) * HULL * HULL - 1)(values):
                return False
            kind, number = divmod(int(values) - EDGE_PAIR, HULL * HULL)
            return number // HULL < counts[kind][0] and number % HULL < counts[kind][1]

        return is_one

    def _faces(self, assembly: Assembly) -> Rule:
        outside, faces = _whole(FACES + 1, LEFT_OUT), _whole(1, FACES)
        edges = _whole(EDGE_PAIR, LAST_PAIR)

        def free(value: np.ndarray) -> bool:
            return bool(value == 0.0) or outside(value)

        held: dict[int, Rule] = {}
        features: dict[int, Rule] = {}  # by the first triangle: the places of a mesh share them
        for k, candidate in enumerate(assembly.candidates):
            if candidate.kind == ON_EDGES:
                held[k] = edges
            elif candidate.hulls is not None:
                held[k] = self._pairs_of_hulls(*candidate.features)
            elif candidate.kind == ON_MESH:
                first = int(assembly.plan.mesh_first[k])
                held[k] = features.setdefault(first, self._features(assembly, k))
            elif candidate.kind == ON_BOX and candidate.radius == 0.0:
                held[k] = faces
        return lambda values: all(free(v) or (k in held and held[k](v)) for k, v in enumerate(values))

    @staticmethod
    def _modes(contacts: int) -> Rule:
        contact, constraint = _whole(Mode.FREE, Mode.HELD), _whole(min(Mode), max(Mode))
        return lambda mode: contact(mode[:contacts]) and constraint(mode[contacts:])

    @staticmethod
    def _rank(rows: int, speeds: int) -> Rule:
        count = _whole(0, rows)
        return lambda values: bool(count(values) and values[0] <= min(values[1], speeds))

    @staticmethod
    def _safety(values: np.ndarray) -> bool:
        is_mode = _whole(min(Safety), max(Safety))(values[:1])
        return is_mode and _whole(0, EXACT)(values[1:]) and not math.isnan(float(values[1]))
