"""An interrupt that arrives in a call back from C is not lost, and not a traceback."""

from __future__ import annotations

import ctypes
import signal
import sys
import time

import pytest

from hapticsim import interruption

PATIENCE_S = 5.0


@pytest.fixture(autouse=True)
def _kept(monkeypatch):
    monkeypatch.setattr(sys, "unraisablehook", sys.unraisablehook)
    monkeypatch.setattr(interruption, "_lost", False)
    before = signal.getsignal(signal.SIGALRM)
    interruption.keep_interrupts()
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


def call_back(what):
    """Call a Python function from C, as LLVM does."""
    ctypes.CFUNCTYPE(None)(what)()


def wait_for_interrupt():
    give_up = time.monotonic() + PATIENCE_S
    while time.monotonic() < give_up:
        time.sleep(0.001)


def test_an_interrupt_in_a_call_back_comes_after_it(capfd):
    with pytest.raises(KeyboardInterrupt):
        call_back(lambda: signal.raise_signal(signal.SIGINT))
        wait_for_interrupt()
    assert interruption.was_lost()
    assert capfd.readouterr().err == ""


def test_an_interrupt_lost_twice_still_comes(capfd):
    with pytest.raises(KeyboardInterrupt):
        call_back(lambda: signal.raise_signal(signal.SIGINT))
        call_back(wait_for_interrupt)
        wait_for_interrupt()
    assert capfd.readouterr().err == ""


def test_any_other_exception_in_a_call_back_is_told_as_ever(capfd):
    with pytest.MonkeyPatch.context() as patch:
        told = []
        patch.setattr(sys, "__unraisablehook__", told.append)
        call_back(lambda: 1 / 0)
    assert [t.exc_type for t in told] == [ZeroDivisionError]
    assert not interruption.was_lost()
