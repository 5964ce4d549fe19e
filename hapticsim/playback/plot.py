"""Force, position and energy of a recording over time, with its events: a figure for a page or a window."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from hapticsim.describe.recorded_scene import scene_of
from hapticsim.errors import ConfigError, DeviceError, HapticsimError
from hapticsim.files.new_file import check_new_file
from hapticsim.playback.signals import Chart, Mark, chosen_charts, energy_chart, marks, thinned, usual_charts
from hapticsim.recording.reader import read_recording

KINDS = (".png", ".svg", ".pdf")
# the Okabe-Ito set without its yellow, which is not seen on white; styles tell curves apart in grey, too
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", "-.", ":")
STYLE: Any = {
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.labelsize": 9.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#d9d9d9",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.fontsize": 8.0,
    "svg.hashsalt": "hapticsim",
    "figure.dpi": 100.0,
    "savefig.dpi": 200.0,
}
WIDTH_in, HEIGHT_in, EVENTS_in = 7.0, 1.7, 0.22  # of the figure, of a chart, of a kind of event
MOST_LINES = 40  # events that are drawn through all charts
MOST_LETTERS = 40


def plot(
    file: Path,
    out: Path | None,
    columns: Sequence[str],
    progress: Callable[[str], Any],
    trust: bool = False,
) -> list[str]:
    """Plot a recording to a file, or in a window; returns notes on what is left out.

    out : ``.png``, ``.svg`` or ``.pdf``; None: a window.
    columns : names of columns instead of force, position and energy.
    trust : run a Python program in the recording (`recorded_scene`).

    Raises
    ------
    HapticsimError : not a recording, no such column, a file that cannot be made, no display, no matplotlib.
    """
    require_matplotlib()
    if out is not None:
        check_new_file(out, KINDS, "a figure")
    recording = read_recording(file)
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"
    if out is None and not has_display:
        raise DeviceError("no display to plot on: give --out FILE.png, .svg or .pdf.")
    notes = [recording.note] if recording.note else []
    if len(recording.data) == 0:
        raise ConfigError(file, "", "holds nothing that could be plotted: it ended before its first row.")
    if columns:
        charts = chosen_charts(recording, columns)
    else:
        charts = usual_charts(recording)
        try:
            charts.append(energy_chart(recording, lambda: scene_of(recording, trust), progress))
        except HapticsimError as refusal:
            notes.append(f"energy is not plotted: {refusal}")
    with styled():
        title, events = recording.metadata.get("scene", ""), marks(recording)
        if out is None:
            import matplotlib.pyplot as windows

            if windows.get_backend().lower() == "agg":
                raise DeviceError("matplotlib has no window here: give --out FILE.png, .svg or .pdf.")
            draw(charts, events, title, windows.figure)
            windows.show()
            return notes
        try:
            draw(charts, events, title).savefig(out)
        except OSError as error:
            raise ConfigError(out, "", f"cannot be written ({error.strerror}): give another file.") from error
    return notes


def require_matplotlib() -> None:
    """Raise DeviceError, in one sentence, where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise DeviceError(
            "A plot needs the package 'matplotlib': pip install 'hapticsim[studies]'."
        ) from None


def draw(
    charts: Sequence[Chart],
    events: Sequence[Mark],
    title: str = "",
    new_figure: Callable[..., Any] | None = None,
) -> Any:
    """A matplotlib figure: the charts under one another, below them the events, one line for each kind.

    new_figure : makes it; None: one that is in no window.
    """
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(mark.kind for mark in events))
    heights = [HEIGHT_in] * len(charts) + ([EVENTS_in * len(kinds) + 0.15] if kinds else [])
    size = (WIDTH_in, sum(heights) + 0.9)
    figure = (new_figure or Figure)(figsize=size, layout="constrained")
    axes = figure.subplots(
        len(heights), 1, sharex=True, squeeze=False, gridspec_kw={"height_ratios": heights}
    )[:, 0]
    for axis, chart in zip(axes, charts, strict=False):
        for n, curve in enumerate(chart.curves):
            style, color = STYLES[n % len(STYLES)], COLORS[n % len(COLORS)]
            axis.plot(*thinned(curve), style, color=color, label=plain(curve.label))
        name = f"{chart.title} " if chart.title else ""
        axis.set_ylabel(plain(f"{name}[{chart.unit or '1'}]").replace(" [", "\n["))
        axis.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.0)
        axis.margins(x=0.01)
        if len(events) <= MOST_LINES:
            for mark in events:
                axis.axvline(mark.time_s, color="#808080", linewidth=0.6, linestyle=":", zorder=0.5)
    if kinds:
        for n, kind in enumerate(kinds):
            times = [mark.time_s for mark in events if mark.kind == kind]
            axes[-1].plot(times, [n] * len(times), "|", color=COLORS[n % len(COLORS)], markersize=8.0)
        axes[-1].set_yticks(range(len(kinds)), [plain(kind) for kind in kinds])
        axes[-1].set_ylim(len(kinds) - 0.5, -0.5)
        axes[-1].grid(axis="y", visible=False)
        axes[-1].set_ylabel("events")
    axes[-1].set_xlabel("time [s]")
    figure.align_ylabels(axes)
    if title:
        figure.suptitle(plain(title), fontsize=10.0)
    return figure


def histogram(values: np.ndarray, label: str) -> Any:
    """A matplotlib figure: how often a time [us] was how long, both logarithmic."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH_in, 2.2), layout="constrained")
    axis = figure.subplots()
    values = np.maximum(values[np.isfinite(values)], 0.1)
    top = max(float(values.max(initial=1.0)), 1.0)
    axis.hist(values, np.geomspace(0.1, 1.01 * top, 60).tolist(), color=COLORS[0], log=True)
    axis.set_xscale("log")
    axis.set_xlabel(f"{label} [µs]")
    axis.set_ylabel("ticks")
    return figure


def as_svg(figure: Any) -> str:
    """The figure as an SVG element, to stand in a page."""
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def plain(text: str) -> str:
    """Text that matplotlib draws as it is: no formula, nothing that cannot be printed, not too long."""
    shown = "".join(c if c.isprintable() else " " for c in text)
    shown = shown if len(shown) <= MOST_LETTERS else f"{shown[: MOST_LETTERS - 1]}…"
    return (f" {shown}" if shown.startswith("_") else shown).replace("$", r"\$")


@contextlib.contextmanager
def styled() -> Iterator[None]:
    """The style of all figures; letters that the typeface lacks are no reason for a warning."""
    import matplotlib

    with warnings.catch_warnings(), matplotlib.rc_context(STYLE):
        warnings.filterwarnings("ignore", message=".*[Gg]lyph.*")
        yield
