"""Table 2 of the paper on formulation stiffness: every printed number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


@pytest.fixture(name="table")
def _table(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(TOOLS))
    return __import__("stiffness_table_2")


def test_the_program_of_the_paper_gives_every_printed_number(table):
    for row, printed in table.TABLE_2.items():
        found = table.paper_program(*row)
        assert list(found) == list(table.PROGRAMS)
        for one, theirs in zip(found.values(), printed, strict=True):
            assert table.is_as_printed(one, theirs), row


@pytest.mark.parametrize("one", [(1.04, 941.76), (1.03, None), (1.03, 941.80)])
def test_other_numbers_are_not_taken_for_the_printed_ones(table, one):
    assert not table.is_as_printed(one, table.Printed(1.03, 941.76))
