"""A pattern pairs the geoms of an MJCF file that MuJoCo lets touch: exclusions and masks count."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import hapticsim as hs
from hapticsim.config.load import loads
from hapticsim.errors import ConfigError
from tests.mjcf_files import written

mujoco = pytest.importorskip("mujoco")

EVERY = '[{between: ["*", "*"]}]'
FALL = '<body name="{0}" pos="0 0 0.05"><freejoint/><geom name="{0}" size="0.1" {1}/>{2}</body>'
LIMB = '<body name="limb"><joint axis="0 1 0"/><geom name="limb" size="0.1" {}/></body>'


def robot(masks: dict[str, str], contact: str = "") -> str:
    """Four balls that fly, the last with a limb on a hinge, and a floor: each in all others."""
    balls = [FALL.format(n, masks.get(n, ""), "") for n in "abc"]
    balls.append(FALL.format("d", masks.get("d", ""), LIMB.format(masks.get("limb", ""))))
    floor = f'<geom name="floor" type="plane" size="1 1 1" {masks.get("floor", "")}/>'
    return f"<mujoco><worldbody>{floor}{''.join(balls)}</worldbody><contact>{contact}</contact></mujoco>"


def scene(
    folder: Path, text: str, contacts: str = EVERY, more: str = "", collision: str = "true"
) -> hs.Scene:
    file = written(folder, text)
    head = f"name: balls\nrobot: {{mjcf: {{path: {file.name}, collision: {collision}}}}}\n"
    return loads(f"{head}contacts: {contacts}\n{more}", folder / "scene.yaml")


def pairs(made: hs.Scene) -> set[str]:
    return {" ".join(sorted((p.a, p.b))) for p in made.contacts}


def pairs_of_mujoco(file: Path) -> set[str]:
    """What touches in MuJoCo, where everything lies in everything."""
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {
        " ".join(sorted(model.geom(g).name for g in contact.geom)) for contact in data.contact[: data.ncon]
    }


def test_what_the_file_excludes_is_in_no_pair_of_a_pattern(tmp_path):
    text = robot({}, '<exclude body1="a" body2="b"/><exclude body1="c" body2="world"/>')
    made = scene(tmp_path, text)
    assert pairs(made) == pairs_of_mujoco(tmp_path / "robot.xml")
    assert not pairs(made) & {"a b", "c floor"}
    assert [n for n in made.notes if "contacts" in n or "exclu" in n] == [
        "contacts[0] leaves out a pair of shapes whose bodies a joint joins, as 'd', 'limb': to have one "
        "touch, name both without a *.",
        "contacts[0] leaves out 2 pairs of shapes by exclude of robot.xml, as 'a', 'b': to have one touch, "
        "name both without a *.",
    ]


def test_masks_that_do_not_fit_keep_geoms_apart(tmp_path):
    made = scene(tmp_path, robot({"a": 'contype="2"', "b": 'contype="4" conaffinity="8"'}))
    assert pairs(made) == pairs_of_mujoco(tmp_path / "robot.xml")
    assert not any(pair.startswith("b ") or pair.endswith(" b") for pair in pairs(made))
    assert any(
        "5 pairs of shapes by contype and conaffinity of robot.xml, as 'a', 'b'" in n for n in made.notes
    )


def masks_of(rng: random.Random) -> str:
    return f'contype="{rng.randrange(4)}" conaffinity="{rng.randrange(4)}"'


@pytest.mark.parametrize("seed", range(40))
def test_any_masks_exclusions_and_pairs_pair_what_mujoco_pairs(tmp_path, seed):
    rng = random.Random(seed)
    names = ["a", "b", "c", "d", "limb", "floor"]
    masks = {name: masks_of(rng) for name in names}
    bodies = [*names[:-1], "world"]
    ends = [rng.sample(bodies, 2) for _ in range(rng.randrange(4))]
    contact = "".join(f'<exclude body1="{a}" body2="{b}"/>' for a, b in ends)
    contact += "".join(
        '<pair geom1="{}" geom2="{}"/>'.format(*rng.sample(names[:4] + names[5:], 2))
        for _ in range(rng.randrange(3))
    )
    file = written(tmp_path, robot(masks, contact))
    try:
        ours = pairs(scene(tmp_path, file.read_text()))
    except ConfigError as refused:
        assert "leaves no pair" in str(refused) or "is not a shape: the scene has none" in str(refused)
        ours = set()
    assert ours == pairs_of_mujoco(file)


def test_a_pair_that_is_named_touches_whatever_the_file_says(tmp_path):
    text = robot({"a": 'contype="4" conaffinity="8"'}, '<exclude body1="c" body2="b"/>')
    assert pairs(scene(tmp_path, text, "[{between: [a, b]}, {between: [b, c]}]")) == {"a b", "b c"}


def test_shapes_of_the_scene_have_no_mask_and_those_on_a_body_share_its_exclusions(tmp_path):
    text = robot(
        {"a": 'contype="4" conaffinity="8"'},
        '<exclude body1="c" body2="b"/><exclude body1="world" body2="c"/>',
    )
    more = "shapes: [{name: tip, body: b, kind: sphere, radius_m: 0.1}, {name: wall, kind: plane}]\n"
    made = pairs(scene(tmp_path, text, more=more))
    assert {"a tip", "a wall", "c wall"} <= made
    assert not made & {"c tip", "c floor"}


def test_shapes_of_the_scene_that_are_called_as_geoms_are_no_geoms(tmp_path):
    more = "shapes: [{name: a, body: a, kind: sphere, radius_m: 0.1}, {name: floor, kind: plane}]\n"
    text = robot({"a": 'contype="4" conaffinity="8"'})
    assert pairs(scene(tmp_path, text, more=more, collision="false")) == {"a floor"}
