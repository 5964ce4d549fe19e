"""No tip that a hand presses comes to the other side of a sheet 0.2 mm thick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import trimesh

SEEDS = [0, *(pytest.param(k, marks=pytest.mark.long) for k in range(20, 520, 50))]


@pytest.mark.parametrize("first", SEEDS)
def test_no_tip_comes_through_a_thin_sheet(tool: Any, first: int) -> None:
    every = list(tool("thin_sheets").presses(20 if first == 0 else 50, first, 1))
    assert not [found for found in every if found.bad]
    pressed = [found.pressed for found in every]
    assert np.median(pressed) > 0.5 and sum(found.ticks for found in every) > 2000, "it was pressed"


def test_sheets_are_thin_closed_and_have_the_start_on_the_right_side(tool: Any) -> None:
    sheets = tool("thin_sheets")
    for seed in range(30):
        case = sheets.sheet(np.random.default_rng(seed))
        assert case.is_here(case.start)
        ways = [*np.eye(3), *-np.eye(3)]
        assert not all(case.is_here(case.place(way)) for way in ways), "the device goes to the other side"
        if isinstance(case.solid, tuple):
            continue
        surface = trimesh.Trimesh(case.solid.vertices, case.solid.triangles, process=False)
        assert surface.is_watertight and surface.is_winding_consistent and surface.volume > 0.0
        assert surface.volume < 1.1 * sheets.THIN_m * 0.5 * surface.area
