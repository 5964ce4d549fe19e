"""The tick against SymPy and SciPy: five seconds of every ready mechanism while its constraints change.

The oracle (tools/mechanism_kane.py, mechanism_oracle.py) shares nothing with the tick but the mechanism's
file: equations by SymPy's KanesMethod, motion by DOP853 at 1e-12, changes located as its events.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

TOOLS = Path(__file__).parents[2] / "tools"
AGREED = 1e-8
NAMES = (
    "rolling disk",
    "shopping cart",
    "wrist, careful speeds",
    "wrist, u = qdot",
    "wrist, gear and brake",
)


@pytest.fixture(scope="module", name="runs")
def _runs() -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(TOOLS))
        yield __import__("mechanism_runs")


@pytest.fixture(scope="module", name="pair")
def _pair(runs: Any) -> Any:
    """Both motions of a run by name, made once."""
    made: dict[str, Any] = {}

    def pair(name: str) -> Any:
        if name not in made:
            made[name] = runs.compare(name)
        return made[name]

    return pair


@pytest.mark.parametrize(
    "name", [NAMES[0], *(pytest.param(name, marks=pytest.mark.long) for name in NAMES[1:])]
)
def test_motion_and_changes_are_those_of_an_independent_integration(runs: Any, pair: Any, name: str) -> None:
    ours, theirs = pair(name)
    assert ours.t[-1] == pytest.approx(5.0)
    assert [c[1:] for c in ours.changes] == [c[1:] for c in theirs.changes]
    assert len(theirs.changes) >= 3
    dq, du, dt = runs.differences(ours, theirs)
    assert max(dq, du, dt) < AGREED


@pytest.mark.long
def test_the_runs_cover_slip_stick_and_switching_also_inside_a_tick(runs: Any, pair: Any) -> None:
    assert set(NAMES) == set(runs.RUNS)
    for name in ("rolling disk", "shopping cart", "wrist, careful speeds", "wrist, gear and brake"):
        changes = pair(name)[1].changes
        assert {"HELD", "FREE"} <= {what for _, _, what in changes}
        assert {"FORWARD", "BACKWARD"} & {what for _, _, what in changes}
        assert any(abs(t / 1e-3 - round(t / 1e-3)) > 1e-6 for t, _, _ in changes)
    slips = [t for t, _, what in pair("wrist, careful speeds")[1].changes if what == "FORWARD"]
    assert any(abs(t / 1e-3 - round(t / 1e-3)) > 1e-6 for t in slips)  # a force reached its bound in a tick


@pytest.mark.long
def test_the_choice_of_speeds_does_not_change_the_motion(pair: Any) -> None:
    careful, rates = pair("wrist, careful speeds")[0], pair("wrist, u = qdot")[0]
    assert np.max(np.abs(careful.q - rates.q)) < AGREED
    assert np.max(np.abs(careful.u - rates.u)) > 0.1  # they are other speeds
    assert np.ptp(careful.q, axis=0).min() > 0.1


def test_the_oracle_notices_a_friction_that_is_off_by_a_millionth(runs: Any, pair: Any) -> None:
    run = runs.disk()
    rolling = run.rules[1]
    object.__setattr__(rolling, "friction", (0.15, 0.1 * (1.0 + 1e-6), "contact"))
    ours = pair("rolling disk")[0]
    dq, du, _ = runs.differences(ours, run.by_oracle(ours.t))
    assert max(dq, du) > AGREED
