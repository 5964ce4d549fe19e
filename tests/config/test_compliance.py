"""Compliant contacts: what a file says of them, and what is refused."""

# Sentences stand whole on the line of what provokes them, so that they can be read and searched for:
# ruff: noqa: E501

from __future__ import annotations

import math
from typing import Any

import pytest

import hapticsim as hs
from hapticsim.assemble.assembly import assemble
from tests.yielding import ball, body, box_on_slope, free

LAW = {"kind": "kelvin_voigt", "stiffness_N_per_m": 1e5, "damping_Ns_per_m": 10.0}


def contact(**keys: Any) -> dict[str, Any]:
    scene = ball(LAW)
    scene["contacts"][0].update(keys)
    return scene


def refusal(scene: dict[str, Any]) -> str:
    with pytest.raises(hs.ConfigError) as refused:
        assemble(hs.load(scene))
    return str(refused.value)


def test_laws_are_what_their_keys_say():
    laws = [
        LAW,
        {"kind": "hunt_crossley", "stiffness_N_per_m1_5": 2e6, "loss_s_per_m": 0.5, "along_over_normal": 0.8},
        {"kind": "azad_featherstone", "stiffness_N_per_m1_5": 2e6, "damping_Ns_per_m1_5": 1e3},
    ]
    found = [hs.load(ball(law)).contacts[0].compliance for law in laws]
    numbers = [(f.stiffness, f.exponent, f.damping, f.damping_exponent, f.along) for f in found if f]
    assert numbers == [(1e5, 1.0, 10.0, 0.0, 1.0), (2e6, 1.5, 1e6, 1.5, 0.8), (2e6, 1.5, 1e3, 0.5, 1.0)]


@pytest.mark.parametrize(
    ("law", "sentence"),
    [
        ({**LAW, "stiffness_N_per_m": -1.0}, "contacts[0].compliance.stiffness_N_per_m = -1.0 is not usable: it must be a finite number above 0"),
        ({**LAW, "stiffness_N_per_m": math.nan}, "contacts[0].compliance.stiffness_N_per_m = nan is not usable: it must be a finite number above 0"),
        ({**LAW, "damping_Ns_per_m": -1.0}, "contacts[0].compliance.damping_Ns_per_m = -1.0 is not usable: it must be a finite number of at least 0"),
        ({**LAW, "along_over_normal": 0.0}, "contacts[0].compliance.along_over_normal = 0.0 is not usable: it must be a finite number above 0"),
        ({**LAW, "kind": "rubber"}, "has the kind 'rubber': write one of 'azad_featherstone', 'hunt_crossley', 'kelvin_voigt'."),
        ({**LAW, "loss_s_per_m": 1.0}, "loss_s_per_m is not a key here"),
        ({"kind": "hunt_crossley"}, "stiffness_N_per_m1_5"),
        ({}, "kind"),
    ],
    ids=str,
)  # fmt: skip
def test_a_wrong_law_is_refused_by_its_key(law: dict[str, Any], sentence: str):
    said = refusal(ball(law))
    assert sentence in said
    assert said.startswith("<mapping>: contacts[0].compliance")
    assert said.count("\n") == 0


@pytest.mark.parametrize(
    ("key", "value", "sentence"),
    [
        ("restitution", 0.5, "contacts[0].restitution is there beside 'compliance', whose law says what is thrown back: remove it."),
        ("static_over_kinetic", 1.2, "contacts[0].static_over_kinetic is there beside 'compliance', which sticks and slides with one coefficient: remove it."),
        ("plastic_below_m_per_s", 0.01, "contacts[0].plastic_below_m_per_s is there beside 'compliance', whose law says what is thrown back: remove it."),
    ],
)  # fmt: skip
def test_what_a_law_already_says_is_refused_beside_it(key: str, value: float, sentence: str):
    assert refusal(contact(**{key: value}, friction=0.3)) == f"<mapping>: {sentence}"


def test_pairs_that_cannot_yield_yet_are_refused():
    scene = box_on_slope(LAW, 0.5, 0.0)
    scene["shapes"][1] = {
        "name": "floor",
        "kind": "box",
        "half_extents_m": [1.0, 1.0, 0.1],
        "origin": {"xyz_m": [0.0, 0.0, -0.1]},
    }
    assert refusal(scene) == (
        "<mapping>: contacts[0].compliance is of [box, floor], box and box, which are rigid to one another yet: a sphere may yield to all but meshes, and a box, a capsule, a convex mesh or an ellipsoid to a plane; leave it out, or touch with spheres."
    )  # fmt: skip


def test_what_is_not_there_beside_compliant_contacts_is_refused():
    begins = "<mapping>: contacts [sphere, floor] is compliant, and "
    assert refusal({**contact(), "contact_regime": "time_stepping"}) == (
        begins
        + "contact_regime is 'time_stepping', whose contacts are all rigid yet: write 'exact', or leave out 'compliance'."
    )
    assert refusal({**contact(), "sleep": {}}) == (
        begins
        + "bodies may fall asleep, which is not there beside it yet: leave out 'sleep', or leave out 'compliance'."
    )
    scene = contact()
    scene["robot"]["bodies"].append(body("other", 1.0, [1e-3] * 3))
    scene["robot"]["joints"].append(free("other"))
    scene["shapes"].append({"name": "stone", "kind": "sphere", "radius_m": 0.01, "body": "other"})
    scene["contacts"].append({"between": ["stone", "floor"], "friction": 0.4})
    scene["initial"]["free"]["of_other"] = {"xyz_m": [0.5, 0.0, 0.5]}
    assert refusal(scene) == (
        begins + "[stone, floor] is rigid and rubs: both are not there together yet; give that one 'compliance', too, leave out its 'friction', or leave out 'compliance'."
    )  # fmt: skip
    scene = contact()
    scene["constraints"] = [
        {"name": "glue", "kind": "point", "bodies": ["ball", "world"], "held": False, "engage_on_touch": ["floor", "sphere"]}
    ]  # fmt: skip
    assert refusal(scene) == (
        begins
        + "a constraint engages on its touch, which rigid contacts alone do yet: leave out that, or leave out 'compliance'."
    )


@pytest.mark.parametrize("damping", [0.0, 1e6])
def test_a_law_that_needs_more_steps_than_a_tick_has_is_refused(damping: float):
    stiff = 1e13 if damping == 0.0 else 1e5
    said = refusal(ball({**LAW, "stiffness_N_per_m": stiff, "damping_Ns_per_m": damping}))
    assert said.startswith(
        "<mapping>: contacts [sphere, floor] is so stiff, or damped so much, for the 0.286 kg that it may meet"
    )
    assert said.endswith(
        "steps, and has at most 64: make it softer, raise 'rate_Hz', or leave out 'compliance' for a rigid one."
    )


def test_a_start_may_be_deep_in_what_yields_but_not_beyond_its_middle():
    hs.Simulation(hs.load(ball(LAW, height=-0.02)))
    scene = ball(LAW)
    scene["shapes"][1] = {
        "name": "floor",
        "kind": "box",
        "half_extents_m": [1.0, 1.0, 0.1],
        "origin": {"xyz_m": [0.0, 0.0, -0.1]},
    }
    scene["initial"]["free"]["of_ball"]["xyz_m"] = [0.0, 0.0, -0.01]
    with pytest.raises(hs.ConfigError, match=r"puts 'sphere' 60 mm into 'floor': start with at most 50 mm"):
        hs.Simulation(hs.load(scene))
