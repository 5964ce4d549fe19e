"""What acts on the joints: the ``torques:`` section."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hapticsim.config.robot.tree import pick_unit
from hapticsim.config.schema.scene import TorqueEntry
from hapticsim.errors import Refuse, listed, nearest
from hapticsim.model.protocol import MovingJoint, SceneModel
from hapticsim.model.scene import TorqueLaw

ALL = "all"  # stands for every joint without an entry of its own
_NEEDED = {("constant", "constant_Nm"), ("pd", "stiffness_Nm_per_rad")}  # or their twins for sliding


def torque_laws(
    entries: list[TorqueEntry], model: SceneModel, q0: np.ndarray, refuse: Refuse
) -> tuple[TorqueLaw, ...]:
    """Return one law per joint that has one, in the order of the joints.

    q0 : (nq,) the start, where a posture law holds its joint unless told otherwise.
    """
    joints = {j.name: j for j in model.moving_joints}
    laws: dict[str, TorqueLaw] = {}
    named: set[str] = set()
    for index, entry in enumerate(entries):
        place = ("torques", index)
        if entry.joint in named:
            raise refuse((*place, "joint"), f"= {entry.joint!r} has a law already: keep one of the two.")
        named.add(entry.joint)
        if entry.joint == ALL:
            continue
        if entry.joint not in joints:
            raise refuse(
                (*place, "joint"),
                f"= {entry.joint!r} is not a moving joint{nearest(entry.joint, joints)}: "
                f"write 'all' or one of {listed(joints)}.",
            )
        joint = joints[entry.joint]
        if entry.law != "none":
            if joint.unit is None:
                raise refuse(
                    (*place, "law"),
                    f"= {entry.law!r} needs a joint with one coordinate, {joint.name!r} is {joint.kind}: "
                    "remove it.",
                )
            laws[joint.name] = _law(entry, joint, q0[model.q_slice(joint.name)][0], place, refuse)
    for index, entry in enumerate(entries):
        if entry.joint == ALL and entry.law != "none":
            for joint in joints.values():
                if joint.name not in named and joint.unit:
                    q = q0[model.q_slice(joint.name)][0]
                    laws[joint.name] = _law(_for_joint(entry, joint), joint, q, ("torques", index), refuse)
    return tuple(laws[name] for name in joints if name in laws)


def with_springs(
    laws: tuple[TorqueLaw, ...], springs: tuple[TorqueLaw, ...], model: SceneModel
) -> tuple[TorqueLaw, ...]:
    """Return the laws with the springs of the robot's joints: two springs at a joint are one of both."""
    found = {law.joint: law for law in laws}
    for spring in springs:
        law = found.get(spring.joint, TorqueLaw(spring.joint))
        stiffness = law.stiffness + spring.stiffness
        reference = (law.stiffness * law.reference + spring.stiffness * spring.reference) / stiffness
        found[spring.joint] = replace(law, stiffness=stiffness, reference=reference)
    return tuple(found[joint.name] for joint in model.moving_joints if joint.name in found)


def _for_joint(entry: TorqueEntry, joint: MovingJoint) -> TorqueEntry:
    """The entry for all joints with only the keys whose unit fits this joint."""
    foreign = ("_N", "_m") if joint.unit == "rad" else ("_Nm", "_rad")
    keys = {k: None for k in TorqueEntry.model_fields if k.endswith(foreign)}
    return entry.model_copy(update=keys)


def _law(
    entry: TorqueEntry, joint: MovingJoint, start: float, place: tuple[str | int, ...], refuse: Refuse
) -> TorqueLaw:
    unit, what = joint.unit, joint.title

    def pick(angular: str, linear: str, default: float, *laws: str) -> float:
        for key in (angular, linear):
            if getattr(entry, key) is not None and entry.law not in laws:
                raise refuse(
                    (*place, key),
                    f"has no meaning with law {entry.law!r}: remove it, or write law {laws[0]!r}.",
                )
        if (
            (entry.law, angular) in _NEEDED
            and getattr(entry, angular) is None
            and getattr(entry, linear) is None
        ):
            key = angular if unit == "rad" else linear
            raise refuse((*place, key), f"is missing: law {entry.law!r} needs it for the {what}.")
        return pick_unit(refuse, place, entry, (angular, linear), unit, what, default)

    if entry.gravity_compensation and entry.law not in ("pd", "gravity_compensation"):
        raise refuse(
            (*place, "gravity_compensation"),
            f"has no meaning with law {entry.law!r}: remove it, or write law 'pd'.",
        )
    return TorqueLaw(
        joint=joint.name,
        constant=pick("constant_Nm", "constant_N", 0.0, "constant"),
        gravity_compensation=entry.gravity_compensation or entry.law == "gravity_compensation",
        stiffness=pick("stiffness_Nm_per_rad", "stiffness_N_per_m", 0.0, "pd"),
        damping=pick("damping_Nms_per_rad", "damping_Ns_per_m", 0.0, "pd", "gravity_compensation"),
        reference=pick("reference_rad", "reference_m", float(start), "pd") if entry.law == "pd" else 0.0,
    )
