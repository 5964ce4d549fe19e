"""The campaign of faults sees what is broken: each bound, with a fault put in on purpose."""

from __future__ import annotations

import importlib
import math
import random
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def tool(campaign: Any) -> Any:
    """The program."""
    return importlib.import_module("fault_campaign")


@pytest.fixture
def campaign(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The list of all kinds."""
    tool = importlib.import_module("fault_campaign")
    for module in tool.MODULES:
        importlib.import_module(f"campaign.{module}")
    return importlib.import_module("campaign.kinds")


def broken(campaign, **fields) -> list[str]:
    return campaign.Trial(limit_N=12.0, **fields).broken()


def test_there_are_forty_kinds_and_more(campaign):
    assert len(campaign.KINDS) >= 40
    assert {kind.where for kind in campaign.KINDS.values()} == {
        "virtual time", "guard", "tick", "link", "processes"
    }  # fmt: skip


@pytest.mark.parametrize("side", ["device_s", "server_s"])
def test_zero_after_ten_milliseconds_is_late_unless_the_host_stood_still_for_the_rest(campaign, side):
    assert not broken(campaign, **{side: 0.0099})
    assert broken(campaign, **{side: 0.0101}) == [f"{side[:-2]}: zero after 10.1 ms"]
    assert not broken(campaign, **{side: 0.0150}, host_s=0.0051)
    assert broken(campaign, **{side: 0.0150}, host_s=0.0049)
    assert broken(campaign, **{side: math.inf}, host_s=5.0) == [f"{side[:-2]}: force stayed"]
    assert campaign.Trial(**{side: 0.015}, host_s=0.01).is_inconclusive
    assert not campaign.Trial(**{side: 0.009}, host_s=0.01).is_inconclusive


def test_more_than_the_clamp_a_larger_step_and_a_torn_recording_are_broken(campaign):
    assert not broken(campaign, largest_N=12.0, step_share=1.0, whole=True)
    assert broken(campaign, largest_N=12.001) == ["12.001 N where 12 N are allowed"]
    assert broken(campaign, step_N=3.0, step_share=1.5) == ["a step of 3.000 N, 1.5 times the slew limit"]
    assert broken(campaign, whole=False) == ["the recording is not whole"]


def test_a_sound_guard_passes_and_one_that_forgets_its_clamp_or_its_slew_does_not(campaign, monkeypatch):
    kind = campaign.KINDS["guard: anything at all"]
    guard = importlib.import_module("hapticsim_devices.guard")
    assert not any(trial.broken() for trial in kind.run(5, random.Random(1)))
    real = guard._bounded
    with monkeypatch.context() as fault:
        fault.setattr(guard, "_bounded", lambda wanted, size, limit, last, most: wanted)
        assert all(trial.broken() for trial in kind.run(5, random.Random(1)))
    with monkeypatch.context() as fault:
        fault.setattr(guard, "_bounded", lambda wanted, size, limit, last, most: real(
            wanted, size, limit, last, 3.0 * most))  # fmt: skip
        assert any("slew limit" in " ".join(t.broken()) for t in kind.run(5, random.Random(1)))


@pytest.mark.long
def test_a_silent_server_is_survived_and_a_bridge_without_a_time_out_is_found(campaign, monkeypatch):
    kind = campaign.KINDS["server silent 300 ms"]
    assert [trial.broken() for trial in kind.run(2, random.Random(1))] == [[], []]
    guard = importlib.import_module("hapticsim_devices.guard").ForceGuard
    real = guard.apply
    monkeypatch.setattr(
        guard, "apply",
        lambda self, force, mode, age_s, *rest, **more: real(
            self, force, mode, 0.0, *rest, **more | {"answered_s": 0.0}
        ),
    )  # fmt: skip
    (trial,) = kind.run(1, random.Random(1))
    assert math.isinf(trial.device_s) and "device: force stayed" in trial.broken()


def only(campaign, tool, monkeypatch, run) -> dict[str, Any]:
    """What is found where there is one kind."""
    monkeypatch.setattr(tool, "KINDS", {"k": campaign.Kind("k", "here", "does it", run)})
    return tool.measure(3, "", 1)


def test_what_a_stall_of_the_host_spoilt_is_tried_again_and_not_counted(campaign, tool, monkeypatch):
    asked = []

    def run(trials, rng):
        asked.append(trials)
        spoilt = campaign.Trial(device_s=0.030, host_s=0.025)
        yield from [spoilt] * (trials - 1) + [campaign.Trial(device_s=0.004)]

    found = only(campaign, tool, monkeypatch, run)["kinds"]["k"]
    assert asked == [3, 2, 1]
    assert (found["trials"], found["inconclusive"], found["broken"]) == (3, 3, 0)
    assert found["device_ms"] == pytest.approx([4.0, 4.0])
    assert found["inconclusive_ms"] == pytest.approx(30.0)


def test_a_kind_of_which_no_trial_can_be_judged_is_not_good(campaign, tool, monkeypatch):
    monkeypatch.setattr("sys.argv", ["fault_campaign.py", "--trials", "1", "--kind", "k"])

    def run(trials, rng):
        return [campaign.Trial(void="the force was off")] * trials

    monkeypatch.setattr(tool, "KINDS", {"k": campaign.Kind("k", "here", "does it", run)})
    with pytest.raises(SystemExit) as end:
        tool.main()
    assert end.value.code == tool.NOT_JUDGED


def test_a_broken_bound_is_not_excused_by_trials_that_are_tried_again(campaign, tool, monkeypatch):
    late, spoilt = campaign.Trial(device_s=0.012), campaign.Trial(device_s=0.012, host_s=0.003)
    monkeypatch.setattr("sys.argv", ["fault_campaign.py", "--trials", "2", "--kind", "k"])

    def run(trials, rng):
        return [late, spoilt]

    monkeypatch.setattr(tool, "KINDS", {"k": campaign.Kind("k", "here", "does it", run)})
    with pytest.raises(SystemExit) as end:
        tool.main()
    assert end.value.code == tool.BROKEN


@pytest.mark.parametrize(
    "worse",
    (
        {"largest_N": 12.1, "limit_N": 12.0},
        {"step_N": 3.0, "step_share": 1.5},
        {"whole": False},
        {"wrong": ["the hand did not start"]},
        {"device_s": math.inf},
    ),
    ids=lambda worse: next(iter(worse)),
)
def test_with_again_nothing_but_lateness_is_tried_a_second_time(campaign, tool, monkeypatch, worse):
    asked = []

    def run(number, rng):
        asked.append(number)
        return [campaign.Trial(**{"device_s": 0.012} | worse)] * number

    monkeypatch.setattr(tool, "KINDS", {"k": campaign.Kind("k", "here", "does it", run)})
    found = tool.measure(2, "", 1, again=True)["kinds"]["k"]
    assert asked == [2] and found["broken"] == 2 and found["broken_once"] == 0


@pytest.mark.parametrize(
    ("second", "status"), (("good", None), ("late", "BROKEN"), ("spoilt", "BROKEN")), ids=str
)
def test_with_again_a_kind_is_judged_by_a_second_try_that_can_be_judged(
    campaign, tool, monkeypatch, capsys, second, status
):
    trials = {
        "late": campaign.Trial(device_s=0.012),
        "good": campaign.Trial(device_s=0.004),
        "spoilt": campaign.Trial(void="the force was off"),
    }
    asked = []

    def run(number, rng):
        asked.append(number)
        return [trials["late" if len(asked) == 1 else second]] * number

    monkeypatch.setattr("sys.argv", ["fault_campaign.py", "--trials", "2", "--kind", "k", "--again"])
    monkeypatch.setattr(tool, "KINDS", {"k": campaign.Kind("k", "here", "does it", run)})
    if status is None:
        tool.main()
        assert "2, then 0" in capsys.readouterr().out
    else:
        with pytest.raises(SystemExit) as end:
            tool.main()
        assert end.value.code == getattr(tool, status)


def test_a_kind_that_raises_is_broken_and_the_others_are_tried(campaign, tool, monkeypatch):
    def raises(trials, rng):
        yield campaign.Trial()
        raise RuntimeError("the hand did not start")

    kinds = {n: campaign.Kind(n, "here", "does it", run) for n, run in (
        ("a", raises), ("b", lambda trials, rng: [campaign.Trial()] * trials)
    )}  # fmt: skip
    monkeypatch.setattr(tool, "KINDS", kinds)
    found = tool.measure(2, "", 1)["kinds"]
    assert found["a"]["broken"] == 1 and found["a"]["examples"] == ["RuntimeError: the hand did not start"]
    assert found["b"]["trials"] == 2 and found["b"]["broken"] == 0


def test_control_c_ends_with_what_was_found_so_far(campaign, tool, monkeypatch):
    def interrupted(trials, rng):
        yield campaign.Trial(device_s=0.005)
        raise KeyboardInterrupt

    found = only(campaign, tool, monkeypatch, interrupted)
    assert found["interrupted"] and found["kinds"]["k"]["trials"] == 1


def test_each_strike_finds_its_own_silence_on_another_clock(campaign):
    site = importlib.import_module("campaign.site")
    rng = random.Random(3)
    struck = [1000.0 + 0.3 * n + rng.uniform(0.0, 0.1) for n in range(25)]
    silent = [(t - 990.0 - rng.uniform(0.0, 0.001), 0.009 + 1e-5 * n) for n, t in enumerate(struck)]
    missed = silent.pop(7)
    silent += [(missed[0] + 0.1, 0.5), (0.4, 0.3)]  # of something else
    ages = site.silence_of_each(struck, np.array(sorted(silent)))
    assert math.isnan(ages[7])
    assert [a for n, a in enumerate(ages) if n != 7] == [a for _, a in silent[:-2]]


def test_a_bridge_that_does_not_see_that_it_was_suspended_is_found(campaign, monkeypatch):
    kind = campaign.KINDS["computer of the device suspended"]
    assert [trial.broken() for trial in kind.run(1, random.Random(1))] == [[]]
    monkeypatch.setattr("hapticsim_devices.pacing.SleepDetector.slept_s", lambda self: 0.0)
    (trial,) = kind.run(1, random.Random(1))
    assert any("force" in words for words in trial.broken())


def test_a_tick_that_compares_requests_by_their_difference_is_found(campaign, monkeypatch):
    kind = campaign.KINDS["requests that run backwards"]
    assert not any(trial.broken() for trial in kind.run(3, random.Random(1)))
    tick = importlib.import_module("campaign.tick_kinds")
    step = tick.hs.Simulation.step

    def forgetful(sim, n=1):
        if sim._input.requests[0] != sim._state.safety[2]:
            sim._state.safety[2] = sim._input.requests[0] - 1
        step(sim, n)

    monkeypatch.setattr(tick.hs.Simulation, "step", forgetful)
    found = [words for trial in kind.run(3, random.Random(1)) for words in trial.broken()]
    assert "armed by a count that did not rise" in found


def test_a_remote_site_that_keeps_the_hand_of_the_operator_before_is_found(campaign, monkeypatch):
    kind = campaign.KINDS["operator started again"]
    assert not any(trial.broken() for trial in kind.run(1, random.Random(1)))
    monkeypatch.setattr("hapticsim.teleop.remote_site.without_hand", lambda assembly, packed: packed.copy())
    (trial,) = kind.run(1, random.Random(1))
    assert "the remote site was armed and nobody had engaged" in trial.broken()
