"""Constraints drawn over the scene: loops, axes, rods, guide lines, planes, circles, curves, locks, wheels.

What a constraint is, is read from its rows: three point rows are a joint, two a line, one a plane, one with a
distance a circle, a distance alone a rod.  Held ones are drawn in full, free ones dashed and pale, those that
slip in orange; the number beside each is the key that switches it.
"""

from __future__ import annotations

import math

import numpy as np
import pygame

from hapticsim.display.messages.constraints import FREE, ConstraintNow, ConstraintView, RowView
from hapticsim.display.messages.scene import Poses, SceneMessage, StateMessage
from hapticsim.display.palette import FAINT, ORANGE, PURPLE, WELL, Color
from hapticsim.display.scene import marks
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.clip import clip_segments
from hapticsim.display.scene.labels import Label

_ROUND = 48  # pieces of a circle
_CELLS = 4  # of a plane, across
_LEAST_M = 0.1  # half length of a guide, at least; otherwise as far as the device reaches
_BEHIND_M = 0.05


class Pen:
    """Draws segments and signs of one constraint."""

    def __init__(
        self, canvas: pygame.Surface, camera: OrbitCamera, poses: Poses, now: ConstraintNow, k: int
    ) -> None:
        self.canvas, self.camera, self.poses, self.k = canvas, camera, poses, k
        self.dashed = now.hold == FREE
        self.color: Color = FAINT if self.dashed else ORANGE if now.slips else PURPLE

    def point(self, body: int, p_B: np.ndarray) -> np.ndarray:
        """(3,) [m] a point of a body in the world."""
        return p_B if body < 0 else self.poses.R_WB[body] @ p_B + self.poses.p_WB[body]

    def direction(self, body: int, n_B: np.ndarray) -> np.ndarray:
        """(3,) a direction of a body in the world."""
        return n_B if body < 0 else self.poses.R_WB[body] @ n_B

    def lines(self, a_W: np.ndarray, b_W: np.ndarray, width: float = 2.0) -> None:
        """Segments from (n, 3) to (n, 3) [m]."""
        if self.dashed:
            a_W, b_W = _dashes(a_W, b_W)
        a_C, b_C, kept = clip_segments(self.camera, self.camera.to_camera(a_W), self.camera.to_camera(b_W))
        a_px, b_px = self.camera.to_pixels(a_C[kept]) * self.k, self.camera.to_pixels(b_C[kept]) * self.k
        for color, wide in ((WELL, width + 2.0), (self.color, width)):  # dark edges: seen on any ground
            for start, end in zip(a_px.tolist(), b_px.tolist(), strict=True):
                pygame.draw.line(self.canvas, color, start, end, max(1, round(wide * self.k)))

    def pixel(self, p_W: np.ndarray) -> np.ndarray | None:
        """(2,) where a point is on the canvas, None behind the eye."""
        (at,), (depth,) = self.camera.project(p_W)
        return at * self.k if depth > _BEHIND_M else None

    def dot(self, p_W: np.ndarray) -> None:
        """A point that is kept somewhere: full where it is, a ring where it is free."""
        at = self.pixel(p_W)
        if at is not None:
            pygame.draw.circle(self.canvas, WELL, at.tolist(), 6.5 * self.k)
            marks.ring(self.canvas, at, 5.0, self.color, self.k)
            if not self.dashed:
                pygame.draw.circle(self.canvas, self.color, at.tolist(), 3.0 * self.k)

    def lock(self, p_W: np.ndarray) -> None:
        """A padlock, open where nothing is locked."""
        at = self.pixel(p_W)
        if at is not None:
            pygame.draw.circle(self.canvas, WELL, at.tolist(), 13.0 * self.k)
            marks.padlock(self.canvas, at, self.color, self.k, is_open=self.dashed)


def draw_constraints(
    canvas: pygame.Surface,
    camera: OrbitCamera,
    scene: SceneMessage,
    state: StateMessage,
    poses: Poses,
    k: int,
) -> list[Label]:
    """Draw all constraints at a pose, ``k`` canvas pixels per camera pixel; returns their numbers."""
    now = {c.name: c for c in state.imposed.constraints}
    reach = max(_LEAST_M, scene.motion_scale * scene.workspace_radius)
    labels: list[Label] = []
    for number, constraint in enumerate(scene.constraints, 1):
        if constraint.name not in now:
            continue
        pen = Pen(canvas, camera, poses, now[constraint.name], k)
        anchor_W = _draw(pen, constraint, reach)
        at = None if anchor_W is None else pen.pixel(anchor_W)
        if at is not None:
            x, y = (at / k).tolist()
            labels.append(Label(str(number), (x, y), pen.color, in_disc=True))
    return labels


