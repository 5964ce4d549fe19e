"""The arrays of a run, made: their shapes from the sizes of arrays.py, and their values at the start."""

from __future__ import annotations

import numpy as np

from hapticsim.kernels.memory.arrays import (
    CHOICE,
    MAX_CHOICES,
    MAX_EVENTS,
    MAX_ROWS,
    SWING,
    Input,
    Output,
    Plan,
    State,
    Workspace,
)


def allocate_state(
    q0: np.ndarray, u0: np.ndarray, plan: Plan, mode: np.ndarray, offset: np.ndarray, origin_W: np.ndarray
) -> State:
    """A state at rest in contact terms: no contact imposed, disarmed.

    mode : (nb,) int, what the blocks do at the start.
    offset : (nw,) displacement at which the gap of each row is zero.
    """
    nk, nb = plan.contacts, plan.block_law.size
    nr = rows_at_most(plan)
    return State(
        q=np.array(q0, dtype=float),
        u=np.array(u0, dtype=float),
        tick=np.zeros(1, np.int64),
        mode=np.array(mode, dtype=np.int64),
        rank=np.zeros(2, np.int64),
        order=np.arange(len(u0), dtype=np.int64),
        combine=np.eye(nr),
        volume=np.zeros(1),
        safety=np.zeros(4, np.int64),
        seen=np.zeros(5),
        interruption=np.zeros(4),
        gain=np.zeros(1),
        hand_force_D=np.zeros(3),
        swing=np.zeros(SWING),
        origin_W=np.array(origin_W, dtype=float),
        offset=np.array(offset, dtype=float),
        switched=np.zeros(nb - nk, np.int64),
        hand_torque_D=np.zeros(3),
        turn_offset=np.array([1.0, 0.0, 0.0, 0.0]),
        friction=np.zeros(nb),
        face=np.zeros(nk, np.int64),
        depth=np.zeros(nk),
        energy=np.zeros(3),
    )


def rows_at_most(plan: Plan) -> int:
    """Rows that can be imposed at once."""
    return max(1, min(plan.row_kind.size, MAX_ROWS))


def allocate_input(nu: int, nc: int = 0) -> Input:
    """No device, nothing asked for."""
    device = np.zeros(8)
    device[6] = np.inf
    return Input(
        device=device,
        flags=np.zeros(1, np.int64),
        gap=np.zeros(2),
        requests=np.zeros(2, np.int64),
        coupler=np.zeros(3),
        torque=np.zeros(nu),
        force_W=np.zeros(3),
        switch=np.zeros(nc, np.int64),
        turn=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
        turn_coupler=np.zeros(3),
        link=np.zeros(1),
    )


def allocate_output(nq: int, nu: int, nk: int, nw: int) -> Output:
    """Zeros; nk contact candidates among nw rows."""
    return Output(
        q=np.zeros(nq),
        u=np.zeros(nu),
        hand_force_D=np.zeros(3),
        coupler_W=np.zeros(3),
        anchor_W=np.zeros(3),
        handle_W=np.zeros(3),
        force=np.zeros(nw),
        gap=np.zeros(nw),
        normal_W=np.zeros((nk, 3)),
        point_W=np.zeros((nk, 3)),
        events=np.zeros((3 * MAX_EVENTS, 4)),
        counts=np.zeros(6, np.int64),
        residual=np.zeros(1),
        choices=np.zeros((MAX_CHOICES, CHOICE + 3 * nu)),
        hand_torque_D=np.zeros(3),
        coupler_torque_W=np.zeros(3),
    )


def allocate_workspace(
    nq: int, nu: int, nf: int, nk: int, nr: int, nc: int = 0, ne: int = 0, nF: int = 0
) -> Workspace:
    """Zeros; nr rows at once, ne equations of the mechanism, nF entries that impulse responses share."""
    nb = nk + nc
    guards = nb + nk
    shapes = {
        "q0": nq, "u0": nu, "q1": nq, "u1": nu, "qs": nq, "qi": nq, "rate1": nq, "us": nu,
        "dq": (5, nq), "du": (5, nu),
        "M": (nu, nu), "h": nu, "X": (nf, 12), "V": (nf, nu, 6), "vel": (nf, 6), "acc": (nf, 6),
        "tau": nu, "gravity": nu, "f": nu, "A": (nr, nu), "s": nr, "B": (nr, nu), "t": nr, "phi": nr,
        "rows": nr, "LU": (nr, nr), "pivots": nr, "D": (nr, nu), "E": (nr, nu), "g": nr, "K": (nu, nu),
        "y": nu, "lam": nr, "push": nr, "part": nr, "guard0": guards, "guard1": guards, "guard2": guards,
        "L": (nu, nu), "Y": (nr, nu),
        "Wr": (nr, nr), "c": nr, "x": nr, "z": nr, "grad": nr, "passive": nr, "P": (nr, nr),
        "R": (nr, nu), "U": (nr, nr), "sigma": nr, "norms": nu, "perm": nu, "good_q": nq, "good_u": nu,
        "good_mode": nb, "counts": 4, "F": nF, "b": nr,
        "equation_phi": ne, "equation_A": (ne, nu), "equation_b": ne, "equation_s": ne,
        "slip_A": (nb, nu), "slip_s": nb, "slip_b": nb, "slip_force": nb,
        "Q": (nr, nu), "QY": (nr, nu), "qb": nr, "qr": nr, "N": (2, nu), "share": nr,
        "earlier": nu, "clash": 1,
        "wanted": nb, "touched": nb, "fires": nk, "overlooked": nk,
        "method": 2, "divisions": 1, "substep": 1, "spring": nu, "damper": nu, "H": (6, nu), "limited": nu,
        "qe": nq, "ue": nu, "work": 9, "energies": 2, "moved": 1,
    }  # fmt: skip
    integers = {
        "rows",
        "pivots",
        "passive",
        "perm",
        "part",
        "good_mode",
        "counts",
        "earlier",
        "wanted",
        "touched",
        "fires",
        "overlooked",
        "method",
        "divisions",
        "moved",
    }
    return Workspace(
        **{name: np.zeros(shape, np.int64 if name in integers else float) for name, shape in shapes.items()}
    )
