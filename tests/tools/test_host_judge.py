"""A test against the clock fails where the code is at fault, and is set aside where the host stood still."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import pytest

from hapticsim.realtime.probe import HostProbe, Stall, stood_still_s
from tests.host_judge import AWAY, EXPLAINS_S, RUN_AGAIN, SHARE, Excuse, Host, HostJudge
from tools.processor_time import others_s

pytest_plugins = ["pytester"]

STALL = Excuse("the host stood still 1 times, 12.3 ms at most", 0.01)
GONE = Excuse("the host stood still 90 times, 123.4 ms at most", AWAY)
ALL = RUN_AGAIN + 1
ELSEWHERE = """if len(runs) % 2:
        assert 1 == 2
    assert 3 == 4"""
FAILING = """
import pytest
runs = []
@pytest.fixture
def ground():
    {setup}
    yield
    {teardown}
@pytest.mark.clock
def test_it(ground):
    runs.append(1)
    {body}
def test_it_ran_so_often():
    assert len(runs) == {times}
"""
# Stops every processor: what a hypervisor does to a virtual computer.
STOP_ALL = """
import os, sys, threading, time
def spin(processor):
    os.sched_setaffinity(threading.get_native_id(), {processor})
    os.sched_setscheduler(threading.get_native_id(), os.SCHED_FIFO, os.sched_param(95))
    end = time.monotonic() + 0.03
    while time.monotonic() < end:
        pass
