"""One row of numbers per tick: what recorder, publisher and replay share."""

from __future__ import annotations

from collections.abc import Container, Sequence

from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.memory.arrays import FAULTS, MODE

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
    "device_qw", "device_qx", "device_qy", "device_qz",
    "device_wx_rad_per_s", "device_wy_rad_per_s", "device_wz_rad_per_s",
    "coupler_stiffness_Nm_per_rad", "coupler_damping_Nms_per_rad", "torque_limit_Nm",
    "hand_torque_x_Nm", "hand_torque_y_Nm", "hand_torque_z_Nm",
    "coupler_torque_x_Nm", "coupler_torque_y_Nm", "coupler_torque_z_Nm",
    "turn_offset_qw", "turn_offset_qx", "turn_offset_qy", "turn_offset_qz",
    "link_late_s",
    "device_flags", "tick_gap_s", "suspended_s",
    "interruptions", "longest_interruption_s",
)  # fmt: skip
WIDTH = len(FIXED)
PLACE = {name: i for i, name in enumerate(FIXED)}

# Where the numbers of an array begin.
DEVICE, REQUESTS, COUPLER = PLACE["device_x_m"], PLACE["arm_requests"], PLACE["coupler_stiffness_N_per_m"]
SAFETY, FAULT, GAIN = PLACE["safety"], PLACE["fault"], PLACE["gain"]
HAND_FORCE, COUPLER_FORCE = PLACE["hand_force_x_N"], PLACE["coupler_x_N"]
ANCHOR, HANDLE, LATENESS, EXECUTION = (
    PLACE["anchor_x_m"], PLACE["handle_x_m"], PLACE["lateness_us"], PLACE["execution_us"],
)  # fmt: skip
ROTATION, ROTATION_COUPLER = PLACE["device_qw"], PLACE["coupler_stiffness_Nm_per_rad"]
HAND_TORQUE, COUPLER_TORQUE = PLACE["hand_torque_x_Nm"], PLACE["coupler_torque_x_Nm"]
TURN_OFFSET, LINK_LATE, FLAGS = PLACE["turn_offset_qw"], PLACE["link_late_s"], PLACE["device_flags"]
GAP, INTERRUPTIONS = PLACE["tick_gap_s"], PLACE["interruptions"]

CERTIFICATE = (
    "certificate_depth_m", "certificate_cone_N", "certificate_normal_m_per_s",
    "certificate_friction_m_per_s", "certificate_gain_J",
)  # fmt: skip
MASK_BITS = 52  # of the speeds that a number can hold one bit each of


def row_columns(
    nq: int,
    nu: int,
    contacts: Sequence[str],
    constraints: Sequence[str] = (),
    rows: Sequence[str] = (),
    rubs: bool = False,
    turning: Container[int] = (),
    certificate: Sequence[str] = CERTIFICATE,
) -> list[str]:
    """Names of all columns of a run.

    The fixed ones, q, u, gap and force of each contact candidate, then what is about constraints: rank,
    number of rows, which speeds are dependent (a sum of 2^r), what was asked and what each does, gap and
    force of each of their rows; where contacts rub the friction of each contact candidate; last the
    certificate.  What a later version adds comes after these.

    turning : contacts whose gap is an angle: stops of joints that turn.
    certificate : without the gain of energy where no balance is kept.
    """
    return [
        *FIXED,
        *(f"q{i}" for i in range(nq)),
        *(f"u{r}" for r in range(nu)),
        *(f"{'gap_rad' if k in turning else 'gap_m'}[{c}]" for k, c in enumerate(contacts)),
        *(f"{'force_Nm' if k in turning else 'force_N'}[{c}]" for k, c in enumerate(contacts)),
        "rank",
        "rows",
        "dependent",
        *(f"switch[{c}]" for c in constraints),
        *(f"hold[{c}]" for c in constraints),
        *(f"row_gap[{r}]" for r in rows),
        *(f"row_force[{r}]" for r in rows),
        *(f"friction_{axis}_N[{c}]" for c in contacts if rubs for axis in "xyz"),
        *certificate,
    ]


@kernel
def fill_row(state, inp, out, row, time_s, tick, late_ns, execution_ns):
    """Write the sample of the tick just taken; the columns are those of row_columns."""
    row[0] = time_s
    row[1] = tick
    for j in range(8):
        row[DEVICE + j] = inp.device[j]
    for j in range(2):
        row[REQUESTS + j] = inp.requests[j]
        row[GAP + j] = inp.gap[j]
        row[INTERRUPTIONS + j] = state.interruption[2 + j]
    for j in range(3):
        row[COUPLER + j] = inp.coupler[j]
        row[ROTATION_COUPLER + j] = inp.rotation_coupler[j]
        row[HAND_FORCE + j] = out.hand_force_D[j]
        row[HAND_TORQUE + j] = out.hand_torque_D[j]
        row[COUPLER_FORCE + j] = out.coupler_W[j]
        row[COUPLER_TORQUE + j] = out.coupler_torque_W[j]
        row[ANCHOR + j] = out.anchor_W[j]
        row[HANDLE + j] = out.handle_W[j]
    for j in range(7):
        row[ROTATION + j] = inp.device_rotation[j]
    for j in range(4):
        row[TURN_OFFSET + j] = state.turn_offset[j]
    row[SAFETY] = state.safety[MODE]
    row[FAULT] = state.safety[FAULTS]
    row[GAIN] = state.gain[0]
    row[LATENESS] = late_ns * 1e-3
    row[EXECUTION] = execution_ns * 1e-3
    row[LINK_LATE] = inp.link[0]
    row[FLAGS] = inp.flags[0]
    nq, nu, nk = out.q.size, out.u.size, out.normal_W.shape[0]
    for j in range(nq):
        row[WIDTH + j] = out.q[j]
    for j in range(nu):
        row[WIDTH + nq + j] = out.u[j]
    for k in range(nk):
        row[WIDTH + nq + nu + k] = out.gap[k]
        row[WIDTH + nq + nu + nk + k] = out.force[k]
    n = WIDTH + nq + nu + 2 * nk
    row[n] = state.rank[0]
    row[n + 1] = state.rank[1]
    mask = 0
    for i in range(state.rank[0]):
        if state.order[i] < MASK_BITS:
            mask |= 1 << state.order[i]
    row[n + 2] = mask
    n += 3
    nc, rows = inp.switch.size, out.gap.size - nk
    for c in range(nc):
        row[n + c] = inp.switch[c]
        row[n + nc + c] = state.mode[nk + c]
    n += 2 * nc
    for k in range(rows):
        row[n + k] = out.gap[nk + k]
        row[n + rows + k] = out.force[nk + k]
    n += 2 * rows
    for k in range(out.friction_W.shape[0]):
        for c in range(3):
            row[n + 3 * k + c] = out.friction_W[k, c]
    n += 3 * out.friction_W.shape[0]
    for j in range(out.certificate.size):
        row[n + j] = out.certificate[j]
