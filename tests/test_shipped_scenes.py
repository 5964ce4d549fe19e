"""Every scene of the project runs as a user starts it."""

from __future__ import annotations

import pytest

from tests.processes import CONFIGS, START_S


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.glob("*.yaml")))
def test_every_scene_of_the_project_runs(place, name):
    program = place.run(
        "run", CONFIGS / name, "--device", "scripted", "--seconds", "1", "--no-record", within_s=START_S
    )
    assert program.process.returncode == 0
    assert "ticks at 1000 Hz" in program.printed
