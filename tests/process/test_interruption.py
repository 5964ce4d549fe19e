"""An interrupt that arrives in a call back from C is not lost, and not a traceback."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from hapticsim.process import interruption
from hapticsim.process.interruption import INTERRUPTED

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
    assert not interruption.is_interruption(ValueError())  # any more
    assert capfd.readouterr().err == ""


def test_an_interrupt_lost_twice_still_comes(capfd):
    with pytest.raises(KeyboardInterrupt):
        call_back(lambda: signal.raise_signal(signal.SIGINT))
        call_back(wait_for_interrupt)
        wait_for_interrupt()
    assert capfd.readouterr().err == ""


@pytest.fixture
def caught(monkeypatch):
    """SIGINT as a command hears it; returns a function that sends one."""
    monkeypatch.setattr(interruption, "_ending_since_s", -interruption.ENDING_S)
    before = signal.signal(signal.SIGINT, interruption.interrupt)
    yield lambda: signal.raise_signal(signal.SIGINT)
    signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_end_of_what_must_not_be_torn(caught):
    done = []
    with pytest.raises(KeyboardInterrupt), interruption.uninterrupted():
        caught()
        done.append("write")
    assert done == ["write"]
    with interruption.uninterrupted():
        caught()  # while the program ends nobody hears it


def test_an_interrupt_does_not_wait_for_a_disk_that_hangs(caught, monkeypatch):
    with pytest.raises(KeyboardInterrupt), interruption.uninterrupted():
        caught()
        monkeypatch.setattr(interruption, "_ending_since_s", time.monotonic() - interruption.ENDING_S)
        caught()
        pytest.fail("it waited")


def test_an_interrupt_does_not_wait_for_another_thread(caught):
    go_on = threading.Event()

    def write():
        with interruption.uninterrupted():
            inside.set()
            go_on.wait(PATIENCE_S)

    inside, thread = threading.Event(), threading.Thread(target=write)
    thread.start()
    assert inside.wait(PATIENCE_S)
    with pytest.raises(KeyboardInterrupt):
        caught()
    go_on.set()
    thread.join()


LOSE_IT = """
import ctypes, signal, sys
from hapticsim.commands import command_line as command

def lose(*_, **__):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    {then}

command.app = lose
command.run()
"""


@pytest.mark.parametrize(
    ("then", "status", "said"),
    [
        ("raise RuntimeError('what was not handed over is missing')", 130, "interrupted."),
        ("import time; time.sleep(5.0)", 130, "interrupted."),
        (
            "import time\n    try: time.sleep(5)\n    except KeyboardInterrupt as e: raise ValueError from e",
            130,
            "interrupted.",
        ),
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
    assert said in done.stderr and (status == 1 or done.stderr == f"{said}\n")


SLOWLY = """
def slowly(work):
    def slow(*arguments, **options):
        result = work(*arguments, **options)
        time.sleep(0.1)
        return result
    return slow

import time
{slow}
"""


@pytest.mark.parametrize(
    "slow",
    [
        "command.end_line = slowly(command.end_line)",
        "command.is_interruption = slowly(command.is_interruption)",
    ],
)
def test_an_interrupt_that_comes_again_while_it_is_told_changes_nothing(slow):
    program = LOSE_IT.format(then="raise RuntimeError('what was not handed over is missing')")
    program = program.replace("command.run()", SLOWLY.format(slow=slow) + "command.run()")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "interrupted.\n")


def test_any_other_exception_in_a_call_back_is_told_as_ever(capfd):
    with pytest.MonkeyPatch.context() as patch:
        told = []
        patch.setattr(sys, "__unraisablehook__", told.append)
        call_back(lambda: 1 / 0)
    assert [t.exc_type for t in told] == [ZeroDivisionError]
    assert not interruption.is_interruption(ValueError())


WRAPS = """
import signal
from hapticsim.process.interruption import catch_signals, leave
catch_signals(leave)

class Signals:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)

class Wraps:
    attribute = Signals()
"""


def test_ctrl_c_while_an_import_makes_a_class_says_nothing():
    done = subprocess.run([sys.executable, "-c", WRAPS], capture_output=True, text=True, timeout=60)
    assert done.returncode == INTERRUPTED and not done.stderr, done.stderr


@pytest.mark.parametrize("after_s", [0.03, 0.08, 0.15, 0.25])
def test_ctrl_c_while_the_program_is_loaded_is_an_end_without_a_traceback(after_s, tmp_path):
    command = [sys.executable, "-m", "hapticsim", "run", str(tmp_path / "none.yaml")]
    loading = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    status = Path(f"/proc/{loading.pid}/status")
    while not _catches(status, signal.SIGHUP):
        assert loading.poll() is None
        time.sleep(0.002)
    time.sleep(after_s)
    loading.send_signal(signal.SIGINT)
    said = loading.communicate(timeout=60)[1]
    # Python ends itself by SIGINT where the interrupt came in an exec, which is 130 to a shell
    assert loading.returncode in (INTERRUPTED, -signal.SIGINT, 2) and "Traceback" not in said, said


def _catches(status: Path, number: int) -> bool:
    caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (number - 1) & 1)


def test_sigint_is_heard_though_a_shell_left_it_ignored_and_an_ignored_sighup_stays_so():
    """A script's shell ignores SIGINT for what it starts in the background; nohup means SIGHUP alone."""
    code = (
        "import signal\nfor number in (signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)\n"
        "from hapticsim.process.interruption import catch_signals, interrupt; catch_signals()\n"
        "assert signal.getsignal(signal.SIGINT) is interrupt\n"
        "assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
