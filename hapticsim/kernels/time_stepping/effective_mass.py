"""The mass matrix that an impulse over a tick meets: what is damped gives way less.

Of m u' + c u = f a constant force f changes the speed in h seconds as if the mass were

    m a / (1 - exp(-a)),   a = h c / m

which is m + h c / 2 where a is small, and h c where it is large.  Dampers of joints and laws count so, each
with its own diagonal entry of M for m; stiff springs and a coupler as in the linearly implicit step
(motion/stiffness.py).
"""

from __future__ import annotations

import math

from hapticsim.kernels.linalg.linear import ldl_factor_between
from hapticsim.kernels.machine_code.jit import kernel
from hapticsim.kernels.motion.stiffness import (
    RUNGE_KUTTA,
    STIFF_SPRINGS,
    add_softness,
    write_handle_rates,
)


@kernel
def is_damped(plan, state, ws):
    """Whether anything in the scene damps, or is stiff."""
    held = plan.handle_frame >= 0 and state.gain[0] > 0.0
    return held or plan.law_in_stages == 1 or plan.damping_rate > 0.0 or ws.method[0] != RUNGE_KUTTA


@kernel
def soften_mass(plan, state, inp, ws, M):
    """Make M, the mass matrix at the frames in ws, the effective one."""
    h, springs = plan.tick_s, 1.0 if ws.method[0] == STIFF_SPRINGS else 0.0
    for r in range(ws.u0.size):
        m, c = M[r, r], h * (plan.damping[r] + ws.damper[r])
        if c > 0.0 and m > 0.0:
            M[r, r] += c / -math.expm1(-c / m) - m
        M[r, r] += h * h * springs * ws.spring[r]
    if plan.handle_frame < 0 or state.gain[0] == 0.0:
        return
    gain, part = state.gain[0], 1.0 if ws.method[1] == 1 else 0.5
    write_handle_rates(plan, state, inp, ws, 0.0)
    K, B = springs * gain * inp.coupler[0], gain * inp.coupler[1]
    add_softness(plan, ws, M, 0, part * h * B + h * h * K, 0.0, 0.0, 0.0)
    if plan.coupled_rotation != 0:
        K, B = springs * gain * inp.rotation_coupler[0], gain * inp.rotation_coupler[1]
        add_softness(plan, ws, M, 3, part * h * B + h * h * K, 0.0, 0.0, 0.0)


@kernel
def factor_effective_mass(plan, state, inp, ws):
    """ws.L = the L D L' factor of the effective mass matrix, tree by tree; False where that is not positive
    definite.

    Expects M and the frames at the start of the tick in ws; M stays.
    """
    for t in range(plan.tree_first.size):
        begin, end = plan.tree_first[t], plan.tree_end[t]
        for r in range(begin, end):
            for c in range(begin, end):
                ws.L[r, c] = ws.M[r, c]
    if is_damped(plan, state, ws):
        soften_mass(plan, state, inp, ws, ws.L)
    done = True
    for t in range(plan.tree_first.size):
        done = ldl_factor_between(ws.L, plan.tree_first[t], plan.tree_end[t], ws.L) and done
    return done
