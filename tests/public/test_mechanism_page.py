"""docs/mechanisms.md: its example runs as printed and moves as it must, and its names are there."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import hapticsim as hs
from hapticsim.codes import Mode

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mechanisms.md").read_text(encoding="utf-8")
CLAMP_N, MASS, LENGTH, ROD, K, G = 4.0, 0.2, 0.5, 0.3, 40.0, 9.81


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's two files, side by side."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "bead.py").write_text(blocks("python")[0])
    (folder / "bead.yaml").write_text(blocks("yaml")[0])
    return folder


def test_the_program_of_the_page_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    exec(compile(blocks("python")[1], "page", "exec"), {})
    assert "Mode." in capsys.readouterr().out


def test_the_clamp_of_the_page_slips_where_its_friction_ends(folder: Path) -> None:
    """At rest and level, the clamp bears the force along the rod: up to 0.5 * 4 N."""
    scene = hs.load(folder / "bead.yaml")
    for push, hold in ((1.99, Mode.HELD), (2.01, Mode.FORWARD), (-2.01, Mode.BACKWARD)):
        sim = hs.Simulation(scene)
        sim.switch("level", True)  # so that nothing but the push is felt along the rod
        sim.apply(force=[push, 0.0, 0.0])
        sim.step()
        assert sim.held["clamp"] == hold
        expected = -push if hold == Mode.HELD else -np.sign(push) * 0.3 * CLAMP_N
        assert sim.constraint_force("clamp")[0] == pytest.approx(expected, abs=0.02)


def test_the_bead_of_the_page_falls_as_lagrange_says(folder: Path) -> None:
    sim = hs.Simulation(hs.load(folder / "bead.yaml"))
    sim.switch("clamp", False)
    sim.step(200)
    before, q, u = sim.energy(), sim.state.q, sim.state.u
    sim.step(200)
    assert sum(sim.energy()) == pytest.approx(sum(before), abs=1e-9)
    udot = sim.assembly.equations.forward_dynamics(q, u, np.zeros(2))
    (a, s), (w, v) = q, u
    inertia = ROD * LENGTH**2 / 3 + MASS * s**2
    turning = G * np.cos(a) * (ROD * LENGTH / 2 + MASS * s) - 2 * MASS * s * w * v
    sliding = s * w**2 - K / MASS * (s - LENGTH / 2) + G * np.sin(a)
    assert udot == pytest.approx(np.array([turning / inertia, sliding]), rel=1e-10)


def test_the_ready_mechanisms_of_the_page_are_there() -> None:
    names = re.findall(r"\| `(\w+\.yaml)` \|", PAGE)
    assert len(names) == 3
    assert all((ROOT / "configs" / name).is_file() for name in names)
