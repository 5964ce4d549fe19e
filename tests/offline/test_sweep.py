"""Sweeps: results in order, killed workers and interrupted sweeps lose nothing, a cluster gives the same."""

from __future__ import annotations

import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.errors import ConfigError
from hapticsim.offline.sweeps.attempt import SweepError
from hapticsim.offline.sweeps.sweep import run_sweep

ROOT = Path(__file__).parents[2]


def root_of(x: float) -> float:
    """Raises for negative numbers."""
    return math.sqrt(x)


def killed_unless_third(task: dict[str, Any]) -> int:
    """Counts its own calls in a file; the worker of set 1 is killed twice."""
    calls = Path(task["folder"]) / f"{task['number']}.calls"
    with calls.open("a") as file:
        file.write("x")
    if task["number"] == 1 and calls.stat().st_size < 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return 10 * task["number"]


def killed(number: int) -> int:
    """The worker of set 2 always dies."""
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def logged(task: dict[str, Any]) -> float:
    """Says that it ran; slow enough to be interrupted."""
    with Path(task["log"]).open("a") as file:
        file.write(f"{task['x']}\n")
    time.sleep(0.05)
    return task["x"] / 3.0


def numpy_values(n: int) -> dict[str, Any]:
    """Values of numpy, and numbers that JSON has no word for."""
    return {"array": np.arange(n) / 3.0, "last": np.float64(n), "none": math.nan}


def unsendable(n: int) -> Any:
    """A value that cannot be pickled."""
    return lambda: n


def test_results_come_in_the_order_of_the_parameters() -> None:
    numbers = [float(k) for k in range(20, 0, -1)]
    assert run_sweep(root_of, numbers, workers=2, progress=False) == [math.sqrt(x) for x in numbers]
    assert run_sweep(root_of, [], progress=False) == []


def test_a_killed_worker_loses_nothing_and_only_its_own_set_is_run_again(tmp_path: Path) -> None:
    tasks = [{"number": k, "folder": str(tmp_path)} for k in range(6)]
    found = run_sweep(killed_unless_third, tasks, workers=2, progress=False)
    assert found == [0, 10, 20, 30, 40, 50]
    calls = [(tmp_path / f"{k}.calls").stat().st_size for k in range(6)]
    assert calls == [1, 3, 1, 1, 1, 1]


@pytest.mark.long
def test_a_set_that_kills_its_worker_three_times_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    journal = tmp_path / "sweep.jsonl"
    sentence = "set 2 of the sweep, 2, ended its worker every time (killed, out of memory or crashed)"
    with pytest.raises(SweepError, match=f"^{re.escape(sentence)}: run it alone to see why.$"):
        run_sweep(killed, [0, 1, 2], workers=1, progress=False, journal=journal)
    assert [json.loads(line)["result"] for line in journal.read_text().splitlines()[1:]] == [0, 1]


def test_an_exception_is_one_sentence_with_the_set() -> None:
    with pytest.raises(SweepError, match=r"^set 1 of the sweep, -4.0, raised ValueError: .*: run it alone"):
        run_sweep(root_of, [4.0, -4.0], workers=1, progress=False)


def test_what_cannot_be_sent_is_refused() -> None:
    with pytest.raises(SweepError, match=r"set 0 .* cannot be sent between processes"):
        run_sweep(unsendable, [1], workers=1, progress=False)


INTERRUPTED = """
import sys
from hapticsim.offline.sweeps.sweep import run_sweep
from tests.offline.test_sweep import logged
if __name__ == "__main__":
    run_sweep(logged, [{"x": k, "log": sys.argv[2]} for k in range(200)], workers=2, journal=sys.argv[1])
"""


@pytest.mark.long
@pytest.mark.parametrize("lines", (0, 1))
def test_ctrl_c_while_workers_start_is_heard_by_nobody_but_the_sweep(tmp_path: Path, lines: int) -> None:
    script, journal, log = tmp_path / "script.py", tmp_path / "sweep.jsonl", tmp_path / "log"
    script.write_text(INTERRUPTED)
    command = [sys.executable, str(script), str(journal), str(log)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.PIPE)
    while not journal.exists() or journal.read_text().count("\n") < lines:
        assert child.poll() is None
        time.sleep(0.002)
    time.sleep(0.05)
    os.killpg(child.pid, signal.SIGINT)
    _, said = child.communicate(timeout=20)
    assert said.count(b"Traceback") == 1 and b"KeyboardInterrupt" in said


