"""Asking a bridge to end, from a thread or from a signal handler."""

from __future__ import annotations


class StopFlag:
    """Set once.

    A handler of a signal runs between any two steps of the thread it interrupts: it must not take a lock, as
    ``threading.Event`` does, which that thread, or the handler of the signal before, may hold for ever.
    """

    def __init__(self) -> None:
        self._is_set = False

    def set(self) -> None:
        self._is_set = True

    def is_set(self) -> bool:
        return self._is_set
