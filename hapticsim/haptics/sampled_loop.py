"""A device that nobody holds, on the coupler, with the handle held fast: whether it comes to rest.

The device is a mass m without friction.  Every T its position x is measured, and its velocity as the
difference of positions over a window w.  The force of that measurement is on the motors t_d later, for T:

    m x'' = F,    F(t) = -K x_k - B (x(kT) - x(kT - w)) / w,    kT + t_d <= t < (k + 1) T + t_d        (18)

t_d is j whole periods and a part phi of one, w is q whole periods and a part psi; the force changes inside a
period at phi, so that the mass moves by

    v_k+1 = v_k + (phi F_k-j-1 + (T - phi) F_k-j) / m
    x_k+1 = x_k + T v_k + ((phi T - phi^2 / 2) F_k-j-1 + (T - phi)^2 / 2 F_k-j) / m                    (19)

exactly.  In z this is one polynomial, whose largest root says how the swing of the device grows or dies.  A
handle that gives way takes force away from the device, and a hand, or friction of the device, takes energy:
neither is counted on.
"""

from __future__ import annotations

import math

import numpy as np

SHORTEST_WINDOW_S = 1e-4  # a velocity measured in itself is a difference over next to nothing


def characteristic(m: float, K: float, B: float, T: float, t_d: float, w: float) -> np.ndarray:
    """Coefficients of the polynomial of (18) and (19), highest power first; the first one is m."""
    j, q = math.floor(t_d / T + 1e-9), math.floor(w / T + 1e-9)
    phi, left = max(t_d - j * T, 0.0), T - max(w - q * T, 0.0)  # left: from q + 1 periods ago to x(kT - w)
    once, twice = np.array([1.0, -1.0]), np.array([1.0, -2.0, 1.0])  # z - 1 and its square
    speed = np.convolve(once, [T - phi, phi])  # m (z - 1)^2 v / F, over z^(j + 1)
    place = np.convolve(once, [0.5 * (T - phi) ** 2, phi * T - 0.5 * phi * phi])  # the same of x
    place[1:] += T * np.array([T - phi, phi])
    if left <= phi:
        since = [0.0, 0.5 * left * left]
    else:
        since = [0.5 * (left - phi) ** 2, phi * left - 0.5 * phi * phi]
    before = np.convolve(twice, since)  # what the forces did from there to x(kT - w)
    before[1:] += place + left * speed
    p = np.zeros(q + j + 5)  # m (z - 1)^2 z^(q + j + 2) and what the force adds
    p[:3] = m * twice
    p[j + 1 : j + 4] += (K + B / w) * place
    p[-4:] -= B / w * before
    return p


def growth(m: float, K: float, B: float, T: float, delays: tuple[float, ...], window: float) -> float:
    """Largest |z| of (19) for any of the delays [s]: above 1 the device swings by itself.

    m [kg], K [N/m], B [N s/m], T and window [s]; or an inertia and gains of a rotation.
    """
    return float(growths(np.array([m]), np.array([K]), np.array([B]), T, delays, window)[0])


def growths(
    m: np.ndarray, K: np.ndarray, B: np.ndarray, T: float, delays: tuple[float, ...], window: float
) -> np.ndarray:
    """``growth`` for many masses and gains at once, arrays (n,)."""
    w = max(window, SHORTEST_WINDOW_S)
    size = math.floor(w / T + 1e-9) + math.floor(max(delays) / T + 1e-9) + 4
    companion = np.zeros((len(m) * len(delays), size, size))
    companion[:, np.arange(1, size), np.arange(size - 1)] = 1.0
    for i in range(len(m)):
        for d, t_d in enumerate(delays):
            p = characteristic(m[i], K[i], B[i], T, t_d, w)
            companion[i * len(delays) + d, 0, : len(p) - 1] = -p[1:] / p[0]  # the rest are roots at zero
    largest = np.abs(np.linalg.eigvals(companion)).max(axis=1)
    return np.asarray(largest.reshape(len(m), len(delays)).max(axis=1))