@pytest.mark.long
def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    script, journal, log = tmp_path / "script.py", tmp_path / "sweep.jsonl", tmp_path / "log"
    script.write_text(INTERRUPTED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(script), str(journal), str(log)]
    child = subprocess.Popen(command, env=environment, start_new_session=True, stderr=subprocess.PIPE)
    while not journal.exists() or journal.read_text().count("\n") < 10:
        assert child.poll() is None
        time.sleep(0.02)
    os.killpg(child.pid, signal.SIGINT)  # as Ctrl-C does: to the workers too
    _, said = child.communicate(timeout=20)
    assert said.count(b"Traceback") == 1 and b"KeyboardInterrupt" in said
    done = len(journal.read_text().splitlines()) - 1
    assert 9 <= done < 150
    with journal.open("a") as file:
        file.write('{"set": "half of a li')  # as a crash leaves it
    log.unlink()
    tasks = [{"x": k, "log": str(log)} for k in range(done + 20)]
    assert run_sweep(logged, tasks, workers=2, progress=False, journal=journal) == [
        k / 3.0 for k in range(done + 20)
    ]
    assert len(log.read_text().splitlines()) in range(20, 23)  # what ran at Ctrl-C was not written down
    log.unlink()
    run_sweep(logged, tasks, workers=2, progress=False, journal=journal)
    assert not log.exists()


def test_results_from_the_journal_are_those_of_the_run(tmp_path: Path) -> None:
    journal = tmp_path / "sweep.jsonl"
    first = run_sweep(numpy_values, [3, 5], workers=1, progress=False, journal=journal)
    again = run_sweep(numpy_values, [5, 3], workers=1, progress=False, journal=journal)
    assert first[0]["array"] == [0.0, 1 / 3, 2 / 3] and first[1]["last"] == 5.0
    assert repr(again) == repr(first[::-1])


def test_a_journal_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    journal = tmp_path / "sweep.jsonl"
    run_sweep(root_of, [4.0], workers=1, progress=False, journal=journal)
    with pytest.raises(
        ConfigError, match=r"line 1 is of tests.offline.test_sweep.root_of, not of .*killed: give ev"
    ):
        run_sweep(killed, [1], workers=1, progress=False, journal=journal)
    with pytest.raises(ConfigError, match=r"not of .*killed with \(\) \{'a': 1\}"):
        run_sweep(partial(killed, a=1), [1], workers=1, progress=False, journal=journal)
    notes = tmp_path / "notes.txt"
    for text in ("no end of line", "lines\nof words\n"):
        notes.write_text(text)
        with pytest.raises(ConfigError, match=r"line 1 is not one of a journal: take the line out"):
            run_sweep(killed, [1], workers=1, progress=False, journal=notes)
        assert notes.read_text() == text
    with pytest.raises(ConfigError, match=r"cannot hold these parameters \(set is not JSON\): use numbers"):
        run_sweep(root_of, [{1}], workers=1, progress=False, journal=journal)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"workers": 0}, "run_sweep: workers = 0 is not usable: it must be a whole number from 1 to 1024."),
        (
            {"workers": 2, "scheduler": "tcp://here:1"},
            "run_sweep: workers does not go with a scheduler: the cluster has its own.",
        ),
        (
            {"scheduler": "here"},
            "run_sweep: scheduler = 'here' is not an address: start one with 'dask scheduler' and give the "
            "address it prints, such as tcp://host:8786.",
        ),
    ],
)
def test_wrong_settings_are_refused_in_one_sentence(settings: dict[str, Any], sentence: str) -> None:
    if "scheduler" in settings:
        pytest.importorskip("distributed")
    with pytest.raises(ConfigError, match=f"^{re.escape(sentence)}$"):
        run_sweep(root_of, [1.0], progress=False, **settings)


def test_without_distributed_a_scheduler_is_refused_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ConfigError, match=r"pip install 'hapticsim\[cluster\]'"):
        run_sweep(root_of, [1.0], scheduler="tcp://127.0.0.1:1", progress=False)


@pytest.mark.long
def test_a_cluster_gives_the_same_results_also_when_a_worker_is_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    numbers = [float(k) for k in range(30)]
    tasks = [{"number": k, "folder": str(tmp_path)} for k in range(6)]
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        there = run_sweep(root_of, numbers, scheduler=address, progress=False)
        survived = run_sweep(killed_unless_third, tasks, scheduler=address, progress=False)
        with pytest.raises(SweepError, match=r"^set 1 of the sweep, -4.0, raised ValueError"):
            run_sweep(root_of, [4.0, -4.0], scheduler=address, progress=False)
        with pytest.raises(SweepError, match=r"^set 2 of the sweep, 2, ended its worker every time"):
            run_sweep(killed, [0, 1, 2], scheduler=address, progress=False)
    assert there == run_sweep(root_of, numbers, workers=2, progress=False)
    assert survived == [0, 10, 20, 30, 40, 50]


