"""Orbit camera: world points to pixels and pixels back to rays.

Frames: world W (z up); camera C with x right, y forward (into the screen), z up.  With azimuth and
elevation zero the camera looks along +Y of the world with X to the right and Z up.  Pixels count from the
upper left corner, y down.
"""

from __future__ import annotations

import math

import numpy as np

NEAREST_M = 0.02  # points closer to the eye than this are cut away
_FILLED = 0.84  # part of the view that fitted points span
_NEAREST_FIT_M = 0.1  # from the eye to the nearest of them
_STEEPEST = math.radians(88.0)  # straight down would leave "right" undefined


class OrbitCamera:
    """Pinhole camera on a sphere around a point.

    width_px, height_px : size of the picture.
    target_W            : (3,) [m] point in the middle of the picture.
    distance            : [m] from the eye to the target.
    azimuth             : [rad] turns the eye about world z, counter-clockwise seen from above.
    elevation           : [rad] raises the eye above the target.
    fov_y               : [rad] opening angle over the picture's height.
    """

    def __init__(
        self,
        width_px: int,
        height_px: int,
        target_W: np.ndarray | None = None,
        distance: float = 2.0,
        azimuth: float = 0.0,
        elevation: float = 0.0,
        fov_y: float = math.radians(35.0),
    ) -> None:
        self.width_px, self.height_px = width_px, height_px
        self.target_W = np.zeros(3) if target_W is None else np.asarray(target_W, dtype=float)
        self.distance, self.azimuth, self.elevation, self.fov_y = distance, azimuth, elevation, fov_y

    @property
    def focal_px(self) -> float:
        """Pixels per unit of tangent: the same across and down."""
        return 0.5 * self.height_px / math.tan(0.5 * self.fov_y)

    @property
    def R_WC(self) -> np.ndarray:
        """(3, 3) columns: right, forward and up of the camera in world axes."""
        ca, sa = math.cos(self.azimuth), math.sin(self.azimuth)
        ce, se = math.cos(self.elevation), math.sin(self.elevation)
        return np.array([[ca, -sa * ce, -sa * se], [sa, ca * ce, ca * se], [0.0, -se, ce]])

    @property
    def eye_W(self) -> np.ndarray:
        """(3,) [m] position of the pinhole."""
        return self.target_W - self.distance * self.R_WC[:, 1]

    def to_camera(self, points_W: np.ndarray) -> np.ndarray:
        """(n, 3) [m] world points to camera axes; the second column is the depth."""
        return (points_W - self.eye_W) @ self.R_WC

    def to_pixels(self, points_C: np.ndarray) -> np.ndarray:
        """(n, 3) [m] camera points to (n, 2) pixels: ``x = w/2 + f x_C/y_C``, ``y = h/2 - f z_C/y_C``.

        Depths below ``NEAREST_M`` are taken as ``NEAREST_M``: cut such points away before drawing them.
        """
        scale = self.focal_px / np.maximum(points_C[:, 1], NEAREST_M)
        pixels = np.empty((len(points_C), 2))
        pixels[:, 0] = 0.5 * self.width_px + scale * points_C[:, 0]
        pixels[:, 1] = 0.5 * self.height_px - scale * points_C[:, 2]
        return pixels

    def project(self, points_W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(n, 3) [m] world points to (n, 2) pixels and (n,) [m] depths."""
        points_C = self.to_camera(np.atleast_2d(points_W))
        return self.to_pixels(points_C), points_C[:, 1]

    def ray(self, x_px: float, y_px: float) -> np.ndarray:
        """(3,) unit direction in world axes from the eye through a pixel."""
        f = self.focal_px
        d_C = np.array([(x_px - 0.5 * self.width_px) / f, 1.0, (0.5 * self.height_px - y_px) / f])
        d_W = self.R_WC @ d_C
        return d_W / np.linalg.norm(d_W)

    def orbit(self, azimuth_step: float, elevation_step: float) -> None:
        """Turn about the target by steps in [rad]; the eye never passes over the pole."""
        self.azimuth += azimuth_step
        self.elevation = min(max(self.elevation + elevation_step, -_STEEPEST), _STEEPEST)

    def zoom(self, factor: float) -> None:
        """Multiply the distance by a factor, between 0.1 m and 100 m."""
        self.distance = min(max(self.distance * factor, 0.1), 100.0)

    def fit(self, points_W: np.ndarray) -> None:
        """Stand where (n, 3) [m] world points just fill the view, turned as the camera is.

        In axes turned like the camera, a point (x, y, z) with depth y is in view of an eye e where
        ``|x - e_x| <= t (y - e_y)``: two lines for each point, of which the outermost two of all points
        meet in the eye that is nearest.  Down the picture it is the same; the farther eye sees all.
        """
        x, y, z = (points_W @ self.R_WC).T
        across = _FILLED * 0.5 * self.width_px / self.focal_px  # tangents
        down = _FILLED * 0.5 * self.height_px / self.focal_px
        left, right = (x - across * y).max(), (x + across * y).min()
        low, high = (z - down * y).max(), (z + down * y).min()
        e_y = min((right - left) / (2.0 * across), (high - low) / (2.0 * down), y.min() - _NEAREST_FIT_M)
        eye_C = np.array([0.5 * (left + right), e_y, 0.5 * (low + high)])
        self.distance = 0.5 * float(y.min() + y.max()) - float(e_y)
        self.target_W = self.R_WC @ (eye_C + np.array([0.0, self.distance, 0.0]))
