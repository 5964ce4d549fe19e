"""Figures 4 to 7 of the closed-loop paper, by matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from closed_loop_runs import EMBEDDED, PLAIN, STABILISED, Trace
from closed_loop_task import PRESS_N, START_s
from matplotlib.axes import Axes
from matplotlib.figure import Figure

NEAR_s = 1.5  # of the force is drawn: it is still after the start of the motion
POINTS = 4000  # of a line at most


def draw(folder: Path, traces: dict[str, Trace]) -> None:
    """Write one PNG per figure, and all of them together."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = {
        "figure_4": _position,
        "figure_5": _force,
        "figure_6": _stabilised,
        "figure_7": _not_stabilised,
    }
    for name, part in parts.items():
        alone = Figure(figsize=(6, 4), layout="constrained")
        part(alone.subplots(), traces)
        alone.savefig(folder / f"{name}.png", dpi=120)
    together = Figure(figsize=(12, 8), layout="constrained")
    for axes, part in zip(together.subplots(2, 2).flat, parts.values(), strict=True):
        part(axes, traces)
    together.savefig(folder / "closed_loop.png", dpi=100)


def _thin(trace: Trace, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    every = max(1, len(trace.time) // POINTS)
    return trace.time[::every], values[::every]


def _position(axes: Axes, traces: dict[str, Trace]) -> None:
    trace = traces[EMBEDDED]
    for i, letter in enumerate("xyz"):
        axes.plot(*_thin(trace, trace.tip[:, i]), f"C{i}", label=letter)
        axes.plot(*_thin(trace, trace.path[:, i]), "k:", lw=1.0, label="path" if i == 2 else None)
    axes.set(title="figure 4: position of the fingertip", xlabel="time [s]", ylabel="[m]")
    axes.legend(loc="center right")


def _force(axes: Axes, traces: dict[str, Trace]) -> None:
    for way, style in ((EMBEDDED, "C2-"), (STABILISED, "C0--"), (PLAIN, "C3:")):
        trace = traces[way]
        near = trace.time <= NEAR_s
        axes.plot(trace.time[near], trace.force[near], style, label=way)
    axes.axhline(PRESS_N, color="0.7", lw=0.8, zorder=0)
    axes.axvline(START_s, color="0.7", lw=0.8, zorder=0)
    axes.set(title="figure 5: contact force", xlabel="time [s]", ylabel="[N]")
    axes.legend()


def _error(axes: Axes, traces: dict[str, Trace], way: str, style: str, title: str) -> None:
    axes.plot(*_thin(traces[way], traces[way].error), style, lw=0.8, label=way)
    axes.plot(*_thin(traces[EMBEDDED], traces[EMBEDDED].error), "C2", lw=0.8, label=EMBEDDED)
    axes.set(title=title, xlabel="time [s]", ylabel="loop error [m]")
    axes.legend()


def _stabilised(axes: Axes, traces: dict[str, Trace]) -> None:
    _error(axes, traces, STABILISED, "C0", "figure 6: loop error, stabiliser on")


def _not_stabilised(axes: Axes, traces: dict[str, Trace]) -> None:
    _error(axes, traces, PLAIN, "C3", "figure 7: loop error, stabiliser off")
