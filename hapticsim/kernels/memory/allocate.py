"""State and input of a run at its start, and the sizes that the shapes of arrays.py name."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import numpy as np

from hapticsim.codes import MAX_EVENTS
from hapticsim.kernels.memory.arrays import MOST_IN_NEWTON, MOST_NEAR, Input, State


def sizes_of_run(
    nq: int,
    nu: int,
    nf: int = 1,
    nk: int = 0,
    nc: int = 0,
    nw: int = 0,
    ne: int = 0,
    nF: int = 0,
    nt: int = 1,
    max_rows: int = sys.maxsize,
    volumes: int = 0,
    ni: int = 0,
    nj: int = 0,
    ns: int = 0,
    nm: int = 0,
    ng: int = 0,
    nd: int = 0,
    certified: int = 5,
) -> dict[str, int]:
    """Return the sizes by their names (arrays.py); at most ``max_rows`` rows are imposed at once.

    ni : contacts of a scene where a tick may be a time step, or where bodies sleep, else 0.
    ns : trees of a scene where bodies sleep, else 0.
    nm : contacts of a scene with a mesh that may be touched, else 0.
    ng : contacts of a scene where one rubs, else 0.
    nd : contacts of a scene where a surface yields, else 0.
    certified : numbers of the certificate, one fewer where no balance of energy is kept.
    """
    given = {"nq": nq, "nu": nu, "nf": nf, "nk": nk, "nc": nc, "nw": nw, "ne": ne, "nF": nF, "nt": max(1, nt)}
    given |= {"volumes": volumes, "ni": ni, "nj": nj, "ns": ns, "nm": nm, "ng": ng, "nd": nd}
    given["certified"] = certified
    given["nz"] = min(ni, MOST_NEAR) if nj else 0
    given["ny"] = min(ng, MOST_NEAR)
    given["nn"] = min(nu, MOST_IN_NEWTON) if ng else 0
    return {**given, "nb": nk + nc, "nr": max(1, min(nw + 2 * ng, max_rows)), "places": 3 * MAX_EVENTS}


def state_at_start(
    sizes: Mapping[str, int],
    q0: np.ndarray,
    u0: np.ndarray,
    mode: np.ndarray,
    offset: np.ndarray,
    origin_W: np.ndarray,
) -> State:
    """A state at rest in contact terms: no contact imposed, disarmed.

    mode : (nb,) int, what the blocks do at the start.
    offset : (nw,) displacement at which the gap of each row is zero.
    """
    return State.zeros(
        sizes,
        q=np.array(q0),  # copied: what cannot be written to would make a state that cannot
        u=np.array(u0),
        mode=mode,
        order=np.arange(sizes["nu"]),
        combine=np.eye(sizes["nr"]),
        offset=offset,
        origin_W=np.array(origin_W),
        turn_offset=np.array([1.0, 0.0, 0.0, 0.0]),
    )


def input_at_start(sizes: Mapping[str, int]) -> Input:
    """No device, nothing asked for."""
    inp = Input.zeros(sizes, device_rotation=np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]))
    inp.device[6] = np.inf  # age of a sample
    return inp
