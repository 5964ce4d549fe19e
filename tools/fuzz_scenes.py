"""Run random scenes and hold each against invariants: trees, boxes, constraints, switches, hands, rates.

    python tools/fuzz_scenes.py                         1000 scenes
    python tools/fuzz_scenes.py --scenes 20000 --pool 100
    python tools/fuzz_scenes.py --hulls                 bodies that are mostly convex meshes
    python tools/fuzz_scenes.py --cylinders             ... cylinders, cones and ellipsoids
    python tools/fuzz_scenes.py --stepping              contacts in the time-stepping regime
    python tools/fuzz_scenes.py --stops                 joints that rub, with ranges whose ends are stops
    python tools/fuzz_scenes.py --friction              contacts that rub
    python tools/fuzz_scenes.py --sleep                 what rests falls asleep; also with the others
    python tools/fuzz_scenes.py --piles 30 --scenes 100 --seconds 10
    python tools/fuzz_scenes.py --piles 30 --exact      piles in which crowded ticks alone are time steps
    python tools/fuzz_scenes.py --piles 30 --friction   piles of parts that rub
    python tools/fuzz_scenes.py --again finds/gain_17.yaml

Scenes run in processes of their own, so that one that crashes is counted and does not end the others.  What
must hold is said in scene_trial.py.  A find is made smaller and kept as a scene file.  Ends with status 1
where there was one.
"""

from __future__ import annotations

import argparse
import json
import queue
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pile_maker import make_pile
from processor_time import used_s
from reporting import Found, parser_of, report
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from scene_maker import Trial, make
from scene_shrink import keep, kept, shrunk

BUSY, LEAST_SCENES = 0.2, 50  # share of scenes that must be in contact for a campaign of so many to count
ATTEMPTS = 6  # starts drawn for a scene before it counts as refused
LONGEST_s = 120.0  # processor time for one scene, compilation of its robot included
STANDS_STILL_s = 1800.0  # for one scene by the clock, whatever else the machine does
ASKED_EVERY_s = 5.0  # how much processor time a worker has used
READY_s = 900.0  # for a process to be ready: the first one compiles the tick
KEPT_OF_A_KIND = 5
SLEEP_AFTER_s = 0.05
TOLD_EVERY = 500  # scenes, where there is no terminal to show a bar on
KINDS = (
    "crash",
    "hang",
    "nan",
    "gain",
    "flight",
    "leap",
    "sunk",
    "cone",
    "beyond",
    "force",
    "stuck",
    "silent",
)


class NotReady(Exception):
    """A worker did not get ready, and why."""


class Worker:
    """A process that runs trials; it is started again when it dies."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()

    def _start(self) -> subprocess.Popen[str]:
        """Start a process and wait until it has compiled the tick.  Raises NotReady."""
        command = [sys.executable, __file__, "--worker"]
        self._process = process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self._answers = queue.Queue()
        threading.Thread(target=self._listen, args=(process, self._answers), daemon=True).start()
        try:
            if self._answers.get(timeout=READY_s):
                return process
        except queue.Empty:
            self.end()
            raise NotReady(f"a worker was not ready after {READY_s:g} s.") from None
        self._process = None
        raise NotReady(f"a worker could not start: {self._last_words(process)}")

    @staticmethod
    def _last_words(process: subprocess.Popen[str]) -> str:
        """What a process that died said last."""
        process.wait()
        assert process.stderr is not None
        lines = process.stderr.read().strip().splitlines()
        return f"status {process.returncode}: {lines[-1] if lines else 'no words'}"

    def run(self, trial: Trial) -> dict[str, Any]:
        """Return the verdict of a trial; a process that died or hung is one too.  Raises NotReady."""
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(trial.as_dict()) + "\n")
            process.stdin.flush()
            answer = self._answer(process.pid)
        except queue.Empty:
            self.end()
            return {"finds": {"hang": f"no answer in {LONGEST_s:g} s of processor time"}}
        except OSError:
            answer = ""
        if not answer:
            self._process = None
            return {"finds": {"crash": self._last_words(process)}}
        verdict: dict[str, Any] = json.loads(answer)
        return verdict

    def _answer(self, pid: int) -> str:
        """Wait for a worker's answer as long as it may compute.  Raises queue.Empty.

        Its processor time counts: on a loaded machine no scene hangs because others run.
        """
        used_before_s, ends_s = used_s(pid), time.monotonic() + STANDS_STILL_s
        while True:
            try:
                return self._answers.get(timeout=min(ASKED_EVERY_s, LONGEST_s))
            except queue.Empty:
                if used_s(pid) - used_before_s >= LONGEST_s or time.monotonic() > ends_s:
                    raise

    @staticmethod
    def _listen(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
        assert process.stdout is not None
        for line in process.stdout:
            answers.put(line)
        answers.put("")

    def end(self) -> None:
        """Kill the process."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def serve() -> None:
    """Body of a worker: a line when the tick is compiled, then a trial a line in, a verdict a line out."""
    from scene_trial import compile_tick, run

    compile_tick()
    print("ready", flush=True)
    for line in sys.stdin:
        verdict = run(Trial(**json.loads(line))).as_dict()
        print(json.dumps(verdict), flush=True)


