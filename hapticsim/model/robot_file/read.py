"""A file that holds a robot and no scene, told apart by its suffix: URDF or MJCF."""

from __future__ import annotations

from pathlib import Path

from hapticsim.model.mjcf.read import load_mjcf
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.urdf import load_urdf

TITLES = {".urdf": "a URDF", ".xacro": "a URDF", ".xml": "an MJCF file", ".mjcf": "an MJCF file"}


def robot_file(path: str | Path) -> str | None:
    """Return what a robot file is called, or None of a path that is none."""
    return TITLES.get(Path(path).suffix.lower())


def load_robot(path: str | Path, notes: list[str] | None = None) -> Model:
    """Read the tree in a robot file, as ``load_urdf`` or ``load_mjcf`` does."""
    is_urdf = robot_file(path) == TITLES[".urdf"]
    return load_urdf(path, notes=notes) if is_urdf else load_mjcf(path, notes)
