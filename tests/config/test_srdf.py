"""``robot.urdf.srdf``: links whose collisions it disables are in no pair of a pattern; bad ones refused."""

from __future__ import annotations

import itertools
import os
import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError

LINKS = ("base", "upper", "fore", "hand", "tool")


def link(name: str) -> str:
    solid = '<mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/>'
    ball = '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    return f'<link name="{name}"><inertial>{solid}</inertial>{ball}</link>'


def joint(parent: str, child: str) -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/><axis xyz="0 1 0"/>'
    return f'<joint name="to_{child}" type="continuous">{ends}<origin xyz="0 0 0.5"/></joint>'


URDF = (
    '<robot name="arm">'
    + "".join(link(name) for name in LINKS)
    + "".join(joint(a, b) for a, b in itertools.pairwise(LINKS))
    + "</robot>"
)
SRDF = (
    '<?xml version="1.0" encoding="utf-8"?><robot name="arm"><group name="all"/>'
    '<disable_collisions link1="base" link2="upper" reason="Adjacent"/>'
    '<disable_collisions link1="fore" link2="base" reason="Never"/>'
    '<disable_collisions link1="hand" link2="base"/></robot>'
)
EVERY = '[{between: ["*", "*"]}]'


APART = {frozenset((a, b)) for i, a in enumerate(LINKS) for b in LINKS[i + 2 :]}  # no joint joins them


def scene(folder: Path, srdf: str | bytes | None = SRDF, contacts: str = EVERY, more: str = "") -> hs.Scene:
    """An arm of five links, a ball on each, its SRDF beside it."""
    (folder / "arm.urdf").write_text(URDF)
    if srdf is not None:
        (folder / "arm.srdf").write_bytes(srdf if isinstance(srdf, bytes) else srdf.encode())
    text = "name: arm\nrobot: {urdf: {path: arm.urdf, srdf: arm.srdf, collision: true}}\n"
    return loads(f"{text}contacts: {contacts}\n{more}", folder / "scene.yaml")


def pairs(made: hs.Scene) -> set[frozenset[str]]:
    return {frozenset((p.a, p.b)) for p in made.contacts}


def of(*names: str) -> set[frozenset[str]]:
    return {frozenset(name.split()) for name in names}


def refusal(folder: Path, srdf: str | bytes | None, **options: str) -> str:
    with pytest.raises(ConfigError) as caught:
        scene(folder, srdf, **options)
    sentence = str(caught.value)
    assert "\n" not in sentence and sentence.endswith(".")
    return sentence


def test_links_that_the_srdf_disables_are_in_no_pair_of_a_pattern(tmp_path):
    made = scene(tmp_path)
    assert pairs(made) == of("base tool", "upper hand", "upper tool", "fore tool")
    assert [n for n in made.notes if "contacts" in n] == [
        "contacts[0] leaves out 4 pairs of shapes whose bodies a joint joins, as 'base', 'upper': to have "
        "one touch, name both without a *.",
        "contacts[0] leaves out 2 pairs of shapes by disable_collisions of arm.srdf, as 'base', 'fore': to "
        "have one touch, name both without a *.",
    ]


def test_what_the_robot_of_an_srdf_is_called_does_not_count(tmp_path):
    assert pairs(scene(tmp_path, SRDF.replace('name="arm"', 'name="leg"'))) == pairs(scene(tmp_path, SRDF))


def test_a_pair_that_is_named_touches_whatever_the_srdf_says(tmp_path):
    assert of("base hand") <= pairs(
        scene(tmp_path, contacts='[{between: [base, hand]}, {between: ["*", "*"]}]')
    )


def test_shapes_that_a_scene_puts_on_a_link_count_as_the_link_and_a_floor_as_none(tmp_path):
    shapes = "shapes: [{name: palm, body: hand, kind: sphere, radius_m: 0.1}, {name: floor, kind: plane}]\n"
    made = pairs(scene(tmp_path, contacts='[{between: ["*", "*"]}]', more=shapes))
    assert not made & of("palm base") and of("palm upper", "palm floor", "hand floor") <= made


