"""The one exception users see, and the sentences it is made of.

Every refusal says where, what was found, what is allowed and what to do.  The command line prints the
sentence and exits with status 2; a traceback is a defect.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable


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
        where = f"{self.file}: {key}" if key else self.file
        super().__init__(f"{where} {problem}" if key else f"{where}: {problem}")


class DeviceError(HapticsimError):
    """A haptic device, or what stands in for one, cannot be opened or went away."""


class WireError(HapticsimError):
    """An endpoint cannot be bound or reached."""


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return `` (did you mean 'x'?)`` for the closest valid name, or an empty string."""
    close = difflib.get_close_matches(name, list(valid), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""


def listed(names: Iterable[str]) -> str:
    """Return the names sorted and quoted for a sentence, or ``none``."""
    return ", ".join(repr(n) for n in sorted(names)) or "none"
