"""The tools run, print numbers that a program can read, and compare like with like."""

from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import hapticsim as hs
from hapticsim.model.multibody.joint import Joint
from hapticsim.model.robot_file.library import library_models
from hapticsim.model.scene import TorqueLaw

ROOT = Path(__file__).parents[2]
WAM = ROOT / "configs" / "wam_table.yaml"


def run_tool(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a tool as a user does."""
    command = [sys.executable, str(ROOT / "tools" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


def numbers_of(name: str, *arguments: str) -> dict[str, Any]:
    """The JSON that a tool prints to standard output, and nothing else with it."""
    done = run_tool(name, "--json", "-", *arguments)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.long
def test_bench_dynamics_times_both_libraries_and_they_agree() -> None:
    pytest.importorskip("pinocchio")
    found = numbers_of("bench_dynamics.py", "--rounds", "1", "--robots", "panda")
    aba = found["robots"]["panda"]["functions"]["forward_dynamics"]
    assert aba["ratio_loop"] == pytest.approx(aba["pinocchio_from_python_us"] / aba["loop_us"])
    assert found["targets"]["forward dynamics: largest relative difference"]["met"]


@pytest.mark.long
def test_bench_growth_times_cubes_awake_and_asleep_beside_the_peer() -> None:
    pytest.importorskip("mujoco")
    cubes = numbers_of("bench_growth.py", "--quick", "--cubes", "4")["cubes"]["4"]
    assert cubes["rows"] == 16 and cubes["asleep_us"] < cubes["exact_us"]
    assert cubes["exact_ratio"] > cubes["asleep_us"] / cubes["mujoco_us"]


@pytest.mark.long
def test_bench_humanoid_times_both_regimes_beside_the_peer_and_all_lie_on_the_floor() -> None:
    pytest.importorskip("gymnasium")
    rows = numbers_of("bench_humanoid.py")["rows"]
    assert set(rows) == {"exact", "time_stepping", "MuJoCo, Euler"}
    assert all(row["contacts"] >= 6 and min(row["fall_us"] + row["lie_us"]) > 0.0 for row in rows.values())
    assert rows["exact"]["pairs"] > 100


def test_load_robots_tells_hulls_pairs_and_what_is_refused_for_its_own_fault() -> None:
    if not library_models():
        pytest.skip("example-robot-data is not installed")
    found = numbers_of("load_robots.py", "--robots", "solo12", "quadrotor_base", "ur3")
    solo, quadrotor, nothing = (found["rows"][name] for name in ("solo12", "quadrotor_base", "ur3"))
    assert solo["hulls"] == solo["shapes"] == 17 and solo["pairs"] == 132 and solo["way"] == ""
    assert quadrotor["way"] == "free" and quadrotor["speeds"] == 6
    assert "holds no <link>" in nothing["refused"]
    assert found["targets"]["robots refused, but for faults of their files"]["met"]


@pytest.mark.long
def test_bench_step_times_equal_scenes_and_a_server_that_ticks() -> None:
    pytest.importorskip("mujoco")
    found = numbers_of("bench_step.py", "--quick", str(WAM))
    pressed = found["ticks"]["contact, RK4"]
    assert pressed["contacts"] == 1 and found["ticks"]["free, RK4"]["contacts"] == 0
    assert pressed["agreement"]["mass_matrix_relative"] < 1e-9
    assert pressed["agreement"]["bias_relative"] < 1e-9
    assert pressed["agreement"]["contact_force_N"] > 1.0
    assert pressed["ratio"] == pytest.approx(pressed["ours_us"] / pressed["mujoco_us"], rel=0.5)
    assert found["server"]["start_s"] > 0.0
    assert found["targets"]["peak memory of a server [MB]"]["met"]


@pytest.mark.long
def test_bench_parts_pushes_ten_parts_and_nothing_goes_through() -> None:
    found = numbers_of("bench_parts.py", "--seconds", "1", "--rounds", "1")["parts"]
    assert found["pairs"] > 200 and found["rows_most"] > 20
    assert "through" not in found["events"]
    assert 0.0 < found["cpu_p50_us"] <= found["cpu_p999_us"]


@pytest.mark.long
def test_bench_mesh_loads_a_mesh_that_is_kept_sooner() -> None:
    loads = numbers_of("bench_mesh.py", "--loads", "--quick")["loads"]
    assert [load["triangles"] for load in loads] == [1280, 20480]
    assert all(0.0 < load["read_kept_s"] < load["kept_s"] for load in loads)


@pytest.mark.long
@pytest.mark.clock
def test_bench_loop_sees_ticks_of_every_loop() -> None:
    found = numbers_of("bench_loop.py", "--seconds", "1", "--rounds", "1", str(WAM))
    assert {run["rate_Hz"] for run in found["runs"].values()} == {1000.0, 4000.0}
    for run in found["runs"].values():
        assert run["ticks"] + run["missed"] >= 0.9 * run["rate_Hz"]
        late = run["lateness_us"]
        assert 0.0 <= late["p50"] <= late["p99"] <= late["p999"] <= late["max"]
        assert run["execution_us"]["p50"] > 0.0
    assert "lateness_us" in found["cyclictest"] or "skipped" in found["cyclictest"]


@pytest.mark.long
@pytest.mark.clock
@pytest.mark.parametrize("role", ["device", "stranger"])
def test_a_server_counts_every_damaged_message_keeps_its_memory_and_complains_of_nothing(role: str) -> None:
    done = run_tool("fuzz_server.py", "--count", "10000", "--as", role)
    slow = "ticks took longer than the period"  # a computer taken away in the middle of a tick looks like it
    failures = [line for line in done.stderr.splitlines() if line.startswith("FAILED") and slow not in line]
    assert not failures and "Traceback" not in done.stderr, done.stderr
    assert "sent 10" in done.stdout and "resident memory" in done.stdout


def test_fuzz_wire_counts_every_message() -> None:
    done = run_tool("fuzz_wire.py", "--count", "4000", "--seed", "3")
    assert done.returncode == 0, done.stderr
    assert "fed 22000" in done.stdout  # eleven portions: ten to warm up, one to look at


def test_numbers_kept_are_shown_beside_the_new_ones(tool: Any, tmp_path: Path) -> None:
    reporting = tool("reporting")
    kept, seen = tmp_path / "old.json", []

    def show(_console: Console, found: dict[str, Any], before: dict[str, Any] | None) -> None:
        seen.append((found, before))

    reporting.report(Namespace(json=None, save=kept, compare=None), lambda: {"us": 1.0}, show)
    reporting.report(Namespace(json=None, save=None, compare=kept), lambda: {"us": 2.0}, show)
    assert seen == [({"us": 1.0}, None), ({"us": 2.0}, {"us": 1.0})]


def test_a_missing_file_to_compare_with_is_refused_before_anything_is_measured(
    tool: Any, tmp_path: Path
) -> None:
    def measure() -> dict[str, Any]:
        raise AssertionError("measured first")

    options = Namespace(json=None, save=None, compare=tmp_path / "nowhere.json")
    with pytest.raises(SystemExit, match="make it with --save"):
        tool("reporting").report(options, measure, lambda *_: None)


def test_a_scene_that_mujoco_would_simulate_otherwise_is_refused(tool: Any) -> None:
    pytest.importorskip("mujoco")
    scene_xml, scene = tool("mujoco_scene").scene_xml, hs.load(WAM)
    held = replace(scene, torque_laws=(TorqueLaw("J1", gravity_compensation=True, stiffness=3.0),))
    with pytest.raises(ValueError, match="more than gravity compensation"):
        scene_xml(held, "RK4")
    partly = replace(scene, torque_laws=scene.torque_laws[:2])
    with pytest.raises(ValueError, match="by some joints only"):
        scene_xml(partly, "RK4")
    joints: tuple[Joint, ...] = (replace(scene.model.joints[0], kind="free"), *scene.model.joints[1:])
    floating = replace(scene, model=replace(scene.model, joints=joints), torque_laws=())
    with pytest.raises(ValueError, match="only hinges and slides"):
        scene_xml(floating, "RK4")
    capsule = replace(scene, shapes=tuple(replace(s, kind="capsule") for s in scene.shapes))
    with pytest.raises(ValueError, match="only spheres, boxes and planes"):
        scene_xml(capsule, "RK4")
