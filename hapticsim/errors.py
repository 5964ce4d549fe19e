"""The one exception users see, and the sentences it is made of.

Every refusal says where, what was found, what is allowed and what to do.  The command line prints the
sentence and exits with status 2; a traceback is a defect.
"""

from __future__ import annotations

import difflib
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

LONGEST = 200  # characters of a foreign exception's text that a sentence quotes
LONGEST_VALUE = 80  # of a value

LONGEST_NAME = 300  # characters of a path or a key in a sentence


class HapticsimError(Exception):
    """A refusal in one sentence that ends with what to do about it."""


class ConfigError(HapticsimError):
    """A file, key or value that cannot be used.

    Parameters
    ----------
    file : where the value stands (a path, or a name such as ``<argument>``).
    key : dotted path inside the file, e.g. ``contacts[0].between``; empty for the whole file.
    problem : the rest of the sentence: what was found, what is allowed, what to do.
    """

    def __init__(self, file: object, key: str, problem: str) -> None:
        self.file, self.key, self.problem = str(file), key, problem
        place = one_line(self.file)
        super().__init__(f"{place}: {one_line(key)} {problem}" if key else f"{place}: {problem}")


Refuse = Callable[[tuple[str | int, ...], str], ConfigError]
"""From a place and the rest of the sentence to the refusal that names the file the place is in."""


class DeviceError(HapticsimError):
    """A haptic device, or what stands in for one, cannot be opened or went away."""


class WireError(HapticsimError):
    """An endpoint cannot be bound or reached."""


def one_line(text: str) -> str:
    """Return a name for a sentence: what cannot be printed as its escape, what is very long cut off."""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= LONGEST_NAME else f"{text[:LONGEST_NAME]}..."


def nearest(name: object, valid: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the closest valid name, or an empty string."""
    if not isinstance(name, str):
        return ""
    close = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return the names sorted and quoted for a sentence, or ``none``."""
    return ", ".join(repr(n) for n in sorted(names)) or "none"


def in_words(error: BaseException, file: str = "") -> str:
    """``ValueError: too far (wave.py line 12)``: what somebody else's code raised, in one line.

    file : of that code; the line is of the innermost call in it, or where there is none of all.
    """
    try:
        text = _line(str(error.msg) if isinstance(error, SyntaxError) else str(error), LONGEST)
    except Exception:  # an exception whose own words raise
        text = ""
    name = type(error).__name__
    return (f"{name}: {text}" if text else name) + _place(error, file)


def brief(value: object) -> str:
    """A value that somebody else's code returned, in one line."""
    try:
        return _line(repr(value), LONGEST_VALUE)
    except Exception:  # whose own words raise
        return f"a {type(value).__name__}"


def _line(text: str, longest: int) -> str:
    text = "".join(c if c.isprintable() else "?" for c in " ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 3]}..."


def _place(error: BaseException, file: str) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({Path(error.filename).name} line {error.lineno})"
    calls = [(f.filename, f.lineno) for f in traceback.extract_tb(error.__traceback__)]
    own = [call for call in calls if call[0] == file]
    foreign = [call for call in calls[1:] if not call[0].startswith("<")]  # the first is whoever called
    if not own and not foreign:
        return ""
    where, line = (own or foreign)[-1]
    return f" ({Path(where).name} line {line})"
