"""A recording of a hand that presses on something and lets go, written without running anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from hapticsim.config.load import load
from hapticsim.kernels.memory.sample import PLACE, row_columns
from hapticsim.recording.writer import RecordingWriter
from tests.processes import CONFIGS

STIFFNESS_N_per_m = 800.0


def write_press(path: Path, ticks: int = 600, config_text: str | None = None, **metadata: str) -> np.ndarray:
    """Record a puck at rest whose coupler is pressed by 10 mm and let go, losing 20 % of what it stored.

    config_text : text of the scene, instead of the puck's.
    returns the rows.
    """
    scene = load(CONFIGS / "puck_and_wall.yaml")
    columns = row_columns(scene.model.nq, scene.model.nu, ["puck_box on table"])
    rows = np.zeros((ticks, len(columns)))
    rows[:, 0], rows[:, 1] = np.arange(ticks) * 1e-3, np.arange(ticks)
    depth = 0.01 * np.sin(np.linspace(0.0, np.pi, ticks)) ** 2
    force = STIFFNESS_N_per_m * depth
    force[ticks // 2 :] *= 0.8
    rows[:, PLACE["device_z_m"]] = rows[:, PLACE["anchor_z_m"]] = -depth
    rows[:, PLACE["hand_force_z_N"]], rows[:, PLACE["coupler_z_N"]] = force, -force
    rows[:, PLACE["safety"]] = 2.0
    rows[:, PLACE["tick_gap_s"]] = 1e-3
    rows[ticks // 2 :, PLACE["lateness_us"]] = 250.0
    rows[:, PLACE["execution_us"]] = 12.0
    for i, value in enumerate(scene.q0):
        rows[:, columns.index(f"q{i}")] = value
    rows[:, columns.index("force_N[puck_box on table]")] = force
    about = {"hapticsim": "0.1.0", "kind": "run", "scene": "puck & <wall>", **metadata}
    text = scene.source if config_text is None else config_text
    with RecordingWriter(path, columns, text, about) as writer:
        if ticks:
            writer.append_event({"time_s": 0.1, "kind": "touch", "text": "puck_box touches <b>table</b>."})
        writer.append(rows)
    return rows
