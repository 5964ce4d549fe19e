"""What a command writes is a new file: nothing that exists is ever overwritten."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from hapticsim.errors import ConfigError

EXISTS = "exists already and nothing is overwritten: give another name, or remove it."  # end of a refusal


def check_new_file(path: Path, suffixes: Sequence[str], what: str) -> None:
    """Refuse now, before anything is computed, a file that cannot be made.

    suffixes : of the name, in small letters: ``.mcap``.
    what : the thing that is to be written, such as ``a recording``.

    Raises
    ------
    ConfigError : something is there already, the suffix is another, the folder is missing or not writable.
    """
    folder = path.absolute().parent
    try:
        if path.is_dir():
            raise ConfigError(path, "", f"is a folder: name the file in it that {what} goes to.")
        if os.path.lexists(path):
            raise ConfigError(path, "", EXISTS)
        if path.suffix.lower() not in suffixes:
            raise ConfigError(path, "", f"cannot be {what}: end its name in {' or '.join(suffixes)}.")
        if not folder.is_dir():
            raise ConfigError(path, "", "is in a folder that does not exist: make it first.")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ConfigError(path, "", "is in a folder that you may not write to: choose another.")
    except OSError as error:  # a name that is too long
        raise ConfigError(path, "", f"cannot be made ({error.strerror}): give another name.") from None
