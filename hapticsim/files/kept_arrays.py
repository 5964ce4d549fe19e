"""Arrays that take long to make, kept on disk: read if they are whole, made again if not."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from io import BytesIO

import numpy as np

from hapticsim.errors import HapticsimError
from hapticsim.files.cache_folder import cache_folder
from hapticsim.files.shared_file import write_whole

DIGEST = 32  # bytes of the check sum
Arrays = Mapping[str, np.ndarray]


def kept_arrays(kind: str, about: Iterable[bytes], make: Callable[[], Arrays]) -> Arrays:
    """Return arrays by name, from the cache where they are kept, else as ``make`` makes them.

    kind : first word of the folder, of those that ``hapticsim compile --prune`` looks at.
    about : all that decides what they are, the program that makes them included.

    A file begins with its check sum: one that is damaged is not used.  Where nothing can be kept they are
    made every time.
    """
    digest = hashlib.sha256()
    for part in about:
        digest.update(hashlib.sha256(part).digest())
    try:
        file = cache_folder(f"{kind}-{digest.hexdigest()[:32]}") / "arrays.kept"
    except HapticsimError:
        return make()
    with suppress(OSError):
        whole = file.read_bytes()
        if whole[:DIGEST] == hashlib.sha256(memoryview(whole)[DIGEST:]).digest():
            inside = BytesIO(whole)  # not copied, as a part of it would be
            inside.seek(DIGEST)
            with np.load(inside, allow_pickle=False) as found:
                return {name: found[name] for name in found.files}
    made = make()
    out = BytesIO()
    save: Callable[..., None] = np.savez  # its types take every name for one of its own arguments
    save(out, **made)
    whole = out.getvalue()
    with suppress(OSError):
        write_whole(file, hashlib.sha256(whole).digest() + whole)
    return made
