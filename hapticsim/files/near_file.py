"""A file that does not exist, and the one beside it that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

NEAR = 0.7  # of difflib: two letters exchanged or missing, and not another word


def near_file(file: Path, suffixes: Sequence[str] = ()) -> str:
    """Return `` (did you mean 'x'?)``, or an empty string.

    The file named has nearly this name, or this one but for its suffix.

    suffixes : that it may have, such as ``.mcap``; empty: any.
    """
    try:
        files = sorted(f for f in file.parent.iterdir() if f.is_file())
    except (OSError, ValueError):
        return ""
    files = [f for f in files if not suffixes or f.suffix.lower() in suffixes]
    wanted = file.suffix if file.suffix in suffixes or not suffixes else suffixes[0]
    alike = {f.stem: f.name for f in files if f.suffix == wanted}
    close = [alike[stem] for stem in difflib.get_close_matches(file.stem, alike, n=1, cutoff=NEAR)]
    close = close or [f.name for f in files if f.stem == file.stem]
    return f" (did you mean {close[0]!r}?)" if close else ""
