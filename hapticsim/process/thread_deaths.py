"""A thread that dies of an exception, whichever part started it: the door of a path, the watch over bytes."""

from __future__ import annotations

import threading


class ThreadDeaths:
    """From ``with`` on, hears of every thread of this process that dies of an exception.

    Public attributes: ``first``, which thread died first and of what; empty while none has.
    """

    def __init__(self) -> None:
        self.first = ""
        self._before = threading.excepthook

    def __enter__(self) -> ThreadDeaths:
        threading.excepthook = self._hear
        return self

    def __exit__(self, *exception: object) -> None:
        threading.excepthook = self._before

    def _hear(self, death: threading.ExceptHookArgs) -> None:
        if not self.first and not issubclass(death.exc_type, SystemExit):
            name = death.thread.name.removeprefix("hapticsim-") if death.thread else "unknown"
            self.first = f"the {name} thread ended by itself ({death.exc_type.__name__}: {death.exc_value})"
        self._before(death)
