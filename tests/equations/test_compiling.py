"""Compiling ahead, and a cache that survives crashes, damage and age."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from hapticsim.assemble.assembly import assemble, equations_of, frames_of
from hapticsim.commands import compiling
from hapticsim.commands.compiling import (
    Compiled,
    call_us,
    compile_ahead,
    machine_code_bytes,
    print_tables,
    robot,
)
from hapticsim.commands.pruning import prune_cache
from hapticsim.config.load import load
from hapticsim.equations import compiled
from hapticsim.equations.base import Equations
from hapticsim.equations.catalogue import CATALOGUE, shapes_of
from hapticsim.equations.codegen import straightline
from hapticsim.equations.codegen.cache import USED, equations_folder, forget_loaded, last_used
from hapticsim.equations.codegen.seal import is_sealed
from hapticsim.equations.compiled import compile_equations, generate, signature
from hapticsim.equations.kane.compiled import ARGUMENTS
from hapticsim.equations.operations import operations_of
from hapticsim.equations.tree.impulse_response import response_factor
from hapticsim.errors import HapticsimError
from hapticsim.model.moving import moving_tree
from hapticsim.model.multibody.joint import WORLD, Joint
from hapticsim.model.multibody.tree import Model
from hapticsim.model.robot_file.urdf import load_urdf
from tests.models import Y, body, branching_tree, pendulum, planar_two_link, some_state
from tests.places import CONFIGS

ROOT = Path(__file__).parents[2]
FALL = -9.81 / 0.5 * np.sin(0.3)  # of the pendulum at 0.3 rad
DAY_s = 86_400.0

URDF = """<robot name="{name}">
  <link name="base"/>
  <link name="arm"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="hand"><inertial><mass value="1"/>
    <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
  <joint name="slide" type="prismatic"><parent link="arm"/><child link="hand"/><axis xyz="0 0 1"/>
    <limit lower="0" upper="1" effort="1" velocity="1"/></joint>
</robot>"""


@pytest.fixture(name="cache")
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own."""
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(name="urdf")
def _urdf(tmp_path: Path) -> Path:
    file = tmp_path / "crane.urdf"
    file.write_text(URDF.format(name="crane"))
    return file


def fall() -> float:
    """udot of the pendulum by code that a new process would load or compile."""
    forget_loaded()
    return float(compile_equations(pendulum(), ()).forward_dynamics([0.3], [0.0], [0.0])[0])


def hits() -> int:
    """How often its machine code came from the cache."""
    forget_loaded()
    kernel = compile_equations(pendulum(), ()).kernels.forward_dynamics
    return sum(kernel.stats.cache_hits.values())


# ---- damage


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def empty(data: bytes) -> bytes:
    return b""


def flipped(data: bytes) -> bytes:
    """Sixteen bytes in the middle are others, the length is the same: nothing but the content tells."""
    middle = len(data) // 2
    return data[:middle] + bytes(b ^ 0x55 for b in data[middle : middle + 16]) + data[middle + 16 :]


@pytest.mark.parametrize("damage", [cut, empty, flipped])
@pytest.mark.parametrize("ending", ["py", "pyc", "nbi", "nbc", "seal"])
def test_a_damaged_file_is_made_again(cache: Path, ending: str, damage: Callable[[bytes], bytes]) -> None:
    assert fall() == pytest.approx(FALL)
    (file,) = cache.rglob(f"forward_dynamics.*{ending}")
    intact = file.read_bytes()
    file.write_bytes(damage(intact))
    folder = next(cache.glob("equations-*"))
    assert not is_sealed(folder, "forward_dynamics")
    assert fall() == pytest.approx(FALL)
    assert is_sealed(folder, "forward_dynamics") and hits() == 1
    if ending in ("py", "pyc"):
        assert file.read_bytes() == intact


def test_a_file_that_is_gone_is_made_again(cache: Path) -> None:
    fall()
    for file in [p for p in cache.rglob("forward_dynamics.*") if p.suffix != ".lock"]:
        file.unlink()
        assert fall() == pytest.approx(FALL) and hits() == 1


KILLED = """
import os, signal, sys
from hapticsim.equations.compiled import compile_equations
from tests.models import pendulum
replace, calls = os.replace, []
def kill_or_replace(draft, target):
    calls.append(target)
    if len(calls) == int(sys.argv[1]):
        os.kill(os.getpid(), signal.SIGKILL)
    replace(draft, target)
os.replace = kill_or_replace
compile_equations(pendulum(), ()).forward_dynamics([0.3], [0.0], [0.0])
print(len(calls))
"""


