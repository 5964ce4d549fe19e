"""What the plan says of compliant contacts, and which scenes cannot have them yet."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from hapticsim.assemble.stiff_parts import configurations, factor_of_mass
from hapticsim.equations.base import Equations
from hapticsim.errors import ConfigError
from hapticsim.model.candidates import Candidate
from hapticsim.model.multibody.joint import WORLD
from hapticsim.model.scene import TIME_STEPPING, ContactPair, Scene

NUMBERS = 8  # of a law (kernels/compliance/law.py)
STRIKES = 1.0  # [m/s] at which what is struck has to be slow enough for the steps of a tick
MOST_STEPS, SWAYS, DECAYS = 64, 0.4, 1.0  # steps that long are stable; steps.py takes shorter ones if it can


def plan_of_compliance(
    scene: Scene, equations: Equations, candidates: Sequence[Candidate], pairs: Sequence[ContactPair]
) -> dict[str, np.ndarray]:
    """Which candidates yield (nk,), and by what law (nk, NUMBERS).

    Raises
    ------
    ConfigError : a surface yields where that is not there yet, or is too stiff for the ticks.
    """
    compliant = np.array([int(pair.compliance is not None) for pair in pairs], np.int64)
    table = np.zeros((len(pairs), NUMBERS))
    if not compliant.any():
        return {"compliant": compliant, "compliance": table}
    _refuse_beside(scene)
    mobility = _mobilities(scene, equations, candidates, np.flatnonzero(compliant))
    for k, most in mobility.items():
        pair = pairs[k]
        law = pair.compliance
        assert law is not None
        _refuse_too_stiff(scene, pair, most)
        table[k] = [
            law.stiffness, law.exponent, law.damping, law.damping_exponent, law.along, pair.friction, most,
            law.recovers_in,
        ]  # fmt: skip
    return {"compliant": compliant, "compliance": table}


def _refuse_beside(scene: Scene) -> None:
    """Refuse what is not there beside compliant contacts."""
    pair = next(p for p in scene.contacts if p.compliance is not None)
    about = f"[{pair.a}, {pair.b}] is compliant, and "
    if scene.contact_regime == TIME_STEPPING:
        why = f"contact_regime is {TIME_STEPPING!r}, whose contacts are all rigid yet: write 'exact', or"
    elif scene.sleep is not None:
        why = "bodies may fall asleep, which is not there beside it yet: leave out 'sleep', or"
    elif scene.rubs_rigidly:
        rigid = next(p for p in scene.contacts if p.friction > 0.0 and p.compliance is None)
        why = (
            f"[{rigid.a}, {rigid.b}] is rigid and rubs: both are not there together yet; give that one "
            "'compliance', too, leave out its 'friction', or"
        )
    else:
        touched = [set(c.touch) for c in scene.constraints if c.touch is not None]
        yielding = next((p for p in scene.contacts if p.compliance and {p.a, p.b} in touched), None)
        if yielding is None:
            return
        about = f"[{yielding.a}, {yielding.b}] is compliant, and "
        why = "a constraint engages on its touch, which rigid contacts alone do yet: leave out that, or"
    raise ConfigError(scene.path, "contacts", f"{about}{why} leave out 'compliance'.")


def _refuse_too_stiff(scene: Scene, pair: ContactPair, mobility: float) -> None:
    """Refuse a law by which a tick would need more steps than it may have."""
    assert pair.compliance is not None
    sway, decay = pair.compliance.fastest(mobility, STRIKES)
    needed = scene.tick_s * max(sway / SWAYS, decay / DECAYS)
    if needed > MOST_STEPS:
        raise ConfigError(
            scene.path,
            "contacts",
            f"[{pair.a}, {pair.b}] is so stiff, or damped so much, for the {1.0 / mobility:.3g} kg that it "
            f"may meet that a tick of {1e3 * scene.tick_s:.3g} ms would need {needed:.0f} steps, and has at "
            f"most {MOST_STEPS}: make it softer, raise 'rate_Hz', or leave out 'compliance' for a rigid one.",
        )


def _mobilities(
    scene: Scene, equations: Equations, candidates: Sequence[Candidate], which: np.ndarray
) -> dict[int, float]:
    """The most 1 / mass [1/kg] that a force on each of these candidates may find, by samples."""
    most = dict.fromkeys(which.tolist(), 0.0)
    points = {
        k: [*_points_of_sphere(candidates[k]), *_points_of_surface(candidates[k])] for k in which.tolist()
    }
    for q in configurations(scene, equations):
        found = factor_of_mass(scene, equations, q)
        if found is None:
            continue
        _, whiten, X, V = found
        for k, places in points.items():
            on_body: dict[str, float] = {}
            for body, place_B in places:
                i = equations.frames.index(body)
                r = X[i, :9].reshape(3, 3) @ place_B
                J = (V[i, :, 3:] + np.cross(V[i, :, :3], r)).T
                on_body[body] = max(on_body.get(body, 0.0), float(np.linalg.norm(whiten @ J.T, 2) ** 2))
            most[k] = max(most[k], sum(on_body.values()))
    return most


def _points_of_sphere(c: Candidate) -> Iterator[tuple[str, np.ndarray]]:
    """Places (3,) [m] on body A where the surface may press."""
    if c.sphere_body == WORLD:
        return
    yield c.sphere_body, c.centre_B
    for axis, sign in itertools.product(range(3), (-1.0, 1.0)):
        way = c.radius + c.edge_half[axis] if c.radius > 0.0 or any(c.edge_half) else 0.0
        if way > 0.0:
            yield c.sphere_body, c.centre_B + sign * way * np.eye(3)[axis]


def _points_of_surface(c: Candidate) -> Iterator[tuple[str, np.ndarray]]:
    """The same on body B, whose surface is pressed."""
    if c.surface_body == WORLD:
        return
    for signs in itertools.product((-1.0, 1.0), repeat=3):
        yield c.surface_body, c.X_BS.rotation @ (np.array(signs) * c.half) + c.X_BS.translation