@pytest.mark.long
def test_the_study_gives_the_same_checksum_with_one_worker_and_with_two() -> None:
    def checksum(workers: int) -> str:
        command = [sys.executable, str(ROOT / "tools" / "study_sweep.py"), "--runs", "12"]
        done = subprocess.run(
            [*command, "--workers", str(workers)], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split("checksum")[1]

    assert checksum(1) == checksum(2)


def slow_or_light(scene: hs.Scene) -> float:
    """Mass of the puck, by the run of a scene; refuses 0.75 kg."""
    sim = hs.Simulation(scene)
    sim.step(3)
    mass = scene.model.bodies[0].mass
    if mass == 0.75:
        raise ValueError("three quarters.")
    return mass + float(sim.state.q[0])


PUCK = ROOT / "configs" / "puck_and_wall.yaml"
MASS = "robot.bodies.puck.inertial.mass_kg"


def test_variants_are_all_combinations_with_the_last_key_fastest() -> None:
    found = hs.load_variants(PUCK, {MASS: np.linspace(0.5, 1.0, 2), "rate_Hz": (500, 1000)})
    assert [(s.model.bodies[0].mass, s.rate_Hz) for s in found] == [
        (0.5, 500.0), (0.5, 1000.0), (1.0, 500.0), (1.0, 1000.0),
    ]  # fmt: skip
    assert found[1].overrides == {MASS: 0.5, "rate_Hz": 1000}
    for wrong in (0.5, "0.5", None):
        with pytest.raises(ConfigError, match=r"^load_variants: robot.*is not a list of values"):
            hs.load_variants(PUCK, {MASS: wrong})  # type: ignore[dict-item]
    with pytest.raises(ConfigError, match=r"^load_variants: values are not usable"):
        hs.load_variants(PUCK, [MASS])  # type: ignore[arg-type]


def test_a_scene_that_fails_is_named_with_its_values_and_the_others_are_kept(tmp_path: Path) -> None:
    scenes = hs.load_variants(PUCK, {MASS: [0.5, 0.75, 1.5], "rate_Hz": [1000]})
    journal = tmp_path / "sweep.jsonl"
    with pytest.raises(SweepError) as failure:
        run_sweep(slow_or_light, scenes, workers=2, progress=False, journal=journal)
    assert str(failure.value) == (
        f"set 1 of the sweep, {PUCK} with {MASS} = 0.75, rate_Hz = 1000, raised ValueError: three quarters: "
        "run it alone to see where."
    )
    alone = [slow_or_light(scenes[0]), None, slow_or_light(scenes[2])]
    assert failure.value.results == alone and list(failure.value.problems) == [1]
    again = [scenes[0], scenes[2]]
    assert run_sweep(slow_or_light, again, workers=1, progress=False, journal=journal) == alone[::2]


def test_every_set_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(SweepError, match=r"1 more of 4 sets failed: see 'problems'\.$") as failure:
        run_sweep(root_of, [4.0, -4.0, -1.0, 9.0], workers=2, progress=False)
    assert failure.value.results == [2.0, None, None, 3.0] and list(failure.value.problems) == [1, 2]


def test_the_sweep_over_scenes_runs_as_printed(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    block = next(b for b in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "load_variants" in b)
    script = tmp_path / "script.py"
    script.write_text(block)
    done = subprocess.run(
        [sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    speeds = json.loads(done.stdout)
    # every mass stops at the wall without restitution, and comes back with it
    assert speeds == pytest.approx([0.0, -0.9] * 4, abs=1e-3)


def test_a_script_that_sweeps_as_it_is_imported_is_told_at_once(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import hapticsim as hs\n"
        "def double(x):\n    return 2 * x\n"
        "print('swept', hs.run_sweep(double, list(range(50)), workers=2, journal='double.jsonl'))\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("Traceback") == 1
    assert done.stderr.splitlines()[-1].endswith(
        "run_sweep: has workers that end as they start: a script that sweeps does so under "
        'if __name__ == "__main__":, since every worker imports it.'
    )
