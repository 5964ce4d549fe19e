"""One row of numbers per tick: what recorder, publisher and replay share."""

from __future__ import annotations

from collections.abc import Sequence

from hapticsim.kernels.jit import kernel

FIXED = (
    "time_s", "tick",
    "device_x_m", "device_y_m", "device_z_m",
    "device_vx_m_per_s", "device_vy_m_per_s", "device_vz_m_per_s",
    "device_age_s", "device_present", "arm_requests", "disarm_requests",
    "coupler_stiffness_N_per_m", "coupler_damping_Ns_per_m", "force_limit_N",
    "safety", "fault", "gain",
    "hand_force_x_N", "hand_force_y_N", "hand_force_z_N",
    "coupler_x_N", "coupler_y_N", "coupler_z_N",
    "anchor_x_m", "anchor_y_m", "anchor_z_m",
    "handle_x_m", "handle_y_m", "handle_z_m",
    "lateness_us", "execution_us",
)  # fmt: skip
WIDTH = len(FIXED)
PLACE = {name: i for i, name in enumerate(FIXED)}


def row_columns(nq: int, nu: int, contacts: Sequence[str]) -> list[str]:
    """Names of all columns of a run: the fixed ones, q, u, then gap and force of each contact candidate."""
    return [
        *FIXED,
        *(f"q{i}" for i in range(nq)),
        *(f"u{r}" for r in range(nu)),
        *(f"gap_m[{c}]" for c in contacts),
        *(f"force_N[{c}]" for c in contacts),
    ]


@kernel
def fill_row(state, inp, out, row, time_s, tick, late_ns, execution_ns):
    """Write the sample of the tick just taken; the columns are those of row_columns."""
    row[0] = time_s
    row[1] = tick
    for j in range(8):
        row[2 + j] = inp.device[j]
    row[10] = inp.requests[0]
    row[11] = inp.requests[1]
    for j in range(3):
        row[12 + j] = inp.coupler[j]
        row[18 + j] = out.hand_force_D[j]
        row[21 + j] = out.coupler_W[j]
        row[24 + j] = out.anchor_W[j]
        row[27 + j] = out.handle_W[j]
    row[15] = state.safety[0]
    row[16] = state.safety[1]
    row[17] = state.gain[0]
    row[30] = late_ns * 1e-3
    row[31] = execution_ns * 1e-3
    nq, nu, nk = out.q.size, out.u.size, out.gap.size
    for j in range(nq):
        row[WIDTH + j] = out.q[j]
    for j in range(nu):
        row[WIDTH + nq + j] = out.u[j]
    for k in range(nk):
        row[WIDTH + nq + nu + k] = out.gap[k]
        row[WIDTH + nq + nu + nk + k] = out.contact_force[k]