def test_a_root_link_called_world_is_a_link_and_a_floor_of_the_scene_is_not(tmp_path):
    (tmp_path / "arm.urdf").write_text(URDF.replace('"base"', '"world"'))
    (tmp_path / "arm.srdf").write_text(SRDF.replace('"base"', '"world"'))
    shapes = "shapes: [{name: floor, kind: plane}]\n"
    text = "name: arm\nrobot: {urdf: {path: arm.urdf, srdf: arm.srdf, collision: true}}\n"
    made = pairs(loads(f"{text}{shapes}contacts: {EVERY}\n", tmp_path / "scene.yaml"))
    assert of("floor fore", "floor hand", "floor tool", "world tool") <= made
    assert not made & of("world fore", "world hand")


def test_what_has_no_default_collisions_touches_what_is_enabled(tmp_path):
    srdf = (
        '<robot name="arm"><disable_default_collisions link="base"/>'
        '<disable_default_collisions link="upper"/>'
        '<enable_collisions link1="tool" link2="base"/><enable_collisions link1="upper" link2="tool"/>'
        '<disable_collisions link1="tool" link2="upper"/></robot>'
    )
    assert pairs(scene(tmp_path, srdf)) == of("base tool", "fore tool")


def test_an_srdf_that_disables_nothing_is_told(tmp_path):
    made = scene(tmp_path, '<robot name="arm"/>')
    assert len(made.contacts) == 6
    assert f"{tmp_path / 'arm.srdf'}: disables no pair of links." in made.notes


def test_a_pattern_of_which_the_srdf_leaves_nothing_is_refused(tmp_path):
    assert refusal(tmp_path, SRDF, contacts='[{between: ["h*", base]}]').endswith(
        "leaves no pair: leave_out takes 0, 0 cannot move, 0 are there already, a joint joins 0, files of "
        "the robot keep 1 apart. Remove the entry, or name neighbours without a *."
    )


LINE = '<disable_collisions link1="fore" link2="base" reason="Never"/>'
BAD = {
    "missing": (None, "arm.srdf: does not exist (did you mean 'arm.urdf'?): check the path of the SRDF."),
    "empty": ("", "line 1, column 1 is not XML (no element found): correct it there."),
    "not XML": ("<robot", "line 1, column 1 is not XML (unclosed token): correct it there."),
    "not text": (b"\x00\xff" * 40, "line 1, column 1 is not XML (syntax error): correct it there."),
    "encoding": ('<?xml version="1.0" encoding="klingon"?><robot/>', "names an encoding that is not read"),
    "root": ("<sdf/>", "has the root element <sdf>: an SRDF starts with <robot name=...>."),
    "a URDF": (URDF, "has elements <link> as a URDF, and an SRDF has none: name the SRDF."),
    "xacro": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:if/></robot>',
        "is written in xacro: expand it first, 'xacro robot.srdf.xacro > robot.srdf'.",
    ),
    "no such link": (
        SRDF.replace("fore", "forge"),
        "<disable_collisions> 2 has link1='forge', which is no link of arm.urdf (did you mean 'fore'?): its "
        "links are 'base', 'fore', 'hand', 'tool', 'upper'.",
    ),
    "no attribute": (
        SRDF.replace('<disable_collisions link1="hand" link2="base"/>', '<disable_collisions link1="hand"/>'),
        '<disable_collisions> 3 has no link2: add link2="..." to it.',
    ),
    "an entity of a file": (
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><robot name="arm">&a;</robot>',
        "is not XML (undefined entity &a;): correct it there.",
    ),
    "many elements": (
        f'<robot name="arm">{"<a/>" * 500_000}</robot>',
        "has more than 500000 elements: this is no robot.",
    ),
    "100 MB": (b" " * 100_000_000, "is larger than 20 MB: this is no robot."),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_srdf_is_refused_in_one_sentence(tmp_path, name):
    srdf, words = BAD[name]
    assert words in refusal(tmp_path, srdf)


