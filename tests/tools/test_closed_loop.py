"""The closed-loop study: its KKT against formulas, its three ways against one another, mode changes."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import hapticsim as hs
from tests import naive

TOOLS = Path(__file__).parents[2] / "tools"
pytestmark = pytest.mark.long  # they are those of tools/study_closed_loop.py
EMBEDDED, ON, OFF = "embedded", "KKT, stabilised", "KKT, not stabilised"


@pytest.fixture(scope="module", name="tool")
def _tool() -> Iterator[Any]:
    """Import a tool's module by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOOLS))

        def load(name: str) -> ModuleType:
            return __import__(name)

        yield load


@pytest.fixture(scope="module", name="study")
def _study(tool: Any) -> tuple[Any, dict[str, Any]]:
    """The traces of three seconds and what is said of them."""
    traces: dict[str, Any] = {}
    found = tool("study_closed_loop").measure(3.0, 1.5, traces)
    return traces, found


def arm_off_the_plane(tool: Any, method: Any) -> tuple[Any, Any]:
    """The arm of the study a little beside its plane, moving, and its equations."""
    kkt, task = tool("closed_loop_kkt"), tool("closed_loop_task")
    scene = task.scene()
    equations = hs.compile_equations(scene.model, (task.BODY,))
    arm = kkt.KktArm(equations, scene, method)
    rng = np.random.default_rng(5)
    arm.q += 1e-3 * rng.normal(size=4)
    arm.u[:] = 0.3 * rng.normal(size=4)
    return arm, equations


def test_the_kkt_system_is_solved_as_numpy_solves_it(tool):
    arm, equations = arm_off_the_plane(tool, tool("closed_loop_kkt").OFF)
    Q = np.array([1.0, -9.0, 0.5, -2.0])
    udot, f = arm.acceleration(Q)
    _, _, row, _, _ = arm.terms()
    # the remainder by finite differences along the motion, not by the remainder accelerations it is made of
    step, ahead, q, u = 1e-6, [], arm.q.copy(), arm.u.copy()
    for sign in (-1.0, 1.0):
        arm.q[:] = q + sign * step * u
        ahead.append(arm.terms()[2] @ u)
    rest = (ahead[1] - ahead[0]) / (2.0 * step)
    M, h = equations.mass_matrix(q), equations.bias(q, u)
    expected, force = naive.kkt(M, row[None], np.array([rest]), Q - h)
    np.testing.assert_allclose(udot, expected, rtol=0, atol=1e-6)
    assert f == pytest.approx(force[0], abs=1e-6)
    V = equations.partial_velocities("forearm", q)
    arms = equations.body_pose("forearm", q).rotation @ [-0.045, -0.35, 0.0]
    np.testing.assert_allclose(row, V[5] + np.cross(V[:3].T, arms)[:, 2], rtol=0, atol=1e-12)


def test_the_stabiliser_asks_for_what_it_is_printed_to_ask_for(tool):
    """qddot along the row differs by -s_v e_dot - s_p e."""
    kkt = tool("closed_loop_kkt")
    Q = np.array([1.0, -9.0, 0.5, -2.0])
    plain, _ = arm_off_the_plane(tool, kkt.OFF)
    stabilised, _ = arm_off_the_plane(tool, kkt.ON)
    _, _, row, error, rate = plain.terms()
    assert abs(error) > 1e-4 and abs(rate) > 1e-3
    more = row @ (stabilised.acceleration(Q)[0] - plain.acceleration(Q)[0])
    assert more == pytest.approx(-1414.0 * rate - 1e6 * error, rel=1e-10)


def test_the_stabiliser_takes_an_error_away_and_without_it_the_error_stays(tool):
    kkt, left = tool("closed_loop_kkt"), {}
    for method in (kkt.ON, kkt.OFF):
        arm, equations = arm_off_the_plane(tool, method)
        arm.u[:] = 0.0
        before = arm.terms()[3]
        for _ in range(30):
            arm.step(equations.bias(arm.q, arm.u))
        left[method] = abs(arm.terms()[3] / before)
    assert left[kkt.ON] < 1e-6 and left[kkt.OFF] == pytest.approx(1.0, abs=1e-3)


