"""Constraints as published: what there is to draw, and what each of them does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hapticsim.display.messages.reading import Payload, Unreadable, numbers

FREE, HELD = "free", "held"


@dataclass(frozen=True, eq=False)
class RowView:
    """One row; A and B are the bodies it is about."""

    kind: str  # point, angle, distance, speeds, roll, skate, equation, curve
    a: int  # index of a body, -1 for the world
    b: int
    point_a: np.ndarray  # (3,) [m] in A
    point_b: np.ndarray  # (3,) [m] in B
    direction_a: np.ndarray  # (3,) in A; of a rolling row in B
    direction_b: np.ndarray  # (3,) in B
    length: float  # [m]
    joints: tuple[int, ...]  # bodies that the joints of the row carry
    curve: np.ndarray  # (n, 3) [m] in B, points along it, the first again where it is closed
    unit: str  # of its force


@dataclass(frozen=True, eq=False)
class ConstraintView:
    """A constraint of the scene."""

    name: str
    rows: tuple[RowView, ...]

    def of_kind(self, kind: str) -> list[RowView]:
        """Its rows of one kind."""
        return [row for row in self.rows if row.kind == kind]


@dataclass(frozen=True, eq=False)
class ConstraintNow:
    """What a constraint does: ``free``, ``held``, or slips ``forward`` or ``backward``."""

    name: str
    hold: str
    force: np.ndarray  # (rows,) [N] or [N m]
    gap: np.ndarray  # (rows,) [m] or [rad]

    @property
    def slips(self) -> bool:
        """Whether its friction acts, and nothing else."""
        return self.hold not in (FREE, HELD)


@dataclass(frozen=True, eq=False)
class Imposed:
    """The constraints together."""

    constraints: tuple[ConstraintNow, ...]
    rank: int
    rows: int
    dependent: tuple[str, ...]  # names of speeds
    residual: float  # largest gap before projection, [m] or [rad]

    @classmethod
    def read(cls, payload: Payload) -> Imposed:
        """From topic ``state``; a server that says nothing of constraints has none."""
        return cls(
            constraints=tuple(
                ConstraintNow(
                    str(c["name"]),
                    str(c["hold"]),
                    numbers(c.get("force") or [], "constraints.force"),
                    numbers(c.get("gap") or [], "constraints.gap"),
                )
                for c in payload.get("constraints") or ()
            ),
            rank=int(payload.get("rank") or 0),
            rows=int(payload.get("rows") or 0),
            dependent=tuple(str(name) for name in payload.get("dependent") or ()),
            residual=float(payload.get("residual") or 0.0),
        )


def read_constraints(payload: Sequence[Payload], body_count: int) -> tuple[ConstraintView, ...]:
    """Constraints of topic ``scene``.  Raises Unreadable where a row is about a body that is not there."""
    return tuple(
        ConstraintView(str(c["name"]), tuple(_row(r, body_count) for r in c["rows"])) for c in payload
    )


def _row(payload: Payload, body_count: int) -> RowView:
    joints = tuple(int(child) for child, _ in payload.get("joints") or ())
    a, b = int(payload["a"]), int(payload["b"])
    for body in (a, b, *joints):
        if not -1 <= body < body_count:
            raise Unreadable(f"a constraint is about body {body} of {body_count}")
    return RowView(
        kind=str(payload["kind"]),
        a=a,
        b=b,
        point_a=numbers(payload["point_a"], "constraints.point_a", 3),
        point_b=numbers(payload["point_b"], "constraints.point_b", 3),
        direction_a=numbers(payload["direction_a"], "constraints.direction_a", 3),
        direction_b=numbers(payload["direction_b"], "constraints.direction_b", 3),
        length=float(payload["length"]),
        joints=joints,
        curve=_curve(payload),
        unit=str(payload.get("unit", "N")),
    )


def _curve(payload: Payload) -> np.ndarray:
    """(n, 3) points of a row; a server that knows no curves has none."""
    values = numbers(payload.get("curve") or [], "constraints.curve")
    if values.size % 3 or values.size == 3 or (payload["kind"] == "curve" and values.size == 0):
        raise Unreadable(f"constraints.curve holds {values.size} numbers instead of three for each point")
    return values.reshape(-1, 3)
