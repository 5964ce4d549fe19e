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
    """Whether anything in the scene damps, or a stage was evaluated for another M than that of the start."""
    held = plan.handle_frame >= 0 and state.gain[0] > 0.0
    return held or plan.law_in_stages == 1 or plan.damping_rate > 0.0 or ws.method[0] != RUNGE_KUTTA


@kernel
def soften_mass(plan, state, inp, ws):
    """Make ws.M of the start of the tick, with the frames there in ws, the effective one."""
    h, springs = plan.tick_s, 1.0 if ws.method[0] == STIFF_SPRINGS else 0.0
    for r in range(ws.u0.size):
        m, c = ws.M[r, r], h * (plan.damping[r] + ws.damper[r])
        if c > 0.0 and m > 0.0:
            ws.M[r, r] += c / -math.expm1(-c / m) - m
        ws.M[r, r] += h * h * springs * ws.spring[r]
    if plan.handle_frame < 0 or state.gain[0] == 0.0:
        return
    gain, part = state.gain[0], 1.0 if ws.method[1] == 1 else 0.5
    write_handle_rates(plan, state, inp, ws, 0.0)
    K, B = springs * gain * inp.coupler[0], gain * inp.coupler[1]
    add_softness(plan, ws, 0, part * h * B + h * h * K, 0.0, 0.0, 0.0)
    if plan.coupled_rotation != 0:
        K, B = springs * gain * inp.rotation_coupler[0], gain * inp.rotation_coupler[1]
        add_softness(plan, ws, 3, part * h * B + h * h * K, 0.0, 0.0, 0.0)


@kernel
def factor_trees(plan, ws):
    """ws.L = the L D L' factor of ws.M, tree by tree; False where M is not positive definite."""
    done = True
    for t in range(plan.tree_first.size):
        done = ldl_factor_between(ws.M, plan.tree_first[t], plan.tree_end[t], ws.L) and done
    return done
