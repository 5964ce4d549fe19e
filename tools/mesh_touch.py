"""A tip that a hand leads over a mesh: smooth surfaces, meshes of them, a closed path, three ways to feel it.

A surface has no facets and a known normal.  The device goes round a closed path at a constant speed, ``deep``
behind where the tip touches; each way answers with the force on it, a tick at a time:

    ours     the whole tick: tip of 50 g, coupler with the gains derived for an omega.3
    proxy    the finger proxy of CHAI3D (`finger_proxy.py`), with the same stiffness
    ideal    the same spring to the nearest place where the tip touches the surface itself, without mass
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import trimesh
from finger_proxy import FingerProxy, Mesh
from hapticsim_devices.limits import device_table

import hapticsim as hs
from hapticsim.codes import Event
from hapticsim.config.fine_surface.smoothing import smoothed
from hapticsim.config.height_field.surface import surface_of_heights
from hapticsim.config.load import loads
from hapticsim.config.schema.scene import Smooth
from hapticsim.haptics.coupler import DeviceLimits
from hapticsim.kernels.memory.sample import HAND_FORCE, HANDLE
from hapticsim.model.multibody.joint import WORLD, Placement
from hapticsim.model.scene import ContactPair, Scene, Shape
from hapticsim.model.triangle_mesh import TriangleMesh

TIP_m, TICK_s = 0.003, 1e-3
DEEP_m, DEEPER_m, TIMES = 0.003, 0.001, 3  # how deep the device is: mean, more and less, how often in a lap
SPHERE_m, SLANT_rad = 0.05, 0.6  # radius of the sphere; angle from its axis at which the path goes round
FIELD_m, WAVE_m, HIGH_m, ROUND_m = 0.12, 0.04, 0.003, 0.04  # size, wavelength, amplitude, radius of the path
NEVER = {Event.THROUGH, Event.NOT_FINITE, Event.ENERGY, Event.ROWS_FULL}
SCENE = """
name: a tip on a mesh
gravity_m_per_s2: [0, 0, 0]
robot:
  bodies:
    - {name: along}
    - {name: across}
    - {name: probe, inertial: {mass_kg: MASS, inertia_kg_m2: {xx: 1.0e-6, yy: 1.0e-6, zz: 1.0e-6}}}
  joints:
    - {name: x, type: prismatic, parent: world, child: along, axis: [1, 0, 0]}
    - {name: y, type: prismatic, parent: along, child: across, axis: [0, 1, 0]}
    - {name: z, type: prismatic, parent: across, child: probe, axis: [0, 0, 1]}