def test_a_free_arm_keeps_its_energy(tool):
    arm, equations = arm_off_the_plane(tool, tool("closed_loop_kkt").OFF)
    arm.held = False
    before = sum(equations.energy(arm.q, arm.u))
    for _ in range(200):
        arm.step(np.zeros(4))
    assert np.abs(arm.u).max() > 1.0
    assert sum(equations.energy(arm.q, arm.u)) == pytest.approx(before, abs=1e-8)


def test_loop_errors_are_at_rounding_bounded_and_growing(study):
    traces, found = study
    errors = {way: np.array(found["ways"][way]["loop_error_m"]) for way in (EMBEDDED, ON, OFF)}
    assert errors[EMBEDDED].max() < 1e-14
    assert np.all(np.diff(errors[OFF]) > 0.0) and errors[OFF][-1] > 10.0 * errors[EMBEDDED].max()
    assert errors[ON].max() < 1e-10 and errors[ON][-1] < errors[ON][1]
    late = np.abs(traces[OFF].error[1000:])
    assert np.all(late[500:] >= late[:-500]), "it accumulates"


def test_the_three_ways_tell_the_same_story(study):
    traces, _ = study
    for way in (ON, OFF):
        np.testing.assert_allclose(traces[way].tip, traces[EMBEDDED].tip, rtol=0, atol=1e-9)
        np.testing.assert_allclose(traces[way].force, traces[EMBEDDED].force, rtol=0, atol=1e-4)


def test_the_force_jumps_when_the_motion_starts_and_settles_at_ten_newtons(study):
    traces, _ = study
    trace = traces[EMBEDDED]
    still, settled = trace.time < 0.5, trace.time > 1.0
    np.testing.assert_allclose(trace.force[still], 10.0, rtol=0, atol=1e-6)
    assert np.abs(trace.force - 10.0).max() > 1.0
    np.testing.assert_allclose(trace.force[settled], 10.0, rtol=0, atol=5e-3)
    assert np.ptp(trace.tip[:, 1]) > 0.03 and trace.speed.max() < 0.02
    np.testing.assert_allclose(trace.tip, trace.path, rtol=0, atol=1e-4)


def test_accelerations_agree_on_the_manifold(study):
    agreement = study[1]["agreement"]
    for key in ("with_stabiliser", "embedded", "over_a_cycle", "force_N"):
        assert 0.0 < agreement[key] < 1e-8, key


def test_eulers_method_needs_the_stabiliser(study):
    for name, h in study[1]["harder"].items():
        if name.startswith("Euler"):
            assert h["stabilised_m"] < 1e-2 * h["not_stabilised_m"], name


def test_one_run_shows_the_four_mode_changes_and_the_energy_of_the_collision(study):
    modes = study[1]["modes"]
    assert [m["change"] for m in modes] == [
        "free to free",
        "free to constrained (collision)",
        "constrained to constrained",
        "constrained to free (contact breaking)",
        "free to free",
    ]
    free, hit, held, broken, _ = modes
    assert sum(m["cycles"] for m in modes) == 1800
    assert hit["rate_before_m_per_s"] < -0.2 and abs(hit["gap_m"]) < 1e-9
    assert hit["lost_J"] == pytest.approx(hit["lost_expected_J"], rel=1e-8) and hit["lost_J"] > 0.01
    assert free["force_after_N"] == 0.0 and held["force_after_N"] == pytest.approx(10.0, abs=0.02)
    assert broken["force_after_N"] == 0.0 and abs(broken["rate_before_m_per_s"]) < 1e-9


def test_the_study_keeps_its_targets_prints_its_tables_and_is_json(tool, study):
    found = study[1]
    assert [name for name, t in found["targets"].items() if not t["met"]] == []
    kept = json.loads(json.dumps(found))
    out = io.StringIO()
    tool("study_closed_loop").show(Console(file=out, width=110), kept, kept)
    for word in ("embedded", "contact breaking", "Euler, 1000 Hz", "met", "before, last"):
        assert word in out.getvalue(), word
    assert "…" not in out.getvalue(), "no table is cut off"


def test_the_figures_are_drawn(tool, study, tmp_path):
    pytest.importorskip("matplotlib")
    tool("closed_loop_figures").draw(tmp_path, study[0])
    names = {path.name for path in tmp_path.iterdir() if path.stat().st_size > 5000}
    assert names == {*(f"figure_{k}.png" for k in (4, 5, 6, 7)), "closed_loop.png"}
