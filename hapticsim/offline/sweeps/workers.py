"""Runs of a sweep on processes of this machine, of which any may be killed.

Every worker is a pool of one process, so that when one dies it is known which set it had; the others go on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from typing import Any

from hapticsim.errors import ConfigError
from hapticsim.offline.sweeps.attempt import TRIES, WORKER_DIED, Outcome, attempt

START_s = 10.0  # what a process may take to start
NONE_STARTS = (
    "has workers that end as they start: a script that sweeps does so under "
    'if __name__ == "__main__":, since every worker imports it.'
)


def on_workers(
    count: int, function: Callable[[Any], Any], todo: list[tuple[int, Any]]
) -> Iterator[tuple[int, Outcome]]:
    """Yield (number, outcome) as they come in; a set whose worker died is run again on a new one.

    todo : (number, parameters) of every set.
    """
    waiting = deque(todo)
    tries = dict.fromkeys((i for i, _ in todo), 0)
    workers = [_Worker() for _ in range(count)]
    running: dict[Future, tuple[_Worker, int, Any]] = {}

    def start(worker: _Worker) -> None:
        if waiting:
            i, parameters = waiting.popleft()
            tries[i] += 1
            running[worker.submit(attempt, function, parameters)] = worker, i, parameters

    try:
        for worker in workers:
            start(worker)
        while running:
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                worker, i, parameters = running.pop(future)
                try:
                    outcome = future.result()
                except BrokenProcessPool:
                    if not any(w.has_started for w in workers):
                        raise ConfigError("run_sweep", "", NONE_STARTS) from None
                    worker.renew()
                    if tries[i] < TRIES:
                        waiting.appendleft((i, parameters))
                        start(worker)
                        continue
                    outcome = Outcome(problem=WORKER_DIED)
                except Exception as error:  # the function or its value cannot be sent
                    outcome = Outcome(problem=f"cannot be sent between processes: {str(error).rstrip('.')}.")
                start(worker)
                yield i, outcome
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """One process, replaced when it dies."""

    def __init__(self) -> None:
        self._started = False
        self._start()

    @property
    def has_started(self) -> bool:
        """Whether any process of this worker came so far that it could run something."""
        self._started = self._started or (self._pid.done() and self._pid.exception() is None)
        return self._started

    def _start(self) -> None:
        # spawned: a fork would copy the locks of this process's threads in whatever state they are
        self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _leave_interrupts)
        with _interrupts_blocked():  # the process, which is started here, takes this over
            self._pid = self._pool.submit(os.getpid)

    def submit(self, *call: Any) -> Future:
        try:
            return self._pool.submit(*call)
        except BrokenProcessPool:  # it died between two sets
            self.renew()
            return self._pool.submit(*call)

    def renew(self) -> None:
        self._started = self.has_started
        self._pool.shutdown(wait=False)
        self._start()

    def end(self) -> None:
        """End the process, in the middle of a run if need be."""
        with suppress(BrokenProcessPool, TimeoutError, ProcessLookupError):
            os.kill(self._pid.result(START_s), signal.SIGTERM)
        self._pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Ctrl-C waits; where threads have no mask of signals (Windows) nothing changes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_interrupts() -> None:
    """Ctrl-C is for the process that was asked to sweep; it ends this one, which never hears of it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
