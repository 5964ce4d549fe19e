"""The scenes that come with hapticsim, by name: ``hapticsim run panda_table`` from any folder."""

from __future__ import annotations

import os
from importlib.util import find_spec
from pathlib import Path

import yaml

from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.files.near_file import near_file

DEFAULT = "wam_table"
_PACKAGE = Path(__file__).parents[1]
# Installed, the scenes stand in the package; in a checkout, in its folder configs/.
FOLDERS = (_PACKAGE / "scenes", _PACKAGE.parent / "configs")


def shipped_scenes() -> dict[str, Path]:
    """Return the scene files by name, sorted by name."""
    folder = next((f for f in FOLDERS if f.is_dir()), FOLDERS[0])
    return {file.stem: file for file in sorted(folder.glob("*.yaml"))}


def text_of(name: str) -> str:
    """Return the text of a shipped scene.

    Raises
    ------
    ConfigError : no scene has this name.
    """
    scenes = shipped_scenes()
    if name not in scenes:
        raise ConfigError(
            name,
            "",
            f"is no scene that comes with hapticsim{nearest(name, scenes)}: give one of {listed(scenes)}.",
        )
    return scenes[name].read_text(encoding="utf-8")


def scene_path(given: str | Path) -> Path:
    """Return the file that is meant: the one at that path, else the shipped scene of that name.

    Raises
    ------
    ConfigError : a bare word that is neither a file nor the name of a shipped scene.
    """
    path = Path(given)
    is_word = path.name == str(given) and not path.suffix and "\0" not in path.name
    if not is_word or os.path.exists(path):
        return path
    scenes = shipped_scenes()
    if path.name not in scenes:
        near = near_file(path, (".yaml", ".yml", ".urdf", ".xml")) or nearest(path.name, scenes)
        raise ConfigError(
            given,
            "",
            f"is neither a file here nor a scene that comes with hapticsim{near}: "
            f"give a scene file, or one of {listed(scenes)}.",
        )
    return scenes[path.name]


def about(file: Path) -> str:
    """Return the first sentence of the comment that a scene file starts with."""
    words: list[str] = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        words += line.lstrip("# ").split()
        if words and words[-1].endswith("."):
            break
    sentence, stop, _ = " ".join(words).partition(". ")
    return sentence + "." * bool(stop)


def missing_extras(file: Path) -> list[str]:
    """Return the extras that a scene needs and that are not installed."""
    from hapticsim.model.robot_file.library import library_models

    scene = yaml.safe_load(file.read_text(encoding="utf-8"))
    robot = scene.get("robot") or {}
    urdf, mjcf = robot.get("urdf") or {}, robot.get("mjcf") or {}
    missing = []
    if "package" in urdf and not library_models():
        missing.append("robots")
    if "mechanism" in robot and find_spec("sympy") is None:
        missing.append("mechanisms")
    if mjcf and find_spec("mujoco") is None:
        missing.append("mjcf")
    shapes = scene.get("shapes", [])
    if any("decompose" in one for one in (urdf, mjcf, *shapes)) and find_spec("coacd") is None:
        missing.append("decomposition")
    meshes = any(shape.get("kind") == "mesh" for shape in shapes)
    meshes = meshes or urdf.get("collision") or (bool(urdf) and urdf.get("visual", True))
    if meshes and find_spec("trimesh") is None:
        missing.append("meshes")
    return missing


def listing() -> str:
    """Return a line for each shipped scene: its name, what it shows, and the extras it needs and lacks."""
    scenes = shipped_scenes()
    width = max(map(len, scenes), default=0)
    lines = []
    for name, file in scenes.items():
        extras = ",".join(missing_extras(file))
        need = f"  [needs: pip install 'hapticsim[{extras}]']" if extras else ""
        lines.append(f"{name:{width}}  {about(file)}{need}")
    return "\n".join(lines)
