"""Ctrl-C and SIGTERM that arrive while machine code is made.

LLVM works for seconds without a look at signals and then calls Python back to hand over what it made.  That
call is the first chance to handle a signal that came meanwhile, and an exception raised in it is printed and
lost: the command would go on, or trip over the code that was not handed over.
"""

from __future__ import annotations

import signal
import sys
from types import FrameType

AGAIN_S = 0.001  # after a loss; by then the call back has returned, or loses it once more

_lost = False


def keep_interrupts() -> None:
    """Raise KeyboardInterrupt again, a moment later, where one was lost in a call back from C."""
    sys.unraisablehook = _keep


def was_lost() -> bool:
    """Whether an interrupt was lost: what failed since then failed because of it."""
    return _lost


def _keep(unraisable: sys.UnraisableHookArgs) -> None:
    global _lost
    if not issubclass(unraisable.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)
        return
    _lost = True
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)


def _raise(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
