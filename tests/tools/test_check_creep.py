"""A box on a ramp stays where it is, which is told beside what creeps."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import check_creep
import pytest


def test_nothing_of_ours_creeps_and_what_does_is_seen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    out = tmp_path / "creep.json"
    monkeypatch.setattr(sys, "argv", ["check_creep.py", "--seconds", "1", "--json", str(out)])
    with pytest.raises(SystemExit) as ended:
        check_creep.main()
    assert ended.value.code == 0
    boxes = json.loads(out.read_text())["boxes"]
    assert {name for name, box in boxes.items() if box["way_m"] > 1e-12} <= set(check_creep.THEIRS)
    assert 300.0 < boxes["MuJoCo, elliptic"]["um_per_s"] < 600.0, "published: 444"


def test_a_wrong_time_is_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(sys, "argv", ["check_creep.py", "--seconds", "soon"])
    with pytest.raises(SystemExit):
        check_creep.main()
    assert "'soon' is no number of seconds: give one above 0, as 10" in capsys.readouterr().err
