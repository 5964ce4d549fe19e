"""One function over many sets of parameters: all cores, a cluster, or where it stopped yesterday.

    run_sweep(drift, [{"links": 3, "seed": 1}, ...], journal="drift.jsonl")
    run_sweep(visit, load_variants("scene.yaml", {"rate_Hz": [500, 1000]}))

Results come back in the order of the parameters.  ``journal.py`` keeps them as they come in, ``workers.py``
and ``cluster.py`` run them here or on a dask cluster; what is run and what comes back is the same.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TimeRemainingColumn
from rich.text import Text

from hapticsim.arguments import a_path, text, truth, unusable, whole
from hapticsim.errors import ConfigError
from hapticsim.model.scene import Scene
from hapticsim.offline.sweeps.attempt import Outcome, SweepError
from hapticsim.offline.sweeps.cluster import on_cluster
from hapticsim.offline.sweeps.journal import Journal
from hapticsim.offline.sweeps.workers import on_workers

MOST_WORKERS = 1024


def run_sweep(
    function: Callable[[Any], Any],
    parameters: Sequence[Any],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: bool = True,
    journal: str | Path | None = None,
) -> list[Any]:
    """Return ``[function(p) for p in parameters]``, computed side by side.

    Parameters
    ----------
    function : takes one set of parameters; importable, since other processes run it (a script that calls this
        needs ``if __name__ == "__main__":``).
    parameters : one set per run: a scene, or anything that can be pickled; with a journal, scenes and what
        JSON can hold.
    workers : processes on this machine, one per core if not given.
    scheduler : address of a dask scheduler (``tcp://host:8786``); its workers run everything instead.
    progress : draw a bar with the rate and the time left on standard error, if that is a terminal.
    journal : file to which every result is added as it comes in.  Sets that it holds are not run again, so a
        sweep that was interrupted goes on.  Results are returned as JSON holds them: tuples and arrays as
        lists.

    Raises
    ------
    SweepError : a run that raised, or whose worker died three times; names the set.  All others are run
        first: what they gave is in its ``results``, and in the journal.
    ConfigError : an argument that cannot be used.
    """
    where = "run_sweep"
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        sys.exit(1)  # a worker, whose script sweeps as it is imported: the process that started it tells why
    if not callable(function):
        raise unusable(where, "function", function, "a function of one set of parameters")
    if isinstance(parameters, str | bytes | Mapping) or not isinstance(parameters, Sequence | np.ndarray):
        raise unusable(where, "parameters", parameters, "a list with one set of parameters per run")
    if workers is not None:
        whole(where, "workers", workers, 1, MOST_WORKERS)
    if scheduler is not None:
        text(where, "scheduler", scheduler, "the address of a dask scheduler, such as 'tcp://host:8786'")
    truth(where, "progress", progress)
    if journal is not None:
        a_path(where, "journal", journal, "a file")
    if workers is not None and scheduler is not None:
        raise ConfigError("run_sweep", "workers", "does not go with a scheduler: the cluster has its own.")
    results: dict[int, Any] = {}
    problems: dict[int, str] = {}
    with ExitStack() as stack:
        kept = stack.enter_context(Journal(journal, function)) if journal is not None else None
        if kept:
            results = {i: kept.result(p) for i, p in enumerate(parameters) if kept.has(p)}
        todo = [(i, parameters[i]) for i in range(len(parameters)) if i not in results]
        bar = stack.enter_context(_bar(progress))
        task = bar.add_task("", total=len(parameters), completed=len(results), before=len(results))
        for i, outcome in stack.enter_context(closing(_outcomes(function, todo, workers, scheduler))):
            if outcome.problem:
                problems[i] = f"set {i} of the sweep, {_short(parameters[i])}, {outcome.problem}"
            else:
                results[i] = kept.add(parameters[i], outcome.value) if kept else outcome.value
            bar.advance(task)
    found = [results.get(i) for i in range(len(parameters))]
    if problems:
        raise SweepError(found, problems)
    return found


def _outcomes(
    function: Callable[[Any], Any], todo: list[tuple[int, Any]], workers: int | None, scheduler: str | None
) -> Generator[tuple[int, Outcome], None, None]:
    if todo and scheduler is not None:
        yield from on_cluster(scheduler, function, todo)
    elif todo:
        yield from on_workers(min(workers or len(os.sched_getaffinity(0)), len(todo)), function, todo)


def _bar(shown: bool) -> Progress:
    console = Console(stderr=True)
    columns = (BarColumn(), MofNCompleteColumn(), _Rate(), TimeRemainingColumn(elapsed_when_finished=True))
    return Progress(*columns, console=console, disable=not (shown and console.is_terminal))


class _Rate(ProgressColumn):
    """Runs per second since this sweep began, without those that the journal held."""

    def render(self, task: Task) -> Text:
        done = task.completed - task.fields["before"]
        return Text(f"{done / task.elapsed:.1f}/s" if task.elapsed and done else "")


def _short(parameters: Any) -> str:
    text = repr(parameters)
    if isinstance(parameters, Scene):
        laid_over = ", ".join(f"{key} = {value!r}" for key, value in parameters.overrides.items())
        text = f"{parameters.path} with {laid_over}" if laid_over else parameters.path
    return text if len(text) <= 200 else f"{text[:200]}..."
