"""How much a mesh may be, and the sentences for what is more."""

from __future__ import annotations

from pathlib import Path

from hapticsim.errors import ConfigError

MOST_TRIANGLES = 2_000_000  # what a laser scan has: 100 MB as STL; reading takes 4 s a million
MOST_PARTS = 1000  # solids, or instances of geometry: a car has fewer that can be touched
MOST_NODES = (
    100_000  # of a COLLADA file, each counted where it is placed: nodes place others, which place others
)


def too_many(path: Path, triangles: int) -> ConfigError:
    """Return the refusal of a mesh with more triangles than may be."""
    return ConfigError(
        path,
        "",
        f"has {min(triangles, 10**15)} triangles and may have {MOST_TRIANGLES}: make it coarser "
        "(Blender: Decimate; MeshLab: Quadric Edge Collapse Decimation).",
    )


def too_many_parts(path: Path, what: str) -> ConfigError:
    """Return the refusal of a mesh in more parts than may be."""
    return ConfigError(path, "", f"has more than {MOST_PARTS} {what}: join them, or leave out what is small.")
