"""Files in ROS packages: ``package://NAME/path``, near the URDF or where ROS looks."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

ROS_FOLDERS = (("ROS_PACKAGE_PATH", "."), ("AMENT_PREFIX_PATH", "share"))  # variables, and where packages lie


def package_file(urdf: Path, package: str, rest: str) -> Path | None:
    """Return the file ``rest`` of a package, or None where no such file is.

    The package is looked for among the folders above the URDF, then in ROS_PACKAGE_PATH and
    AMENT_PREFIX_PATH.
    """
    for folder in _package_folders(urdf, package):
        if os.path.isfile(folder / rest):  # unlike Path.is_file it raises nothing
            return folder / rest
    return None


def _package_folders(urdf: Path, package: str) -> Iterator[Path]:
    for above in urdf.resolve().parents:
        if above.name == package:
            yield above
        yield above / package
    for variable, inner in ROS_FOLDERS:
        for folder in filter(None, os.environ.get(variable, "").split(os.pathsep)):
            yield Path(folder) / inner / package
