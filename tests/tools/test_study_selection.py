"""The study of the choice of speeds runs and meets what it measures itself by, times left aside."""

from __future__ import annotations

import pytest

from tests.tools.test_tools import numbers_of


@pytest.mark.long
def test_the_choice_is_good_where_the_largest_rows_are_not():
    found = numbers_of("study_selection.py", "--quick")
    targets = {name: t["met"] for name, t in found["targets"].items() if "[us]" not in name}
    assert len(targets) == 3 and all(targets.values()), found["targets"]
    ours, largest = (found["conditions"][way][-1] for way in ("choice kept", "largest rows"))
    assert ours < 10.0 < 100.0 < largest
