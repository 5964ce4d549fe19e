"""How kernels are compiled: without the GIL, and with a division by zero that gives infinity.

By default numba raises ZeroDivisionError, which would leave a tick half done; infinity is found at its end
and refused.
"""

from __future__ import annotations

from numba import njit

kernel = njit(nogil=True, error_model="numpy")
inlined = njit(nogil=True, error_model="numpy", forceinline=True)
