"""A run in words: the line that says how it goes, and the report of what it was."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from hapticsim.codes import Safety


def live_line(stats: dict[str, Any], state: dict[str, Any] | None, turns: bool) -> str:
    """One line that says how it goes.

    stats : of the loop.
    state : newest payload of topic ``state``, None before the first.
    turns : the coupler turns, so that the hand has a torque too.
    """
    if state is None:
        return "starting ..."
    device = state["device"]
    hand = f"hand {np.linalg.norm(device['force_N']):5.2f} N"
    if turns:
        hand += f" {np.linalg.norm(device['torque_Nm']):5.3f} N m"
    pairs: Counter[str] = Counter()
    for c in state["contacts"]:
        pairs[f"{c['a']} on {c['b']}"] += c["force_N"]
    forces = [f"{pair} {force:.2f} N" for pair, force in pairs.items()]
    forces += [f"{s['joint']} on its {s['side']} stop {s['force']:.2f} {s['unit']}" for s in state["stops"]]
    touching = ", ".join(forces) or "no contact"
    seldom = interrupted(stats)
    return (
        f"t {state['time_s']:7.2f} s  {Safety(state['mode']).name.lower():8s}  {hand}  {touching}  |  "
        f"late p99 {stats['lateness_us']['p99']:.0f} us, tick p99 {stats['execution_us']['p99']:.0f} us, "
        f"missed {stats['missed']}{f', {seldom}' if seldom else ''}"
    )


def interrupted(stats: dict[str, Any]) -> str:
    """How often force was interrupted, and how long at most; empty where it never was."""
    count, longest = stats.get("interruptions", 0), stats.get("longest_interruption_ms", 0.0)
    if count == 0:
        return ""
    return f"force interrupted {count} time{'s' * (count > 1)}, {longest:.0f} ms at most"


def report(stats: dict[str, Any], rate_Hz: float, coupler: str = "", recording: bool = False) -> str:
    """What a run was, in a few lines.

    stats : payload of topic ``stats``.
    coupler : sentence about its gains; empty: there was no device.
    recording : say what was recorded.
    """
    trip = stats["round_trip_us"]
    lines = [
        f"{stats['ticks']} ticks at {rate_Hz:g} Hz, {stats['missed']} missed; {stats['scheduling']}",
        f"lateness  {_percentiles(stats['lateness_us'])}",
        f"execution {_percentiles(stats['execution_us'])}",
        f"round trip with the device p50 {trip['p50']:.0f}  p99 {trip['p99']:.0f} us; "
        f"messages {stats['received']}, refused {sum(stats['dropped'].values())}",
    ]
    if interrupted(stats):
        lines.append(interrupted(stats))
    if coupler:
        lines.append(coupler)
    if recording:
        lines.append(f"recording: {stats['recorder']}")
    return "\n".join(lines)


def _percentiles(us: dict[str, float]) -> str:
    return f"p50 {us['p50']:.1f}  p99 {us['p99']:.1f}  p99.9 {us['p999']:.1f}  max {us['max']:.0f} us"
