"""Scenes with a closed answer meet it, and an answer that is not met is told."""

from __future__ import annotations

import sys
from typing import Any

import check_truth
import pytest
from check_truth import TRUTHS
from truth.bench import Bench, Quantity, Truth


@pytest.mark.parametrize("one", TRUTHS, ids=[one.name for one in TRUTHS])
def test_a_scene_meets_its_truth(one: Truth):
    found = check_truth.measured(one)
    for q in found["quantities"]:
        assert q["off"] <= q["allowed"], q
    assert found["quantities"] and found["residual"] <= check_truth.RESIDUAL and found["stepped"] == 0


def test_a_truth_that_is_missed_is_told_and_ends_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    one = next(one for one in TRUTHS if one.name == "two balls, unlike, e = 0.5")

    def off_by_two_millionths() -> tuple[Bench, list[Quantity]]:
        bench, quantities = one.measure()
        q = quantities[1]
        return bench, [Quantity(q.name, q.measured, q.true * (1.0 + 2e-6)), *quantities[2:]]

    def status(argument: str) -> Any:
        monkeypatch.setattr(sys, "argv", ["check_truth.py", argument])
        with pytest.raises(SystemExit) as ended:
            check_truth.main()
        return ended.value.code

    assert status("two balls") == 0
    assert "NOT MET" not in capsys.readouterr().out
    monkeypatch.setattr(check_truth, "TRUTHS", [Truth(one.name, one.source, off_by_two_millionths)])
    assert status("two balls") == 1
    assert "NOT MET" in capsys.readouterr().out
    assert "no scene has" in str(status("nothing of this name"))
