"""``contacts``: what a pattern pairs, what it leaves out by itself and by ``leave_out``, what is refused."""

from __future__ import annotations

import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError

HEAVY = "inertial: {mass_kg: 0.5, inertia_kg_m2: {xx: 1e-3, yy: 1e-3, zz: 1e-3}}"


def moves(name: str, kind: str, parent: str, child: str, at: str, axis: str = "") -> str:
    where = f"origin: {{xyz_m: {at}}}" + (f", axis: {axis}" if axis else "")
    return f"    - {{name: {name}, type: {kind}, parent: {parent}, child: {child}, {where}}}\n"


JOINTS = (
    moves("flight", "free", "world", "trunk", "[0, 0, 2]")
    + moves("hip_x", "revolute", "trunk", "hip", "[0, 0, -0.1]", "[1, 0, 0]")
    + moves("hip_y", "revolute", "hip", "thigh", "[0, 0, 0]", "[0, 1, 0]")
    + moves("knee", "revolute", "thigh", "shin", "[0, 0, -0.3]", "[0, 1, 0]")
    + moves("ankle", "fixed", "shin", "foot", "[0, 0, -0.3]")
    + moves("bolts", "fixed", "world", "base", "[2, 0, 0]")
    + moves("weld", "fixed", "base", "stand", "[0, 0, 0.5]")
    + moves("pivot", "revolute", "stand", "arm", "[0, 0, 0.5]", "[0, 1, 0]")
)
BONE = "length_m: 0.26, origin: {xyz_m: [0, 0, -0.15]}"


def scene(contacts: str, more: str = "") -> hs.Scene:
    """A trunk that flies, a leg of thigh, shin and foot on it, its hip two hinges with a massless body
    between, its foot welded to the shin; and an arm on a hinge on a stand, that is fixed to the world."""
    return loads(
        f"""
name: limbs
robot:
  bodies:
    - {{name: trunk, {HEAVY}}}
    - {{name: hip}}
    - {{name: base}}
    - {{name: stand}}
    - {{name: thigh, {HEAVY}}}
    - {{name: shin, {HEAVY}}}
    - {{name: foot, {HEAVY}}}
    - {{name: arm, {HEAVY}}}
  joints:
{JOINTS}shapes:
  - {{name: floor, kind: plane}}
  - {{name: trunk, body: trunk, kind: sphere, radius_m: 0.12}}
  - {{name: thigh, body: thigh, kind: capsule, radius_m: 0.04, {BONE}}}
  - {{name: shin, body: shin, kind: capsule, radius_m: 0.03, {BONE}}}
  - {{name: foot, body: foot, kind: sphere, radius_m: 0.04}}
  - {{name: arm, body: arm, kind: sphere, radius_m: 0.05}}
{more}contacts: {contacts}
handle: {{body: trunk, point_m: [0, 0, 0]}}
"""
    )


def pairs(made: hs.Scene) -> set[frozenset[str]]:
    return {frozenset((p.a, p.b)) for p in made.contacts}


def of(*names: str) -> set[frozenset[str]]:
    return {frozenset(name.split()) for name in names}


ALL = of(
    "floor trunk", "floor thigh", "floor shin", "floor foot", "floor arm", "trunk shin", "trunk foot",
    "trunk arm", "thigh arm", "shin arm", "foot arm",
)  # fmt: skip


def test_a_pattern_leaves_out_what_a_joint_joins_also_over_massless_and_welded_bodies():
    made = scene('[{between: ["*", "*"]}]')
    assert pairs(made) == ALL  # not trunk-thigh, thigh-shin and thigh-foot; the arm's joint is to the world
    assert [n for n in made.notes if "contacts" in n and "joins" in n] == [
        "contacts[0] leaves out 3 pairs of shapes whose bodies a joint joins, as 'foot', 'thigh': to have "
        "one touch, name both without a *."
    ]


def test_a_base_that_is_fixed_to_the_world_is_a_link_and_the_floor_is_none():
    more = "  - {name: base, body: base, kind: sphere, radius_m: 0.1}\n"
    more += "  - {name: stand, body: stand, kind: capsule, radius_m: 0.1, length_m: 0.9}\n"
    more += "  - {name: hip, body: hip, kind: sphere, radius_m: 0.03}\n"
    made = pairs(scene('[{between: ["*", "*"]}]', more))
    new = {p for p in made if p & {"base", "stand", "hip"}}
    assert new == of(
        "base trunk", "base thigh", "base shin", "base foot", "stand trunk", "stand thigh", "stand shin",
        "stand foot", "hip floor", "hip arm", "hip shin", "hip foot", "hip base", "hip stand",
    )  # fmt: skip
    assert made - new == ALL


def test_the_order_of_pairs_is_that_of_the_shapes():
    made = scene('[{between: [foot, floor]}, {between: ["*", "*"]}]')
    assert [frozenset((p.a, p.b)) for p in made.contacts] == [
        frozenset(names.split())
        for names in (
            "foot floor", "floor trunk", "floor thigh", "floor shin", "floor arm", "trunk shin",
            "trunk foot", "trunk arm", "thigh arm", "shin arm", "foot arm",
        )
    ]  # fmt: skip


def test_what_is_left_out_may_be_a_pair_that_an_entry_before_took_or_that_cannot_move():
    made = scene('[{between: [arm, floor]}, {between: ["*", "*"], leave_out: [[arm, floor], [shin, foot]]}]')
    assert pairs(made) == ALL


