"""Tests against the clock, judged against the host: a failure while it stood still says nothing.

While a test with the mark ``clock`` runs, probes on each processor (hapticsim/realtime/probe.py) see what
stops a thread there.  One that fails without a stall has failed, at once.  One that fails beside a stall is
run again, with no test of another process beside it (turns.py), at most RUN_AGAIN times and while its runs
took less than PATIENCE_S together.  If that does not help

- it has failed, where it failed in the same place each time: a stall now and then explains a failure now and
  then.  Only a host that was away for AWAY of the time, in each run, explains one that repeats;
- it is *inconclusive on this host* otherwise: skipped, with the figures and the failure.

Two things excuse a failure:

- the host itself stood still: a probe that nothing of ours can stop was stopped for EXPLAINS_S or more;
- other programs wanted the processors: a probe of ordinary priority was kept waiting, and processes that are
  not of this test used the processors for at least half of that time.  Without the second half threads of
  ours that run away would excuse themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol

import pytest
from _pytest.runner import runtestprotocol

from hapticsim.realtime.probe import HostProbe
from tests.turns import alone, beside_others
from tools.processor_time import others_s

RUN_AGAIN, REST_S, PATIENCE_S = 3, 1.0, 120.0
EXPLAINS_S = 0.004  # a bridge cuts the force 6 ms after the last command: what is left to 10 ms
SHARE = 0.05  # of the time that ordinary threads wait: what counts in threads that sleep is off by as much
AGAIN, OPEN = "run again on this host", "inconclusive on this host"  # properties of a test's last report
AWAY = 0.2  # of the time: what no test against the clock stands


class Excuse(NamedTuple):
    """What the host did during a test that failed."""

    words: str
    away: float  # share of the time in which it did it


class Witness(Protocol):
    """Watches the host from ``__enter__`` on."""

    def __enter__(self) -> Witness: ...
    def __exit__(self, *exception: object) -> None: ...
    def excuse(self) -> Excuse | None:
        """What the host did that explains a failure; None if nothing."""
        ...


class Host:
    """The real witness: two probes per processor, and the processor time of other programs."""

    def __enter__(self) -> Host:
        self._host, self._ordinary = HostProbe(), HostProbe(None)
        self._host.start()
        self._ordinary.start()
        self._others_s, self._start = others_s(), time.monotonic()
        return self

    def __exit__(self, *exception: object) -> None:
        self.took_s = time.monotonic() - self._start
        self.others_s = others_s() - self._others_s
        self._host.stop()
        self._ordinary.stop()

    def excuse(self) -> Excuse | None:
        waited_s = max(self._ordinary.delayed_s())
        by_others_s = waited_s if self.others_s >= 0.5 * waited_s else 0.0
        long = [s for s in self._host.stalls() if s.length_s >= EXPLAINS_S]
        if long and self._host.has_priority:
            worst = max(s.length_s for s in long)
            words = f"the host stood still {len(long)} times, {1e3 * worst:.1f} ms at most"
            return Excuse(words, max(sum(s.length_s for s in long), by_others_s) / self.took_s)
        worst = max((s.length_s for s in self._ordinary.stalls()), default=0.0)
        if by_others_s and (worst >= EXPLAINS_S or waited_s >= SHARE * self.took_s):
            words = (
                f"other programs took {self.others_s:.1f} s of processor time and kept ordinary threads "
                f"waiting {waited_s / self.took_s:.0%} of the time, {1e3 * worst:.1f} ms at most"
            )
            return Excuse(words, waited_s / self.took_s)
        return None


class HostJudge:
    """The plugin.

    Parameters
    ----------
    witness : makes what watches the host during one attempt.
    """

    def __init__(self, witness: Callable[[], Witness] = Host, rest_s: float = REST_S) -> None:
        self._witness, self._rest_s = witness, rest_s
        self.again: list[str] = []  # tests that were run again, with why
        self.inconclusive: list[str] = []  # that stayed so, with why and how they failed

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
        """Run a test against the clock, and again while the host excuses that it failed."""
        mark = item.get_closest_marker("clock")
        if mark is None:
            return None
        item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
        places, away, began = set[str](), 1.0, time.monotonic()
        told: list[tuple[str, object]] = []
        for attempt in range(RUN_AGAIN + 1):
            turn = alone() if attempt or mark.kwargs.get("alone") else beside_others()
            with turn, self._witness() as witness:
                reports = runtestprotocol(item, nextitem=nextitem, log=False)
            excuse = witness.excuse() if any(report.failed for report in reports) else None
            if excuse is None:
                break
            places |= {_place(report) for report in reports if report.failed}
            away = min(away, excuse.away)
            if attempt < RUN_AGAIN and time.monotonic() - began < PATIENCE_S:
                told.append((AGAIN, f"{item.nodeid}: {excuse.words}"))
                item.session._setupstate.teardown_exact(None)  # every fixture is made anew
                time.sleep(self._rest_s)
                continue
            if len(places) == 1 and away < AWAY:
                self._blame(reports, attempt + 1, excuse)
            else:
                told += self._set_aside(item, reports, excuse.words)
            break
        reports[-1].user_properties += told
        for report in reports:
            item.ihook.pytest_runtest_logreport(report=report)
        item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
        return True

    def _blame(self, reports: list[pytest.TestReport], times: int, excuse: Excuse) -> None:
        """Leave failures as they are, and say why the host does not explain them."""
        words = f"failed in this place {times} times of {times}; in the last of them {excuse.words}"
        for report in (r for r in reports if r.failed):
            report.sections.append(("judged against the host", words))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Gather what is told of tests, also of those that another process ran."""
        self.again += [str(line) for key, line in report.user_properties if key == AGAIN]
        self.inconclusive += [str(line) for key, line in report.user_properties if key == OPEN]

    def _set_aside(
        self, item: pytest.Item, reports: list[pytest.TestReport], excuse: str
    ) -> list[tuple[str, object]]:
        """Make failures inconclusive, keeping what failed; returns what is to be told of each."""
        path, line, _ = item.location
        told: list[tuple[str, object]] = []
        for report in (r for r in reports if r.failed):
            crash = getattr(report.longrepr, "reprcrash", None)
            how = str(crash.message if crash else report.longrepr).strip().splitlines()
            told.append((OPEN, f"{item.nodeid}: {excuse}; it failed with: {how[0] if how else '?'}"))
            report.sections.append(("failure", report.longreprtext))
            report.outcome = "skipped"
            report.longrepr = (path, line or 0, f"Skipped: inconclusive on this host: {excuse}")
        return told

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was run again and what stayed open."""
        if self.again:
            terminalreporter.section("run again beside a stall of the host")
            for line in self.again:
                terminalreporter.line(line)
        if self.inconclusive:
            terminalreporter.section("inconclusive on this host")
            for line in self.inconclusive:
                terminalreporter.line(line)


def _place(report: pytest.TestReport) -> str:
    """Where a test failed, and in which part of it."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return f"{report.when} {crash.path}:{crash.lineno}" if crash else f"{report.when} {report.longrepr}"