def test_a_bad_path_is_refused_by_its_key(tmp_path):
    def said(path: str) -> str:
        (tmp_path / "arm.urdf").write_text(URDF)
        with pytest.raises(ConfigError) as caught:
            loads(f"name: arm\nrobot: {{urdf: {{path: arm.urdf, srdf: {path}}}}}\n", tmp_path / "scene.yaml")
        return str(caught.value)

    assert said("'.'").endswith("is a folder: name the SRDF in it.")
    assert "robot.urdf.srdf = 'a\\x00b' is not a path: remove the NUL character." in said('"a\\0b"')
    assert said("package://arm_config/arm.srdf").endswith(
        "robot.urdf.srdf = 'package://arm_config/arm.srdf' is in no package 'arm_config' above the URDF: set "
        "ROS_PACKAGE_PATH to the folder that holds 'arm_config', or write the path."
    )
    assert "is in no package ''" in said("package://")
    assert "robot.urdf.srdf" in said("3")


def test_an_srdf_is_found_in_a_package(tmp_path, monkeypatch):
    (tmp_path / "arm.urdf").write_text(URDF)
    folder = tmp_path / "ros" / "arm_config" / "config"
    folder.mkdir(parents=True)
    (folder / "arm.srdf").write_text(SRDF)
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tmp_path / "ros"))
    srdf = "package://arm_config/config/arm.srdf"
    text = f"name: arm\nrobot: {{urdf: {{path: arm.urdf, collision: true, srdf: '{srdf}'}}}}\n"
    assert len(loads(f"{text}contacts: {EVERY}\n", tmp_path / "scene.yaml").contacts) == 4


def test_the_path_counts_from_the_file_that_holds_it(tmp_path):
    below = tmp_path / "below"
    below.mkdir()
    scene(below)
    (below / "scene.yaml").write_text(
        "name: arm\nrobot: {urdf: {path: arm.urdf, srdf: arm.srdf, collision: true}}\n"
        f"contacts: {EVERY}\n"
    )
    assert len(loads("extends: below/scene.yaml\n", tmp_path / "top.yaml").contacts) == 4
    (tmp_path / "own.srdf").write_text('<robot name="arm"/>')
    own = loads("extends: below/scene.yaml\nrobot: {urdf: {srdf: own.srdf}}\n", tmp_path / "top.yaml")
    assert len(own.contacts) == 6


def test_a_recording_knows_the_srdf_by_its_hash(tmp_path):
    first = scene(tmp_path).robot_fingerprint
    assert scene(tmp_path, SRDF.replace("><", ">\n<")).robot_fingerprint == first
    assert scene(tmp_path, SRDF.replace(LINE, "")).robot_fingerprint != first


def test_the_srdf_of_an_installed_robot_is_read(tmp_path):
    pytest.importorskip("trimesh")
    text = """
name: panda
robot: {urdf: {package: panda, collision: true%s}}
shapes: [{name: tip, body: panda_hand, kind: sphere, radius_m: 0.01}]
contacts: [{between: [tip, "panda_*"]}]
"""
    without = loads(text % "", tmp_path / "scene.yaml")
    srdf = ", srdf: 'package://example-robot-data/robots/panda_description/srdf/panda.srdf'"
    made = loads(text % srdf, tmp_path / "scene.yaml")
    assert pairs(made) < pairs(without)


@given(data=st.data(), seed=st.integers(0, 10**6))
@settings(
    deadline=None,
    max_examples=int(os.environ.get("HAPTICSIM_ROBOT_FILES", "200")),
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_damaged_srdf_gives_a_scene_or_one_sentence(tmp_path, data, seed):
    rng, text = random.Random(seed), bytearray(SRDF.encode())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(text))
        text[at : at + rng.randint(0, 12)] = data.draw(st.binary(max_size=8))
    try:
        made = scene(tmp_path, bytes(text))
    except ConfigError as refused:
        assert "\n" not in str(refused) and str(refused).endswith(".")
    else:
        assert pairs(made) <= APART
