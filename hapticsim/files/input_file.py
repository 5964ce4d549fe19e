"""The bytes of a file that somebody names: never of a folder or a device, and never too many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from hapticsim.errors import ConfigError
from hapticsim.files.near_file import near_file
from hapticsim.files.special_file import SPECIAL, is_special


def input_bytes(
    path: str | Path,
    what: str,
    most: int,
    too_large: str,
    *,
    suffixes: Sequence[str] = (),
    near: Callable[[Path], str] | None = None,
) -> bytes:
    """Return the bytes of a file, or refuse in one sentence.

    Parameters
    ----------
    what : the file is, as the sentence names it.
    most, too_large : bytes that are read, and the sentence where there are more.
    suffixes : that such a file may have, so that one of them is proposed.
    near : what proposes another file where this one is missing, if not ``near_file``.

    Raises
    ------
    ConfigError : it is missing, too large, a folder or a device, or may not be read.
    """
    file = Path(path)
    try:
        if file.is_dir():
            raise ConfigError(path, "", f"is a folder: name the {what} in it.")
        if is_special(file):
            raise ConfigError(path, "", SPECIAL)
        size = file.stat().st_size
        with file.open("rb") as opened:  # what a file of the system without a size says may never end
            data = opened.read(most + 1) if 0 < size <= most else b""
    except FileNotFoundError:
        found = near(file) if near else near_file(file, suffixes)
        raise ConfigError(path, "", f"does not exist{found}: check the path of the {what}.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            path, "", f"cannot be read ({reason}): check the path and its permissions."
        ) from None
    if max(size, len(data)) > most:
        raise ConfigError(path, "", too_large)
    return data
