"""Table 2 of Ascher, Pai and Cloutier (1997) by a program that has its digits, in single precision.

Two collinear slides, tip 1 and base 2, with Phi = 1 (the paper's example 2), a_k = b_k = 0 and 6 x 6
matrices.  Along (0, 0, 0, 0, 1, 1)/sqrt(2) only rounding tells CRBM, ABM and modified ABM from D_2 = 1, and
the order of the sums decides.  The printed 1.03 and 1.5 are 1.03125 and 1.5, by the accelerations beside
them; near m_1 single precision has no such numbers, near m_1/2 it has: the entries of what elimination leaves
of M_1 are taken one by one.  All 21 printed D_2 and 15 accelerations come from the text read to the letter:

- a quadratic form is the sum over its 36 entries, H M H' = sum of H_i M_ij H_j by rows (``quadratic_form``);
- what elimination subtracts is (M H')(H M) divided by D, not M H' by D and then times H M;
- CRBM differs by nothing but the order in which the pivot is formed, as section 3 has it: small and large
  inertia are added first, and the other large term is subtracted from that.

It is not the only one: (M H')(1/D) times H M prints the same; (M H')/D times H M does not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

FORCES = (np.float32(981.0), np.float32(9.81))  # tau_1, tau_2 [N]
CRBM, ABM, MODIFIED = PROGRAMS = ("CRBM", "ABM", "modified ABM")


@dataclass(frozen=True)
class Printed:
    """One entry of the table: D_2 [kg] and the acceleration of the tip [m/s^2], None where it has none."""

    pivot: float
    tip_acceleration: float | None


RIGHT, LOST = Printed(1.0, 971.19), Printed(0.0, None)
TABLE_2 = {  # tip mass [kg], case: CRBM, ABM, modified ABM
    (1e7, 1): (RIGHT, RIGHT, RIGHT),
    (1e8, 1): (LOST, RIGHT, RIGHT),
    (1e9, 1): (LOST, RIGHT, RIGHT),
    (1e6, 2): (Printed(1.03, 941.76), Printed(1.03, 941.76), RIGHT),
    (1e7, 2): (Printed(1.5, 647.46), Printed(1.5, 647.46), RIGHT),
    (1e8, 2): (LOST, LOST, RIGHT),
    (1e9, 2): (LOST, LOST, RIGHT),
}


def paper_program(tip_mass: float, case: int) -> dict[str, tuple[float, float | None]]:
    """Return for every program D_2 [kg] and the acceleration of the tip [m/s^2], None where D_2 is 0."""
    H = np.array([0, 0, 0, 0, 0, 1] if case == 1 else [0, 0, 0, 0, 1, 1], np.float32)
    if case == 2:
        H = H / np.sqrt(np.float32(2.0))
    tau_1, tau_2 = FORCES
    M_1, M_2 = slide(tip_mass), slide(1.0)
    U = np.array([dot(row, H) for row in M_1], np.float32)  # M_1 H'
    D_1 = quadratic_form(H, M_1)
    taken = np.outer(U, U) / D_1
    M_bar = M_1 - taken
    pivots = {
        CRBM: quadratic_form(H, (M_2 + M_1) - taken),  # (9), eliminated
        ABM: quadratic_form(H, M_2 + M_bar),  # (7)
        MODIFIED: quadratic_form(H, M_2) + quadratic_form(H, M_bar),  # (11)
    }
    rest = tau_2 - dot(H, U * (tau_1 / D_1))  # tau_2 - c_2
    found: dict[str, tuple[float, float | None]] = {}
    for name, D_2 in pivots.items():
        tip = (tau_1 - dot(U, H * (rest / D_2))) / D_1 if D_2 != 0.0 else None
        found[name] = (float(D_2), None if tip is None else float(tip))
    return found


def is_as_printed(found: tuple[float, float | None], printed: Printed) -> bool:
    """Say whether both numbers, rounded to the digits of the table, are the printed ones."""
    pivot, tip = found
    return round(pivot, 2) == printed.pivot and (None if tip is None else round(tip, 2)) == (
        printed.tip_acceleration
    )


def slide(mass: float) -> np.ndarray:
    """Return the spatial inertia of a mass point at the origin, angular part first."""
    return np.diag(np.array([0, 0, 0, mass, mass, mass], np.float32))


def dot(a: np.ndarray, b: np.ndarray) -> np.float32:
    """Return a . b, summed from the left, every operation rounded."""
    total = np.float32(0.0)
    for x, y in zip(a, b, strict=True):
        total = total + x * y
    return total


def quadratic_form(H: np.ndarray, M: np.ndarray) -> np.float32:
    """Return H M H' entry by entry, every operation rounded."""
    total = np.float32(0.0)
    for i in range(6):
        for j in range(6):
            total = total + H[i] * M[i, j] * H[j]
    return total
