"""Runs of a sweep on a dask cluster, which repeats on its own what a lost worker had."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from hapticsim.errors import ConfigError
from hapticsim.offline.sweeps.attempt import WORKER_DIED, Outcome, attempt

CONNECT_s = 10.0


def on_cluster(
    scheduler: str, function: Callable[[Any], Any], todo: list[tuple[int, Any]]
) -> Iterator[tuple[int, Outcome]]:
    """Yield (number, outcome) as they come in.

    scheduler : address, such as ``tcp://host:8786``; hapticsim must be installed where its workers run.
    todo : (number, parameters) of every set.
    """
    try:
        from distributed import Client, as_completed
    except ImportError:
        raise ConfigError(
            "run_sweep",
            "scheduler",
            "needs dask.distributed, which is not installed: pip install 'hapticsim[cluster]'.",
        ) from None
    if not re.fullmatch(r"(\w+://)?\S+:\d+", str(scheduler)):
        raise _refusal(scheduler, "is not an address")
    try:
        client = Client(scheduler, timeout=CONNECT_s, set_as_default=False)
    except (OSError, ValueError) as error:
        raise _refusal(scheduler, f"does not answer ({type(error).__name__})") from None
    with client:
        # pure=False: equal sets are runs of their own, here as on one machine
        futures = {client.submit(attempt, function, p, pure=False): (i, p) for i, p in todo}
        suspects = []
        for future in as_completed(futures, loop=client.loop):
            number, parameters = futures[future]
            outcome = _outcome(future)
            if outcome is None:
                suspects.append((number, parameters))
            else:
                yield number, outcome
            future.release()
        for number, parameters in suspects:  # one by one: a set that waited beside another's end is innocent
            future = client.submit(attempt, function, parameters, pure=False)
            yield number, _outcome(future) or Outcome(problem=WORKER_DIED)


def _outcome(future: Any) -> Outcome | None:
    """What came of a run; None where its workers died."""
    from distributed.scheduler import KilledWorker

    try:
        outcome: Outcome = future.result()
    except KilledWorker:
        return None
    except Exception as error:
        return Outcome(problem=f"cannot be run on the cluster: {str(error).rstrip('.')}.")
    return outcome


def _refusal(scheduler: str, found: str) -> ConfigError:
    return ConfigError(
        "run_sweep",
        "scheduler",
        f"= {scheduler!r} {found}: start one with 'dask scheduler' and give the address it prints, "
        "such as tcp://host:8786.",
    )
