"""What a compliant contact pushes back with, by how deep it is and how fast it closes.

    f = K d^n + D d^p d_dot, never below 0

with d the depth.  n = 1, p = 0 is the spring and damper of Kelvin and Voigt; n = p = 3/2 is Hunt and Crossley
(1975), n = 3/2, p = 1/2 Azad and Featherstone (2010).  Along the surface the ground has the stiffness
r K d^(n-1) and the damping r D d^p.
"""

from __future__ import annotations

import math

from hapticsim.kernels.machine_code.jit import inlined

# Plan.compliance: K [N/m^n], n, D [N s/m^(1+p)], p, r, coefficient of friction, most 1 / mass that a force
# there may find [1/kg], time in which ground that bears nothing recovers [s]
STIFFNESS, EXPONENT, DAMPING, DAMPING_EXPONENT, ALONG, COEFFICIENT, MOBILITY, RECOVERS_IN = range(8)
TOUCHING = 1e-11  # [m] what is this near touches: a piece ends where a gap closes, to rounding


@inlined
def normal_force(plan, k, depth, closing):
    """f [N] of contact k, which is ``depth`` [m] deep and closes with ``closing`` [m/s]."""
    c = plan.compliance[k]
    spring = c[STIFFNESS] * depth ** c[EXPONENT]
    return max(spring + c[DAMPING] * depth ** c[DAMPING_EXPONENT] * closing, 0.0)


@inlined
def stiffness_at(plan, k, depth):
    """df/dd [N/m] of its spring."""
    c = plan.compliance[k]
    return c[EXPONENT] * c[STIFFNESS] * depth ** (c[EXPONENT] - 1.0)


@inlined
def damping_at(plan, k, depth):
    """df/dd_dot [N s/m]."""
    c = plan.compliance[k]
    return c[DAMPING] * depth ** c[DAMPING_EXPONENT]


@inlined
def depth_of_impact(plan, k, speed):
    """How deep [m] an impact at this speed [m/s] goes in without damping: m v^2 / 2 = K d^(n+1) / (n+1)."""
    c = plan.compliance[k]
    n, mobility = c[EXPONENT], c[MOBILITY]
    if not mobility > 0.0:
        return math.inf
    return (0.5 * (n + 1.0) * speed * speed / (c[STIFFNESS] * mobility)) ** (1.0 / (n + 1.0))
