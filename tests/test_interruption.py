"""An interrupt that arrives in a call back from C is not lost, and not a traceback."""

from __future__ import annotations

import ctypes
import signal
import subprocess
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
    interruption.let_go()
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
    assert not interruption.was_lost()  # any more
    assert capfd.readouterr().err == ""


def test_an_interrupt_lost_twice_still_comes(capfd):
    with pytest.raises(KeyboardInterrupt):
        call_back(lambda: signal.raise_signal(signal.SIGINT))
        call_back(wait_for_interrupt)
        wait_for_interrupt()
    assert capfd.readouterr().err == ""


LOSE_IT = """
import ctypes, signal, sys
from hapticsim import __main__ as command

def lose(*_, **__):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    {then}

command.app = lose
command.main()
"""


@pytest.mark.parametrize(
    ("then", "status", "said"),
    [
        ("raise RuntimeError('what was not handed over is missing')", 130, ""),
        ("import time; time.sleep(5.0)", 130, ""),
        (
            "import time\n    try: time.sleep(5.0)\n    except KeyboardInterrupt: 1 / 0",
            1,
            "ZeroDivisionError",
        ),
    ],
)
def test_a_command_that_lost_an_interrupt_ends_as_one_that_did_not(then, status, said):
    command = [sys.executable, "-c", LOSE_IT.format(then=then)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == status, done.stderr
    assert said in done.stderr and bool(said) == bool(done.stderr)


def test_any_other_exception_in_a_call_back_is_told_as_ever(capfd):
    with pytest.MonkeyPatch.context() as patch:
        told = []
        patch.setattr(sys, "__unraisablehook__", told.append)
        call_back(lambda: 1 / 0)
    assert [t.exc_type for t in told] == [ZeroDivisionError]
    assert not interruption.was_lost()
