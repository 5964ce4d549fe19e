"""Machine code on disk: whole or made again, in the folder that was chosen or nowhere, by one process."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from numba import float64

from hapticsim.files import shared_file
from hapticsim.kernels.machine_code import cache, store
from hapticsim.kernels.machine_code.cache import is_kept, keep

SIGNATURE = float64(float64)
PROGRAM = """
import sys, time
from numba import float64
from numba.core.dispatcher import Dispatcher
from hapticsim.kernels.machine_code import cache

def double(x):
    return 2.0 * x

kept_later = cache.kept(double)  # as at an import
if "slow" in sys.argv:
    compile_kernel = Dispatcher.compile

    def slowly(self, signature):
        time.sleep(0.5)
        return compile_kernel(self, signature)

    Dispatcher.compile = slowly
now = cache.keep(double, float64(float64))
assert now(4.0) == kept_later(4.0) == 8.0
print(sum(now.stats.cache_hits.values()), flush=True)
"""


def double(x):
    return 2.0 * x


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    return tmp_path / "kernels"


def hits(folder: Path) -> int:
    """How often the machine code of ``double`` came from the folder."""
    compiled = keep(double, SIGNATURE, folder=lambda: folder)
    assert compiled(4.0) == 8.0
    return sum(compiled.stats.cache_hits.values())


def run(tmp_path: Path, folder: Path, *words: str, start: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Another process that keeps ``double``, and prints how often it came from the folder."""
    environment = os.environ | {"HAPTICSIM_CACHE_DIR": str(folder), "HOME": str(tmp_path / "home")}
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    command = [*start, sys.executable, str(program), *words]
    return subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def test_it_is_compiled_once_and_loaded_afterwards(folder: Path) -> None:
    assert not is_kept(double, SIGNATURE, lambda: folder)
    assert [hits(folder) for _ in range(3)] == [0, 1, 1]
    assert is_kept(double, SIGNATURE, lambda: folder)
    assert not is_kept(double, float64(float64, float64), lambda: folder), "another signature"
    (file,) = folder.glob("*.kept")
    assert file.name.startswith(f"{__name__}.double-")


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:10],
        lambda data: data[:-1],
        lambda data: data + b"0",
        lambda data: data[:-200] + bytes([data[-200] ^ 1]) + data[-199:],
        lambda data: bytes(len(data)),
    ],
    ids=["empty", "begun", "truncated", "longer", "one bit", "zeros"],
)
def test_a_damaged_file_is_made_again(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    assert hits(folder) == 0
    (file,) = folder.glob("*.kept")
    file.write_bytes(damage(file.read_bytes()))
    assert not is_kept(double, SIGNATURE, lambda: folder)
    assert [hits(folder), hits(folder)] == [0, 1]


def test_what_is_whole_and_of_no_use_is_made_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    payload = b"what another numba wrote"
    monkeypatch.setattr(store, "dumps", lambda data: payload)
    assert hits(folder) == 0
    monkeypatch.undo()
    assert is_kept(double, SIGNATURE, lambda: folder)
    assert [hits(folder), hits(folder)] == [0, 1]


def test_a_disk_that_fills_up_costs_the_file_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shared_file.os, "replace", full)
    assert [hits(folder), hits(folder)] == [0, 0]
    assert [path.suffix for path in folder.iterdir()] == [".lock"], "no draft is left"


def test_where_nothing_can_be_written_it_is_compiled_and_kept_nowhere(tmp_path: Path) -> None:
    """numba by itself takes __pycache__ or the user's cache, whose files no hash of the sources names."""
    (tmp_path / "a file").write_text("")
    before = set(Path(cache.__file__).parents[2].rglob("*.nb*"))
    said, trouble = run(tmp_path, tmp_path / "a file" / "below").communicate(timeout=100)
    assert (said, trouble) == ("0\n", "")
    assert set(Path(cache.__file__).parents[2].rglob("*.nb*")) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a file", "program.py"]


def test_a_folder_that_may_only_be_read_is_used(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert run(tmp_path, folder).communicate(timeout=100)[0] == "0\n"
    places = [folder, *folder.glob("kernels-*")]
    before = {path: path.stat().st_mtime_ns for path in places[1].iterdir()}
    for place in places:
        place.chmod(0o500)
    start = ("setpriv", "--bounding-set=-dac_override", "--inh-caps=-dac_override") * (os.geteuid() == 0)
    try:
        said, trouble = run(tmp_path, folder, start=start).communicate(timeout=100)
    finally:
        for place in places:
            place.chmod(0o700)
    assert (said, trouble) == ("1\n", "")
    assert {path: path.stat().st_mtime_ns for path in places[1].iterdir()} == before


def test_of_processes_that_want_the_same_kernel_one_compiles_and_the_others_load(tmp_path: Path) -> None:
    others = [run(tmp_path, tmp_path / "cache", "slow") for _ in range(3)]
    said = sorted(other.communicate(timeout=100) for other in others)
    assert said == [("0\n", ""), ("1\n", ""), ("1\n", "")]


def test_a_lock_that_is_never_given_back_is_waited_for_and_no_longer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "WAIT_s", 0.2)
    name = store.Store(lambda: folder, double).file(SIGNATURE).stem
    with shared_file.alone(folder, name):
        assert [hits(folder), hits(folder)] == [0, 1]


def test_a_start_that_can_keep_nothing_is_refused_before_anything_is_compiled(tmp_path: Path) -> None:
    (tmp_path / "a file").write_text("")
    folder = tmp_path / "a file" / "cache"
    command = [sys.executable, "-m", "hapticsim", "run", "wam_table", "--device", "scripted"]
    done = subprocess.run(
        command, env=os.environ | {"HAPTICSIM_CACHE_DIR": str(folder)}, text=True, capture_output=True
    )
    assert done.returncode == 2, done
    said = done.stdout + done.stderr
    assert f"{folder}/" in said and "compiling" not in said and "Traceback" not in said
    assert "cannot keep compiled code (Not a directory): set HAPTICSIM_CACHE_DIR to a folder that" in said
