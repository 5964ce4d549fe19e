"""Every scene of the project runs as a user starts it."""

from __future__ import annotations

import pytest

from tests.processes import CONFIGS, START_S

SCENES = sorted(path.name for path in CONFIGS.glob("*.yaml"))
AT_ONCE = ("panda_table.yaml", "puck_and_wall.yaml", "four_bar.yaml")  # wam_table is in every other test


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in AT_ONCE else pytest.mark.long) for name in SCENES]
)
def test_every_scene_of_the_project_runs(place, name):
    program = place.run(
        "run", CONFIGS / name, "--device", "scripted", "--seconds", "1", "--no-record", within_s=START_S
    )
    assert program.process.returncode == 0
    assert "ticks at 1000 Hz" in program.printed and "in session" in program.said