def test_a_pattern_of_too_many_pairs_is_refused_before_they_are_made():
    more = "".join(f"  - {{name: x{i}, kind: sphere, radius_m: 0.1}}\n" for i in range(510))
    with pytest.raises(ConfigError, match=r"makes 516 x 516 pairs of shapes, and at most 250000 are"):
        scene('[{between: ["*", "*"]}]', more)


def test_a_pattern_with_kinds_that_cannot_touch_says_how_to_leave_them_out():
    more = "  - {name: can, body: trunk, kind: cylinder, radius_m: 0.05, length_m: 0.1}\n"
    with pytest.raises(ConfigError) as caught:
        scene('[{between: ["*", "*"]}]', more)
    assert str(caught.value).endswith(
        "= ['*', '*'] makes [shin, can], a capsule with a cylinder, and a cylinder without sides touches "
        "spheres and planes alone: write sides: 24 at the cylinder, and others touch it as a prism (of a "
        "robot: corners: 48 at robot.urdf or robot.mjcf); leave out this pair by leave_out, or name fewer."
    )
    with pytest.raises(ConfigError, match=r"leave out this pair and 1 more by leave_out, or name fewer\."):
        scene('[{between: ["*", "*"]}]', more + more.replace("can, body: trunk", "drum, body: foot"))
    made = scene('[{between: ["*", "*"], leave_out: [[shin, can]]}]', more)
    assert pairs(made) > ALL and not of("shin can") & pairs(made)
    assert of("shin can") < pairs(scene('[{between: ["*", "*"]}]', more.replace("}", ", sides: 8}")))


def test_more_pairs_than_a_tick_can_look_at_are_refused():
    more = "".join(f"  - {{name: x{i}, kind: sphere, radius_m: 0.1}}\n" for i in range(900))
    entries = ", ".join(f'{{between: ["x*", {limb}]}}' for limb in ("trunk", "thigh", "shin", "foot", "arm"))
    with pytest.raises(ConfigError, match=r"contacts\[4\].*makes more than 4096 pairs of shapes: name fewer"):
        scene(f"[{entries}]", more)


def test_a_pair_of_neighbours_that_is_named_is_taken():
    made = scene('[{between: [thigh, foot]}, {between: ["*", "*"]}]')
    assert pairs(made) == ALL | of("thigh foot")


@pytest.mark.parametrize(
    ("left_out", "gone"),
    [
        ("[[arm, thigh]]", of("thigh arm")),
        ('[[arm, "*"]]', of("floor arm", "trunk arm", "thigh arm", "shin arm", "foot arm")),
        ('[["s*", trunk], ["f*", "f*"]]', of("trunk shin", "floor foot")),
        ("[]", set()),
    ],
)
def test_what_is_to_be_left_out_is(left_out: str, gone: set[frozenset[str]]):
    assert pairs(scene(f'[{{between: ["*", "*"], leave_out: {left_out}}}]')) == ALL - gone


def test_what_one_entry_leaves_out_another_may_name():
    made = scene(
        '[{between: ["*", "*"], leave_out: [[arm, "*"]]}, {between: [arm, floor], restitution: 0.5}]'
    )
    assert pairs(made) == ALL - of("trunk arm", "thigh arm", "shin arm", "foot arm")
    assert [p.restitution for p in made.contacts if "arm" in (p.a, p.b)] == [0.5]


@pytest.mark.parametrize(
    ("contacts", "sentence"),
    [
        (
            "[{between: [arm, floor], leave_out: [[arm, floor]]}]",
            "contacts[0].leave_out goes with a * in 'between': remove it.",
        ),
        (
            '[{between: ["*", floor], leave_out: [[arm, leg]]}]',
            "contacts[0].leave_out[0][1] = 'leg' is not a shape",
        ),
        (
            '[{between: ["*", floor], leave_out: [[arm, floor], [arm, "t*"]]}]',
            "contacts[0].leave_out[1] = ['arm', 't*'] is no pair of those that 'between' names: remove it.",
        ),
        (
            '[{between: ["*", floor], leave_out: [[arm]]}]',
            "contacts[0].leave_out[0]",
        ),
        ('[{between: ["*", floor], leave_out: arm}]', "contacts[0].leave_out"),
        (
            '[{between: ["thigh*", "shin*"]}]',
            "= ['thigh*', 'shin*'] leaves no pair: leave_out takes 0, 0 cannot move, 0 are there already, a "
            "joint joins 1. Remove the entry, or name neighbours without a *.",
        ),
        ('[{between: ["shin*", "foot*"]}]', "leave_out takes 0, 1 cannot move, 0 are there already, a joint"),
        (
            '[{between: [arm, "*"], leave_out: [[arm, "*"]]}]',
            "leave_out takes 5, 0 cannot move, 0 are there already, a joint joins 0.",
        ),
        (
            '[{between: ["*", "*"]}, {between: ["*", "*"]}]',
            "contacts[1].between = ['*', '*'] leaves no pair: leave_out takes 0, 1 cannot move, 11 are there "
            "already, a joint joins 3.",
        ),
        (
            '[{between: ["*", "*"], leave_out: [[arm, arm]]}]',
            "contacts[0].leave_out[0] = ['arm', 'arm'] is no pair of those that 'between' names: remove it.",
        ),
    ],
)
def test_what_leaves_out_nothing_or_everything_is_refused(contacts: str, sentence: str):
    with pytest.raises(ConfigError) as caught:
        scene(contacts)
    assert sentence in str(caught.value) and "\n" not in str(caught.value)
