"""The studies of accuracy and of operations run, print numbers a program can read, and keep their targets."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from hapticsim.equations.algorithms import ALGORITHMS
from hapticsim.equations.operations import operations_of
from hapticsim.model.moving import moving_tree
from hapticsim.model.robot_file.library import library_models

TOOLS = Path(__file__).parents[2] / "tools"
WORST = "mass and length 10^k"


def numbers_of(name: str, *arguments: str) -> dict[str, Any]:
    """The JSON that a tool prints to standard output."""
    command = [sys.executable, str(TOOLS / name), "--json", "-", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def all_finite(value: Any) -> bool:
    """Say whether every number in nested dicts is finite."""
    if isinstance(value, dict):
        return all(all_finite(v) for v in value.values())
    return not isinstance(value, float) or math.isfinite(value)


@pytest.fixture(name="tool")
def _tool(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a tool's module by name."""
    monkeypatch.syspath_prepend(str(TOOLS))
    return __import__


# ---- accuracy


@pytest.mark.long
def test_the_study_of_accuracy_compares_everyone_with_a_truth_that_is_checked() -> None:
    pytest.importorskip("pinocchio")
    pytest.importorskip("mujoco")
    found = numbers_of("study_accuracy.py", "--states", "3", "--chain", WORST)
    chain = found["chains"][WORST]
    assert set(ALGORITHMS) | {"pinocchio.aba", "MuJoCo", "q rounded"} <= set(chain["float64"])
    assert set(chain["float32"]) == set(ALGORITHMS)
    assert all_finite(found) and found["left_out"] == []
    assert all(t["met"] for t in found["targets"].values())
    for row in chain["float64"].values():
        assert row["failed"] == 0
        for kind in ("norm", "component"):
            assert 0.0 <= row[kind]["median"] <= row[kind]["max"]
    worst = {name: row["norm"]["max"] for name, row in chain["float64"].items()}
    assert worst["abm_exact"] < 1e-6 * min(worst["crbm_cholesky"], worst["MuJoCo"])
    assert chain["float32"]["abm_exact"]["norm"]["max"] > 1e3 * worst["abm_exact"]  # single is not double


def test_a_state_of_the_worst_chain_is_within_the_target(tool: Any) -> None:
    study = tool("study_accuracy")
    equations = study.equations_of(WORST)
    state = study.state_of(equations.model, 4)
    with mpmath.workdps(60):
        true = study.solved(WORST, *(study.exact(x) for x in state))  # not by the recursion that is judged
        by_norm, by_component = study.errors(equations.forward_dynamics(*state), true)
    assert by_norm < 1e-11 and by_component < 1e-11


def test_the_truth_is_exact_also_where_axes_are_skew(tool: Any) -> None:
    """Rotations rounded to double precision are no rotations: recursion and mass matrix would disagree."""
    study, cases = tool("study_accuracy"), tool("accuracy_cases")
    for name in (WORST + cases.SKEW, cases.ARM + cases.SKEW):
        assert max(study.differences(name).values()) < study.AGREE


def test_the_first_and_third_shoulder_axes_of_the_arm_are_one_line(tool: Any) -> None:
    cases = tool("accuracy_cases")
    for name in (cases.ARM, cases.ARM + cases.SKEW):
        equations = cases.equations_of(name)
        q, _, _ = cases.state_of(equations.model, 1)
        first, second, third = (equations.partial_velocities("upper", q)[:3, k] for k in range(3))
        np.testing.assert_allclose(first, third, rtol=0, atol=1e-15)
        assert abs(first @ second) < 1e-15


def test_an_error_is_measured_against_the_whole_and_against_each_component(tool: Any) -> None:
    errors = tool("study_accuracy").errors
    by_norm, by_component = errors([3.0, 4.0 + 1e-3], [mpmath.mpf(3), mpmath.mpf(4)])
    assert by_norm == pytest.approx(1e-3 / 5.0) and by_component == pytest.approx(1e-3 / 4.0)
    assert all(math.isnan(e) for e in errors([math.nan, 1.0], [mpmath.mpf(1), mpmath.mpf(1)]))


def test_states_without_a_solution_are_counted_and_left_out(tool: Any) -> None:
    summary = tool("study_accuracy").summary
    found = summary([(1e-3, 1e-2), (math.nan, math.nan), (3e-3, 2e-2)])
    assert found["failed"] == 1 and found["norm"] == {"median": pytest.approx(2e-3), "max": 3e-3}
    assert summary([(math.nan, math.nan)]) == {"failed": 1, "norm": None, "component": None}


# ---- operations


def test_the_study_of_operations_counts_chains_and_robots_below_the_printed_formulas() -> None:
    if "panda" not in library_models():
        pytest.skip("example-robot-data is not installed")
    found = numbers_of("study_operations.py", "--quick")
    assert all_finite(found) and all(t["met"] for t in found["targets"].values())
    assert found["published"]["7"]["ABM"] == {"mul": 1833, "add": 1694}
    for kind in ("twist and offset", "arbitrary"):
        for n in ("1", "4", "7"):
            count = found[kind][n]
            assert count["speeds"] == int(n) and count["ABM"]["sincos"] == 2 * int(n)
    special, general = found["twist and offset"]["7"], found["arbitrary"]["7"]
    assert special["ABM"]["mul"] < general["ABM"]["mul"]
    assert found["robots"]["panda"]["ABM"]["mul"] > 0


def test_operations_of_the_solver_are_those_of_elimination(tool: Any) -> None:
    """Factors: (n^3 - n)/6 additions; two triangles: n (n - 1)."""
    study = tool("study_operations")
    for n in (1, 2, 5, 8):
        assert study.cholesky_operations(n)["add"] == (n**3 - n) // 6 + n * (n - 1)


def test_mass_matrix_and_bias_generated_together_share_their_sines(tool: Any) -> None:
    study = tool("study_operations")
    tree = moving_tree(study.chain(5, False))
    together, solver = study.counts_of(tree)["CRBM + Cholesky"], study.cholesky_operations(5)
    alone = [operations_of(name, tree) for name in ("mass_matrix", "bias")]
    assert together["sincos"] == 10 < sum(count["sincos"] for count in alone)
    assert together["mul"] <= sum(count["mul"] for count in alone) + solver["mul"]


def test_the_crossing_is_where_the_articulated_bodies_stay_cheaper(tool: Any) -> None:
    study = tool("study_operations")

    def costs(abm: int, crbm: int) -> dict[str, dict[str, int]]:
        return {"ABM": {"mul": abm, "add": 0}, "CRBM + Cholesky": {"mul": crbm, "add": 0}}

    assert study.crossing({1: costs(1, 2), 2: costs(5, 4), 3: costs(6, 7), 4: costs(8, 9)}) == 3
    assert study.crossing({1: costs(2, 1)}) is None
    assert study.crossing({n: study.published(n) for n in range(1, 20)}) == 12
