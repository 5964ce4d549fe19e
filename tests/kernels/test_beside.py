"""Kernels compiled in processes of their own: waited for, ended with this process, never needed, the same."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

import hapticsim
from hapticsim.kernels import entry
from hapticsim.kernels.machine_code import beside
from hapticsim.kernels.machine_code.beside import Beside
from hapticsim.kernels.machine_code.cache import is_kept, kernel_folder
from hapticsim.kernels.machine_code.called import DECLARED, Called

KERNEL = entry.RUN.path
SMALL = """
import os, sys, time
from numba import float64
from hapticsim.kernels.machine_code.called import Called

if sys.argv[0] == "-c":  # in a process beside
    time.sleep({seconds})

def double(x):
    return 2.0 * x

DOUBLE = Called(double, float64(float64), __name__)
"""


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Nothing is compiled yet, in this process or on disk."""
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(entry, "_beside", [])
    kernel_folder.cache_clear()
    yield
    for process in entry._beside:
        process.end()
    kernel_folder.cache_clear()


def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float) -> Called:
    """A kernel that takes some seconds to import in a process that compiles."""
    name = f"small_kernel_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(SMALL.format(seconds=seconds))
    monkeypatch.syspath_prepend(str(tmp_path))
    called: Called = import_module(name).DOUBLE
    monkeypatch.setitem(DECLARED, called.path, called)
    return called


