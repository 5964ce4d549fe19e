"""Ready robots by name: the URDF files that the package example-robot-data installs.

Only the list of files of the installed package is looked at; none of its code is imported.
"""

from __future__ import annotations

from collections import Counter
from importlib import metadata
from pathlib import Path

from hapticsim.errors import ConfigError, listed, nearest

PACKAGE = "example-robot-data"


def library_models() -> dict[str, Path]:
    """Return the URDF files of the installed package by name, empty when it is not installed.

    A robot is named by its file without the ending (``panda``).  Where several files share that name, the
    folder of the description goes in front of it (``anymal_b_simple/anymal``).
    """
    try:
        files = metadata.files(PACKAGE) or []
    except metadata.PackageNotFoundError:
        return {}
    urdfs = sorted((f for f in files if f.suffix == ".urdf"), key=str)
    count = Counter(f.stem for f in urdfs)
    found: dict[str, Path] = {}
    for urdf in urdfs:
        description = urdf.parts[-3].removesuffix("_description").removesuffix("_data")
        name = urdf.stem if count[urdf.stem] == 1 else f"{description}/{urdf.stem}"
        found[name] = Path(str(urdf.locate()))
    return found


def library_path(name: str, file: object = "<argument>", key: str = "robot.urdf.package") -> Path:
    """Return the URDF file of a robot by its name, or refuse with the nearest name.

    file, key : where the name stands, for the refusal.
    """
    models = library_models()
    if not models:
        raise ConfigError(
            file,
            key,
            f"= {name!r} needs {PACKAGE}, which is not installed: pip install 'hapticsim[robots]'.",
        )
    if name not in models:
        raise ConfigError(
            file,
            key,
            f"= {name!r} is not a robot of {PACKAGE}{nearest(name, models)}: it has {listed(models)}.",
        )
    return models[name]
