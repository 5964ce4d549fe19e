"""Lit faces, painted far to near: the mechanism as it is, and its ghost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pygame

from hapticsim.display.messages.scene import Poses, SceneMessage
from hapticsim.display.palette import SKY, WELL, Color, blend
from hapticsim.display.scene.camera import OrbitCamera
from hapticsim.display.scene.clip import clip_polygon, clip_segments, guard_planes
from hapticsim.display.scene.mesh import grid, mesh_sizes, place, tessellate
from hapticsim.display.scene.mesh_order import triangle_layers, turns
from hapticsim.display.scene.order import layers
from hapticsim.display.scene.shadow import Level, caster, level_face, shadow_on

_LIGHT_W = np.array([-0.42, -0.58, 0.70]) / np.linalg.norm([-0.42, -0.58, 0.70])  # over the left shoulder
_GHOST_ALPHA = 120
_FULL_GHOST_M = 0.03  # displacement from which a ghost is as strong as it gets
_FAINTEST = 6  # of 255: below, nobody sees it
_EDGE = 0.45  # how much darker the edges of boxes are
_SEAM = 0.12  # the same for the lines across a plane

Shadow = tuple[np.ndarray, Color]  # outline (n, 3) [m, world] and fill


@dataclass(frozen=True, eq=False)
class Posed:
    """The mesh of a scene at one pose, seen by one camera."""

    p_WS: np.ndarray  # (ns, 3) [m]
    R_WS: np.ndarray  # (ns, 3, 3)
    points_W: np.ndarray  # (nv, 3) [m] vertices
    points_C: np.ndarray  # (nv, 3) [m] in camera axes
    normals_W: np.ndarray  # (nf, 3)
    centres_W: np.ndarray  # (nf, 3) [m]
    facing: np.ndarray  # (nf,) whether the outside of the face is towards the eye


class Faces:
    """All shapes of one scene."""

    def __init__(self, scene: SceneMessage) -> None:
        self.shapes = shapes = scene.shapes
        self.mesh = tessellate(shapes)
        owner = self.mesh.face_shape
        moving = np.array([s.body >= 0 for s in shapes], dtype=bool)
        flat = np.array([s.kind in ("box", "plane") for s in shapes], dtype=bool)
        self.moving_faces, self.flat_faces = moving[owner], flat[owner]
        self.mesh_size = mesh_sizes(self.mesh, shapes)[owner]
        self.solids = np.flatnonzero(flat)
        self.half = np.array(
            [
                (*shapes[i].size[:2], shapes[i].size[2] if shapes[i].kind == "box" else 0.0)
                for i in self.solids
            ]
        ).reshape(-1, 3)
        self.rank_of_shape = np.cumsum(flat) - 1  # index among the solids, of a shape that is one
        self.casting = {int(i): caster(shapes[i]) for i in np.flatnonzero(moving & ~flat)}
        self.seams = {
            int(np.flatnonzero(owner == i)[1]): (
                i,
                grid(*shapes[i].size[:2]),
            )  # on the upper side of a sheet
            for i in range(len(shapes))
            if shapes[i].kind == "plane"
        }
        self._ghost: pygame.Surface | None = None

    def pose(self, poses: Poses, camera: OrbitCamera) -> Posed:
        """Transform every vertex and normal once."""
        mesh, eye_W = self.mesh, camera.eye_W
        p_WS, R_WS = place(self.shapes, poses)
        points_W = np.einsum("nij,nj->ni", R_WS[mesh.point_shape], mesh.points_S) + p_WS[mesh.point_shape]
        normals_W = np.einsum("nij,nj->ni", R_WS[mesh.face_shape], mesh.normals_S)
        centres_W = points_W[mesh.faces].mean(axis=1)
        facing = ((eye_W - centres_W) * normals_W).sum(axis=1) > 0.0
        return Posed(p_WS, R_WS, points_W, camera.to_camera(points_W), normals_W, centres_W, facing)

    def paint(self, canvas: pygame.Surface, camera: OrbitCamera, poses: Poses, k: int) -> None:
        """Paint the scene at a pose; ``k`` canvas pixels per camera pixel."""
        posed, mesh, eye_W = self.pose(poses, camera), self.mesh, camera.eye_W
        seen = np.flatnonzero(posed.facing)
        p_WS, R_WS = posed.p_WS[self.solids], posed.R_WS[self.solids]
        layer, solid_layer = layers(posed.centres_W[seen], p_WS, R_WS, self.half, eye_W)
        flat = self.flat_faces[seen]
        layer[flat] = solid_layer[self.rank_of_shape[mesh.face_shape[seen[flat]]]]
        colors = lit(mesh.colors[seen], posed.normals_W[seen], posed.centres_W[seen], eye_W)
        faces_C = posed.points_C[mesh.faces[seen]]  # (n, 4, 3)
        normals, offsets = guard_planes(camera)
        whole = (faces_C @ normals.T >= offsets).all(axis=(1, 2))
        pixels = (camera.to_pixels(posed.points_C) * k)[mesh.faces[seen]]
        turn = self._turns(posed, seen, layer, solid_layer, pixels, whole, eye_W)
        order = np.lexsort((-faces_C[:, :, 1].mean(axis=1), turn, layer))
        shadows = self._shadows(posed, solid_layer, eye_W)
        waiting = sorted(shadows)
        cut = flat | ((self.mesh_size[seen] > 0) & ~(faces_C @ normals.T < offsets).all(axis=1).any(axis=1))
        columns = (layer, pixels, colors, whole, flat, cut)
        for index, on, quad, fill, is_whole, is_flat, is_cut in zip(
            order.tolist(), *(column[order].tolist() for column in columns), strict=True
        ):
            while waiting and waiting[0] < on:
                _paint_shadows(canvas, camera, shadows[waiting.pop(0)], k)
            if not is_whole:
                if not is_cut:
                    continue  # a facet at the rim of the picture is not missed; a table top would be
                quad = (camera.to_pixels(clip_polygon(camera, faces_C[index])) * k).tolist()
                if len(quad) < 3:
                    continue
            pygame.draw.polygon(canvas, fill, quad)
            if is_flat:
                color = (fill[0], fill[1], fill[2])
                if (face := int(seen[index])) in self.seams:
                    self._paint_seams(canvas, camera, posed, face, blend(color, WELL, _SEAM), k)
                pygame.draw.polygon(canvas, blend(color, WELL, _EDGE), quad, k)
        for on in waiting:
            _paint_shadows(canvas, camera, shadows[on], k)

    def _turns(
        self,
        posed: Posed,
        seen: np.ndarray,
        layer: np.ndarray,
        solid_layer: np.ndarray,
        pixels: np.ndarray,
        whole: np.ndarray,
        eye_W: np.ndarray,
    ) -> np.ndarray:
        """Put faces of meshes, and what they hide, in their layers; returns the turn of each within its own.

        Of the faces seen: layer (n,), pixels (n, 4, 2), whole (n,) as in `paint`.
        """
        size = self.mesh_size[seen]
        if not size.any():
            return np.zeros(len(seen), dtype=int)
        corners_W, normals_W = posed.points_W[self.mesh.faces[seen]], posed.normals_W[seen]
        of_mesh = size > 0
        solids = posed.p_WS[self.solids], posed.R_WS[self.solids], self.half, solid_layer
        layer[of_mesh] = triangle_layers(corners_W[of_mesh, :3], normals_W[of_mesh], *solids, eye_W)
        depth = posed.points_C[self.mesh.faces[seen], 1].mean(axis=1)
        boxes = np.stack([pixels.min(axis=1), pixels.max(axis=1)], axis=1)
        boxes[~whole] = [[-np.inf] * 2, [np.inf] * 2]
        groups = [np.flatnonzero(size == s) for s in np.unique(size[of_mesh])[::-1]]
        groups.append(np.flatnonzero(~of_mesh & ~self.flat_faces[seen] & whole))
        return turns(groups, layer, depth, corners_W, normals_W, boxes, eye_W)

    def paint_ghost(
        self, canvas: pygame.Surface, camera: OrbitCamera, poses: Poses, known: Poses | None, k: int
    ) -> None:
        """Paint what moves, translucent and in one colour, over everything: it is not there yet.

        The nearer it is to where things are known to be, the fainter: at rest they keep their colours.
        """
        posed, mesh = self.pose(poses, camera), self.mesh
        alpha = np.full(len(mesh.faces), _GHOST_ALPHA)
        if known is not None:
            moved_m = np.linalg.norm(posed.points_C - self.pose(known, camera).points_C, axis=1)
            share = moved_m[mesh.faces].max(axis=1) / _FULL_GHOST_M
            alpha = (_GHOST_ALPHA * np.minimum(share, 1.0)).astype(int)
        normals, offsets = guard_planes(camera)
        whole = (posed.points_C @ normals.T >= offsets).all(axis=1)[mesh.faces].all(axis=1)
        seen = np.flatnonzero(posed.facing & self.moving_faces & whole & (alpha >= _FAINTEST))
        if len(seen) == 0:
            return
        one_color = np.tile(np.array(SKY, dtype=float), (len(seen), 1))
        colors = lit(one_color, posed.normals_W[seen], posed.centres_W[seen], camera.eye_W)
        order = np.argsort(-posed.points_C[mesh.faces[seen], 1].mean(axis=1))
        quads = (camera.to_pixels(posed.points_C) * k)[mesh.faces[seen[order]]]
        low, high = quads.min(axis=(0, 1)) - 2.0, quads.max(axis=(0, 1)) + 3.0
        area = pygame.Rect(*low.astype(int), *(high - low).astype(int)).clip(canvas.get_rect())
        if self._ghost is None or self._ghost.get_size() != canvas.get_size():
            self._ghost = pygame.Surface(canvas.get_size(), pygame.SRCALPHA)
        self._ghost.fill((0, 0, 0, 0), area)
        for quad, fill, a in zip(
            quads.tolist(), colors[order].tolist(), alpha[seen[order]].tolist(), strict=True
        ):
            pygame.draw.polygon(self._ghost, (*fill, a), quad)  # sets pixels, does not mix them
        canvas.blit(self._ghost, area, area)

    def _paint_seams(
        self, canvas: pygame.Surface, camera: OrbitCamera, posed: Posed, face: int, color: Color, k: int
    ) -> None:
        """Lines across a plane, to judge its slope and distances on it by."""
        shape, ends_S = self.seams[face]
        ends_C = camera.to_camera(ends_S.reshape(-1, 3) @ posed.R_WS[shape].T + posed.p_WS[shape])
        a_C, b_C, kept = clip_segments(camera, ends_C[::2], ends_C[1::2])
        a_px, b_px = camera.to_pixels(a_C[kept]) * k, camera.to_pixels(b_C[kept]) * k
        for start, end in zip(a_px.tolist(), b_px.tolist(), strict=True):
            pygame.draw.line(canvas, color, start, end, k)

    def _shadows(self, posed: Posed, solid_layer: np.ndarray, eye_W: np.ndarray) -> dict[int, list[Shadow]]:
        """What falls on level faces, by the layer of the solid it falls on, palest first."""
        found: dict[int, list[Shadow]] = {}
        for rank, solid in enumerate(self.solids):
            level = level_face(posed.p_WS[solid], posed.R_WS[solid], self.half[rank])
            if level is None or eye_W[2] <= level.centre_W[2]:
                continue
            cast = [shadow for i in self.casting if (shadow := self._shadow(level, posed, i)) is not None]
            cast.sort(key=lambda outline_and_strength: outline_and_strength[1])
            base = np.array([self.shapes[solid].color], dtype=float)
            red, green, blue = lit(base, np.array([[0.0, 0.0, 1.0]]), level.centre_W[None], eye_W)[0].tolist()
            found[int(solid_layer[rank])] = [
                (outline, blend((red, green, blue), (0, 0, 0), 0.10 + 0.34 * strength))
                for outline, strength in cast
            ]
        return found

    def _shadow(self, level: Level, posed: Posed, i: int) -> tuple[np.ndarray, float] | None:
        ends_S, radius = self.casting[i]
        a_W, b_W = ends_S @ posed.R_WS[i].T + posed.p_WS[i]
        return shadow_on(level, a_W, b_W, radius)


def lit(colors: np.ndarray, normals_W: np.ndarray, at_W: np.ndarray, eye_W: np.ndarray) -> np.ndarray:
    """(n, 3) integer colours under one lamp, a sky lighter than the ground, and a faint highlight."""
    to_eye = eye_W - at_W
    to_eye /= np.linalg.norm(to_eye, axis=1, keepdims=True)
    middle = _LIGHT_W + to_eye
    middle /= np.linalg.norm(middle, axis=1, keepdims=True)
    diffuse = np.maximum(normals_W @ _LIGHT_W, 0.0)
    glint = np.maximum((normals_W * middle).sum(axis=1), 0.0) ** 24
    shade = 0.36 + 0.12 * normals_W[:, 2] + 0.58 * diffuse
    return np.clip(colors * shade[:, None] + 46.0 * glint[:, None], 0.0, 255.0).astype(int)


def _paint_shadows(canvas: pygame.Surface, camera: OrbitCamera, shadows: list[Shadow], k: int) -> None:
    for outline_W, color in shadows:
        cut = clip_polygon(camera, camera.to_camera(outline_W))
        if len(cut) >= 3:
            pygame.draw.polygon(canvas, color, (camera.to_pixels(cut) * k).tolist())
