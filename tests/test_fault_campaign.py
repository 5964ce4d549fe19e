"""The campaign of faults sees what is broken: each bound, with a fault put in on purpose."""

from __future__ import annotations

import importlib
import math
import random
from pathlib import Path
from typing import Any

import pytest

TOOLS = Path(__file__).parents[1] / "tools"


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The list of all kinds."""
    monkeypatch.syspath_prepend(str(TOOLS))
    tool = importlib.import_module("fault_campaign")
    for module in tool.MODULES:
        importlib.import_module(f"campaign.{module}")
    return importlib.import_module("campaign.kinds")


def broken(campaign, **fields) -> list[str]:
    return campaign.Trial(limit_N=12.0, **fields).broken()


def test_there_are_forty_kinds_and_more(campaign):
    assert len(campaign.KINDS) >= 40
    assert {"virtual time", "guard", "processes"} <= {kind.where for kind in campaign.KINDS.values()}


@pytest.mark.parametrize("side", ["device_s", "server_s"])
def test_zero_after_ten_milliseconds_is_late_unless_the_host_stood_still_for_the_rest(campaign, side):
    assert not broken(campaign, **{side: 0.0099})
    assert broken(campaign, **{side: 0.0101}) == [f"{side[:-2]}: zero after 10.1 ms"]
    assert not broken(campaign, **{side: 0.0150}, host_s=0.0051)
    assert broken(campaign, **{side: 0.0150}, host_s=0.0049)
    assert broken(campaign, **{side: math.inf}, host_s=5.0) == [f"{side[:-2]}: force stayed"]
    assert campaign.Trial(**{side: 0.015}, host_s=0.01).is_hosts
    assert not campaign.Trial(**{side: 0.009}, host_s=0.01).is_hosts


def test_more_than_the_clamp_a_larger_step_and_a_torn_recording_are_broken(campaign):
    assert not broken(campaign, largest_N=12.0, step_share=1.0, whole=True)
    assert broken(campaign, largest_N=12.001) == ["12.001 N where 12 N are allowed"]
    assert broken(campaign, step_N=3.0, step_share=1.5) == ["a step of 3.000 N, 1.5 times the slew limit"]
    assert broken(campaign, whole=False) == ["the recording is not whole"]


def test_a_sound_guard_passes_and_one_that_forgets_its_clamp_or_its_slew_does_not(campaign, monkeypatch):
    kind = campaign.KINDS["guard: anything at all"]
    guard = importlib.import_module("devices.guard")
    assert not any(trial.broken() for trial in kind.run(5, random.Random(1)))
    real = guard._bounded
    with monkeypatch.context() as fault:
        fault.setattr(guard, "_bounded", lambda wanted, size, limit, last, most: wanted)
        assert all(trial.broken() for trial in kind.run(5, random.Random(1)))
    with monkeypatch.context() as fault:
        fault.setattr(guard, "_bounded", lambda wanted, size, limit, last, most: real(
            wanted, size, limit, last, 3.0 * most))  # fmt: skip
        assert any("slew limit" in " ".join(t.broken()) for t in kind.run(5, random.Random(1)))


def test_a_silent_server_is_survived_and_a_bridge_without_a_time_out_is_found(campaign, monkeypatch):
    kind = campaign.KINDS["server silent 300 ms"]
    assert [trial.broken() for trial in kind.run(2, random.Random(1))] == [[], []]
    guard = importlib.import_module("devices.guard").ForceGuard
    real = guard.apply
    monkeypatch.setattr(
        guard, "apply",
        lambda self, force, mode, age_s, *rest, **more: real(
            self, force, mode, 0.0, *rest, **more | {"answered_s": 0.0}
        ),
    )  # fmt: skip
    (trial,) = kind.run(1, random.Random(1))
    assert math.isinf(trial.device_s) and "device: force stayed" in trial.broken()
