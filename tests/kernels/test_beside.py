"""Kernels compiled in processes of their own: waited for, ended with this process, never needed, the same."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from hapticsim.kernels import entry
from hapticsim.kernels.machine_code import beside
from hapticsim.kernels.machine_code.beside import Beside
from hapticsim.kernels.machine_code.called import DECLARED

KERNEL = entry.RUN.path


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch, tmp_path) -> Iterator[None]:
    """Nothing is compiled yet."""
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path))
    yield


def test_it_is_waited_for(cold: None) -> None:
    other = Beside([KERNEL])
    other.wait(KERNEL)
    assert other._process is not None and other._process.wait() == 0
    other.end()


def test_what_fails_over_there_is_waited_for_in_vain_and_no_longer(cold: None) -> None:
    other = Beside(["hapticsim.kernels.entry:no_such_kernel"])
    other.wait("hapticsim.kernels.entry:no_such_kernel")
    assert other._process is not None and other._process.wait() == 1
    other.end()


def test_what_nobody_waited_for_ends_with_this_process(cold: None) -> None:
    other = Beside([entry.TICK.path])
    other.end()
    assert other._process is not None and other._process.returncode is not None


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

    monkeypatch.setattr(entry, "Beside", Counted)
    monkeypatch.setattr(entry, "is_kept", lambda function: False)
    for count, processes in ((2, 2), (1, 1)):
        monkeypatch.setattr(entry, "_beside", [])
        monkeypatch.setattr(entry, "processors", lambda count=count: count)
        begun.clear()
        entry.begin_compiling(True, entry.OBSERVE)
        entry.begin_compiling(True, entry.OBSERVE)
        paths = [path for process in begun for path in process]
        assert len(begun) == processes and len(set(paths)) == len(paths)
        needed = {entry.TICK.path, entry.LOCATE.path, entry.OBSERVE.path}
        assert set(paths) == needed | {unit.path for unit in entry.UNITS.values()}


def test_without_constraints_nothing_is_compiled_that_engages_one() -> None:
    assert set(entry.UNITS) - set(entry.units_for(False)) == {"engage"}


def test_every_kernel_that_is_declared_is_found_by_its_path() -> None:
    program = "import sys, importlib; importlib.import_module(sys.argv[1].partition(':')[0])\n"
    program += "from hapticsim.kernels.machine_code.called import DECLARED; DECLARED[sys.argv[1]]"
    for path in list(DECLARED):
        subprocess.run([sys.executable, "-c", program, path], check=True)


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
    for i in range(upto):
        s += square(a[i])
    return s

@kernel
def twice(a):
    return total(a, 2) + total(a, a.size)  # a literal, and a number

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
    (kept,) = lean.rglob("*.nbc")
    made = kept.stat().st_mtime_ns, kept.stat().st_size
    loaded = run("load")
    assert (kept.stat().st_mtime_ns, kept.stat().st_size) == made, "loaded, and not compiled again"
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(alone))
    assert loaded == run("alone") == f"{75.0 / 9.0!r} {np.nan!r}"
    (usual,) = alone.rglob("*.nbc")
    assert kept.stat().st_size < usual.stat().st_size, "the names alone, not the intermediate code"
