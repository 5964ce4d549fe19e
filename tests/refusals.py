"""What a call is refused with."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hapticsim.errors import WireError


def refusal(function: Callable, *arguments: object, **options: object) -> str:
    """The sentence of the WireError that a call raises."""
    with pytest.raises(WireError) as refused:
        function(*arguments, **options)
    return str(refused.value)
