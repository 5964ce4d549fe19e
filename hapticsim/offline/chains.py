"""The robots of the papers: planar chains of flat rectangular links with parallel revolute joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from hapticsim.errors import ConfigError
from hapticsim.model.multibody.joint import WORLD, Body, Joint, Placement
from hapticsim.model.multibody.tree import Model


def planar_chain(
    lengths_m: Sequence[float],
    masses_kg: Sequence[float],
    widths_m: Sequence[float],
    gravity_m_per_s2: float = 9.81,
    name: str = "planar_chain",
) -> Model:
    """Return a chain, base link first, that lies along x of the world at q = 0 and falls towards -z.

    Links are uniform rectangles: centre of mass at half the length, moment of inertia about it and normal to
    the plane m (l^2 + w^2) / 12 (Cloutier 1995, 5.1.1; Ascher, Pai & Cloutier 1997, example 1).  Joint axes
    point along -y, so that a positive angle lifts.
    """
    n = len(lengths_m)
    for key, values in (("lengths_m", lengths_m), ("masses_kg", masses_kg), ("widths_m", widths_m)):
        if len(values) != n or n == 0:
            raise ConfigError("planar_chain", key, f"has {len(values)} entries: it must have one per link.")
        if not all(np.isfinite(x) and x > 0.0 for x in values):
            raise ConfigError("planar_chain", key, f"= {list(values)} is not usable: all must be above 0.")
    bodies, joints = [], []
    for i, (l, m, w) in enumerate(zip(lengths_m, masses_kg, widths_m, strict=True)):
        moments = np.diag([w * w, l * l + w * w, l * l]) * (m / 12.0)  # flat: x along, z across, y normal
        bodies.append(Body(f"link_{i + 1}", m, np.array([l / 2.0, 0.0, 0.0]), moments))
        joints.append(
            Joint(
                f"joint_{i + 1}",
                "revolute",
                WORLD if i == 0 else f"link_{i}",
                f"link_{i + 1}",
                X_PJ=Placement(translation=np.array([lengths_m[i - 1] if i else 0.0, 0.0, 0.0])),
                axis_J=np.array([0.0, -1.0, 0.0]),
            )
        )
    return Model(name, tuple(bodies), tuple(joints), np.array([0.0, 0.0, -gravity_m_per_s2]))
