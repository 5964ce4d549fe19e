"""The law of a compliant contact, and which pairs of shapes may have one."""

from __future__ import annotations

from hapticsim.config.schema.compliance import AnyLaw, HuntCrossley, KelvinVoigt
from hapticsim.config.schema.scene import ContactEntry
from hapticsim.errors import Refuse
from hapticsim.model.candidates import YIELDING_PAIRS, touching_as
from hapticsim.model.scene import Compliance, Shape

HERTZ = 1.5
BY_LAW = "whose law says what is thrown back"
NOT_BESIDE = {
    "restitution": BY_LAW,
    "plastic_below_m_per_s": BY_LAW,
    "static_over_kinetic": "which sticks and slides with one coefficient",
}


def law_of(entry: AnyLaw) -> Compliance:
    """K, n, D and p of f = K d^n + D d^p d_dot."""
    along = float(entry.along_over_normal)
    if isinstance(entry, KelvinVoigt):
        return Compliance(float(entry.stiffness_N_per_m), 1.0, float(entry.damping_Ns_per_m), 0.0, along)
    K = float(entry.stiffness_N_per_m1_5)
    if isinstance(entry, HuntCrossley):
        return Compliance(K, HERTZ, K * float(entry.loss_s_per_m), HERTZ, along)
    return Compliance(K, HERTZ, float(entry.damping_Ns_per_m1_5), 0.5, along)


def check_entry(entry: ContactEntry, index: int, refuse: Refuse) -> None:
    """Refuse what a compliant contact has no use for: its law says how what strikes is thrown back."""
    if entry.compliance is None:
        return
    for key, why in NOT_BESIDE.items():
        if key in entry.model_fields_set:
            raise refuse(("contacts", index, key), f"is there beside 'compliance', {why}: remove it.")


def check_pair(entry: ContactEntry, index: int, a: Shape, b: Shape, refuse: Refuse) -> None:
    """Refuse a pair of shapes whose contact cannot yield yet."""
    if entry.compliance is None:
        return
    one, other = touching_as(a, b)
    if (one.kind, other.kind) not in YIELDING_PAIRS:
        raise refuse(
            ("contacts", index, "compliance"),
            f"is of [{a.name}, {b.name}], {a.kind} and {b.kind}, which are rigid to one another yet: a "
            "sphere may yield to all but meshes, and a box, a capsule, a convex mesh or an ellipsoid to a "
            "plane; leave it out, or touch with spheres.",
        )
