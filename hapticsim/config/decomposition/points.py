"""The points of each convex part of a mesh, found by CoACD in another process and kept in the cache.

[Wei, Liu, Ling and Su 2022, Approximate convex decomposition for 3D meshes with collision-aware concavity and
tree search].  The same mesh gives the same bits, on any number of threads.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError, brief
from hapticsim.files.kept_arrays import Arrays, kept_arrays
from hapticsim.model.triangle_mesh import TriangleMesh

Progress = Callable[[str], Any]
LONGEST_s = 300.0  # a torus of 16384 triangles takes 19 s
DECOMPOSER = Path(__file__).with_name("coacd_alone.py")
SOURCES = b"".join(path.read_bytes() for path in (Path(__file__), DECOMPOSER))


def points_of_parts(
    path: Path,
    key: str,
    mesh: TriangleMesh,
    parts: int,
    concavity: float,
    progress: Progress | None = None,
) -> list[np.ndarray]:
    """Return the points (n, 3) [m] whose convex hulls together are about the mesh.

    path, key : of the mesh, for sentences.
    parts : how many there may be.
    concavity : how deep the hollows may be that a part fills, by the size of the mesh (CoACD's threshold).
    progress : called with pieces of a line while it works, only where it is not kept.

    Raises
    ------
    ConfigError : coacd is not installed, takes too long or fails.
    """
    installed = _version(path, key)

    def arrays() -> Arrays:
        tell = progress or (lambda _: None)
        tell(f"decomposing {path.name} ({len(mesh.triangles)} triangles) ... ")
        start = time.perf_counter()
        found = _decomposed(path, key, mesh, parts, concavity)
        tell(f"{time.perf_counter() - start:.1f} s\n")
        return found

    about = f"{installed} {parts} {concavity!r}".encode()
    kept = kept_arrays("meshes", (SOURCES, about, mesh.fingerprint.encode()), arrays)
    return [kept[f"points_{i}"] for i in range(len(kept))]


def _version(path: Path, key: str) -> str:
    try:
        return version("coacd")
    except PackageNotFoundError:
        raise ConfigError(
            path, key, "needs coacd to be decomposed, which is not installed: pip install "
            "'hapticsim[decomposition]'.",
        ) from None  # fmt: skip


def _decomposed(path: Path, key: str, mesh: TriangleMesh, parts: int, concavity: float) -> Arrays:
    with tempfile.TemporaryDirectory(prefix="hapticsim-") as folder:
        source, target = Path(folder, "mesh.npz"), Path(folder, "parts.npz")
        np.savez(
            source, vertices=mesh.vertices, triangles=mesh.triangles, parts=parts, concavity=concavity
        )  # fmt: skip
        command = [sys.executable, "-P", str(DECOMPOSER), str(source), str(target)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_s, check=False)
        except subprocess.TimeoutExpired:
            raise ConfigError(
                path,
                key,
                f"takes longer than {LONGEST_s:g} s to decompose: make it coarser, or allow more concavity.",
            ) from None
        try:
            with np.load(target, allow_pickle=False) as found:
                if found.files:
                    return {name: found[name] for name in found.files}
            said = "it found no part"
        except (OSError, ValueError):
            said = (done.stderr.strip().splitlines() or [f"its process ended with {done.returncode}"])[-1]
    raise ConfigError(path, key, f"cannot be decomposed by coacd ({brief(said)}): mend or coarsen the mesh.")
