"""What the bridge says while it runs, said by a thread of its own.

A terminal can be stopped (Ctrl-S) and a pipe can be full; a loop that prints then stops with its last force
on the motors.  So the loop leaves sentences in a queue of bounded length and goes on; what does not fit is
counted.

The thread writes to the file descriptor itself: a print that hangs would keep the lock of ``sys.stderr``, and
whoever prints next, or ends the interpreter, would hang as well.  It has the priority of the thread that
starts it, because both share the interpreter's lock: a thread of lower priority could be stopped while it
holds that lock, and the loop with it.
"""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable
from io import UnsupportedOperation
from typing import TextIO

STATUS_PERIOD_S = 0.2
CLEAR_LINE = "\r\x1b[2K"
LONGEST_QUEUE = 64  # sentences that wait for a terminal


class Voice:
    """Prints sentences, and a live status line when ``stream`` is a terminal.

    Parameters
    ----------
    stream : where to, as a rule ``sys.stderr``.
    status : returns the status line; called a few times a second from this object's thread.

    Public attribute: ``unsaid`` (sentences that found the queue full).
    """

    def __init__(self, stream: TextIO, status: Callable[[], str]) -> None:
        self._stream, self._status = stream, status
        self._live = stream.isatty()
        try:
            self._descriptor: int | None = stream.fileno()
            stream.flush()
        except (UnsupportedOperation, AttributeError, OSError, ValueError):  # kept in memory, or closed
            self._descriptor = None
        self.unsaid = 0
        self._sentences: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        # A daemon: a terminal that is stopped for good must not keep the process.
        self._thread = threading.Thread(target=self._speak, name="voice", daemon=True)

    def say(self, sentence: str) -> None:
        """Print a sentence soon; never waits."""
        if self._sentences.qsize() >= LONGEST_QUEUE:
            self.unsaid += 1
        else:
            self._sentences.put(sentence)

    def start(self) -> None:
        """Begin to speak."""
        self._thread.start()

    def stop(self) -> None:
        """Say what is left, for at most a second."""
        if self._thread.is_alive():
            self._sentences.put(None)
            self._thread.join(timeout=1.0)

    def _speak(self) -> None:
        clear = CLEAR_LINE if self._live else ""
        told = 0
        while True:
            try:
                sentence = self._sentences.get(timeout=STATUS_PERIOD_S if self._live else None)
            except queue.Empty:
                self._put(clear + self._status())
                continue
            if self.unsaid > told:
                self._put(f"{clear}{self.unsaid - told} sentences found nobody to read them.\n")
                told = self.unsaid
            if sentence is None:
                self._put(clear)
                return
            self._put(f"{clear}{sentence}\n")

    def _put(self, text: str) -> None:
        try:
            if self._descriptor is None:
                self._stream.write(text)
                self._stream.flush()
                return
            left = text.encode(errors="replace")
            while left:
                left = left[os.write(self._descriptor, left) :]
        except BlockingIOError:  # a terminal that is full, and does not wait: this is not said
            pass
        except (OSError, ValueError):  # whoever listened is gone; the hand still needs the loop
            self._live = False
