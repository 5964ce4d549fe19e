"""One scene with many values laid over it: what a sweep goes through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.config.load import load
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene


def load_variants(path: str | Path | Mapping[str, Any], values: Mapping[str, Sequence[Any]]) -> list[Scene]:
    """Read a scene once for every combination of values; the last key varies fastest.

    Parameters
    ----------
    path : as in ``load``.
    values : for every dotted key the values that it takes.

    Raises
    ------
    ConfigError : as ``load``, and for a key without a list of values.
    """
    if not isinstance(values, Mapping):
        raise ConfigError(
            "load_variants", "values", "are not usable: give a mapping of dotted keys to lists of values."
        )
    for key, given in values.items():
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
            problem = f"= {given!r:.60} is not a list of values: give one."
            raise ConfigError("load_variants", str(key), problem)
    return [load(path, dict(zip(values, chosen, strict=True))) for chosen in product(*values.values())]
