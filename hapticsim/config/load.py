"""From a config file to a scene: the one door for files, where every refusal is a sentence."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from hapticsim.arguments import a_function
from hapticsim.config.build import build
from hapticsim.config.overrides import Place, apply_overrides, key_below, key_of
from hapticsim.config.plain_data import plain
from hapticsim.config.schema.refusal import dotted, sentence
from hapticsim.config.schema.scene import SceneFile
from hapticsim.config.shipped_scenes import scene_path, shipped_scenes
from hapticsim.config.yaml_text import merge, parse, to_text
from hapticsim.errors import ConfigError, nearest
from hapticsim.files.input_file import input_bytes
from hapticsim.files.near_file import near_file
from hapticsim.model.scene import Scene

MAX_BYTES = 4_000_000
MAX_EXTENDS = 8
NO_FILE = "<mapping>"  # what a scene that was given as a mapping is called


def load(
    path: str | Path | Mapping[str, Any],
    overrides: Mapping[str, Any] | None = None,
    option: str = "overrides",
    progress: Callable[[str], Any] | None = None,
) -> Scene:
    """Read a scene.

    Parameters
    ----------
    path : YAML file; ``docs/config.md`` lists its keys.  Paths inside it are relative to it.  A bare word
        that is no file is the name of a scene that comes with hapticsim, such as ``wam_table``.  Or the
        mapping that such a file holds; paths in it are relative to the working folder.
    overrides : values by dotted key, such as ``{"robot.bodies.puck.inertial.mass_kg": 0.5}``, laid over the
        scene as if the file had been edited; entries of lists by their ``name`` or number.
    option : what refusals call the overrides.
    progress : called with pieces of a line while a mesh is decomposed, which takes seconds and is kept.

    Raises
    ------
    ConfigError : one sentence with the file, the key, what was found and what is allowed.
    """
    a_function("load", "progress", progress)
    if isinstance(path, Mapping):
        return _scene(plain(path, NO_FILE), None, Path(NO_FILE), overrides, option, progress)
    if not isinstance(path, str | Path):
        raise ConfigError(
            "load",
            "path",
            f"of the type {type(path).__name__} is not usable: give a scene file, or its mapping.",
        )
    file = scene_path(path)
    text = read_text(file)
    return _scene(parse(file, text), text, file, overrides, option, progress)


def loads(text: str, path: str | Path = "<text>") -> Scene:
    """Make a scene of the text of a config file, as ``load`` does; ``path`` is where it would stand."""
    return _scene(parse(path, text), text, Path(path))


def _scene(
    data: dict[str, Any],
    text: str | None,
    path: Path,
    overrides: Mapping[str, Any] | None = None,
    option: str = "",
    progress: Callable[[str], Any] | None = None,
) -> Scene:
    layers = _layers(data, path)
    data = {}
    for _, layer in layers:
        data = merge(data, layer)
    laid_over = _checked(overrides, option)
    data, given = apply_overrides(data, laid_over, option)

    def refuse(place: Place, problem: str) -> ConfigError:
        if key := key_of(place, given):
            return ConfigError(option, key, problem)
        return ConfigError(_file_of(place, layers), dotted(place), problem)

    # A recording keeps the text; one that leans on other files or values must carry those too.
    whole = text is not None and len(layers) == 1 and not given
    try:
        try:
            entry = SceneFile.model_validate(data)
        except ValidationError as error:
            raise refuse(*sentence(SceneFile, error)) from None
        source = text if text is not None and whole else to_text(_from_here(data, layers, path))
        scene = build(entry, path, source, lambda place: _file_of(place, layers), refuse, progress)
        return replace(scene, overrides=laid_over)
    except ConfigError as error:  # about something that an override has a part in
        if error.file != option and (key := key_below(error.key, given)):
            raise ConfigError(f"{error.file} with {option} {key}", error.key, error.problem) from None
        raise


def _checked(overrides: Any, option: str) -> dict[str, Any]:
    """The overrides as plain values by key."""
    if not isinstance(overrides, Mapping | None):
        raise ConfigError(
            "load",
            option,
            f"of the type {type(overrides).__name__} are not usable: give a mapping of dotted keys.",
        )
    for key in overrides or {}:
        if not isinstance(key, str):
            raise ConfigError(option, repr(key), "is not a dotted key: keys are words.")
    return {key: plain(value, option, key) for key, value in (overrides or {}).items()}


def read_text(path: str | Path) -> str:
    """Return the text of a config or robot file, or refuse in one sentence."""
    too_large = f"is larger than {MAX_BYTES // 1_000_000} MB: this is not a config file."
    data = input_bytes(path, "file", MAX_BYTES, too_large, near=_near)
    try:
        return TextIOWrapper(BytesIO(data), encoding="utf-8-sig").read()  # line ends as in any text file
    except UnicodeDecodeError as error:
        raise ConfigError(path, "", f"is not UTF-8 text (byte {error.start}): save it as UTF-8.") from None


def _near(file: Path) -> str:
    """Return what was probably meant, a file or a shipped scene, or that the folder is not there either."""
    folder = file.parent
    if not os.path.lexists(folder):
        return " (nor does its folder)"
    if not os.access(folder, os.R_OK | os.X_OK):
        return " (nor can its folder be read)"
    shipped = file.stem in shipped_scenes() and str(folder) == "."
    return near_file(file) or f" (did you mean {file.stem!r}?)" * shipped


def _layers(data: dict[str, Any], path: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The files that make up a scene, the one that is extended first."""
    layers: list[tuple[Path, dict[str, Any]]] = []
    seen: list[Path] = []
    while True:
        seen.append(path.resolve())
        extends = data.pop("extends", None)
        layers.insert(0, (path, data))
        if extends is None:
            return layers
        if not isinstance(extends, str) or not extends or "\0" in extends:
            raise ConfigError(path, "extends", "must be the name of one other scene file.")
        below = path.parent / extends
        if not os.path.lexists(below):
            shipped = shipped_scenes()
            if extends not in shipped:
                near = _near(below) or nearest(extends, shipped)
                why = f"= {extends!r} is neither a file nor a scene that comes with hapticsim{near}:"
                raise ConfigError(path, "extends", f"{why} check the path, which starts at this file.")
            below = shipped[extends]
        if below.resolve() in seen:
            raise ConfigError(path, "extends", f"leads back to {extends!r}: a file cannot extend itself.")
        if len(seen) >= MAX_EXTENDS:
            raise ConfigError(path, "extends", f"is more than {MAX_EXTENDS} files deep: merge some of them.")
        path, data = below, parse(below, read_text(below))


