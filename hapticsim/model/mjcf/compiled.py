"""The door for MJCF files: MuJoCo compiles them in another process, which a bad file may end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from hapticsim.errors import LONGEST, ConfigError
from hapticsim.files.near_file import near_file
from hapticsim.files.special_file import SPECIAL, is_special

MOST_BYTES = 20_000_000  # as of a URDF
LONGEST_s = 60.0
SUFFIXES = (".xml", ".mjcf")
LARGEST = 1e15  # as in a URDF
NUMBERS = (
    "body_pos", "body_ipos", "body_mass", "body_inertia", "jnt_pos", "jnt_stiffness", "qpos0", "qpos_spring",
    "dof_damping", "dof_armature", "dof_frictionloss", "geom_pos", "geom_size", "site_pos", "eq_data",
    "wrap_prm", "key_qpos", "key_qvel",
)  # fmt: skip


def compiled(path: Path, notes: list[str]) -> Any:
    """Return the ``mujoco.MjModel`` of a file, with what it includes.

    notes : gets what MuJoCo warns of.

    Raises
    ------
    ConfigError : MuJoCo is not installed; the file is missing, no MJCF or too large; one sentence with what
        MuJoCo says of it.
    """
    _check_file(path)
    if find_spec("mujoco") is None:
        raise ConfigError(path, "", "needs mujoco, which is not installed: pip install 'hapticsim[mjcf]'.")
    import mujoco

    with tempfile.TemporaryDirectory(prefix="hapticsim-") as folder:
        binary = Path(folder, "model.mjb")
        command = [sys.executable, "-m", "hapticsim.model.mjcf.compile_alone", str(path), str(binary)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST_s, check=False)
        except subprocess.TimeoutExpired:
            raise ConfigError(
                path, "", f"takes MuJoCo longer than {LONGEST_s:g} s to compile: make it smaller."
            ) from None
        said = _answer(done.stdout)
        if said is None:
            raise ConfigError(
                path, "", f"ends MuJoCo, which compiles it ({_end_of(done.returncode)}): make it smaller."
            )
        if "error" in said:
            raise ConfigError(path, "", f"is refused by MuJoCo: {_sentence(said['error'])}; correct it.")
        notes += [f"MuJoCo warns: {_sentence(warning)}." for warning in said["warnings"]]
        mj = mujoco.MjModel.from_binary_path(str(binary))
    _check_numbers(path, mj)
    return mj


def _check_numbers(path: Path, mj: Any) -> None:
    """Refuse what has no square, or none that is finite."""
    for name in NUMBERS:
        values = np.asarray(getattr(mj, name))
        if not np.all(np.abs(values) <= LARGEST):
            what = name.replace("_", " ")
            raise ConfigError(path, "", f"has a {what} that is no number up to {LARGEST:g}: correct it.")


def _check_file(path: Path) -> None:
    if is_special(path):
        raise ConfigError(path, "", SPECIAL)
    try:
        if path.is_dir():
            raise ConfigError(path, "", "is a folder: name the MJCF file in it.")
        if path.stat().st_size > MOST_BYTES:
            raise ConfigError(path, "", f"is larger than {MOST_BYTES // 1_000_000} MB: this is no robot.")
        data = path.read_bytes()
    except FileNotFoundError:
        near = near_file(path, SUFFIXES)
        raise ConfigError(path, "", f"does not exist{near}: check the path of the MJCF file.") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError(
            path, "", f"cannot be read ({reason}): check the path and its permissions."
        ) from None
    try:
        _, root = next(ElementTree.iterparse(BytesIO(data), ("start",)))
    except (ElementTree.ParseError, StopIteration):
        raise ConfigError(path, "", "is not XML: an MJCF file starts with <mujoco>.") from None
    if root.tag != "mujoco":
        remedy = ": name it in robot.urdf" if root.tag == "robot" else ""
        raise ConfigError(
            path, "", f"has the root element <{root.tag}>, and an MJCF file starts with <mujoco>{remedy}."
        )


def _answer(text: str) -> dict[str, Any] | None:
    """What the other process said last; None: it did not come so far."""
    try:
        answer = json.loads(text.splitlines()[-1])
    except (ValueError, IndexError):
        return None
    return answer if isinstance(answer, dict) else None


def _sentence(text: str) -> str:
    """What MuJoCo says as a part of a sentence."""
    words = " ".join(text.replace("Error: ", "").split()).rstrip(".;: ")
    words = "".join(c if c.isprintable() else "?" for c in words)
    return words if len(words) <= LONGEST else f"{words[: LONGEST - 3]}..."


def _end_of(status: int) -> str:
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"