def _draw(pen: Pen, constraint: ConstraintView, reach: float) -> np.ndarray | None:
    """Draw one constraint; returns (3,) [m] where its number stands, None if there was nothing to draw."""
    points, angles = constraint.of_kind("point"), constraint.of_kind("angle")
    anchor_W: np.ndarray | None = None
    if points or constraint.of_kind("distance"):
        anchor_W = _draw_points(pen, points, constraint.of_kind("distance"), reach)
    if len(angles) == 2:
        middle_W = anchor_W if anchor_W is not None else pen.point(angles[0].a, angles[0].point_a)
        half_W = 0.3 * reach * pen.direction(angles[0].a, angles[0].direction_a)
        pen.lines((middle_W - half_W)[None], (middle_W + half_W)[None], 4.0)
        anchor_W = middle_W
    elif len(angles) == 3 and anchor_W is not None:
        pen.lock(anchor_W)
    for row in constraint.rows:
        if row.kind == "speeds":
            anchor_W = _draw_joints(pen, row)
        elif row.kind == "roll":
            anchor_W = _draw_rolling(pen, row)
        elif row.kind == "curve" and anchor_W is None:
            anchor_W = _draw_curve(pen, row, reach)
        elif row.kind == "skate":
            anchor_W = pen.point(row.a, row.point_a)
            half_W = 0.2 * reach * pen.direction(row.a, row.direction_a)
            pen.lines((anchor_W - half_W)[None], (anchor_W + half_W)[None], 4.0)
            pen.dot(anchor_W)
    return anchor_W


def _draw_points(pen: Pen, points: list[RowView], distances: list[RowView], reach: float) -> np.ndarray:
    row = (points or distances)[0]
    a_W, b_W = pen.point(row.a, row.point_a), pen.point(row.b, row.point_b)
    normals_W = [pen.direction(p.b, p.direction_b) for p in points]
    if len(points) >= 3:
        pen.lines(a_W[None], b_W[None])
    elif len(points) == 2:
        along = np.cross(normals_W[0], normals_W[1])
        half = max(reach, 1.2 * abs(float(along @ (a_W - b_W)))) * along
        pen.lines((b_W - half)[None], (b_W + half)[None])
    elif len(points) == 1 and distances:
        first, second = _square_to(normals_W[0])
        turn = np.linspace(0.0, 2.0 * math.pi, _ROUND + 1)[:, None]
        rim = b_W + distances[0].length * (np.cos(turn) * first + np.sin(turn) * second)
        pen.lines(rim[:-1], rim[1:])
    elif len(points) == 1:
        first, second = _square_to(normals_W[0])
        foot_W = a_W - (normals_W[0] @ (a_W - b_W)) * normals_W[0]
        stops = np.linspace(-reach, reach, _CELLS + 1)[:, None]
        for along, across in ((first, second), (second, first)):
            pen.lines(foot_W + stops * across - reach * along, foot_W + stops * across + reach * along, 1.0)
    else:
        pen.lines(a_W[None], b_W[None], 3.0)
        pen.dot(b_W)
    pen.dot(a_W)
    return a_W


def _draw_joints(pen: Pen, row: RowView) -> np.ndarray | None:
    """A lock on the joint of a row, or a line through the joints that it couples."""
    places_W = np.array([pen.poses.p_WB[child] for child in row.joints if child >= 0])
    if len(places_W) == 0:
        return None
    if len(row.joints) == 1:
        pen.lock(places_W[0])
    else:
        pen.lines(places_W[:-1], places_W[1:])
        for place_W in places_W:
            pen.dot(place_W)
    return np.asarray(places_W[0])


def _draw_rolling(pen: Pen, row: RowView) -> np.ndarray:
    """The spoke from the centre to where it touches, and there the direction that does not slip."""
    centre_W = pen.point(row.a, row.point_a)
    touch_W = centre_W - row.length * pen.direction(row.b, row.direction_b)
    half_W = 0.5 * row.length * pen.direction(row.b, row.direction_a)
    pen.lines(np.stack([centre_W, touch_W - half_W]), np.stack([touch_W, touch_W + half_W]))
    pen.dot(touch_W)
    return touch_W


def _draw_curve(pen: Pen, row: RowView, reach: float) -> np.ndarray:
    """The curve; thin, the tangents on which an open one goes on."""
    along_W = np.array([pen.point(row.b, p) for p in row.curve])
    pen.lines(along_W[:-1], along_W[1:])
    if not np.array_equal(row.curve[0], row.curve[-1]):
        ends_W = along_W[[0, -1]]
        steps = ends_W - along_W[[1, -2]]
        steps /= np.maximum(np.linalg.norm(steps, axis=1)[:, None], 1e-9)
        pen.lines(ends_W, ends_W + reach * steps, 1.0)
    a_W = pen.point(row.a, row.point_a)
    pen.dot(a_W)
    return a_W


def _square_to(normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors square to a unit vector and to each other."""
    first = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
    first /= np.linalg.norm(first)
    return first, np.cross(normal, first)


def _dashes(a_W: np.ndarray, b_W: np.ndarray, count: int = 8) -> tuple[np.ndarray, np.ndarray]:
    """Every second piece of segments from (n, 3) to (n, 3)."""
    if len(a_W) > count:  # a circle is in pieces already
        return a_W[::2], b_W[::2]
    part = np.arange(0.0, 2.0 * count, 2.0)[:, None, None] / (2.0 * count - 1.0)
    step = b_W - a_W
    start = a_W + part * step
    return start.reshape(-1, 3), (start + step / (2.0 * count - 1.0)).reshape(-1, 3)