sys.setswitchinterval(10.0)
spin(int(sys.argv[1]))
"""


class Said:
    """A witness that says what it is told to, one excuse for each attempt."""

    def __init__(self, excuses: list[Excuse | None]) -> None:
        self._excuses = excuses

    def __enter__(self) -> Said:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def excuse(self) -> Excuse | None:
        return self._excuses.pop(0)


def judged(pytester, excuses, body="assert 1 == 2", times=1, setup="pass", teardown="pass"):
    """Run a test of its own under a judge that hears these excuses, and count how often it ran."""
    pytester.makepyfile(FAILING.format(body=body, times=times, setup=setup, teardown=teardown))
    judge = HostJudge(lambda: Said(excuses), rest_s=0.0)
    return pytester.runpytest_inprocess("-rs", "-W", "ignore", plugins=[judge]), judge


def test_a_failure_without_a_stall_is_a_failure_at_once(pytester):
    result, judge = judged(pytester, [None])
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2*"])
    assert not judge.again and not judge.inconclusive


def test_a_failure_that_repeats_in_the_same_place_is_one_whatever_the_host_does_now_and_then(pytester):
    result, judge = judged(pytester, ALL * [STALL], times=ALL)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(
        [f"*failed in this place {ALL} times of {ALL}; in the last of them the host*"]
    )
    assert len(judge.again) == RUN_AGAIN and not judge.inconclusive


def test_failures_in_several_places_beside_stalls_are_skipped_with_the_figure(pytester):
    result, judge = judged(pytester, ALL * [STALL], body=ELSEWHERE, times=ALL)
    result.assert_outcomes(skipped=1, passed=1)
    result.stdout.fnmatch_lines(["SKIPPED*inconclusive on this host: the host stood still 1 times, 12.3 ms*"])
    result.stdout.fnmatch_lines(["*test_it: the host stood still*it failed with: assert 3 == 4"])
    assert len(judge.again) == RUN_AGAIN and len(judge.inconclusive) == 1


def test_a_host_that_is_away_explains_a_failure_that_repeats_if_it_is_in_every_run(pytester):
    result, _ = judged(pytester, ALL * [GONE], times=ALL)
    result.assert_outcomes(skipped=1, passed=1)
    result, _ = judged(pytester, [STALL, *RUN_AGAIN * [GONE]], times=ALL)
    result.assert_outcomes(failed=1, passed=1)


def test_a_test_that_takes_long_is_not_run_again_for_ever(pytester, monkeypatch):
    monkeypatch.setattr("tests.host_judge.PATIENCE_S", 0.0)
    result, judge = judged(pytester, [STALL], times=1)
    result.assert_outcomes(failed=1, passed=1)
    assert not judge.again


def test_a_failure_beside_a_stall_is_a_failure_where_it_repeats_without_one(pytester):
    result, _ = judged(pytester, [STALL, None], times=2)
    result.assert_outcomes(failed=1, passed=1)


def test_a_test_that_passes_in_a_second_run_has_passed_and_is_told(pytester):
    result, judge = judged(pytester, [STALL], body="assert len(runs) == 2", times=2)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*run again beside a stall of the host*"])
    assert len(judge.again) == 1


@pytest.mark.parametrize("part", ["setup", "teardown"])
def test_a_fixture_that_fails_beside_stalls_is_inconclusive_and_without_one_an_error(pytester, part):
    wrong = {part: "raise OSError('gone')"}
    times = 0 if part == "setup" else ALL
    result, _ = judged(pytester, ALL * [GONE], body="pass", times=times, **wrong)
    assert result.parseoutcomes().get("errors", 0) == 0 and result.parseoutcomes()["skipped"] == 1
    result, _ = judged(pytester, [None], body="pass", times=min(times, 1), **wrong)
    assert result.parseoutcomes()["errors"] == 1


def test_a_test_that_passes_hears_no_excuse_and_others_have_no_judge(pytester):
    result, _ = judged(pytester, [], body="pass", times=1)  # an empty list: asking would raise
    result.assert_outcomes(passed=2)


@pytest.mark.clock(alone=True)
@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="needs processors one can choose")
def test_a_stall_of_every_processor_is_seen_with_its_length():
    with HostProbe() as probe:
        if not probe.has_priority:
            pytest.skip("SCHED_FIFO is not permitted here")
    with Host() as host:
        began = time.monotonic()
        spinners = [
            subprocess.Popen([sys.executable, "-c", STOP_ALL, str(p)])
            for p in sorted(os.sched_getaffinity(0))
        ]
        for spinner in spinners:
            assert spinner.wait(20.0) == 0
    excuse = host.excuse()
    assert excuse is not None and "the host stood still" in excuse.words
    for processor in sorted(os.sched_getaffinity(0)):
        stalls = [s for s in host._host.stalls() if s.processor == processor and s.start_s > began]
        assert max(s.length_s for s in stalls) > 0.025


@pytest.mark.clock(alone=True)
def test_threads_of_our_own_that_run_away_excuse_nothing():
    """Processes that this test started keep all processors busy: ordinary threads wait, by our own fault."""
    busy = "import os, time\nend = time.monotonic() + 1.0\nwhile time.monotonic() < end: pass"
    number = 8 * (os.cpu_count() or 1)
    for _ in range(3):
        with Host() as host:
            children = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(number)]
            for child in children:
                child.wait(20.0)
        waited_s = max(host._ordinary.delayed_s())
        worst_s = max((s.length_s for s in host._ordinary.stalls()), default=0.0)
        waited = worst_s >= EXPLAINS_S or waited_s >= SHARE * host.took_s
        stalled = any(s.length_s >= EXPLAINS_S for s in host._host.stalls())
        if waited and not stalled and host.others_s < 0.4 * waited_s:
            break
    else:
        pytest.skip("the host stood still, other programs were busy or nothing waited in each of three runs")
    assert host.excuse() is None


def test_processor_time_of_a_child_is_ours_while_it_runs_and_after():
    busy = "import time\nwhile time.process_time() < 0.6: pass\nprint(1, flush=True)\ninput()"
    before, start = others_s(), time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout and child.stdout.readline()
        running = others_s() - before
        child.communicate(b"\n")
    elapsed, processors = time.monotonic() - start, os.cpu_count() or 1
    assert running <= processors * elapsed - 0.5 and others_s() - before <= processors * elapsed - 0.5


def test_stalls_count_where_they_overlap():
    stalls = [Stall(1.0, 0.010, 0), Stall(2.0, 0.003, 1), Stall(2.0, 0.003, 1)]  # one was looked at twice
    assert stood_still_s(stalls, 1.005, 1.2) == pytest.approx(0.005)
    assert stood_still_s(stalls, 0.0, 3.0) == pytest.approx(0.010)
    assert stood_still_s(stalls, 1.5, 1.9) == 0.0
    stalls += [Stall(2.01, 0.009, 1), Stall(2.03, 0.011, 0)]
    assert stood_still_s(stalls, 1.5, 3.0) == pytest.approx(0.012), "of one processor, in pieces"


def test_a_probe_keeps_its_newest_stalls_and_gives_those_after_a_count():
    with HostProbe(None) as probe:
        watcher = probe._watchers[0]
        probe.stop()
        watcher.found[0] = 0
        kept = len(watcher._ring)
        for n in range(kept + 10):
            watcher._ring[n % kept] = (n, 2_000_000)
            watcher.found[0] = n + 1
        assert [round(1e9 * s.start_s) for s in watcher.stalls(kept + 7)] == [kept + 7, kept + 8, kept + 9]
        assert len(watcher.stalls(0)) == kept - 1