def _from_here(data: dict[str, Any], layers: list[tuple[Path, dict[str, Any]]], path: Path) -> dict[str, Any]:
    """The data, which is valid, with the paths in it as they are from the folder of ``path``.

    Those that stand in a file of another folder start there.
    """
    data = copy.deepcopy(data)
    here = os.path.realpath(path.parent)
    robot, shapes = data["robot"], data.get("shapes", [])
    named: list[tuple[Place, Any, str]] = [
        (("robot", k), robot.get(k), "path") for k in ("urdf", "mjcf", "mechanism")
    ]
    named += [(("shapes", index), shape, "file") for index, shape in enumerate(shapes)]
    for place, section, key in named:
        if section and section.get(key) is not None:
            there = os.path.realpath(_file_of((*place, key), layers).parent)
            if there != here and not os.path.isabs(section[key]):
                section[key] = os.path.relpath(os.path.join(there, section[key]), here)
    return data


def _file_of(place: Place, layers: list[tuple[Path, dict[str, Any]]]) -> Path:
    """The file of the chain that decides the value at ``place``; the outermost one for a missing value."""
    for path, data in reversed(layers):
        here: Any = data
        for part in place:
            if isinstance(here, dict) and part in here:
                here = here[part]
            elif isinstance(here, list) and isinstance(part, int) and part < len(here):
                here = here[part]
            else:
                break
        else:
            return path
    return layers[-1][0]
