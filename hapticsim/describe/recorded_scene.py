"""The scene of a recording, and the programs in it.

A recording is a file that somebody sends, and a mechanism in it is a Python program.  Its text and hash are
in the recording; it is run where the user says that it may be, or where the same text has been run and
compiled before.
"""

from __future__ import annotations

import hashlib

from hapticsim.config.load import MAX_BYTES, loads
from hapticsim.equations.kane.source import recorded_mechanism
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.recording.reader import Recording

TEXT, HASH = "mechanism", "mechanism_sha256"  # metadata of a recording
OFFLINE = "offline"  # its kind, where the mechanism moved alone: rows at accepted steps, and no ticks


def about_mechanism(scene: Scene) -> dict[str, str]:
    """Return what a recording keeps of the mechanism file of its scene; empty where there is none."""
    text = scene.model.program
    return {} if text is None else {TEXT: text, HASH: _hash(text)}


def scene_of(recording: Recording, trust: bool) -> Scene:
    """Return the scene of a recording.

    trust : run a Python program in it, whoever wrote it.

    Raises
    ------
    ConfigError : it holds a program that was never run here, or what is no scene.
    """
    text = recording.metadata.get(TEXT)
    if len(recording.config_text) > MAX_BYTES:
        raise ConfigError(
            recording.path, "", f"has a scene of more than {MAX_BYTES // 1_000_000} MB: this is no scene."
        )
    if text is not None and _hash(text) != recording.metadata.get(HASH):
        raise ConfigError(
            recording.path, "", "has a mechanism whose text and hash do not agree: it was changed or damaged."
        )
    refusal = (
        f"is a Python program of {recording.path} that was never run on this computer"
        f"{f' (sha256 {_hash(text)[:16]})' if text is not None else ''}: "
        "give --trust to run it, if you know who wrote it."
    )
    with recorded_mechanism(text, "" if trust else refusal):
        return loads(recording.config_text, recording.metadata.get("path") or recording.path)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
