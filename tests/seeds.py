"""Cases of a test: some in every run of the tests, all where there is time (``make test-long``)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def with_long(some: Iterable[Any], later: Iterable[Any]) -> list[Any]:
    """All cases, of which the later ones have the mark ``long``."""
    return [*some, *(pytest.param(case, marks=pytest.mark.long) for case in later)]


def seeds(few: int, all_of_them: int) -> list[Any]:
    """0 to ``all_of_them``, of which those from ``few`` on have the mark ``long``."""
    return with_long(range(few), range(few, all_of_them))