handle: {body: probe}
mapping: {origin_m: [0, 0, 0]}
safety: {ramp_s: 0}
"""
Array = np.ndarray


class Surface(Protocol):
    """A smooth surface."""

    name: str

    def foot(self, point: Array) -> tuple[float, Array]:
        """Height of a point (3,) [m] over the surface, and the normal there (3,)."""

    def curve(self, turn: Array) -> tuple[Array, Array]:
        """Points (n, 3) [m] of a closed curve on it for turn (n,) from 0 to 1, and normals (n, 3)."""

    def mesh(self, triangles: int) -> TriangleMesh:
        """A closed mesh with about so many triangles on the touched side, its corners on the surface."""


class Sphere:
    """Of SPHERE_m around the origin."""

    name = "sphere"

    def foot(self, point: Array) -> tuple[float, Array]:
        far = float(np.linalg.norm(point))
        return far - SPHERE_m, point / far

    def curve(self, turn: Array) -> tuple[Array, Array]:
        angle = 2.0 * np.pi * turn
        flat = np.sin(SLANT_rad)
        n = np.column_stack(
            [flat * np.cos(angle), flat * np.sin(angle), np.full(len(turn), np.cos(SLANT_rad))]
        )
        return SPHERE_m * n, n

    def mesh(self, triangles: int) -> TriangleMesh:
        """The icosahedron, each face divided into n^2, turned so that the path is along no edge."""
        n, base = round(np.sqrt(triangles / 20.0)), trimesh.creation.icosahedron()
        i, j = (k.ravel() for k in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
        number = np.full((n + 2, n + 2), -1)
        i, j = i[i + j <= n], j[i + j <= n]
        number[i, j] = np.arange(len(i))
        a, b = i[i + j < n], j[i + j < n]
        flat = [np.stack([number[a, b], number[a + 1, b], number[a, b + 1]], 1)]
        a, b = i[i + j < n - 1], j[i + j < n - 1]
        flat += [np.stack([number[a + 1, b], number[a + 1, b + 1], number[a, b + 1]], 1)]
        p, q, r = np.moveaxis(base.vertices[base.faces], 1, 0)
        points = p[:, None] + (i / n)[:, None] * (q - p)[:, None] + (j / n)[:, None] * (r - p)[:, None]
        faces = np.arange(20)[:, None, None] * len(i) + np.concatenate(flat)
        made = trimesh.Trimesh(points.reshape(-1, 3), faces.reshape(-1, 3), process=False)
        made.merge_vertices(digits_vertex=9)
        turned = trimesh.transformations.euler_matrix(0.3, 0.5, 0.7)[:3, :3]
        unit = made.vertices / np.linalg.norm(made.vertices, axis=1, keepdims=True)
        return TriangleMesh(SPHERE_m * unit @ turned.T, np.array(made.faces, np.int64))


class Waves:
    """z = HIGH_m sin k x cos k y, which curves less than the tip."""

    name = "waves"
    k = 2.0 * np.pi / WAVE_m

    def height(self, x: Array, y: Array) -> Array:
        return HIGH_m * np.sin(self.k * x) * np.cos(self.k * y)

    def normals(self, x: Array, y: Array) -> Array:
        k, ones = self.k, np.ones_like(x)
        slope_x = HIGH_m * k * np.cos(k * x) * np.cos(k * y)
        slope_y = -HIGH_m * k * np.sin(k * x) * np.sin(k * y)
        n = np.stack([-slope_x, -slope_y, ones], axis=-1)
        return n / np.linalg.norm(n, axis=-1, keepdims=True)

    def foot(self, point: Array) -> tuple[float, Array]:
        """Newton's method on where the normal's line passes the point, from below it."""
        x, step = np.array(point[:2]), 1e-7
        for _ in range(50):
            off = self._beside(x, point)
            ahead, behind = ([self._beside(x + s * e, point) for e in np.eye(2)] for s in (step, -step))
            change = np.linalg.solve((np.array(ahead) - np.array(behind)).T / (2.0 * step), off)
            x -= change
            if abs(change).max() < 1e-13:
                break
        n = self.normals(*x)
        return float((point - np.array([*x, self.height(*x)])) @ n), n

    def _beside(self, x: Array, point: Array) -> Array:
        """How far the normal's line over x passes the point, (2,)."""
        n = self.normals(*x)
        return x - point[:2] + n[:2] / n[2] * (point[2] - self.height(*x))

    def curve(self, turn: Array) -> tuple[Array, Array]:
        x, y = ROUND_m * np.cos(2.0 * np.pi * turn), ROUND_m * np.sin(2.0 * np.pi * turn)
        return np.column_stack([x, y, self.height(x, y)]), self.normals(x, y)

    def mesh(self, triangles: int) -> TriangleMesh:
        n = round(np.sqrt(triangles / 2.0)) + 1
        at = np.linspace(-0.5 * FIELD_m, 0.5 * FIELD_m, n)
        x, y = np.meshgrid(at, at)
        return surface_of_heights(Path("waves"), "heights", self.height(x, y), (FIELD_m, FIELD_m), 0.01)


@dataclass(frozen=True)
class Motion:
    """Where the device is, tick by tick: down to the surface, a first lap, and the lap that counts."""

    places: Array  # (n, 3) [m]
    velocities: Array  # (n, 3) [m/s]
    lap: int  # ticks; the last ones count


def path(surface: Surface, speed: float, down_s: float = 0.3) -> Motion:
    """The closed curve at so many m/s of the device, with ``deep`` going up and down TIMES a lap."""

    def device(turn: Array) -> Array:
        points, normals = surface.curve(turn)
        deep = DEEP_m + DEEPER_m * np.sin(2.0 * np.pi * TIMES * turn)
        return points + (TIP_m - deep)[:, None] * normals

    fine = np.linspace(0.0, 1.0, 100_001)
    walked = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(device(fine), axis=0), axis=1))]
    lap = round(walked[-1] / (speed * TICK_s))
    laps = device(np.interp(np.arange(2 * lap + 1) / lap % 1.0 * walked[-1], walked, fine))
    above = laps[0] + (2.0 * DEEP_m) * surface.curve(np.zeros(1))[1][0]
    share = np.linspace(0.0, 1.0, round(down_s / TICK_s), endpoint=False)[:, None]
    places = np.vstack([above + share * (laps[0] - above), laps])
    return Motion(places, np.gradient(places, TICK_s, axis=0), lap)


@dataclass
class Felt:
    """What a way answered in the lap that counts."""

    places: Array  # (n + 1, 3) [m] of the device
    forces: Array  # (n + 1, 3) [N] on it
    centres: Array  # (n + 1, 3) [m] of the tip, or the proxy
    passed: int = 0  # events that say it is inside
    normals: Array | None = (
        None  # (n + 1, 3) of the contact at the end of the tick; NaN where there is not one
    )
    ends: Array | None = None  # (n + 1, 3) [m] of the tip then


def feel_ideal(surface: Surface, way: Motion, stiffness: float) -> Felt:
    places = way.places[-way.lap - 1 :]
    forces, centres = np.zeros_like(places), places.copy()
    for k, place in enumerate(places):
        height, n = surface.foot(place)
        if height < TIP_m:
            centres[k] = place + (TIP_m - height) * n
            forces[k] = stiffness * (TIP_m - height) * n
    return Felt(places, forces, centres)


