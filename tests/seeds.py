"""Seeds of a random search: a few in every run of the tests, all where there is time (``make test-long``)."""

from __future__ import annotations

import pytest
from _pytest.mark.structures import ParameterSet


def seeds(few: int, all_of_them: int) -> list[int | ParameterSet]:
    """0 to ``all_of_them``, of which those from ``few`` on have the mark ``long``."""
    later = (pytest.param(seed, marks=pytest.mark.long) for seed in range(few, all_of_them))
    return [*range(few), *later]
