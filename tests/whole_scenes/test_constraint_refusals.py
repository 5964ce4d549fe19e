"""Constraints that could not be switched, or would constrain nothing, are refused in one sentence each."""

# Sentences stand whole on the line of what provokes them, so that they can be read and searched for:
# ruff: noqa: E501

from __future__ import annotations

import sys
import unicodedata

import pytest

from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from hapticsim.model.constraints import NAME_LENGTH, is_constraint_name
from hapticsim.model.scene import Scene
from hapticsim.wire.messages.fields import Refused, text
from hapticsim.wire.messages.requests import SwitchRequest, decode_request, encode_request

INERTIAL = "inertial: {mass_kg: 1.0, inertia_kg_m2: {xx: 0.01, yy: 0.01, zz: 0.01}}"
SCENE = f"""
name: an arm with a tool bolted to it, beside a post
robot:
  bodies:
    - {{name: upper, {INERTIAL}}}
    - {{name: fore, {INERTIAL}}}
    - {{name: tool, {INERTIAL}}}
    - {{name: tip}}
    - {{name: post}}
  joints:
    - {{name: shoulder, type: revolute, parent: world, child: upper}}
    - {{name: elbow, type: revolute, parent: upper, child: fore}}
    - {{name: bolt, type: fixed, parent: fore, child: tool}}
    - {{name: glue, type: fixed, parent: tool, child: tip}}
    - {{name: ground, type: fixed, parent: world, child: post}}
handle: {{body: tool}}
"""
PIN = "name: pin, kind: point, bodies: [fore, world]"


def scene(*lines: str) -> Scene:
    constraints = "".join(f"  - {{{line}}}\n" for line in lines)
    return loads(f"{SCENE}constraints:\n{constraints}", "scene.yaml")


REFUSALS = [
    # names
    (["name: '', kind: lock, joints: [elbow]"], "constraints[0].name = '' is not usable: it must be a name of 1 to 64 printable characters."),
    ([f"name: {65 * 'n'}, kind: lock, joints: [elbow]"], f"constraints[0].name = '{56 * 'n'}... is not usable: it must be a name of 1 to 64 printable characters."),
    (['name: "a\\nb", kind: lock, joints: [elbow]'], "constraints[0].name = 'a\\nb' is not usable: it must be a name of 1 to 64 printable characters."),
    (['name: "a\\u2028b", kind: lock, joints: [elbow]'], "constraints[0].name = 'a\\u2028b' is not usable: it must be a name of 1 to 64 printable characters."),
    # friction
    ([PIN, "name: brake, kind: lock, joints: [elbow], friction: {static: 1, kinetic: 1, normal: pin}"], "constraints[1].friction.normal = 'pin' is a constraint of 3 rows: name one of one row, there are none above this one."),
    ([PIN, "name: stop, kind: plane, bodies: [tool, world]", "name: brake, kind: lock, joints: [elbow], friction: {static: 1, kinetic: 1, normal: pin}"], "constraints[2].friction.normal = 'pin' is a constraint of 3 rows: name one of one row, they are 'stop'."),
    (["name: brake, kind: lock, joints: [elbow], friction: {static: 1, kinetic: 1, normal: stop}"], "constraints[0].friction.normal = 'stop' is not a constraint above this one: there are none."),
    # what constrains nothing
    (["name: gear, kind: gear, factors: {shoulder: 0, elbow: 0}"], "constraints[0].factors.shoulder = 0 couples nothing: give a factor, or leave the joint out."),
    (["name: gear, kind: gear, factors: {shoulder: 1, elbow: -0.0}"], "constraints[0].factors.elbow = 0 couples nothing: give a factor, or leave the joint out."),
    (["name: pin, kind: point, bodies: [fore, tip]"], "constraints[0].bodies = [fore, tip] names two bodies that cannot move against each other: fixed joints hold them together; name others, or remove the constraint."),
    (["name: pin, kind: weld, bodies: [post, world]"], "constraints[0].bodies = [post, world] names two bodies that cannot move against each other: fixed joints hold them together; name others, or remove the constraint."),
    (["name: roll, kind: rolling, bodies: [tool, post], radius_m: 0.1, normal_b: [0, 0, 1], along_b: [0, 0, 1]"], "constraints[0].along_b = [0.0, 0.0, 1.0] is not square to normal_b = [0.0, 0.0, 1.0]: give a direction in the plane."),
    (["name: roll, kind: rolling, bodies: [tool, post], radius_m: 0.1, along_b: [-20, 0, 0.021]"], "constraints[0].along_b = [-20.0, 0.0, 0.021] is not square to normal_b = [0.0, 0.0, 1.0]: give a direction in the plane."),
    # lists
    (["name: brake, kind: lock, joints: []"], "constraints[0].joints = [] is not usable: it must be a list of at least 1 name of 1 to 120 letters."),
    (["name: pin, kind: point, bodies: [fore]"], "constraints[0].bodies = ['fore'] is not usable: it must be a list of 2 names of 1 to 120 letters."),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "sentence"), REFUSALS, ids=[f"{i}" for i in range(len(REFUSALS))])
def test_such_a_constraint_is_refused_with_this_sentence(lines, sentence):
    with pytest.raises(ConfigError) as caught:
        scene(*lines)
    assert str(caught.value) == f"scene.yaml: {sentence}"


def test_what_only_just_passes_is_a_scene():
    made = scene(
        "name: touch, kind: plane, bodies: [tool, post]",
        f"name: {NAME_LENGTH * 'n'}, kind: lock, joints: [elbow], friction: {{static: 1, kinetic: 1, normal: touch}}",
        "name: roll, kind: rolling, bodies: [tool, post], radius_m: 0.1, along_b: [-20, 0, 0.019]",
    )
    assert [len(c.rows) for c in made.constraints] == [1, 1, 1]
    assert made.constraints[1].friction is not None and made.constraints[1].friction.normal == "touch"


def test_bodies_that_fixed_joints_hold_together_go_by_one_name():
    assert scene(PIN).model.rigid_groups() == {
        "world": "world", "post": "world", "upper": "upper", "fore": "fore", "tool": "fore", "tip": "fore",
    }  # fmt: skip


def test_a_constraint_may_be_named_whatever_a_request_can_carry_and_nothing_else():
    """Every character of Unicode, and the lengths at the limit, against the check of the wire."""
    check = text(NAME_LENGTH)

    def can_travel(name: str) -> bool:
        try:
            return check(name) == name
        except Refused:
            return False

    names = [chr(c) for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) != "Cs"]
    names += ["", "n" * NAME_LENGTH, "n" * (NAME_LENGTH + 1), " a b ", "\u00fc" * NAME_LENGTH]
    assert [n for n in names if can_travel(n) != is_constraint_name(n)] == []
    longest = SwitchRequest(1, "\U0001f600" * NAME_LENGTH, True)
    assert is_constraint_name(longest.name) and decode_request(encode_request(longest)) == longest
    assert not any(is_constraint_name(other) for other in (None, 3, b"a", ["a"]))
