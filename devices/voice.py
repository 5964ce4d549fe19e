"""What the bridge says while it runs, said by a thread of its own.

A terminal can be stopped (Ctrl-S) and a pipe can be full; a loop that prints then stops with its last force
on the motors.  So the loop leaves sentences in a queue and goes on.
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from typing import TextIO

STATUS_PERIOD_S = 0.2
CLEAR_LINE = "\r\x1b[2K"


class Voice:
    """Prints sentences, and a live status line when ``stream`` is a terminal.

    Parameters
    ----------
    stream : where to, as a rule ``sys.stderr``.
    status : returns the status line; called a few times a second from this object's thread.
    """

    def __init__(self, stream: TextIO, status: Callable[[], str]) -> None:
        self._stream, self._status = stream, status
        self._live = stream.isatty()
        self._sentences: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        # A daemon: a terminal that is stopped for good must not keep the process.
        self._thread = threading.Thread(target=self._speak, name="voice", daemon=True)

    def say(self, sentence: str) -> None:
        """Print a sentence soon; never waits."""
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
        while True:
            try:
                sentence = self._sentences.get(timeout=STATUS_PERIOD_S if self._live else None)
            except queue.Empty:
                self._put(clear + self._status())
                continue
            if sentence is None:
                self._put(clear)
                return
            self._put(f"{clear}{sentence}\n")

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # whoever listened is gone; the hand still needs the loop
            self._live = False
