"""How kernels are compiled: without the GIL, and with a division by zero that gives infinity.

By default numba raises ZeroDivisionError, which would leave a tick half done; infinity is found at its end
and refused.

``inlined`` is for what a stage calls, and for what is a line or two: an array passes as nine words, so that
calls with arrays took a tenth of a tick.
"""

from __future__ import annotations

from numba import njit

kernel = njit(nogil=True, error_model="numpy")
inlined = njit(nogil=True, error_model="numpy", forceinline=True)
