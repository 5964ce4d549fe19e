"""From a config file to a scene: the one door for files, where every refusal is a sentence."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from hapticsim.config.build import build
from hapticsim.config.refusal import dotted, sentence
from hapticsim.config.schema import SceneFile
from hapticsim.config.yaml_text import merge, parse
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.shipped_scenes import scene_path
from hapticsim.special_file import SPECIAL, is_special

MAX_BYTES = 4_000_000
MAX_EXTENDS = 8
NEAR_FILE = 0.7  # of difflib: two letters exchanged or missing, and not another word


def load(path: str | Path) -> Scene:
    """Read a scene file.

    Parameters
    ----------
    path : YAML file; ``docs/config.md`` lists its keys.  Paths inside it are relative to it.  A bare word
        that is no file is the name of a scene that comes with hapticsim, such as ``wam_table``.

    Raises
    ------
    ConfigError : one sentence with the file, the key, what was found and what is allowed.
    """
    path = scene_path(path)
    return loads(read_text(path), path)


def loads(text: str, path: str | Path = "<text>") -> Scene:
    """Make a scene of the text of a config file, as ``load`` does; ``path`` is where it would stand."""
    layers = _layers(text, Path(path))
    data: dict[str, Any] = {}
    for _, layer in layers:
        data = merge(data, layer)
    try:
        entry = SceneFile.model_validate(data)
    except ValidationError as error:
        place, problem = sentence(SceneFile, error)
        raise ConfigError(_file_of(place, layers), dotted(place), problem) from None
    # A recording keeps the text; one that leans on another file must carry that file's values too.
    source = text if len(layers) == 1 else yaml.safe_dump(data, sort_keys=False)
    return build(entry, Path(path), source, lambda place: _file_of(place, layers))


def read_text(path: str | Path) -> str:
    """Return the text of a config or robot file, or refuse in one sentence."""
    file = Path(path)
    try:
        if file.is_dir():
            raise ConfigError(path, "", "is a folder: name the file inside it.")
        if is_special(file):
            raise ConfigError(path, "", SPECIAL)
        if file.stat().st_size > MAX_BYTES:
            raise ConfigError(
                path, "", f"is larger than {MAX_BYTES // 1_000_000} MB: this is not a config file."
            )
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise ConfigError(path, "", f"does not exist{_near_file(file)}: check the path.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(path, "", f"is not UTF-8 text (byte {error.start}): save it as UTF-8.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            path, "", f"cannot be read ({reason}): check the path and its permissions."
        ) from None


def _near_file(file: Path) -> str:
    """Return a file of the same folder whose name is nearly this one, its suffix aside."""
    try:
        there = {f.stem: f.name for f in file.parent.iterdir() if f.suffix == file.suffix}
    except FileNotFoundError:
        return " (nor does its folder)"
    except OSError:
        return " (nor can its folder be read)"
    close = difflib.get_close_matches(file.stem, there, n=1, cutoff=NEAR_FILE)
    return f" (did you mean {there[close[0]]!r}?)" if close else ""


def _layers(text: str, path: Path) -> list[tuple[Path, dict[str, Any]]]:
    """The files that make up a scene, the one that is extended first."""
    layers: list[tuple[Path, dict[str, Any]]] = []
    seen: list[Path] = []
    while True:
        data = parse(path, text)
        seen.append(path.resolve())
        extends = data.pop("extends", None)
        layers.insert(0, (path, data))
        if extends is None:
            return layers
        if not isinstance(extends, str) or not extends or "\0" in extends:
            raise ConfigError(path, "extends", "must be the name of one other scene file.")
        below = path.parent / extends
        if below.resolve() in seen:
            raise ConfigError(path, "extends", f"leads back to {extends!r}: a file cannot extend itself.")
        if len(seen) >= MAX_EXTENDS:
            raise ConfigError(path, "extends", f"is more than {MAX_EXTENDS} files deep: merge some of them.")
        path, text = below, read_text(below)


def _file_of(place: tuple[str | int, ...], layers: list[tuple[Path, dict[str, Any]]]) -> Path:
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