def feel_proxy(
    mesh: TriangleMesh,
    way: Motion,
    stiffness: float,
    stages: int,
    epsilon_m: float = 1e-4,
    shaded: bool = False,
    unit_m: float = 1e-3,
) -> Felt:
    """``unit_m`` is the unit of its lengths [m]: millimetres, in which no triangle is small, or metres."""
    triangles = Mesh(mesh.vertices / unit_m, mesh.triangles, TIP_m / unit_m)
    start, epsilon = way.places[0] / unit_m, epsilon_m / unit_m
    proxy = FingerProxy(triangles, stiffness * unit_m, start, stages, epsilon, shaded)
    found = []
    for place in way.places:
        force = proxy.force(place / unit_m)
        found.append((place, force, unit_m * proxy.proxy))
    return Felt(*(np.array(column)[-way.lap - 1 :] for column in zip(*found, strict=True)))


def gains() -> tuple[float, float]:
    """Stiffness [N/m] and damping [N s/m] of our coupler."""
    derived = hs.Simulation(scene_of(SPHERE_m, (0.0, 0.0, 2.0 * SPHERE_m))).couple(limits_of()).translation
    return derived.stiffness, derived.damping


def smooth(mesh: TriangleMesh) -> TriangleMesh:
    """As a scene has it with ``smooth: {}``."""
    keys = Smooth()
    return smoothed(Path("mesh"), "", mesh, np.radians(keys.crease_deg), np.radians(keys.facet_deg), [])


def limits_of(device: str = "omega_3") -> DeviceLimits:
    row = device_table()[device]
    return DeviceLimits(
        row.max_force_N, row.max_stiffness_N_per_m, row.max_damping_Ns_per_m, row.apparent_mass_kg
    )


def scene_of(
    solid: TriangleMesh | float | tuple[float, ...],
    start: Array | tuple[float, ...],
    radius: float = TIP_m,
    mass_kg: float = 0.05,
) -> Scene:
    """The tip, and a mesh, a sphere of this radius or a box of these half extents [m], fixed."""
    text = SCENE.replace("MASS", str(mass_kg))
    scene = loads(text + f"initial: {{q_m: {{x: {start[0]}, y: {start[1]}, z: {start[2]}}}}}\n")
    tip = Shape("tip", "probe", "sphere", (radius,), Placement())
    if isinstance(solid, TriangleMesh):
        half = tuple(float(h) for h in np.abs(solid.vertices).max(axis=0))
        shape = Shape("solid", WORLD, "mesh", half, Placement(), mesh=solid)
    elif isinstance(solid, tuple):
        shape = Shape("solid", WORLD, "box", solid, Placement())
    else:
        shape = Shape("solid", WORLD, "sphere", (solid,), Placement())
    return replace(scene, shapes=(tip, shape), contacts=(ContactPair("tip", "solid", 0.0),))


def feel_ours(solid: TriangleMesh | float, way: Motion) -> Felt:
    sim = hs.Simulation(scene_of(solid, way.places[0]))
    sim.couple(limits_of())
    row, found, passed = np.zeros(len(sim.columns)), [], 0
    sim.arm()
    for place, velocity in zip(way.places, way.velocities, strict=True):
        sim.set_device(place, velocity, 0.5 * TICK_s)
        sim.step()
        sim.read_row(row)
        passed += sum(event.kind in NEVER for event in sim.events)
        state = sim.state
        normal = state.contacts[0].normal if len(state.contacts) == 1 else np.full(3, np.nan)
        force, centre = row[HAND_FORCE : HAND_FORCE + 3], row[HANDLE : HANDLE + 3]
        found.append((place, force.copy(), centre.copy(), normal, state.q))
    places, forces, centres, normals, ends = (
        np.array(column)[-way.lap - 1 :] for column in zip(*found, strict=True)
    )
    return Felt(places, forces, centres, passed, normals, ends)


WAYS: dict[str, Callable[[TriangleMesh, Motion, float], Felt]] = {
    "ours": lambda mesh, way, K: feel_ours(mesh, way),
    "ours, smooth": lambda mesh, way, K: feel_ours(smooth(mesh), way),
    "proxy": lambda mesh, way, K: feel_proxy(mesh, way, K, 1),
    "proxy, 3 steps": lambda mesh, way, K: feel_proxy(mesh, way, K, 3),
    "... shaded": lambda mesh, way, K: feel_proxy(mesh, way, K, 3, shaded=True),
    "... shaded, 1 um": lambda mesh, way, K: feel_proxy(mesh, way, K, 3, 1e-6, shaded=True),
    "proxy, in metres": lambda mesh, way, K: feel_proxy(mesh, way, K, 1, unit_m=1.0),
}
