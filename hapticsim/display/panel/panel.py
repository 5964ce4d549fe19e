"""The right-hand column: what the force is doing, what touches, how punctual the loop is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pygame

from hapticsim.display.messages.scene import PredictedMessage, SceneMessage, StateMessage
from hapticsim.display.messages.stats import StatsMessage
from hapticsim.display.palette import FAINT, ORANGE, PANEL, SKY, TEXT, WELL, YELLOW, Color, Type
from hapticsim.display.panel.constraint_list import draw_constraint_list
from hapticsim.display.panel.gauges import ForceHistory, draw_bar, draw_spread, draw_strip, microseconds
from hapticsim.display.panel.legend import Legend
from hapticsim.display.panel.sensor_list import draw_sensor_list
from hapticsim.display.panel.torque_meter import draw_torque
from hapticsim.display.panel.words import safety_words

WIDTH = 290  # [px]
_MARGIN = 14
_MOST_CONTACTS = 3
_LEAST_PRINT = 60  # [px] room for small print that goes before the legend


@dataclass(frozen=True, eq=False)
class Readings:
    """What the panel shows in one frame."""

    scene: SceneMessage | None = None
    state: StateMessage | None = None
    predicted: PredictedMessage | None = None
    stats: StatsMessage | None = None
    events: Sequence[str] = ()  # newest last
    steers: bool = False  # whether this window's pointer moves the hand
    silent: bool = False  # nothing has arrived for a while
    trouble: str = ""  # a payload that could not be read


class Panel:
    """Draws readings from the top down; a section that has nothing to say is left out."""

    def __init__(self, type_: Type) -> None:
        self.type = type_
        self.history = ForceHistory()
        self._legends = {turns: Legend(type_, WIDTH - 2 * _MARGIN, turns) for turns in (False, True)}

    def draw(self, surface: pygame.Surface, area: pygame.Rect, readings: Readings) -> None:
        """Fill ``area`` of the surface."""
        surface.fill(PANEL, area)
        inner = area.inflate(-2 * _MARGIN, -2 * _MARGIN)
        scene = readings.scene
        y = self._title(surface, inner, readings)
        if readings.state is not None:
            y = self._safety(surface, inner, y, readings, readings.state)
            y = self._force(surface, inner, y, readings, readings.state)
            if scene is not None and scene.turns:
                y = draw_torque(self.type, surface, inner, y, scene, readings.state, readings.silent)
            y = self._contacts(surface, inner, y, readings.state)
            y = draw_constraint_list(self.type, surface, inner, y, readings.scene, readings.state)
            y = draw_sensor_list(self.type, surface, inner, y, readings.scene, readings.state)
        if readings.predicted is not None:
            y = self._prediction(surface, inner, y, readings.predicted)
        if readings.stats is not None:
            y = self._punctuality(surface, inner, y, readings, readings.stats)
        legend = self.legend(scene)
        if inner.bottom - y > legend.height + _LEAST_PRINT:
            inner.height -= legend.height + 8
            surface.blit(legend.picture, (inner.left, inner.bottom + 8))
        self._small_print(surface, inner, y, readings)

    def legend(self, scene: SceneMessage | None) -> Legend:
        """The legend of the signs that a scene can show."""
        return self._legends[scene is not None and scene.turns]

    def _row(
        self, surface: pygame.Surface, area: pygame.Rect, y: int, left: str, right: str, color: Color = FAINT
    ) -> int:
        """A name at the left and its value at the right; returns where the next row begins."""
        self.type.write(surface, left, (area.left, y), color)
        self.type.write(surface, right, (area.right, y), TEXT, right=True)
        return y + 19

    def _title(self, surface: pygame.Surface, area: pygame.Rect, readings: Readings) -> int:
        scene, state = readings.scene, readings.state
        self.type.write(surface, scene.name if scene else "hapticsim", area.topleft, TEXT, self.type.large)
        about = [f"{scene.role} at {scene.rate_Hz:g} Hz"] if scene else []
        about += [f"time {state.time_s:.1f} s"] if state else []
        self.type.write(surface, ", ".join(about), (area.left, area.top + 25), FAINT, self.type.small)
        return area.top + 48

    def _safety(
        self, surface: pygame.Surface, area: pygame.Rect, y: int, readings: Readings, state: StateMessage
    ) -> int:
        head, advice, color = safety_words(state.mode, state.fault, state.device_connected, readings.steers)
        if readings.scene and readings.scene.role == "recording":
            head, advice, color = "RECORDING", "What is shown happened before.", FAINT
        elif readings.silent:  # the last word may be minutes old: it is not the state of the force any more
            head, advice, color = "NO NEWS", "The state of the force is not known.", ORANGE
        lines = self.type.wrap(advice, area.width - 26)
        box = pygame.Rect(area.left, y, area.width, 38 + 18 * len(lines))
        surface.fill(WELL, box)
        surface.fill(color, (box.left, box.top, 6, box.height))
        self.type.write(surface, head, (box.left + 16, box.top + 8), color, self.type.large)
        for row, line in enumerate(lines):
            self.type.write(surface, line, (box.left + 16, box.top + 32 + 18 * row))
        return box.bottom + 16

    def _force(
        self, surface: pygame.Surface, area: pygame.Rect, y: int, readings: Readings, state: StateMessage
    ) -> int:
        write, small = self.type.write, self.type.small
        limit = readings.scene.force_limit_N if readings.scene else None
        force = float(np.linalg.norm(state.hand_force_D))
        self.history.add(state.time_s, force)
        write(surface, f"force on the hand, last {self.history.span_s:g} s", (area.left, y), FAINT)
        if readings.silent:
            force = 0.0
        text = "unknown" if readings.silent else f"{force:.2f} N"
        write(surface, text, (area.right, y - 5), TEXT, self.type.large, right=True)
        bar = pygame.Rect(area.left, y + 22, area.width, 16)
        draw_bar(surface, bar, force, limit)
        if not readings.silent:
            parts = "   ".join(f"{n} {f:+.1f}" for n, f in zip("xyz", state.hand_force_D, strict=True))
            write(surface, f"{parts} N", (area.left, bar.bottom + 5), FAINT, small)
        if limit is not None:
            write(surface, f"limit {limit:g} N", (area.right, bar.bottom + 5), FAINT, small, right=True)
        height = 48 if readings.scene and readings.scene.turns else 84  # the torque needs room too
        strip = pygame.Rect(area.left, bar.bottom + 24, area.width, height)
        draw_strip(surface, strip, self.history, limit)
        return strip.bottom + 12

    def _contacts(self, surface: pygame.Surface, area: pygame.Rect, y: int, state: StateMessage) -> int:
        lines = [(f"{c.a} on {c.b}", f"{c.force_N:.2f} N") for c in state.contacts]
        lines += [(f"{s.joint} on its {s.side} stop", f"{s.force:.2f} {s.unit}") for s in state.stops]
        self.type.write(surface, "contacts" if lines else "no contact", (area.left, y), FAINT)
        y += 19
        for name, force in lines[:_MOST_CONTACTS]:
            pygame.draw.circle(surface, YELLOW, (area.left + 4, y + 7), 4)
            y = self._row(surface, area, y, f"    {name}", force, TEXT)
        if len(lines) > _MOST_CONTACTS:
            y = self._row(surface, area, y, f"    and {len(lines) - _MOST_CONTACTS} more", "")
        return y + 8

    def _prediction(
        self, surface: pygame.Surface, area: pygame.Rect, y: int, predicted: PredictedMessage
    ) -> int:
        since = predicted.confirmed_time_s
        ahead_s = predicted.age_s if since is None else predicted.time_s - since
        y = self._row(surface, area, y, "prediction", f"{ahead_s:.2f} s ahead", SKY)
        if predicted.error_m is not None:
            y = self._row(surface, area, y, "was wrong by", f"{1000.0 * predicted.error_m:.1f} mm")
        return y + 8

    def _punctuality(
        self, surface: pygame.Surface, area: pygame.Rect, y: int, readings: Readings, stats: StatsMessage
    ) -> int:
        write, small = self.type.write, self.type.small
        tick_us = 1e6 / readings.scene.rate_Hz if readings.scene else None
        write(surface, "punctuality", (area.left, y), FAINT)
        if stats.missed is not None and stats.ticks is not None:
            text = f"{stats.missed} of {stats.ticks} ticks missed"
            write(surface, text, (area.right, y + 1), ORANGE if stats.missed else FAINT, small, right=True)
        y += 20
        for name, spread in (("late", stats.lateness_us), ("busy", stats.execution_us)):
            lane = pygame.Rect(area.left + 36, y, area.width - 36, 16)
            write(surface, name, (area.left, y))
            draw_spread(surface, lane, spread, tick_us)
            shown = [f"{k} {microseconds(spread[k])}" for k in ("p50", "p99", "max") if k in spread]
            write(surface, "   ".join(shown), (lane.left, lane.bottom + 3), FAINT, small)
            y += 36
        scale = "scale 0.1 µs to 10 ms"
        if tick_us is not None:
            scale += f", white: one tick, {microseconds(tick_us)}"
        write(surface, scale, (area.left, y), FAINT, small)
        return y + 20

    def _small_print(self, surface: pygame.Surface, area: pygame.Rect, y: int, readings: Readings) -> None:
        """Whatever else is known, trouble first, as far as there is room."""
        stats = readings.stats or StatsMessage()
        rows: list[tuple[str, Color]] = []
        if readings.trouble:
            rows.append((readings.trouble, ORANGE))
        if any(stats.dropped.values()):
            counts = ", ".join(f"{reason} {count:g}" for reason, count in stats.dropped.items() if count)
            rows.append((f"dropped: {counts}", ORANGE))
        if {"p50", "p99"} <= stats.round_trip_us.keys():
            p50, p99 = (microseconds(stats.round_trip_us[key]) for key in ("p50", "p99"))
            rows.append((f"device and back: p50 {p50}, p99 {p99}", FAINT))
        if stats.scheduling:
            rows.append((f"scheduling: {stats.scheduling}", FAINT))
        if stats.recorder:
            rows.append((f"recorder: {stats.recorder}", FAINT))
        if readings.state is not None:
            kinetic, potential = readings.state.kinetic_J, readings.state.potential_J
            rows.append((f"energy: kinetic {kinetic:.3f} J, potential {potential:.3f} J", FAINT))
        rows += [(f"- {text}", FAINT) for text in reversed(readings.events)]
        for text, color in rows:
            for line in self.type.wrap(text, area.width, self.type.small):
                if y + 15 > area.bottom:
                    return
                self.type.write(surface, line, (area.left, y), color, self.type.small)
                y += 15
