"""A device meets a scene: the coupler's gains from what the device says of itself."""

from __future__ import annotations

from typing import Any

from hapticsim.errors import ConfigError
from hapticsim.haptics.coupler import DeviceLimits, Gains, derive_gains
from hapticsim.haptics.delay import wire_delay_s
from hapticsim.model.scene import Scene


def limits_of(hello: Any) -> DeviceLimits:
    """What a device says of itself (``wire.messages.Hello``), as the coupler needs it."""
    return DeviceLimits(
        max_force_N=hello.max_force_N,
        max_stiffness_N_per_m=hello.max_stiffness_N_per_m,
        max_damping_Ns_per_m=hello.max_damping_Ns_per_m,
        apparent_mass_kg=hello.apparent_mass_kg,
        workspace_radius_m=hello.workspace_radius_m,
        max_torque_Nm=hello.max_torque_Nm,
        max_stiffness_Nm_per_rad=hello.max_stiffness_Nm_per_rad,
        max_damping_Nms_per_rad=hello.max_damping_Nms_per_rad,
        apparent_inertia_kg_m2=hello.apparent_inertia_kg_m2,
        velocity_window_s=hello.velocity_window_s,
    )


def scene_gains(limits: DeviceLimits, scene: Scene, delay_s: float | None = None) -> Gains:
    """Gains of a scene's coupler for a device; delay_s: None for that of the wire."""
    return derive_gains(
        limits,
        scene.coupler,
        scene.mapping,
        scene.rate_Hz,
        scene.safety.force_limit_N,
        wire_delay_s(scene) if delay_s is None else delay_s,
    )


def check_gains(limits: DeviceLimits, scene: Scene) -> Gains:
    """``scene_gains`` for a device that is known before anything starts.

    Raises
    ------
    ConfigError : the scene gives gains that the device cannot render.
    """
    gains = scene_gains(limits, scene)
    for refusal in gains.refusals:
        key, problem = refusal.split(" ", 1)
        raise ConfigError(scene.path, key, problem)
    return gains
