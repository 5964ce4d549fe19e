"""What a recording says of force, position, energy and passivity, as curves over time."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from hapticsim.errors import ConfigError, listed, nearest
from hapticsim.model.scene import Scene
from hapticsim.recording.reader import Recording

MOST_ENERGIES = 2000  # rows of which the energy is computed
UNITS = {  # ending of a column's name and how the unit is written, the longest first
    "_Nms_per_rad": "N m s/rad", "_Nm_per_rad": "N m/rad", "_Ns_per_m": "N s/m", "_N_per_m": "N/m",
    "_rad_per_s": "rad/s", "_m_per_s": "m/s", "_Nm": "N m", "_us": "µs", "_N": "N", "_m": "m", "_J": "J",
    "_s": "s",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Curve:
    """A quantity over time."""

    label: str
    time_s: np.ndarray  # (n,) [s]
    values: np.ndarray  # (n,)


@dataclass(frozen=True, eq=False)
class Chart:
    """Curves of one unit, drawn over one another."""

    title: str
    unit: str
    curves: tuple[Curve, ...]


@dataclass(frozen=True)
class Mark:
    """Something that happened."""

    time_s: float
    kind: str
    text: str


def finite_time(recording: Recording) -> np.ndarray:
    """(n,) [s]; what is no time is NaN, and is not drawn."""
    time = np.array(recording.column("time_s"))
    time[~np.isfinite(time)] = np.nan
    return time


def marks(recording: Recording) -> list[Mark]:
    """Events that have a time, in its order."""
    found = []
    for event in recording.events:
        time_s = event.get("time_s")
        if isinstance(time_s, int | float) and np.isfinite(time_s):
            kind = str(event.get("kind") or "event").lower()
            found.append(Mark(float(time_s), kind, str(event.get("text") or kind)))
    return sorted(found, key=lambda mark: mark.time_s)


def chosen_charts(recording: Recording, names: Iterable[str]) -> list[Chart]:
    """One chart for each unit among named columns.

    Raises
    ------
    ConfigError : no such column.
    """
    time = finite_time(recording)
    by_unit: dict[str, list[Curve]] = {}
    for name in dict.fromkeys(names):
        if name not in recording.columns:
            raise ConfigError(
                "--columns",
                name,
                f"is no column of {recording.path}{nearest(name, recording.columns)}: "
                f"use some of {listed(recording.columns)}, with commas between them.",
            )
        by_unit.setdefault(unit_of(name), []).append(Curve(name, time, recording.column(name)))
    return [Chart("", unit, tuple(curves)) for unit, curves in by_unit.items()]


def usual_charts(recording: Recording) -> list[Chart]:
    """Force on the hand, forces of contacts that closed, and position, as far as they are recorded."""
    time, has = finite_time(recording), set(recording.columns)
    charts = []

    def chart(title: str, unit: str, columns: Iterable[tuple[str, str]]) -> None:
        curves = tuple(Curve(label, time, recording.column(c)) for label, c in columns if c in has)
        if curves:
            charts.append(Chart(title, unit, curves))

    chart("force on the hand", "N", [(a, f"hand_force_{a}_N") for a in "xyz"])
    torques = [(a, f"hand_torque_{a}_Nm") for a in "xyz"]
    if any(c in has and np.any(recording.column(c)) for _, c in torques):
        chart("torque on the hand", "N m", torques)
    pushed = [c for c in recording.columns if c.startswith("force_N[") and np.any(recording.column(c))]
    chart("forces of contacts", "N", [(c[8:-1], c) for c in pushed[:8]])
    chart("position of the handle", "m", [(a, f"handle_{a}_m") for a in "xyz"])
    if "handle_x_m" not in has:
        chart("coordinates", "rad or m", [(c, c) for c in recording.columns if re.fullmatch(r"q\d+", c)][:8])
    return charts


def energy_chart(recording: Recording, scene: Callable[[], Scene], progress: Callable[[str], Any]) -> Chart:
    """Kinetic and potential energy and their sum: recorded, or computed from the scene.

    scene : returns the scene of the recording; asked only where it is needed.

    Raises
    ------
    HapticsimError : the scene cannot be read, or is not that of these columns.
    """
    time, has = finite_time(recording), recording.columns
    if "kinetic_J" in has and "potential_J" in has:
        kinetic, potential = recording.column("kinetic_J"), recording.column("potential_J")
    else:
        from hapticsim.assemble.assembly import assemble

        equations = assemble(scene(), progress).equations
        names = [f"q{i}" for i in range(equations.nq)], [f"u{r}" for r in range(equations.nu)]
        some = np.unique(np.linspace(0, len(time) - 1, min(MOST_ENERGIES, len(time))).astype(int))
        q, u = (
            np.array([recording.column(n)[some] for n in part]).reshape(-1, len(some)).T for part in names
        )
        time = time[some]
        energies, both = np.full((len(some), 2), np.nan), np.zeros(2)
        for k in np.flatnonzero(np.isfinite(q).all(axis=1) & np.isfinite(u).all(axis=1)):
            equations.kernels.energy(np.ascontiguousarray(q[k]), np.ascontiguousarray(u[k]), both)
            energies[k] = both
        kinetic, potential = energies.T
    curves = (("kinetic", kinetic), ("potential", potential), ("sum", kinetic + potential))
    return Chart("energy", "J", tuple(Curve(label, time, values) for label, values in curves))


def energy_to_hand(recording: Recording) -> np.ndarray | None:
    """(n,) [J] that force and torque did on the hand up to each row; None where no hand was recorded.

    A force holds from its row to the next: ``E_k+1 = E_k + f_k . (x_k+1 - x_k) + m_k . w_k dt``.
    """
    force, place = _vector(recording, "hand_force_{}_N"), _vector(recording, "device_{}_m")
    if force is None or place is None:
        return None
    work = (force[:-1] * np.diff(place, axis=0)).sum(axis=1)
    torque, speed = _vector(recording, "hand_torque_{}_Nm"), _vector(recording, "device_w{}_rad_per_s")
    if torque is not None and speed is not None:
        step_s = np.nan_to_num(np.diff(recording.column("time_s")), posinf=0.0, neginf=0.0)
        work += (torque[:-1] * speed[:-1]).sum(axis=1) * step_s
    return _sum(work, len(force))


def energy_of_coupler(recording: Recording) -> np.ndarray | None:
    """(n,) [J] that the coupler's force gave to handle and device together up to each row, in the world.

    ``E_k+1 = E_k + f_k . ((h_k+1 - h_k) - (a_k+1 - a_k))``, h the handle and a the anchor.  A passive
    coupler only stores and loses what it was given: above zero it made energy.  Torques are not in it: the
    columns hold no orientation of the handle.
    """
    force = _vector(recording, "coupler_{}_N")
    handle, anchor = _vector(recording, "handle_{}_m"), _vector(recording, "anchor_{}_m")
    if force is None or handle is None or anchor is None:
        return None
    return _sum((force[:-1] * np.diff(handle - anchor, axis=0)).sum(axis=1), len(force))


def unit_of(column: str) -> str:
    """The unit that the name of a column ends in, before the name in brackets if it has one."""
    name = column.partition("[")[0]
    return next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")


def thinned(curve: Curve, most: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Time and values of at most about twice ``most`` points: the least and largest of every stretch."""
    time, values = curve.time_s, np.where(np.isfinite(curve.values), curve.values, np.nan)
    if len(time) <= 2 * most:
        return time, values
    edges = np.linspace(0, len(time), most + 1).astype(int)
    kept = {0, len(time) - 1}
    for first, last in itertools.pairwise(edges):
        stretch = values[first:last]
        if np.isnan(stretch).all():
            kept.add(int(first))
        else:
            kept |= {int(first + np.nanargmin(stretch)), int(first + np.nanargmax(stretch))}
    index = np.array(sorted(kept))
    return time[index], values[index]


def _vector(recording: Recording, name: str) -> np.ndarray | None:
    """(n, 3) columns with x, y and z in their name, what is not finite as zero; None where one is missing."""
    names = [name.format(axis) for axis in "xyz"]
    if not set(names) <= set(recording.columns):
        return None
    return np.nan_to_num(np.column_stack([recording.column(n) for n in names]), posinf=0.0, neginf=0.0)


def _sum(work: np.ndarray, count: int) -> np.ndarray:
    return np.concatenate([np.zeros(min(1, count)), np.cumsum(work)]) if count else np.zeros(0)
