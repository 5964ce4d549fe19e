"""Being asked to end: by Ctrl-C, SIGTERM or SIGHUP, once or many times, also while machine code is made.

The first of them raises KeyboardInterrupt.  While the program ends because of it, the others change nothing
for `ENDING_S`: an end that is interrupted leaves devices without a word and recordings without an index.

LLVM works for seconds without a look at signals and then calls Python back to hand over what it made.  That
call is the first chance to handle a signal that came meanwhile, and an exception raised in it is printed and
lost: the command would go on, or trip over the code that was not handed over.

A write to a file is not torn by the first of them either (`uninterrupted`).
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

AGAIN_S = 0.001  # after a loss: whatever it is, a call back that has not returned loses it once more
INTERRUPTED = 130  # exit status
ENDING_S = 15.0  # an end takes 10 s at most: processes 3 s, threads 2 s, the disk 5 s

_ENDS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
_lost = False
_ending_since_s = -ENDING_S
_uninterrupted = False  # what must not be torn is being done
_waits = False  # an interrupt, for the end of that


def catch_signals(handler: Callable[..., None] | None = None) -> None:
    """Have SIGINT, SIGTERM and SIGHUP end the program in order; a SIGHUP that is ignored (nohup) stays so.

    A shell that starts a program in the background of a script leaves SIGINT ignored, and means Ctrl-C at its
    terminal; who sends it to this process means its end.

    handler : what they call, instead of `interrupt`.
    """
    for number in _ENDS:
        if number != getattr(signal, "SIGHUP", None) or signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler or interrupt)


def leave(*_: object) -> None:
    """End at once: while the program is loaded nothing is open yet.

    An exception raised in the middle of somebody's import may come out as another one: Python 3.11 makes a
    RuntimeError of it where a class is made.
    """
    os._exit(INTERRUPTED)


def ignore_signals() -> None:
    """All is done and only the interpreter is still to end, where a signal would change the exit status."""
    for number in _ENDS:
        signal.signal(number, signal.SIG_IGN)


def interrupt(*_: object) -> None:
    """Raise KeyboardInterrupt, at the end of what must stay whole, unless the program is ending already."""
    global _waits
    if time.monotonic() - _ending_since_s >= ENDING_S:
        begin_ending()
        if not _uninterrupted or _waits:  # it takes longer than an end may take: a disk that hangs
            raise KeyboardInterrupt
        _waits = True


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Have an interrupt wait for the end of what is done inside, by the main thread, which alone hears it."""
    global _uninterrupted, _waits
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _uninterrupted = True
    try:
        yield
    finally:
        waits, _uninterrupted, _waits = _waits, False, False
        if waits:
            raise KeyboardInterrupt


def begin_ending() -> None:
    """From now on the program ends: whoever asks for it again in the next `ENDING_S` is not heard."""
    global _ending_since_s
    _ending_since_s = time.monotonic()


def keep_interrupts() -> None:
    """Raise KeyboardInterrupt again, a moment later, where one was lost in a call back from C.

    Where there is no timer (Windows) nothing changes.
    """
    if hasattr(signal, "setitimer"):
        sys.unraisablehook = _keep


def let_go() -> None:
    """Undo `keep_interrupts`; a signal that is still to come is dropped."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        sys.unraisablehook = sys.__unraisablehook__


def is_interruption(error: BaseException) -> bool:
    """Whether an error is there because of an interrupt: one was lost and has not come again yet, or it is
    the cause (of a RuntimeError, where Python 3.11 makes a class)."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return _lost or cause is not None


def _keep(unraisable: sys.UnraisableHookArgs) -> None:
    global _lost
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    _lost = True
    signal.signal(signal.SIGALRM, _raise)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S)


def _raise(_number: int, _frame: FrameType | None) -> None:
    global _lost
    _lost = False
    raise KeyboardInterrupt
