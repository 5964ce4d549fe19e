"""A run on one page: its picture, plots, events, passivity, punctuality, machine, versions and scene."""

from __future__ import annotations

import base64
import os
import platform
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

import hapticsim
from hapticsim.describe.recorded_scene import scene_of
from hapticsim.errors import ConfigError, HapticsimError
from hapticsim.files.new_file import check_new_file
from hapticsim.playback.animation import Animation
from hapticsim.playback.pictures import PICTURE_SIZE, Camera
from hapticsim.playback.plot import as_svg, draw, histogram, require_matplotlib, styled
from hapticsim.playback.signals import (
    Chart,
    Curve,
    energy_chart,
    energy_of_coupler,
    energy_to_hand,
    finite_time,
    marks,
    usual_charts,
)
from hapticsim.recording.reader import Recording, read_recording

LATE_us = 100.0  # from which a tick counts as late: a tenth of a period at 1 kHz
LEAST_J = 1e-6  # what a tick at its start adds up to may be off by less, and no hand feels it
MOST_EVENTS = 500
LIBRARIES = ("numpy", "numba", "matplotlib", "pygame-ce", "pyzmq")
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222 }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h1 { font-size: 1.6rem; margin-bottom: 0 }
h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ccc }
img, svg { max-width: 100%; height: auto } table { border-collapse: collapse }
td, th { padding: .15rem .8rem .15rem 0; text-align: left; vertical-align: top } th { font-weight: 600 }
pre { background: #f4f4f4; padding: .8rem; overflow-x: auto; font-size: 13px } .note { color: #8a4b00 }
"""


def report(file: Path, out: Path, progress: Callable[[str], Any], trust: bool = False) -> None:
    """Write a page about a recording; what it does not hold is said to be missing.

    out : HTML file to make; everything is in it.
    trust : run a Python program in the recording (`recorded_scene`).

    Raises
    ------
    HapticsimError : not a recording, a file that exists or cannot be made, no matplotlib.
    """
    check_page(out)
    page = compose(read_recording(file), file, progress, trust)
    try:
        out.write_text(page, encoding="utf-8")
    except OSError as error:
        raise ConfigError(out, "", f"cannot be written ({error.strerror}): give another file.") from error


def check_page(out: Path) -> None:
    """Refuse now what `report` would refuse after a run.  Raises HapticsimError."""
    check_new_file(out, (".html", ".htm"), "a page")
    require_matplotlib()


def compose(recording: Recording, file: Path, progress: Callable[[str], Any], trust: bool) -> str:
    """The text of the page."""
    name = recording.metadata.get("scene") or file.stem
    notes = [recording.note] if recording.note else []
    with styled():
        plots = _plots(recording, notes, progress, trust)
        parts = [
            ("", _summary(recording, file)),
            ("Scene", _picture(file, recording, progress, trust)),
            ("Force, position, energy", plots),
            ("Passivity", _passivity(recording)),
            ("Punctuality", _punctuality(recording)),
            ("Events", _events(recording)),
            ("Machine and versions", _machine(recording)),
            ("Text of the scene", f"<pre>{_text(recording.config_text) or '(none was recorded)'}</pre>"),
        ]
    said = "".join(f'<p class="note">{_text(note)}</p>' for note in notes)
    body = said + "".join(
        f"<section>{f'<h2>{title}</h2>' if title else ''}{text}</section>\n" for title, text in parts
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f"<title>{_text(name)}</title>\n<style>{STYLE}</style></head>\n"
        f"<body><h1>{_text(name)}</h1>\n{body}</body></html>\n"
    )


def _summary(recording: Recording, file: Path) -> str:
    rows = len(recording.data)
    about = [("recording", str(file)), ("kind of run", recording.metadata.get("kind", "not recorded"))]
    if rows:
        time = recording.column("time_s")
        about.append(("rows", f"{rows}, from {time[0]:.4g} to {time[-1]:.4g} s"))
    else:
        about.append(("rows", "0: the recording ended before its first row"))
    force = _size(recording, "hand_force_{}_N")
    if force is not None and rows:
        about.append(("largest force on the hand", f"{force.max():.3f} N"))
    about.append(("recording closed", "yes" if recording.complete else "no: interrupted or damaged"))
    return _table(about)


def _picture(file: Path, recording: Recording, progress: Callable[[str], Any], trust: bool) -> str:
    """The moment of the largest force on the hand, or the end."""
    if len(recording.data) == 0:
        return "<p>No picture: the recording ended before its first row.</p>"
    try:
        animation = Animation(file, progress, trust, quiet=True)
        force = _size(recording, "hand_force_{}_N")
        k = int(np.argmax(force)) if force is not None and np.any(force) else len(animation.time) - 1
        at = float(animation.time[k])
        with Camera(animation, PICTURE_SIZE) as camera:
            png = camera.png(at)
    except HapticsimError as refusal:
        return f"<p>No picture: {_text(refusal)}</p>"
    when = "where the force on the hand was largest" if force is not None and np.any(force) else "its end"
    return (
        f'<figure><img alt="the scene at {at:.3f} s" '
        f'src="data:image/png;base64,{base64.b64encode(png).decode()}">'
        f"<figcaption>At {at:.3f} s, {when}.</figcaption></figure>"
    )


def _plots(recording: Recording, notes: list[str], progress: Callable[[str], Any], trust: bool) -> str:
    if len(recording.data) == 0:
        return "<p>Nothing was recorded.</p>"
    charts = usual_charts(recording)
    try:
        charts.append(energy_chart(recording, lambda: scene_of(recording, trust), progress))
    except HapticsimError as refusal:
        notes.append(f"Energy is not plotted: {refusal}")
    return as_svg(draw(charts, marks(recording))) if charts else "<p>No force, position or energy.</p>"


def _passivity(recording: Recording) -> str:
    to_hand, coupler = energy_to_hand(recording), energy_of_coupler(recording)
    if to_hand is None or coupler is None or len(to_hand) == 0:
        return "<p>No hand was recorded, so there is no coupler to judge.</p>"
    if not np.any(_size(recording, "coupler_{}_N")):
        return "<p>The coupler gave no force.</p>"
    most = float(coupler.max())
    if most > LEAST_J:
        verdict = (
            f"Its balance rose to {_J(most)} at {recording.column('time_s')[int(np.argmax(coupler))]:.4g} s: "
            "for that long it had given more than it had taken."
        )
    else:
        verdict = f"Its balance never rose above {_J(LEAST_J)}: in this run it was passive."
    time = finite_time(recording)
    curves = (Curve("to the hand", time, to_hand), Curve("balance of the coupler", time, coupler))
    rows = [
        ("energy the device gave to the hand, at the end", _J(float(to_hand[-1]))),
        ("the most at any time", _J(float(to_hand.max()))),
        ("energy the coupler gave to handle and device together, at the end", _J(float(coupler[-1]))),
        ("the most at any time", _J(most)),
    ]
    return (
        f"<p>{verdict} A passive coupler stores and loses what it is given: the sum of f · (Δh − Δa) over "
        "all ticks, f its force, h the handle and a the anchor in the world, stays at or below zero. "
        "Torques are not in this balance. The energy of the hand is that of force and torque; a mechanism "
        "that falls or is driven may give some without any fault of the coupler.</p>"
        + _table(rows)
        + as_svg(draw([Chart("energy", "J", curves)], []))
    )


def _punctuality(recording: Recording) -> str:
    if "lateness_us" not in recording.columns or len(recording.data) == 0:
        return "<p>This run had no clock to be late by.</p>"
    late, execution = recording.column("lateness_us"), recording.column("execution_us")
    late, execution = late[np.isfinite(late)], execution[np.isfinite(execution)]
    if not np.any(late) and not np.any(execution):
        return "<p>This run was in virtual time: no clock to be late by.</p>"
    rows = [("ticks recorded", f"{len(recording.data)}")]
    step = np.diff(recording.column("tick")) if "tick" in recording.columns else np.ones(0)
    rows.append(("ticks missing in the recording", f"{int(np.nansum(np.maximum(step - 1.0, 0.0)))}"))
    missed = _missed(recording)
    if missed is not None:
        rows.append(("deadlines missed", f"{missed}"))
    rows.append((f"ticks later than {LATE_us:g} µs", f"{int(np.sum(late > LATE_us))}"))
    for name, values in (("lateness", late), ("execution", execution)):
        if len(values):
            p50, p99, p999 = np.percentile(values, [50, 99, 99.9])
            rows.append(
                (name, f"p50 {p50:.1f}, p99 {p99:.1f}, p99.9 {p999:.1f}, largest {values.max():.0f} µs")
            )
    figures = [as_svg(histogram(v, n)) for n, v in (("lateness", late), ("execution", execution)) if len(v)]
    return _table(rows) + "".join(figures)


def _missed(recording: Recording) -> int | None:
    """Deadlines that passed between ticks, from the time since the tick before; None: unknown."""
    if "tick_gap_s" not in recording.columns or len(recording.data) < 2:
        return None
    gap = recording.column("tick_gap_s")
    period = float(np.median(np.diff(recording.column("time_s"))))
    if not (np.isfinite(period) and period > 0.0):
        return None
    return int(np.sum(np.maximum(np.round(np.nan_to_num(gap, posinf=0.0, neginf=0.0) / period) - 1.0, 0.0)))


def _events(recording: Recording) -> str:
    found = marks(recording)
    if not found:
        return "<p>None were recorded.</p>"
    lines = "".join(
        f"<tr><td>{mark.time_s:.4f}</td><td>{_text(mark.kind)}</td><td>{_text(mark.text)}</td></tr>"
        for mark in found[:MOST_EVENTS]
    )
    more = len(found) - MOST_EVENTS
    left = f"<p>{more} more are in the recording.</p>" if more > 0 else ""
    return f"<table><tr><th>time [s]</th><th>kind</th><th>what happened</th></tr>{lines}</table>{left}"


def _machine(recording: Recording) -> str:
    from importlib.metadata import PackageNotFoundError, version

    rows = [(f"recorded: {key}", value) for key, value in recording.metadata.items() if key != "mechanism"]
    rows += [
        ("page made on", f"{platform.platform()}, {platform.machine()}, {os.cpu_count()} processors"),
        ("Python", platform.python_version()),
        ("hapticsim", hapticsim.__version__),
    ]
    for name in LIBRARIES:
        try:
            rows.append((name, version(name)))
        except PackageNotFoundError:
            rows.append((name, "not installed"))
    return _table(rows)


def _size(recording: Recording, name: str) -> Any:
    """(n,) length of a vector with columns x, y, z, 0 where it is not finite; None where they are missing."""
    names = [name.format(a) for a in "xyz"]
    if not set(names) <= set(recording.columns):
        return None
    parts = np.column_stack([recording.column(n) for n in names])
    return np.linalg.norm(np.where(np.isfinite(parts), parts, 0.0), axis=1)


def _J(energy: float) -> str:
    """An energy in J, or in mJ where it is small."""
    return f"{energy:.3f} J" if abs(energy) >= 1.0 else f"{1e3 * energy:.3f} mJ"


def _table(rows: Sequence[tuple[str, str]]) -> str:
    lines = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows)
    return f"<table>{lines}</table>"


def _text(value: object) -> str:
    """Words that somebody else wrote, as text of a page."""
    printable = "".join(c if c.isprintable() or c in "\n\t" else "�" for c in str(value))
    return escape(printable, quote=True)
