"""Ctrl-C and SIGTERM that arrive while machine code is made.

LLVM works for seconds without a look at signals and then calls Python back to hand over what it made.  That
call is the first chance to handle a signal that came meanwhile, and an exception raised in it is printed and
lost: the command would go on, or trip over the code that was not handed over.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

AGAIN_S = 0.001  # after a loss: whatever it is, a call back that has not returned loses it once more

_lost = False


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


def was_lost() -> bool:
    """Whether an interrupt was lost and has not come again yet: what fails meanwhile fails because of it."""
    return _lost


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
