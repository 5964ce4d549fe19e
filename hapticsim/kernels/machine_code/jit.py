"""How kernels are compiled: without the GIL, unable to allocate, and a division by zero gives infinity.

By default numba raises ZeroDivisionError, which would leave a tick half done; infinity is found at its end
and refused.

Without numba's runtime (``_nrt``) a kernel that would allocate does not compile, and references to arrays are
not counted at each call: a tick in contact takes a tenth less.

``inlined`` is for what a stage calls, and for what is a line or two: an array passes as nine words, so that
calls with arrays took a tenth of a tick.
"""

from __future__ import annotations

from typing import Any

from numba import njit

OPTIONS: dict[str, Any] = {"error_model": "numpy", "_nrt": False}

kernel = njit(nogil=True, **OPTIONS)
inlined = njit(nogil=True, forceinline=True, **OPTIONS)
