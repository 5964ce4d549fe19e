"""A plot: axes with names and units, what was chosen, nothing lost by thinning, refusals in one sentence."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hapticsim.errors import ConfigError, DeviceError, HapticsimError
from hapticsim.playback.plot import draw, plain, plot, styled
from hapticsim.playback.signals import (
    Chart,
    Curve,
    Mark,
    chosen_charts,
    energy_of_coupler,
    energy_to_hand,
    marks,
    thinned,
    unit_of,
    usual_charts,
)
from hapticsim.recording.reader import read_recording
from hapticsim.recording.writer import RecordingWriter
from tests.pictured import STIFFNESS_N_per_m, write_press


def quiet(text: str) -> None:
    """Progress that nobody reads."""


@pytest.fixture
def press(tmp_path: Path) -> Path:
    path = tmp_path / "press.mcap"
    write_press(path, config_text="name: [")  # no scene: nothing is compiled
    return path


def test_the_axes_have_names_and_units_and_the_events_a_line_each(press: Path):
    recording = read_recording(press)
    with styled():
        figure = draw(usual_charts(recording), marks(recording), recording.metadata["scene"])
        labels = [axis.get_ylabel() for axis in figure.axes]
        assert labels == [
            "force on the hand\n[N]",
            "forces of contacts\n[N]",
            "position of the handle\n[m]",
            "events",
        ]
        assert figure.axes[-1].get_xlabel() == "time [s]"
        assert [t.get_text() for t in figure.axes[-1].get_yticklabels()] == ["touch"]
        assert [t.get_text() for t in figure.axes[0].get_legend().get_texts()] == ["x", "y", "z"]
        z = figure.axes[0].get_lines()[2]
        assert max(z.get_ydata()) == pytest.approx(8.0, abs=1e-3)


@pytest.mark.parametrize(("suffix", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_the_suffix_chooses_the_kind_and_a_missing_scene_costs_the_energy_alone(press, suffix, begins):
    out = press.with_suffix(f".{suffix}")
    (note,) = plot(press, out, [], quiet)
    assert note.startswith("energy is not plotted: ") and out.read_bytes().startswith(begins)


def test_columns_are_grouped_by_their_unit(press: Path):
    names = ["hand_force_z_N", "handle_z_m", "force_N[puck_box on table]", "q0"]
    charts = chosen_charts(read_recording(press), names)
    assert [(c.unit, [k.label for k in c.curves]) for c in charts] == [
        ("N", ["hand_force_z_N", "force_N[puck_box on table]"]),
        ("m", ["handle_z_m"]),
        ("", ["q0"]),
    ]
    assert unit_of("coupler_damping_Nms_per_rad") == "N m s/rad"


def test_recorded_energy_is_plotted_without_the_scene(tmp_path: Path):
    path = tmp_path / "alone.mcap"
    with RecordingWriter(path, ["time_s", "q0", "kinetic_J", "potential_J"]) as writer:
        writer.append(np.column_stack([np.arange(5) * 0.1, np.zeros(5), np.arange(5.0), -np.arange(5.0)]))
    assert plot(path, tmp_path / "a.svg", [], quiet) == []


@pytest.mark.parametrize(
    ("out", "columns", "sentence"),
    [
        ("a.jpg", [], "cannot be a figure: end its name in .png or .svg or .pdf."),
        ("none/a.png", [], "is in a folder that does not exist: make it first."),
        ("press.mcap.png", [], "exists already and nothing is overwritten: give another name, or remove it."),
        ("a.png", ["hand_force_w_N"], "is no column of "),
        (None, [], "no display to plot on: give --out FILE.png, .svg or .pdf."),
    ],
)
def test_what_cannot_be_plotted_is_refused_in_one_sentence(press, monkeypatch, out, columns, sentence):
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    (press.parent / "press.mcap.png").write_bytes(b"mine")
    with pytest.raises(HapticsimError) as refused:
        plot(press, None if out is None else press.parent / out, columns, quiet)
    assert sentence in str(refused.value) and "\n" not in str(refused.value)
    assert (press.parent / "press.mcap.png").read_bytes() == b"mine"


def test_a_recording_without_rows_is_refused(tmp_path: Path):
    write_press(tmp_path / "r.mcap", ticks=0)
    with pytest.raises(ConfigError, match="holds nothing that could be plotted"):
        plot(tmp_path / "r.mcap", tmp_path / "a.png", [], quiet)


def test_a_missing_matplotlib_is_one_sentence_that_names_the_extra(press, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(DeviceError, match=r"'matplotlib': pip install 'hapticsim\[studies\]'"):
        plot(press, press.with_suffix(".png"), [], quiet)


def test_a_cut_recording_is_plotted_as_far_as_it_goes(press: Path):
    whole = press.read_bytes()
    press.write_bytes(whole[: int(0.9 * len(whole))])
    notes = plot(press, press.with_suffix(".png"), [], quiet)
    assert "was not closed or is damaged" in notes[0] and press.with_suffix(".png").exists()


def test_thinning_keeps_the_largest_and_the_least_and_gaps():
    values = np.sin(np.arange(100_000) * 1e-3)
    values[54_321], values[77_777], values[90_000:91_000] = 9.0, -9.0, np.nan
    time, kept = thinned(Curve("", np.arange(100_000.0), values))
    assert len(kept) <= 3002
    assert np.nanmax(kept) == 9.0 and np.nanmin(kept) == -9.0
    assert time[np.nanargmax(kept)] == 54_321.0 and np.isnan(kept).any()


@pytest.mark.parametrize("name", ["$x", "a$\\frac$", "_hidden", "a\x00b\n", "100 % {", 500 * "w"])
def test_any_name_is_drawn_as_it_is(name: str):
    time = np.arange(3.0)
    with styled():
        figure = draw([Chart(name, "N", (Curve(name, time, time),))], [Mark(1.0, name, name)], name)
        figure.canvas.draw()
        assert len(figure.axes[0].get_legend().get_texts()) == 1
    assert len(plain(name)) <= 45


def test_energies_are_those_of_a_spring_worked_out(tmp_path: Path):
    """Pressed by 10 mm and let go with a fifth less force: K d^2 / 2 goes in, 0.8 of it comes back."""
    write_press(tmp_path / "r.mcap", ticks=20_000, config_text="")
    recording = read_recording(tmp_path / "r.mcap")
    stored = 0.5 * STIFFNESS_N_per_m * 0.01**2
    to_hand, coupler = energy_to_hand(recording), energy_of_coupler(recording)
    assert to_hand is not None and coupler is not None
    assert to_hand.min() == pytest.approx(-stored, rel=1e-3)
    assert to_hand[-1] == pytest.approx(-0.2 * stored, rel=1e-2)
    assert coupler[-1] == pytest.approx(-0.2 * stored, rel=1e-2) and coupler.max() < 1e-9


def test_the_command_line_splits_names_at_commas_outside_brackets():
    program = "from hapticsim.commands.pages import _names; print(_names('a, force_N[b, c on d],e'))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert re.sub(r"\s+$", "", said.stdout) == "['a', 'force_N[b, c on d]', 'e']"
