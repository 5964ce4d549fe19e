"""What a run says to its user: handed over at once, written by a thread of its own.

A terminal that is stopped (Ctrl-S) or a pipe that nobody reads holds whoever writes to it.  So nobody does
but this thread: lines wait in a queue with an end, of the live line only the newest is kept, and what did not
fit is counted and told once there is room.  Nothing waits for the terminal; the end of the program waits for
`FAREWELL_S` at most.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque

MOST_LINES = 256  # that wait; a run that goes on for hours behind a stopped terminal keeps no more
FAREWELL_S = 1.0  # that the last lines get at the end
OUT, ERR = 1, 2


class Voice:
    """Lines for people, to standard output and standard error.  Any thread may hand some over."""

    def __init__(self) -> None:
        self.lost = 0  # lines that did not fit and were not told of yet
        self._lines: deque[tuple[int, str]] = deque()
        self._live = ""
        self._wanted = threading.Condition()
        self._busy = False
        self._gone: set[int] = set()  # descriptors that nobody will read any more
        self._thread: threading.Thread | None = None

    def say(self, line: str, descriptor: int = ERR) -> None:
        """Hand over one line; never waits."""
        self._put(descriptor, f"\r\033[K{line}\n" if descriptor == ERR and is_terminal() else f"{line}\n")

    def clear(self) -> None:
        """Take the live line off the terminal."""
        if is_terminal():
            self._put(ERR, "\r\033[K")

    def show(self, line: str) -> None:
        """Hand over the live line, in place of the one before; never waits."""
        with self._wanted:
            self._live = line
            self._wake()

    def finish(self, within_s: float = FAREWELL_S) -> bool:
        """Wait until all is written, or for ``within_s``; whether all was."""
        give_up = time.monotonic() + within_s
        with self._wanted:
            self._live = ""
            while (self._lines or self._busy) and (left := give_up - time.monotonic()) > 0.0:
                self._wanted.wait(left)
            return not self._lines and not self._busy

    # ------------------------------------------------------------------------------------------------ inside

    def _put(self, descriptor: int, text: str) -> None:
        with self._wanted:
            if len(self._lines) < MOST_LINES:
                self._lines.append((descriptor, text))
            else:
                self.lost += 1
            self._wake()

    def _wake(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._run, name="hapticsim-voice", daemon=True)
            self._thread.start()
        self._wanted.notify_all()

    def _run(self) -> None:
        while True:
            with self._wanted:
                self._busy = False
                self._wanted.notify_all()
                while not self._lines and not self._live:
                    self._wanted.wait()
                descriptor, text = self._next()
                self._busy = True
            self._write(descriptor, text)

    def _next(self) -> tuple[int, str]:
        """Take what is to be written next: lines before the live line."""
        if not self._lines:
            line, self._live = self._live, ""
            return ERR, f"\r\033[K{line}" if is_terminal() else f"{line}\n"
        if self.lost:
            self._lines.append((ERR, f"({self.lost} lines were not shown: nobody took them.)\n"))
            self.lost = 0
        return self._lines.popleft()

    def _write(self, descriptor: int, text: str) -> None:
        """Write to the descriptor itself: a buffer's lock, held here, would keep the program from ending."""
        data = text.encode("utf-8", "replace")
        while data and descriptor not in self._gone:
            try:
                data = data[os.write(descriptor, data) :]
            except BlockingIOError:  # whoever shares the terminal made it so
                time.sleep(0.02)
            except OSError:  # a pipe without a reader, a terminal that was closed: the run goes on
                self._gone.add(descriptor)


def is_terminal() -> bool:
    """Whether standard error is a terminal, where one line can take the place of another."""
    return sys.__stderr__ is not None and sys.__stderr__.isatty()


voice = Voice()
