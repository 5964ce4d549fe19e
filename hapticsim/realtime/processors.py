"""A processor of its own for the thread that ticks.

Threads that run Python hand the interpreter's lock to one another thousands of times a second, and each time
one processor interrupts another to wake a thread there.  A thread that spins to its deadline is some 20 us
late when that meets it, whatever its priority.  Kept on the other processors, Python threads lose little:
only one of them runs at a time.
"""

from __future__ import annotations

import os
import socket
import sys
import threading

MARK = "\0hapticsim-processor-{}"  # abstract socket: one holder on this computer, gone with its process

_given: set[int] = set()  # processors that loops of this process have


class OwnProcessor:
    """A processor that one thread has, and that the ordinary Python threads of its process leave alone.

    Those with real-time priority stay free to run on it: kept off, they were put aside for 10 ms now and then
    where there are two processors and another program is busy.
    """

    def __init__(self, number: int, mark: socket.socket, thread: int) -> None:
        self.number, self._mark = number, mark
        self._elsewhere = {thread}  # threads that are not given back what they did not have
        _given.add(number)
        for task in _tasks() - {thread}:
            allowed = _affinity(task)
            if number in allowed and len(allowed) > 1 and _policy(task) == os.SCHED_OTHER:
                _allow(task, allowed - {number})
            else:
                self._elsewhere.add(task)
        _allow(thread, {number})

    @classmethod
    def claim(cls) -> OwnProcessor | None:
        """Take a processor for the calling thread; None where that is impossible or would do harm.

        That is: no second processor, every one has the loop of another process, no real-time priority (a
        thread without it waits for whoever else runs on its processor), not Linux.
        """
        if not sys.platform.startswith("linux"):
            return None
        thread = threading.get_native_id()
        allowed = _affinity(thread)
        if len(allowed) < 2 or _policy(thread) != os.SCHED_FIFO:
            return None
        for number in sorted(allowed, reverse=True):
            mark = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                mark.bind(MARK.format(number))
            except OSError:
                mark.close()
            else:
                return cls(number, mark, thread)
        return None

    def release(self) -> None:
        """Let the other threads of the process use it again."""
        _given.discard(self.number)
        for task in _tasks() - self._elsewhere:
            _allow(task, _affinity(task) | {self.number})
        self._mark.close()


def allow_all() -> None:
    """Let the calling thread, begun by one that was moved, or the child process that it is, run anywhere."""
    if _given:
        _allow(0, os.sched_getaffinity(0) | _given)


def _tasks() -> set[int]:
    """Threads that run Python; those of libraries wake nobody for the interpreter's lock."""
    return {thread.native_id for thread in threading.enumerate() if thread.native_id is not None}


def _affinity(task: int) -> set[int]:
    try:
        return os.sched_getaffinity(task)
    except OSError:  # it ended
        return set()


def _policy(task: int) -> int | None:
    try:
        return os.sched_getscheduler(task)
    except OSError:  # it ended
        return None


def _allow(task: int, processors: set[int]) -> None:
    try:
        os.sched_setaffinity(task, processors)
    except OSError:  # it ended, or may not be moved
        pass