class Campaign:
    """Counts what trials found, from several threads."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.counts: Counter[str] = Counter()
        self.slowest_s = self.worst_gain = self.worst_rate = 0.0
        self.finds: list[dict[str, Any]] = []
        self.why_not = ""  # no worker gets ready
        self._lock = threading.Lock()
        self._seeds = iter(range(options.seed, options.seed + options.scenes))

    def work(self, progress: Progress, bar: Any) -> None:
        """Body of a thread: take seeds until there are none."""
        worker = Worker()
        try:
            while True:
                with self._lock:
                    seed = next(self._seeds, None)
                if seed is None or self.why_not:
                    return
                self._one(worker, seed)
                progress.advance(bar)
        except NotReady as reason:
            self.why_not = str(reason)
        finally:
            worker.end()

    def _one(self, worker: Worker, seed: int) -> None:
        for attempt in range(ATTEMPTS):
            trial = self._trial(seed, attempt)
            verdict = worker.run(trial)
            if not verdict.get("refused_at_load"):
                break
        with self._lock:
            self._count(verdict)
            new = [what for what in verdict["finds"] if self.counts[what] <= KEPT_OF_A_KIND]
        for what in new:
            self._keep(worker, trial, what, verdict["finds"][what])

    def _trial(self, seed: int, attempt: int) -> Trial:
        options = self.options
        if options.piles:
            trial = make_pile(seed, options.piles, options.seconds, options.exact, options.friction)
        else:
            kinds = options.hulls, options.cylinders, options.stepping, options.stops, options.friction
            trial = make(seed, attempt, options.pool, *kinds)
        if options.sleep:
            trial.scene["sleep"] = {"after_s": SLEEP_AFTER_s}
        return trial

    def _count(self, verdict: dict[str, Any]) -> None:
        self.counts["scenes"] += 1
        for key in ("ticks", "refused_ticks", "halted_ticks", "crowded_ticks", "slow_ticks"):
            self.counts[key] += verdict.get(key, 0)
        self.counts["refused at load"] += bool(verdict.get("refused_at_load"))
        self.counts["in contact"] += verdict.get("contacts", 0) > 0
        self.counts["with a refused tick"] += verdict.get("refused_ticks", 0) > 0
        self.slowest_s = max(self.slowest_s, verdict.get("slowest_s", 0.0))
        self.worst_rate = max(self.worst_rate, verdict.get("worst_rate", 0.0))
        if "gain" not in verdict["finds"]:
            self.worst_gain = max(self.worst_gain, verdict.get("worst_gain", 0.0))
        self.counts.update(verdict["finds"].keys())
        if self.counts["scenes"] % TOLD_EVERY == 0 and not sys.stderr.isatty():
            found = ", ".join(f"{self.counts[kind]} {kind}" for kind in KINDS if self.counts[kind])
            print(f"{self.counts['scenes']} scenes, found: {found or 'nothing'}", file=sys.stderr, flush=True)

    def _keep(self, worker: Worker, trial: Trial, what: str, figures: str) -> None:
        small = trial
        if what != "hang" and not self.options.whole:
            small = shrunk(trial, lambda one: what in worker.run(one)["finds"])
        path = keep(small, what, self.options.keep)
        with self._lock:
            self.finds.append({"what": what, "seed": trial.seed, "figures": figures, "file": str(path)})


def measure(options: argparse.Namespace) -> Found:
    """Run the campaign."""
    campaign, start = Campaign(options), time.monotonic()
    with Progress(console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("scenes", total=options.scenes)
        threads = [
            threading.Thread(target=campaign.work, args=(progress, bar), daemon=True)
            for _ in range(options.workers)
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:  # what was found so far
            pass
    if campaign.why_not:
        sys.exit(campaign.why_not)
    counts = campaign.counts
    return {
        "counts": dict(counts),
        "idle": counts["scenes"] >= LEAST_SCENES and counts["in contact"] < BUSY * counts["scenes"],
        "found": {kind: campaign.counts[kind] for kind in KINDS},
        "slowest_tick_s": campaign.slowest_s,
        "worst_gain_kept": campaign.worst_gain,
        "worst_rate": campaign.worst_rate,
        "finds": campaign.finds,
        "seconds": time.monotonic() - start,
    }


def show(console: Console, found: Found, _: Found | None) -> None:
    """Print what was run, and every find with its file."""
    counts = found["counts"]
    console.print(
        f"{counts['scenes']} scenes, {counts['ticks']} ticks in {found['seconds']:.0f} s: "
        f"{counts['in contact']} were in contact, {counts['refused at load']} refused at load, "
        f"{counts['with a refused tick']} had {counts['refused_ticks']} ticks refused and told, "
        f"{counts['halted_ticks']} ticks were halted and told, "
        f"{counts['crowded_ticks']} were crowded or chattered, and told; "
        f"{counts['slow_ticks']} ticks took more than 1 ms in each of three runs (longest "
        f"{found['slowest_tick_s'] * 1e3:.2f} ms); the largest gain that is no find was "
        f"{found['worst_gain_kept']:.1e} of the scale; "
        f"the rate of a contact was at most {found['worst_rate']:.1e} m/s from what it allows.",
        soft_wrap=True,
    )
    table = Table("found", "scenes")
    for kind, number in found["found"].items():
        table.add_row(kind, str(number))
    console.print(table)
    if found["idle"]:
        console.print("fewer than one scene in five was in contact: this shows nothing.")
    for find in found["finds"]:
        console.print(f"{find['what']}: {find['figures']}; {find['file']}", soft_wrap=True, markup=False)


def again(files: list[Path]) -> int:
    """Run trials that were kept, each in this process; returns the exit status."""
    from scene_trial import run

    status = 0
    for path in files:
        verdict = run(kept(path))
        said = "; ".join(f"{k}: {v}" for k, v in verdict.finds.items())
        print(f"{path}: {said or verdict.refused_at_load or 'holds'}")
        status |= bool(verdict.finds or verdict.refused_at_load)
    return status


def main() -> int:
    """Take the options, run, and return the exit status."""
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--scenes", type=int, default=1000, help="how many")
    add("--seed", type=int, default=0, help="of the first")
    add("--pool", type=int, default=16, help="robots to draw from; each is compiled once")
    add("--hulls", action="store_true", help="bodies that are mostly convex meshes")
    add("--cylinders", action="store_true", help="bodies that are mostly cylinders, cones and ellipsoids")
    add("--stepping", action="store_true", help="contacts in the time-stepping regime")
    add("--stops", action="store_true", help="joints of trees have ranges whose ends are stops")
    add("--sleep", action="store_true", help="what rests falls asleep")
    add("--piles", type=int, default=0, metavar="PARTS", help="bins with so many parts instead")
    add("--exact", action="store_true", help="piles in the exact regime")
    add("--friction", action="store_true", help="contacts rub; piles in time steps unless --exact")
    add("--seconds", type=float, default=2.0, help="of a pile")
    add("--workers", type=int, default=2, help="processes")
    add("--keep", type=Path, default=Path("finds"), metavar="FOLDER", help="where finds are kept")
    add("--whole", action="store_true", help="keep finds as they are instead of making them smaller")
    add("--again", type=Path, nargs="+", metavar="FILE", help="run finds that were kept, and nothing else")
    add("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        serve()
        return 0
    if options.again:
        return again(options.again)
    for name in ("scenes", "pool", "workers"):
        if getattr(options, name) < 1:
            parser.error(f"--{name} must be 1 or more")
    outcome: list[Found] = []

    def measured() -> Found:
        outcome.append(measure(options))
        return outcome[0]

    report(options, measured, show)
    return int(outcome[0]["idle"] or any(outcome[0]["found"].values()))


if __name__ == "__main__":
    sys.exit(main())
