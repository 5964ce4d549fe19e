"""Machine code on disk: whole or made again, in the folder that was chosen or nowhere, by one process."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


def tripled(x):
    return 3.0 * x


def scaled(factor: float) -> Callable[[float], float]:
    return lambda x: factor * x


@pytest.mark.parametrize(
    "part", ["function", "constant", "closure", "option", "setting", "processor", "python"]
)
def test_what_differs_in_anything_is_another_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    usual = store.Store(lambda: folder, double).file(SIGNATURE)
    assert store.Store(lambda: folder, double).file(SIGNATURE) == usual
    function, options, before = double, {}, usual
    if part == "function":
        function = tripled
    elif part == "constant":  # two on one line
        first, function = (lambda x: 2.0 * x), (lambda x: 3.0 * x)  # fmt: skip
        before = store.Store(lambda: folder, first).file(SIGNATURE)
    elif part == "closure":
        before, function = store.Store(lambda: folder, scaled(2.0)).file(SIGNATURE), scaled(3.0)
    elif part == "option":
        options = {"error_model": "numpy"}
    elif part == "setting":
        monkeypatch.setattr(store.numba.config, "OPT", 0)
    elif part == "processor":
        codegen = store.cpu_target.target_context.codegen()
        monkeypatch.setattr(type(codegen), "magic_tuple", lambda self: ("another processor",))
    else:
        monkeypatch.setattr(store.sys, "version", "4.0")
    assert store.Store(lambda: folder, function, **options).file(SIGNATURE) != before


def test_a_source_that_is_edited_while_a_process_runs_is_for_the_next_one(
    folder: Path, tmp_path: Path
) -> None:
    """The old machine code was kept under the name of the new source, for good."""
    source = tmp_path / "edited.py"
    source.write_text("def f(x):\n    return 2.0 * x\n")
    names: dict[str, Any] = {}
    exec(compile(source.read_text(), str(source), "exec"), names)
    before = store.Store(lambda: folder, names["f"]).file(SIGNATURE)
    source.write_text(source.read_text() + "\nFACTOR = 3.0\n")
    assert store.Store(lambda: folder, names["f"]).file(SIGNATURE) == before


def test_others_may_read_what_is_kept_and_nobody_else_write_it_whatever_the_umask(folder: Path) -> None:
    for umask in (0o000, 0o077):
        before = os.umask(umask)
        try:
            place = folder / f"{umask:o}" / "kernels"
            assert hits(place) == 0
        finally:
            os.umask(before)
        (file,) = place.glob("*.kept")
        assert stat.S_IMODE(file.stat().st_mode) == 0o644
        assert all(not path.stat().st_mode & 0o022 for path in (place, place.parent, *place.iterdir()))


def test_a_lock_is_given_back_although_a_child_was_forked_meanwhile(folder: Path) -> None:
    with shared_file.alone(folder, "one"):
        child = os.fork()
        if child == 0:
            time.sleep(5.0)
            os._exit(0)
    try:
        begun = time.monotonic()
        with shared_file.alone(folder, "one", 4.0):
            assert time.monotonic() - begun < 2.0
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@pytest.mark.skipif(os.geteuid() != 0, reason="root alone can take the right to look away from itself")
def test_a_folder_that_may_not_be_entered_is_refused_in_a_sentence(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    os.chown(closed, 65534, 65534)
    program = (
        "from hapticsim.errors import HapticsimError\n"
        "from hapticsim.files.cache_folder import cache_folder, refuse_unwritable\n"
        "try: refuse_unwritable(cache_folder('kernels'))\n"
        "except HapticsimError as error: print(error)"
    )
    rights = "-dac_override,-dac_read_search"
    done = subprocess.run(
        ["setpriv", f"--bounding-set={rights}", f"--inh-caps={rights}", sys.executable, "-c", program],
        env=os.environ | {"HAPTICSIM_CACHE_DIR": str(closed / "below")}, text=True, capture_output=True,
    )  # fmt: skip
    assert done.stderr == "" and "cannot keep compiled code (Permission denied): set HAPTICSIM" in done.stdout