def killed_at(write: int) -> subprocess.CompletedProcess[str]:
    """Compile in another process that is killed before its write number so much takes effect."""
    command = [sys.executable, "-c", KILLED, str(write)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.long
def test_a_process_killed_at_any_write_leaves_nothing_that_breaks_the_next(cache: Path) -> None:
    done = killed_at(0)
    writes = int(done.stdout)
    # source, index, machine code, the note of what others may share, seal; byte code goes another way
    assert writes >= 5
    for write in range(1, writes + 1):
        for file in cache.rglob("forward_dynamics.*"):
            file.unlink()
        assert killed_at(write).returncode == -signal.SIGKILL
        (folder,) = cache.glob("equations-*")
        assert not is_sealed(folder, "forward_dynamics")
        assert fall() == pytest.approx(FALL)
        assert is_sealed(folder, "forward_dynamics") and hits() == 1
        assert not [p for p in cache.rglob("*") if ".draft" in p.name or ".tmp" in p.name]


COUNTED = """
import sys
from hapticsim.equations.compiled import compile_equations
from tests.models import wam
kernel = compile_equations(wam(), ()).kernels.forward_dynamics
print(sum(kernel.stats.cache_hits.values()))
"""


@pytest.mark.long
def test_of_processes_that_want_the_same_function_one_compiles_and_the_others_load(cache: Path) -> None:
    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([sys.executable, "-c", COUNTED], cwd=ROOT, stdout=subprocess.PIPE, text=True)

    together = [start() for _ in range(3)]
    assert sorted(p.communicate(timeout=120)[0].strip() for p in together) == ["0", "1", "1"]


# ---- age


def test_what_was_not_used_for_90_days_is_removed_and_nothing_else(cache: Path) -> None:
    compile_equations(pendulum(), ()).bias([0.0], [0.0])
    compile_equations(planar_two_link(), ()).bias([0.0, 0.0], [0.0, 0.0])
    old, new = (equations_folder(moving_tree(m), ()) for m in (pendulum(), planar_two_link()))
    foreign = cache / "somebody"
    foreign.mkdir()
    stale = cache / "kernels-0123456789abcdef"
    stale.mkdir()
    (stale / "step.nbc").write_bytes(b"x" * 1000)
    long_ago = time.time() - 91 * DAY_s
    for path in (old / USED, foreign, stale / "step.nbc"):
        os.utime(path, (long_ago, long_ago))
    size = sum(p.stat().st_size for p in (*old.rglob("*"), *stale.rglob("*")) if p.is_file())
    assert prune_cache() == (f"{cache}: freed {size / 1e6:.1f} MB, 2 of 3 folders were not used for 90 days.")
    assert new.exists() and foreign.exists() and not old.exists() and not stale.exists()
    assert prune_cache().endswith("freed 0.0 MB, 0 of 1 folders were not used for 90 days.")


def test_loading_is_use(cache: Path) -> None:
    fall()
    (folder,) = cache.glob("equations-*")
    long_ago = time.time() - 91 * DAY_s
    os.utime(folder / USED, (long_ago, long_ago))
    assert last_used(folder) == pytest.approx(long_ago, abs=1.0)
    fall()
    assert time.time() - last_used(folder) < 60.0


# ---- ahead


@pytest.mark.long
def test_what_is_compiled_ahead_is_what_the_next_process_loads(
    cache: Path, urdf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = {name: CATALOGUE[name] for name in ("forward_dynamics", "kane", "normalise")}
    monkeypatch.setattr(compiled, "CATALOGUE", some)  # the command's test compiles all of it
    monkeypatch.setattr(compiled, "ALGORITHMS", ("abm_exact", "crbm_lu"))
    follower = urdf.with_name("follower.urdf")
    mimic = URDF.replace("</joint>\n</robot>", '<mimic joint="hinge"/></joint>\n</robot>')
    follower.write_text(mimic.format(name="follower"))
    found = compile_ahead([urdf, follower], algorithms=True, precision="float32", jobs=2)
    assert [(c.robot, c.function, c.precision) for c in found] == [
        *(("crane", name, "float64") for name in some),
        *(("follower", name, "float64") for name in some),
        ("crane", "abm_exact", "float32"),
        ("crane", "crbm_lu", "float32"),
        ("follower", "crbm_lu", "float32"),  # the other cannot take joints that follow
    ]
    assert all(c.source_kB > 0 and c.machine_code_kB > 0 and c.call_us > 0 for c in found)
    assert all(c.compile_s is not None and c.compile_s > 0 for c in found)
    again = compile_ahead([urdf], jobs=1)
    assert [c.compile_s for c in again] == [None] * len(some)

    equations = compile_equations(load_urdf(urdf))
    folder = equations_folder(equations.tree, equations.frames)
    for c in again:
        assert sum(getattr(equations.kernels, c.function).stats.cache_hits.values()) == 1
        assert c.operations == sum(operations_of(c.function, equations.tree, equations.frames).values())
        assert c.machine_code_kB * 1e3 == machine_code_bytes(folder, c.function)


def test_a_scene_is_compiled_for_the_frames_of_its_tick(cache: Path) -> None:
    scene = ROOT / "configs" / "wam_table.yaml"
    assert robot(str(scene)).frames == assemble(load(scene)).equations.frames


@pytest.mark.parametrize(
    ("name", "frames"),
    [
        ("four_bar", {"coupler", "rocker"}),  # no contact: the joint that closes the loop
        ("rolling_disk", {"disk"}),
    ],
)
def test_a_scene_is_compiled_for_handle_and_constraints_too(name: str, frames: set[str]) -> None:
    assert set(robot(str(CONFIGS / f"{name}.yaml")).frames) == frames
    assert len(robot(str(CONFIGS / "double_four_bar.yaml")).frames) == 3


@pytest.mark.long
def test_a_mechanism_is_compiled_as_its_tick_has_it(cache: Path) -> None:
    disk = CONFIGS / "rolling_disk.yaml"
    found = compile_ahead([disk], algorithms=True, jobs=1)
    assert [c.function for c in found] == list(ARGUMENTS)  # of a mechanism, and no algorithm of trees
    assert all(c.machine_code_kB > 0.0 and c.call_us > 0.0 for c in found)
    scene = load(disk)
    equations = equations_of(scene.model, frames_of(scene), None)
    assert (equations.nq, equations.nu) == (3, 3)
    for name in ARGUMENTS:
        assert sum(getattr(equations.kernels, name).stats.cache_hits.values()) == 1
    again = compile_ahead([disk], jobs=1)
    assert all(c.compile_s is None for c in again)
    assert [c.operations for c in again] == [c.operations for c in found]


def test_the_time_of_a_call_is_that_of_the_loop_by_the_number_of_calls(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, kind = compile_equations(planar_two_link(), ()).kernels.bias, signature("bias")
    now = [0.0]

    def loop(address: int, start: int, stop: int, *arrays: np.ndarray) -> None:
        assert address > 0 and all(a.shape == (stop - start, 2) for a in arrays)
        now[0] += (stop - start) * 2.5e-6

    monkeypatch.setattr(compiling, "loop_over", lambda kinds: loop)
    monkeypatch.setattr(compiling, "time", SimpleNamespace(perf_counter=lambda: now[0]))
    assert call_us(kernel, kind, [(2,)] * 3, (), np.float64) == pytest.approx(2.5)


def test_a_table_has_its_units_and_a_row_for_every_function() -> None:
    console = Console(record=True, width=120, file=StringIO())
    found = [Compiled("arm [left]", name, "float64", 12, 3.0, 2.5, None, 0.25) for name in CATALOGUE]
    print_tables([*found, Compiled("arm [left]", "abm", "float32", None, 3.0, 2.5, 0.125, 0.25)], console)
    text = console.export_text()
    for word in ("arm [left]", "machine code [kB]", "compiled in [s]", "call [us]", *CATALOGUE):
        assert word in text
    assert re.search(r"normalise +12 +3.0 +2.5 +in the cache +0.250", text)
    assert re.search(r"abm \(float32\) +- +3.0 +2.5 +0.12 +0.250", text)


def test_a_file_that_cannot_be_used_is_refused_before_anything_is_compiled(cache: Path, urdf: Path) -> None:
    missing = urdf.with_name("gone.urdf")
    with pytest.raises(HapticsimError, match="does not exist: check the path"):
        compile_ahead([urdf, missing], jobs=1)
    assert not cache.exists()


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hapticsim", "compile", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.long
def test_the_command_prints_tables_and_refuses_in_one_sentence(cache: Path, urdf: Path) -> None:
    done = command(str(urdf), "--prune")
    assert done.returncode == 0, done.stderr
    assert "freed 0.0 MB" in done.stdout and all(name in done.stdout for name in CATALOGUE)
    assert re.search(r"crane: ready in \d+\.\d s", done.stdout)
    for arguments, sentence in (
        ([], "hapticsim compile needs a scene, a URDF or an MJCF file: name one, or give --prune.\n"),
        (
            [str(urdf), "--precision", "float32"],
            "--precision float32 is for the algorithms of forward dynamics: give --algorithms too.\n",
        ),
        ([str(urdf), "--algorithms", "--precision", "float16"], "equations have no precision 'float16'"),
    ):
        refused = command(*arguments)
        assert refused.returncode == 2 and refused.stderr.startswith(sentence)


# ---- large functions


def arrays_of(equations: Equations, name: str, seed: int) -> dict[str, np.ndarray]:
    """Inputs at random and outputs full of NaN, in the order of the call."""
    q, u, tau = some_state(equations.model, seed)
    F = np.array(response_factor(equations.tree, q.tolist()))
    inputs = {"q": q, "u": u, "tau": tau, "udot": tau, "delta": u, "F": F}
    shapes = shapes_of(name, equations.tree, equations.frames)
    return {a: inputs[a] if a in CATALOGUE[name].inputs else np.full(s, np.nan) for a, s in shapes.items()}


@pytest.mark.parametrize("name", ["kane", "forward_dynamics", "normalise"])
@pytest.mark.parametrize("part", [3, pytest.param(15, marks=pytest.mark.long)])
def test_a_function_in_parts_has_the_bits_of_one_piece(
    cache: Path, monkeypatch: pytest.MonkeyPatch, name: str, part: int
) -> None:
    whole = arrays_of(compile_equations(branching_tree(), ("tool",)), name, 3)
    getattr(compile_equations(branching_tree(), ("tool",)).kernels, name)(*whole.values())
    monkeypatch.setenv("HAPTICSIM_CACHE_DIR", str(cache / "parts"))
    monkeypatch.setattr(straightline, "SPLIT_FROM", 10)
    monkeypatch.setattr(straightline, "PART", part)
    written: list[int] = []
    begin = straightline._Shared.begin
    monkeypatch.setattr(
        straightline._Shared, "begin", lambda shared, *a: (written.append(1), begin(shared, *a))[1]
    )
    split = compile_equations(branching_tree(), ("tool",))
    arrays = arrays_of(split, name, 3)
    getattr(split.kernels, name)(*arrays.values())
    assert len(written) > 1
    for argument, array in arrays.items():
        np.testing.assert_array_equal(array, whole[argument])


def test_parts_read_their_inputs_before_anything_is_written(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(straightline, "SPLIT_FROM", 10)
    monkeypatch.setattr(straightline, "PART", 5)
    equations = compile_equations(branching_tree(), ())
    q, u, tau = some_state(equations.model, 4)
    expected = equations.forward_dynamics(q, u, tau)
    equations.kernels.forward_dynamics(q, u, tau, tau)
    np.testing.assert_array_equal(tau, expected)


def test_an_array_that_is_mostly_zeros_is_cleared_and_still_written_whole(cache: Path) -> None:
    many = Model(
        "fence",
        tuple(body(f"post_{i}", 1.0 + i, (0.0, 0.1, -0.3), (0.1, 0.2, 0.3)) for i in range(8)),
        tuple(Joint(f"hinge_{i}", "revolute", WORLD, f"post_{i}", axis_J=Y) for i in range(8)),
    )
    equations = compile_equations(many)
    source = generate("mass_matrix", equations.tree, equations.frames)
    assert "M[:] = 0.0" in source and "M[0, 1]" not in source
    assert "[:] = 0.0" not in generate("kane", equations.tree, equations.frames)  # a tick's M holds zeros
    arrays = arrays_of(equations, "mass_matrix", 5)
    expected = CATALOGUE["mass_matrix"].build(equations.tree, equations.frames, arrays["q"].tolist())
    equations.kernels.mass_matrix(*arrays.values())
    for output in CATALOGUE["mass_matrix"].outputs:
        np.testing.assert_array_equal(arrays[output], expected[output])
