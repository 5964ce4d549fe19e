"""Tests of several processes take turns: many beside one another, or one alone."""

from __future__ import annotations

import threading
import time

from tests.processes import eventually
from tests.turns import alone, beside_others

QUEUED_S = 0.3  # until a thread that has to wait does so


def runs(turn, order: list[str], name: str, stay: threading.Event) -> threading.Thread:
    """A test in a thread, whose files are its own as those of a process are."""

    def body() -> None:
        with turn():
            order.append(name)
            stay.wait(10.0)

    thread = threading.Thread(target=body, daemon=True)
    thread.start()
    time.sleep(QUEUED_S)
    return thread


def test_one_alone_waits_for_those_under_way_and_goes_before_those_that_come_after():
    order: list[str] = []
    first, lonely, later = threading.Event(), threading.Event(), threading.Event()
    threads = [runs(beside_others, order, name, first) for name in ("a", "b")]
    threads.append(runs(alone, order, "alone", lonely))
    threads.append(runs(beside_others, order, "c", later))
    assert order == ["a", "b"]
    first.set()
    eventually(lambda: len(order) == 3)
    time.sleep(QUEUED_S)
    assert order == ["a", "b", "alone"]
    lonely.set()
    eventually(lambda: order == ["a", "b", "alone", "c"])
    later.set()
    for thread in threads:
        thread.join(10.0)
        assert not thread.is_alive()
