"""Which bodies cannot move against each other, because fixed joints hold them together."""

from __future__ import annotations

from hapticsim.model.multibody.tree import WORLD, Model


def rigid_groups(model: Model) -> dict[str, str]:
    """Return, for each body and the world, the body (or world) that its group goes by.

    Two bodies are rigid with each other where they have the same.  Joints come after that of their parent.
    """
    anchor = {WORLD: WORLD}
    for joint in model.joints:
        anchor[joint.child] = anchor[joint.parent] if joint.kind == "fixed" else joint.child
    return anchor
