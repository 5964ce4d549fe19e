"""Where the shipped configs are."""

from __future__ import annotations

from pathlib import Path

CONFIGS = Path(__file__).parents[1] / "configs"
WAM, PUCK = CONFIGS / "wam_table.yaml", CONFIGS / "puck_and_wall.yaml"
