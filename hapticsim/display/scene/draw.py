"""One frame of the scene: sky, floor, faces, ghost and signs.

Everything is drawn on a surface twice the size of the picture and shrunk once: that smooths all edges for
under two milliseconds (1100 x 720, one core), less than smoothing them one by one.  Where a frame takes too
long the window asks for ``detail`` 1 and edges become jagged instead of motion slow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pygame

from hapticsim.display.messages.scene import Poses, PredictedMessage, SceneMessage, StateMessage
from hapticsim.display.messages.shapes import DrawnShape
from hapticsim.display.palette import GRID, SKY, SKY_BOTTOM, SKY_TOP, blend
from hapticsim.display.scene import marks
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.clip import clip_segments
from hapticsim.display.scene.faces import Faces
from hapticsim.display.scene.framing import points_to_show
from hapticsim.display.scene.guides import draw_constraints
from hapticsim.display.scene.labels import Label
from hapticsim.display.scene.signs import draw_signs

_CELLS, _CELL_M = 14, 0.1  # of the floor, from its middle to its rim
_PARTS = 4  # pieces of a floor line, each paler than the one before
FIRST_ELEVATION = 0.42  # [rad] of the first view: enough to see the top of a table
_FLOOR_GAP_M = 1e-3  # below the lowest thing, so that it never fights with a face


@dataclass(frozen=True, eq=False)
class Picture:
    """What one frame shows."""

    state: StateMessage | None
    predicted: PredictedMessage | None
    target_D: np.ndarray | None = None  # (3,) [m] where this window's pointer wants the hand

    @property
    def known_poses(self) -> Poses | None:
        """What is drawn solid: what is known for sure, which with a prediction is the last confirmed pose."""
        if self.predicted is not None and self.predicted.confirmed is not None:
            return self.predicted.confirmed
        return self.state.poses if self.state is not None else None


class SceneDrawing:
    """Draws one scene; built once per scene message, used for every frame."""

    def __init__(self, scene: SceneMessage) -> None:
        self.scene = scene
        self.faces = Faces(scene)
        self.floor = _floor_level(scene)
        self._canvas: pygame.Surface | None = None
        self._sky: pygame.Surface | None = None

    def points_of_interest(self, poses: Poses) -> np.ndarray:
        """(n, 3) [m] what the first view is to show (`framing`)."""
        return points_to_show(self.scene, self.faces.mesh, poses)

    def draw(
        self, surface: pygame.Surface, camera: OrbitCamera, picture: Picture, detail: int = 2
    ) -> list[Label]:
        """Draw a frame on ``surface`` (the camera's size) at ``detail`` canvas pixels per screen pixel.

        Returns the texts to write on the surface.
        """
        canvas = surface if detail == 1 else self._canvas_of(camera, detail)
        self._fill_sky(canvas)
        self._draw_floor(canvas, camera, detail)
        poses, predicted = picture.known_poses, picture.predicted
        labels: list[Label] = []
        if poses is not None:
            self.faces.paint(canvas, camera, poses, detail)
        if predicted is not None:
            self.faces.paint_ghost(canvas, camera, predicted.poses, poses, detail)
            if len(predicted.path_W):
                path_px, depth = camera.project(predicted.path_W)
                marks.dotted(canvas, path_px[depth > 0.05] * detail, SKY, detail)
        if picture.state is not None:
            if poses is not None:
                labels += draw_constraints(canvas, camera, self.scene, picture.state, poses, detail)
            labels += draw_signs(canvas, camera, self.scene, picture.state, picture.target_D, detail)
        if detail != 1:
            pygame.transform.smoothscale(canvas, surface.get_size(), surface)
        return labels

    def _canvas_of(self, camera: OrbitCamera, detail: int) -> pygame.Surface:
        size = (camera.width_px * detail, camera.height_px * detail)
        if self._canvas is None or self._canvas.get_size() != size:
            self._canvas = pygame.Surface(size).convert()
        return self._canvas

    def _fill_sky(self, canvas: pygame.Surface) -> None:
        if self._sky is None or self._sky.get_size() != canvas.get_size():
            strip = pygame.Surface((2, 128), depth=32)
            for y in range(128):
                strip.fill(blend(SKY_TOP, SKY_BOTTOM, y / 127.0), (0, y, 2, 1))
            self._sky = pygame.transform.smoothscale(strip, canvas.get_size()).convert()
        canvas.blit(self._sky, (0, 0))

    def _draw_floor(self, canvas: pygame.Surface, camera: OrbitCamera, k: int) -> None:
        """A grid to judge depth by, fading away from its middle; left out when seen from below."""
        if camera.eye_W[2] <= self.floor:
            return
        middle = np.round(camera.target_W[:2] / _CELL_M) * _CELL_M
        reach = _CELLS * _CELL_M
        offsets = np.linspace(-reach, reach, 2 * _CELLS + 1)
        stops = np.linspace(-reach, reach, _PARTS + 1)
        across, start = (m.ravel() for m in np.meshgrid(offsets, stops[:-1], indexing="ij"))
        end = start + 2.0 * reach / _PARTS
        a = np.concatenate([np.column_stack([across, start]), np.column_stack([start, across])])
        b = np.concatenate([np.column_stack([across, end]), np.column_stack([end, across])])
        away = np.linalg.norm(0.5 * (a + b), axis=1) / reach
        height = np.full(len(a), self.floor)
        a_C, b_C, kept = clip_segments(
            camera,
            camera.to_camera(np.column_stack([a + middle, height])),
            camera.to_camera(np.column_stack([b + middle, height])),
        )
        kept &= away < 1.0
        haze = blend(SKY_TOP, SKY_BOTTOM, 0.6)
        shades = [blend(haze, GRID, 0.7 * (1.0 - part)) for part in away[kept].tolist()]
        a_px, b_px = camera.to_pixels(a_C[kept]) * k, camera.to_pixels(b_C[kept]) * k
        for start_px, end_px, shade in zip(a_px.tolist(), b_px.tolist(), shades, strict=True):
            pygame.draw.line(canvas, shade, start_px, end_px, k)


def _floor_level(scene: SceneMessage) -> float:
    """Height [m] just below everything that stands still, at most zero."""
    lowest = 0.0
    for shape in scene.shapes:
        if shape.body < 0:
            lowest = min(lowest, float(shape.p_BS[2]) - _reach_down(shape))
    return lowest - _FLOOR_GAP_M


def _reach_down(shape: DrawnShape) -> float:
    """How far [m] a shape of the world extends below its own origin."""
    upright = np.abs(shape.R_BS[2])
    if shape.kind == "sphere":
        return shape.size[0]
    if shape.kind == "capsule":
        return shape.size[0] + 0.5 * shape.size[1] * float(upright[2])
    if shape.kind == "cylinder":
        radius, length = shape.size[:2]
        return radius * math.hypot(*upright[:2]) + 0.5 * length * float(upright[2])
    if shape.kind == "cone":
        radius, length = shape.size[:2]
        up = float(shape.R_BS[2, 2])
        return max(radius * math.hypot(*upright[:2]) + 0.5 * length * up, -0.5 * length * up)
    if shape.kind == "ellipsoid":
        return math.hypot(*(upright * shape.size[:3]))
    if shape.kind == "mesh":
        return -float((shape.vertices_S @ shape.R_BS[2]).min())
    return float(upright[: len(shape.size)] @ shape.size)
