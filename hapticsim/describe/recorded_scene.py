"""The scene of a recording, and the files that it was made of: programs, robots, meshes.

A recording is a file that somebody sends, and a mechanism in it is a Python program.  Its text and hash are
in the recording; it is run where the user says that it may be, or where the same text has been run and
compiled before.  Of a mesh the recording has the hash: the file must still give that surface.  Of a robot
file it has the hash, too: one that was edited may still give the same motion, and is only told.
"""

from __future__ import annotations

import hashlib
import json

from hapticsim.config.load import MAX_BYTES, loads
from hapticsim.equations.kane.source import recorded_mechanism
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.recording.reader import Recording

TEXT, HASH = "mechanism", "mechanism_sha256"  # metadata of a recording
ROBOT = "robot_sha256"  # of a URDF or MJCF file
MESHES = "mesh_sha256"  # hashes by shape, as JSON
OFFLINE = "offline"  # its kind, where the mechanism moved alone: rows at accepted steps, and no ticks


def about_files(scene: Scene) -> dict[str, str]:
    """Return what a recording keeps of the files of its scene; empty where it is made of its text alone."""
    text = scene.model.program
    about = {} if text is None else {TEXT: text, HASH: _hash(text)}
    if scene.robot_fingerprint:
        about[ROBOT] = scene.robot_fingerprint
    if prints := _fingerprints(scene):
        about[MESHES] = json.dumps(prints)
    return about


def scene_of(recording: Recording, trust: bool) -> Scene:
    """Return the scene of a recording.

    trust : run a Python program in it, whoever wrote it.

    Raises
    ------
    ConfigError : it holds a program that was never run here, or what is no scene; a mesh file is another.
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
        scene = loads(recording.config_text, recording.metadata.get("path") or recording.path)
    _check_meshes(recording, scene)
    return scene


def has_its_robot(recording: Recording, scene: Scene) -> bool:
    """Whether the robot file is the one that was recorded, as far as the recording knows."""
    recorded = recording.metadata.get(ROBOT, scene.robot_fingerprint)
    return bool(recorded == scene.robot_fingerprint)


def _check_meshes(recording: Recording, scene: Scene) -> None:
    """Refuse a mesh file that gives another surface than the one that was recorded."""
    try:
        recorded = dict(json.loads(recording.metadata.get(MESHES, "{}")))
    except (ValueError, TypeError):
        recorded = {"": ""}
    found = _fingerprints(scene)
    for name in sorted({*found, *recorded}) if recorded else ():
        if recorded.get(name) != found.get(name):
            raise ConfigError(
                recording.path,
                "",
                f"was made with another mesh of the shape {name!r}: put the file of then in its place.",
            )


def _fingerprints(scene: Scene) -> dict[str, str]:
    return {s.name: s.fingerprint for s in scene.shapes if s.mesh is not None}


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
