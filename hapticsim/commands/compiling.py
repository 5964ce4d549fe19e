"""Robots compiled ahead, functions side by side in processes, with what each costs.

``compile_ahead`` takes scenes, URDFs and MJCF files and returns a ``Compiled`` for every function; what is
in the cache already is only timed.  ``print_tables`` shows them, one table per robot.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from hapticsim.assemble.assembly import equations_of, frames_of
from hapticsim.commands.compiling_functions import algorithm_function, catalogue_function
from hapticsim.config.load import load
from hapticsim.config.overrides import parse_settings, refuse_settings
from hapticsim.equations.base import Equations
from hapticsim.equations.batch import address_of, kinds_of, loop_over
from hapticsim.equations.codegen.cache import has_machine_code
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.scalars.precision import precision_of
from hapticsim.errors import HapticsimError
from hapticsim.model.robot_file.read import load_robot, robot_file

LARGEST = ("kane", "kinematics")  # these take longest, so they are begun first
TIMED_s, TIMES = 0.02, 3  # one measurement of a call, and how many of which the best counts
TIMED_bytes = 256_000  # of arrays that a measurement goes through, so that the cache of a core holds them


@dataclass(frozen=True)
class Compiled:
    """One function of one robot, compiled."""

    robot: str
    function: str
    precision: str
    operations: int | None  # None for algorithms that are not straight lines only
    source_kB: float
    machine_code_kB: float
    compile_s: float | None  # None if it was in the cache
    call_us: float  # in a compiled loop


@dataclass(frozen=True)
class _Job:
    file: str
    settings: tuple[str, ...]
    function: str
    precision: str
    algorithm: bool


def compile_ahead(
    files: Sequence[Path],
    algorithms: bool = False,
    precision: str = "float64",
    jobs: int | None = None,
    progress: Console | None = None,
    settings: Sequence[str] = (),
) -> list[Compiled]:
    """Compile every function of the catalogue for every robot, and return them in the order of the files.

    files : scenes (the frames are those that the tick needs), URDFs and MJCF files (all bodies with mass).
    algorithms : all algorithms of forward dynamics too; a mechanism without a tree has none.
    precision : of those algorithms; the catalogue is always in float64.
    jobs : processes, as many as there are cores if not given.
    progress : where to draw a bar.
    settings : KEY=VALUE, values of ``--set`` laid over every scene.

    Raises
    ------
    HapticsimError : a file that cannot be used (before anything is compiled), or a process that died.
    """
    precision_of(precision)
    laid = tuple(settings)
    robots = {str(file): robot(str(file), laid) for file in files}
    work = [_Job(file, laid, name, "float64", False) for file in robots for name in robots[file].functions]
    if algorithms:
        work += [
            _Job(file, laid, name, precision, True)
            for file, equations in robots.items()
            for name in equations.algorithm_names
        ]
    order = sorted(work, key=lambda job: (job.function not in LARGEST, -robots[job.file].nu))
    workers = min(jobs or len(os.sched_getaffinity(0)), len(work))
    done: dict[_Job, Compiled] = {}
    columns = (TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, TextColumn("{task.description}"), console=progress, disable=not progress) as bar:
        task = bar.add_task("", total=len(work))
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _end_at_once)
        try:
            futures = {pool.submit(compile_one, job): job for job in order}
            for future in as_completed(futures):
                job = futures[future]
                done[job] = future.result()
                bar.update(task, advance=1, description=f"{done[job].robot}: {job.function}")
        except BrokenProcessPool:
            raise HapticsimError(
                f"a process that compiled died with {len(work) - len(done)} functions to go (too little "
                "memory?): run it again with --jobs 1, what is done is kept."
            ) from None
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
    return [done[job] for job in work]


@cache
def robot(file: str, settings: tuple[str, ...] = ()) -> Equations:
    """Return the equations of the robot in a scene or robot file, with the frames that it is compiled for."""
    if robot_file(file):
        refuse_settings(file, settings)
        return compile_equations(load_robot(file))
    scene = load(file, parse_settings(settings), "--set")
    return equations_of(scene.model, frames_of(scene), None)


def compile_one(job: Any) -> Compiled:
    """Compile one function in this process and measure it."""
    equations, name = robot(job.file, job.settings), job.function
    if job.algorithm:
        function = algorithm_function(equations, name, job.precision)
    else:
        function = catalogue_function(equations, name)
    cached = has_machine_code(function.folder, name)
    start = time.perf_counter()
    kernel = function.kernel()
    elapsed = time.perf_counter() - start
    return Compiled(
        equations.model.name,
        name,
        job.precision,
        function.operations(),
        (function.folder / f"{name}.py").stat().st_size / 1e3,
        machine_code_bytes(function.folder, name) / 1e3,
        None if cached else elapsed,
        call_us(
            kernel, function.kind, function.shapes, function.quaternions, precision_of(job.precision).dtype
        ),
    )


def machine_code_bytes(folder: Path, name: str) -> int:
    """Return the size of the instructions that numba keeps for a function, without constants and symbols.

    The function has been loaded by this process.
    """
    kept = list((folder / "__pycache__").glob(f"{name}.*.nbc"))
    if not kept:
        return 0
    newest = max(kept, key=lambda path: path.stat().st_mtime)
    (_, _, (object_code, _)), *_ = pickle.loads(newest.read_bytes())
    sections = llvm.ObjectFileRef.from_data(object_code).sections()
    return sum(s.size() for s in sections if s.is_text())


def call_us(
    kernel: Any, kind: Any, shapes: Sequence[tuple[int, ...]], quaternions: Sequence[int], dtype: type
) -> float:
    """Return the time of a call in a compiled loop over random states [us], the best of several."""
    rng = np.random.default_rng(0)
    count = max(1, min(64, TIMED_bytes // (8 * sum(int(np.prod(shape)) for shape in shapes))))
    arrays: list[Any] = [rng.uniform(-1.0, 1.0, (count, *shape)).astype(dtype) for shape in shapes]
    for k in quaternions:
        arrays[0][:, k : k + 4] /= np.linalg.norm(arrays[0][:, k : k + 4], axis=1, keepdims=True)
    loop, address = loop_over(kinds_of(kind)), address_of(kernel, kind)

    def seconds(rounds: int) -> float:
        start = time.perf_counter()
        for _ in range(rounds):
            loop(address, 0, count, *arrays)
        return time.perf_counter() - start

    rounds = max(1, round(TIMED_s / max(min(seconds(1) for _ in range(TIMES)), 1e-7)))
    return min(seconds(rounds) for _ in range(TIMES)) / rounds / count * 1e6


def print_tables(found: Sequence[Compiled], console: Console) -> None:
    """Print a table for every robot, functions in the order of the catalogue."""
    for name in dict.fromkeys(c.robot for c in found):
        table = Table(title=escape(name), title_justify="left", box=SIMPLE)
        table.add_column("function", no_wrap=True)
        for column in ("operations", "source [kB]", "machine code [kB]", "compiled in [s]", "call [us]"):
            table.add_column(escape(column), justify="right", no_wrap=True)
        for c in found:
            if c.robot == name:
                single = "" if c.precision == "float64" else f" ({c.precision})"
                table.add_row(
                    c.function + single,
                    "-" if c.operations is None else str(c.operations),
                    f"{c.source_kB:.1f}",
                    f"{c.machine_code_kB:.1f}",
                    "in the cache" if c.compile_s is None else f"{c.compile_s:.2f}",
                    f"{c.call_us:.3f}",
                )
        console.print(table)


def _end_at_once() -> None:
    """Let Ctrl-C end this process without a traceback; what it was compiling is compiled again next time."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
