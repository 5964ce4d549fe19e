"""The equations of a scene's model: the one place that tells a tree from a mechanism by Kane's method."""

from __future__ import annotations

from collections.abc import Sequence

from hapticsim.equations.base import Equations, Progress
from hapticsim.equations.compiled import compile_equations
from hapticsim.equations.kane.compiled import compile_mechanism
from hapticsim.model.mechanism_model import MechanismModel
from hapticsim.model.protocol import SceneModel


def equations_of(model: SceneModel, frames: Sequence[str], progress: Progress | None) -> Equations:
    """Return the equations of a tree, or of a mechanism by Kane's method.

    frames : bodies whose motion is asked for.
    progress : called with pieces of text while something is compiled.
    """
    if isinstance(model, MechanismModel):
        return compile_mechanism(model, frames, progress)
    return compile_equations(model.as_tree("make its equations with compile_mechanism."), frames, progress)
