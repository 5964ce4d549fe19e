"""A kernel that is called by address: its function, its signature, and where another process finds it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba.core.typing.templates import Signature

from hapticsim.kernels.machine_code.jit import OPTIONS


@dataclass(frozen=True, eq=False)
class Called:
    """One such kernel; what is declared can be compiled in a process of its own (beside.py).

    Attributes
    ----------
    function : a function of hapticsim, not compiled.
    signature : what it is called with, exactly.
    declared_in : the module whose import makes this declaration.
    """

    function: Callable
    signature: Signature
    declared_in: str

    def __post_init__(self) -> None:
        DECLARED[self.path] = self

    @property
    def options(self) -> dict[str, Any]:
        """How it is compiled (jit.py)."""
        return OPTIONS

    @property
    def path(self) -> str:
        """Where it is declared, and the name of the function."""
        return f"{self.declared_in}:{self.function.__name__}"


DECLARED: dict[str, Called] = {}
