"""Recordings that an earlier version made are replayed by this one, up to its sines.

They were made before the code moved into rooms: the arm and the panda that press on a table, a four-bar
linkage whose loop is switched off and on, a curve as a guide, and a mechanism by Kane's method.  Sines and
cosines were those of a C library then, whose last bits are others: DIFFERENCE is what that makes, to the bit.
The linkage passes a dead point, where it is 8e-7 rad/s for a tick, and 1e-14 again soon after.  Another
NumPy than the one they were made with rounds what is computed at load differently: NumPy 2.5 makes a
difference of 7e-13.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hapticsim.describe.recorded_scene import scene_of
from hapticsim.model.robot_file.library import library_models
from hapticsim.playback.animation import Animation
from hapticsim.recording.reader import read_recording
from hapticsim.simulate.simulation import Simulation
from hapticsim.simulate.virtual import replay

MADE_WITH, OTHERWISE = "2.4.", 1e-12  # version of NumPy, largest difference with another
DIFFERENCE = {
    "curve_guide": 0.0,
    "four_bar_switched": 8.347747919579263e-07,
    "panda_table": 7.047418204564337e-13,
    "wam_table": 4.4506737705007904e-13,
    "wrist": 4.4297898682543746e-14,
}
KEPT = sorted((Path(__file__).parents[1] / "recordings_kept").glob("*.mcap"))


@pytest.mark.parametrize("file", KEPT, ids=lambda file: file.stem)
def test_a_recording_of_an_earlier_version_replays_up_to_its_sines(file):
    if file.stem == "panda_table" and not library_models():
        pytest.skip("example-robot-data is not installed")
    recording = read_recording(file)
    simulation = Simulation(scene_of(recording, trust=True))
    assert list(recording.columns) == simulation.columns[: len(recording.columns)]
    found, expected = replay(recording, simulation), DIFFERENCE[file.stem]
    if np.__version__.startswith(MADE_WITH):
        assert found == expected
    else:
        assert found <= 10.0 * expected + OTHERWISE


def test_all_five_are_here():
    names = ["curve_guide", "four_bar_switched", "panda_table", "wam_table", "wrist"]
    assert [file.stem for file in KEPT] == names


def test_of_a_recording_without_a_certificate_nothing_is_said():
    """Zeros would say that every law of contact was kept."""
    animation = Animation(Path(__file__).parents[1] / "recordings_kept" / "wam_table.mcap", lambda text: None)
    assert set(animation.state(0.5)["certificate"].values()) == {None}