def test_it_is_waited_for(cold: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    called = small(tmp_path, monkeypatch, 1.0)
    other = Beside([called.path])
    assert not is_kept(called.function, called.signature, **called.options)
    other.wait(called.path)
    assert is_kept(called.function, called.signature, **called.options)
    assert other._process is not None and other._process.wait() == 0
    other.end()


def test_what_fails_over_there_is_waited_for_in_vain_and_no_longer(cold: None) -> None:
    other = Beside(["hapticsim.kernels.entry:no_such_kernel"])
    other.wait("hapticsim.kernels.entry:no_such_kernel")
    assert other._process is not None and other._process.wait() == 1
    assert not other.is_running()
    other.wait("hapticsim.kernels.entry:no_such_kernel")  # at once
    other.end()


def test_one_that_is_killed_has_a_successor(
    cold: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = small(tmp_path, monkeypatch, 1.0)
    killed = Beside([called.path])
    entry._beside.append(killed)
    assert killed._process is not None
    killed._process.kill()
    assert entry.compile_called(called)(4.0) == 8.0
    assert not killed.is_running() and len(entry._beside) == 2
    assert called.path in entry._beside[1]._done, "the successor compiled it"


def test_one_that_is_stopped_is_waited_for_so_long_and_ended(
    cold: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = small(tmp_path, monkeypatch, 0.0)
    stopped = Beside([called.path])
    entry._beside.append(stopped)
    assert stopped._process is not None
    os.kill(stopped._process.pid, signal.SIGSTOP)
    with monkeypatch.context() as short:
        short.setattr(beside, "SILENT_s", 0.3)
        short.setattr(beside, "END_s", 0.3)
        stopped.wait(called.path)
    assert stopped._process.returncode == -signal.SIGKILL
    assert entry.compile_called(called)(4.0) == 8.0


def test_where_all_of_them_fail_this_process_compiles(
    cold: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = small(tmp_path, monkeypatch, 0.0)
    monkeypatch.setattr(beside, "PROGRAM", "raise SystemExit(1)")
    assert entry.compile_called(called)(4.0) == 8.0
    assert len(entry._beside) == 2
    assert is_kept(called.function, called.signature, **called.options)


def test_what_nobody_waited_for_ends_with_this_process(tmp_path: Path) -> None:
    program = (
        "from hapticsim.kernels import entry; from hapticsim.kernels.machine_code.beside import Beside\n"
        "print(Beside([entry.TICK.path])._process.pid)"
    )
    environment = os.environ | {"HAPTICSIM_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_they_compile_the_hapticsim_that_asks_and_not_another_that_is_installed(tmp_path: Path) -> None:
    copytree(Path(hapticsim.__file__).parent, tmp_path / "hapticsim", ignore=lambda *_: {"__pycache__"})
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from hapticsim.kernels import entry; from hapticsim.kernels.machine_code.beside import Beside\n"
        "from hapticsim.kernels.machine_code.cache import is_kept\n"
        "Beside([entry.RUN.path]).wait(entry.RUN.path)\n"
        "print(entry.__file__, is_kept(entry.RUN.function, entry.RUN.signature, **entry.RUN.options))"
    )
    environment = os.environ | {"HAPTICSIM_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(tmp_path / "hapticsim/kernels/entry.py"), "True"]


def test_they_keep_it_where_this_process_looks_whatever_the_environment_says_since(
    cold: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = small(tmp_path, monkeypatch, 0.0)
    kernel_folder()
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path / "elsewhere"))
    Beside([called.path]).wait(called.path)
    assert is_kept(called.function, called.signature, **called.options)
    assert not (tmp_path / "elsewhere").exists()


def test_one_that_finds_other_sources_compiles_nothing(cold: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "kernel_folder", lambda: kernel_folder().with_name("kernels-before-the-edit"))
    other = Beside([KERNEL])
    other.wait(KERNEL)
    assert other._process is not None and other._process.returncode == 1


def test_where_no_process_may_be_started_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise BlockingIOError("Resource temporarily unavailable")

    monkeypatch.setattr(beside.subprocess, "Popen", refuse)
    other = Beside([KERNEL])
    other.wait(KERNEL)
    assert other._process is None
    other.end()


def test_each_kernel_is_begun_once_and_on_one_processor_by_one_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun: list[tuple[str, ...]] = []

    class Counted:
        def __init__(self, paths: list[str]) -> None:
            self.paths = tuple(paths)
            begun.append(self.paths)

        def is_running(self) -> bool:
            return True

    monkeypatch.setattr(entry, "Beside", Counted)
    monkeypatch.setattr(entry, "_is_here", lambda called: False)
    for count, processes in ((2, 2), (1, 1)):
        monkeypatch.setattr(entry, "_beside", [])
        monkeypatch.setattr(entry, "processors", lambda count=count: count)
        begun.clear()
        entry.begin_compiling(entry.EVERY_FEATURE, entry.OBSERVE)
        entry.begin_compiling(entry.EVERY_FEATURE, entry.OBSERVE)
        paths = [path for process in begun for path in process]
        assert len(begun) == processes and len(set(paths)) == len(paths)
        needed = {entry.TICK.path, entry.LOCATE.path, entry.OBSERVE.path}
        assert set(paths) == needed | {unit.path for unit in entry.units_for(entry.EVERY_FEATURE).values()}


def test_every_kernel_that_is_declared_is_found_by_its_path() -> None:
    package = Path(hapticsim.__file__).parent
    declaring = []
    for file in package.rglob("*.py"):
        count = len(re.findall(r"(?<!class )\bCalled\(", file.read_text()))
        if count:
            module = ".".join(file.relative_to(package.parent).with_suffix("").parts)
            declaring.append((module, count))
            import_module(module)
    assert len(declaring) >= 4
    for module, count in declaring:
        assert sum(called.declared_in == module for called in DECLARED.values()) == count
    paths: dict[str, list[str]] = {}
    for path, called in DECLARED.items():
        if called.declared_in.startswith("hapticsim."):
            paths.setdefault(path.partition(":")[0], []).append(path)
    program = "import sys, importlib; importlib.import_module(sys.argv[1])\n"
    program += (
        "from hapticsim.kernels.machine_code.called import DECLARED; [DECLARED[p] for p in sys.argv[2:]]"
    )
    for module, declared in paths.items():
        subprocess.run([sys.executable, "-c", program, module, *declared], check=True)


LEAN = """
import sys
import numpy as np
from numba import float64, int64, njit
from hapticsim.kernels.machine_code.cache import keep
from hapticsim.kernels.machine_code.jit import inlined, kernel

@inlined
def square(x):
    return x * x

@kernel
def total(a, upto):
    s = 0.0
    for i in range(min(upto, a.size)):
        s += square(a[i])
    return max(s, -1.0)

@kernel
def twice(a):
    return max(total(a, 2), -1.0) + total(a, min(9, a.size))  # a literal, and a number

def outermost(a):
    return twice(a) / total(a, 1)

if sys.argv[1] == "lean":
    from hapticsim.kernels.machine_code.lean import install
    install()
compiled = keep(outermost, (float64(float64[::1]),)[0], error_model="numpy")
if sys.argv[1] != "lean":
    print(repr(compiled(np.array([3.0, 4.0, 5.0]))), repr(compiled(np.zeros(3))))
"""


def test_what_is_compiled_lean_is_loaded_elsewhere_and_gives_the_same(tmp_path, monkeypatch) -> None:
    program, lean, alone = tmp_path / "lean_kernels.py", tmp_path / "lean", tmp_path / "alone"
    program.write_text(LEAN)

    def run(mode: str) -> str:
        return subprocess.run(
            [sys.executable, program, mode], capture_output=True, text=True, check=True
        ).stdout.strip()

    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(lean))
    run("lean")
    (kept,) = lean.rglob("*.kept")
    made = kept.stat().st_mtime_ns, kept.stat().st_size
    loaded = run("load")
    assert (kept.stat().st_mtime_ns, kept.stat().st_size) == made, "loaded, and not compiled again"
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(alone))
    assert loaded == run("alone") == f"{75.0 / 9.0!r} {np.nan!r}"
    (usual,) = alone.rglob("*.kept")
    assert kept.stat().st_size < usual.stat().st_size, "the names alone, not the intermediate code"
