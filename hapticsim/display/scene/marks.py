"""Signs drawn over the scene: the coupler as a coil spring, forces as arrows, a torque as a bent one, the
hand as a cross in a ring.

All of them work in pixels of the surface they are given; ``k`` is the number of those per pixel of the
screen.
"""

from __future__ import annotations

import math

import numpy as np
import pygame

from hapticsim.display.palette import Color

_TURNS = 9


def coil(surface: pygame.Surface, a: np.ndarray, b: np.ndarray, color: Color, k: float) -> None:
    """A spring between two pixels: straight ends, and a coil whose turns open as it is stretched."""
    length = float(np.linalg.norm(b - a))
    if length < 3.0 * k:
        return
    along = (b - a) / length
    across = np.array([-along[1], along[0]])
    radius = min(5.0 * k, 0.35 * length)
    turn = np.linspace(0.0, 2.0 * math.pi * _TURNS, 14 * _TURNS + 1)
    part = turn / turn[-1]
    ends = np.clip(np.minimum(part, 1.0 - part) / 0.06, 0.0, 1.0)  # the wire leaves and meets the axis
    place = 0.1 + 0.8 * part
    line = (
        a
        + np.outer(place * length + ends * 0.35 * radius * (np.cos(turn) - 1.0), along)
        + np.outer(ends * radius * np.sin(turn), across)
    )
    points = np.concatenate([[a], line, [b]]).tolist()
    pygame.draw.lines(surface, color, False, points, max(1, round(1.5 * k)))


def arrow(surface: pygame.Surface, a: np.ndarray, b: np.ndarray, color: Color, k: float) -> None:
    """An arrow from pixel a to pixel b; its head shrinks with it so that a small force stays small."""
    length = float(np.linalg.norm(b - a))
    if length < 1.5 * k:
        return
    along = (b - a) / length
    across = np.array([-along[1], along[0]])
    head = min(11.0 * k, 0.6 * length)
    neck = b - head * along
    half = 1.6 * k
    shaft = [a + half * across, neck + half * across, neck - half * across, a - half * across]
    pygame.draw.polygon(surface, color, [p.tolist() for p in shaft])
    tip = [b, neck + 0.42 * head * across, neck - 0.42 * head * across]
    pygame.draw.polygon(surface, color, [p.tolist() for p in tip])


def bent_arrow(surface: pygame.Surface, points: np.ndarray, color: Color, k: float) -> None:
    """An arrow along a line through (n, 2) pixels; its head shrinks with it."""
    steps = np.diff(points, axis=0)
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
    if length[-1] < 1.5 * k:
        return
    neck_at = length[-1] - min(11.0 * k, 0.6 * length[-1])
    neck = np.array([np.interp(neck_at, length, points[:, i]) for i in (0, 1)])
    shaft = np.concatenate([points[length < neck_at], [neck]])
    if len(shaft) > 1:
        pygame.draw.lines(surface, color, False, shaft.tolist(), max(1, round(3.0 * k)))
    along = points[-1] - neck
    across = 0.42 * np.array([-along[1], along[0]])
    pygame.draw.polygon(surface, color, [p.tolist() for p in (points[-1], neck + across, neck - across)])


def ring(surface: pygame.Surface, at: np.ndarray, radius: float, color: Color, k: float) -> None:
    """A circle of a radius in screen pixels around a pixel."""
    pygame.draw.circle(surface, color, at.tolist(), radius * k, max(1, round(2.0 * k)))


def cross(surface: pygame.Surface, at: np.ndarray, radius: float, color: Color, k: float) -> None:
    """Four strokes that leave the middle free, so that what is aimed at stays visible."""
    for direction in ((1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)):
        step = np.array(direction) * k
        near, far = at + 0.45 * radius * step, at + radius * step
        pygame.draw.line(surface, color, near.tolist(), far.tolist(), max(1, round(2.0 * k)))


def dotted(surface: pygame.Surface, points: np.ndarray, color: Color, k: float) -> None:
    """Dots at (n, 2) pixels."""
    for x, y in points.tolist():
        pygame.draw.circle(surface, color, (x, y), 1.8 * k)


def padlock(surface: pygame.Surface, at: np.ndarray, color: Color, k: float, is_open: bool) -> None:
    """A padlock at a pixel; open, its bow stands up on one side."""
    x, y = at.tolist()
    body = pygame.Rect(round(x - 6.0 * k), round(y - 1.0 * k), round(12.0 * k), round(9.0 * k))
    lift = 4.0 * k if is_open else 0.0
    width = max(1, round(2.0 * k))
    bow = pygame.Rect(round(x - 4.0 * k), round(y - 7.0 * k - lift), round(8.0 * k), round(10.0 * k))
    pygame.draw.arc(surface, color, bow, 0.0, math.pi, width)
    left, right = bow.left + 0.5 * width, bow.right - 0.5 * width
    pygame.draw.line(surface, color, (left, bow.centery), (left, body.top), width)
    if not is_open:
        pygame.draw.line(surface, color, (right, bow.centery), (right, body.top), width)
    pygame.draw.rect(surface, color, body, width if is_open else 0)
