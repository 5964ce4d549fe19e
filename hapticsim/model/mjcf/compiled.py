"""The door for MJCF files: MuJoCo compiles them in another process, which a bad file may end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from io import BytesIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from hapticsim.errors import LONGEST, ConfigError
from hapticsim.files.input_file import input_bytes

MOST_BYTES = 20_000_000  # as of a URDF
MOST_COMPILED = 1 << 30  # bytes
LONGEST_s = 60.0
OLDEST = 4  # of MuJoCo: the fields that are asked for
COMPILER = str(Path(__file__).with_name("compile_alone.py"))
SUFFIXES = (".xml", ".mjcf")
LARGEST = 1e15  # as in a URDF
NUMBERS = (
    "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "jnt_pos", "jnt_axis",
    "jnt_range", "jnt_actfrcrange", "jnt_stiffness", "qpos0", "qpos_spring", "dof_damping", "dof_armature",
    "dof_frictionloss", "geom_pos", "geom_quat", "geom_size", "geom_rgba", "mesh_vert", "hfield_size",
    "hfield_data", "site_pos",
    "site_quat", "eq_data", "wrap_prm", "key_qpos", "key_qvel",
)  # fmt: skip
NOT_NEGATIVE = ("jnt_stiffness", "dof_damping", "dof_armature", "dof_frictionloss")


def compiled(path: Path, notes: list[str]) -> Any:
    """Return the ``mujoco.MjModel`` of a file, with what it includes.

    notes : gets what MuJoCo warns of.

    Raises
    ------
    ConfigError : MuJoCo is not installed, or is too old; the file is missing, no MJCF or too large; one
        sentence with what MuJoCo says of it.
    """
    _check_file(path)
    _check_mujoco(path)
    import mujoco

    with tempfile.TemporaryDirectory(prefix="hapticsim-") as folder:
        binary = Path(folder, "model.mjb")
        command = [sys.executable, "-P", COMPILER, str(path), str(binary)]  # -P: no modules of that folder
        # Each of MuJoCo's threads, one per processor, would reserve 128 MB of the addresses for itself.
        environment = os.environ | {"MALLOC_ARENA_MAX": "2"}
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=LONGEST_s, check=False, env=environment
            )
        except subprocess.TimeoutExpired:
            raise ConfigError(
                path, "", f"takes MuJoCo longer than {LONGEST_s:g} s to compile: make it smaller."
            ) from None
        said = _answer(done.stdout)
        if said is None:
            raise ConfigError(path, "", _end(done.returncode, done.stderr))
        if "error" in said:
            raise ConfigError(path, "", f"is refused by MuJoCo: {_sentence(said['error'])}; correct it.")
        notes += [f"MuJoCo warns: {_sentence(warning)}." for warning in said["warnings"]]
        try:
            if binary.stat().st_size > MOST_COMPILED:
                raise ConfigError(path, "", "takes more than 1 GiB when compiled: make it smaller.")
            mj = mujoco.MjModel.from_binary_path(str(binary))
        except (OSError, ValueError) as error:
            raise ConfigError(
                path, "", f"cannot be handed over by MuJoCo ({_sentence(str(error))}): is the disk full?"
            ) from None
    _check_numbers(path, mj)
    return mj


def _check_mujoco(path: Path) -> None:
    try:
        found = version("mujoco")
    except PackageNotFoundError:
        found = ""
    if not found or int(found.split(".")[0]) < OLDEST:
        lack = f"{found} is installed" if found else "which is not installed"
        raise ConfigError(
            path, "", f"needs mujoco {OLDEST}.0 or newer, {lack}: pip install 'hapticsim[mjcf]'."
        )


def _check_numbers(path: Path, mj: Any) -> None:
    """Refuse what has no square, or none that is finite."""
    for name, values in [*((n, np.asarray(getattr(mj, n))) for n in NUMBERS), ("gravity", mj.opt.gravity)]:
        if not np.all(np.abs(values) <= LARGEST):
            what = name.replace("_", " ")
            raise ConfigError(path, "", f"has a {what} that is no number up to {LARGEST:g}: correct it.")
    for name in NOT_NEGATIVE:
        if np.any(np.asarray(getattr(mj, name)) < 0.0):
            what = name.partition("_")[2]
            raise ConfigError(path, "", f"has a joint with a negative {what}: it must be 0 or above.")


def _check_file(path: Path) -> None:
    too_large = f"is larger than {MOST_BYTES // 1_000_000} MB: this is no robot."
    data = input_bytes(path, "MJCF file", MOST_BYTES, too_large, suffixes=SUFFIXES)
    try:
        _, root = next(ElementTree.iterparse(BytesIO(data), ("start",)))
    except (ElementTree.ParseError, StopIteration):
        raise ConfigError(path, "", "is not XML: an MJCF file starts with <mujoco>.") from None
    except (LookupError, ValueError):  # of the codec
        raise ConfigError(path, "", "names an encoding that is not read: save it as UTF-8.") from None
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


def _end(status: int, complaints: str) -> str:
    """What is said of a process that ended without an answer."""
    if status < 0:
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"ends MuJoCo, which compiles it ({name}): make it smaller."
    last = (complaints.strip().splitlines() or ["nothing said"])[-1]
    return f"cannot be compiled, as what runs MuJoCo failed ({_sentence(last)}): install mujoco anew."
