"""Which large parts of the tick a scene needs, beside those that every scene needs."""

from __future__ import annotations

from hapticsim.assemble.bounding_volumes import asks_for_pairs
from hapticsim.codes import ON_EDGES, ON_HULLS, ON_MESH, ON_SUPPORT
from hapticsim.kernels.entry import Feature
from hapticsim.model.candidates import candidates_of
from hapticsim.model.scene import EXACT, Scene


def features_of(scene: Scene) -> Feature:
    """Return what the scene has of what not every scene has."""
    kinds = {candidate.kind for candidate in candidates_of(scene)}
    features = Feature(0)
    if scene.constraints:
        features |= Feature.CONSTRAINTS
    if ON_EDGES in kinds or ON_HULLS in kinds:
        features |= Feature.EDGES
    if ON_HULLS in kinds:
        features |= Feature.HULLS
    if ON_MESH in kinds:
        features |= Feature.MESHES
    if max(kinds, default=0) >= ON_SUPPORT:
        features |= Feature.QUADRICS
    if asks_for_pairs(scene):
        features |= Feature.PAIRS
    if scene.has_several_trees:
        features |= Feature.TREES
    if scene.may_step:
        features |= Feature.TIME_STEPPING
    if scene.yields:
        features |= Feature.COMPLIANCE
    if scene.rubs_rigidly:
        features |= Feature.FRICTION
        if scene.contact_regime == EXACT:
            features |= Feature.GRIP
    if scene.sleep is not None:
        features |= Feature.SLEEP
    return features
